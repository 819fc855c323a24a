//! An event that was looked at.

use std::path::PathBuf;

use anyhow::anyhow;
use serde_json::Value;

use super::known;
use super::request::ExplainEvent;
use conclaude_core::event::EventKind;
use conclaude_engine::hooks::Environment;
use conclaude_engine::hooks::rehearse::{Rehearsal, rehearse};
use conclaude_engine::hooks::switch;
use conclaude_engine::install::registration;

pub(in crate::cli) struct Explanation {
    pub(in crate::cli) asked: ExplainEvent,
    /// None where conclaude has nothing to do with the event.
    pub(in crate::cli) rehearsal: Option<Rehearsal>,
    /// What the user should know beside it.
    pub(in crate::cli) notes: Vec<String>,
}

/// Looks at the event as it would be handled here.
pub(in crate::cli) fn explain(asked: ExplainEvent) -> anyhow::Result<Explanation> {
    let project_dir = Environment::of_process().project_dir;
    let project = project_dir.clone().unwrap_or_else(|| PathBuf::from(asked.cwd()));
    let found = registration::current(&project);
    let environment = Environment {
        project_dir,
        only_if_trusted: registration::asks_for_trust(&found),
        changed: asked.changed.clone(),
        is_sample: asked.is_sample,
        ..Environment::default()
    };
    let payload = Value::Object(asked.payload.clone()).to_string();
    let mut notes = asked.notes.clone();
    notes.extend(known::notes(&asked, &project));
    notes.extend(not_called(asked.event, &found));
    let rehearsal =
        rehearse(asked.event, payload.as_bytes(), &environment).map_err(|error| anyhow!("{error}"))?;
    Ok(Explanation { asked, rehearsal, notes })
}

/// Why Claude Code would not call conclaude at all.
fn not_called(event: EventKind, found: &[registration::ScopeSettings]) -> Option<String> {
    if let Some(value) = switch::off() {
        return Some(format!("CONCLAUDE={value} switches every event off"));
    }
    let is_registered =
        found.iter().flat_map(registration::ScopeSettings::registered).any(|one| one.event == event);
    if is_registered {
        return None;
    }
    Some(format!(
        "{event} is not registered with Claude Code here, so none of this happens: `conclaude install` registers what the config needs"
    ))
}
