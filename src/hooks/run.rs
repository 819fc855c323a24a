//! Runs a plan, step by step: every step ends in outcomes, whatever became of the one before.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::context::Context;
use super::{gates, panics, remember, session};
use crate::config::Reaction;
use crate::error::Result;
use crate::event::EventKind;
use crate::log;
use crate::messages;
use crate::outcome::{CommandRun, Evidence, Outcome, Verdict};
use crate::plan::{Action, Command, Plan};
use crate::process::{self, CommandSpec, Keep, Status};
use crate::text::LIMIT;

/// The most of one stream that is shown, and the least that is worth showing.
const MAX_SHOWN: usize = 4_000;
const MIN_SHOWN: usize = 200;

pub(super) fn run(plan: &Plan, context: &Context<'_>) -> Result<Vec<Outcome>> {
    panics::panic_here_in_tests("plan");
    if plan.event == EventKind::SubagentStart {
        remember::resume(context);
    }
    let mut outcomes = gates::notes(plan, context);
    let tree = gates::tree_before_commands(plan, context);
    let share = share(plan);
    for step in &plan.steps {
        let more = match &step.action {
            Action::Gate(gate) => gates::run(gate, plan, context),
            Action::Report(report) => session::run(*report, context)?,
            Action::Command(command) => vec![run_command(command, context, share)],
            Action::Judge(judge) => gates::judge(judge, context, &outcomes).into_iter().collect(),
        };
        outcomes.extend(more);
        if process::stop_signal().is_some() {
            break;
        }
    }
    gates::note_written_files(context, tree);
    outcomes.extend(plan.untrusted.as_ref().map(|untrusted| Outcome {
        verdict: Verdict::Warn,
        message: messages::untrusted(untrusted),
        evidence: Evidence::Skipped,
    }));
    Ok(outcomes)
}

/// All that is shown must fit into one answer, so each stream gets its share.
fn share(plan: &Plan) -> usize {
    let streams = plan
        .commands()
        .map(|command| usize::from(command.show_stdout) + usize::from(command.show_stderr))
        .sum();
    (LIMIT * 8 / 10).checked_div(streams).unwrap_or(0).clamp(MIN_SHOWN, MAX_SHOWN)
}

fn run_command(command: &Command, context: &Context<'_>, share: usize) -> Outcome {
    let keep = |shown: bool| if shown { Keep::Shown(share) } else { Keep::Nothing };
    let spec = CommandSpec {
        script: &command.script,
        shell: &command.shell,
        cwd: &command.cwd,
        env: &command.env,
        stdin: context.input,
        timeout: command.timeout,
        stdout: keep(command.show_stdout),
        stderr: keep(command.show_stderr),
    };
    let mut spill =
        |stream: &'static str| -> io::Result<(File, PathBuf)> { context.session.output_file(stream) };
    let finished = match wrong_folder(command) {
        Some(why) => process::Finished::not_started(why),
        None => process::run(&spec, &mut spill),
    };
    let run = CommandRun {
        command: command.clone(),
        is_success: finished.status.is_success(),
        status: finished.status.describe(),
        exit_code: finished.status.code(),
        duration: finished.duration,
        stdout: finished.stdout.excerpt(command.max_lines),
        stderr: finished.stderr.excerpt(command.max_lines),
    };
    log_run(&run);
    let reaction = match finished.status {
        Status::TimedOut(_) => command.on_timeout,
        _ => command.on_failure,
    };
    let verdict = match (run.is_success, reaction) {
        (true, _) => Verdict::Pass,
        (false, Reaction::Warn) => Verdict::Warn,
        (false, Reaction::Block) => Verdict::Block,
    };
    Outcome { verdict, message: messages::of_command(&run, verdict), evidence: Evidence::Command(run) }
}

/// Why a command cannot run in the folder that is configured for it. The default needs no look.
fn wrong_folder(command: &Command) -> Option<String> {
    if command.cwd == command.work {
        return None;
    }
    let name = command.cwd.strip_prefix(&command.work).unwrap_or(&command.cwd).display();
    let work = command.work.display();
    match (command.cwd.canonicalize(), command.work.canonicalize()) {
        (Ok(real), Ok(work)) if real.starts_with(&work) && real.is_dir() => None,
        (Ok(real), _) if !real.is_dir() => Some(format!("its `cwd` {name} is no folder in {work}")),
        (Ok(real), _) => Some(format!("its `cwd` {name} leads out of {work}, to {}", real.display())),
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => {
            Some(format!("its `cwd` {name} does not exist in {work}"))
        }
        (Err(error), _) => Some(format!("its `cwd` {name} in {work}: {error}")),
    }
}

fn log_run(run: &CommandRun) {
    let level = if run.is_success { log::Level::Info } else { log::Level::Warn };
    log::line(level, || {
        let (pattern, script) = (&run.command.pattern, messages::short(&run.command.script));
        format!("pattern {pattern:?}: `{script}` {} in {} ms", run.status, run.duration.as_millis())
    });
}
