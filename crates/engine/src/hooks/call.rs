//! The whole of a call: the environment, the payload on stdin, what is handled of it, and the answer.

use std::path::PathBuf;

use super::{HandledCall, handle_read, handle_stdin, panics, stdio, switch};
use crate::install::registration::{self, RegisteredCall};
use conclaude_core::decide::HookResult;
use conclaude_core::dialect::claude::{self, CallFields, variables};
use conclaude_core::error::InputError;
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_os::log;
use conclaude_store::store::outbox;

/// What a call takes from its process. It is given explicitly, so that a call can be played without a process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `CLAUDE_PROJECT_DIR`.
    pub project_dir: Option<PathBuf>,
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
        Environment { project_dir: project_dir.map(PathBuf::from), ..Environment::default() }
    }
}

/// The whole of `conclaude <Event>`: handles the payload on stdin and writes the answer.
#[must_use]
pub fn call(event: EventKind) -> Exit {
    answer(event, || match switch::off() {
        Some(value) => switch::answer(event, &value).into(),
        None => handle_stdin(event, &Environment::of_process()),
    })
}

/// The whole of `conclaude <Event> --if-trusted`, which is registered for all projects of a user: it defers to the
/// project's own registration where there is one, and runs nothing of a project that nobody trusts.
#[must_use]
pub fn call_if_trusted(event: EventKind) -> Exit {
    answer(event, || {
        let environment = Environment { only_if_trusted: true, ..Environment::of_process() };
        let off = switch::off();
        let payload = if off.is_none() { stdio::payload(event) } else { Ok(Vec::new()) };
        match off {
            _ if is_left_to_project(event, &payload, &environment) => HookResult::success().into(),
            Some(value) => switch::answer(event, &value).into(),
            None => handle_read(event, payload, &environment),
        }
    })
}

/// The whole of `conclaude Hooks <Event>`, as conclaude 0.2 was registered. In the file of an agent, Claude Code delivers `Stop` as
/// SubagentStop; and what the project's settings register as well is handled once.
#[must_use]
pub fn call_as_original(event: EventKind, names_agent: bool) -> Exit {
    if switch::off().is_some() {
        return call(event);
    }
    let payload = stdio::payload(event);
    let delivered = payload.as_deref().map_or(event, |input| claude::delivered(event, input));
    answer(delivered, || {
        let environment = Environment::of_process();
        let is_of_agent = names_agent || delivered != event;
        if is_of_agent && is_left_to_project(delivered, &payload, &environment) {
            return HookResult::success().into();
        }
        handle_read(delivered, payload, &environment)
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

fn answer(event: EventKind, handle: impl FnOnce() -> HandledCall) -> Exit {
    panics::install(event);
    let HandledCall { result, export } = handle();
    let answer = claude::render(event, &result, &log::take());
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
