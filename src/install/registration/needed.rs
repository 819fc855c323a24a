//! What must be registered with Claude Code for a config.

use crate::config::{Bounded, ConclaudeConfig, DesConfig, EventConfig};
use crate::event::{self, EventKind, Registered};
use crate::install::scope::Scope;
use crate::install::settings::{IF_TRUSTED, Registration};
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
        Registered::Never => false,
        Registered::Always if *event == EventKind::PreToolUse => gates_on || is_used(*event, config, &named),
        Registered::Always => true,
        Registered::WhenUsed => is_used(*event, config, &named),
    };
    let events = event::ALL.iter().copied().filter(is_needed);
    let argument = if scope == Scope::User { format!(" {IF_TRUSTED}") } else { String::new() };
    events
        .map(|event| Registration {
            event,
            matcher: matcher(event, gates_on, named.contains(&event)),
            command: format!("{program} {}{argument}", event.name()),
            timeout: timeout(event, config, scope),
            flaw: None,
        })
        .collect()
}

/// Whether the config has something for the event.
fn is_used(event: EventKind, config: &ConclaudeConfig, notified: &[EventKind]) -> bool {
    notified.contains(&event)
        || config.section(event).is_some_and(|section| section.commands().next().is_some())
}

/// The same registrations in the order in which they would be made.
pub(crate) fn in_order(mut registrations: Vec<Registration>) -> Vec<Registration> {
    registrations.sort_by_key(|one| event::ALL.iter().position(|event| *event == one.event));
    registrations
}

fn matcher(event: EventKind, gates_on: bool, is_notified: bool) -> Option<String> {
    match event {
        // Notifications of a tool event are about every tool.
        EventKind::PreToolUse | EventKind::PostToolUse if is_notified => None,
        EventKind::PreToolUse if gates_on => Some(format!("Agent|{}", writing_tools())),
        EventKind::PostToolUse => Some("Agent".into()),
        _ => None,
    }
}

fn timeout(event: EventKind, config: &ConclaudeConfig, scope: Scope) -> u64 {
    // The commands of a project that is not known yet may take an hour, like one without a limit.
    let least = if scope == Scope::User { UNLIMITED } else { 0 };
    match event {
        _ if event.row().commands => (seconds(config.section(event)) + judge(event, config)).max(least),
        EventKind::SessionEnd => 10,
        _ => 60,
    }
}

/// What Claude Code is asked to give where there is no limit, or none is known.
const UNLIMITED: u64 = 3_600;

/// Seconds for the judge, which is asked when an agent stops.
fn judge(event: EventKind, config: &ConclaudeConfig) -> u64 {
    let judge = config.judge().filter(|_| event == EventKind::SubagentStop);
    judge.map_or(0, |judge| judge.timeout.map_or(30, Bounded::get).into())
}

/// Long enough for all commands of the section together, and an hour where one has no limit.
fn seconds(section: Option<&EventConfig>) -> u64 {
    const MARGIN: u64 = 60;
    let commands = section.into_iter().flat_map(EventConfig::commands);
    let limits: Option<u64> =
        commands.map(|command| command.timeout.map(|limit| u64::from(limit.get()) + 2)).sum();
    limits.map_or(UNLIMITED, |sum| sum + MARGIN)
}
