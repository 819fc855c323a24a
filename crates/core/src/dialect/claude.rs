//! Claude Code: how its payload becomes an event, and how a result becomes exit code, stdout and stderr.

use super::agents::AgentFacts;
use super::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};
use super::tool::McpSpelling;
use super::{Answer, AskSupport, Dialect, LogLines, ProjectFolder, of_process};
use crate::decide::HookResult;
use crate::error::HookError;
use crate::event::EventKind;
use crate::types::{Event, PayloadError};

pub mod agents;
pub mod events;
mod facts;
pub mod file_matcher;
mod hook_reply;
pub mod layout;
pub mod matcher;
mod parse;
pub mod prompt;
mod render;
pub mod sample;
pub mod sandbox;
pub mod tags;
pub mod tools;
pub mod transcript;

pub use facts::{limits, modes, names, session, variables};
pub use hook_reply::{HookEnd, HookReply, MAX_STDOUT, UnknownReplyFields};
pub use parse::{CallFields, delivered, fields, is_own};
pub use tools::{mcp, notation};

pub const DIALECT: Dialect = Dialect {
    name: "claude",
    title: "Claude Code",
    // No entries: the table of our events is Claude Code's.
    events: &[],
    missing: &[],
    sends: |_| true,
    fields: &[],
    tools: &[],
    mcp: McpSpelling::Ours,
    complete: |event, _| event,
    ignores: |_, _| None,
    project: ProjectFolder::Variable,
    agents: AgentFacts::IN_FILES,
    asking: AskSupport::ByMode,
    changes_input: true,
    types_unseen: false,
    log: LogLines::Always,
    render: |reply| render(reply.called, reply.result, reply.log_lines),
    settings: SETTINGS,
};

/// Whether a command line is Claude Code's.
#[must_use]
pub fn is_process(arguments: &[String]) -> bool {
    of_process(arguments) == Some(&DIALECT)
}

/// The settings files with hooks.
const SETTINGS: HookSettings = HookSettings {
    project: layout::SETTINGS,
    local: Some(layout::LOCAL_SETTINGS),
    user: UserSettings {
        variable: Some(variables::CONFIG_DIR),
        folder: layout::FOLDER,
        file: layout::USER_SETTINGS,
    },
    others: &[],
    version: None,
    timeouts: HookTimeouts::OfEvents,
    review: None,
    folder_trust: None,
    runs_claudes: false,
    is_form_known: true,
    is_enforcing: true,
    conditions: HookConditions::NONE,
};

/// Reads and checks the payload of the event that was called.
///
/// # Errors
/// Names the field and what was expected.
pub fn parse(event: EventKind, input: &[u8]) -> Result<Event, PayloadError> {
    Event::parse(event, input)
}

/// The answer to Claude Code.
#[must_use]
pub fn render(event: EventKind, result: &Result<HookResult, HookError>, log_lines: &[String]) -> Answer {
    Answer::of(event, result, log_lines)
}
