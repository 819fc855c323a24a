//! Protected files that a text names: code in another language, or arguments of an unknown program.

use std::collections::HashSet;
use std::path::PathBuf;

use super::call::{ToolCall, UnknownPart, UnknownUse};
use super::resolve::{Ground, Touch};
use super::rules::FileRules;
use super::search::expand;
use conclaude_core::file_pattern::Location;
use conclaude_core::text::clean_line;
use shell_effects::{Access, Base};

/// More protected files than these are not distinguished.
const MAX_NAMED: usize = 64;

/// Protected files that a text names.
pub(super) struct NamedFiles {
    /// The first file, as the text names it.
    pub(super) first: String,
    /// `None` if they are too many to be compared one by one.
    pub(super) names: Option<Vec<Location>>,
}

impl NamedFiles {
    fn of(first: &str, touch: &Touch) -> NamedFiles {
        NamedFiles { first: clean_line(first), names: Some(touch.names.clone()) }
    }

    pub(super) fn and(self, others: NamedFiles) -> NamedFiles {
        let names = match (self.names, others.names) {
            (Some(mut names), Some(others)) => {
                for name in others {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                if names.len() > MAX_NAMED { None } else { Some(names) }
            }
            _ => None,
        };
        NamedFiles { first: self.first, names }
    }

    /// What a sandbox would have to decide about them.
    pub(super) fn unknown(names: Option<Vec<Location>>) -> Option<UnknownUse> {
        Some(UnknownUse { part: UnknownPart::Files, named: names? })
    }
}

/// Joins the files from several places.
pub(super) fn joined(found: impl IntoIterator<Item = NamedFiles>) -> Option<NamedFiles> {
    found.into_iter().reduce(NamedFiles::and)
}

pub(super) fn is_protected_by(rules: &FileRules, call: &ToolCall<'_>, touch: &Touch) -> bool {
    rules.protecting_any(&touch.names, &call.silent_query()).is_some()
}

/// The first word of a text that names a file with this property in one of the directories.
pub(super) fn named_word(
    call: &ToolCall<'_>,
    bases: &[Base],
    text: &str,
    is_such: &dyn Fn(&Touch) -> bool,
) -> Option<String> {
    let directories = call.ground.directories(bases);
    let is_named = |cwd: &PathBuf, word: &str| {
        call.ground.budget.is_over() || is_such(&Ground { cwd, ..call.ground }.touch(Access::Link, word))
    };
    possible_names(text).find(|word| directories.iter().any(|cwd| is_named(cwd, word))).map(clean_line)
}

/// Possible names of files in code, each once.
fn possible_names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "./_-~@+*?".contains(c);
    let mut found = HashSet::new();
    text.split(move |c: char| !is_part(c)).filter(move |word| !word.is_empty() && found.insert(*word))
}

/// All files with this property that a text names in one of the directories.
pub(super) fn named_files(
    call: &ToolCall<'_>,
    bases: &[Base],
    text: &str,
    is_such: &dyn Fn(&Touch) -> bool,
) -> Option<NamedFiles> {
    let directories = call.ground.directories(bases);
    let named = possible_names(text).flat_map(|word| {
        let touches =
            directories.iter().map(move |cwd| Ground { cwd, ..call.ground }.touch(Access::Link, word));
        let such = touches.filter(|touch| call.ground.budget.is_over() || is_such(touch));
        such.map(move |touch| NamedFiles::of(word, &touch))
    });
    joined(named)
}

/// All files with this property that one of these patterns matches in one of the directories. A pattern with too many matches
/// counts as one.
pub(super) fn matched_files(
    call: &ToolCall<'_>,
    bases: &[Base],
    patterns: &[String],
    is_such: &dyn Fn(&Touch) -> bool,
) -> Option<NamedFiles> {
    let mut found = Vec::new();
    for pattern in patterns {
        for cwd in call.ground.directories(bases) {
            let ground = Ground { cwd: &cwd, ..call.ground };
            let Some(paths) = expand(&cwd, pattern, call.ground.budget) else {
                found.push(NamedFiles { first: clean_line(pattern), names: None });
                continue;
            };
            let touches = paths.iter().map(|path| ground.touch(Access::Link, &path.to_string_lossy()));
            let such = touches.filter(|touch| is_such(touch));
            found.extend(such.map(|touch| NamedFiles::of(touch.shown(), &touch)));
        }
    }
    joined(found)
}
