//! What is known of a path with unknown parts that a command reads: its last parts, or that its name is in a known directory.

use std::ops::Range;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::environment::may_be_unset;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::variables::Value;
use crate::glob::{escaped, is_pattern};
use crate::syntax::parser::is_name;
use crate::{Access, Base, Quoting, Target};

/// What a command certainly prints.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Printed {
    /// A name without a `/`.
    Name,
    /// The path of one directory, which no part of the script spells.
    Directory,
}

impl Analyzer<'_> {
    /// The last parts of a path, if only its directory is unknown: `src/x` for `"$dir/src/x"`.
    pub(super) fn known_end(&self, word: &Field) -> Option<String> {
        let (last, _) = word.holes.last()?;
        let (_, end) = word.text.get(last.end..)?.split_once('/')?;
        let is_path = || word.holes.iter().all(|(part, quoting)| self.is_one_word(word, part, *quoting));
        if self.is_known_end(end) && is_path() { Some(end.to_owned()) } else { None }
    }

    /// The same for a file that is read in an unknown current directory.
    pub(super) fn in_unknown_directory(
        &self,
        access: Access,
        target: &Target,
        base: &Base,
    ) -> Option<Target> {
        let (Access::Read, Target::Path(path), Base::Unknown) = (access, target, base) else { return None };
        let end = path.strip_prefix("./").unwrap_or(path);
        let somewhere = || Target::Somewhere { written: path.clone(), end: end.to_owned() };
        if self.is_known_end(end) { Some(somewhere()) } else { None }
    }

    /// Whether it names a file below any directory. A file that this script made is another one than those that were there.
    fn is_known_end(&self, end: &str) -> bool {
        let name = end.rsplit('/').next();
        let is_part = |part: &str| !matches!(part, "" | "." | "..");
        let is_made = || {
            self.script.effects.iter().any(|effect| match &effect.target {
                Target::Path(path) | Target::Tree(path) | Target::Into { directory: path, .. }
                    if path.rsplit('/').next() == name =>
                {
                    effect.access.changes_files()
                }
                Target::Into { name: into, .. } => Some(into.as_str()) == name,
                _ => false,
            })
        };
        end.split('/').all(is_part) && !is_pattern(end) && !is_made()
    }

    /// A pattern for a path in a known directory, whose name has unknown parts: `tests/$(basename "$f")`.
    pub(super) fn pattern_of_name(&self, word: &Field) -> Option<String> {
        let mut pattern = String::new();
        let mut at = 0;
        for (part, quoting) in &word.holes {
            if *quoting != Quoting::Quoted || self.printed(word, part) != Some(Printed::Name) {
                return None;
            }
            pattern.push_str(&escaped(word.text.get(at..part.start)?));
            pattern.push('*');
            at = part.end;
        }
        pattern.push_str(&escaped(word.text.get(at..)?));
        let (directory, name) = pattern.rsplit_once('/').unwrap_or(("", &pattern));
        let is_known = !directory.contains('*') && !pattern.split('/').any(|part| part == "..");
        if is_known && name.contains('*') { Some(pattern) } else { None }
    }

    /// Whether an unknown part of a word stays a part of one word. What the user's environment sets is taken for a path.
    fn is_one_word(&self, word: &Field, part: &Range<usize>, quoting: Quoting) -> bool {
        let name = word.text.get(part.clone()).and_then(|part| part.strip_prefix('$')).unwrap_or_default();
        match quoting {
            Quoting::Quoted => true,
            Quoting::Glob => false,
            Quoting::Bare if self.state.get("IFS").is_some() => false,
            Quoting::Bare if may_be_unset(name) && !self.is_set_here(name) => true,
            Quoting::Bare => self.printed(word, part) == Some(Printed::Directory),
        }
    }

    /// What an unknown part of a word certainly is: a substitution, or a variable that holds what one printed.
    fn printed(&self, word: &Field, part: &Range<usize>) -> Option<Printed> {
        let text = word.text.get(part.clone())?;
        let name = text.strip_prefix('$').filter(|name| !name.is_empty() && name.bytes().all(is_name));
        let Some(name) = name else { return self.certain_output(text) };
        match self.state.get(name)? {
            Value::Options(options) if !self.is_operated(name) => {
                let [value] = options.as_slice() else { return None };
                let is_whole =
                    matches!(value.holes.as_slice(), [(part, _)] if *part == (0..value.text.len()));
                if value.kind == FieldKind::Unknown && is_whole {
                    self.certain_output(&value.text)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// Whether a value is a substitution whose output is certainly a name or a path.
    pub(super) fn is_path_or_name(&self, value: &Field) -> bool {
        value.kind == FieldKind::Unknown && self.certain_output(&value.text).is_some()
    }

    /// What a substitution certainly prints, from its text: `$(basename "$f")`, `$(npm prefix)`.
    fn certain_output(&self, text: &str) -> Option<Printed> {
        let command = text.strip_prefix("$(")?.strip_suffix(')')?.trim();
        // Another command would be an operator's, outside of the substitutions in its words.
        if without_plain_substitutions(command).contains([';', '&', '|', '<', '>', '\n', '`']) {
            return None;
        }
        let (name, arguments) = command.split_once(' ').unwrap_or((command, ""));
        let program = if self.is_installed(name) { self.program(name)? } else { return None };
        if program.directories.contains(&arguments) || program.installed.contains(&arguments) {
            Some(Printed::Directory)
        } else if program.prints_name {
            Some(Printed::Name)
        } else {
            None
        }
    }
}

/// A text without the substitutions in it. One with quotes or a comment stays: they may hide its end.
fn without_plain_substitutions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("$(") {
        let (before, after) = rest.split_at(start);
        let inner = after.get(2..).unwrap_or_default();
        let length = inner.find(')').filter(|end| {
            inner.get(..*end).is_some_and(|inner| !inner.contains(['(', '"', '\'', '\\', '#', '`', '\n']))
        });
        let Some(length) = length else { break };
        out.push_str(before);
        rest = inner.get(length + 1..).unwrap_or_default();
    }
    out + rest
}
