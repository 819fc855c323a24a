//! The files of the project that rules match: patterns for writing are expanded to them, and exceptions for reading.

use std::path::Path;

use super::{EnforceRequest, MAX_LISTED, OwnPath};
use crate::guard::{ComparisonLog, FileQuery, FileRule, FileRules, FileUsage};
use conclaude_core::coverage::{Extent, may_be_directory};
use conclaude_core::dialect::claude::sandbox;
use conclaude_core::file_pattern::{FilePattern, Location};
use conclaude_os::budget::Budget;
use conclaude_os::git::TreeEntry;
use shell_effects::glob::escaped;

/// An entry as patterns are compared with it.
fn location(entry: &TreeEntry, root: &str) -> Location {
    Location {
        absolute: format!("{}/{}", root.trim_end_matches('/'), entry.path),
        relative: Some(entry.path.clone()),
        in_worktree: None,
        is_directory: entry.is_directory,
    }
}

/// The files that one rule matches.
#[derive(Clone, Debug, Default)]
pub(super) struct Matches {
    pub(super) paths: Vec<String>,
    /// How many have names that Claude Code would take for patterns.
    pub(super) unwritable: usize,
}

impl Matches {
    fn add(&mut self, path: &str) {
        if sandbox::is_pattern(path) || path.contains(char::is_control) {
            self.unwritable += 1;
        } else {
            self.paths.push(path.to_owned());
        }
    }

    /// Whether they are more than can be listed.
    pub(super) fn are_too_many(&self) -> bool {
        self.paths.len() > MAX_LISTED
    }

    /// In words, for the reason of a class.
    pub(super) fn summary(&self) -> String {
        let listed = match self.paths.as_slice() {
            [] => "no file matches now".to_owned(),
            [one] => one.clone(),
            [one, two] => format!("{one}, {two}"),
            [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
        };
        match self.unwritable {
            0 => listed,
            1 => format!("{listed}; 1 file has `*`, `?` or `[` in its name and is not listed"),
            many => format!("{listed}; {many} files have `*`, `?` or `[` in their names and are not listed"),
        }
    }
}

/// The rules of one list that are compiled, and all its exceptions.
pub(super) struct KeptRules<'a> {
    pub(super) request: &'a EnforceRequest<'a>,
    pub(super) rules: FileRules,
    /// Which of them are expanded.
    pub(super) expanded: Vec<bool>,
    budget: Budget,
}

impl<'a> KeptRules<'a> {
    pub(super) fn new(request: &'a EnforceRequest<'a>, rules: FileRules) -> KeptRules<'a> {
        let expanded = vec![false; rules.0.len()];
        KeptRules { request, rules, expanded, budget: Budget::unlimited() }
    }

    /// The first exception that may free something of a rule, as it is written.
    pub(super) fn exception_to(&self, index: usize) -> Option<&str> {
        let rule = self.rules.0.get(index)?;
        let mut later = self.rules.0.iter().skip(index + 1).filter(|one| one.allows && one.may_free(rule));
        let is_directory = rule.pattern.is_for_directories() || self.names_a_directory(&rule.pattern);
        let pattern = Extent { glob: plain(&rule.written), holds_files: is_directory };
        let frees = |written: &str| {
            let exception = plain(written.trim_start_matches('!'));
            let holds_files = written.ends_with('/') || may_be_directory(exception);
            // Elsewhere on the machine only what is written alike is meant.
            pattern.may_overlap(Extent { glob: exception, holds_files })
        };
        later.find(|one| frees(&one.written)).map(|one| one.written.as_str())
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

    /// The files that each expanded rule matches. A directory stands for what is in it, unless an exception may be there.
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
            let is_whole = rules.iter().any(|(index, is_whole)| *is_whole && covering.contains(index));
            if entry.is_directory && !is_whole {
                continue;
            }
            if entry.is_directory {
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

    /// The files that exceptions free, by the last exception that covers each.
    pub(super) fn freed(&self) -> Vec<Matches> {
        let rules = &self.rules.0;
        let mut found = vec![Matches::default(); rules.len()];
        if !rules.iter().any(|rule| rule.allows) {
            return found;
        }
        let denied: Vec<Option<FilePattern>> =
            self.request.denied_by_user.iter().map(|entry| self.absolute(entry)).collect();
        for entry in self.request.existing.iter().filter(|entry| !entry.is_directory) {
            let location = location(entry, self.request.paths.root);
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
            if let Some(matches) = found.get_mut(exception) {
                matches.add(&entry.path);
            }
        }
        found
    }

    /// An entry of the user's `denyRead` as a pattern. None if it cannot be read: then it may cover anything.
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

/// A pattern without what marks its start, so that one of the machine can be compared with one of the project.
fn plain(written: &str) -> &str {
    written.trim_start_matches("~/").trim_start_matches('/')
}
