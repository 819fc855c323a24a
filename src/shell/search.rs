//! `find` and `fd`.

use super::arguments::{self, Arguments, Call, Flags};
use super::batches::replaced;
use super::state::{Field, FieldKind};
use super::stream::{Stream, found};
use super::walk::Walk;
use super::{Access, Target};

/// Tests of `find` that limit what it finds by name.
const NAMES: &[&str] = &["-name", "-iname"];
/// Tests and actions of `find` with one argument.
const VALUED: &[&str] = &[
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-type",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-user",
    "-group",
    "-perm",
    "-maxdepth",
    "-mindepth",
    "-printf",
    "-lname",
    "-links",
    "-inum",
    "-samefile",
    "-fstype",
    "-regextype",
    "-uid",
    "-gid",
    "-context",
    "-xtype",
];

pub(super) fn find(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let is_expression = |field: &Field| {
        field.is_literal()
            && (field.text.starts_with('-') && field.text.len() > 2
                || matches!(field.text.as_str(), "(" | "!" | ")"))
    };
    let start = words.iter().position(is_expression).unwrap_or(words.len());
    let (roots, expression) = words.split_at_checked(start).unwrap_or((words, &[]));
    let mut roots: Vec<Field> =
        roots.iter().filter(|field| !matches!(field.text.as_str(), "-L" | "-H" | "-P")).cloned().collect();
    if roots.is_empty() {
        roots.push(Field::literal("."));
    }
    // A name limits what is found only if nothing else may be found instead.
    let has_alternative =
        expression.iter().any(|field| matches!(field.text.as_str(), "-o" | "-or" | "!" | "-not" | ","));
    let names: Vec<&Field> = expression
        .windows(2)
        .filter_map(|pair| match pair {
            [test, name] if NAMES.contains(&test.text.as_str()) => Some(name),
            _ => None,
        })
        .collect();
    let name = names.first().copied().filter(|_| !has_alternative && names.len() == 1);
    let mut targets: Vec<Target> = roots.iter().map(|root| below(root, name)).collect();
    // Whoever reads all that is found reads everything; a name that is asked for counts nevertheless.
    if name.is_none() {
        for root in roots.iter().filter(|root| root.is_literal()) {
            let folder = root.text.trim_end_matches('/');
            let inside = |name| Target::Path(format!("{folder}/{name}"));
            targets.extend(asked_for(expression).into_iter().map(inside));
        }
    }
    let runs = actions(walk, call, expression, &targets);
    walk.output = if runs { Stream::Unknown } else { Stream::Files(targets) };
}

/// The names that are looked for and have no wildcard, without those that are left out.
fn asked_for(expression: &[Field]) -> Vec<&str> {
    let word =
        |at: Option<usize>| at.and_then(|at| expression.get(at)).map_or("", |field| field.text.as_str());
    let mut found = Vec::new();
    for (at, value) in expression.iter().enumerate().filter(|(_, value)| value.is_literal()) {
        let is_left_out = matches!(word(at.checked_sub(2)), "!" | "-not") || word(Some(at + 1)) == "-prune";
        let name = match word(at.checked_sub(1)) {
            "-name" | "-iname" => value.text.as_str(),
            "-path" | "-ipath" | "-wholename" => value.text.trim_start_matches("./"),
            "-regex" | "-iregex" => value.text.rsplit(['/', '\\']).next().unwrap_or_default(),
            _ => continue,
        };
        if !is_left_out
            && !name.is_empty()
            && !name.contains(['*', '?', '[', '(', '$', '+'])
            && found.len() < 8
        {
            found.push(name);
        }
    }
    found
}

/// What a search from a root finds.
fn below(root: &Field, name: Option<&Field>) -> Target {
    let path = root.text.trim_end_matches('/');
    match (root.kind, name) {
        (FieldKind::Unknown, _) => Target::Unknown(root.text.clone()),
        (FieldKind::Glob | FieldKind::Tree, _) => Target::Unknown(root.shown()),
        (FieldKind::Literal, Some(name)) if name.kind == FieldKind::Literal => {
            let prefix = if path == "." { String::new() } else { format!("{path}/") };
            Target::Glob(format!("{prefix}**/{}", name.text))
        }
        (FieldKind::Literal, _) => Target::Tree(root.text.clone()),
    }
}

/// What it does to what it finds; whether it runs a command for that.
fn actions(walk: &mut Walk<'_>, call: &Call<'_>, expression: &[Field], targets: &[Target]) -> bool {
    let mut at = 0;
    let mut runs = false;
    while let Some(field) = expression.get(at) {
        at += 1;
        match field.text.as_str() {
            "-delete" => {
                for target in targets {
                    walk.by_option("-delete", |walk| {
                        walk.effect(Access::Delete, target.clone(), call.command);
                    });
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = expression.get(at) {
                    walk.by_option(&field.text, |walk| walk.touch(Access::Write, file, call.command));
                }
                at += 1;
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = expression.get(at..).unwrap_or_default();
                let ends = |field: &Field| matches!(field.text.as_str(), ";" | "+");
                let length = rest.iter().position(ends).unwrap_or(rest.len());
                let command = rest.get(..length).unwrap_or_default();
                for target in targets {
                    let by = found(target);
                    let fields: Vec<Field> = command.iter().map(|word| replaced(word, "{}", &by)).collect();
                    walk.deeper(|walk| walk.run_fields(&fields));
                }
                at += length + 1;
                runs = true;
            }
            "-files0-from" => {
                if let Some(file) = expression.get(at) {
                    walk.reads(file, call.command);
                }
                at += 1;
            }
            test if VALUED.contains(&test) || NAMES.contains(&test) => at += 1,
            _ => {}
        }
    }
    runs
}

const FD: Flags = "-e= -t= -E= -d= -S= -o= -c= -j= --extension= --type= --exclude= --max-depth= --min-depth= --size= --owner= \
    --changed-within= --changed-before= --color= --threads= --base-directory=";

/// `fd PATTERN ROOTS -x COMMAND`.
pub(super) fn fd(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let runs = |field: &Field| matches!(field.text.as_str(), "-x" | "--exec" | "-X" | "--exec-batch");
    let Some(at) = words.iter().position(runs) else {
        let arguments = arguments::parse(FD, words);
        // What it is asked to print may be any text.
        if !arguments.has(&["--format"]) {
            walk.output = listed(arguments.operands.get(1..).unwrap_or_default());
        }
        return;
    };
    let command: Vec<Field> = words.get(at + 1..).unwrap_or_default().to_vec();
    let by = Field::unknown("what was found");
    let has_mark = command.iter().any(|word| word.text.contains("{}"));
    let mut fields: Vec<Field> = command.iter().map(|word| replaced(word, "{}", &by)).collect();
    if !has_mark {
        fields.push(by);
    }
    walk.deeper(|walk| walk.run_fields(&fields));
}

/// `grep PATTERN FILES`, `rg PATTERN FILES`; with `-l` they print in which the pattern is found.
pub(super) fn lines(walk: &mut Walk<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let has_pattern = arguments.has(&["-e", "-f", "--regexp", "--file", "--files"]);
    let files = arguments.operands.get(usize::from(!has_pattern)..).unwrap_or_default();
    for file in files {
        walk.reads(file, call.command);
    }
    for pattern in arguments.values(&["-g", "--glob", "--iglob", "--include"]) {
        included(walk, pattern, call.command);
    }
    if arguments.has(&["-l", "--files-with-matches", "--files"]) {
        walk.output = listed(files);
    } else if let Stream::Files(names) = &walk.input
        && files.is_empty()
        && let Some(kept) = kept(arguments)
    {
        walk.output = Stream::Files(names.iter().cloned().chain(kept).collect());
    }
}

/// The names that `grep` is asked to keep, of those on its input: none by name with `-v`, or those that end like one. None if any
/// may be meant.
fn kept(arguments: &Arguments) -> Option<Vec<Target>> {
    if arguments.has(&["-v", "--invert-match"]) {
        return Some(Vec::new());
    }
    let pattern = arguments.operands.first().filter(|pattern| pattern.is_literal())?;
    let endings = pattern.text.strip_prefix("\\.")?.strip_suffix('$')?;
    let endings = endings.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(endings);
    let is_plain =
        |ending: &str| !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let files = endings.split('|').map(|ending| is_plain(ending).then(|| Target::Path(format!(".{ending}"))));
    files.collect()
}

/// A search that is limited to files of one name reads them; `.env*` is like `.env`.
fn included(walk: &mut Walk<'_>, pattern: &Field, command: usize) {
    let name = pattern.text.trim_start_matches("**/");
    let name = if name.starts_with('.') { name.trim_end_matches('*') } else { name };
    if !name.is_empty() && !name.contains(['*', '?', '[', '{', '!', '\\']) {
        walk.reads(&Field::literal(name), command);
    }
}

/// The files that a search from these roots names, or from the current directory.
fn listed(roots: &[Field]) -> Stream {
    let file = |root: &Field| match root.kind {
        FieldKind::Literal if matches!(root.text.trim_end_matches('/'), "." | "") => Target::WorkTree,
        FieldKind::Literal => Target::Tree(root.text.clone()),
        FieldKind::Glob => Target::Glob(root.text.clone()),
        FieldKind::Tree | FieldKind::Unknown => Target::Unknown(root.shown()),
    };
    let files: Vec<Target> = roots.iter().map(file).collect();
    Stream::Files(if files.is_empty() { vec![Target::WorkTree] } else { files })
}
