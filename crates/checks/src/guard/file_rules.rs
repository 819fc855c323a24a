//! The rules of one list of files, such as `uneditableFiles`, and which of them protects a file.

use super::comparison_log::ComparisonLog;
use super::rules::{Action, AgentFilter, RuleOrigin};
use conclaude_core::file_pattern::{FilePattern, Location};
use conclaude_os::budget::Budget;
use conclaude_store::store;

/// One entry of a list of files.
#[derive(Clone, Debug)]
pub struct FileRule {
    pub written: String,
    pub pattern: FilePattern,
    /// `!pattern`: an exception for the files that it covers.
    pub allows: bool,
    pub message: Option<String>,
    pub agents: AgentFilter,
    /// Whether the project's own files are excluded.
    pub outside: bool,
    pub action: Action,
    /// The action for a file that would be created, if it differs.
    pub create: Option<Action>,
    /// The action for a file that a shell reads as commands, if it differs.
    pub source: Option<Action>,
    /// The action for a file that git restores, or that its own program writes again, if it differs.
    pub restore: Option<Action>,
    /// Whether an inner layer may make exceptions to it.
    pub overridable: bool,
    pub origin: RuleOrigin,
}

impl FileRule {
    /// Whether this exception applies to another rule's files. It applies to a rule of an outer layer only if that rule is
    /// overridable. An exception of a pack applies to that pack only.
    pub(crate) fn may_free(&self, held: &FileRule) -> bool {
        let is_let = held.origin.layer >= self.origin.layer || held.overridable;
        is_let && (!self.origin.is_of_pack() || self.origin.file == held.origin.file)
    }

    /// Why it does not apply to a location. `is_state` is whether that is conclaude's own.
    fn why_not<'q>(
        &self,
        location: &Location,
        is_state: bool,
        query: &FileQuery<'q>,
    ) -> Option<Inapplicable<'q>> {
        let FileQuery { agent, usage, budget, .. } = *query;
        // `.conclaude/` has locks and logs. A rule for `*.lock` or `*.log` does not concern them.
        if is_state && !self.written.contains(store::FOLDER) {
            Some(Inapplicable::OwnState)
        } else if !self.agents.include(agent) {
            Some(Inapplicable::OtherAgent(agent))
        // Out of time, a location counts as protected unless it certainly is not.
        } else if self.pattern.rules_out(location) || (!budget.is_over() && !self.pattern.covers(location)) {
            Some(Inapplicable::OtherFile)
        } else if self.outside && self.pattern.leaves_to_project(location) {
            Some(Inapplicable::OfProject)
        } else if !self.allows && self.action_for(usage) == Action::Allow {
            Some(Inapplicable::Usage(usage))
        } else {
            None
        }
    }

    /// What this exception does to a location, and to the rule that still protects it.
    fn explained_exception(&self, subject: &str, held: Option<&&FileRule>) -> String {
        let Some(held) = held else { return format!("frees {subject}") };
        let is_outer = held.origin.layer < self.origin.layer;
        let owner = if is_outer { "an outer layer" } else { "another file" };
        format!("matches {subject}, but cannot override `{}` of {owner}", held.written)
    }

    fn action_for(&self, usage: FileUsage) -> Action {
        let special = match usage {
            FileUsage::Creates => self.create,
            FileUsage::Sources => self.source,
            FileUsage::Restores => self.restore,
            FileUsage::Other => None,
        };
        special.unwrap_or(self.action)
    }
}

/// Why a rule for files does not apply to a location.
enum Inapplicable<'a> {
    OwnState,
    OtherAgent(&'a str),
    OtherFile,
    OfProject,
    Usage(FileUsage),
}

impl Inapplicable<'_> {
    fn explained(&self, subject: &str) -> String {
        match self {
            Inapplicable::OwnState => format!("leaves {subject} to conclaude's protection of its own files"),
            Inapplicable::OtherAgent(agent) => AgentFilter::other(agent),
            Inapplicable::OtherFile => format!("does not cover {subject}"),
            Inapplicable::OfProject => format!("does not apply to {subject}: it belongs to the project"),
            Inapplicable::Usage(FileUsage::Sources) => format!("lets a shell read {subject}"),
            Inapplicable::Usage(FileUsage::Restores) => {
                format!("does not apply to {subject}: it is set back")
            }
            Inapplicable::Usage(_) => format!("does not apply to {subject}: it does not exist yet"),
        }
    }
}

/// The strictest of the rules that protect a file. The last of them that has a message explains the decision.
fn strictest(mut protecting: Vec<&FileRule>, usage: FileUsage) -> Option<Protection<'_>> {
    let action = protecting.iter().map(|rule| rule.action_for(usage)).max()?;
    protecting.retain(|rule| rule.action_for(usage) == action);
    let last = protecting.last().copied()?;
    let explained = protecting.iter().copied().rfind(|rule| rule.message.is_some()).unwrap_or(last);
    Some(Protection { rule: explained, action, message: explained.message.as_deref() })
}

/// The use of a file, if a rule may treat it differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FileUsage {
    #[default]
    Other,
    /// A new file is written.
    Creates,
    /// A shell reads it as commands, or a program takes the variables in it for others.
    Sources,
    /// Git writes a version that is committed, or the program that made it writes it again after it was deleted.
    Restores,
}

/// Who uses a file, and how.
#[derive(Clone, Copy)]
pub struct FileQuery<'a> {
    pub agent: &'a str,
    pub usage: FileUsage,
    pub log: ComparisonLog<'a>,
    pub budget: &'a Budget,
}

/// The rule that protects a file, and its text in the config.
#[derive(Clone, Copy, Debug)]
pub struct Protection<'a> {
    pub rule: &'a FileRule,
    /// The strictest of all rules that protect it.
    pub action: Action,
    pub message: Option<&'a str>,
}

/// The entries of one list, such as `uneditableFiles`.
#[derive(Clone, Debug, Default)]
pub struct FileRules(pub Vec<FileRule>);

impl FileRules {
    pub fn is_empty(&self, agent: &str) -> bool {
        !self.0.iter().any(|rule| !rule.allows && rule.agents.include(agent))
    }

    /// The rules that do not come from a pack.
    pub fn of_user(&self) -> FileRules {
        FileRules(self.0.iter().filter(|rule| !rule.origin.is_of_pack()).cloned().collect())
    }

    /// The rule that protects this location from this agent. As in gitignore the last match decides, but an inner layer makes
    /// exceptions only if the outer layer permits them.
    pub fn protecting(&self, location: &Location, query: &FileQuery<'_>) -> Option<Protection<'_>> {
        let mut protecting: Vec<&FileRule> = Vec::new();
        let is_state = location.anchored().any(is_own_state);
        let subject = location.shown();
        for rule in &self.0 {
            let named = (&rule.origin, rule.written.as_str());
            if let Some(why) = rule.why_not(location, is_state, query) {
                query.log.missed(named, subject, || why.explained(subject));
            } else if rule.allows {
                protecting.retain(|held| !rule.may_free(held));
                query.log.matched(named, subject, || rule.explained_exception(subject, protecting.last()));
            } else {
                query.log.matched(named, subject, || format!("covers {subject}"));
                protecting.push(rule);
            }
        }
        strictest(protecting, query.usage)
    }

    /// The rules that may protect something below a directory with these names. `None` if nothing there is protected.
    pub fn below(&self, names: &[Location], agent: &str) -> Option<FileRules> {
        let may_protect = |at: usize, rule: &FileRule, name: &Location| {
            let mut later = self.0.iter().skip(at + 1);
            let frees = |free: &FileRule| {
                free.allows
                    && free.agents.include(agent)
                    && free.may_free(rule)
                    && free.pattern.surely_covers(name)
            };
            rule.agents.include(agent) && !rule.pattern.rules_out_below(name) && !later.any(frees)
        };
        let counts = |(at, rule): &(usize, &FileRule)| {
            rule.allows || names.iter().any(|name| may_protect(*at, rule, name))
        };
        let kept =
            FileRules(self.0.iter().enumerate().filter(counts).map(|(_, rule)| rule.clone()).collect());
        if kept.is_empty(agent) { None } else { Some(kept) }
    }

    /// Like `protecting`, but for a file with several names. One protected name is enough.
    pub fn protecting_any(&self, names: &[Location], query: &FileQuery<'_>) -> Option<Protection<'_>> {
        let mut found: Option<Protection<'_>> = None;
        for location in names {
            let protection = self.protecting(location, query);
            found = match (found, protection) {
                (Some(first), Some(other)) if other.action > first.action => Some(other),
                (found, protection) => found.or(protection),
            };
            if found.is_some_and(|found| found.action == Action::Block) {
                break;
            }
        }
        found
    }
}

/// Whether a path from the root is `.conclaude` or below it.
fn is_own_state(path: &str) -> bool {
    path.strip_prefix(store::FOLDER).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
