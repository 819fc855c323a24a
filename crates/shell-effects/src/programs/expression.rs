//! The expression of `find`: which files each of its actions may be run for.

use std::ops::Range;
use std::rc::Rc;

use crate::Quoting;
use crate::analysis::field::{Field, FieldKind};

/// Further alternatives are not distinguished: any file may be meant.
const MAX_ALTERNATIVES: usize = 16;
/// Deeper parentheses are not read.
const MAX_NESTING: usize = 32;

/// Tests and options of `find` with one argument, except those below and `-newerXY`.
const VALUED: &[&str] = &[
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-context",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-perm",
    "-regex",
    "-regextype",
    "-size",
    "-uid",
    "-used",
    "-user",
    "-xtype",
];

/// The conditions that a found file meets.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct FindConditions {
    /// A pattern for its name.
    pub(crate) name: Option<String>,
    /// A pattern for its whole path, whose wildcards cross directories.
    pub(crate) path: Option<String>,
    pub(crate) is_directory: bool,
}

/// Files that meet one of these conditions.
pub(crate) type FoundFiles = Rc<Vec<FindConditions>>;

/// What is done to found files.
#[derive(Debug)]
pub(crate) enum FindAction<'f> {
    Delete,
    Run(&'f [Field]),
    /// Like `Run`, but in the directory of each file.
    RunThere(&'f [Field]),
    /// Its name is printed; false if more than that.
    Print(bool),
    /// An option writes the result to this file.
    Write(&'f Field, &'f Field),
}

#[derive(Debug, Default)]
pub(crate) struct Expression<'f> {
    words: &'f [Field],
    at: usize,
    /// Parentheses and negations around this part.
    nesting: usize,
    negated: usize,
    /// It could not be read.
    is_unclear: bool,
    pub(crate) actions: Vec<(FindAction<'f>, FoundFiles)>,
    /// Names without wildcards in tests that are not compared.
    pub(crate) asked_for: Vec<&'f str>,
    /// The file with the names of the roots.
    pub(crate) roots_from: Option<&'f Field>,
}

impl<'f> Expression<'f> {
    pub(crate) fn read(words: &'f [Field]) -> Expression<'f> {
        let mut expression = Expression { words, ..Expression::default() };
        let any = Rc::new(vec![FindConditions::default()]);
        let mut all = expression.list(&any);
        // After a parenthesis that was never opened.
        while expression.at < words.len() {
            expression.is_unclear = true;
            expression.at += 1;
            expression.list(&any);
        }
        if expression.is_unclear {
            // It may be any file. It is one of these if the unknown part is empty.
            let or_any = |files: &FoundFiles| Rc::new(files.iter().chain(any.iter()).cloned().collect());
            all = or_any(&all);
            expression.actions.iter_mut().for_each(|(_, files)| *files = or_any(files));
        }
        if expression.actions.is_empty() {
            expression.actions.push((FindAction::Print(true), all));
        }
        expression
    }

    fn word(&self) -> &'f str {
        self.words.get(self.at).map_or("", |field| field.text.as_str())
    }

    fn next(&mut self) -> Option<&'f Field> {
        let next = self.words.get(self.at)?;
        self.at += 1;
        // Without quotes it may be several words, such as an alternative.
        let is_bare = |(_, quoting): &(Range<usize>, Quoting)| *quoting == Quoting::Bare;
        self.is_unclear |=
            next.kind == FieldKind::Unknown && (next.holes.is_empty() || next.holes.iter().any(is_bare));
        Some(next)
    }

    /// Expressions between commas. The value is that of the last one, but GNU's `find` may change their order.
    fn list(&mut self, files: &FoundFiles) -> FoundFiles {
        let mut found = self.alternatives(files);
        while self.word() == "," {
            self.at += 1;
            let more = self.alternatives(files);
            found = either(&found, &more);
        }
        found
    }

    fn alternatives(&mut self, files: &FoundFiles) -> FoundFiles {
        let mut found = self.conjunction(files);
        while matches!(self.word(), "-o" | "-or") {
            self.at += 1;
            let more = self.conjunction(files);
            found = either(&found, &more);
        }
        found
    }

    /// Each test applies to the files that pass the tests before it.
    fn conjunction(&mut self, files: &FoundFiles) -> FoundFiles {
        let mut files = Rc::clone(files);
        while self.at < self.words.len() && !matches!(self.word(), "-o" | "-or" | "," | ")") {
            files = self.primary(files);
        }
        files
    }

    fn primary(&mut self, files: FoundFiles) -> FoundFiles {
        let Some(field) = self.next() else { return files };
        match field.text.as_str() {
            // Unknown text may be anything, such as an alternative.
            _ if !field.is_literal() => self.is_unclear = true,
            "(" | "!" | "-not" if self.nesting >= MAX_NESTING => self.is_unclear = true,
            "(" => {
                self.nesting += 1;
                let found = self.list(&files);
                self.nesting -= 1;
                self.at += 1;
                return found;
            }
            // It is unknown which files remain, but all of them are among these.
            "!" | "-not" => {
                self.nesting += 1;
                self.negated += 1;
                self.primary(Rc::clone(&files));
                self.negated -= 1;
                self.nesting -= 1;
            }
            test => match self.condition(test) {
                Some(conditions) => return narrowed(&files, &conditions),
                None => self.action(field, test, &files),
            },
        }
        files
    }

    /// A test that limits which files are found.
    fn condition(&mut self, test: &str) -> Option<FindConditions> {
        let mut conditions = FindConditions::default();
        match test {
            "-name" | "-iname" => {
                conditions.name = self.next().and_then(|name| name_pattern(name, test == "-iname"));
            }
            "-path" | "-wholename" => {
                conditions.path = self.next().filter(is_pattern).map(|path| path.text.clone());
            }
            // Only the last part of the path counts.
            "-ipath" | "-iwholename" => {
                let path = self.next().filter(is_pattern);
                let last = path.map(|path| path.text.rsplit('/').next().unwrap_or_default().to_owned());
                let name = last.map(|last| match last.rsplit_once('*') {
                    Some((_, end)) => format!("*{end}"),
                    None => last,
                });
                conditions.name = name.and_then(|name| name_pattern(&Field::glob(name), true));
            }
            "-type" => {
                conditions.is_directory =
                    self.next().is_some_and(|kind| kind.is_literal() && kind.text == "d");
            }
            _ => return None,
        }
        Some(conditions)
    }

    /// Actions, and tests without a comparison.
    fn action(&mut self, field: &'f Field, test: &str, files: &FoundFiles) {
        let action = match test {
            "-delete" => FindAction::Delete,
            "-print" | "-print0" => FindAction::Print(true),
            "-ls" => FindAction::Print(false),
            "-printf" => FindAction::Print(self.next().is_some_and(|format| is_path(&format.text))),
            "-exec" | "-ok" => FindAction::Run(self.command()),
            "-execdir" | "-okdir" => FindAction::RunThere(self.command()),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let Some(file) = self.next() else { return };
                if test == "-fprintf" {
                    self.next();
                }
                FindAction::Write(field, file)
            }
            "-files0-from" => return self.roots_from = self.next(),
            "-samefile" => {
                let name = self.next().map_or("", |field| field.text.as_str());
                if self.negated == 0 {
                    self.asked_for.push(name);
                }
                return;
            }
            "-regex" | "-iregex" => {
                let name = self.next().map_or("", |field| field.text.as_str());
                let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
                let is_plain = !name.is_empty() && !name.contains(['*', '?', '[', '(', '$', '+']);
                if is_plain && self.negated == 0 {
                    self.asked_for.push(name);
                }
                return;
            }
            test => {
                if VALUED.contains(&test) || test.starts_with("-newer") {
                    self.next();
                }
                return;
            }
        };
        self.actions.push((action, Rc::clone(files)));
    }

    /// The words up to `;` or `{} +`.
    fn command(&mut self) -> &'f [Field] {
        let rest = self.words.get(self.at..).unwrap_or_default();
        let is = |at: usize, text: &str| rest.get(at).is_some_and(|field| field.text == text);
        let ends = |at: &usize| {
            is(*at, ";") || at.checked_sub(1).is_some_and(|before| is(*at, "+") && is(before, "{}"))
        };
        let length = (0..rest.len()).find(ends).unwrap_or(rest.len());
        self.at += length + 1;
        rest.get(..length).unwrap_or_default()
    }
}

fn is_pattern(path: &&Field) -> bool {
    matches!(path.kind, FieldKind::Literal | FieldKind::Glob)
}

/// Whether a format of `-printf` is only the path.
fn is_path(format: &str) -> bool {
    matches!(format, "%p\\n" | "%p\\0" | "%p\n" | "%p ")
}

/// A shell pattern that matches at least the names that a pattern of `find` matches.
pub(crate) fn name_pattern(field: &Field, ignores_case: bool) -> Option<String> {
    let text = match field.kind {
        FieldKind::Literal | FieldKind::Glob => field.text.as_str(),
        FieldKind::Tree | FieldKind::Unknown => return None,
    };
    if ignores_case && (text.contains(['[', '\\']) || !text.is_ascii()) {
        return None;
    }
    let mut pattern = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            // Two of them would cross directories.
            '*' if pattern.ends_with('*') => {}
            '[' => {
                let (set, after) = rest.as_str().split_once(']')?;
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
                match set.strip_prefix(['!', '^']).unwrap_or(set) {
                    plain if plain.is_empty() || !plain.chars().all(is_plain) => return None,
                    plain if plain.len() < set.len() => pattern.push('?'),
                    plain => pattern.extend(["[", plain, "]"]),
                }
                rest = after.chars();
            }
            '\\' => pattern.extend(['\\', rest.next()?]),
            c if ignores_case && c.is_ascii_alphabetic() => {
                pattern.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
            }
            c => pattern.push(c),
        }
    }
    Some(pattern)
}

fn narrowed(files: &FoundFiles, by: &FindConditions) -> FoundFiles {
    if *by == FindConditions::default() {
        return Rc::clone(files);
    }
    let both = |limits: &FindConditions| FindConditions {
        name: limits.name.clone().or_else(|| by.name.clone()),
        path: limits.path.clone().or_else(|| by.path.clone()),
        is_directory: limits.is_directory || by.is_directory,
    };
    Rc::new(files.iter().map(both).collect())
}

fn either(one: &FoundFiles, other: &FoundFiles) -> FoundFiles {
    let mut all = Vec::clone(one);
    all.extend(other.iter().filter(|limits| !one.contains(limits)).cloned());
    if all.contains(&FindConditions::default()) || all.len() > MAX_ALTERNATIVES {
        all = vec![FindConditions::default()];
    }
    Rc::new(all)
}
