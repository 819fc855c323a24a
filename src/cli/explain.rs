//! `conclaude explain`: what would happen at an event, and why; nothing is run.

use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::out::Out;
use crate::event::EventKind;
use crate::exit::Exit;
use crate::hooks::Environment;
use crate::hooks::rehearse::{Rehearsal, rehearse};
use crate::hooks::switch;
use crate::install::registration;

mod cases;
mod event;
mod json;
mod known;
pub(super) mod layout;
pub(super) mod paint;
mod print;
mod request;
mod rules;
mod words;

pub(super) use request::Asked;

pub(super) const EXAMPLES: &str = "Examples:
  conclaude explain PreToolUse --command 'rm -rf build'
  conclaude explain PreToolUse --file .env --agent coder
  conclaude explain SubagentStop --agent coder --file src/main.rs
  conclaude explain --payload payload.json

Exits with 0 whatever would be decided.";

#[derive(clap::Args)]
pub(super) struct Request {
    /// The event, such as PreToolUse or stop; --payload names it too
    event: Option<String>,
    /// The subagent that causes it [default: the main thread; general-purpose at SubagentStart and SubagentStop]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The tool [default: Bash with --command, Write with --file]
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The tool's file; at a stop a file that was changed (may be repeated)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["command", "input"])]
    file: Vec<String>,
    /// The shell command of Bash
    #[arg(long, value_name = "CMD", conflicts_with = "input", allow_hyphen_values = true)]
    command: Option<String>,
    /// The tool's input as JSON; at events without a tool, fields of the payload
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// A payload of Claude Code as it came on stdin; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "tool", "file", "command", "input"])]
    payload: Option<PathBuf>,
    /// The mode of permissions: in `dontAsk` and `bypassPermissions` nobody can be asked [default: default]
    #[arg(long, value_name = "MODE", conflicts_with = "payload")]
    permission_mode: Option<String>,
    /// The folder in which it happens, such as a worktree or a part of the project [default: this one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// An event that was looked at.
pub(super) struct Explained {
    pub(super) asked: Asked,
    /// None where conclaude has nothing to do with the event.
    pub(super) rehearsal: Option<Rehearsal>,
    /// What the user should know beside it.
    pub(super) notes: Vec<String>,
}

pub(super) fn run(request: &Request) -> io::Result<Exit> {
    let asked = Asked::of(request)?;
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
fn is_an_event(explained: &Explained) -> io::Result<()> {
    let event = explained.asked.event;
    let has_section = |rehearsal: &Rehearsal| rehearsal.has_section || rehearsal.config_error.is_some();
    if event.is_known() || explained.rehearsal.as_ref().is_some_and(has_section) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "unknown event `{event}`: this version does not know it, and the config has no section `{}`; `conclaude events` lists them",
        event.row().section
    )))
}

/// Looks at the event as it would be handled here.
pub(super) fn explain(asked: Asked) -> io::Result<Explained> {
    let project_dir = Environment::of_process().project_dir;
    let project = project_dir.clone().unwrap_or_else(|| PathBuf::from(asked.cwd()));
    let found = registration::found(&project);
    let environment = Environment {
        project_dir,
        only_if_trusted: registration::asks_for_trust(&found),
        changed: asked.changed.clone(),
        ..Environment::default()
    };
    let payload = Value::Object(asked.payload.clone()).to_string();
    let mut notes = asked.notes.clone();
    notes.extend(known::notes(&asked, &project));
    notes.extend(not_called(asked.event, &found));
    let rehearsal = rehearse(asked.event, payload.as_bytes(), &environment)
        .map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Explained { asked, rehearsal, notes })
}

/// Why Claude Code would not call conclaude at all.
fn not_called(event: EventKind, found: &[registration::Found]) -> Option<String> {
    if let Some(value) = switch::off() {
        return Some(format!("CONCLAUDE={value} switches every event off"));
    }
    let is_registered = found.iter().flat_map(registration::Found::registered).any(|one| one.event == event);
    (!is_registered).then(|| {
        format!(
            "{event} is not registered with Claude Code here, so none of this happens: `conclaude install` registers what the config needs"
        )
    })
}

/// The fields of a JSON object.
fn object(text: &str, what: &str) -> io::Result<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(io::Error::other(format!("{what} is JSON, but not an object: {{…}} is expected"))),
        Err(error) => Err(io::Error::other(format!("{what} is not JSON: {error}"))),
    }
}
