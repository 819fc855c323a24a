//! The gates of DES at the client's events: their findings become outcomes.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::commands;
use super::context::Context;
use super::gate_context::GateContext;
use super::panics;
use conclaude_checks::des::call::GatedCall;
use conclaude_checks::des::gates::{self, CallRequest, CallResult, WriteRequest};
use conclaude_checks::des::judge::{self, JudgeQuestion};
use conclaude_checks::des::markers::Validation;
use conclaude_checks::des::protected::ProtectedPaths;
use conclaude_checks::des::started_agents;
use conclaude_checks::des::step::Step;
use conclaude_checks::des::step_folders::StepFolders;
use conclaude_checks::des::stop::{self, StopRequest};
use conclaude_checks::guard::Ground;
use conclaude_checks::paths::Links;
use conclaude_core::config::{DesConfig, GateConfig, JudgeConfig, ScopeMode};
use conclaude_core::dialect::claude::agents;
use conclaude_core::event::EventKind;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::messages;
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::plan::{Gate, GateSubject, Plan};
use conclaude_core::types::{HookPayload, PreToolUsePayload};
use conclaude_os::files;
use conclaude_os::git::Snapshot;
use conclaude_store::root::Root;
use conclaude_store::store::Session;
use conclaude_store::transcript;
use shell_effects::{Access, apply_patch};

/// The note that the config cannot be read, with a refusal or when an agent is called.
pub(super) fn config_note(plan: &Plan, outcomes: &[Outcome]) -> Option<Outcome> {
    let error = plan.config_error.as_ref()?;
    let is_refused = outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    let is_called = matches!(plan.gate(), Some(Gate::Call { .. }));
    if plan.gate().is_none() || !(is_refused || is_called) {
        return None;
    }
    Some(Outcome::note(format!("the gates run with their defaults until the user fixes the config: {error}")))
}

pub(super) fn run(gate: &Gate, plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    let Some(known) = &context.gate else { return Vec::new() };
    panics::panic_here_in_tests("gate");
    let violations_block = plan.gates.des.blocks();
    let findings = match (gate, context.payload()) {
        (Gate::Call { .. }, HookPayload::PreToolUse(tool)) => call(tool, known, plan, context),
        (Gate::Write { step_file, written }, _) => {
            return write(step_file, written, plan, context);
        }
        (Gate::Stop { .. }, _) => return stop(plan, known, context),
        // It cannot restore the missing files: one block is enough to get its report.
        (Gate::MissingState { step_file }, _) => {
            return vec![Outcome::finding(
                stop::lost(step_file),
                violations_block && context.is_first_stop(),
            )];
        }
        _ => Vec::new(),
    };
    findings.into_iter().map(|finding| Outcome::finding(finding, violations_block)).collect()
}

/// Gate 1.
fn call(tool: &PreToolUsePayload, known: &GateContext, plan: &Plan, context: &Context<'_>) -> Vec<Finding> {
    let seen = seen(tool, known, plan, context);
    let busy =
        seen.opened.as_ref().and_then(|opened| live_agent(&context.session, &known.paths.main, &opened.name));
    seen.findings.iter().cloned().chain(busy).collect()
}

/// The result of Gate 1. The step is read once: the stored version is the judged one.
pub(super) fn seen<'a>(
    tool: &PreToolUsePayload,
    known: &'a GateContext,
    plan: &Plan,
    context: &Context<'_>,
) -> &'a CallResult {
    known.seen.get_or_init(|| {
        gates::before(&CallRequest {
            markers: &known.markers,
            prompt: &known.origin.prompt,
            subagent_type: agents::called(&tool.tool_input),
            folders: StepFolders { root: &context.root.work, cwd: Path::new(context.payload().cwd()) },
            des: &plan.gates.des,
            caller: known.caller.as_ref(),
        })
    })
}

/// Two agents on one step are rarely intended. A call that never started does not count.
fn live_agent(session: &Session, main: &Path, step: &str) -> Option<Finding> {
    let open = GatedCall::all(session).into_iter().filter(|call| call.step_file == step && call.is_open());
    let open: Vec<GatedCall> = open.collect();
    if open.is_empty() {
        return None;
    }
    let started = started_agents::known(session, main);
    let live = open.iter().find(|call| started.iter().any(|(_, id)| *id == call.tool_use_id))?;
    let what = format!("{} has been called for {step} already and has not stopped", live.subagent_type);
    Some(Finding::new(Code::StepBusy, what, "let one agent work on a step at a time").warning())
}

/// Gate 2.
fn write(step_file: &str, written: &GateSubject, plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    let call = context.gate.as_ref().and_then(|known| known.origin.call.as_ref());
    let des = &plan.gates.des;
    let Root { folder: root, work, .. } = &context.root;
    let writing = WriteRequest {
        step_file,
        call,
        root,
        work,
        protected: &ProtectedPaths::new(root, work, &Links::default()).with(
            &context.config.extended,
            root,
            work,
        ),
        cwd: Path::new(context.payload().cwd()),
        file: "",
        deletes: false,
    };
    match written {
        GateSubject::File(file) => write_file(&WriteRequest { file, ..writing }, des).into_iter().collect(),
        GateSubject::Patch(patch) => patch_writes(&writing, patch, des),
        GateSubject::Shell(command) => shell_writes(&writing, command, des, context),
    }
}

/// Every file of a patch.
fn patch_writes(writing: &WriteRequest<'_>, patch: &str, des: &DesConfig) -> Vec<Outcome> {
    let files = apply_patch::files(patch).unwrap_or_default();
    let judged = files.iter().filter_map(|file| {
        let deletes = file.access == Access::Delete;
        write_file(&WriteRequest { file: &file.path, deletes, ..*writing }, des)
    });
    let mut outcomes: Vec<Outcome> = Vec::new();
    for outcome in judged {
        if !outcomes.contains(&outcome) {
            outcomes.push(outcome);
        }
    }
    outcomes
}

fn write_file(writing: &WriteRequest<'_>, des: &DesConfig) -> Option<Outcome> {
    if let Some(finding) = gates::protected(writing) {
        return Some(Outcome::finding(finding, true));
    }
    let finding = if des.scope() == ScopeMode::Off { None } else { gates::during(writing) };
    let blocks = des.scope() == ScopeMode::Block && des.blocks();
    let finding = finding.map(|finding| if blocks { finding } else { finding.warning() });
    finding.map(|finding| Outcome::finding(finding, true))
}

/// The known writes of a shell command. Gate 3 finds the rest.
fn shell_writes(
    writing: &WriteRequest<'_>,
    command: &str,
    des: &DesConfig,
    context: &Context<'_>,
) -> Vec<Outcome> {
    let script = shell_effects::read(command, files::home().as_deref());
    let links = Links::default();
    let ground = Ground {
        root: writing.work,
        cwd: writing.cwd,
        links: &links,
        home: None,
        worktree: None,
        budget: &context.budget,
    };
    let mut outcomes: Vec<Outcome> = Vec::new();
    for touch in ground.on_files(&script).touches.iter().filter(|touch| touch.access.changes_files()) {
        let inside = |own: &&PathBuf| touch.with_contents && own.starts_with(&touch.path);
        let file = context.config.extended.iter().find(inside).unwrap_or(&touch.path).to_string_lossy();
        let writing = WriteRequest { file: &file, deletes: touch.access == Access::Delete, ..*writing };
        let outcome = match gates::protected(&writing) {
            Some(finding) => Some(Outcome::finding(finding, true)),
            None if touch.access == Access::Link || ground.is_temporary(&touch.path) => None,
            // A directory may be deleted if all possible files in it are inside the scope.
            None if touch.with_contents => {
                let inside = touch.path.join("file");
                let inside = inside.to_string_lossy();
                write_file(&WriteRequest { file: &inside, ..writing }, des)
                    .and_then(|_| write_file(&writing, des))
            }
            None => write_file(&writing, des),
        };
        outcomes.extend(outcome.filter(|outcome| !outcomes.contains(outcome)));
    }
    outcomes
}

/// Gate 3.
fn stop(plan: &Plan, known: &GateContext, context: &Context<'_>) -> Vec<Outcome> {
    let des = &plan.gates.des;
    let config_now = GateConfig::of(&context.config.settings).trusted(&context.config.origins);
    let stopping = StopRequest {
        markers: &known.markers,
        origin: &known.origin,
        agent: plan.agent.as_ref().map_or("", |agent| agent.name.as_str()),
        session: context.payload().session_id(),
        root: &context.root.folder,
        tree: &context.tree,
        cwd: Path::new(context.payload().cwd()),
        main: &known.paths.main,
        own: known.paths.own.as_deref(),
        des,
        config_now: if context.config.error.is_none() { Some(&config_now) } else { None },
    };
    let (findings, opened) = stop::inspect(&stopping);
    let opened = known.judged.get_or_init(|| opened).as_ref();
    let failure = opened.filter(|opened| opened.step.is_honest_failure()).and_then(|opened| {
        let reason = opened.step.failure_reason()?;
        Some(Outcome {
            verdict: Verdict::Warn,
            message: messages::honest_failure(&opened.name, &reason),
            evidence: Evidence::HonestFailure,
        })
    });
    findings.into_iter().map(|finding| Outcome::finding(finding, des.blocks())).chain(failure).collect()
}

/// The judge's verdict.
pub(super) fn judge(config: &JudgeConfig, plan: &Plan, context: &Context<'_>) -> Option<Outcome> {
    let known = context.gate.as_ref()?;
    // It could only block, and it is unknown whether validation is required.
    if known.markers.validation == Validation::Unclear {
        return None;
    }
    let HookPayload::SubagentStop(stop) = context.payload() else { return None };
    let opened = known.judged.get().and_then(Option::as_ref);
    // The agent writes the step file, so the acceptance criteria at the call count.
    let at_call = known.origin.call.as_ref().and_then(|call| Step::of_rules(&call.rules));
    let criteria = at_call.as_ref().or(opened.map(|opened| &opened.step)).map(Step::acceptance_criteria);
    let own = known.paths.own.as_deref();
    let question = JudgeQuestion {
        prompt: &known.origin.prompt,
        criteria: &criteria.unwrap_or_default().join("\n"),
        step: opened.map_or("", |opened| opened.text.as_str()),
        changed_files: &stop::changed_files(&context.tree, &context.root.folder),
        transcript: &own.map(|path| transcript::tail(path, judge::MAX_TRANSCRIPT)).unwrap_or_default(),
        last_message: stop.last_assistant_message.as_deref().unwrap_or_default(),
    };
    let running = commands::note_running(context, "the judge", Timestamp::now());
    let judged = judge::outcome(config, &question, context.variables());
    drop(running);
    let shown = judged.finding.clone().map(|finding| Outcome::finding(finding, plan.gates.des.blocks()));
    let (verdict, message) =
        shown.map_or((Verdict::Pass, String::new()), |shown| (shown.verdict, shown.message));
    Some(Outcome { verdict, message, evidence: Evidence::Judge(judged.record, judged.finding) })
}

/// The tree before the commands run, if a gated agent is not responsible for their writes.
pub(super) fn tree_before_commands<'a>(plan: &Plan, context: &'a Context<'_>) -> Option<&'a Snapshot> {
    let is_watched = plan.commands().next().is_some()
        && (plan.gate().is_some()
            || (plan.event == EventKind::SubagentStart
                && GatedCall::all(&context.session).iter().any(GatedCall::is_open)));
    if is_watched { context.tree.snapshot().ok().flatten() } else { None }
}

/// The files that the commands wrote. A script may write anywhere, so this needs a second pass over the names and times of the
/// tree. Unchanged files are not read again, and git is not started. If a gate applies, this pass is the extra cost of a command:
/// `benches/run` limits both to 6 × `git status`.
pub(super) fn note_written_files(context: &Context<'_>, before: Option<&Snapshot>) {
    if let Some(before) = before
        && let Ok(Some(after)) = Snapshot::take(&context.root.work, Some(before), &context.budget)
    {
        stop::note_own_files(&context.session, &before.written_until(&after, &context.root.work));
    }
}
