//! Runs the commands, and prints one line for each, its output if that is shown, and a summary.

use std::io;
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use super::plan::{EventPlan, SkippedCommand};
use crate::cli::out::{ExactText, Out, Paint};
use conclaude_core::config::{Reaction, Show};
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_core::messages::short;
use conclaude_core::outcome::Verdict;
use conclaude_core::plan::Command;
use conclaude_core::text::{count, indent};
use conclaude_engine::hooks;
use conclaude_os::process::{CapturedOutput, FinishedCommand, Retention, Status};

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());
const FAINT: Paint = Paint(Style::new().dimmed());
const BOLD: Paint = Paint(Style::new().bold());

/// Nobody reads more: a user sees the whole output of a command.
const MAX_SHOWN: usize = 4 << 20;

pub(super) struct RunReport {
    out: Out<'static>,
    /// Whether there are several events to distinguish.
    names_events: bool,
    passed: u64,
    /// Failures that would block, and those that only warn.
    blocking: u64,
    warning: u64,
    skipped: u64,
}

impl RunReport {
    pub(super) fn new(names_events: bool) -> RunReport {
        RunReport { out: Out::stdout(), names_events, passed: 0, blocking: 0, warning: 0, skipped: 0 }
    }

    pub(super) fn event(&mut self, planned: &EventPlan) -> io::Result<()> {
        if self.names_events && !planned.commands.is_empty() {
            writeln!(self.out, "{BOLD}{}{BOLD:#}", planned.event.row().section)?;
        }
        for warning in &planned.warnings {
            writeln!(self.out, "{WARNING}warning{WARNING:#}: {warning}")?;
        }
        Ok(())
    }

    pub(super) fn skipped(&mut self, command: &SkippedCommand<'_>) -> io::Result<()> {
        self.skipped += 1;
        let why = match command.ran_at {
            Some(section) => format!("it ran at `{section}`, above"),
            None => "its `files` match nothing that has changed".into(),
        };
        writeln!(self.out, "{FAINT}-{FAINT:#} `{}` {FAINT}skipped: {why}{FAINT:#}", short(command.run))
    }

    /// Runs commands in parallel, and prints the result of each.
    pub(super) fn ran(&mut self, commands: &[&Command], planned: &EventPlan) -> io::Result<()> {
        let jobs = commands.iter().map(|command| hooks::CommandJob {
            command,
            kept: retention(command),
            spill: None,
            marker: None,
        });
        let finished = hooks::execute(jobs.collect(), &planned.payload);
        commands
            .iter()
            .zip(&finished)
            .try_for_each(|(command, finished)| self.ended(command, finished, planned))
    }

    fn ended(
        &mut self,
        command: &Command,
        finished: &FinishedCommand,
        planned: &EventPlan,
    ) -> io::Result<()> {
        if command.is_hook() {
            return self.hook(command, finished, planned.event);
        }
        self.line(command, finished)?;
        let is_success = finished.status.is_success();
        for (stream, show) in
            [(&finished.stdout, command.show_stdout), (&finished.stderr, command.show_stderr)]
        {
            if show.applies(is_success) {
                self.output(stream)?;
            }
        }
        self.out.flush()
    }

    fn line(&mut self, command: &Command, finished: &FinishedCommand) -> io::Result<()> {
        let (script, took) = (short(&command.run), seconds(finished.duration));
        if finished.status.is_success() {
            self.passed += 1;
            return writeln!(self.out, "{GOOD}✓{GOOD:#} `{script}` {FAINT}{took}{FAINT:#}");
        }
        let is_timeout = matches!(finished.status, Status::TimedOut(_));
        let reaction = if is_timeout { command.on_timeout } else { command.on_failure };
        let how = finished.status.describe();
        match reaction {
            Reaction::Block => {
                self.blocking += 1;
                writeln!(self.out, "{BAD}✗{BAD:#} `{script}` {how} {FAINT}{took}{FAINT:#}")?;
            }
            Reaction::Warn => {
                self.warning += 1;
                writeln!(self.out, "{WARNING}⚠{WARNING:#} `{script}` {how} {FAINT}{took}{FAINT:#}")?;
            }
        }
        match &command.message {
            Some(message) => writeln!(self.out, "  {message}"),
            None => Ok(()),
        }
    }

    /// The answer of a command that acts as a hook.
    fn hook(&mut self, command: &Command, finished: &FinishedCommand, event: EventKind) -> io::Result<()> {
        let (script, took) = (short(&command.run), seconds(finished.duration));
        let reply = hooks::reply(event, finished);
        let (style, number) = match reply.verdict {
            Verdict::Pass | Verdict::Grant => (GOOD, &mut self.passed),
            Verdict::Warn | Verdict::Ask => (WARNING, &mut self.warning),
            Verdict::Block => (BAD, &mut self.blocking),
        };
        *number += 1;
        let mark = reply.verdict.mark();
        writeln!(self.out, "{style}{mark}{style:#} `{script}` {FAINT}{took}{FAINT:#}")?;
        let texts = [&reply.reason, &reply.message, &reply.context, &reply.problem];
        for text in texts.into_iter().flatten() {
            writeln!(self.out, "{}", indent(text, "  "))?;
        }
        self.out.flush()
    }

    fn output(&mut self, stream: &CapturedOutput) -> io::Result<()> {
        match stream.printable() {
            // Unchanged, because a log or another program may read it.
            Some(text) => writeln!(self.out, "{}", ExactText(&indent(&text, "  "))),
            None => Ok(()),
        }
    }

    /// The summary, and the exit code.
    pub(super) fn finish(mut self, strict: bool) -> io::Result<Exit> {
        let parts = [
            (self.passed, "passed"),
            (self.blocking, "failed"),
            (self.warning, "failed and would only warn"),
            (self.skipped, "skipped"),
        ];
        let all: u64 = parts.iter().map(|(number, _)| number).sum();
        let named: Vec<String> = parts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{number} {what}"))
            .collect();
        match all {
            0 => writeln!(
                self.out,
                "nothing to run: no command is configured for this; `conclaude validate` lists what is"
            )?,
            _ => writeln!(self.out, "{}: {}", count(all, "command"), named.join(", "))?,
        }
        let has_failed = self.blocking > 0 || (strict && (self.warning > 0 || all == self.skipped));
        Ok(if has_failed { Exit::Failure } else { Exit::Success })
    }
}

fn retention(command: &Command) -> hooks::StreamRetention {
    let keep =
        |show: Show| if show == Show::Never { Retention::Nothing } else { Retention::Shown(MAX_SHOWN) };
    if command.is_hook() {
        hooks::HOOK_RETENTION
    } else {
        hooks::StreamRetention { stdout: keep(command.show_stdout), stderr: keep(command.show_stderr) }
    }
}

fn seconds(duration: Duration) -> String {
    format!("({:.1} s)", duration.as_secs_f32())
}
