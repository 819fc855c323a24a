//! `conclaude explain`: what would happen at an event, and why; nothing is run.

use anyhow::anyhow;

use super::out::Out;
use conclaude_core::exit::Exit;
use conclaude_engine::hooks::rehearse::Rehearsal;

mod cases;
mod event;
mod explanation;
pub(super) mod json;
mod known;
pub(super) mod layout;
pub(super) mod paint;
pub(super) mod print;
mod request;
mod rules;
mod words;

use explanation::Explanation;
pub(super) use explanation::explain;
pub(super) use request::{ExplainEvent, ExplainRequest};

pub(super) const EXAMPLES: &str = "Examples:
  conclaude explain PreToolUse --command 'rm -rf build'
  conclaude explain PreToolUse --file .env --agent coder
  conclaude explain SubagentStop --agent coder --file src/main.rs
  conclaude explain --payload payload.json

Exits with 0 whatever would be decided.";

pub(super) fn run(request: &ExplainRequest) -> anyhow::Result<Exit> {
    let asked = ExplainEvent::of(request)?;
    let explained = explain(asked)?;
    is_an_event(&explained)?;
    let mut out = Out::stdout();
    if request.json {
        out.json(&json::of(&explained))?;
    } else {
        print::all(&mut out, &explained)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// A newer Claude Code may have events that this version does not know. What the config does not name either is a typo.
fn is_an_event(explained: &Explanation) -> anyhow::Result<()> {
    let event = explained.asked.event;
    let has_section = |rehearsal: &Rehearsal| rehearsal.has_section || rehearsal.config_error.is_some();
    if event.is_known() || explained.rehearsal.as_ref().is_some_and(has_section) {
        return Ok(());
    }
    Err(anyhow!(
        "unknown event `{event}`: this version does not know it, and the config has no section `{}`; `conclaude events` lists them",
        event.row().section
    ))
}
