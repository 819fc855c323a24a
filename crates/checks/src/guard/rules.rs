//! The compiled rules of `preToolUse`, with their agents and their positions.

use std::sync::Arc;

use super::command_pattern::CommandPattern;
pub(super) use super::file_rules::{FileQuery, FileRule, FileRules, FileUsage, Protection};
use super::touch_pattern::TouchPattern;
use conclaude_core::config::{Layer, NameGlob, PACK};
use conclaude_core::dialect::claude::notation::ToolInputPattern;
use conclaude_core::file_pattern::FilePattern;
use conclaude_core::rule::Rule;
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
