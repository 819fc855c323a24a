//! A complete call: the environment, the payload on stdin, its handling, and the answer.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::{HandledCall, handle_read, handle_stdin, panics, stdio, switch};
use crate::install::registration::{self, RegisteredCall};
use conclaude_core::decide::HookResult;
use conclaude_core::dialect::claude::variables::PROJECT_DIR;
use conclaude_core::dialect::claude::{self, CallFields};
use conclaude_core::dialect::{self, Answer, Dialect, FieldAlias, HookCall, LogLines, ProjectFolder, Reply};
use conclaude_core::error::{InputError, Result};
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_core::text::clean_line;
use conclaude_core::types::Event;
use conclaude_os::environment::Variables;
use conclaude_os::log;
use conclaude_store::store::outbox;

/// The inputs of a call from its process. They are explicit, so that a call can be simulated without a process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `CLAUDE_PROJECT_DIR`.
    pub project_dir: Option<PathBuf>,
    pub variables: Variables,
    /// Commands and the judge run only if the user trusts the config.
    pub only_if_trusted: bool,
    /// Only the project's own config counts, not the user's and the local one.
    pub only_project: bool,
    /// Nothing is written: the event is only inspected.
    pub is_rehearsal: bool,
    /// The event did not happen. So no transcript has its agent's prompt, and that is not reported.
    pub is_sample: bool,
    /// A rehearsal records the comparison with each rule.
    pub explains: bool,
    /// The files that count as changed, if they are given.
    pub changed: Option<Vec<String>>,
}

impl Environment {
    #[must_use]
    pub fn of_process() -> Self {
        let variables = Variables::of_process();
        let project_dir = variables.path(PROJECT_DIR).map(Path::to_owned);
        Environment { project_dir, variables, ..Environment::default() }
    }

    /// Like `of_process`, for a call of this client.
    pub(super) fn of_client(&self, client: &Dialect, call: &HookCall) -> Cow<'_, Environment> {
        match client.project {
            ProjectFolder::Variable => Cow::Borrowed(self),
            ProjectFolder::Process => {
                let project_dir = call.directory.as_ref().map(PathBuf::from);
                Cow::Owned(Environment { project_dir, ..self.clone() })
            }
        }
    }
}

/// A call of an event by the client in the registration. Without one, the payload decides.
#[must_use]
pub fn of(client: Option<&str>, event: EventKind) -> HookCall {
    let known = client.and_then(dialect::named);
    let warning = match (client, known) {
        (Some(name), None) => Some(format!(
            "`--client {}` is not one of {}: the payload decides",
            clean_line(name),
            dialect::names().join(", ")
        )),
        _ => None,
    };
    let directory = std::env::current_dir().ok().map(|folder| folder.to_string_lossy().into_owned());
    HookCall { client: known, event, directory, warning }
}

/// `conclaude <Event>`: handles the payload on stdin and writes the answer.
#[must_use]
pub fn call(call: &HookCall) -> Exit {
    let environment = Environment::of_process();
    answer(call, || match switch::off(&environment.variables) {
        Some(value) => HandledCall::unread(call, Ok(switch::answer(call.event, value))),
        None => handle_stdin(call, &environment),
    })
}

/// `conclaude <Event> --if-trusted`, which is registered for all projects of a user. It defers to the project's own registration,
/// and runs nothing of an untrusted project.
#[must_use]
pub fn call_if_trusted(call: &HookCall) -> Exit {
    call_unless(call, registration::is_handled_by_project)
}

/// `conclaude <Event> --plugin`, which Claude Code's plugin calls. It defers to a registration in any settings, and runs nothing
/// of an untrusted project.
#[must_use]
pub fn call_of_plugin(call: &HookCall) -> Exit {
    call_unless(call, registration::is_handled_by_settings)
}

fn call_unless(call: &HookCall, is_handled: fn(RegisteredCall<'_>) -> bool) -> Exit {
    answer(call, || {
        let environment = Environment { only_if_trusted: true, ..Environment::of_process() };
        let off = switch::off(&environment.variables);
        let payload = if off.is_none() { stdio::payload(call.event) } else { Ok(Vec::new()) };
        match off {
            _ if is_left(call, &payload, &environment, is_handled) => {
                HandledCall::unread(call, Ok(HookResult::success()))
            }
            Some(value) => HandledCall::unread(call, Ok(switch::answer(call.event, value))),
            None => handle_read(call, payload, &environment),
        }
    })
}

/// `conclaude Hooks <Event>`, the registration of conclaude 0.2. In the file of an agent, Claude Code delivers `Stop` as
/// SubagentStop. An event that the project's settings register as well is handled once.
#[must_use]
pub fn call_as_original(event: EventKind, names_agent: bool) -> Exit {
    let environment = Environment::of_process();
    if switch::off(&environment.variables).is_some() {
        return call(&HookCall::of(event));
    }
    let payload = stdio::payload(event);
    let delivered = payload.as_deref().map_or(event, |input| claude::delivered(event, input));
    let call = &HookCall::of(delivered);
    answer(call, || {
        let is_of_agent = names_agent || delivered != event;
        let is_handled = registration::is_handled_by_project;
        if is_of_agent && is_left(call, &payload, &environment, is_handled) {
            return HandledCall::unread(call, Ok(HookResult::success()));
        }
        handle_read(call, payload, &environment)
    })
}

/// Whether another registration for the event, which the client calls too, handles it.
fn is_left(
    call: &HookCall,
    payload: &Result<Vec<u8>, InputError>,
    environment: &Environment,
    is_handled: fn(RegisteredCall<'_>) -> bool,
) -> bool {
    let (client, event) = (call.client.unwrap_or(&claude::DIALECT), call.event);
    let environment = environment.of_client(client, call);
    let Some(project) = &environment.project_dir else { return false };
    let input = payload.as_deref().unwrap_or_default();
    let kind = client.event(event.name()).map_or(event, |row| row.kind);
    let CallFields { subject, session_id } = CallFields::read(kind, input);
    let (subject, session_id) = (subject.as_deref(), session_id.as_deref());
    is_handled(RegisteredCall { client, project, event, subject, session_id })
}

/// Whether the client calls its own registration for the same event: Copilot runs Claude Code's as well.
pub(super) fn is_left_to_client(call: &HookCall, event: &Event, environment: &Environment) -> bool {
    let client = event.client;
    if call.client.is_some() || !client.settings.runs_claudes || environment.is_rehearsal {
        return false;
    }
    let cwd = Path::new(event.payload.cwd());
    let project = environment.project_dir.as_deref().unwrap_or(cwd);
    let (subject, session_id) = (event.tool.client.as_deref(), Some(event.payload.session_id()));
    let called = RegisteredCall { client, project, event: call.event, subject, session_id };
    registration::is_handled_by_client(called)
}

/// The parts of an event that its answer needs.
#[derive(Clone, Debug)]
pub(super) struct AnsweredEvent {
    pub(super) client: &'static Dialect,
    pub(super) called: EventKind,
    pub(super) name: &'static str,
    pub(super) renamed: Vec<FieldAlias>,
}

impl AnsweredEvent {
    /// As far as known without the payload.
    pub(super) fn of_call(call: &HookCall, client: &'static Dialect) -> AnsweredEvent {
        let name = call.event.name();
        let called = client.event(name).map_or(call.event, |event| event.kind);
        AnsweredEvent { client, called, name, renamed: Vec::new() }
    }

    pub(super) fn of(event: &Event) -> AnsweredEvent {
        let Event { client, called, client_event, .. } = *event;
        AnsweredEvent { client, called, name: client_event, renamed: event.tool.renamed.clone() }
    }

    pub(super) fn render(&self, result: &Result<HookResult>, log_lines: &[String]) -> Answer {
        let AnsweredEvent { client, called, name, ref renamed } = *self;
        let is_logged = match client.log {
            LogLines::Always => true,
            LogLines::OnRequest => log::is_requested(),
            LogLines::Never => false,
        };
        let log_lines = if is_logged { log_lines } else { &[] };
        let takes_context = client.row(called).is_some_and(|row| row.takes_context);
        client.render(&Reply { called, name, result, takes_context, renamed, log_lines })
    }
}

fn answer(call: &HookCall, handle: impl FnOnce() -> HandledCall) -> Exit {
    panics::install(call);
    if let Some(warning) = &call.warning {
        stdio::warn(warning);
    }
    let HandledCall { result, export, event } = handle();
    let answer = event.render(&result, &log::take());
    let is_written = stdio::write(&answer);
    // A message that nobody could read is shown again at the next event.
    if let Ok(result) = &result
        && is_written
    {
        outbox::note(&result.delivered);
    }
    if let Some(export) = export {
        export.start();
    }
    answer.exit
}
