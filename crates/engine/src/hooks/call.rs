//! The whole of a call: the environment, the payload on stdin, what is handled of it, and the answer.

use std::borrow::Cow;
use std::path::PathBuf;

use super::{HandledCall, handle_read, handle_stdin, panics, stdio, switch};
use crate::install::registration::{self, RegisteredCall};
use conclaude_core::decide::HookResult;
use conclaude_core::dialect::claude::{self, CallFields, variables};
use conclaude_core::dialect::{self, Answer, Dialect, HookCall, LogLines, ProjectFolder, Renamed, Reply};
use conclaude_core::error::{InputError, Result};
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_core::text::clean_line;
use conclaude_core::types::Event;
use conclaude_os::log;
use conclaude_store::store::outbox;

/// What a call takes from its process. It is given explicitly, so that a call can be played without a process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `CLAUDE_PROJECT_DIR`.
    pub project_dir: Option<PathBuf>,
    /// The working directory, which is the project for a client that says nothing else.
    pub process_dir: Option<PathBuf>,
    /// Commands and the judge run only if the user trusts the config.
    pub only_if_trusted: bool,
    /// Only the project's own config counts, not the user's and the local one.
    pub only_project: bool,
    /// Nothing is written: the event is only looked at.
    pub is_rehearsal: bool,
    /// It did not happen: no transcript holds the prompt of its agent, and nobody has missed it.
    pub is_sample: bool,
    /// A rehearsal notes what each rule was compared with.
    pub explains: bool,
    /// Then these files count as changed.
    pub changed: Option<Vec<String>>,
}

impl Environment {
    #[must_use]
    pub fn of_process() -> Self {
        let project_dir = std::env::var_os(variables::PROJECT_DIR).filter(|folder| !folder.is_empty());
        Environment {
            project_dir: project_dir.map(PathBuf::from),
            process_dir: std::env::current_dir().ok(),
            ..Environment::default()
        }
    }

    /// The same for a call of this client.
    pub(super) fn of_client(&self, client: &Dialect) -> Cow<'_, Environment> {
        match client.project {
            ProjectFolder::Variable => Cow::Borrowed(self),
            ProjectFolder::Process => {
                Cow::Owned(Environment { project_dir: self.process_dir.clone(), ..self.clone() })
            }
        }
    }
}

/// A call of an event, and of the client that the registration names. If that is unknown, the payload decides.
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

/// The whole of `conclaude <Event>`: handles the payload on stdin and writes the answer.
#[must_use]
pub fn call(call: &HookCall) -> Exit {
    answer(call, || match switch::off() {
        Some(value) => HandledCall::unread(call, Ok(switch::answer(call.event, &value))),
        None => handle_stdin(call, &Environment::of_process()),
    })
}

/// The whole of `conclaude <Event> --if-trusted`, which is registered for all projects of a user: it defers to the
/// project's own registration where there is one, and runs nothing of a project that nobody trusts.
#[must_use]
pub fn call_if_trusted(call: &HookCall) -> Exit {
    answer(call, || {
        let environment = Environment { only_if_trusted: true, ..Environment::of_process() };
        let off = switch::off();
        let payload = if off.is_none() { stdio::payload(call.event) } else { Ok(Vec::new()) };
        match off {
            _ if is_left_to_project(call.event, &payload, &environment) => {
                HandledCall::unread(call, Ok(HookResult::success()))
            }
            Some(value) => HandledCall::unread(call, Ok(switch::answer(call.event, &value))),
            None => handle_read(call, payload, &environment),
        }
    })
}

/// The whole of `conclaude Hooks <Event>`, as conclaude 0.2 was registered. In the file of an agent, Claude Code delivers `Stop` as
/// SubagentStop; and what the project's settings register as well is handled once.
#[must_use]
pub fn call_as_original(event: EventKind, names_agent: bool) -> Exit {
    if switch::off().is_some() {
        return call(&HookCall::of(event));
    }
    let payload = stdio::payload(event);
    let delivered = payload.as_deref().map_or(event, |input| claude::delivered(event, input));
    let call = &HookCall::of(delivered);
    answer(call, || {
        let environment = Environment::of_process();
        let is_of_agent = names_agent || delivered != event;
        if is_of_agent && is_left_to_project(delivered, &payload, &environment) {
            return HandledCall::unread(call, Ok(HookResult::success()));
        }
        handle_read(call, payload, &environment)
    })
}

/// Whether Claude Code calls the project's own registration for the event, which handles it then.
fn is_left_to_project(
    event: EventKind,
    payload: &Result<Vec<u8>, InputError>,
    environment: &Environment,
) -> bool {
    let Some(project) = &environment.project_dir else { return false };
    let input = payload.as_deref().unwrap_or_default();
    let CallFields { subject, session_id } = CallFields::read(event, input);
    let (subject, session_id) = (subject.as_deref(), session_id.as_deref());
    registration::is_handled_by_project(RegisteredCall { project, event, subject, session_id })
}

/// An event as it is answered.
#[derive(Clone, Debug)]
pub(super) struct AnsweredEvent {
    pub(super) client: &'static Dialect,
    pub(super) called: EventKind,
    pub(super) name: &'static str,
    pub(super) renamed: Vec<Renamed>,
}

impl AnsweredEvent {
    /// As far as it is known without the payload.
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
        client.render(&Reply { called, name, result, renamed, log_lines })
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
    // What nobody could read is shown again at the next event.
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
