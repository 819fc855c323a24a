//! Runs a plan: the one place where commands are started.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use super::plan::{Plan, Step};
use super::report::short;
use crate::config::Reaction;
use crate::log;
use crate::process::{self, CommandSpec, Finished, Keep, Status};
use crate::store::Session;
use crate::text::{LIMIT, head_and_tail};

/// The most of one stream that is shown, and the least that is worth showing.
const MOST_SHOWN: usize = 4_000;
const LEAST_SHOWN: usize = 200;

/// A step that was run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The step.
    pub step: Step,
    /// What came of it.
    pub finished: Finished,
}

impl Run {
    /// Whether the command did what it should.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.finished.status.is_success()
    }

    /// Whether the config makes this outcome block.
    #[must_use]
    pub fn wants_block(&self) -> bool {
        let reaction = match self.finished.status {
            Status::TimedOut(_) => self.step.on_timeout,
            _ => self.step.on_failure,
        };
        !self.is_success() && reaction == Reaction::Block
    }
}

/// Runs all steps, whatever becomes of each, unless we are told to stop.
pub(super) fn run(plan: &Plan, payload: &[u8], session: &Session) -> Vec<Run> {
    // All that is shown must fit into one answer, so each stream gets its share.
    let shown =
        plan.steps.iter().map(|step| usize::from(step.show_stdout) + usize::from(step.show_stderr)).sum();
    let share = (LIMIT * 8 / 10).checked_div(shown).unwrap_or(0).clamp(LEAST_SHOWN, MOST_SHOWN);
    let mut runs = Vec::new();
    for step in &plan.steps {
        let run = run_step(plan, step, payload, session, share);
        runs.push(run);
        if process::stop_signal().is_some() {
            break;
        }
    }
    runs
}

fn run_step(plan: &Plan, step: &Step, payload: &[u8], session: &Session, share: usize) -> Run {
    let keep = |shown: bool| if shown { Keep::Shown(share) } else { Keep::Nothing };
    let spec = CommandSpec {
        script: &step.script,
        shell: &step.shell,
        cwd: &plan.cwd,
        env: &plan.env,
        stdin: payload,
        timeout: step.timeout,
        stdout: keep(step.show_stdout),
        stderr: keep(step.show_stderr),
    };
    let mut spill = |stream: &'static str| -> io::Result<(File, PathBuf)> { session.output_file(stream) };
    let finished = process::run(&spec, &mut spill);
    let level = if finished.status.is_success() { log::Level::Info } else { log::Level::Warn };
    log::line(level, || {
        let (pattern, script) = (&step.pattern, short(&step.script));
        format!(
            "pattern {pattern:?}: `{script}` {} in {} ms",
            finished.status.describe(),
            finished.duration.as_millis()
        )
    });
    Run { step: step.clone(), finished }
}

/// A text that is too long for an answer: its beginning and its end, and where all of it is.
pub(super) fn shorten(text: String, session: &Session) -> String {
    let Some((head, tail, between)) = head_and_tail(&text, LIMIT - 500) else { return text };
    let saved = session
        .output_file("answer")
        .and_then(|(mut file, path)| file.write_all(text.as_bytes()).map(|()| path));
    let place = match saved {
        Ok(path) => format!("all of it is in {}", path.display()),
        Err(error) => format!("it could not be saved: {error}"),
    };
    format!("{head}\n… {between} characters left out; {place} …\n{tail}")
}
