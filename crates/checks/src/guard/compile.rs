//! Compiles the rules of the config.

use std::path::Path;
use std::sync::Arc;

use super::command_pattern::CommandPattern;
use super::rules::{
    Action, AgentFilter, FileRule, FileRules, GuardRules, InputPattern, RuleOrigin, SwitchRule, ToolRule,
};
use super::touch_pattern::TouchPattern;
use conclaude_core::config::{
    CommandGlob, CommandMatch, FileAction, FileGlob, FileRuleConfig, Layer, OptionNames, Origins,
    PreToolUseConfig, RuleAction, SwitchConfig, ToolAction, ToolRuleConfig, file_name,
};
use conclaude_core::dialect::claude::notation::ToolInputPattern;
use conclaude_core::dialect::claude::tools::SHELL;
use conclaude_core::yaml::Located;
use shell_effects::glob::{Glob, GlobError, GlobKind};

/// The names of the config files, and the layer of each.
pub struct Sources<'a>(pub &'a [(Arc<str>, Layer)]);

/// The names of a config's files, and their layers.
#[must_use]
pub fn rule_sources(origins: &Origins, root: &Path) -> Vec<(Arc<str>, Layer)> {
    let name_of = |path: &Path| file_name(path, Some(root)).into();
    origins.sources().iter().map(|source| (name_of(&source.path), source.layer)).collect()
}

impl Sources<'_> {
    pub fn origin<T>(&self, key: &'static str, at: &Located<T>) -> RuleOrigin {
        let source = self.0.get(at.source);
        RuleOrigin {
            key,
            file: source.map(|(file, _)| file.clone()),
            line: at.line,
            layer: source.map(|(_, layer)| *layer).unwrap_or_default(),
        }
    }
}

impl GuardRules {
    /// # Errors
    /// Names an invalid pattern.
    pub fn of(
        config: &PreToolUseConfig,
        sources: &Sources<'_>,
        home: Option<&str>,
    ) -> Result<GuardRules, GlobError> {
        let files = |key, list: &Option<Vec<Located<FileRuleConfig>>>| -> Result<FileRules, GlobError> {
            let rules = list.iter().flatten().map(|rule| file_rule(key, rule, sources, home));
            Ok(FileRules(collect_all(list.as_ref().map_or(0, Vec::len), rules)?))
        };
        let tools = config.tool_usage_validation.as_deref().unwrap_or_default();
        let fence = config.worktree_fence.as_ref();
        Ok(GuardRules {
            uneditable: files("uneditableFiles", &config.uneditable_files)?,
            unreadable: files("unreadableFiles", &config.unreadable_files)?,
            additions: files("preventAdditions", &config.prevent_additions)?,
            root_additions: switch("preventRootAdditions", config.prevent_root_additions.as_ref(), sources),
            git_ignored: switch(
                "preventUpdateGitIgnored",
                config.prevent_update_git_ignored.as_ref(),
                sources,
            ),
            tools: collect_all(tools.len(), tools.iter().map(|rule| tool_rule(rule, sources, home)))?,
            worktree_fence: match fence {
                None => Some(SwitchRule {
                    origin: RuleOrigin { key: "worktreeFence", ..RuleOrigin::default() },
                    message: None,
                }),
                some => switch("worktreeFence", some, sources),
            },
        })
    }
}

/// All values or the first error. The number of values is known: a list of hundreds of rules is not moved while it grows.
fn collect_all<T>(
    count: usize,
    values: impl Iterator<Item = Result<T, GlobError>>,
) -> Result<Vec<T>, GlobError> {
    let mut all = Vec::with_capacity(count);
    for value in values {
        all.push(value?);
    }
    Ok(all)
}

fn file_rule(
    key: &'static str,
    rule: &Located<FileRuleConfig>,
    sources: &Sources<'_>,
    home: Option<&str>,
) -> Result<FileRule, GlobError> {
    let fields = &rule.value.0;
    let outside = fields.outside.unwrap_or(false);
    let pattern = fields.pattern.pattern(home)?;
    Ok(FileRule {
        written: fields.pattern.as_str().to_owned(),
        pattern: if outside { pattern.without_root() } else { pattern },
        outside,
        allows: fields.pattern.allows(),
        message: fields.message.clone(),
        agents: AgentFilter::new(fields.agent.as_ref()),
        action: match fields.action {
            Some(FileAction::Ask) => Action::Ask,
            Some(FileAction::Block) | None => Action::Block,
        },
        create: fields.create.map(Action::from),
        source: fields.source.map(Action::from),
        restore: fields.restore.map(Action::from),
        overridable: fields.overridable.unwrap_or(false),
        origin: sources.origin(key, rule),
    })
}

impl From<RuleAction> for Action {
    fn from(action: RuleAction) -> Action {
        match action {
            RuleAction::Allow => Action::Allow,
            RuleAction::Ask => Action::Ask,
            RuleAction::Block => Action::Block,
        }
    }
}

fn switch(
    key: &'static str,
    config: Option<&Located<SwitchConfig>>,
    sources: &Sources<'_>,
) -> Option<SwitchRule> {
    let config = config.filter(|config| config.value.0.enabled)?;
    Some(SwitchRule { origin: sources.origin(key, config), message: config.value.0.message.clone() })
}

fn tool_rule(
    rule: &Located<ToolRuleConfig>,
    sources: &Sources<'_>,
    home: Option<&str>,
) -> Result<ToolRule, GlobError> {
    let config = &rule.value;
    let file = config.pattern.as_ref();
    let command = config.command_pattern.as_ref();
    let options = config.options.as_ref().map(OptionNames::listed);
    let parts = [
        Some(config.tool.as_str()),
        file.map(FileGlob::as_str),
        command.map(CommandGlob::as_str),
        config.sql_pattern.as_ref().map(CommandGlob::as_str),
        options.as_deref(),
    ];
    Ok(ToolRule {
        tool: tool_glob(config)?,
        input: input_pattern(config, home)?,
        pattern: touch_pattern(config, home)?,
        command: command_pattern(config)?,
        sql: config.sql_pattern.as_ref().map(sql_pattern).transpose()?,
        sql_unless: config.sql_unless.as_ref().map(sql_pattern).transpose()?,
        written: parts.into_iter().flatten().collect::<Vec<&str>>().join(" "),
        action: match config.action {
            ToolAction::Allow => Action::Allow,
            ToolAction::Ask => Action::Ask,
            ToolAction::Block => Action::Block,
        },
        message: config.message.clone(),
        agents: AgentFilter::new(config.agent.as_ref()),
        overridable: config.overridable.unwrap_or(false),
        origin: sources.origin("toolUsageValidation", rule),
    })
}

/// The files of a rule.
fn touch_pattern(config: &ToolRuleConfig, home: Option<&str>) -> Result<Option<TouchPattern>, GlobError> {
    let Some(pattern) = &config.pattern else { return Ok(None) };
    let outside = config.outside.unwrap_or(false);
    let files = pattern.pattern(home)?;
    Ok(Some(TouchPattern {
        files: if outside { files.without_root() } else { files },
        access: config.access,
        outside,
        exact: config.exact.unwrap_or(false),
    }))
}

/// The tools of a rule. A rule about files also applies to the shell, unless it allows.
fn tool_glob(config: &ToolRuleConfig) -> Result<Glob, GlobError> {
    let pattern = &config.tool.pattern;
    let glob = pattern.glob()?;
    if !pattern.is_about_files() || config.action == ToolAction::Allow {
        return Ok(glob);
    }
    let names = glob.as_str().trim_start_matches('{').trim_end_matches('}');
    Glob::new(&format!("{{{names},{SHELL}}}"), GlobKind::Name)
}

/// The value that the notation of `tool` compares. Its command pattern is the rule's own, unless the rule has another one.
fn input_pattern(config: &ToolRuleConfig, home: Option<&str>) -> Result<InputPattern, GlobError> {
    match &config.tool.pattern.input {
        ToolInputPattern::Command { .. } if config.command_pattern.is_none() => Ok(InputPattern::Any),
        input => InputPattern::of(input, home),
    }
}

/// SQL is compared without regard to case.
fn sql_pattern(pattern: &CommandGlob) -> Result<CommandPattern, GlobError> {
    CommandPattern::new(pattern.glob().clone(), false).ignoring_case()
}

/// The command pattern of a rule. A rule with only options concerns any command with one of them.
fn command_pattern(config: &ToolRuleConfig) -> Result<Option<CommandPattern>, GlobError> {
    let mut is_prefix = config.match_mode == Some(CommandMatch::Prefix);
    let options = config.options.clone().filter(|options| !options.is_empty());
    let glob = match config.command_pattern.as_ref() {
        None => match &config.tool.pattern.input {
            ToolInputPattern::Command { glob, prefix } => {
                is_prefix = *prefix;
                Glob::new(glob, GlobKind::Name)?
            }
            _ if options.is_none() => return Ok(None),
            _ => Glob::new("*", GlobKind::Name)?,
        },
        // In the plain form of a command the home directory is `~`.
        Some(pattern) if pattern.as_str().contains("$HOME") && config.action != ToolAction::Allow => {
            Glob::new(&pattern.as_str().replace("$HOME", "~"), GlobKind::Name)?
        }
        Some(pattern) => pattern.glob().clone(),
    };
    let pattern = CommandPattern::new(glob, is_prefix).with_options(options).without(config.without.clone());
    let pattern = pattern.known_only(config.known.unwrap_or(false));
    Ok(Some(if config.case_insensitive == Some(true) { pattern.ignoring_case()? } else { pattern }))
}
