//! Protected files that a text names: code in another language, or arguments of an unknown program.

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
    /// As it names the first.
    pub(super) first: String,
    pub(super) names: Vec<Location>,
}

impl NamedFiles {
    fn of(first: &str, touch: &Touch) -> NamedFiles {
        NamedFiles { first: clean_line(first), names: touch.names.clone() }
    }

    pub(super) fn and(mut self, others: NamedFiles) -> NamedFiles {
        for name in others.names {
            if self.names.len() <= MAX_NAMED && !self.names.contains(&name) {
                self.names.push(name);
            }
        }
        self
    }

    /// What a sandbox would have to decide about them. `None` if they are too many to be compared one by one.
    pub(super) fn unknown(names: Vec<Location>) -> Option<UnknownUse> {
        if names.len() > MAX_NAMED {
            None
        } else {
            Some(UnknownUse { part: UnknownPart::Files, named: names })
        }
    }
}

/// Joins the files from several places.
pub(super) fn joined(found: impl IntoIterator<Item = NamedFiles>) -> Option<NamedFiles> {
    found.into_iter().reduce(NamedFiles::and)
}

pub(super) fn is_protected_by(rules: &FileRules, call: &ToolCall<'_>, touch: &Touch) -> bool {
    rules.protecting_any(&touch.names, &call.silent_query()).is_some()
}

/// The first word of a text that names such a file in one of the directories.
pub(super) fn named_word(
    call: &ToolCall<'_>,
    bases: &[Base],
    text: &str,
    is_such: &dyn Fn(&Touch) -> bool,
) -> Option<String> {
    let directories = call.ground.directories(bases);
    let is_named =
        |cwd: &PathBuf, word: &str| is_such(&Ground { cwd, ..call.ground }.touch(Access::Link, word));
    possible_names(text).find(|word| directories.iter().any(|cwd| is_named(cwd, word))).map(clean_line)
}

/// Possible names of files in code.
fn possible_names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "./_-~@+*?".contains(c);
    text.split(move |c: char| !is_part(c)).filter(|word| !word.is_empty()).take(10_000)
}

/// All such files that a text names in one of the directories.
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
        touches.filter(|touch| is_such(touch)).map(move |touch| NamedFiles::of(word, &touch))
    });
    joined(named)
}

/// All such files that one of these patterns matches in one of the directories.
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
            let paths = expand(&cwd, pattern, call.ground.budget).unwrap_or_default();
            let touches = paths.iter().map(|path| ground.touch(Access::Link, &path.to_string_lossy()));
            let such = touches.filter(|touch| is_such(touch));
            found.extend(such.map(|touch| NamedFiles::of(touch.shown(), &touch)));
        }
    }
    joined(found)
}
