//! `.conclaude.yaml`: the structs are the reference and the schema; a file that breaks a rule is reported whole.

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use crate::event::{self, Event, NEVER_REGISTERED};
use crate::pattern::{MatchMode, Pattern};

mod bounded;
mod des;
mod diagnose;
mod rules;
mod schema;
mod tree;

pub use bounded::{Bounded, NonBlank};
pub use des::{AuditConfig, DesConfig, JudgeConfig, OnJudgeError, PhaseList, ScopeMode};
pub use diagnose::{ConfigError, Style};
pub use schema::schema_text;

/// The default of `maxBlocks`.
pub const DEFAULT_MAX_BLOCKS: u32 = 3;

/// The configuration of conclaude, `.conclaude.yaml` in the project's root.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConclaudeConfig {
    /// How often one agent may be sent back before its stop is allowed anyway. Default: 3.
    pub max_blocks: Option<Bounded<1, 7>>,
    /// Commands that run when a subagent starts. They never block.
    pub subagent_start: Option<SubagentStartConfig>,
    /// Commands that run when a subagent stops.
    pub subagent_stop: Option<SubagentStopConfig>,
    /// Desktop notifications.
    pub notifications: Option<NotificationsConfig>,
    /// Gates for the steps of a workflow.
    pub des: Option<DesConfig>,
    /// The audit trail.
    pub audit: Option<AuditConfig>,
}

/// Commands that run when a subagent starts.
pub type SubagentStartConfig = SubagentConfig<StartReaction>;
/// Commands that run when a subagent stops.
pub type SubagentStopConfig = SubagentConfig<Reaction>;
/// One command of `subagentStart`.
pub type SubagentStartCommand = SubagentCommand<StartReaction>;
/// One command of `subagentStop`.
pub type SubagentStopCommand = SubagentCommand<Reaction>;

/// Commands for subagents, chosen by pattern over the subagent's name.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "R: Deserialize<'de>")]
#[schemars(bound = "R: Names", rename = "{R}Section")]
pub struct SubagentConfig<R> {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    pub mode: Option<MatchMode>,
    /// Lists of commands by pattern over the subagent's name.
    pub commands: Option<CommandMap<R>>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound = "R: Deserialize<'de>")]
#[schemars(bound = "R: Names", rename = "{R}Command")]
pub struct SubagentCommand<R> {
    /// The shell script to run, of one line or many.
    pub run: NonBlank,
    /// What to say when it fails.
    pub message: Option<String>,
    /// Show its stdout. Default: false.
    pub show_stdout: Option<bool>,
    /// Show its stderr. Default: false.
    pub show_stderr: Option<bool>,
    /// At most this many lines of each stream are shown, the first and the last. Default: no limit.
    pub max_output_lines: Option<Bounded<1, 10_000>>,
    /// Seconds after which it is terminated with all its children. Default: none.
    pub timeout: Option<Bounded<1, 3_600>>,
    /// What a failure does. Default: `warn`.
    pub on_failure: Option<R>,
    /// What a time-out does. Default: `block` at a stop, `warn` at a start.
    pub on_timeout: Option<R>,
    /// The shell that runs the script, with `-c`. Default: `/bin/sh`.
    pub shell: Option<NonBlank>,
}

/// What follows from a command that failed or took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reaction {
    /// It is logged and shown; the stop goes ahead.
    Warn,
    /// The agent is sent back to work.
    Block,
}

/// What follows from a command of `subagentStart` that failed or took too long. A start cannot be blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StartReaction {
    /// It is logged and shown.
    Warn,
}

/// The two kinds of reaction, so that one struct serves both sections.
pub trait Names: JsonSchema {
    /// The reaction that the event really knows.
    fn reaction(self) -> Reaction;
}

impl Names for Reaction {
    fn reaction(self) -> Reaction {
        self
    }
}

impl Names for StartReaction {
    fn reaction(self) -> Reaction {
        Reaction::Warn
    }
}

/// Patterns and their commands, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandMap<R>(pub Vec<(Pattern, Vec<SubagentCommand<R>>)>);

impl<'de, R: Deserialize<'de>> Deserialize<'de> for CommandMap<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<R>(PhantomData<R>);
        impl<'de, R: Deserialize<'de>> de::Visitor<'de> for InOrder<R> {
            type Value = CommandMap<R>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping of patterns to lists of commands")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0).min(4_096));
                while let Some(pattern) = map.next_key()? {
                    let commands: Option<Vec<SubagentCommand<R>>> = map.next_value()?;
                    entries.push((pattern, commands.unwrap_or_default()));
                }
                if stands_twice(&entries) {
                    return Err(de::Error::custom("a pattern stands twice"));
                }
                Ok(CommandMap(entries))
            }
        }
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

fn stands_twice<T>(entries: &[(Pattern, T)]) -> bool {
    fn repeats<K: Ord>(mut keys: Vec<K>) -> bool {
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair.first() == pair.last())
    }
    // Numbers are compared faster than names; only if two are equal do the names decide.
    let digest = |name: &str| {
        name.bytes().fold(0_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    };
    repeats(entries.iter().map(|(pattern, _)| digest(pattern.as_str())).collect())
        && repeats(entries.iter().map(|(pattern, _)| pattern.as_str()).collect())
}

/// Desktop notifications about hook events.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NotificationsConfig {
    /// Switches all notifications. Default: false.
    pub enabled: Option<bool>,
    /// The events to notify about; `*` means every event that is registered with the client.
    pub hooks: Option<Vec<HookName>>,
    /// Notify about failures. Default: false.
    pub show_errors: Option<bool>,
    /// Notify about successes of events that are not system events. Default: false.
    pub show_success: Option<bool>,
    /// Notify about system events, such as a subagent's start and stop. Default: true.
    pub show_system_events: Option<bool>,
}

/// The name of an event, or `*` for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookName {
    /// Every event.
    All,
    /// This event.
    One(Event),
}

impl HookName {
    /// Whether the event is meant.
    #[must_use]
    pub fn covers(self, event: Event) -> bool {
        match self {
            HookName::All => true,
            HookName::One(one) => one == event,
        }
    }
}

impl<'de> Deserialize<'de> for HookName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == "*" {
            return Ok(HookName::All);
        }
        Event::named(&name)
            .map(HookName::One)
            .ok_or_else(|| de::Error::custom(format!("`{name}` is not a hook event")))
    }
}

impl JsonSchema for HookName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HookName".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<&str> = std::iter::once("*").chain(event::names()).collect();
        schemars::json_schema!({
            "description": "The name of a hook event, or `*` for all.",
            "type": "string",
            "enum": names,
        })
    }
}

impl<R: Names> JsonSchema for CommandMap<R> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}Commands", R::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let commands = generator.subschema_for::<Option<Vec<SubagentCommand<R>>>>();
        schemars::json_schema!({
            "description": "Lists of commands by pattern: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `{foo,bar}`.",
            "type": "object",
            "propertyNames": { "type": "string", "minLength": 1, "format": "glob" },
            "additionalProperties": commands,
        })
    }
}

impl ConclaudeConfig {
    /// The bound on blocks per agent.
    #[must_use]
    pub fn max_blocks(&self) -> u32 {
        self.max_blocks.map_or(DEFAULT_MAX_BLOCKS, Bounded::get)
    }

    /// How many commands it has.
    #[must_use]
    pub fn commands(&self) -> usize {
        fn of<R>(section: Option<&SubagentConfig<R>>) -> usize {
            section.map_or(0, |section| section.entries().iter().map(|(_, commands)| commands.len()).sum())
        }
        of(self.subagent_start.as_ref()) + of(self.subagent_stop.as_ref())
    }

    /// The judge, if one is to be asked.
    #[must_use]
    pub fn judge(&self) -> Option<&JudgeConfig> {
        self.des.as_ref().and_then(|des| des.judge.as_ref())
    }

    /// Reads the config from its text. The path is for messages alone.
    ///
    /// # Errors
    /// Lists every problem of the file with its position.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // Only when that fails is the file read again to find all that is wrong with it.
        Self::deserialize_strictly(text).map_err(|error| diagnose::explain(text, path, &error))
    }

    /// Strict and typed.
    fn deserialize_strictly(text: &str) -> Result<Self, serde_saphyr::Error> {
        let config: Option<ConclaudeConfig> = serde_saphyr::from_str_with_options(text, tree::options())?;
        Ok(config.unwrap_or_default())
    }

    /// The same, and checks every pattern too, where an event checks those of its own section alone.
    ///
    /// # Errors
    /// Lists every problem of the file with its position.
    pub fn parse_and_check(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let config = Self::parse(text, path)?;
        diagnose::check_patterns(text.strip_prefix('\u{feff}').unwrap_or(text), path)?;
        Ok(config)
    }

    /// Events that the user wants to be notified of by name. `*` means those that are registered anyway: all of them would
    /// start a process with every word that is displayed.
    #[must_use]
    pub fn notified_events(&self) -> Vec<Event> {
        let wanted = self.notifications.as_ref().filter(|notifications| notifications.enabled == Some(true));
        let hooks = wanted.and_then(|notifications| notifications.hooks.as_ref()).into_iter().flatten();
        hooks
            .filter_map(|hook| match hook {
                HookName::One(event) => Some(*event),
                HookName::All => None,
            })
            .collect()
    }

    /// What is allowed but cannot be meant, in the words of a warning.
    #[must_use]
    pub fn suspicions(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(section) = &self.subagent_start {
            section.suspicions("subagentStart", &mut found);
        }
        if let Some(section) = &self.subagent_stop {
            section.suspicions("subagentStop", &mut found);
        }
        if let Some(des) = &self.des {
            des.suspicions(&mut found);
            let audited = self.audit.as_ref().and_then(|audit| audit.enabled).unwrap_or(true);
            if !audited && !des.evidence().is_empty() {
                found.push(
                    "des: `evidence` needs the audit trail, which `audit.enabled: false` switches off".into(),
                );
            }
        }
        for event in self.notified_events().into_iter().filter(|event| NEVER_REGISTERED.contains(event)) {
            let name = event.name();
            found.push(format!(
                "notifications: `{name}` is never registered by conclaude, since that would change what Claude Code does"
            ));
        }
        if let Some(notifications) = &self.notifications
            && notifications.enabled == Some(true)
            && notifications.hooks.as_ref().is_none_or(Vec::is_empty)
        {
            found.push(
                "notifications: enabled, but `hooks` names no event: nothing is ever sent; try `hooks: [\"*\"]`".into(),
            );
        }
        found
    }
}

impl<R> SubagentConfig<R> {
    /// The patterns and their commands, in the order of the file.
    #[must_use]
    pub fn entries(&self) -> &[(Pattern, Vec<SubagentCommand<R>>)] {
        self.commands.as_ref().map_or(&[], |map| &map.0)
    }

    fn suspicions(&self, section: &str, found: &mut Vec<String>) {
        let first_wildcard = self.entries().iter().position(|(pattern, _)| pattern.is_wildcard());
        for (index, (pattern, commands)) in self.entries().iter().enumerate() {
            if self.mode == Some(MatchMode::First) && first_wildcard.is_some_and(|at| at < index) {
                found.push(format!(
                    "{section}: `{pattern}` can never run: `match: first` stops at `*`, which stands before it"
                ));
            }
            if commands.is_empty() {
                found.push(format!("{section}: `{pattern}` has no commands"));
            }
            for command in commands {
                if command.max_output_lines.is_some()
                    && command.show_stdout != Some(true)
                    && command.show_stderr != Some(true)
                {
                    found.push(format!(
                        "{section}: `{pattern}` limits the output of a command that shows none: set `showStdout` or `showStderr`"
                    ));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
