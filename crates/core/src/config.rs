//! `.conclaude.yaml`: the structs are the reference and the schema; all problems of a file are reported together.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use crate::event::{Blocking, EventKind};
use crate::yaml::{self, Node, Spanned, SyntaxError};

use bounded::MAX_NAMES;
use diagnose::InvalidFile;

mod bounded;
mod cases;
mod des;
mod diagnose;
mod endpoint;
mod evidence;
mod free_keys;
mod gate;
mod guards;
mod layer;
mod merging;
mod message_display;
mod notifications;
pub mod original;
mod origins;
mod parts;
mod patterns;
mod permissions;
mod prompts;
mod references;
mod regex_text;
mod remark;
mod report;
mod rules;
mod schema;
mod script;
mod section;
mod stop;
mod telemetry;
mod tool_pattern;
mod usable;

pub use bounded::{Bounded, FolderBelow, Name, NonBlank};
pub use cases::{
    Case, CommandResult, Ended, Expect, FILE_NAMES as TEST_FILES, Fields, Said, TestFile,
    schema_text as test_schema_text,
};
pub use des::{AuditConfig, DesConfig, JudgeConfig, OnJudgeError, PhaseList, ScopeMode, TDD_14};
pub use diagnose::{ConfigError, Style};
pub use diagnose::{Located, TRUST_IT, warning};
pub use endpoint::{Endpoint, Signal};
pub use evidence::EvidenceConfig;
pub use gate::GateConfig;
pub use guards::{CommandMatch, FileRuleConfig, PreToolUseConfig, SwitchConfig, ToolAction, ToolRuleConfig};
pub use layer::{Layer, PACK, Source, file_name};
pub use message_display::MessageDisplayConfig;
pub use notifications::{HookName, NotificationsConfig};
pub use origins::Origins;
pub use parts::{Part, merge};
pub use patterns::CommandGlob;
pub use patterns::OptionNames;
pub use patterns::{FileGlob, NameGlob};
pub use permissions::{AllowRuleConfig, DenyRuleConfig, PermissionDefault, PermissionRequestConfig};
pub use prompts::{ContextRuleConfig, UserPromptSubmitConfig};
pub use references::{Piece, pieces};
pub use remark::Remark;
pub use report::{PriceConfig, PriceTable, ReportConfig};
pub use rules::Problem;
pub use schema::schema_text;
pub use script::FILES_PLACEHOLDER;
pub use section::{CommandConfig, CommandMap, EventConfig, Reaction, Show};
pub use stop::StopConfig;
pub use telemetry::{Headers, TelemetryConfig};
pub use tool_pattern::ToolPatternText;
pub use usable::{About, Lost};

// The names of the specification.
pub type SubagentStopConfig = EventConfig;
pub type SubagentStopCommand = CommandConfig;

const DEFAULT_MAX_BLOCKS: u32 = 3;

/// How many files one file may extend.
const MAX_EXTENDED: usize = 16;

/// Whose patterns are checked when a config is read: an event needs its own only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patterns {
    All,
    Of(EventKind),
}

/// The configuration of conclaude, `.conclaude.yaml` in the project's root.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConclaudeConfig {
    /// Files whose values come before those of this file: paths relative to it, or `pack:NAME`. Maps merge, lists append, other
    /// values override.
    #[schemars(length(max = 16))]
    pub extends: Option<Vec<Name>>,
    /// How often the stop of one agent may be blocked before it is allowed anyway. Default: 3.
    pub max_blocks: Option<Bounded<1, 7>>,
    /// The sections of events, such as `subagentStop`.
    #[schemars(skip)]
    pub sections: Vec<(EventKind, EventConfig)>,
    /// The guards of the section `preToolUse`; its commands are among the sections.
    #[schemars(skip)]
    pub guards: Arc<PreToolUseConfig>,
    /// What `stop` has beside its commands, which are among the sections.
    #[schemars(skip)]
    pub stop: StopConfig,
    /// What `messageDisplay` has beside its commands.
    #[schemars(skip)]
    pub message_display: MessageDisplayConfig,
    /// The rules of `permissionRequest`; its commands are among the sections.
    #[schemars(skip)]
    pub permissions: PermissionRequestConfig,
    /// What `userPromptSubmit` has beside its commands.
    #[schemars(skip)]
    pub prompts: UserPromptSubmitConfig,
    /// Desktop notifications.
    pub notifications: Option<NotificationsConfig>,
    /// The gates for the steps of a workflow.
    pub des: Option<DesConfig>,
    /// The audit trail.
    pub audit: Option<AuditConfig>,
    /// Sending the audit trail to a collector.
    pub telemetry: Option<TelemetryConfig>,
    /// What `conclaude report` needs to know.
    pub report: Option<ReportConfig>,
}

impl<'de> Deserialize<'de> for ConclaudeConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByKey)
    }
}

struct ByKey;

impl<'de> de::Visitor<'de> for ByKey {
    type Value = ConclaudeConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of sections")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<ConclaudeConfig, A::Error> {
        let mut config = ConclaudeConfig::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "extends" => config.extends = map.next_value()?,
                "maxBlocks" => config.max_blocks = map.next_value()?,
                "notifications" => config.notifications = map.next_value()?,
                "des" => config.des = map.next_value()?,
                "audit" => config.audit = map.next_value()?,
                "telemetry" => config.telemetry = map.next_value()?,
                "report" => config.report = map.next_value()?,
                "preToolUse" => {
                    let value: Option<PreToolUseConfig> = map.next_value()?;
                    let mut guards = value.unwrap_or_default();
                    let (mode, commands) = (guards.mode.take(), guards.commands.take());
                    config.sections.push((EventKind::PreToolUse, EventConfig { mode, commands }));
                    config.guards = guards.into();
                }
                "userPromptSubmit" => {
                    let value: Option<UserPromptSubmitConfig> = map.next_value()?;
                    let mut prompts = value.unwrap_or_default();
                    config.sections.push((EventKind::UserPromptSubmit, prompts.take_section()));
                    config.prompts = prompts;
                }
                "permissionRequest" => {
                    let value: Option<PermissionRequestConfig> = map.next_value()?;
                    let mut permissions = value.unwrap_or_default();
                    config.sections.push((EventKind::PermissionRequest, permissions.take_section()));
                    config.permissions = permissions;
                }
                "stop" => {
                    let mut stop = map.next_value::<Option<StopConfig>>()?.unwrap_or_default();
                    config.sections.push((EventKind::Stop, stop.take_section()));
                    config.stop = stop;
                }
                "messageDisplay" => {
                    let value: Option<MessageDisplayConfig> = map.next_value()?;
                    let mut display = value.unwrap_or_default();
                    config.sections.push((EventKind::MessageDisplay, display.take_section()));
                    config.message_display = display;
                }
                section => match original::event_of(section) {
                    Some(event) => {
                        let value: Option<EventConfig> = map.next_value()?;
                        config.sections.extend(value.map(|section| (event, section)));
                    }
                    None => return Err(de::Error::custom(format!("unknown key `{section}`"))),
                },
            }
        }
        Ok(config)
    }
}

impl ConclaudeConfig {
    #[must_use]
    pub fn section(&self, event: EventKind) -> Option<&EventConfig> {
        self.sections.iter().find(|(of, _)| *of == event).map(|(_, section)| section)
    }

    /// Whether a command of the event is limited to files: nothing else needs to know what changed.
    #[must_use]
    pub fn asks_for_files(&self, event: EventKind) -> bool {
        let section = self.section(event);
        section.is_some_and(|section| section.commands().any(|command| command.files.is_some()))
    }

    #[must_use]
    pub fn max_blocks(&self) -> u32 {
        self.max_blocks.map_or(DEFAULT_MAX_BLOCKS, Bounded::get)
    }

    /// The number of commands in all sections.
    #[must_use]
    pub fn commands(&self) -> usize {
        let own: usize = self.sections.iter().map(|(_, section)| section.commands().count()).sum();
        own + self.prompts.slash_commands().count()
    }

    /// Whether it does what the user of a project must have agreed to: runs something, or allows it without asking.
    #[must_use]
    pub fn needs_trust(&self) -> bool {
        self.commands() > 0
            || self.judge().is_some()
            || self.permissions.may_allow()
            || self.prompts.rules().next().is_some()
            || self.endpoint().is_some()
            || self.stop.infinite().is_some()
    }

    #[must_use]
    pub fn judge(&self) -> Option<&JudgeConfig> {
        self.des.as_ref().and_then(|des| des.judge.as_ref())
    }

    /// The collector that decisions are sent to.
    #[must_use]
    pub fn endpoint(&self) -> Option<&Endpoint> {
        self.telemetry.as_ref().and_then(|telemetry| telemetry.endpoint.as_ref())
    }

    /// The events that it names for notifications.
    #[must_use]
    pub fn notified_events(&self) -> Vec<EventKind> {
        self.notifications.iter().flat_map(NotificationsConfig::named).collect()
    }

    /// Reads the config from its text, and checks the patterns of every section.
    ///
    /// # Errors
    /// Lists every problem of the file with its position.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        Self::read(text, path, Patterns::All).map(|(config, _)| config)
    }

    /// Reads one file, and keeps its tree. The structs are made from it, and stop at the first error; then the tree is walked for
    /// all problems. The path is for messages alone.
    ///
    /// # Errors
    /// Lists every problem of the file with its position.
    pub fn read(text: &str, path: &Path, patterns: Patterns) -> Result<(Self, Spanned<Node>), ConfigError> {
        let text = yaml::without_bom(text);
        let tree = tree(text).map_err(|error| diagnose::not_yaml(text, path, &error))?;
        let config = Option::<ConclaudeConfig>::deserialize(&tree)
            .map_err(|error| InvalidFile { path, text, tree: &tree, first: Some(&error) }.explain())?
            .unwrap_or_default();
        if config.is_within_bounds() && config.are_valid(patterns) && config.blocks_only_where_possible() {
            Ok((config, tree))
        } else {
            Err(InvalidFile { path, text, tree: &tree, first: None }.explain())
        }
    }

    fn are_valid(&self, patterns: Patterns) -> bool {
        let is_asked = |event: EventKind| patterns == Patterns::All || patterns == Patterns::Of(event);
        let mut asked = self.sections.iter().filter(|(event, _)| is_asked(*event));
        asked.all(|(_, section)| {
            section.check_patterns().is_ok() && section.are_prompts_valid() && section.are_scripts_valid()
        }) && (!is_asked(EventKind::UserPromptSubmit) || self.prompts.is_valid())
    }

    /// The files and packs that come before this one.
    pub fn extended(&self) -> impl Iterator<Item = &str> {
        self.extends.iter().flatten().map(Name::as_str)
    }

    /// The counts that the schema limits.
    fn is_within_bounds(&self) -> bool {
        let hooks = self.notifications.iter().filter_map(|notifications| notifications.hooks.as_ref());
        self.sections.iter().all(|(_, section)| section.is_within_bounds())
            && self.permissions.is_within_bounds()
            && self.prompts.is_within_bounds()
            && self.des.as_ref().is_none_or(DesConfig::is_within_bounds)
            && self.telemetry.as_ref().is_none_or(TelemetryConfig::is_within_bounds)
            && hooks.map(Vec::len).all(|count| count <= MAX_NAMES)
            && self.extends.as_ref().is_none_or(|files| files.len() <= MAX_EXTENDED)
    }

    fn blocks_only_where_possible(&self) -> bool {
        self.sections
            .iter()
            .all(|(event, section)| event.blocking() != Blocking::Never || !section.may_block())
    }

    /// What is valid but probably a mistake.
    #[must_use]
    pub fn warnings(&self) -> Vec<Remark> {
        let mut found = Vec::new();
        for (event, section) in &self.sections {
            section.warnings(*event, &mut found);
        }
        self.prompts.warnings(&mut found);
        self.stop.warnings(&mut found);
        let is_audited = self.audit.as_ref().and_then(|audit| audit.enabled).unwrap_or(true);
        if let Some(telemetry) = &self.telemetry {
            telemetry.warnings(is_audited, &mut found);
        }
        if let Some(des) = &self.des {
            des.warnings(&mut found);
            if !is_audited && !des.evidence().is_empty() {
                let why = "des: `evidence` needs the audit trail, which `audit.enabled: false` switches off";
                found.push(Remark::new(["audit", "enabled"], why));
            }
        }
        if let Some(notifications) = &self.notifications {
            notifications.warnings(&mut found);
        }
        found
    }
}

/// The values of a file, by the keys that they have here.
fn tree(text: &str) -> Result<Spanned<Node>, SyntaxError> {
    let mut tree = yaml::read(text)?;
    free_keys::remove(&mut tree);
    original::translate(&mut tree);
    Ok(tree)
}

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod tests;
