//! What must be registered with the client for a config, where it may stand, and whether the two still fit together.

use std::path::{Path, PathBuf};

use crate::agents::AgentFile;
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

/// What must be registered. For all projects it is the same whatever the project: none has a say in what another gets.
#[must_use]
pub fn needed(config: &ConclaudeConfig, program: &str, place: Place) -> Vec<Registration> {
    let default = ConclaudeConfig::default();
    let config = if place == Place::User { &default } else { config };
    let gates_on = config.des.as_ref().is_none_or(DesConfig::is_enabled);
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
            flaw: None,
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

/// What the client is asked to give where there is no limit, or none is known.
pub const UNLIMITED: u64 = 3_600;

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
    /// Command lines that call us too, but are not ours to change.
    pub lookalikes: Vec<String>,
    /// The file switches all hooks off.
    pub hooks_off: bool,
}

/// What is registered in all places that exist.
#[must_use]
pub fn found(project: &Path) -> Vec<Found> {
    let exists = |place: Place| {
        let path = place.path(project).filter(|path| path.symlink_metadata().is_ok())?;
        // In one's home both are the same file, and it is the user's.
        (place == Place::User || !is_users_own(&path)).then_some((place, path))
    };
    Place::ALL
        .into_iter()
        .filter_map(exists)
        .map(|(place, path)| {
            let text = files::read_text(&path, MAX_BYTES).map_err(|error| Refusal(error.to_string()));
            let text = text.map(|text| if text.trim().is_empty() { "{}".to_owned() } else { text });
            let registered = text.clone().and_then(|text| settings::registered(&text, all_events()));
            let text = text.unwrap_or_default();
            let lookalikes = settings::lookalikes(&text).unwrap_or_default();
            Found { place, path, registered, lookalikes, hooks_off: settings::switches_hooks_off(&text) }
        })
        .collect()
}

/// Whether a file is the user's own settings, which count in all projects, whatever else it is called.
#[must_use]
pub fn is_users_own(path: &Path) -> bool {
    let real = |path: &Path| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        folder.zip(path.file_name()).map(|(folder, name)| folder.join(name))
    };
    let own = Place::User.path(Path::new("/"));
    own.is_some_and(|own| own == path || (real(&own).is_some() && real(&own) == real(path)))
}

/// Where conclaude is registered at all.
#[must_use]
pub fn homes(found: &[Found]) -> Vec<&Found> {
    found.iter().filter(|file| file.registered.as_ref().is_ok_and(|ours| !ours.is_empty())).collect()
}

/// What does not fit together, and the command that mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub mend: String,
}

/// How far the registrations do not fit the config any more. Nothing where none is found: then the client has them from
/// elsewhere, such as a plugin.
#[must_use]
pub fn drift(found: &[Found], agents: &[AgentFile], config: &ConclaudeConfig) -> Vec<Problem> {
    let homes = homes(found);
    if homes.is_empty() {
        return Vec::new();
    }
    let needed = needed(config, "conclaude", Place::Project);
    let of_settings = needed.iter().flat_map(|need| {
        let here = effective(&homes, need);
        let wrong = wrong(need, &here).map(|what| Problem { what, mend: mend(need, &here, &homes) });
        wrong.into_iter().chain(twice(&homes, need.event))
    });
    let of_agents = agents.iter().flat_map(|agent| drift_of(agent, &homes, config));
    of_settings.chain(of_agents).collect()
}

/// The registrations that the client acts on: one for all projects steps aside for that of the project.
fn effective<'a>(homes: &[&'a Found], need: &Registration) -> Vec<(Place, &'a Registration)> {
    let all = homes.iter().flat_map(|file| file.registered.iter().flatten().map(|one| (file.place, one)));
    let here: Vec<(Place, &Registration)> = all.filter(|(_, one)| one.event == need.event).collect();
    let is_own = |(place, one): &&(Place, &Registration)| *place != Place::User && stands_for(one, need);
    let own: Vec<(Place, &Registration)> = here.iter().filter(is_own).copied().collect();
    if own.is_empty() { here } else { own }
}

/// What is wrong with what is registered for an event.
fn wrong(need: &Registration, here: &[(Place, &Registration)]) -> Option<String> {
    let name = need.event.name();
    let Some((_, first)) = here.first() else { return Some(format!("{name} is not registered")) };
    let flaw = here.iter().find_map(|(_, one)| one.flaw);
    if let Some(flaw) = flaw {
        return Some(format!("the registration of {name} does not work: {flaw}"));
    }
    if !here.iter().any(|(_, one)| covers(one.matcher.as_deref(), need.matcher.as_deref())) {
        let has = first.matcher.as_deref().unwrap_or_default();
        let wants = need.matcher.as_deref().unwrap_or("all");
        return Some(format!("{name} is registered for {has:?}, and needed for {wants:?}"));
    }
    let longest = here.iter().map(|(_, one)| one.timeout).max().filter(|has| *has < need.timeout)?;
    Some(format!(
        "{name} is given {longest} s by the client, and what is configured may take {} s",
        need.timeout
    ))
}

/// The command that mends it: installing again where it stands, if that is enough.
fn mend(need: &Registration, here: &[(Place, &Registration)], homes: &[&Found]) -> String {
    let place = here.first().map(|(place, _)| *place).or_else(|| homes.first().map(|file| file.place));
    let of_user = needed(&ConclaudeConfig::default(), "conclaude", Place::User);
    let user_is_enough =
        of_user.iter().any(|one| one.event == need.event && wrong(need, &[(Place::User, one)]).is_none());
    let place = match place {
        Some(Place::User) if !user_is_enough => Place::Local,
        Some(place) => place,
        None => Place::Project,
    };
    format!("conclaude install {}", place.flag())
}

/// What does not fit in an agent's own file.
fn drift_of(agent: &AgentFile, homes: &[&Found], config: &ConclaudeConfig) -> Vec<Problem> {
    let mend = "conclaude install --agents".to_owned();
    let name = &agent.name;
    let mut problems = Vec::new();
    for own in agent.registered.iter().flatten() {
        let need = if own.event == Event::SubagentStop { at_stop(config, Some(name)) } else { 0 };
        if own.timeout < need {
            let has = own.timeout;
            let what =
                format!("{name}'s own file gives its stop {has} s, and what is configured may take {need} s");
            problems.push(Problem { what, mend: mend.clone() });
        }
        let lines: Vec<&str> = homes
            .iter()
            .flat_map(|file| file.registered.iter().flatten())
            .filter(|one| one.event == own.event)
            .map(|one| one.command.as_str())
            .collect();
        if let Some(other) = lines.first().filter(|_| !lines.contains(&own.command.as_str())) {
            let (event, line) = (own.event.name(), &own.command);
            let what = format!("{event} of {name} runs twice: as `{line}` in its own file and as `{other}`");
            problems.push(Problem { what, mend: mend.clone() });
        }
    }
    problems
}

/// The same command line is run once, however often it is registered; two that differ are both run.
fn twice(homes: &[&Found], event: Event) -> Option<Problem> {
    let own = homes.iter().filter(|file| file.place != Place::User);
    let lines: Vec<(&Found, &str)> = own
        .flat_map(|file| file.registered.iter().flatten().map(move |one| (*file, one)))
        .filter(|(_, one)| one.event == event)
        .map(|(file, one)| (file, one.command.as_str()))
        .collect();
    let (file, first) = lines.first()?;
    let (other, second) = lines.iter().find(|(_, line)| line != first)?;
    let what = format!(
        "{} runs twice: as `{first}` in {} and as `{second}` in {}",
        event.name(),
        file.path.display(),
        other.path.display()
    );
    // Installing again leaves one in each file.
    let mend = if file.place == other.place {
        format!("conclaude install {}", file.place.flag())
    } else {
        format!("conclaude uninstall {}", other.place.flag())
    };
    Some(Problem { what, mend })
}

/// Whether a registration of a project does what is needed, so that the user's own steps aside.
fn stands_for(one: &Registration, need: &Registration) -> bool {
    covers(one.matcher.as_deref(), need.matcher.as_deref())
        && one.flaw.is_none()
        && program_of(&one.command).is_some()
}

/// The program that a command line of ours starts, as the shell would find it. None if there is none.
#[must_use]
pub fn program_of(command: &str) -> Option<PathBuf> {
    let command = command.trim();
    let command = command.strip_suffix(IF_TRUSTED).unwrap_or(command).trim_end();
    let (program, _) = command.rsplit_once(' ')?;
    let program = settings::word(program.trim())?;
    if program.contains('/') {
        Some(PathBuf::from(program)).filter(|path| files::is_program(path))
    } else {
        on_path(program)
    }
}

/// The program of that name that the shell finds.
#[must_use]
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| files::is_program(path))
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
    let needed = needed(&ConclaudeConfig::default(), "conclaude", Place::Project);
    let Some(need) = needed.into_iter().find(|one| one.event == event) else { return false };
    let own = [Place::Project, Place::Local].into_iter().filter_map(|place| place.path(project));
    own.filter(|path| !is_users_own(path)).any(|path| {
        let text = files::read_text(&path, MAX_BYTES).unwrap_or_default();
        let ours = settings::registered(&text, &[event]).unwrap_or_default();
        ours.iter().any(|one| stands_for(one, &need))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(yaml: &str) -> ConclaudeConfig {
        ConclaudeConfig::parse(yaml, Path::new("x")).unwrap()
    }

    fn file(place: Place, path: &str, registered: Vec<Registration>) -> Found {
        Found {
            place,
            path: path.into(),
            registered: Ok(registered),
            lookalikes: Vec::new(),
            hooks_off: false,
        }
    }

    fn one_file(registered: Vec<Registration>) -> Vec<Found> {
        vec![file(Place::Local, "x", registered)]
    }

    /// A program that exists, so that what is registered starts something.
    const PROGRAM: &str = "/bin/sh";

    fn lines(problems: Vec<Problem>) -> Vec<String> {
        problems.into_iter().map(|problem| format!("{} → {}", problem.what, problem.mend)).collect()
    }

    #[test]
    fn what_was_registered_for_a_config_fits_it() {
        for yaml in ["", "subagentStop: {commands: {a: [{run: x, timeout: 9}]}}", "des: {enabled: false}"] {
            for place in Place::ALL {
                let config = config(yaml);
                let found = one_file(needed(&config, "conclaude", place));
                assert_eq!(drift(&found, &[], &config), [], "{yaml} {place:?}");
            }
        }
    }

    #[test]
    fn a_config_that_grew_is_noticed() {
        let found = one_file(needed(&config("des: {enabled: false}"), "conclaude", Place::Local));
        let later = config("subagentStop: {commands: {a: [{run: x, timeout: 100}]}}");
        assert_eq!(
            lines(drift(&found, &[], &later)),
            [
                "PreToolUse is not registered → conclaude install --local",
                "SubagentStop is given 60 s by the client, and what is configured may take 162 s → conclaude install --local"
            ]
        );
    }

    #[test]
    fn what_all_projects_get_depends_on_none_of_them() {
        let large = config(
            "subagentStop: {commands: {a: [{run: x, timeout: 3600}, {run: x, timeout: 3600}]}}\nnotifications: {enabled: true, hooks: [MessageDisplay]}",
        );
        assert_eq!(needed(&large, "conclaude", Place::User), needed(&config(""), "conclaude", Place::User));
        let found = vec![file(Place::User, "u", needed(&config(""), "conclaude", Place::User))];
        assert_eq!(
            lines(drift(&found, &[], &large)),
            [
                "SubagentStop is given 3600 s by the client, and what is configured may take 7264 s → conclaude install --local",
                "MessageDisplay is not registered → conclaude install --local",
            ]
        );
        let partial = needed(&config(""), "conclaude", Place::User).into_iter().skip(1).collect();
        assert_eq!(
            lines(drift(&[file(Place::User, "u", partial)], &[], &config(""))),
            ["SessionStart is not registered → conclaude install --user"]
        );
    }

    #[test]
    fn a_registration_for_all_projects_does_not_hide_that_the_projects_own_is_too_short() {
        let small = config("subagentStop: {commands: {a: [{run: x, timeout: 10}]}}");
        let large = config("subagentStop: {commands: {a: [{run: x, timeout: 1000}]}}");
        let found = vec![
            file(Place::Project, "p", needed(&small, PROGRAM, Place::Project)),
            file(Place::User, "u", needed(&small, PROGRAM, Place::User)),
        ];
        assert_eq!(drift(&found, &[], &small), []);
        assert_eq!(
            lines(drift(&found, &[], &large)),
            [
                "SubagentStop is given 72 s by the client, and what is configured may take 1062 s → conclaude install --project"
            ]
        );
    }

    #[test]
    fn an_agents_own_file_must_fit_too() {
        let agent = |program: &str, timeout| AgentFile {
            path: "coder.md".into(),
            name: "coder".into(),
            registered: Ok(vec![Registration {
                event: Event::SubagentStop,
                matcher: None,
                command: format!("{program} SubagentStop"),
                timeout,
                flaw: None,
            }]),
        };
        let config = config("subagentStop: {commands: {coder: [{run: x, timeout: 10}]}}");
        let found = one_file(needed(&config, "conclaude", Place::Local));
        assert_eq!(drift(&found, &[agent("conclaude", 72)], &config), []);
        assert_eq!(
            lines(drift(&found, &[agent("/opt/conclaude", 60)], &config)),
            [
                "coder's own file gives its stop 60 s, and what is configured may take 72 s → conclaude install --agents",
                "SubagentStop of coder runs twice: as `/opt/conclaude SubagentStop` in its own file and as `conclaude SubagentStop` → conclaude install --agents",
            ]
        );
    }

    #[test]
    fn nothing_is_said_where_the_registration_is_not_ours_to_see() {
        assert_eq!(drift(&[], &[], &config("")), []);
    }

    #[test]
    fn two_registrations_with_different_command_lines_run_twice() {
        let mut found = one_file(needed(&config(""), "conclaude", Place::Local));
        found.push(file(Place::Project, "y", needed(&config(""), "/opt/conclaude", Place::Project)));
        let problems = lines(drift(&found, &[], &config("")));
        assert_eq!(problems.len(), 8, "{problems:?}");
        assert_eq!(
            problems[0],
            "SessionStart runs twice: as `conclaude SessionStart` in x and as `/opt/conclaude SessionStart` in y → conclaude uninstall --project"
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
