//! Runs commands, and divides the space of the answer among their outputs.

use std::borrow::Cow;
use std::io;

use jiff::Timestamp;

use super::context::Context;
use conclaude_core::config::{AuditConfig, Reaction, Show};
use conclaude_core::dialect::claude::{HookEnd, HookReply, MAX_STDOUT, fields};
use conclaude_core::event::EventKind;
use conclaude_core::messages;
use conclaude_core::outcome::{CommandRun, Evidence, Obstacle, Outcome, Verdict};
use conclaude_core::plan::Command;
use conclaude_core::plan::environment::TOOL_TIMESTAMP;
use conclaude_core::text::LIMIT;
use conclaude_os::process::{self, CapturedOutput, CommandSpec, Retention, SpillOpener, Status};
use conclaude_os::{log, notify};
use conclaude_store::audit;
use conclaude_store::store::running_commands::{RunningCommand, RunningMarker, note};

/// The limit on the shown part of one stream, and the least that is useful.
pub(super) const MAX_SHOWN: usize = 4_000;
const MIN_SHOWN: usize = 200;

/// The limit of a hook's stderr, which is its reason. Answers have less space.
const MAX_REASON: usize = 64 << 10;

/// Both streams of a finished command.
pub(super) struct CommandOutput {
    stdout: CapturedOutput,
    stderr: CapturedOutput,
}

/// Runs the commands in parallel. Which output is shown is known once all have run, so [`show`] makes their messages.
pub(super) fn run(commands: &[&Command], context: &Context<'_>) -> Vec<(Outcome, CommandOutput)> {
    commands.iter().for_each(|command| notify_user(command, context, None));
    let started = Timestamp::now();
    let stamped: Vec<Cow<'_, Command>> =
        commands.iter().map(|command| with_time(command, context.kind(), started)).collect();
    let session = &context.session;
    let mut files: Vec<_> =
        commands.iter().map(|_| |stream: &'static str| session.output_file(stream)).collect();
    let jobs = stamped.iter().zip(&mut files).map(|(command, file)| CommandJob {
        command,
        kept: retention(command),
        spill: Some(file),
        marker: note_running(context, &command.run, started),
    });
    let finished = execute(jobs.collect(), context.input);
    commands
        .iter()
        .zip(finished)
        .map(|(command, finished)| ended(command, finished, started, context))
        .collect()
}

/// Which parts of its streams are stored. Its failure is not yet known, so the output is captured if a failure would show it.
fn retention(command: &Command) -> StreamRetention {
    let keep =
        |show: Show| if show == Show::Never { Retention::Nothing } else { Retention::Shown(MAX_SHOWN) };
    if command.is_hook() {
        return HOOK_RETENTION;
    }
    let stdout = if command.answers { Retention::Shown(MAX_SHOWN) } else { keep(command.show_stdout) };
    StreamRetention { stdout, stderr: keep(command.show_stderr) }
}

fn ended(
    command: &Command,
    finished: process::FinishedCommand,
    started: Timestamp,
    context: &Context<'_>,
) -> (Outcome, CommandOutput) {
    let run = CommandRun {
        command: command.clone(),
        is_success: finished.status.is_success(),
        is_timeout: matches!(finished.status, Status::TimedOut(_)),
        status: finished.status.describe(),
        exit_code: finished.status.code(),
        started,
        duration: finished.duration,
        stdout: None,
        stderr: None,
        answer: None,
        reply: if command.is_hook() { Some(Box::new(reply(context.kind(), &finished))) } else { None },
        output: if records_output(context) && !finished.status.is_success() {
            finished.joined.excerpt(audit::OUTPUT_LIMITS)
        } else {
            None
        },
    };
    log_run(&run);
    notify_user(command, context, Some(&run));
    let verdict = verdict(&run, |obstacle| context.was_blocked_by(obstacle));
    let outcome = Outcome { verdict, message: String::new(), evidence: Evidence::Command(Box::new(run)) };
    (outcome, CommandOutput { stdout: finished.stdout, stderr: finished.stderr })
}

/// Which parts of a hook's streams are stored: they are its answer.
pub const HOOK_RETENTION: StreamRetention =
    StreamRetention { stdout: Retention::Shown(MAX_STDOUT), stderr: Retention::Shown(MAX_REASON) };

/// The answer of a command as a hook.
#[must_use]
pub fn reply(event: EventKind, finished: &process::FinishedCommand) -> HookReply {
    HookReply::read(
        event,
        &HookEnd {
            exit_code: finished.status.code(),
            is_timeout: matches!(finished.status, Status::TimedOut(_)),
            status: &finished.status.describe(),
            stdout: &finished.stdout.text(),
            is_cut: finished.stdout.is_cut(),
            stderr: &finished.stderr.text(),
        },
    )
}

/// Whether the end of a failed command's output is recorded.
fn records_output(context: &Context<'_>) -> bool {
    let audit = context.config.settings.audit.as_ref();
    context.is_audited() && audit.is_none_or(AuditConfig::records_output)
}

/// Adds the start time for an event of a tool, because a plan has no clock.
fn with_time(command: &Command, event: EventKind, started: Timestamp) -> Cow<'_, Command> {
    if !fields::has_tool(event) {
        return Cow::Borrowed(command);
    }
    let mut stamped = command.clone();
    stamped.env.push((TOOL_TIMESTAMP.to_owned(), Some(started.to_string())));
    Cow::Owned(stamped)
}

/// Which parts of a command's streams are stored.
#[derive(Clone, Copy)]
pub struct StreamRetention {
    pub stdout: Retention,
    pub stderr: Retention,
}

/// A command of a plan that is to run.
pub struct CommandJob<'a> {
    pub command: &'a Command,
    pub kept: StreamRetention,
    pub spill: Option<SpillOpener<'a>>,
    /// Records that it runs.
    pub marker: Option<RunningMarker>,
}

/// Runs commands of a plan in parallel, each only if its folder is allowed. The results are in their order.
#[must_use]
pub fn execute<'a>(jobs: Vec<CommandJob<'a>>, stdin: &'a [u8]) -> Vec<process::FinishedCommand> {
    let mut refused = Vec::new();
    let mut started = Vec::new();
    for job in jobs {
        let CommandJob { command, kept: StreamRetention { stdout, stderr }, spill, marker } = job;
        let why = wrong_folder(command);
        if why.is_none() {
            let Command { script, shell, cwd, env, timeout, .. } = command;
            let spec = CommandSpec { script, shell, cwd, env, stdin, timeout: *timeout, stdout, stderr };
            let marker = marker.map(|marker| Box::new(marker) as Box<dyn Send>);
            started.push(process::CommandJob { spec, spill, marker });
        }
        refused.push(why.map(process::FinishedCommand::not_started));
    }
    let mut finished = process::run_all(started).into_iter();
    refused.into_iter().filter_map(|refused| refused.or_else(|| finished.next())).collect()
}

/// Why a command cannot run in its configured folder. The default needs no check.
fn wrong_folder(command: &Command) -> Option<String> {
    if command.cwd == command.work {
        return None;
    }
    let name = command.cwd.strip_prefix(&command.work).unwrap_or(&command.cwd).display();
    let work = command.work.display();
    match (command.cwd.canonicalize(), command.work.canonicalize()) {
        (Ok(real), Ok(work)) if real.starts_with(&work) && real.is_dir() => None,
        (Ok(real), _) if !real.is_dir() => Some(format!("its `cwd` {name} is not a folder in {work}")),
        (Ok(real), _) => Some(format!("its `cwd` {name} leads out of {work}, to {}", real.display())),
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => {
            Some(format!("its `cwd` {name} does not exist in {work}"))
        }
        (Err(error), _) => Some(format!("its `cwd` {name} in {work}: {error}")),
    }
}

pub(super) fn verdict(run: &CommandRun, was_blocked_by: impl FnOnce(Obstacle) -> bool) -> Verdict {
    if let Some(reply) = &run.reply {
        return reply.verdict;
    }
    match run.reaction() {
        _ if run.is_success => Verdict::Pass,
        Reaction::Warn => Verdict::Warn,
        // The agent can fix neither slowness nor a missing program. Blocking it again would only repeat the cost.
        Reaction::Block if run.obstacle().is_some_and(was_blocked_by) => Verdict::Warn,
        Reaction::Block => Verdict::Block,
    }
}

/// Makes the messages of finished commands, each with its output. All must fit into one answer, so each stream gets its share.
pub(super) fn show(ended: &mut [Outcome], outputs: Vec<CommandOutput>, context: &Context<'_>) {
    let mut shown = Vec::new();
    for (outcome, CommandOutput { stdout, stderr }) in ended.iter_mut().zip(outputs) {
        let Evidence::Command(run) = &mut outcome.evidence else { continue };
        if let Some(reply) = &run.reply {
            outcome.message = messages::of_reply(run, reply);
            stdout.discard();
            stderr.discard();
            continue;
        }
        if run.command.answers && run.is_success {
            run.answer = stdout.excerpt(run.command.max_lines);
        }
        let pick = |stream: CapturedOutput, show: Show| {
            if show.applies(run.is_success) && stream.bytes > 0 {
                return Some(stream);
            }
            stream.discard();
            None
        };
        let stdout = pick(stdout, run.command.show_stdout);
        let stderr = pick(stderr, run.command.show_stderr);
        shown.push((outcome, stdout, stderr));
    }
    let streams = shown.iter().map(|(_, out, err)| usize::from(out.is_some()) + usize::from(err.is_some()));
    let share = (LIMIT * 8 / 10).checked_div(streams.sum()).unwrap_or(0).clamp(MIN_SHOWN, MAX_SHOWN);
    let session = &context.session;
    let excerpt = |stream: Option<CapturedOutput>, max_lines| {
        let mut stream = stream?;
        stream.shrink(share, &mut |name| session.output_file(name));
        stream.excerpt(max_lines)
    };
    for (outcome, stdout, stderr) in shown {
        if let Evidence::Command(run) = &mut outcome.evidence {
            run.stdout = excerpt(stdout, run.command.max_lines);
            run.stderr = excerpt(stderr, run.command.max_lines);
            outcome.message = messages::of_command(run, outcome.verdict);
        }
    }
}

/// Notifies the user of the start or the end of a command, if configured.
fn notify_user(command: &Command, context: &Context<'_>, run: Option<&CommandRun>) {
    let outcome =
        run.map(|run| if run.is_success { notify::Outcome::Success } else { notify::Outcome::Failure });
    let config = context.config.settings.notifications.as_ref();
    if command.is_notified && notify::is_wanted_of_command(config, context.kind(), outcome) {
        let what = run.map_or("runs", |run| &run.status);
        let title = format!("conclaude: {}", context.kind());
        notify::send(&title, &format!("{} {what}", messages::command_name(command)), &context.budget);
    }
}

fn log_run(run: &CommandRun) {
    let level = if run.is_success { log::Level::Info } else { log::Level::Warn };
    log::line(level, || {
        let pattern = run.command.rule.pattern.as_deref().unwrap_or_default();
        let name = messages::command_name(&run.command);
        format!("pattern {pattern:?}: {name} {} in {} ms", run.status, run.duration.as_millis())
    });
}

/// Records that something runs, until the marker is dropped. Without records, this is skipped.
pub(super) fn note_running(
    context: &Context<'_>,
    command: &str,
    started: Timestamp,
) -> Option<RunningMarker> {
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
