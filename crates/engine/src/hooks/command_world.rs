//! The world of commands without a session: they run, and nothing else of an event is done.

use super::run::{self, World};
use conclaude_core::config::{BudgetConfig, JudgeConfig, PermissionRequestConfig, PreToolUseConfig};
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::{Command, ContextRule, Gate, Plan, Report, StateChange};
use conclaude_os::process;

/// Runs the commands of a plan. `run` is called with those that run at the same time. Returns the signal that ended it early, if one
/// came.
///
/// # Errors
/// The first error of `run`. What follows it is not run.
pub fn run_commands<E>(
    plan: &Plan,
    run: impl FnMut(&[&Command]) -> Result<(), E>,
) -> Result<Option<&'static str>, E> {
    let mut world = CommandWorld { run, failed: None };
    run::run(plan, &mut world);
    match world.failed {
        Some(error) => Err(error),
        None => Ok(process::stop_signal()),
    }
}

struct CommandWorld<F, E> {
    run: F,
    failed: Option<E>,
}

impl<E, F: FnMut(&[&Command]) -> Result<(), E>> World for CommandWorld<F, E> {
    fn guards(&mut self, _config: &PreToolUseConfig, _plan: &Plan) -> Vec<Outcome> {
        Vec::new()
    }

    fn permissions(&mut self, _config: &PermissionRequestConfig) -> Vec<Outcome> {
        Vec::new()
    }

    fn gate(&mut self, _gate: &Gate, _plan: &Plan) -> Vec<Outcome> {
        Vec::new()
    }

    fn context(&mut self, _rule: &ContextRule) -> Vec<Outcome> {
        Vec::new()
    }

    fn report(&mut self, _report: Report) -> Vec<Outcome> {
        Vec::new()
    }

    fn command(&mut self, command: &Command) -> Option<Outcome> {
        self.parallel_commands(&[command]).pop().flatten()
    }

    /// The caller prints how they ended. Nothing is decided by it.
    fn parallel_commands(&mut self, commands: &[&Command]) -> Vec<Option<Outcome>> {
        if self.failed.is_none() {
            self.failed = (self.run)(commands).err();
        }
        vec![None; commands.len()]
    }

    fn judge(&mut self, _config: &JudgeConfig, _plan: &Plan) -> Option<Outcome> {
        None
    }

    fn budget(&mut self, _config: &BudgetConfig, _so_far: &[Outcome]) -> Vec<Outcome> {
        Vec::new()
    }

    fn remember(&mut self, _what: StateChange, _plan: &Plan, _so_far: &[Outcome]) -> Vec<Outcome> {
        Vec::new()
    }

    fn stop_signal(&self) -> Option<&'static str> {
        process::stop_signal()
    }
}
