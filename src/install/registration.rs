//! What must be registered with the client for a config, where it may stand, and whether the two still fit together.

use std::path::{Path, PathBuf};

use crate::config::{Bounded, ConclaudeConfig, DesConfig, EventConfig, NotificationsConfig};
use crate::event::{self, Event, Registered};
use crate::install::settings::Registration;
use crate::transcript::WRITING_TOOLS;

mod found;

pub use found::{Found, Problem, drift, found, homes, is_users_own, on_path, program_of, project_has};

/// Settings of a person are never this large.
pub const MAX_BYTES: u64 = 16 << 20;

/// The argument with which a registration for all projects of a user asks whether a project is trusted.
pub const IF_TRUSTED: &str = "--if-trusted";

/// The tools that Gate 2 looks at, as a matcher: all that can be registered inside an agent.
fn writing_tools() -> String {
    WRITING_TOOLS.map(|(name, _)| name).join("|")
}

/// The settings files that the client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `.claude/settings.json` of the project, shared with others.
    Project,
    /// `.claude/settings.local.json` of the project, one's own.
    Local,
    /// `settings.json` of the user, for all projects.
    User,
}

impl Place {
    /// All places.
    pub const ALL: [Place; 3] = [Place::Project, Place::Local, Place::User];

    /// The flag of `install` that means this place.
    #[must_use]
    pub fn flag(self) -> &'static str {
        match self {
            Place::Project => "--project",
            Place::Local => "--local",
            Place::User => "--user",
        }
    }

    /// The file. None where the user has no home.
    #[must_use]
    pub fn path(self, project: &Path) -> Option<PathBuf> {
        match self {
            Place::Project => Some(project.join(".claude/settings.json")),
            Place::Local => Some(project.join(".claude/settings.local.json")),
            Place::User => Some(user_folder()?.join("settings.json")),
        }
    }
}

/// Where the client keeps what is the user's: settings and agents.
#[must_use]
pub fn user_folder() -> Option<PathBuf> {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| std::env::home_dir().map(|home| home.join(".claude")))
}

/// What must be registered. For all projects it is the same whatever the project: none has a say in what another gets.
#[must_use]
pub fn needed(config: &ConclaudeConfig, program: &str, place: Place) -> Vec<Registration> {
    let default = ConclaudeConfig::default();
    let config = if place == Place::User { &default } else { config };
    let gates_on = config.des.as_ref().is_none_or(DesConfig::is_enabled);
    let named = notified(config);
    let is_needed = |event: &Event| match event.row().registered {
        Registered::Never => false,
        Registered::Always if *event == Event::PreToolUse => gates_on || is_used(*event, config, &named),
        Registered::Always => true,
        Registered::WhenUsed => is_used(*event, config, &named),
    };
    let events = event::ALL.iter().copied().filter(is_needed);
    let argument = if place == Place::User { format!(" {IF_TRUSTED}") } else { String::new() };
    events
        .map(|event| Registration {
            event,
            matcher: matcher(event, gates_on, named.contains(&event)),
            command: format!("{program} {}{argument}", event.name()),
            timeout: timeout(event, config, place),
            flaw: None,
        })
        .collect()
}

/// Whether the config has something for the event.
fn is_used(event: Event, config: &ConclaudeConfig, notified: &[Event]) -> bool {
    notified.contains(&event)
        || config.section(event).is_some_and(|section| section.commands().next().is_some())
}

/// What must be registered in an agent's own file. The agents of a user work in projects that are not known yet.
#[must_use]
pub fn needed_in_agent(
    config: &ConclaudeConfig,
    program: &str,
    place: Place,
    asks_for_trust: bool,
    agent: &str,
) -> Vec<Registration> {
    let default = ConclaudeConfig::default();
    let (config, least) = if place == Place::User { (&default, UNLIMITED) } else { (config, 0) };
    let gates_on = config.des.as_ref().is_none_or(DesConfig::is_enabled);
    let argument = if asks_for_trust { format!(" {IF_TRUSTED}") } else { String::new() };
    let one = |event: Event, matcher: Option<String>, timeout| Registration {
        event,
        matcher,
        command: format!("{program} {}{argument}", event.name()),
        timeout,
        flaw: None,
    };
    let gate = gates_on.then(|| one(Event::PreToolUse, Some(writing_tools()), 60));
    let stop = one(Event::SubagentStop, None, at_stop(config, Some(agent)).max(least));
    gate.into_iter().chain([stop]).collect()
}

/// The same registrations in the order in which they would be made.
#[must_use]
pub fn in_order(mut registrations: Vec<Registration>) -> Vec<Registration> {
    registrations.sort_by_key(|one| event::ALL.iter().position(|event| *event == one.event));
    registrations
}

fn notified(config: &ConclaudeConfig) -> Vec<Event> {
    config.notifications.iter().flat_map(NotificationsConfig::named).collect()
}

/// What the config names and must not be registered.
#[must_use]
pub fn not_registered(config: &ConclaudeConfig) -> Vec<Event> {
    notified(config).into_iter().filter(|event| event.row().registered == Registered::Never).collect()
}

fn matcher(event: Event, gates_on: bool, is_notified: bool) -> Option<String> {
    match event {
        // Who wants to hear of every tool gets every tool.
        Event::PreToolUse | Event::PostToolUse if is_notified => None,
        Event::PreToolUse if gates_on => Some(format!("Agent|{}", writing_tools())),
        Event::PostToolUse => Some("Agent".into()),
        _ => None,
    }
}

fn timeout(event: Event, config: &ConclaudeConfig, place: Place) -> u64 {
    // The commands of a project that is not known yet may take an hour, like one without a limit.
    let least = if place == Place::User { UNLIMITED } else { 0 };
    match event {
        Event::SubagentStart => seconds(config.section(event), None).max(least),
        Event::SubagentStop => at_stop(config, None).max(least),
        Event::SessionEnd => 10,
        _ => 60,
    }
}

/// What the client is asked to give where there is no limit, or none is known.
const UNLIMITED: u64 = 3_600;

/// Seconds for the stop of this agent, or of any.
fn at_stop(config: &ConclaudeConfig, agent: Option<&str>) -> u64 {
    let judge = config.des.as_ref().and_then(|des| des.judge.as_ref());
    let judge = judge.map_or(0, |judge| judge.timeout.map_or(30, Bounded::get));
    seconds(config.section(Event::SubagentStop), agent) + u64::from(judge)
}

/// Long enough for all commands of the section together, and an hour where one has no limit.
fn seconds(section: Option<&EventConfig>, agent: Option<&str>) -> u64 {
    const MARGIN: u64 = 60;
    let applies = |pattern: &crate::pattern::Pattern| {
        // A pattern that cannot be read may match anything.
        agent.is_none_or(|name| pattern.matches(name, None).unwrap_or(true))
    };
    let entries = section.into_iter().flat_map(EventConfig::entries);
    let commands = entries.filter(|(pattern, _)| applies(pattern)).flat_map(|(_, commands)| commands);
    let limits: Option<u64> =
        commands.map(|command| command.timeout.map(|limit| u64::from(limit.get()) + 2)).sum();
    limits.map_or(UNLIMITED, |sum| sum + MARGIN)
}

#[cfg(test)]
mod tests;
