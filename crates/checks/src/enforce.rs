//! Compiles the rules for files into Claude Code's sandbox and permission rules, and says of every rule who enforces it.
//!
//! Nothing is read from the disk: the files that exist are passed in. What the operating system denies is never more than what the
//! guards deny to everybody, so a rule for some agents, or one that asks, is not compiled.

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
mod existing;
mod parts;

use classify::{Compiler, RulePlan};

/// How many files of one rule are listed. Each costs time at every command.
pub const MAX_LISTED: usize = 250;

/// What is compiled, and for which settings.
#[derive(Clone, Copy)]
pub struct EnforceRequest<'a> {
    pub rules: &'a GuardRules,
    pub enforcers: Enforcers,
    pub paths: SettingsPaths<'a>,
    /// The files and directories of the project.
    pub existing: &'a [TreeEntry],
    /// Our own files.
    pub own: &'a [OwnPath],
    /// Entries of `denyRead` that are the user's own: no exception of a rule frees what they cover.
    pub denied_by_user: &'a [String],
}

/// The project, as the settings name its files.
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

    /// A path from the root.
    #[must_use]
    pub fn spell(&self, relative: &str) -> String {
        format!("{}{relative}", self.prefix())
    }
}

/// A file or folder of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnPath {
    /// From the root, with whether it is a folder.
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

/// The compiled rules.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// What must be in the settings, each once.
    pub entries: Vec<SettingsEntry>,
    /// The files among them that patterns for writing match.
    pub listed: Vec<ListedFile>,
    /// Every rule, in the order in which the guards compare them.
    pub rules: Vec<RuleEnforcement>,
    /// Whether the entries depend on which files exist.
    pub depends_on_files: bool,
    reading: FileRules,
    writing: FileRules,
    own: Vec<String>,
}

impl Compiled {
    #[must_use]
    pub fn of(request: &EnforceRequest<'_>) -> Compiled {
        Compiler::new(request).run()
    }

    /// Who enforces a rule. None for a rule that is not one of these.
    #[must_use]
    pub fn enforcement(&self, rule: &Rule) -> Option<&RuleEnforcement> {
        self.rules.iter().find(|one| one.rule == *rule)
    }

    /// Whether the operating system enforces a rule, at least for files that exist.
    #[must_use]
    pub fn is_compiled(&self, rule: &Rule) -> bool {
        self.enforcement(rule).is_some_and(|one| one.class != EnforcementClass::HookOnly)
    }

    /// The compiled rule that covers a path, for writing or for reading. Where its class is `ExistingFiles`, the path may be too new
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
        let is_own = |own: &String| {
            let rest = location.absolute.strip_prefix(own.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if writes && self.own.iter().any(is_own) {
            return self.enforcement(&Rule::built_in(OWN_FILES));
        }
        None
    }

    fn add(&mut self, keys: &[&str], values: impl IntoIterator<Item = String>) {
        for value in values {
            let entry = SettingsEntry::member(keys, value);
            if !self.entries.contains(&entry) {
                self.entries.push(entry);
            }
        }
    }

    fn add_plan(&mut self, plan: RulePlan, writes: bool) {
        self.add(if writes { &sandbox::DENY_WRITE } else { &sandbox::DENY_READ }, plan.sandbox);
        self.add(&sandbox::DENY, plan.permissions);
        self.rules.push(RuleEnforcement { rule: plan.rule, class: plan.class, why: plan.why });
    }
}

#[cfg(test)]
mod tests;
