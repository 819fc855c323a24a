//! Whether the registrations are what the config needs.

use std::cell::LazyCell;
use std::path::Path;

use super::current::{ScopeSettings, covers, locations, satisfies};
use super::requirements::needed;
use crate::install::scope::{Scope, SettingsTarget};
use crate::install::settings::{self, CommandLine, IF_TRUSTED, Registration};
use conclaude_core::config::ConclaudeConfig;
use conclaude_core::dialect::claude::file_matcher;
use conclaude_core::event::{EventKind, Subject};

/// Something that is out of sync, and the command that fixes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    pub fix: String,
}

/// How the registrations differ from the config, whose parts belong to the settings of a scope. Empty if there is no
/// registration: then Claude Code has it from elsewhere, such as a plugin.
pub fn out_of_sync(
    found: &[ScopeSettings],
    config: &ConclaudeConfig,
    part: impl Fn(Scope) -> ConclaudeConfig,
) -> Vec<Problem> {
    let locations = locations(found);
    if locations.is_empty() {
        return Vec::new();
    }
    let of_user =
        LazyCell::new(|| needed(&part(Scope::User), "conclaude", SettingsTarget::claude(Scope::User)));
    let of_project =
        LazyCell::new(|| needed(&part(Scope::Project), "conclaude", SettingsTarget::claude(Scope::Project)));
    let needed = needed(config, "conclaude", SettingsTarget::claude(Scope::Project));
    let of_events = needed.iter().flat_map(|need| {
        let here = effective(&locations, need);
        let wrong = wrong(need, &here).map(|what| {
            let of_event = |one: &&Registration| one.event == need.event;
            let parts = NeedsByOwner {
                of_user: of_user.iter().find(of_event),
                of_project: of_project.iter().find(of_event),
            };
            Problem { what, fix: fix(need, &here, &locations, &parts) }
        });
        wrong.into_iter().chain(registered_twice(&locations, need.event))
    });
    locations.iter().filter_map(|file| of_file(file)).chain(of_events).collect()
}

/// The differences between the needed registrations and those with a client other than Claude Code.
pub fn differences(needed: &[Registration], registered: &[&Registration]) -> Vec<String> {
    let difference = |need: &Registration| {
        let name = &need.name;
        let here: Vec<&&Registration> = registered.iter().filter(|one| one.name == *name).collect();
        let Some(first) = here.first() else { return Some(format!("{name} is not registered")) };
        let matchers: Vec<Option<&str>> = here.iter().map(|one| one.matcher.as_deref()).collect();
        if !covers(&matchers, need.matcher.as_deref()) {
            let has = first.matcher.as_deref().unwrap_or_default();
            let wants = need.matcher.as_deref().unwrap_or("all");
            return Some(format!("{name} is registered for {has:?}, but needed for {wants:?}"));
        }
        let other = here.iter().map(|one| one.timeout).find(|timeout| *timeout != need.timeout)?;
        Some(format!("{name} has the timeout {other}, but {} should be registered", need.timeout))
    };
    let mut found: Vec<String> = needed.iter().filter_map(difference).collect();
    let is_unneeded = |one: &&&Registration| !needed.iter().any(|need| need.name == one.name);
    let mut unneeded: Vec<&str> =
        registered.iter().filter(is_unneeded).map(|one| one.name.as_str()).collect();
    unneeded.dedup();
    found.extend(unneeded.into_iter().map(|name| format!("{name} is registered without need")));
    found
}

/// The commands that fix these problems, each once.
pub fn fixes(problems: &[Problem]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for problem in problems {
        if !found.contains(&problem.fix.as_str()) {
            found.push(&problem.fix);
        }
    }
    found
}

/// Problems of a file's registrations in general: reported once, not for each event.
fn of_file(file: &ScopeSettings) -> Option<Problem> {
    let path = file.path.display();
    let asks = |one: &Registration| CommandLine::parse(&one.command).is_some_and(|line| line.if_trusted);
    let what = if file.scope != Scope::User && file.registered().iter().any(asks) {
        format!(
            "{path} registers conclaude with {IF_TRUSTED}, which is for your own settings: without `conclaude trust`, nothing in the config runs"
        )
    } else if file.registered().iter().any(is_outdated) {
        format!(
            "{path} registers conclaude as an earlier version did: if the program is missing, each event is an error"
        )
    } else {
        return None;
    };
    Some(Problem { what, fix: format!("conclaude install {}", file.scope.flag()) })
}

/// Whether an earlier version has registered it.
fn is_outdated(one: &Registration) -> bool {
    CommandLine::parse(&one.command)
        .is_some_and(|line| line.is_original || !cfg!(windows) && !line.is_guarded)
}

/// The registrations that Claude Code uses: one for all projects defers to that of the project.
fn effective<'a>(locations: &[&'a ScopeSettings], need: &Registration) -> Vec<(Scope, &'a Registration)> {
    let all = locations.iter().flat_map(|file| file.registered().iter().map(|one| (file.scope, one)));
    let here: Vec<(Scope, &Registration)> = all.filter(|(_, one)| one.event == need.event).collect();
    let project = |scope| {
        locations.iter().find(|file| file.scope == scope).map_or(Path::new(""), |file| file.project())
    };
    let is_own = |(scope, one): &&(Scope, &Registration)| {
        *scope != Scope::User && satisfies(one, need.matcher.as_deref(), project(*scope))
    };
    let own: Vec<(Scope, &Registration)> = here.iter().filter(is_own).copied().collect();
    if own.is_empty() { here } else { own }
}

/// The problems of an event's registrations.
fn wrong(need: &Registration, here: &[(Scope, &Registration)]) -> Option<String> {
    let name = need.event.name();
    let Some((_, first)) = here.first() else { return Some(format!("{name} is not registered")) };
    if let Some(flaw) = here.iter().find_map(|(_, one)| one.flaw) {
        return Some(format!("the registration of {name} does not work: {flaw}"));
    }
    let matchers: Vec<Option<&str>> =
        here.iter().map(|(_, one)| one.matcher.as_deref()).filter(|one| is_alive(need.event, *one)).collect();
    if !covers(&matchers, need.matcher.as_deref()) {
        let has = first.matcher.as_deref().unwrap_or_default();
        let wants = need.matcher.as_deref().unwrap_or("all");
        return Some(format!("{name} is registered for {has:?}, but needed for {wants:?}"));
    }
    // The limits were different then. The file reports that everything is outdated.
    if here.iter().any(|(_, one)| is_outdated(one)) {
        return None;
    }
    let limit = here.iter().map(|(_, one)| one.timeout).max().filter(|limit| *limit < need.timeout)?;
    Some(format!("Claude Code gives {name} {limit} s, but {} s should be registered", need.timeout))
}

/// Whether Claude Code uses a matcher. A matcher for watched files may be of an earlier version.
fn is_alive(event: EventKind, matcher: Option<&str>) -> bool {
    !matches!(event.row().subject, Subject::File(_)) || matcher.is_none_or(file_matcher::is_sound)
}

/// What the parts of a config need at an event.
struct NeedsByOwner<'a> {
    of_user: Option<&'a Registration>,
    of_project: Option<&'a Registration>,
}

/// The command that fixes it: installing again in the same file, if that is enough. Needs of the user's own config belong in the
/// user's own settings, and private needs in settings that are not shared.
fn fix(
    need: &Registration,
    here: &[(Scope, &Registration)],
    locations: &[&ScopeSettings],
    parts: &NeedsByOwner<'_>,
) -> String {
    let own = || here.iter().filter(|(scope, _)| *scope != Scope::User).copied();
    let with_user: Vec<_> = own().chain(parts.of_user.map(|one| (Scope::User, one))).collect();
    let user_is_enough = wrong(need, &with_user).is_none();
    let lacks = |file: &&ScopeSettings| {
        let own = file.registered().iter().filter(|one| one.event == need.event);
        let own: Vec<_> = own.map(|one| (file.scope, one)).collect();
        file.scope == Scope::User && parts.of_user.is_some_and(|of_user| wrong(of_user, &own).is_some())
    };
    let shared: Vec<_> = own().collect();
    let is_shared_enough = || parts.of_project.is_none_or(|part| wrong(part, &shared).is_none());
    let first = here.first().map(|(scope, _)| *scope).or_else(|| locations.first().map(|file| file.scope));
    let scope = match first.unwrap_or(Scope::Project) {
        _ if locations.iter().any(lacks) && user_is_enough => Scope::User,
        Scope::Project if is_shared_enough() && user_is_enough => Scope::User,
        Scope::Project if is_shared_enough() => Scope::Local,
        Scope::User => Scope::Local,
        first => first,
    };
    format!("conclaude install {}", scope.flag())
}

/// A command line runs once, even if it is registered several times. Two different ones both run.
fn registered_twice(locations: &[&ScopeSettings], event: EventKind) -> Option<Problem> {
    let own = locations.iter().filter(|file| file.scope != Scope::User);
    let lines: Vec<(&ScopeSettings, &str)> = own
        .flat_map(|file| file.registered().iter().map(move |one| (*file, one)))
        .filter(|(_, one)| one.event == event)
        .map(|(file, one)| (file, one.command.as_str()))
        .collect();
    let (file, first) = lines.first()?;
    let (other, second) = lines.iter().find(|(_, line)| line != first)?;
    let (first, second) = match (settings::short(first), settings::short(second)) {
        (one, other) if one == other => ((*first).into(), (*second).into()),
        calls => calls,
    };
    let what = format!(
        "{} runs twice: as `{first}` in {} and as `{second}` in {}",
        event.name(),
        file.path.display(),
        other.path.display()
    );
    // Installing again leaves one in each file.
    let fix = if file.scope == other.scope {
        format!("conclaude install {}", file.scope.flag())
    } else {
        format!("conclaude uninstall {}", other.scope.flag())
    };
    Some(Problem { what, fix })
}
