//! A file that is read in an unknown directory: whether it could be protected.
//!
//! A rule that names the known end of its path counts wherever the file is. A rule that names only directories counts if such a
//! file is in one of them: `"$dir/package.json"` is asked about for `~/.ssh/` if there is a `package.json` in it.

use std::path::{Path, PathBuf};

use super::call::ToolCall;
use super::named_files::is_protected_by;
use super::rules::{FileRule, FileRules};
use super::search::{expand_with_hidden, first_below};
use conclaude_core::file_pattern::{Anchor, Location, MAX_ALTERNATIVES};

/// Whether a file with this end of its path could be protected.
pub(super) fn protects_somewhere(rules: &FileRules, call: &ToolCall<'_>, end: &str) -> bool {
    // No rule names the directory.
    let anywhere = Location { absolute: format!("/…/{end}"), ..Location::default() };
    let is_named = |(at, rule): (usize, &FileRule)| {
        !rule.allows
            && rule.agents.include(call.agent)
            && !rule.pattern.is_at_any_depth()
            && rule.pattern.names_end(end)
            && !is_freed(rules, call, at, &anywhere)
    };
    let holding = |rule: &&FileRule| !rule.allows && rule.agents.include(call.agent);
    rules.protecting(&anywhere, &call.silent_query()).is_some()
        || rules.0.iter().enumerate().any(is_named)
        || is_near(rules, call, end)
        || rules.0.iter().filter(holding).any(|rule| holds(rule, rules, call, end))
        || is_in_named_directory(rules, call, end)
}

/// Whether an exception after a rule covers the file wherever it is.
fn is_freed(rules: &FileRules, call: &ToolCall<'_>, at: usize, anywhere: &Location) -> bool {
    let Some(rule) = rules.0.get(at) else { return false };
    let frees = |free: &FileRule| {
        free.allows
            && free.agents.include(call.agent)
            && free.may_free(rule)
            && free.pattern.surely_covers(anywhere)
    };
    rules.0.iter().skip(at + 1).any(frees)
}

/// Whether the file is protected if the unknown directory is a usual one. It may be a link.
fn is_near(rules: &FileRules, call: &ToolCall<'_>, end: &str) -> bool {
    let home = call.ground.home.map(Path::new);
    [Some(call.ground.cwd), Some(call.ground.root), call.ground.worktree, home].into_iter().flatten().any(
        |directory| {
            let path = directory.join(end);
            is_protected_by(
                rules,
                call,
                &call.ground.touch(shell_effects::Access::Read, &path.to_string_lossy()),
            )
        },
    )
}

/// Whether a directory that a rule names has such a file.
fn holds(rule: &FileRule, rules: &FileRules, call: &ToolCall<'_>, end: &str) -> bool {
    let starts: Vec<&Path> = match rule.pattern.anchor() {
        // It may be anywhere.
        Anchor::AnyDepth => return rule.pattern.is_for_directories(),
        Anchor::Root => roots(call),
        Anchor::Absolute => vec![Path::new("/")],
        Anchor::RootOrAbsolute => [roots(call), vec![Path::new("/")]].concat(),
    };
    // Too many alternatives may be anything.
    let Some(alternatives) = rule.pattern.alternatives(MAX_ALTERNATIVES) else { return true };
    let has_one = |start: &Path, pattern: &str| {
        let directory = pattern.trim_end_matches("/**");
        match expand_with_hidden(start, directory, call.ground.budget) {
            Some(paths) => paths.iter().any(|path| has_protected(rules, call, path, end)),
            None => true,
        }
    };
    starts.iter().any(|start| alternatives.iter().any(|pattern| has_one(start, pattern)))
}

fn roots<'a>(call: &ToolCall<'a>) -> Vec<&'a Path> {
    [Some(call.ground.root), call.ground.worktree].into_iter().flatten().collect()
}

/// Whether the name of a user's rule, such as `secrets`, is that of a directory of the project with such a file. Packs write a `/`
/// after the name of a directory.
fn is_in_named_directory(rules: &FileRules, call: &ToolCall<'_>, end: &str) -> bool {
    let names = |rule: &FileRule| {
        !rule.allows
            && rule.pattern.is_at_any_depth()
            && !rule.origin.is_of_pack()
            && rule.agents.include(call.agent)
    };
    rules.0.iter().any(names) && has_protected(rules, call, call.ground.root, end)
}

/// Whether a path is such a protected file, or a directory with one. If there are too many to search, it counts as one.
fn has_protected(rules: &FileRules, call: &ToolCall<'_>, path: &Path, end: &str) -> bool {
    let is_protected = |path: &Path| {
        let location = call.ground.location(path, false);
        path.ends_with(end) && rules.protecting(&location, &call.silent_query()).is_some()
    };
    if !path.is_dir() {
        return path.exists() && is_protected(path);
    }
    let found: Option<Option<PathBuf>> =
        first_below(path, call.visited, call.ground.budget, |path, _| is_protected(path));
    !matches!(found, Some(None))
}
