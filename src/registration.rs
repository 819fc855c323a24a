//! What must be registered with the client for a config, where it may stand, and whether the two still fit together.

use std::path::{Path, PathBuf};

use crate::config::{Bounded, ConclaudeConfig, DesConfig, HookName, SubagentConfig};
use crate::events::{self, Event};
use crate::files;
use crate::settings::{self, Refusal, Registration};

/// Settings of a person are never this large.
pub const MAX_BYTES: u64 = 16 << 20;

/// The argument with which a registration for all projects of a user asks whether a project is trusted.
pub const IF_TRUSTED: &str = "--if-trusted";

/// The tools that Gates 1 and 2 look at.
const GATED_TOOLS: &str = "Agent|Write|Edit|MultiEdit|NotebookEdit";

/// The tools that Gate 2 looks at: all that can be registered inside an agent.
pub const WRITING_TOOLS: &str = "Write|Edit|MultiEdit|NotebookEdit";

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

/// To register these changes what the client does, so they are left alone.
const NEVER: [Event; 3] = [Event::WorktreeCreate, Event::WorktreeRemove, Event::FileChanged];

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

/// What must be registered.
#[must_use]
pub fn needed(config: &ConclaudeConfig, program: &str, place: Place) -> Vec<Registration> {
    let gates_on = place == Place::User || config.des.as_ref().is_none_or(DesConfig::is_enabled);
    let named = notified(config);
    let mut events: Vec<Event> = EVENTS.to_vec();
    events.retain(|event| *event != Event::PreToolUse || gates_on || named.contains(event));
    events.extend(named.iter().filter(|event| !EVENTS.contains(event) && !NEVER.contains(event)));
    let argument = if place == Place::User { format!(" {IF_TRUSTED}") } else { String::new() };
    events
        .into_iter()
        .map(|event| Registration {
            event,
            matcher: matcher(event, gates_on, named.contains(&event)).map(str::to_owned),
            command: format!("{program} {}{argument}", event.name()),
            timeout: timeout(event, config, place),
        })
        .collect()
}

/// The same registrations in the order in which they would be made.
#[must_use]
pub fn in_order(mut registrations: Vec<Registration>) -> Vec<Registration> {
    registrations
        .sort_by_key(|one| EVENTS.iter().position(|event| *event == one.event).unwrap_or(EVENTS.len()));
    registrations
}

/// Every event that could be one of ours in a settings file.
#[must_use]
pub fn all_events() -> &'static [Event] {
    events::ALL
}

/// Events that a person wants to be notified of by name. `*` means those that are registered anyway: all 33 of them would
/// start a process with every word that is displayed.
fn notified(config: &ConclaudeConfig) -> Vec<Event> {
    let wanted = config.notifications.as_ref().filter(|notifications| notifications.enabled == Some(true));
    let hooks = wanted.and_then(|notifications| notifications.hooks.as_ref()).into_iter().flatten();
    hooks
        .filter_map(|hook| match hook {
            HookName::One(event) => Some(*event),
            HookName::All => None,
        })
        .collect()
}

/// What is asked for in the config and must not be registered.
#[must_use]
pub fn not_registered(config: &ConclaudeConfig) -> Vec<Event> {
    notified(config).into_iter().filter(|event| NEVER.contains(event)).collect()
}

fn matcher(event: Event, gates_on: bool, is_notified: bool) -> Option<&'static str> {
    match event {
        // Who wants to hear of every tool gets every tool.
        Event::PreToolUse | Event::PostToolUse if is_notified => None,
        Event::PreToolUse if gates_on => Some(GATED_TOOLS),
        Event::PostToolUse => Some("Agent"),
        _ => None,
    }
}

fn timeout(event: Event, config: &ConclaudeConfig, place: Place) -> u64 {
    // The commands of a project that is not known yet may take an hour, like one without a limit.
    let least = if place == Place::User { UNLIMITED } else { 0 };
    match event {
        Event::SubagentStart => seconds(config.subagent_start.as_ref(), None).max(least),
        Event::SubagentStop => at_stop(config, None).max(least),
        Event::SessionEnd => 10,
        _ => 60,
    }
}

/// What the client gives where there is no limit.
const UNLIMITED: u64 = 3_600;

/// Seconds for the stop of this agent, or of any.
#[must_use]
pub fn at_stop(config: &ConclaudeConfig, agent: Option<&str>) -> u64 {
    let judge = config.des.as_ref().and_then(|des| des.judge.as_ref());
    let judge = judge.map_or(0, |judge| judge.timeout.map_or(30, Bounded::get));
    seconds(config.subagent_stop.as_ref(), agent) + u64::from(judge)
}

/// Long enough for all commands of the section together, and an hour where one has no limit.
fn seconds<R>(section: Option<&SubagentConfig<R>>, agent: Option<&str>) -> u64 {
    const MARGIN: u64 = 60;
    let applies = |pattern: &crate::pattern::Pattern| {
        // A pattern that cannot be read may match anything.
        agent.is_none_or(|name| pattern.matches(name, None).unwrap_or(true))
    };
    let entries = section.into_iter().flat_map(SubagentConfig::entries);
    let commands = entries.filter(|(pattern, _)| applies(pattern)).flat_map(|(_, commands)| commands);
    let limits: Option<u64> =
        commands.map(|command| command.timeout.map(|limit| u64::from(limit.get()) + 2)).sum();
    limits.map_or(UNLIMITED, |sum| sum + MARGIN)
}

/// What of ours a settings file has.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which file.
    pub place: Place,
    /// Where it is.
    pub path: PathBuf,
    /// What is registered there, or why that cannot be said.
    pub registered: Result<Vec<Registration>, Refusal>,
}

/// What is registered in all places that exist.
#[must_use]
pub fn found(project: &Path) -> Vec<Found> {
    let exists =
        |place: Place| Some((place, place.path(project).filter(|path| path.symlink_metadata().is_ok())?));
    Place::ALL
        .into_iter()
        .filter_map(exists)
        .map(|(place, path)| {
            let text = files::read_text(&path, MAX_BYTES).map_err(|error| Refusal(error.to_string()));
            let registered = text.and_then(|text| match text.trim() {
                "" => Ok(Vec::new()),
                text => settings::registered(text, all_events()),
            });
            Found { place, path, registered }
        })
        .collect()
}

/// Where conclaude is registered at all.
#[must_use]
pub fn homes(found: &[Found]) -> Vec<&Found> {
    found.iter().filter(|file| file.registered.as_ref().is_ok_and(|ours| !ours.is_empty())).collect()
}

/// The command that registers anew what is registered here already, or in the project.
#[must_use]
pub fn mend(found: &[Found]) -> String {
    let place = homes(found).first().map_or(Place::Project, |file| file.place);
    format!("conclaude install {}", place.flag())
}

/// How far the registrations do not fit the config any more. Nothing where none is found: then the client has them from
/// elsewhere, such as a plugin.
#[must_use]
pub fn drift(found: &[Found], config: &ConclaudeConfig) -> Vec<String> {
    let homes = homes(found);
    let all: Vec<&Registration> = homes.iter().flat_map(|file| file.registered.iter().flatten()).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for need in needed(config, "conclaude", Place::Project) {
        let name = need.event.name();
        let here: Vec<&&Registration> = all.iter().filter(|one| one.event == need.event).collect();
        if here.is_empty() {
            problems.push(format!("{name} is not registered"));
        } else if !here.iter().any(|one| covers(one.matcher.as_deref(), need.matcher.as_deref())) {
            let has = here.first().and_then(|one| one.matcher.as_deref()).unwrap_or_default();
            let wants = need.matcher.as_deref().unwrap_or("all");
            problems.push(format!("{name} is registered for {has:?}, and needed for {wants:?}"));
        } else if let Some(longest) =
            here.iter().map(|one| one.timeout).max().filter(|has| *has < need.timeout)
        {
            problems.push(format!(
                "{name} is given {longest} s by the client, and what is configured may take {} s",
                need.timeout
            ));
        }
        problems.extend(twice(&homes, need.event));
    }
    problems
}

/// The same command line is run once, however often it is registered; two that differ are both run. One for all projects
/// steps aside for that of the project.
fn twice(homes: &[&Found], event: Event) -> Option<String> {
    let own = homes.iter().filter(|file| file.place != Place::User);
    let lines: Vec<(&Path, &str)> = own
        .flat_map(|file| file.registered.iter().flatten().map(|one| (file.path.as_path(), one)))
        .filter(|(_, one)| one.event == event)
        .map(|(path, one)| (path, one.command.as_str()))
        .collect();
    let (path, first) = lines.first()?;
    let (other, second) = lines.iter().find(|(_, line)| line != first)?;
    Some(format!(
        "{} runs twice: as `{first}` in {} and as `{second}` in {}",
        event.name(),
        path.display(),
        other.display()
    ))
}

/// Whether a matcher calls us for all that another one names.
fn covers(has: Option<&str>, wants: Option<&str>) -> bool {
    let all = |matcher: Option<&str>| matcher.is_none_or(|text| matches!(text.trim(), "" | "*"));
    match (has, wants) {
        (has, _) if all(has) => true,
        (Some(has), Some(wants)) if !all(Some(wants)) => {
            let has: Vec<&str> = has.split(['|', ',']).map(str::trim).collect();
            wants.split('|').all(|name| has.contains(&name) || (name == "Agent" && has.contains(&"Task")))
        }
        _ => false,
    }
}

/// Whether the project itself has registered us for this event, so that the registration for all projects steps aside.
#[must_use]
pub fn project_has(project: &Path, event: Event) -> bool {
    let wanted = needed(&ConclaudeConfig::default(), "conclaude", Place::Project);
    let wanted = wanted.iter().find(|one| one.event == event);
    [Place::Project, Place::Local].into_iter().filter_map(|place| place.path(project)).any(|path| {
        let text = files::read_text(&path, MAX_BYTES).unwrap_or_default();
        let ours = settings::registered(&text, &[event]).unwrap_or_default();
        ours.iter()
            .any(|one| covers(one.matcher.as_deref(), wanted.and_then(|wanted| wanted.matcher.as_deref())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(yaml: &str) -> ConclaudeConfig {
        ConclaudeConfig::parse(yaml, Path::new("x")).unwrap()
    }

    fn one_file(registered: Vec<Registration>) -> Vec<Found> {
        vec![Found { place: Place::Local, path: "x".into(), registered: Ok(registered) }]
    }

    #[test]
    fn what_was_registered_for_a_config_fits_it() {
        for yaml in ["", "subagentStop: {commands: {a: [{run: x, timeout: 9}]}}", "des: {enabled: false}"] {
            for place in Place::ALL {
                let config = config(yaml);
                let found = one_file(needed(&config, "conclaude", place));
                assert_eq!(drift(&found, &config), Vec::<String>::new(), "{yaml} {place:?}");
            }
        }
    }

    #[test]
    fn a_config_that_grew_is_noticed() {
        let found = one_file(needed(&config("des: {enabled: false}"), "conclaude", Place::Local));
        let later = config("subagentStop: {commands: {a: [{run: x, timeout: 100}]}}");
        assert_eq!(
            drift(&found, &later),
            [
                "PreToolUse is not registered",
                "SubagentStop is given 60 s by the client, and what is configured may take 162 s"
            ]
        );
        assert_eq!(mend(&found), "conclaude install --local");
    }

    #[test]
    fn nothing_is_said_where_the_registration_is_not_ours_to_see() {
        assert_eq!(drift(&[], &config("")), Vec::<String>::new());
    }

    #[test]
    fn two_registrations_with_different_command_lines_run_twice() {
        let mut found = one_file(needed(&config(""), "conclaude", Place::Local));
        let other = needed(&config(""), "/opt/conclaude", Place::Project);
        found.push(Found { place: Place::Project, path: "y".into(), registered: Ok(other) });
        let problems = drift(&found, &config(""));
        assert_eq!(problems.len(), 8, "{problems:?}");
        assert_eq!(
            problems[0],
            "SessionStart runs twice: as `conclaude SessionStart` in x and as `/opt/conclaude SessionStart` in y"
        );
    }

    #[test]
    fn a_matcher_covers_what_it_names() {
        for (has, wants, is) in [
            (None, Some("Agent"), true),
            (Some("*"), Some("Agent"), true),
            (Some("Bash, Agent"), Some("Agent"), true),
            (Some("Task"), Some("Agent"), true),
            (Some("Write"), Some("Agent|Write"), false),
            (Some("Agent"), None, false),
            (Some("^Ag"), Some("Agent"), false),
        ] {
            assert_eq!(covers(has, wants), is, "{has:?} {wants:?}");
        }
    }

    #[test]
    fn events_that_notifications_name_are_registered_unless_that_changes_the_client() {
        let config =
            config("notifications: {enabled: true, hooks: [PreCompact, WorktreeCreate, PreToolUse]}");
        let needed = needed(&config, "conclaude", Place::Project);
        let events: Vec<&str> = needed.iter().map(|one| one.event.name()).collect();
        assert!(events.contains(&"PreCompact") && !events.contains(&"WorktreeCreate"), "{events:?}");
        let tool = needed.iter().find(|one| one.event == Event::PreToolUse).unwrap();
        assert_eq!(tool.matcher, None, "every tool");
        assert_eq!(not_registered(&config), [Event::WorktreeCreate]);
    }
}
