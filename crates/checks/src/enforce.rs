//! Compiles the rules for files into Claude Code's sandbox and permission rules, and reports who enforces each rule.
//!
//! The caller passes the existing files of the project, and a trait for questions about the rest of the machine. The operating
//! system never denies more than the guards deny to everybody. So a rule for some agents, or one that asks, is not compiled.

use std::fmt;
use std::path::Path;

use crate::guard::{ComparisonLog, FileQuery, FileRules, FileUsage, GuardRules};
use conclaude_core::config::Enforcers;
use conclaude_core::dialect::claude::sandbox::{self, SettingsEntry};
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::{OWN_FILES, Rule};
use conclaude_os::budget::Budget;
use conclaude_os::git::TreeEntry;

mod classify;
mod matching_files;
mod parts;

use classify::{Compiler, RulePlan};
pub use matching_files::looks_into;

/// The limit on files that are listed because patterns match them, for all rules together. At this number, each command takes two
/// seconds longer. From about 3,000 on, Claude Code refuses every command.
pub const MAX_LISTED: usize = 1_000;

/// The limit on files of one exception.
const MAX_FREED: usize = 250;

/// The rules to compile, and the target settings.
#[derive(Clone, Copy)]
pub struct EnforceRequest<'a> {
    pub rules: &'a GuardRules,
    pub enforcers: Enforcers,
    pub paths: SettingsPaths<'a>,
    /// The files and directories of the project.
    pub existing: &'a [TreeEntry],
    /// The files that are already listed, relative to the root: if there are too many, these stay.
    pub listed: &'a [String],
    pub machine: &'a dyn Machine,
    /// Our own files.
    pub own: &'a [OwnPath],
    /// Our own files by their names, absolute: links are not resolved.
    pub own_names: &'a [String],
    /// Entries of `denyRead` that are the user's own. No exception of a rule overrides them.
    pub denied_by_user: &'a [String],
}

/// The disk, except the files of the project.
pub trait Machine {
    /// The names in a directory, by its absolute path. Empty if it cannot be read.
    fn names_in(&self, directory: &str) -> Vec<String>;
    /// Whether an absolute path is a file with only one name: neither a link nor one of several hard links.
    fn is_plain_file(&self, path: &str) -> bool;
    /// The first link on an absolute path inside a folder. `None` if the path is not below the folder.
    fn link_in(&self, folder: &str, path: &str) -> Option<String>;
}

/// The project, in the form of the settings.
#[derive(Clone, Copy)]
pub struct SettingsPaths<'a> {
    /// Where patterns start, an absolute path.
    pub root: &'a str,
    /// The folder of the settings, where `./` starts.
    pub project: &'a str,
}

impl SettingsPaths<'_> {
    /// The start of a path from the root: `./` where the settings are in the root.
    fn prefix(&self) -> String {
        match Path::new(self.root).strip_prefix(self.project) {
            Ok(below) if below.as_os_str().is_empty() => "./".to_owned(),
            Ok(below) => format!("./{}/", below.display()),
            Err(_) => format!("{}/", self.root.trim_end_matches('/')),
        }
    }

    /// A path of the settings, relative to the root. `None` if it is not below the root.
    #[must_use]
    pub fn from_root<'s>(&self, spelled: &'s str) -> Option<&'s str> {
        spelled.strip_prefix(&self.prefix())
    }

    /// A path of the settings, as an absolute path.
    #[must_use]
    pub fn absolute(&self, spelled: &str) -> String {
        match spelled.strip_prefix("./") {
            Some(below) => format!("{}/{below}", self.project.trim_end_matches('/')),
            None => spelled.to_owned(),
        }
    }

    /// A path from the root, or an absolute one.
    #[must_use]
    pub fn spell(&self, relative: &str) -> String {
        if relative.starts_with('/') { relative.to_owned() } else { format!("{}{relative}", self.prefix()) }
    }
}

/// A file or folder of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnPath {
    /// Relative to the root, with whether it is a folder.
    Relative {
        path: String,
        is_directory: bool,
    },
    Absolute(String),
}

/// Who enforces a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EnforcementClass {
    Os,
    ExistingFiles,
    HookOnly,
}

impl EnforcementClass {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            EnforcementClass::Os => "enforced by the OS",
            EnforcementClass::ExistingFiles => "by the OS for files that exist now",
            EnforcementClass::HookOnly => "hook only",
        }
    }
}

impl fmt::Display for EnforcementClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A rule, who enforces it, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleEnforcement {
    pub rule: Rule,
    pub class: EnforcementClass,
    pub why: String,
    /// How many existing files match it and cannot be listed.
    pub unlisted: usize,
    /// Links in the project that it names, or that its paths go through, relative to the root. The sandbox protects their
    /// targets.
    pub links: Vec<String>,
    /// Whether it is a permission rule of Claude Code as well.
    pub has_permission: bool,
}

/// A file that is listed because a pattern for writing matches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// From the root.
    pub path: String,
    /// As the settings have it.
    pub spelled: String,
    pub rule: Rule,
}

/// The entries of the settings, and who enforces each rule.
#[derive(Clone, Debug, Default)]
pub struct CompiledRules {
    /// The necessary entries of the settings, each once.
    pub entries: Vec<SettingsEntry>,
    /// The entries that patterns for writing match.
    pub listed: Vec<ListedFile>,
    /// Every rule, in the order in which the guards compare them.
    pub rules: Vec<RuleEnforcement>,
    /// Whether the entries depend on which files exist.
    pub depends_on_files: bool,
    reading: FileRules,
    writing: FileRules,
    own: Vec<String>,
    /// The absolute paths that no command may write, with their rules.
    unwritable: Vec<(String, Rule)>,
    /// Rules that are compiled for the project's own files, and cover others too.
    of_project: Vec<Rule>,
    /// Where the project is.
    root: String,
}

impl CompiledRules {
    #[must_use]
    pub fn of(request: &EnforceRequest<'_>) -> CompiledRules {
        Compiler::new(request).run()
    }

    /// Who enforces a rule. `None` if it is not one of these.
    #[must_use]
    pub fn enforcement(&self, rule: &Rule) -> Option<&RuleEnforcement> {
        self.rules.iter().find(|one| one.rule == *rule)
    }

    /// Whether the operating system enforces a rule, at least for files that exist.
    #[must_use]
    pub fn is_compiled(&self, rule: &Rule) -> bool {
        self.enforcement(rule).is_some_and(|one| one.class != EnforcementClass::HookOnly)
    }

    /// The compiled rule that covers a path, for writing or for reading. If its class is `ExistingFiles`, the path may be too new
    /// to be listed: see `listed`.
    #[must_use]
    pub fn covering(&self, location: &Location, writes: bool) -> Option<&RuleEnforcement> {
        let budget = Budget::unlimited();
        let query =
            FileQuery { agent: "", usage: FileUsage::Other, log: ComparisonLog::Nothing, budget: &budget };
        let rules = if writes { &self.writing } else { &self.reading };
        if let Some(found) = rules.protecting(location, &query) {
            return self.enforcement(&found.rule.origin.rule(&found.rule.written));
        }
        if writes && self.own.iter().any(|own| is_at_or_below(&location.absolute, own)) {
            return self.enforcement(&Rule::built_in(OWN_FILES));
        }
        None
    }

    /// Whether the compiled entries deny a path that a rule covers. A file that a pattern for writing matches may be too new.
    #[must_use]
    pub fn denies(&self, rule: &RuleEnforcement, location: &Location, writes: bool) -> bool {
        if writes {
            let is_denied = |denied: &String| is_at_or_below(&location.absolute, denied);
            return if rule.rule == Rule::built_in(OWN_FILES) {
                self.own.iter().any(is_denied)
            } else {
                self.unwritable.iter().any(|(denied, _)| is_denied(denied))
            };
        }
        let is_listed = if self.of_project.contains(&rule.rule) {
            is_at_or_below(&location.absolute, self.root.trim_end_matches('/'))
        } else {
            // A copy of the path in a worktree is another file.
            location.in_worktree.is_none()
        };
        is_listed && (rule.class != EnforcementClass::HookOnly || !rule.links.is_empty())
    }

    /// The rule that forbids writing something in a directory. Then the directory cannot be renamed either.
    #[must_use]
    pub fn inside(&self, directory: &str) -> Option<&RuleEnforcement> {
        let (_, rule) = self.unwritable.iter().find(|(denied, _)| is_at_or_below(denied, directory))?;
        self.enforcement(rule)
    }

    /// Why our own files are not all protected, if some are links.
    #[must_use]
    pub fn own_links(&self) -> Option<String> {
        about_links(&self.enforcement(&Rule::built_in(OWN_FILES))?.links)
    }

    /// Rules with files that cannot be listed.
    pub fn incomplete(&self) -> impl Iterator<Item = &RuleEnforcement> {
        self.rules.iter().filter(|one| one.unlisted > 0)
    }

    /// How many files match a rule and cannot be listed.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.incomplete().map(|rule| rule.unlisted).sum()
    }

    fn add(&mut self, keys: &[&str], values: impl IntoIterator<Item = String>) {
        for value in values {
            let entry = SettingsEntry::member(keys, value);
            if !self.entries.contains(&entry) {
                self.entries.push(entry);
            }
        }
    }

    fn add_plan(&mut self, plan: RulePlan, writes: bool, paths: &SettingsPaths<'_>) {
        if writes {
            let rule = &plan.rule;
            let paths = plan.sandbox.iter().map(|spelled| (paths.absolute(spelled), rule.clone()));
            self.unwritable.extend(paths);
        }
        self.add(if writes { &sandbox::DENY_WRITE } else { &sandbox::DENY_READ }, plan.sandbox);
        let has_permission = !plan.permissions.is_empty();
        self.add(&sandbox::DENY, plan.permissions);
        let RulePlan { rule, class, why, unlisted, links, is_for_project, .. } = plan;
        if is_for_project {
            self.of_project.push(rule.clone());
        }
        self.rules.push(RuleEnforcement { rule, class, why, unlisted, links, has_permission });
    }
}

/// The effect of links on a rule.
fn about_links(links: &[String]) -> Option<String> {
    let (first, rest) = links.split_first()?;
    Some(match rest.len() {
        0 => format!("{first} is a link: what it points to is protected, and a command may replace the link"),
        more => format!(
            "{first} and {more} more are links: what they point to is protected, and a command may replace the links"
        ),
    })
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
