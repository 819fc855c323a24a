//! What is answered to a payload that is not one of Claude Code, or that is incomplete.
//!
//! Other clients run the hooks of `.claude/settings.json` too, and Copilot refuses a tool whenever a hook fails. So nothing but
//! a gate that is known to apply refuses anything here.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Environment;
use super::context::Config;
use crate::config::DesConfig;
use crate::decide::{Decision, HookResult};
use crate::des::call::Call;
use crate::des::context::{TranscriptPaths, remembered};
use crate::des::markers::Markers;
use crate::dialect::claude;
use crate::error::{HookError, Result};
use crate::event::EventKind;
use crate::log;
use crate::root::Root;
use crate::store::Session;
use crate::types::{PayloadError, fields};

/// The answer to an event whose payload could not be used, for this reason.
pub(super) fn answer(
    event: EventKind,
    input: &[u8],
    environment: &Environment,
    error: PayloadError,
) -> Result<HookResult> {
    let fields = fields(input).ok();
    if let Some(fields) = &fields {
        if names_gated_agent(event, fields, environment) {
            return refused(event, error);
        }
        if !claude::is_own(fields) {
            log::info(|| {
                format!(
                    "the payload of {event} is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do"
                )
            });
            return Ok(HookResult::success());
        }
    }
    without(event, error.into())
}

/// The answer to an event that cannot be handled, for this reason.
pub(super) fn without(event: EventKind, error: HookError) -> Result<HookResult> {
    if event.is_quiet() {
        log::info(|| error.to_string());
        return Ok(HookResult::success());
    }
    failed(event, error)
}

/// The answer to an event that failed. Where another client would read a failure as a denial, it is only shown.
pub(super) fn failed(event: EventKind, error: HookError) -> Result<HookResult> {
    match event {
        EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::UserPromptSubmit => {
            log::warn(|| error.to_string());
            let message = event.is_shown().then(|| format!("conclaude: {error}"));
            Ok(HookResult { message, ..HookResult::success() })
        }
        _ => Err(error),
    }
}

/// A tool is denied. At a stop it is an error: nothing would bound a block of an agent that nobody can count.
fn refused(event: EventKind, error: PayloadError) -> Result<HookResult> {
    if event != EventKind::PreToolUse {
        return Err(error.into());
    }
    let reason = format!(
        "conclaude: this tool is denied, since a gate applies to it and cannot be evaluated: {error}. \
         Use Claude Code for steps with DES markers, or remove the markers."
    );
    Ok(HookResult { decision: Decision::Deny(reason), ..HookResult::success() })
}

/// Whether the payload calls an agent with markers that ask for the gates, or comes from an agent that a gate let in. The
/// fields have the names of any client.
fn names_gated_agent(event: EventKind, fields: &Map<String, Value>, environment: &Environment) -> bool {
    if !matches!(event, EventKind::PreToolUse | EventKind::SubagentStop) {
        return false;
    }
    let text = |names: [&str; 2]| names.into_iter().find_map(|name| fields.get(name)?.as_str());
    let inputs = ["tool_input", "toolInput", "toolArgs"].into_iter().filter_map(|name| fields.get(name));
    let prompts = inputs.filter_map(|input| input.get("prompt")?.as_str());
    let calls_gated = prompts.map(Markers::of).any(|markers| markers.apply());
    let agent = text(["agent_id", "agentId"]);
    if !calls_gated && agent.is_none() {
        return false;
    }
    let cwd = text(["cwd", "cwd"]).map(Path::new).filter(|cwd| cwd.is_absolute());
    let Some(start) = environment.project_dir.as_deref().or(cwd) else { return calls_gated };
    let root = Root::find(environment.project_dir.as_deref(), cwd.unwrap_or(start));
    if calls_gated {
        let config = Config::load(&root, event, environment).unwrap_or_default();
        return config.settings.des.as_ref().is_none_or(DesConfig::is_enabled);
    }
    let session = Session::new(&root.folder, text(["session_id", "sessionId"]).unwrap_or_default());
    let paths = TranscriptPaths::new(agent.map(str::to_owned), PathBuf::new(), None);
    remembered(&paths, &session).as_ref().is_some_and(Call::is_open)
}
