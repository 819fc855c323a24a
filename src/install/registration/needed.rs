//! What must be registered with Claude Code for a config.

use crate::config::{ConclaudeConfig, DesConfig};
use crate::dialect::claude::tools;
use crate::event::{self, EventKind, Registered, Subject};
use crate::install::scope::Scope;
use crate::install::settings::{Registration, make_line};

/// What must be registered. For all projects it is the same whatever the project: none has a say in what another gets.
pub(crate) fn needed(config: &ConclaudeConfig, program: &str, scope: Scope) -> Vec<Registration> {
    let default = ConclaudeConfig::default();
    let config = if scope == Scope::User { &default } else { config };
    let gates_on = config.des.as_ref().is_none_or(DesConfig::is_enabled);
    let named = config.notified_events();
    let is_needed = |event: &EventKind| match event.row().registered {
        Registered::WithCommands => has_commands(*event, config),
        Registered::Always if *event == EventKind::PreToolUse => {
            gates_on || config.guards.has_any() || is_used(*event, config, &named)
        }
        Registered::Always => true,
        Registered::WhenUsed => is_used(*event, config, &named),
    };
    let events = event::ALL.iter().copied().filter(is_needed);
    events
        .map(|event| Registration {
            event,
            matcher: matcher(event, config, gates_on, is_used(event, config, &named)),
            command: make_line(program, event, scope == Scope::User),
            timeout: timeout(event),
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

fn matcher(event: EventKind, config: &ConclaudeConfig, gates_on: bool, is_used: bool) -> Option<String> {
    match event {
        // Notifications and commands of a tool event are about every tool.
        EventKind::PreToolUse | EventKind::PostToolUse if is_used => None,
        EventKind::PreToolUse => {
            let guarded = config.guards.tools(tools::READING, tools::WRITING)?;
            let gated = if gates_on { [&["Agent"], tools::WRITING].concat() } else { Vec::new() };
            let mut names: Vec<&str> = gated.into_iter().chain(guarded).collect();
            let mut seen = std::collections::HashSet::new();
            names.retain(|name| seen.insert(*name));
            Some(names.join("|"))
        }
        EventKind::PostToolUse => Some("Agent".into()),
        _ => None,
    }
}

/// What Claude Code gives every event, whatever the config: the commands' own limits are what counts, and a committed
/// registration must not change with them.
const GENEROUS: u64 = 3_600;

pub(super) fn timeout(event: EventKind) -> u64 {
    match event {
        // Claude Code gives it no more.
        EventKind::SessionEnd => 60,
        _ => GENEROUS,
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
