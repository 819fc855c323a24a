//! The files of the project that rules match. Patterns for writing, and exceptions for reading, are expanded to them.

use std::collections::BTreeSet;
use std::path::Path;

use super::parts::{Part, PathStart};
use super::{EnforceRequest, MAX_LISTED, OwnPath};
use crate::guard::{ComparisonLog, FileQuery, FileRule, FileRules, FileUsage};
use conclaude_core::coverage::{Extent, may_be_directory};
use conclaude_core::dialect::claude::sandbox;
use conclaude_core::file_pattern::{FilePattern, Location};
use conclaude_os::budget::Budget;
use conclaude_os::git::TreeEntry;
use shell_effects::glob::escaped;

/// An entry in the form that patterns are compared with.
fn location(entry: &TreeEntry, root: &str) -> Location {
    Location {
        absolute: format!("{}/{}", root.trim_end_matches('/'), entry.path),
        relative: Some(entry.path.clone()),
        in_worktree: None,
        is_directory: entry.is_directory,
    }
}

/// Whether an ignored directory of the project must be searched: a rule for writing names it, and does not simply cover all of
/// it. Other ignored directories are not expanded: they may hold a hundred thousand files.
#[must_use]
pub fn looks_into(rules: &FileRules, root: &str, directory: &str) -> bool {
    let entry = TreeEntry { path: directory.to_owned(), is_directory: true, is_link: false };
    let location = location(&entry, root);
    rules.0.iter().filter(|rule| !rule.allows).any(|rule| {
        if rule.pattern.covers(&location) {
            return rules.0.iter().any(|one| may_free_below(one, &location));
        }
        rule.pattern.reaches_into(&location)
    })
}

/// Whether an exception may apply to something in a directory.
fn may_free_below(exception: &FileRule, directory: &Location) -> bool {
    exception.allows && !exception.pattern.rules_out_below(directory)
}

/// The files that one rule matches.
#[derive(Clone, Debug, Default)]
pub(super) struct Matches {
    /// Relative to the root, or absolute.
    pub(super) paths: Vec<String>,
    /// How many have names that cannot be written into the settings.
    unwritable: usize,
    /// How many are left out because there are too many.
    pub(super) left_out: usize,
    /// How many are links. An exception does not apply to them.
    links: usize,
}

impl Matches {
    fn add(&mut self, path: &str) {
        // Claude Code reads the first ones as patterns. A replacement character stands for bytes that are not UTF-8.
        if sandbox::is_pattern(path) || path.contains(char::is_control) || path.contains('\u{fffd}') {
            self.unwritable += 1;
        } else {
            self.paths.push(path.to_owned());
        }
    }

    /// How many files match and are not listed.
    pub(super) fn unlisted(&self) -> usize {
        self.unwritable + self.left_out
    }

    /// The summary for the reason of a class.
    pub(super) fn summary(&self) -> String {
        let listed = match self.paths.as_slice() {
            [] => "no file matches now".to_owned(),
            [one] => one.clone(),
            [one, two] => format!("{one}, {two}"),
            [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
        };
        let listed = if self.paths.is_empty() && self.unlisted() + self.links > 0 {
            "no file is listed".to_owned()
        } else {
            listed
        };
        let unwritable = match self.unwritable {
            0 => None,
            1 => Some("1 file has `*`, `?`, `[` or no text in its name and cannot be listed".to_owned()),
            many => Some(format!(
                "{many} files have `*`, `?`, `[` or no text in their names and cannot be listed"
            )),
        };
        let left_out = match self.left_out {
            0 => None,
            count => Some(format!("{count} more match and are not listed: at most {MAX_LISTED} files are")),
        };
        let links = match self.links {
            0 => None,
            1 => Some("1 stays denied, since it is a link or not a regular file".to_owned()),
            many => Some(format!("{many} stay denied, since they are links or not regular files")),
        };
        let all = [Some(listed), unwritable, left_out, links];
        all.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// Removes files beyond the limit for all rules together. Already listed files stay, so that new files displace none.
pub(super) fn limit(all: &mut [Matches], room: usize, listed: &[String]) {
    let paths: BTreeSet<&String> = all.iter().flat_map(|matches| &matches.paths).collect();
    if paths.len() <= room {
        return;
    }
    let known: BTreeSet<&String> = listed.iter().collect();
    let (first, then): (Vec<&String>, Vec<&String>) =
        paths.into_iter().partition(|path| known.contains(path));
    let kept: BTreeSet<String> = first.into_iter().chain(then).take(room).cloned().collect();
    for matches in all {
        let before = matches.paths.len();
        matches.paths.retain(|path| kept.contains(path));
        matches.left_out += before - matches.paths.len();
    }
}

/// The compiled rules of one list, and all its exceptions.
pub(super) struct CompiledFileRules<'a> {
    pub(super) request: &'a EnforceRequest<'a>,
    pub(super) rules: FileRules,
    /// Which of them are expanded.
    pub(super) expanded: Vec<bool>,
    budget: Budget,
}

impl<'a> CompiledFileRules<'a> {
    pub(super) fn new(request: &'a EnforceRequest<'a>, rules: FileRules) -> CompiledFileRules<'a> {
        let expanded = vec![false; rules.0.len()];
        CompiledFileRules { request, rules, expanded, budget: Budget::unlimited() }
    }

    /// The text of the first exception that may apply to something of a rule.
    pub(super) fn exception_to(&self, index: usize) -> Option<&str> {
        let later = self.rules.0.iter().skip(index + 1).filter(|one| one.allows);
        let rule = self.rules.0.get(index)?;
        later.into_iter().find(|one| self.frees(one, rule)).map(|one| one.written.as_str())
    }

    /// Whether an exception may apply to something of an earlier rule.
    pub(super) fn frees_any(&self, index: usize) -> bool {
        let Some(exception) = self.rules.0.get(index) else { return false };
        let mut before = self.rules.0.iter().take(index).filter(|one| !one.allows);
        before.any(|rule| self.frees(exception, rule))
    }

    fn frees(&self, exception: &FileRule, rule: &FileRule) -> bool {
        if !exception.may_free(rule) {
            return false;
        }
        let is_directory = rule.pattern.is_for_directories() || self.names_a_directory(&rule.pattern);
        let holds_files =
            exception.pattern.is_for_directories() || may_be_directory(exception.pattern.glob());
        let root = escaped(self.request.paths.root.trim_matches('/'));
        // A pattern of the project and one of the machine are compared as absolute paths.
        let spelled = |pattern: &FilePattern, start: PathStart, other: PathStart| {
            if start == PathStart::Root && other == PathStart::Absolute {
                format!("{root}/{}", pattern.glob())
            } else {
                pattern.glob().to_owned()
            }
        };
        let overlap = |start: PathStart, other: PathStart| {
            let covered = spelled(&rule.pattern, start, other);
            let freed = spelled(&exception.pattern, other, start);
            let pattern = Extent { glob: &covered, holds_files: is_directory };
            pattern.may_overlap(Extent { glob: &freed, holds_files })
        };
        let others = PathStart::of(&exception.pattern);
        PathStart::of(&rule.pattern).iter().any(|start| others.iter().any(|other| overlap(*start, *other)))
    }

    fn names_a_directory(&self, pattern: &FilePattern) -> bool {
        let mut directories = self.request.existing.iter().filter(|entry| entry.is_directory);
        directories.any(|entry| pattern.names(&location(entry, self.request.paths.root)))
    }

    fn protects(&self, location: &Location) -> bool {
        let query = FileQuery {
            agent: "",
            usage: FileUsage::Other,
            log: ComparisonLog::Nothing,
            budget: &self.budget,
        };
        self.rules.protecting(location, &query).is_some()
    }

    /// Whether it is one of our own files, which are protected anyway.
    fn is_own(&self, path: &str) -> bool {
        self.request.own.iter().any(|own| match own {
            OwnPath::Relative { path: own, .. } => Path::new(path).starts_with(own),
            OwnPath::Absolute(_) => false,
        })
    }

    /// The files that each expanded rule matches. A directory includes its content, unless an exception may be there.
    pub(super) fn matches(&self) -> Vec<Matches> {
        let mut found = vec![Matches::default(); self.rules.0.len()];
        let rules: Vec<(usize, bool)> = (0..self.rules.0.len())
            .filter(|index| self.expanded.get(*index) == Some(&true))
            .map(|index| (index, self.exception_to(index).is_none()))
            .collect();
        if rules.is_empty() {
            return found;
        }
        let mut entries: Vec<&TreeEntry> = self.request.existing.iter().collect();
        entries.sort();
        let mut inside: Option<String> = None;
        for entry in entries {
            let is_inside = inside.as_ref().is_some_and(|folder| entry.path.starts_with(folder.as_str()));
            if is_inside || self.is_own(&entry.path) {
                continue;
            }
            let location = location(entry, self.request.paths.root);
            let covers = |index: usize| {
                let pattern = self.rules.0.get(index).map(|rule| &rule.pattern);
                pattern.is_some_and(|pattern| !pattern.rules_out(&location) && pattern.covers(&location))
            };
            let covering: Vec<usize> =
                rules.iter().filter(|(index, _)| covers(*index)).map(|(index, _)| *index).collect();
            if covering.is_empty() || !self.protects(&location) {
                continue;
            }
            let is_whole = rules.iter().any(|(index, is_whole)| {
                covering.contains(index) && (*is_whole || !self.may_free_below(*index, &location))
            });
            if entry.is_directory && !entry.is_link && !is_whole {
                continue;
            }
            if entry.is_directory && !entry.is_link {
                inside = Some(format!("{}/", entry.path));
            }
            for index in covering {
                if let Some(matches) = found.get_mut(index) {
                    matches.add(&entry.path);
                }
            }
        }
        found
    }

    /// Whether an exception to a rule may apply to something in a directory.
    fn may_free_below(&self, index: usize, directory: &Location) -> bool {
        self.rules.0.iter().skip(index + 1).any(|exception| may_free_below(exception, directory))
    }

    /// The links in the project that a rule matches.
    pub(super) fn links(&self, index: usize) -> Vec<String> {
        let Some(rule) = self.rules.0.get(index) else { return Vec::new() };
        let root = self.request.paths.root;
        let links = self.request.existing.iter().filter(|entry| entry.is_link);
        let is_protected = |entry: &&TreeEntry| {
            let location = location(entry, root);
            rule.pattern.covers(&location) && self.protects(&location)
        };
        links.filter(is_protected).map(|entry| entry.path.clone()).collect()
    }

    /// The files of the exceptions, by the last exception that covers each.
    pub(super) fn freed(&self) -> Vec<Matches> {
        let rules = &self.rules.0;
        let mut found = vec![Matches::default(); rules.len()];
        if !rules.iter().any(|rule| rule.allows) {
            return found;
        }
        let denied: Vec<Option<FilePattern>> =
            self.request.denied_by_user.iter().map(|entry| self.absolute(entry)).collect();
        let root = self.request.paths.root;
        let inside = self.request.existing.iter().filter(|entry| !entry.is_directory);
        let inside = inside.map(|entry| (entry.path.clone(), location(entry, root)));
        for (path, location) in inside.chain(self.freed_outside()) {
            let covers = |allows: bool| {
                let last =
                    |(_, rule): &(usize, &FileRule)| rule.allows == allows && rule.pattern.covers(&location);
                rules.iter().enumerate().rev().find(last).map(|(index, _)| index)
            };
            let (Some(exception), Some(_)) = (covers(true), covers(false)) else { continue };
            let is_denied = |pattern: &Option<FilePattern>| {
                pattern.as_ref().is_none_or(|pattern| pattern.covers(&location))
            };
            if self.protects(&location) || denied.iter().any(is_denied) {
                continue;
            }
            let Some(matches) = found.get_mut(exception) else { continue };
            if self.request.machine.is_plain_file(&location.absolute) {
                matches.add(&path);
            } else {
                matches.links += 1;
            }
        }
        found
    }

    /// The files outside of the project that exceptions name.
    fn freed_outside(&self) -> Vec<(String, Location)> {
        let EnforceRequest { paths, machine, .. } = self.request;
        let exceptions = self.rules.0.iter().filter(|rule| rule.allows);
        let parts = exceptions.filter_map(|rule| Part::all(&rule.pattern, *machine)).flatten();
        let absolute = parts.filter(|part| part.start == PathStart::Absolute && !part.is_directory);
        let files: BTreeSet<String> =
            absolute.filter_map(|part| part.files_of_machine(*machine)).flatten().collect();
        let is_outside = |path: &String| !Path::new(path).starts_with(paths.root);
        // A missing file is not counted as an omitted link.
        let exists = |path: &String| {
            let (folder, name) = path.rsplit_once('/').unwrap_or_default();
            machine.names_in(if folder.is_empty() { "/" } else { folder }).iter().any(|one| one == name)
        };
        let outside = files.into_iter().filter(|path| is_outside(path) && exists(path));
        outside.map(|path| (path.clone(), Location { absolute: path, ..Location::default() })).collect()
    }

    /// An entry of the user's `denyRead` as a pattern. `None` if it cannot be read: then it may cover anything.
    fn absolute(&self, entry: &str) -> Option<FilePattern> {
        let pattern = match entry.strip_prefix('/') {
            Some(absolute) => format!("//{absolute}"),
            None => {
                let project = escaped(self.request.paths.project.trim_matches('/'));
                format!("//{project}/{}", entry.trim_start_matches("./"))
            }
        };
        FilePattern::new(&pattern, None).ok()
    }
}
