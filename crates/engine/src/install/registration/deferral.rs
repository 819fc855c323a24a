//! Whether the user's own registration defers to a project's. It does so only if Claude Code really calls the project's: a clone
//! must not be able to switch the user's rules off with a registration that only looks right.

use std::path::Path;

use super::current::{program_of, read};
use crate::install::scope::{Scope, is_users_own};
use crate::install::settings::{CommandLine, Registration, Settings};
use conclaude_core::dialect::claude::matcher;
use conclaude_core::event::EventKind;
use conclaude_store::store::Session;

/// An event, as far as registrations are concerned.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredCall<'a> {
    pub project: &'a Path,
    pub event: EventKind,
    /// What a matcher is compared with, such as the tool.
    pub subject: Option<&'a str>,
    pub session_id: Option<&'a str>,
}

/// Whether Claude Code calls the project's own registration for this event.
pub fn is_handled_by_project(call: RegisteredCall<'_>) -> bool {
    let own = [Scope::Project, Scope::Local].into_iter().filter_map(|scope| scope.path(call.project));
    own.filter(|path| !is_users_own(path))
        .filter_map(|path| read(&path).ok())
        .any(|file| calls_us(&file, call))
}

fn calls_us(file: &Settings, call: RegisteredCall<'_>) -> bool {
    let is_dead = file.dead.iter().any(|entry| entry.event == call.event.name());
    file.ignored.is_none()
        && !file.hooks_off
        && !is_dead
        && file.registered.iter().any(|one| one.event == call.event && works(one, call))
        && (!file.has_unknown_settings || is_proved(call))
}

/// If a setting that we do not know is wrong, Claude Code ignores the file. That it does not is proved by the session's start,
/// which the project's registration handles as well.
fn is_proved(call: RegisteredCall<'_>) -> bool {
    call.event == EventKind::SessionStart
        || call.session_id.is_some_and(|id| Session::new(call.project, id).was_started_by_project())
}

/// Whether an entry calls us. One with `--if-trusted` is the user's own, wherever it is: two that deferred to each other would both
/// do nothing.
fn works(one: &Registration, call: RegisteredCall<'_>) -> bool {
    CommandLine::parse(&one.command).is_some_and(|line| !line.if_trusted)
        && one.flaw.is_none()
        && matcher::calls(one.matcher.as_deref(), call.subject)
        && is_outside(&one.command, call.project)
}

/// A program inside the project is the project's, whatever its name is.
fn is_outside(command: &str, project: &Path) -> bool {
    let program = program_of(command).filter(|program| program.is_absolute());
    let program = program.and_then(|program| program.canonicalize().ok());
    program.zip(project.canonicalize().ok()).is_some_and(|(program, project)| !program.starts_with(project))
}
