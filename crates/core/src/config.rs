//! `.conclaude.yaml`: the structs are the reference and the schema; all problems of a file are reported together.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::dialect::{Dialect, claude};
use crate::event::EventKind;

mod budget;
mod cases;
mod clients;
mod commands;
mod des;
mod diagnose;
mod enforcement;
mod event_sections;
mod extension;
mod guards;
mod layers;
mod notifications;
pub mod original;
mod pack_switches;
mod parse;
mod patterns;
mod permissions;
mod references;
mod regex;
mod report;
mod salvage;
mod schema;
mod shapes;
mod telemetry;
mod trust;
mod values;

pub use budget::{
    Amount, BUDGET, BudgetConfig, BudgetReaction, BudgetScope, Limit, Measure, Percent, budget_keys,
    is_looser_budget,
};
pub use cases::{
    Case, CommandExit, CommandResult, Expect, FILE_NAMES as TEST_FILES, JsonObject, TestFile,
    TextExpectation, schema_text as test_schema_text,
};
pub use clients::ClientName;
pub use commands::{
    CommandConfig, CommandMap, DEFAULT_SHELL, EventConfig, FILES_PLACEHOLDER, Protocol, Reaction, Show,
    Variables,
};
pub use des::{
    AuditConfig, DesConfig, EvidenceConfig, GateConfig, JudgeConfig, OnJudgeError, PhaseList, RecordedOutput,
    ScopeMode, TDD_14,
};
pub use diagnose::{ConfigError, LocatedProblem, Problem, Remark, Style, TRUST_IT, note, warning};
pub use enforcement::{Enforcer, Enforcers};
pub use event_sections::{ContextRuleConfig, MessageDisplayConfig, StopConfig, UserPromptSubmitConfig};
pub use extension::{ExtensionError, with_extended};
pub use guards::{
    CommandMatch, FileAccess, FileAction, FileRuleConfig, GUARD_KEYS, GuardKey, GuardSubject,
    PreToolUseConfig, SwitchConfig, ToolAction, ToolRuleConfig,
};
pub use layers::{
    IdleSwitch, Layer, MergedConfig, Origins, PACK, PackSwitch, Part, Source, file_name, merge,
};
pub use notifications::{HookName, NotificationsConfig};
pub use pack_switches::{PACKS, PackSwitches, RuleAction};
pub use patterns::{CommandGlob, FileGlob, NameGlob, OptionNames, ToolPatternText};
pub use permissions::{AllowRuleConfig, DenyRuleConfig, PermissionDefault, PermissionRequestConfig};
pub use references::{Piece, pieces};
pub use regex::RegexError;
pub use report::{Price, PriceConfig, PriceTable, ReportConfig};
pub use salvage::{GuardedCalls, UnusableRules};
pub use schema::schema_text;
pub use shapes::{List, TextOr};
pub use telemetry::{Endpoint, EndpointError, Headers, SERVICE_NAME, Signal, TelemetryConfig};
pub use trust::{INFINITE, JUDGE};
pub use values::{Bounded, FolderBelow, Name, NonBlank, Seconds};

use parse::{null_is_default, shared_or_default};

// The names of the specification.
pub type SubagentStopConfig = EventConfig;
pub type SubagentStopCommand = CommandConfig;

/// The names of a project's config file, in order of preference.
pub const CONFIG_FILES: [&str; 2] = [".conclaude.yaml", ".conclaude.yml"];

/// The user's own config of a project, which git ignores.
pub const LOCAL_CONFIG_FILE: &str = ".conclaude.local.yaml";

const DEFAULT_MAX_BLOCKS: u32 = 3;

/// Which patterns are checked when a config is read. An event needs only its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patterns {
    All,
    Of(EventKind),
}

/// The configuration of conclaude, `.conclaude.yaml` in the project's root.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConclaudeConfig {
    /// Files whose values come before those of this file: paths relative to it, or `pack:NAME`. Maps merge, lists append, other
    /// values override.
    pub extends: Option<List<Name, 0, 16>>,
    /// How often the stop of one agent may be blocked before it is allowed anyway. Default: 3.
    pub max_blocks: Option<Bounded<1, 7>>,
    /// The commands of all events. Any event may have a section, also one that this version does not know.
    #[serde(skip)]
    pub sections: Vec<(EventKind, EventConfig)>,
    /// Guards for files, commands and tools, and commands that run at PreToolUse. Both may block the call.
    #[serde(rename = "preToolUse", deserialize_with = "shared_or_default")]
    #[schemars(with = "Option<PreToolUseConfig>")]
    pub guards: Arc<PreToolUseConfig>,
    /// Commands that run at Stop, which may block it, and whether Claude goes on by itself.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<StopConfig>")]
    pub stop: StopConfig,
    /// Commands that run at MessageDisplay. They cannot block it.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<MessageDisplayConfig>")]
    pub message_display: MessageDisplayConfig,
    /// Rules that allow or deny without asking the user, and commands that run at PermissionRequest. Both may deny the call.
    #[serde(rename = "permissionRequest", deserialize_with = "null_is_default")]
    #[schemars(with = "Option<PermissionRequestConfig>")]
    pub permissions: PermissionRequestConfig,
    /// Context that is added to prompts, commands for slash commands, and commands that run at UserPromptSubmit, which may block the
    /// prompt.
    #[serde(rename = "userPromptSubmit", deserialize_with = "null_is_default")]
    #[schemars(with = "Option<UserPromptSubmitConfig>")]
    pub prompts: UserPromptSubmitConfig,
    /// Desktop notifications.
    pub notifications: Option<NotificationsConfig>,
    /// The gates for the steps of a workflow.
    pub des: Option<DesConfig>,
    /// The audit trail.
    pub audit: Option<AuditConfig>,
    /// Sending the audit trail to a collector.
    pub telemetry: Option<TelemetryConfig>,
    /// Changes what rules of packs do, by their names: `{git-safety: {force-push: ask, amend: allow}}`. The layer that extends
    /// the pack, or an outer one, may relax a rule; `conclaude pack show NAME` lists them.
    pub packs: Option<PackSwitches>,
    /// Settings for `conclaude report`.
    pub report: Option<ReportConfig>,
    /// Who else enforces `uneditableFiles` and `unreadableFiles`: `sandbox` (the operating system, for shell commands) and
    /// `permissions` (Claude Code, for its file tools). `conclaude install --enforce` writes that into Claude Code's settings.
    /// Default: nobody.
    pub enforce: Option<List<Enforcer, 0, 16>>,
    /// The clients for which `install`, `validate` and `doctor` work: `claude`, `codex`, `copilot`, `qwen`, `gemini`. Events of
    /// other clients are still handled. Default: `[claude]`.
    pub clients: Option<List<ClientName, 0, 16>>,
    /// What a session, each subagent and a day may use, and what happens at the limit. An inner layer can only be stricter.
    pub budget: Option<BudgetConfig>,
}

impl ConclaudeConfig {
    #[must_use]
    pub fn section(&self, event: EventKind) -> Option<&EventConfig> {
        self.sections.iter().find(|(of, _)| *of == event).map(|(_, section)| section)
    }

    /// Whether a command of the event is limited to files. Only then the changed files are needed.
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

    /// Whether it needs the user's trust in the project: it runs something, or allows something without asking.
    #[must_use]
    pub fn needs_trust(&self) -> bool {
        self.commands() > 0 || trust::SETTINGS.iter().any(|setting| (setting.is_used)(self))
    }

    /// Who else enforces the rules for files.
    #[must_use]
    pub fn enforcers(&self) -> Enforcers {
        self.enforce.iter().flatten().collect()
    }

    /// The clients that it names, each once. Claude Code if it names none.
    #[must_use]
    pub fn clients(&self) -> Vec<&'static Dialect> {
        let mut clients: Vec<&'static Dialect> = Vec::new();
        for client in self.clients.iter().flatten().map(|name| name.dialect()) {
            if !clients.contains(&client) {
                clients.push(client);
            }
        }
        if clients.is_empty() { vec![&claude::DIALECT] } else { clients }
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

    /// The files and packs that this file extends.
    pub fn extended(&self) -> impl Iterator<Item = &str> {
        self.extends.iter().flatten().map(Name::as_str)
    }

    /// Valid values that are probably mistakes.
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

#[cfg(test)]
mod tests;
