//! One hook call: payload and config make a plan, the plan is run, the results make one answer.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::agent::{self, Agent};
use crate::config::ConclaudeConfig;
use crate::des::after;
use crate::dialect::claude::{Answer, Exit};
use crate::event::{Blocking, Commands, Event};
use crate::git::Baseline;
use crate::install::registration;
use crate::notify::{self, Outcome};
use crate::root::{self, Root};
use crate::store::outbox;
use crate::store::trust::{self, TrustStatus};
use crate::store::{self, Session};
use crate::text::clean_line;
use crate::types::{HookPayload, PayloadError};
use crate::{log, process};

mod gate;
mod guard;
mod input;
pub mod plan;
mod post;
mod records;
mod report;
mod run;
mod settle;

pub use crate::outcome::{Decision, HookError, HookResult, Result};
pub use plan::{Plan, Step};
pub use run::Run;

/// What a call takes from its process, given explicitly so that it can be played without one.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// `CLAUDE_PROJECT_DIR`.
    pub project_dir: Option<PathBuf>,
    /// Commands and the judge run only if a person has agreed to the config.
    pub only_if_trusted: bool,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let project_dir = std::env::var_os("CLAUDE_PROJECT_DIR").filter(|folder| !folder.is_empty());
        Surroundings { project_dir: project_dir.map(PathBuf::from), only_if_trusted: false }
    }
}

/// Whether notifications about the event obey `showSystemEvents`.
#[must_use]
pub fn is_system_event_hook(hook_name: &str) -> bool {
    Event::named(hook_name).is_some_and(|event| event.row().system)
}

/// Handles a SubagentStart whose payload comes on stdin.
///
/// # Errors
/// When payload or config are invalid.
#[expect(
    clippy::unused_async,
    reason = "the signature is part of the contract; there is nothing to wait for"
)]
pub async fn handle_subagent_start() -> Result<HookResult> {
    handle_stdin(Event::SubagentStart, &Surroundings::of_process())
}

/// Handles a SubagentStop whose payload comes on stdin.
///
/// # Errors
/// When payload or config are invalid.
#[expect(
    clippy::unused_async,
    reason = "the signature is part of the contract; there is nothing to wait for"
)]
pub async fn handle_subagent_stop() -> Result<HookResult> {
    handle_stdin(Event::SubagentStop, &Surroundings::of_process())
}

/// The whole of `conclaude <Event>`: handles the payload on stdin and writes the answer.
#[must_use]
pub fn call(event: Event) -> Exit {
    answered(event, || match event {
        Event::SubagentStart => at_once(handle_subagent_start()),
        Event::SubagentStop => at_once(handle_subagent_stop()),
        other => handle_stdin(other, &Surroundings::of_process()),
    })
}

/// The whole of `conclaude <Event> --if-trusted`, which is registered for all projects of a user: it leaves the event to the
/// project's own registration where there is one, and runs nothing of a project that nobody trusts.
#[must_use]
pub fn call_if_trusted(event: Event) -> Exit {
    answered(event, || {
        let surroundings = Surroundings { only_if_trusted: true, ..Surroundings::of_process() };
        match &surroundings.project_dir {
            Some(project) if registration::project_has(project, event) => Ok(HookResult::success()),
            _ => handle_stdin(event, &surroundings),
        }
    })
}

fn answered(event: Event, handle: impl FnOnce() -> Result<HookResult>) -> Exit {
    guard::install(event);
    let result = handle();
    let answer = Answer::of(event, &result, &log::take());
    let is_written = answer.emit();
    // What nobody could read is shown again at the next event.
    if let Ok(result) = &result
        && is_written
    {
        outbox::remove(&result.delivered);
    }
    answer.exit
}

/// The output of a future that never waits: no runtime is needed to poll it once.
fn at_once(future: impl Future<Output = Result<HookResult>>) -> Result<HookResult> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(HookError::Input("internal error: a handler waited".into())),
    }
}

fn handle_stdin(event: Event, surroundings: &Surroundings) -> Result<HookResult> {
    let wait = if event == Event::SessionEnd { Duration::from_millis(500) } else { Duration::from_secs(5) };
    match input::read(wait) {
        Ok(payload) => {
            let payload = guard::keep(payload);
            guard::panic_here_in_tests("event");
            handle(event, payload, surroundings)
        }
        Err(_) if is_quiet(event) => Ok(HookResult::success()),
        Err(reason) => Err(HookError::Input(reason)),
    }
}

/// Whether an event that cannot be handled is not worth a word: it runs nothing and gates nothing.
fn is_quiet(event: Event) -> bool {
    event.row().commands == Commands::None && event.row().blocking == Blocking::Never
}

/// Handles an event.
///
/// # Errors
/// When payload or config are invalid.
pub fn handle(event: Event, input: &[u8], surroundings: &Surroundings) -> Result<HookResult> {
    trace(event, input, surroundings).map(|trace| trace.result)
}

/// A call in all its parts.
#[derive(Debug)]
pub struct Trace {
    /// What applied.
    pub plan: Plan,
    /// What was run, in order.
    pub runs: Vec<Run>,
    /// What it came to.
    pub result: HookResult,
}

/// Handles an event, and keeps what was planned and run.
///
/// # Errors
/// When payload or config are invalid.
pub fn trace(event: Event, input: &[u8], surroundings: &Surroundings) -> Result<Trace> {
    let nothing = |result| Trace { plan: Plan::empty(event), runs: Vec::new(), result };
    if event == Event::PreToolUse {
        return before_tool(input, surroundings).map(nothing);
    }
    if event.row().commands == Commands::None {
        return without_commands(event, input, surroundings).map(nothing);
    }
    let payload = HookPayload::parse(event.name(), input)?;
    let root = root_of(&payload, surroundings)?;
    if agent::is_phantom(&payload) {
        store::touch_last(&root.folder, event.name());
        log::info(|| format!("{event:?} of no agent ({:?}): nothing to do", payload.agent_id()));
        return Ok(nothing(HookResult::success()));
    }
    let agent = Agent::of(&payload);
    let config = match Config::load(&root) {
        Ok(config) => config.under(surroundings),
        Err(error) => return gate_alone(event, &payload, &agent, &root, error).map(nothing),
    };
    store::touch_last(&root.folder, event.name());
    log::info(|| {
        format!(
            "Processing {} hook: session_id={}, agent_id={}, subagent_type={}",
            event.name(),
            payload.session_id(),
            agent.id.as_deref().unwrap_or("-"),
            agent.name,
        )
    });
    let notify = |outcome, body: &str| {
        if notify::is_wanted(config.settings.notifications.as_ref(), event, outcome) {
            notify::send(&report::notification_title(event), body);
        }
    };
    if event == Event::SubagentStart {
        records::at_start(&payload, &root);
    }
    match act(event, input, &payload, &agent, &config, &root) {
        Ok(trace) => {
            let good = trace.runs.iter().all(Run::is_success) && trace.result.decision == Decision::Allow;
            let outcome = if good { Outcome::Success } else { Outcome::Failure };
            notify(outcome, &report::notification_body(&trace.plan, &trace.runs));
            if let Some(message) = &trace.result.message {
                post::keep(&payload, Some(&agent), &root, message);
            }
            Ok(trace)
        }
        Err(error) => {
            notify(Outcome::Failure, &format!("{}: {error}", report::agent_words(&agent)));
            match error {
                // A broken pattern is a broken config too.
                HookError::Config(_) => gate_alone(event, &payload, &agent, &root, error).map(nothing),
                other => {
                    post::keep(&payload, Some(&agent), &root, &format!("conclaude: {other}"));
                    Err(other)
                }
            }
        }
    }
}

/// The folders of a call, which never depend on where our own process runs.
fn root_of(payload: &HookPayload, surroundings: &Surroundings) -> Result<Root> {
    let cwd = Path::new(payload.cwd());
    if !cwd.is_absolute() {
        let what = format!("`cwd` is {:?}, expected an absolute path", payload.cwd());
        return Err(PayloadError::Field(what).into());
    }
    Ok(Root::find(surroundings.project_dir.as_deref(), cwd))
}

/// A broken config must not switch the gates off: they run with their defaults. If nothing blocks, the config is the
/// answer.
fn gate_alone(
    event: Event,
    payload: &HookPayload,
    agent: &Agent,
    root: &Root,
    error: HookError,
) -> Result<HookResult> {
    let config = Config::default();
    // Nobody sees an error here.
    post::keep(payload, None, root, &format!("conclaude: {error}"));
    let gated = gate::at_stop(payload, agent, &config.des(), root, true);
    guard::gates_are_known();
    let Some(gated) = gated else { return Err(error) };
    let plan = Plan { agent: agent.clone(), ..Plan::empty(event) };
    let session = Session::new(&root.folder, payload.session_id());
    let result = settle::settle(&plan, &[], Some(&gated), payload, &session, &config, root)?;
    if let Some(message) = &result.message {
        post::keep(payload, Some(agent), root, message);
    }
    match result.decision {
        Decision::Allow => Err(error),
        Decision::Block(reason) => {
            let summary = error.to_string();
            let summary = summary.lines().next().unwrap_or_default();
            let reason = format!(
                "{reason}\n(The gates run with their defaults, since a person must mend the config: {summary})"
            );
            Ok(HookResult { decision: Decision::Block(reason), ..result })
        }
        Decision::Deny(_) => Ok(result),
    }
}

/// A tool is about to be used: Gate 1 for a call of an agent, Gate 2 for a write inside one.
fn before_tool(input: &[u8], surroundings: &Surroundings) -> Result<HookResult> {
    let event = Event::PreToolUse;
    let payload = HookPayload::parse(event.name(), input)?;
    let HookPayload::PreToolUse(tool) = &payload else { return Ok(HookResult::success()) };
    let root = root_of(&payload, surroundings)?;
    store::touch_last(&root.folder, event.name());
    let result = match gate::question(tool) {
        None => HookResult::success(),
        Some(gate::ToolUse::Call(prompt)) => gate::before_call(tool, prompt, &root)?,
        Some(gate::ToolUse::Write(file)) => gate::before_write(&payload, file, &root)?,
    };
    guard::gates_are_known();
    let denied = matches!(result.decision, Decision::Deny(_));
    notify_of(event, &payload, &root, if denied { Outcome::Failure } else { Outcome::Success });
    Ok(result)
}

/// Plans, runs and concludes.
fn act(
    event: Event,
    input: &[u8],
    payload: &HookPayload,
    agent: &Agent,
    config: &Config,
    root: &Root,
) -> Result<Trace> {
    let mut plan = config.plan(event, payload, agent, root)?;
    guard::gate_applies(plan.can_block() && payload.is_first_stop());
    guard::panic_here_in_tests("plan");
    let session = Session::new(&root.folder, payload.session_id());
    let gated = gate::at_stop(payload, agent, &config.des(), root, false);
    guard::gates_are_known();
    if let Some(gated) = &gated {
        plan.add_environment(gated.environment());
    }
    let runs = watched(&plan, gated.is_some(), root, &session, || run::run(&plan, input, &session));
    if let Some(signal) = process::stop_signal() {
        if let Some(record) =
            records::record_subagent(event, payload.session_id(), agent, gated.as_ref(), &runs, "interrupted")
        {
            config.audit(root, &record)?;
        }
        return Err(HookError::Interrupted(report::interrupted(&plan, &runs, signal)));
    }
    let result = settle::settle(&plan, &runs, gated.as_ref(), payload, &session, config, root)?;
    Ok(Trace { plan, runs, result })
}

/// Runs the commands, and where an agent is gated notes which files they wrote: those are not the agent's doing.
fn watched(
    plan: &Plan,
    gated: bool,
    root: &Root,
    session: &Session,
    run: impl FnOnce() -> Vec<Run>,
) -> Vec<Run> {
    let is_watched = !plan.steps.is_empty()
        && (gated || (plan.event == Event::SubagentStart && gate::is_any_at_work(session)));
    let tree = || if is_watched { Baseline::take(&root.work).ok().flatten() } else { None };
    let before = tree();
    let runs = run();
    if let (Some(before), Some(after)) = (before, tree()) {
        after::note_own_files(session, &before, &after);
    }
    runs
}

/// An event that runs no commands. Whatever is wrong with its payload is not worth a word: it is called all day.
fn without_commands(event: Event, input: &[u8], surroundings: &Surroundings) -> Result<HookResult> {
    let payload = match HookPayload::parse(event.name(), input) {
        Ok(payload) => payload,
        Err(error) => {
            log::debug(|| error.to_string());
            return Ok(HookResult::success());
        }
    };
    let Ok(root) = root_of(&payload, surroundings) else { return Ok(HookResult::success()) };
    store::touch_last(&root.folder, event.name());
    let session = Session::new(&root.folder, payload.session_id());
    if event == Event::SessionStart {
        session.resume();
    }
    let message = match event {
        Event::Stop | Event::SessionEnd => records::tell_unfinished(&payload, &root)?,
        // A broken config is told when the session starts, where the person sees it, and not at every event after.
        Event::SessionStart => {
            let config = Config::load(&root)?.checked()?.under(surroundings);
            at_session_start(&config, surroundings.project_dir.as_deref().unwrap_or(&root.folder))
        }
        _ => None,
    };
    let result = message.filter(|_| event.row().shown).map_or_else(HookResult::success, HookResult::showing);
    let result = post::deliver(&payload, &root, result);
    if event == Event::SessionEnd {
        session.end();
    }
    notify_of(event, &payload, &root, Outcome::Success);
    Ok(result)
}

/// What a person should know before the session begins: what will not work in it.
fn at_session_start(config: &Config, project: &Path) -> Option<String> {
    let problems = registration::out_of_sync(&registration::found(project), &config.settings);
    let out_of_sync = (!problems.is_empty()).then(|| report::out_of_sync(&problems));
    let untrusted = config.withheld.as_ref().map(|why| report::untrusted(why, &config.settings));
    let parts: Vec<String> = untrusted.into_iter().chain(out_of_sync).collect();
    (!parts.is_empty()).then(|| format!("conclaude: {}", parts.join("\n")))
}

/// Notifies of an event for whose config there is no other use: it is read whole only if it speaks of notifications.
fn notify_of(event: Event, payload: &HookPayload, root: &Root, outcome: Outcome) {
    let text = root.config.as_ref().and_then(|path| root::read(path).ok().map(|text| (text, path)));
    let Some((text, path)) = text.filter(|(text, _)| text.contains("notifications")) else { return };
    match ConclaudeConfig::parse(&text, path) {
        Ok(settings) if notify::is_wanted(settings.notifications.as_ref(), event, outcome) => {
            let body = format!("session {}", clean_line(payload.session_id()));
            notify::send(&report::notification_title(event), &body);
        }
        Ok(_) => {}
        Err(error) => log::debug(|| error.to_string()),
    }
}

/// The config with its text, which is needed again where a pattern turns out to be broken.
#[derive(Default)]
struct Config {
    settings: ConclaudeConfig,
    source: Option<(String, PathBuf)>,
    /// Why its commands and its judge do not run.
    withheld: Option<String>,
}

impl Config {
    fn load(root: &Root) -> Result<Self> {
        let Some(path) = &root.config else { return Ok(Config::default()) };
        let text = root::read(path)?;
        let settings = ConclaudeConfig::parse(&text, path)?;
        Ok(Config { settings, source: Some((text, path.clone())), withheld: None })
    }

    /// Without what may not run here.
    fn under(mut self, surroundings: &Surroundings) -> Self {
        let runs_code = self.settings.commands() > 0 || self.settings.judge().is_some();
        if let Some((text, path)) = self.source.as_ref().filter(|_| surroundings.only_if_trusted && runs_code)
        {
            self.withheld = match trust::status(path, text) {
                TrustStatus::Trusted => None,
                TrustStatus::Changed => Some(format!("{} has changed since you trusted it", path.display())),
                TrustStatus::Unknown => Some(format!("{} is not trusted", path.display())),
            };
        }
        self
    }

    /// With every pattern checked, also those that this event does not need.
    fn checked(self) -> Result<Self> {
        if let Some((text, path)) = &self.source {
            ConclaudeConfig::parse_and_check(text, path)?;
        }
        Ok(self)
    }

    fn plan(&self, event: Event, payload: &HookPayload, agent: &Agent, root: &Root) -> Result<Plan> {
        let planned = plan::plan(event, payload, agent, &self.settings, root);
        let planned = planned.map(|plan| match &self.withheld {
            Some(why) => plan.withhold(why, self.settings.judge().is_some()),
            None => plan,
        });
        planned.map_err(|error| match &self.source {
            Some((text, path)) => match ConclaudeConfig::parse_and_check(text, path) {
                Err(report) => report.into(),
                Ok(_) => HookError::Input(error.to_string()),
            },
            None => HookError::Input(error.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Scenario: SubagentStart recognized as system event
    #[test]
    fn system_events_are_the_seven_of_the_table() {
        assert!(is_system_event_hook("SubagentStart"));
        let system: Vec<&str> = crate::event::names().filter(|name| is_system_event_hook(name)).collect();
        assert_eq!(
            system,
            [
                "UserPromptSubmit",
                "SessionStart",
                "SessionEnd",
                "SubagentStart",
                "SubagentStop",
                "Notification",
                "PreCompact"
            ]
        );
        assert!(!is_system_event_hook("Stop") && !is_system_event_hook("nonsense"));
    }
}
