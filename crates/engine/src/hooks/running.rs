//! What a hook runs at this moment, noted for whoever watches.

use jiff::Timestamp;

use super::context::Context;
use conclaude_store::audit;
use conclaude_store::store::running::{RunningCommand, RunningMarker, note};

/// Notes that something runs, until the note is dropped. Where nothing is recorded nothing is noted.
pub(super) fn start(context: &Context<'_>, command: &str, started: Timestamp) -> Option<RunningMarker> {
    if !context.is_audited() {
        return None;
    }
    let agent = context.agent.as_ref().or(context.caller.as_ref());
    let running = RunningCommand {
        session: Some(context.payload().session_id().to_owned()),
        agent_id: context.payload().agent_id().map(str::to_owned),
        agent: agent.map(|agent| agent.name.clone()),
        event: context.kind().name().into(),
        command: command.to_owned(),
        started: audit::in_record(started),
        ..RunningCommand::default()
    };
    note(&context.root.folder, &running)
}
