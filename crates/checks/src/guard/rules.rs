//! The compiled rules of `preToolUse`, with their agents and their positions.

use std::sync::Arc;

use super::command_pattern::CommandPattern;
use super::comparison_log::ComparisonLog;
use super::touch_pattern::TouchPattern;
use conclaude_core::config::{Layer, NameGlob, PACK};
use conclaude_core::dialect::claude::notation::ToolInputPattern;
use conclaude_core::file_pattern::{FilePattern, Location};
use conclaude_core::rule::Rule;
use conclaude_os::budget::Budget;
use conclaude_store::store;
use shell_effects::Access;
use shell_effects::glob::{Glob, GlobError, GlobKind};

/// The agents that a rule is for: a glob over the subagent's name, where `main` is the main thread. `None` means all agents.
#[derive(Clone, Debug, Default)]
pub struct AgentFilter(Option<Glob>);

impl AgentFilter {
    pub fn new(agent: Option<&NameGlob>) -> AgentFilter {
        AgentFilter(agent.map(|agent| agent.glob().clone()))
    }

    /// Whether it is for every agent.
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    pub fn include(&self, agent: &str) -> bool {
        self.0.as_ref().is_none_or(|glob| glob.matches(agent).unwrap_or(true))
    }

    /// Why a rule does not apply to an agent.
    pub fn other(agent: &str) -> String {
        format!("does not apply to {agent}")
    }
}

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
        let FileQuery { agent, usage, log, budget } = *query;
        let mut protecting: Vec<&FileRule> = Vec::new();
        let is_state = location.anchored().any(is_own_state);
        for rule in &self.0 {
            let (named, subject) = ((&rule.origin, rule.written.as_str()), location.shown());
            // `.conclaude/` has locks and logs. A rule for `*.lock` or `*.log` does not concern them.
            if is_state && !rule.written.contains(store::FOLDER) {
                log.missed(named, subject, || {
                    format!("leaves {subject} to conclaude's protection of its own files")
                });
                continue;
            }
            if !rule.agents.include(agent) {
                log.missed(named, subject, || AgentFilter::other(agent));
                continue;
            }
            // Out of time, a location counts as protected unless it certainly is not.
            if rule.pattern.rules_out(location) || (!budget.is_over() && !rule.pattern.covers(location)) {
                log.missed(named, subject, || format!("does not cover {subject}"));
                continue;
            }
            if rule.outside && rule.pattern.leaves_to_project(location) {
                log.missed(named, subject, || {
                    format!("does not apply to {subject}: it belongs to the project")
                });
                continue;
            }
            if !rule.allows && rule.action_for(usage) == Action::Allow {
                log.missed(named, subject, || match usage {
                    FileUsage::Sources => format!("lets a shell read {subject}"),
                    FileUsage::Restores => format!("does not apply to {subject}: it is set back"),
                    _ => format!("does not apply to {subject}: it does not exist yet"),
                });
                continue;
            }
            if rule.allows {
                protecting.retain(|held| !rule.may_free(held));
                log.matched(named, subject, || match protecting.last() {
                    None => format!("frees {subject}"),
                    Some(held) => {
                        let is_outer = held.origin.layer < rule.origin.layer;
                        let owner = if is_outer { "an outer layer" } else { "another file" };
                        format!("matches {subject}, but cannot override `{}` of {owner}", held.written)
                    }
                });
            } else {
                log.matched(named, subject, || format!("covers {subject}"));
                protecting.push(rule);
            }
        }
        let action = protecting.iter().map(|rule| rule.action_for(usage)).max()?;
        protecting.retain(|rule| rule.action_for(usage) == action);
        let last = protecting.last().copied()?;
        // The last of them that has a message explains the decision.
        let explained = protecting.iter().copied().rfind(|rule| rule.message.is_some()).unwrap_or(last);
        Some(Protection { rule: explained, action, message: explained.message.as_deref() })
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    Allow,
    Ask,
    Block,
}

/// One entry of `toolUsageValidation`.
#[derive(Clone, Debug)]
pub struct ToolRule {
    pub tool: Glob,
    /// Compared with the call's input.
    pub input: InputPattern,
    /// `None` compares no file.
    pub pattern: Option<TouchPattern>,
    /// `None` compares no command.
    pub command: Option<CommandPattern>,
    /// `None` compares no SQL.
    pub sql: Option<CommandPattern>,
    /// Statements that are exceptions to `sql`.
    pub sql_unless: Option<CommandPattern>,
    /// As written in the config, for messages.
    pub written: String,
    pub action: Action,
    pub message: Option<String>,
    pub agents: AgentFilter,
    /// Whether a rule of an inner layer may decide otherwise.
    pub overridable: bool,
    pub origin: RuleOrigin,
}

/// A rule that is only on or off.
#[derive(Clone, Debug)]
pub struct SwitchRule {
    pub origin: RuleOrigin,
    pub message: Option<String>,
}

impl SwitchRule {
    /// The message of the config with its placeholders filled in.
    pub fn message_for(&self, path: &str, tool: &str) -> Option<String> {
        let message = self.message.as_ref()?;
        Some(message.replace("{file_path}", path).replace("{tool}", tool))
    }
}

#[derive(Clone, Debug, Default)]
pub struct GuardRules {
    pub uneditable: FileRules,
    pub unreadable: FileRules,
    pub additions: FileRules,
    pub root_additions: Option<SwitchRule>,
    pub git_ignored: Option<SwitchRule>,
    pub tools: Vec<ToolRule>,
    pub worktree_fence: Option<SwitchRule>,
}

impl GuardRules {
    /// Every rule, in the order in which they are compared.
    pub fn all(&self) -> Vec<Rule> {
        let switch = |switch: &Option<SwitchRule>| switch.iter().map(|one| one.origin.rule("")).collect();
        let files = |rules: &FileRules| rules.0.iter().map(|one| one.origin.rule(&one.written)).collect();
        let tools = self.tools.iter().map(|one| one.origin.rule(&one.written)).collect();
        let all: [Vec<Rule>; 7] = [
            files(&self.uneditable),
            files(&self.unreadable),
            switch(&self.root_additions),
            files(&self.additions),
            switch(&self.git_ignored),
            tools,
            switch(&self.worktree_fence),
        ];
        all.into_iter().flatten().collect()
    }

    /// The rules of outer layers that this layer cannot relax.
    pub fn of_outer(&self, layer: Layer) -> GuardRules {
        let files = |rules: &FileRules| {
            let is_held = |rule: &&FileRule| rule.allows || (rule.origin.layer < layer && !rule.overridable);
            FileRules(rules.0.iter().filter(is_held).cloned().collect())
        };
        let switch = |one: &Option<SwitchRule>| one.clone().filter(|one| one.origin.layer < layer);
        GuardRules {
            uneditable: files(&self.uneditable),
            unreadable: files(&self.unreadable),
            additions: files(&self.additions),
            root_additions: switch(&self.root_additions),
            git_ignored: switch(&self.git_ignored),
            tools: Vec::new(),
            worktree_fence: self.worktree_fence.clone(),
        }
    }

    /// Whether a rule could forbid reading a file.
    pub fn concern_reading(&self, agent: &str) -> bool {
        !self.unreadable.is_empty(agent) || !self.tools.is_empty()
    }

    /// Whether files or commands are guarded at all. If not, nothing needs to be decided.
    pub fn has_guards(&self, agent: &str) -> bool {
        !self.uneditable.is_empty(agent)
            || !self.unreadable.is_empty(agent)
            || self.tools.iter().any(|rule| rule.action != Action::Allow && rule.agents.include(agent))
    }
}

/// Where a rule is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleOrigin {
    /// The key, such as `uneditableFiles`.
    pub key: &'static str,
    pub file: Option<Arc<str>>,
    pub line: usize,
    pub layer: Layer,
}

impl RuleOrigin {
    pub fn is_of_pack(&self) -> bool {
        self.file.as_deref().is_some_and(|file| file.starts_with(PACK))
    }

    pub fn rule(&self, written: &str) -> Rule {
        let pattern = Some(written.to_owned()).filter(|written| !written.is_empty());
        let rule = Rule { pattern, ..Rule::key(format!("preToolUse.{}", self.key)) };
        match &self.file {
            Some(file) => rule.at(&**file, Some(self.line)),
            None => rule,
        }
    }
}

#[derive(Clone, Debug)]
pub enum InputPattern {
    Any,
    Command(CommandPattern),
    File { pattern: FilePattern, writes: bool },
    Domain(Glob),
    Field { name: &'static str, glob: Glob },
}

impl InputPattern {
    /// # Errors
    /// Names an invalid pattern. A config that was read has none.
    pub fn of(input: &ToolInputPattern, home: Option<&str>) -> Result<InputPattern, GlobError> {
        let name = |glob: &str| Glob::new(glob, GlobKind::Name);
        Ok(match input {
            ToolInputPattern::Any => InputPattern::Any,
            ToolInputPattern::Command { glob, prefix } => {
                InputPattern::Command(CommandPattern::new(name(glob)?, *prefix))
            }
            ToolInputPattern::File { pattern, writes } => {
                InputPattern::File { pattern: FilePattern::of_rule(pattern, home)?, writes: *writes }
            }
            ToolInputPattern::Domain(glob) => InputPattern::Domain(name(glob)?),
            ToolInputPattern::Field { name: field, glob } => {
                InputPattern::Field { name: field, glob: name(glob)? }
            }
        })
    }
}

/// Whether a rule for writing, or one for reading, concerns an access.
pub fn is_about(access: Access, writes: bool) -> bool {
    match access {
        Access::Read => !writes,
        Access::Link => true,
        Access::Mount | Access::Checkout => false,
        Access::Write | Access::Format | Access::Update | Access::Delete | Access::MakeDirectory => writes,
    }
}
