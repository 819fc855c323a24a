//! What must be registered with Claude Code for a config.

use crate::config::{ConclaudeConfig, DesConfig};
use crate::event::{self, EventKind, Registered, Subject};
use crate::install::scope::Scope;
use crate::install::settings::{Registration, make_line};
use crate::transcript::WRITING_TOOLS;

/// The tools that Gate 2 looks at, as a matcher.
fn writing_tools() -> String {
    WRITING_TOOLS.map(|(name, _)| name).join("|")
}

/// What must be registered. For all projects it is the same whatever the project: none has a say in what another gets.
pub(crate) fn needed(config: &ConclaudeConfig, program: &str, scope: Scope) -> Vec<Registration> {
    let default = ConclaudeConfig::default();
    let config = if scope == Scope::User { &default } else { config };
    let gates_on = config.des.as_ref().is_none_or(DesConfig::is_enabled);
    let named = config.notified_events();
    let is_needed = |event: &EventKind| match event.row().registered {
        Registered::WithCommands => has_commands(*event, config),
        Registered::Always if *event == EventKind::PreToolUse => gates_on || is_used(*event, config, &named),
        Registered::Always => true,
        Registered::WhenUsed => is_used(*event, config, &named),
    };
    let events = event::ALL.iter().copied().filter(is_needed);
    events
        .map(|event| Registration {
            event,
            matcher: matcher(event, gates_on, is_used(event, config, &named)),
            command: make_line(program, event, scope == Scope::User),
            timeout: timeout(event, config),
            status: status(event, config),
            flaw: None,
        })
        .collect()
}

/// Whether the config has something for the event.
fn is_used(event: EventKind, config: &ConclaudeConfig, notified: &[EventKind]) -> bool {
    notified.contains(&event) || has_commands(event, config)
}

fn has_commands(event: EventKind, config: &ConclaudeConfig) -> bool {
    config.section(event).is_some_and(|section| section.commands().next().is_some())
}

/// The same registrations in the order in which they would be made.
pub(crate) fn in_order(mut registrations: Vec<Registration>) -> Vec<Registration> {
    registrations.sort_by_key(|one| event::ALL.iter().position(|event| *event == one.event));
    registrations
}

fn matcher(event: EventKind, gates_on: bool, is_used: bool) -> Option<String> {
    match event {
        // Notifications and commands of a tool event are about every tool.
        EventKind::PreToolUse | EventKind::PostToolUse if is_used => None,
        EventKind::PreToolUse if gates_on => Some(format!("Agent|{}", writing_tools())),
        EventKind::PostToolUse => Some("Agent".into()),
        _ => None,
    }
}

/// What Claude Code gives an event that runs commands, whatever the config: their own limits are what counts, and settings
/// that are shared must be the same on all machines.
const GENEROUS: u64 = 3_600;

pub(super) fn timeout(event: EventKind, config: &ConclaudeConfig) -> u64 {
    match event {
        // Claude Code gives it no more.
        EventKind::SessionEnd => 60,
        _ if runs_commands(event, config) => GENEROUS,
        _ => 60,
    }
}

/// The events of subagents are registered in one way, whatever the config.
fn runs_commands(event: EventKind, config: &ConclaudeConfig) -> bool {
    event.row().subject == Subject::Agent || has_commands(event, config)
}

/// What Claude Code shows while commands run.
fn status(event: EventKind, config: &ConclaudeConfig) -> Option<String> {
    runs_commands(event, config).then(|| format!("conclaude: {} commands", event.row().section))
}
