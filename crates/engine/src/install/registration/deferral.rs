//! Whether a registration defers to another one. It does so only if the client really calls the other: a clone must not switch
//! off the user's rules with a registration that only looks valid.

use std::path::Path;

use super::current::{program_in, read};
use crate::install::native;
use crate::install::scope::{Scope, SettingsTarget};
use crate::install::settings::{CommandLine, Registration, Settings};
use conclaude_core::config::Patterns;
use conclaude_core::dialect::Dialect;
use conclaude_core::dialect::claude::{self, matcher};
use conclaude_core::event::EventKind;
use conclaude_os::environment::home;
use conclaude_store::load;
use conclaude_store::root::Root;
use conclaude_store::store::Session;

/// An event, as registrations see it.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredCall<'a> {
    pub client: &'static Dialect,
    pub project: &'a Path,
    /// By the client's name for it.
    pub event: EventKind,
    /// The value that a matcher is compared with, such as the tool.
    pub subject: Option<&'a str>,
    pub session_id: Option<&'a str>,
}

/// Which registrations of a settings file handle the event.
#[derive(Clone, Copy)]
struct Condition {
    /// Whether one with a trust check counts. Such a one is the user's own.
    if_trusted: bool,
    /// Whether it may run a program from the packages of the project.
    of_packages: fn(&Path) -> bool,
}

/// Whether the client calls the project's own registration for this event. One with `--if-trusted` is the user's own, wherever it
/// is: two registrations that deferred to each other would both do nothing.
pub fn is_handled_by_project(call: RegisteredCall<'_>) -> bool {
    // A user who trusts a project also trusts the program in its packages.
    let condition = Condition { if_trusted: false, of_packages: is_trusted };
    let in_project = |scope| is_handled_in(SettingsTarget { client: call.client, scope }, call, condition);
    [Scope::Project, Scope::Local].into_iter().any(in_project)
}

/// Whether the client calls a registration of any settings for this event. Then the plugin does nothing.
pub fn is_handled_by_settings(call: RegisteredCall<'_>) -> bool {
    let condition = Condition { if_trusted: true, of_packages: |_| true };
    let is_handled = |scope| is_handled_in(SettingsTarget { client: call.client, scope }, call, condition);
    Scope::ALL.into_iter().any(is_handled)
}

/// Whether a client that runs Claude Code's hooks of a project too also calls a registration of its own for this event.
pub fn is_handled_by_client(call: RegisteredCall<'_>) -> bool {
    let client = call.client;
    let is_handled = |scope| {
        let condition = Condition { if_trusted: scope == Scope::User, of_packages: |_| true };
        is_handled_in(SettingsTarget { client, scope }, call, condition)
    };
    client.settings.runs_claudes && Scope::ALL.into_iter().any(is_handled)
}

fn is_trusted(project: &Path) -> bool {
    let root = Root::find(Some(project), project);
    let loaded = load::of_project(&root, Patterns::Of(EventKind::SessionStart));
    let mut sources = loaded.origins.sources().iter();
    loaded.errors.is_empty() && sources.all(|source| load::why_untrusted(source).is_none())
}

fn is_handled_in(target: SettingsTarget, call: RegisteredCall<'_>, condition: Condition) -> bool {
    let Ok(path) = target.path(call.project) else { return false };
    let is_of_user = target.scope == Scope::User;
    if !is_of_user && target.is_users_own(&path) {
        return false;
    }
    read(target.client, &path).is_ok_and(|file| {
        calls_us(&file, call, condition) && (is_of_user || !file.has_unknown_settings || is_proved(call))
    })
}

fn calls_us(file: &Settings, call: RegisteredCall<'_>, condition: Condition) -> bool {
    let is_dead = file.dead.iter().any(|entry| entry.event == call.event.name());
    let is_called = |one: &Registration| one.name == call.event.name() && works(one, call, condition);
    file.ignored.is_none() && !file.hooks_off && !is_dead && file.registered.iter().any(is_called)
}

/// If a setting that we do not know is wrong, Claude Code ignores the file. The session's start proves that it does not: the
/// project's registration handles that as well.
fn is_proved(call: RegisteredCall<'_>) -> bool {
    call.event == EventKind::SessionStart
        || call.session_id.is_some_and(|id| Session::new(call.project, id).was_started_by_project())
}

/// Whether an entry calls us, for this client.
fn works(one: &Registration, call: RegisteredCall<'_>, condition: Condition) -> bool {
    let Some(line) = CommandLine::parse(&one.command) else { return false };
    let is_of_packages = || {
        line.search.is_some_and(|search| native::found_in_packages(search, call.project).is_some())
            && (condition.of_packages)(call.project)
    };
    line.client.unwrap_or(claude::DIALECT.name) == call.client.name
        && (condition.if_trusted || !line.if_trusted)
        && one.flaw.is_none()
        && matches(one.matcher.as_deref(), call)
        && (is_outside(&one.command, call.project) || is_of_packages())
}

/// Whether a matcher applies to the call. If a client compares its own name of a tool as well, and has several, the matcher must
/// apply to all of them: the payload does not say which one it is.
fn matches(wanted: Option<&str>, call: RegisteredCall<'_>) -> bool {
    let is_about = |name: &str| matcher::calls(wanted, Some(name));
    let tool =
        call.client.tools.iter().find(|tool| call.subject.is_some_and(|name| tool.names.contains(&name)));
    matcher::calls(wanted, call.subject)
        || tool.is_some_and(|tool| {
            let mut others = tool.names.iter().filter(|name| Some(**name) != call.subject).peekable();
            others.peek().is_some() && others.all(|name| is_about(name))
        })
}

/// A program inside the project or its repository is the project's, whatever its name is, and wherever a link there leads.
fn is_outside(command: &str, project: &Path) -> bool {
    const MAX_LINKS: usize = 40;
    let is_top = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    let is_home = |folder: &Path| home().is_some_and(|home| home == folder);
    let top = project.ancestors().find(is_top).filter(|top| !is_home(top)).unwrap_or(project);
    let program = program_in(project, command).filter(|program| program.is_absolute());
    let (Some(mut program), Ok(top)) = (program, top.canonicalize()) else { return false };
    for _ in 0..MAX_LINKS {
        let Some((Ok(folder), name)) = program.parent().map(Path::canonicalize).zip(program.file_name())
        else {
            return false;
        };
        if folder.starts_with(&top) {
            return false;
        }
        match folder.join(name).read_link() {
            Ok(target) => program = folder.join(target),
            Err(_) => return true,
        }
    }
    false
}
