//! What is registered, and whether it still fits what is needed.

use std::path::{Path, PathBuf};

use super::{IF_TRUSTED, MAX_BYTES, Place, at_stop, needed};
use crate::config::ConclaudeConfig;
use crate::event::{self, Event};
use crate::files;
use crate::install::agents::AgentFile;
use crate::install::settings::{self, Refusal, Registration};

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
            let registered = text.clone().and_then(|text| settings::registered(&text, event::ALL));
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
pub(super) fn covers(has: Option<&str>, wants: Option<&str>) -> bool {
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
