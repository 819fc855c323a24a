//! The section `permissionRequest`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::commands::{CommandMap, EventConfig};
use super::patterns::{NameGlob, ToolPatternText};
use super::shapes::{List, ReadFrom, Shorthand, TextOr};
use crate::dialect::claude::notation::ToolPattern;
use crate::dialect::claude::tools;
use crate::pattern::MatchMode;
use crate::yaml::Located;

/// Rules. Only this many are compared at every request.
type RuleList<T> = List<Located<T>, 0, 500>;

/// Answers instead of the user when Claude Code would ask for permission, and commands that run then.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PermissionRequestConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    mode: Option<MatchMode>,
    /// Lists of commands by pattern, or one list for all. One that blocks denies the permission.
    commands: Option<CommandMap>,
    /// The answer if no rule matches. Default: `ask`.
    pub default: Option<Located<DefaultConfig>>,
    /// Uses that are allowed without asking, unless a rule of `deny` matches or a guard asks about it.
    pub allow: Option<RuleList<AllowRuleConfig>>,
    /// Uses that are denied without asking.
    pub deny: Option<RuleList<DenyRuleConfig>>,
}

/// An answer, or one that inner layers may relax.
type DefaultConfig = TextOr<DefaultFields>;

/// The answer if no rule matches, and whether an inner layer of the config may answer otherwise.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DefaultFields {
    /// The answer.
    pub answer: PermissionDefault,
    /// With `deny`: whether rules of `allow` and another `default` in an inner layer of the config count. Default: `false`.
    pub overridable: Option<bool>,
}

impl Shorthand for DefaultFields {
    type Short = PermissionDefault;
    const NAME: &str = "PermissionDefaultConfig";
    const DESCRIPTION: &str =
        "The answer if no rule matches: a word, or a mapping that lets inner layers relax it.";
}

impl From<PermissionDefault> for DefaultFields {
    fn from(answer: PermissionDefault) -> Self {
        DefaultFields { answer, overridable: None }
    }
}

/// The answer if no rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PermissionDefault {
    /// The tool is used without asking.
    Allow,
    /// The tool is not used.
    Deny,
    /// Claude Code asks the user, as it would without conclaude.
    #[default]
    Ask,
}

impl ReadFrom for PermissionDefault {}

impl PermissionRequestConfig {
    /// The keys that every event has.
    pub(super) fn take_section(&mut self) -> EventConfig {
        EventConfig { mode: self.mode.take(), commands: self.commands.take() }
    }

    pub fn fallback(&self) -> PermissionDefault {
        self.default.as_ref().map(|default| default.value.0.answer).unwrap_or_default()
    }

    /// The number of rules, including a default that answers.
    pub fn count(&self) -> usize {
        let lists = self.allow.iter().map(|rules| rules.len()).sum::<usize>()
            + self.deny.iter().map(|rules| rules.len()).sum::<usize>();
        lists + usize::from(self.fallback() != PermissionDefault::Ask)
    }

    /// Whether anything other than the user can answer.
    pub fn has_rules(&self) -> bool {
        self.may_allow()
            || self.deny.iter().flatten().next().is_some()
            || self.fallback() != PermissionDefault::Ask
    }

    /// Whether it can make Claude Code use a tool without asking the user.
    pub fn may_allow(&self) -> bool {
        self.allow.iter().flatten().next().is_some() || self.fallback() == PermissionDefault::Allow
    }

    /// The same rules, but only those of trusted files allow anything.
    pub fn trusted(&self, is_trusted: impl Fn(usize) -> bool) -> PermissionRequestConfig {
        let allows = |default: &Located<DefaultConfig>| default.value.0.answer == PermissionDefault::Allow;
        let default = self.default.clone().filter(|default| !allows(default) || is_trusted(default.source));
        let mut allow = self.allow.clone();
        allow.iter_mut().for_each(|rules| rules.0.retain(|rule| is_trusted(rule.source)));
        PermissionRequestConfig { default, allow, ..self.clone() }
    }

    /// The tools that its rules concern. `None` means all tools.
    pub fn tools(&self) -> Option<Vec<String>> {
        if self.fallback() != PermissionDefault::Ask {
            return None;
        }
        let allowed = self.allow.iter().flatten().map(|rule| &rule.value.0.pattern.pattern);
        let denied = || self.deny.iter().flatten().map(|rule| &rule.value.0.pattern.pattern);
        let tools: Option<Vec<Vec<String>>> =
            allowed.chain(denied()).map(ToolPattern::alternatives).collect();
        let mut tools = tools?.concat();
        // A shell command can touch a file as well.
        if denied().any(ToolPattern::is_about_files) {
            tools.push(tools::SHELL.to_owned());
        }
        if tools.iter().any(|tool| tool == tools::SHELL) {
            let is_denying = denied().next().is_some();
            let others = tools::WITH_COMMAND.into_iter();
            tools
                .extend(others.filter(|tool| tools::is_ruled_as_shell(tool, !is_denying)).map(str::to_owned));
        }
        Some(tools)
    }
}

/// Allowed uses of a tool, with their agents.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowRuleFields {
    /// A glob over the tool's name, or Claude Code's notation: `Bash(git status*)`, `Read(./docs/**)`,
    /// `WebFetch(domain:example.com)`, `Agent(coder)`.
    pub pattern: ToolPatternText,
    /// A glob over the subagent's name; `main` is the main thread. Default: everybody.
    pub agent: Option<NameGlob>,
}

/// Denied uses of a tool, with their agents and the message.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DenyRuleFields {
    /// A glob over the tool's name, or Claude Code's notation: `Bash(rm *)`, `Edit(//etc/**)`.
    pub pattern: ToolPatternText,
    /// A glob over the subagent's name; `main` is the main thread. Default: everybody.
    pub agent: Option<NameGlob>,
    /// What to do instead.
    pub message: Option<String>,
    /// Whether a rule of `allow` in an inner layer of the config may allow what it covers. Default: `false`.
    pub overridable: Option<bool>,
}

/// A pattern, or a mapping with more keys.
pub type AllowRuleConfig = TextOr<AllowRuleFields>;

/// A pattern, or a mapping with more keys.
pub type DenyRuleConfig = TextOr<DenyRuleFields>;

impl Shorthand for AllowRuleFields {
    type Short = ToolPatternText;
    const NAME: &str = "AllowRule";
    const DESCRIPTION: &str = "Uses of a tool that are allowed: a pattern, or a mapping with more keys.";
}

impl From<ToolPatternText> for AllowRuleFields {
    fn from(pattern: ToolPatternText) -> Self {
        AllowRuleFields { pattern, agent: None }
    }
}

impl Shorthand for DenyRuleFields {
    type Short = ToolPatternText;
    const NAME: &str = "DenyRule";
    const DESCRIPTION: &str = "Uses of a tool that are denied: a pattern, or a mapping with more keys.";
}

impl From<ToolPatternText> for DenyRuleFields {
    fn from(pattern: ToolPatternText) -> Self {
        DenyRuleFields { pattern, agent: None, message: None, overridable: None }
    }
}
