//! What must be registered with Claude Code for a config.

use crate::config::{Bounded, ConclaudeConfig, DesConfig, SubagentConfig};
use crate::event::{Event, NEVER_REGISTERED};
use crate::install::scope::Scope;
use crate::install::settings::{IF_TRUSTED, Registration};
use crate::transcript::WRITING_TOOLS;

/// The tools that Gate 2 looks at, as a matcher.
fn writing_tools() -> String {
    WRITING_TOOLS.map(|(name, _)| name).join("|")
}

/// What is needed in any case, in the order in which it is registered.
const EVENTS: [Event; 8] = [
    Event::SessionStart,
    Event::PreToolUse,
    Event::PostToolUse,
    Event::UserPromptSubmit,
    Event::SubagentStart,
    Event::SubagentStop,
    Event::Stop,
    Event::SessionEnd,
];

/// What must be registered. For all projects it is the same whatever the project: none has a say in what another gets.
pub(crate) fn needed(config: &ConclaudeConfig, program: &str, scope: Scope) -> Vec<Registration> {
    let default = ConclaudeConfig::default();
    let config = if scope == Scope::User { &default } else { config };
    let gates_on = config.des.as_ref().is_none_or(DesConfig::is_enabled);
    let named = config.notified_events();
    let mut events: Vec<Event> = EVENTS.to_vec();
    events.retain(|event| *event != Event::PreToolUse || gates_on || named.contains(event));
    events.extend(named.iter().filter(|event| !EVENTS.contains(event) && !NEVER_REGISTERED.contains(event)));
    let argument = if scope == Scope::User { format!(" {IF_TRUSTED}") } else { String::new() };
    events
        .into_iter()
        .map(|event| Registration {
            event,
            matcher: matcher(event, gates_on, named.contains(&event)),
            command: format!("{program} {}{argument}", event.name()),
            timeout: timeout(event, config, scope),
            flaw: None,
        })
        .collect()
}

/// The same registrations in the order in which they would be made.
pub(crate) fn in_order(mut registrations: Vec<Registration>) -> Vec<Registration> {
    registrations
        .sort_by_key(|one| EVENTS.iter().position(|event| *event == one.event).unwrap_or(EVENTS.len()));
    registrations
}

fn matcher(event: Event, gates_on: bool, is_notified: bool) -> Option<String> {
    match event {
        // Notifications of a tool event are about every tool.
        Event::PreToolUse | Event::PostToolUse if is_notified => None,
        Event::PreToolUse if gates_on => Some(format!("Agent|{}", writing_tools())),
        Event::PostToolUse => Some("Agent".into()),
        _ => None,
    }
}

fn timeout(event: Event, config: &ConclaudeConfig, scope: Scope) -> u64 {
    // The commands of a project that is not known yet may take an hour, like one without a limit.
    let least = if scope == Scope::User { UNLIMITED } else { 0 };
    match event {
        Event::SubagentStart => seconds(config.subagent_start.as_ref()).max(least),
        Event::SubagentStop => at_stop(config).max(least),
        Event::SessionEnd => 10,
        _ => 60,
    }
}

/// What Claude Code is asked to give where there is no limit, or none is known.
const UNLIMITED: u64 = 3_600;

/// Seconds for the stop of any agent.
fn at_stop(config: &ConclaudeConfig) -> u64 {
    let judge = config.des.as_ref().and_then(|des| des.judge.as_ref());
    let judge = judge.map_or(0, |judge| judge.timeout.map_or(30, Bounded::get));
    seconds(config.subagent_stop.as_ref()) + u64::from(judge)
}

/// Long enough for all commands of the section together, and an hour where one has no limit.
fn seconds<R>(section: Option<&SubagentConfig<R>>) -> u64 {
    const MARGIN: u64 = 60;
    let commands = section.into_iter().flat_map(SubagentConfig::entries).flat_map(|(_, commands)| commands);
    let limits: Option<u64> =
        commands.map(|command| command.timeout.map(|limit| u64::from(limit.get()) + 2)).sum();
    limits.map_or(UNLIMITED, |sum| sum + MARGIN)
}
