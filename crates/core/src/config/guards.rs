//! The guards of `preToolUse`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::pack_switches::{RuleAction, RuleName};
use super::patterns::{
    CommandGlob, FileGlob, NameGlob, OptionNames, OptionalFileGlob, ToolPatternText, blank_is_none,
};
use super::shapes::{Shorthand, TextOr};
use super::{CommandMap, EventConfig};
use crate::pattern::MatchMode;
use crate::yaml::Located;

/// Commands that run before a tool is used, and guards for files and commands.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PreToolUseConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    pub mode: Option<MatchMode>,
    /// Lists of commands by pattern, or one list for all.
    pub commands: Option<CommandMap>,
    /// Files that no tool may write, delete or rename, by gitignore's rules.
    pub uneditable_files: Option<Vec<Located<FileRuleConfig>>>,
    /// Files that no tool may read.
    pub unreadable_files: Option<Vec<Located<FileRuleConfig>>>,
    /// No new file directly in the project's root, and no `mkdir new` or `mkdir -p new/x` there. Default: `false`.
    pub prevent_root_additions: Option<Located<SwitchConfig>>,
    /// Files that may not be created.
    pub prevent_additions: Option<Vec<Located<FileRuleConfig>>>,
    /// Files that git ignores may not be written. Default: `false`.
    pub prevent_update_git_ignored: Option<Located<SwitchConfig>>,
    /// Rules for tools and shell commands. In each layer of the config the first rule that matches decides, and of its packs the strictest; the strictest layer wins.
    pub tool_usage_validation: Option<Vec<Located<ToolRuleConfig>>>,
    /// An agent in a worktree does not write outside of it. Default: `true`.
    pub worktree_fence: Option<Located<SwitchConfig>>,
}

/// What a guard protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardSubject {
    Writing,
    Reading,
    Tools,
    /// Writing outside of a worktree. This guard is always on.
    Fence,
}

/// The key of a guard in `preToolUse`.
#[derive(Clone, Copy, Debug)]
pub struct GuardKey {
    pub name: &'static str,
    pub subject: GuardSubject,
    /// It is on or off, and an inner layer cannot switch it off.
    pub is_switch: bool,
}

impl GuardKey {
    const fn list(name: &'static str, subject: GuardSubject) -> GuardKey {
        GuardKey { name, subject, is_switch: false }
    }

    const fn switch(name: &'static str, subject: GuardSubject) -> GuardKey {
        GuardKey { name, subject, is_switch: true }
    }

    pub(super) fn of(name: &str) -> Option<&'static GuardKey> {
        GUARD_KEYS.iter().find(|guard| guard.name == name)
    }
}

/// All guards.
pub const GUARD_KEYS: [GuardKey; 7] = [
    GuardKey::list("uneditableFiles", GuardSubject::Writing),
    GuardKey::list("preventAdditions", GuardSubject::Writing),
    GuardKey::switch("preventRootAdditions", GuardSubject::Writing),
    GuardKey::switch("preventUpdateGitIgnored", GuardSubject::Writing),
    GuardKey::list("unreadableFiles", GuardSubject::Reading),
    GuardKey::list("toolUsageValidation", GuardSubject::Tools),
    GuardKey::switch("worktreeFence", GuardSubject::Fence),
];

/// How many rules are equal to one before them.
fn repeated<T: PartialEq>(rules: &[Located<T>]) -> usize {
    let is_repeated =
        |(index, rule): (usize, &Located<T>)| rules.iter().take(index).any(|other| other.value == rule.value);
    rules.iter().enumerate().filter(|one| is_repeated(*one)).count()
}

impl PreToolUseConfig {
    /// The keys that every event has.
    pub(super) fn take_section(&mut self) -> EventConfig {
        EventConfig { mode: self.mode.take(), commands: self.commands.take() }
    }

    /// Whether a guard is configured.
    pub fn has_any(&self) -> bool {
        self.count() > 0
    }

    /// The number of configured guards.
    pub fn count(&self) -> usize {
        let is_on = |switch: &Option<Located<SwitchConfig>>| {
            usize::from(switch.as_ref().is_some_and(|on| on.value.0.enabled))
        };
        let files = [&self.uneditable_files, &self.unreadable_files, &self.prevent_additions];
        // The fence is on by default wherever guards run. If the config sets it, guards must run.
        let switches = [&self.prevent_root_additions, &self.prevent_update_git_ignored, &self.worktree_fence];
        files.into_iter().flatten().map(Vec::len).sum::<usize>()
            + switches.into_iter().map(is_on).sum::<usize>()
            + self.tool_usage_validation.as_ref().map_or(0, Vec::len)
    }

    /// The number of distinct rules in all layers.
    pub fn count_distinct(&self) -> usize {
        let files = [&self.uneditable_files, &self.unreadable_files, &self.prevent_additions];
        let repeated = files.into_iter().flatten().map(|rules| repeated(rules)).sum::<usize>()
            + self.tool_usage_validation.as_ref().map_or(0, |rules| repeated(rules));
        self.count() - repeated
    }

    /// The tools that its guards check, among the reading, writing and other tools. `None` means all tools.
    pub fn tools(&self, reading: &[&str], writing: &[&str], others: &str) -> Option<Vec<String>> {
        if !self.has_any() {
            return Some(Vec::new());
        }
        let read = if self.unreadable_files.is_some() { reading } else { &[] };
        let rules_for_tools = self.tool_usage_validation.as_ref().map_or(0, Vec::len);
        let others = if self.count() > rules_for_tools { Some(others) } else { None };
        let own = writing.iter().chain(read).copied();
        let mut tools: Vec<String> = own.chain(others).map(str::to_owned).collect();
        for rule in self.tool_usage_validation.iter().flatten() {
            tools.extend(rule.value.tool.pattern.alternatives()?);
        }
        Some(tools)
    }
}

/// A pattern of files, or a mapping with more keys.
pub type FileRuleConfig = TextOr<FileRuleFields>;

/// A gitignore pattern, with its agents and its message.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileRuleFields {
    /// The name by which `packs` changes the rule of a pack. It has no effect in other files.
    pub name: Option<RuleName>,
    /// `*.lock` at any depth, `src/gen/` from the root, `~/.ssh/`, or `!…` for an exception to an earlier pattern.
    pub pattern: FileGlob,
    /// The reason, and what to do instead: all that Claude reads besides the rule's position.
    pub message: Option<String>,
    /// A glob over the subagent's name; `main` is the main thread. Default: everybody.
    pub agent: Option<NameGlob>,
    /// Whether it excludes the project's own files: a project may be below `/usr/src`. Default: `false`.
    pub outside: Option<bool>,
    /// What the rule does. Default: `block`.
    pub action: Option<FileAction>,
    /// What happens to a file that does not exist yet and would be created. Default: as `action`.
    pub create: Option<RuleAction>,
    /// What is done about a file that a shell would read as its own commands (`. ./.env`), or a program as variables
    /// (`node --env-file=.env`). Default: as `action`.
    pub source: Option<RuleAction>,
    /// What is done about a file that git would set back to a committed version (`git restore Cargo.lock`), or that a command deletes
    /// and its package manager then writes again. Default: as `action`.
    pub restore: Option<RuleAction>,
    /// Whether an inner layer of the config may make exceptions to it. Default: `false`.
    pub overridable: Option<bool>,
}

impl Shorthand for FileRuleFields {
    type Short = FileGlob;
    const NAME: &str = "FileRule";
    const DESCRIPTION: &str = "A gitignore pattern, or a mapping with more keys.";
}

impl From<FileGlob> for FileRuleFields {
    fn from(pattern: FileGlob) -> Self {
        FileRuleFields {
            name: None,
            pattern,
            message: None,
            agent: None,
            outside: None,
            action: None,
            create: None,
            source: None,
            restore: None,
            overridable: None,
        }
    }
}

/// `true` or `false`, or a mapping with more keys.
pub type SwitchConfig = TextOr<SwitchFields>;

/// A switch that an inner layer of the config may reset.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SwitchFields {
    /// Whether it is on.
    pub enabled: bool,
    /// The reason, and what to do instead. `{file_path}` is the file, `{tool}` the tool.
    pub message: Option<String>,
    /// Whether an inner layer of the config may switch it off. Default: `false`.
    pub overridable: Option<bool>,
}

impl Shorthand for SwitchFields {
    type Short = bool;
    const NAME: &str = "Switch";
    const DESCRIPTION: &str = "`true` or `false`, or a mapping with more keys.";
}

impl From<bool> for SwitchFields {
    fn from(enabled: bool) -> Self {
        SwitchFields { enabled, message: None, overridable: None }
    }
}

/// A rule for tools and shell commands.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolRuleConfig {
    /// The name by which `packs` changes the rule of a pack. It has no effect in other files.
    pub name: Option<RuleName>,
    /// A glob over the tool's name, or Claude Code's notation: `Bash(npm publish*)`, `Edit(./docs/**)`,
    /// `WebFetch(domain:example.com)`, `Agent(coder)`. A rule for `Bash` also applies to `Monitor`, and to `PowerShell` if it
    /// blocks or asks.
    pub tool: ToolPatternText,
    /// A pattern of the files that it uses, directly or by a shell command, or that the input of an MCP server's tool names;
    /// empty for any.
    #[serde(default, deserialize_with = "blank_is_none")]
    #[schemars(with = "Option<OptionalFileGlob>")]
    pub pattern: Option<FileGlob>,
    /// The access to the files of `pattern`: `read`, `write` (including deleting) or `delete` (including moving away). Default:
    /// any.
    pub access: Option<FileAccess>,
    /// Whether `pattern` excludes the project's own files and temporary ones. Default: `false`.
    pub outside: Option<bool>,
    /// Whether `pattern` covers only what it names, not the content of such a directory; `./` is the project's root then.
    /// Default: `false`.
    pub exact: Option<bool>,
    /// A glob over each simple command (its words joined by one space). A rule that denies is also compared with the plain form:
    /// `/usr/bin/git -C x push` is `git push`. A glob with `|`, `;`, `&`, `<` or `>` is also compared with pipelines and the
    /// whole text.
    pub command_pattern: Option<CommandGlob>,
    /// Whether `commandPattern` is compared only with known words. Without this, a word that is unknown before the command runs
    /// is asked about. Default: `false`.
    pub known: Option<bool>,
    /// A glob over each SQL statement that a database client gets: by an option, a here document or a pipe. Comments, the content
    /// of strings, repeated spaces and case are ignored.
    pub sql_pattern: Option<CommandGlob>,
    /// A glob over statements that are exceptions to `sqlPattern`: `* where *`.
    pub sql_unless: Option<CommandGlob>,
    /// The command must also have one of these options, such as `-f` and `--force`: also in `-uf`, `--forc` and `--force=x`; not
    /// as the value of another option or after `--`.
    pub options: Option<OptionNames>,
    /// The command must have none of these options, such as `--dry-run`. One with the value `none` or `false` does not count.
    pub without: Option<OptionNames>,
    /// Whether `commandPattern` ignores case. Default: `false`.
    pub case_insensitive: Option<bool>,
    /// Whether the whole command is compared, or its start up to the end of a word. Default: `full`.
    pub match_mode: Option<CommandMatch>,
    /// What the rule does.
    pub action: ToolAction,
    /// The reason, and what to do instead: all that Claude reads besides the rule's position, or that the user reads if `action`
    /// is `ask`.
    pub message: Option<String>,
    /// A glob over the subagent's name; `main` is the main thread. Default: everybody.
    pub agent: Option<NameGlob>,
    /// Whether a rule of an inner layer of the config may decide otherwise. Default: `false`.
    pub overridable: Option<bool>,
}

/// What a rule for files does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileAction {
    /// The file is neither read nor changed.
    #[serde(alias = "deny")]
    Block,
    /// The user is asked.
    Ask,
}

/// The access to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileAccess {
    /// It is read.
    Read,
    /// It is written, created, deleted or moved away.
    Write,
    /// It is deleted or moved away.
    Delete,
}

/// How much of a command is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommandMatch {
    /// All of it.
    Full,
    /// Its start, up to the end of a word.
    Prefix,
}

/// What a rule for tools does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolAction {
    /// No later rule of the list counts.
    Allow,
    /// The tool is not used.
    Block,
    /// The user is asked.
    Ask,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guard_has_a_row_in_the_table() {
        let mut fields = crate::yaml::fields_of::<PreToolUseConfig>().to_vec();
        fields.retain(|field| !["match", "commands"].contains(field));
        let mut names = GUARD_KEYS.map(|guard| guard.name);
        fields.sort_unstable();
        names.sort_unstable();
        assert_eq!(fields, names);
    }

    #[test]
    fn what_is_on_or_off_is_a_switch_in_the_table() {
        for guard in GUARD_KEYS {
            let text = format!("preToolUse: {{{}: true}}", guard.name);
            let accepts_flag = crate::config::ConclaudeConfig::parse(&text, "x".as_ref()).is_ok();
            assert_eq!(accepts_flag, guard.is_switch, "{}", guard.name);
        }
    }
}
