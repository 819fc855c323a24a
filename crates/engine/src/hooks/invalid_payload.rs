//! The answer to a payload that does not come from Claude Code, or that is incomplete.
//!
//! Other clients run the hooks of `.claude/settings.json` too, and Copilot refuses a tool whenever a hook fails. So only a gate
//! that certainly applies refuses anything here.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Environment;
use super::config::Config;
use super::delivery;
use super::record;
use conclaude_checks::des::call::GatedCall;
use conclaude_checks::des::context::{TranscriptPaths, remembered};
use conclaude_checks::des::markers::Markers;
use conclaude_core::blocks::BlockCount;
use conclaude_core::config::DesConfig;
use conclaude_core::decide::{self, HookResult};
use conclaude_core::dialect::{Dialect, HookCall, claude, other_clients};
use conclaude_core::error::{HookError, Result};
use conclaude_core::event::EventKind;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::Plan;
use conclaude_core::types::{PayloadError, fields};
use conclaude_os::budget::Budget;
use conclaude_os::log;
use conclaude_store::audit::{self, Record, TraceParent};
use conclaude_store::root::Root;
use conclaude_store::store::Session;

/// An event with an unusable payload.
pub(super) struct InvalidPayload<'a> {
    pub(super) call: &'a HookCall,
    pub(super) event: EventKind,
    pub(super) input: &'a [u8],
    pub(super) environment: &'a Environment,
    pub(super) budget: &'a Budget,
}

impl InvalidPayload<'_> {
    /// The answer to it, for this reason.
    pub(super) fn answer(&self, error: PayloadError) -> Result<HookResult> {
        let event = self.event;
        let Ok(fields) = fields(self.input) else {
            let answer = if matches!(error, PayloadError::TooDeep) { unjudged } else { without };
            return answer(self.call, error.into(), self.environment);
        };
        if let Some(project) = self.gated(&fields) {
            return self.refused(&fields, &project, error);
        }
        if is_of_other_client(self.call) {
            return without(self.call, error.into(), self.environment);
        }
        if !claude::is_own(&fields) {
            log::info(|| {
                format!(
                    "the payload of {event} is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do"
                )
            });
            return Ok(HookResult::success());
        }
        failed(event, error.into())
    }

    /// A tool is denied. A stop is an error: the blocks of an unknown agent could not be counted, so they would have no limit.
    fn refused(
        &self,
        fields: &Map<String, Value>,
        project: &Project,
        error: PayloadError,
    ) -> Result<HookResult> {
        let event = self.event;
        if event != EventKind::PreToolUse {
            return Err(error.into());
        }
        let what = format!("a gate applies to this tool and cannot be evaluated: {error}");
        let fix = "use Claude Code for steps with DES markers, or remove the markers";
        let finding = Finding::new(Code::PayloadInvalid, what, fix);
        let denial = Denial {
            finding,
            session: other_clients::session_id(fields).map(str::to_owned),
            agent_id: other_clients::agent_id(fields).map(str::to_owned),
            traceparent: TraceParent::of(&self.environment.variables),
        };
        Ok(denial.recorded(event, project, self.budget))
    }

    /// The project, if the payload calls an agent with markers that require gates, or comes from a gated agent. The fields may
    /// have any client's names.
    fn gated(&self, fields: &Map<String, Value>) -> Option<Project> {
        let InvalidPayload { event, environment, budget, .. } = *self;
        if !matches!(event, EventKind::PreToolUse | EventKind::SubagentStop) {
            return None;
        }
        let calls_gated = other_clients::prompts(fields).map(Markers::of).any(|markers| markers.apply());
        let agent = other_clients::agent_id(fields);
        if !calls_gated && agent.is_none() {
            return None;
        }
        let cwd = fields.get("cwd").and_then(Value::as_str).map(Path::new).filter(|cwd| cwd.is_absolute());
        let Some(start) = environment.project_dir.as_deref().or(cwd) else {
            return if calls_gated { Some(Project::default()) } else { None };
        };
        let root = Root::find(environment.project_dir.as_deref(), cwd.unwrap_or(start));
        let applies = || {
            let session = Session::new(&root.folder, other_clients::session_id(fields).unwrap_or_default())
                .within(budget);
            let paths = TranscriptPaths::new(agent.map(str::to_owned), PathBuf::new(), None);
            remembered(&paths, &session).as_ref().is_some_and(GatedCall::is_open)
        };
        if !calls_gated && !applies() {
            return None;
        }
        let config = Config::load(&root, event, environment);
        let is_on = !calls_gated || config.settings.des.as_ref().is_none_or(DesConfig::is_enabled);
        if is_on { Some(Project { root: Some(root.folder), config }) } else { None }
    }
}

/// The answer to a payload that is too large or nested too deeply. If there are guards, the tool is denied, because it cannot be
/// judged.
pub(super) fn unjudged(call: &HookCall, error: HookError, environment: &Environment) -> Result<HookResult> {
    let event = call.event;
    let Some(folder) = &environment.project_dir else {
        return without(call, error, environment);
    };
    let root = Root::find(Some(folder), folder);
    let config = Config::load(&root, event, environment);
    if event != EventKind::PreToolUse || !config.settings.guards.has_any() {
        return without(call, error, environment);
    }
    let what = format!("the guards cannot look at this tool's input: {error}");
    let finding = Finding::new(Code::PayloadInvalid, what, "do it in smaller steps");
    let traceparent = TraceParent::of(&environment.variables);
    let denial = Denial { finding, session: None, agent_id: None, traceparent };
    let project = Project { root: Some(root.folder), config };
    Ok(denial.recorded(event, &project, &Budget::of_hook()))
}

/// A denied tool with an unusable payload.
struct Denial {
    finding: Finding,
    session: Option<String>,
    agent_id: Option<String>,
    traceparent: Option<TraceParent>,
}

impl Denial {
    /// The answer, after it is in the trail.
    fn recorded(self, event: EventKind, project: &Project, budget: &Budget) -> HookResult {
        let outcome = Outcome::finding(self.finding, true);
        let outcomes = std::slice::from_ref(&outcome);
        let decided = decide::decide(&Plan::empty(event), outcomes, true, || Ok(BlockCount::Exhausted));
        let Project { root: Some(root), config } = project else { return decided.result };
        let rule = |finding: &Finding| finding.code.written().rule(&config.origins, root);
        let record = Record {
            event: event.name().into(),
            session: self.session,
            agent_id: self.agent_id,
            traceparent: self.traceparent,
            decision: decided.word.as_str().into(),
            findings: record::finding(&outcome, rule).into_iter().collect(),
            ..Record::default()
        };
        if let Ok(Some(problem)) | Err(problem) =
            audit::write(root, config.settings.audit.as_ref(), &record, budget)
        {
            log::warn(|| problem.to_string());
        }
        decided.result
    }
}

/// Whether the registration names a client other than Claude Code, whose answers have a form for errors.
fn is_of_other_client(call: &HookCall) -> bool {
    call.client.is_some_and(Dialect::is_translated)
}

/// The answer to an event from an unknown client, for this reason.
pub(super) fn without(call: &HookCall, error: HookError, environment: &Environment) -> Result<HookResult> {
    let event = call.event;
    if is_of_other_client(call) {
        keep_for_user(call, &error, environment);
        return Err(error);
    }
    if event.is_quiet() {
        log::info(|| error.to_string());
        return Ok(HookResult::success());
    }
    failed(event, error)
}

/// Queues an error for the user, if the client may read a failure as a denial, and shows nothing. Its session is unknown.
fn keep_for_user(call: &HookCall, error: &HookError, environment: &Environment) {
    let Some(client) = call.client else { return };
    if !call.event.row().failure_denies || client.shows(call.event) {
        return;
    }
    let environment = environment.of_client(client, call);
    let directory = call.directory.as_ref().map(PathBuf::from);
    let Some(folder) = environment.project_dir.clone().or(directory) else { return };
    let root = Root::find(environment.project_dir.as_deref(), &folder);
    // Nothing is created in a folder without a config.
    if root.config.is_none() {
        return;
    }
    let text = format!("conclaude: {}: {error}", call.event.name());
    delivery::keep_without_session(&root.folder, text);
}

/// The answer to an event that failed. If another client would read a failure as a denial, it is only shown.
pub(super) fn failed(event: EventKind, error: HookError) -> Result<HookResult> {
    if !event.row().failure_denies {
        return Err(error);
    }
    log::warn(|| error.to_string());
    Ok(HookResult { error: Some(error.to_string()), ..HookResult::success() })
}

/// The project with the gate, as far as known.
#[derive(Default)]
struct Project {
    root: Option<PathBuf>,
    config: Config,
}
