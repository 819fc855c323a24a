//! What applies to an event, in order: pure data, made without side effects.

use std::path::PathBuf;
use std::time::Duration;

use crate::agent::Agent;
use crate::config::{Bounded, ConclaudeConfig, Names, NonBlank, Reaction, SubagentCommand, SubagentConfig};
use crate::event::{Blocking, Commands, Event};
use crate::log;
use crate::pattern::{self, PatternError};
use crate::process::DEFAULT_SHELL;
use crate::root::Root;
use crate::types::HookPayload;

/// What a call will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The event.
    pub event: Event,
    /// The subagent.
    pub agent: Agent,
    /// The commands, in the order in which they run.
    pub steps: Vec<Step>,
    /// Where they run.
    pub cwd: PathBuf,
    /// What they find in their environment; `None` is taken away.
    pub env: Vec<(&'static str, Option<String>)>,
    /// What would be done as well, if the config were trusted.
    pub withheld: Option<Withheld>,
}

/// What is not done, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// The reason.
    pub why: String,
    /// The commands that do not run.
    pub steps: Vec<Step>,
    /// The judge is not asked either.
    pub judge: bool,
}

/// One command of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The pattern that brought it here.
    pub pattern: String,
    /// The script.
    pub script: String,
    /// The shell.
    pub shell: String,
    /// What to say when it fails.
    pub message: Option<String>,
    /// Whether its stdout is shown.
    pub show_stdout: bool,
    /// Whether its stderr is shown.
    pub show_stderr: bool,
    /// How many lines of each are shown.
    pub max_lines: Option<u32>,
    /// When it is terminated.
    pub timeout: Option<Duration>,
    /// What its failure does.
    pub on_failure: Reaction,
    /// What its time-out does.
    pub on_timeout: Reaction,
}

impl Plan {
    /// A plan to do nothing.
    #[must_use]
    pub fn empty(event: Event) -> Plan {
        let agent = Agent { name: String::new(), kind: None, id: None, transcript: None };
        Plan { event, agent, steps: Vec::new(), cwd: PathBuf::new(), env: Vec::new(), withheld: None }
    }

    /// The same, with nothing that runs code of the project.
    pub(super) fn withhold(self, why: &str, judge: bool) -> Plan {
        let withheld = Withheld { why: why.to_owned(), steps: self.steps, judge };
        Plan { steps: Vec::new(), withheld: Some(withheld), ..self }
    }

    /// Adds what the gates know; a variable without a value is taken away.
    pub(super) fn add_environment(&mut self, more: impl IntoIterator<Item = (&'static str, Option<String>)>) {
        self.env
            .extend(more.into_iter().map(|(name, value)| (name, value.and_then(|value| fit(name, value)))));
    }

    /// Whether any step may end in a block.
    #[must_use]
    pub fn can_block(&self) -> bool {
        self.steps.iter().any(|step| {
            step.on_failure == Reaction::Block
                || (step.timeout.is_some() && step.on_timeout == Reaction::Block)
        })
    }
}

/// Makes the plan.
///
/// # Errors
/// When a pattern of the event's section cannot be evaluated.
pub(super) fn plan(
    event: Event,
    payload: &HookPayload,
    agent: &Agent,
    config: &ConclaudeConfig,
    root: &Root,
) -> Result<Plan, PatternError> {
    let steps = match event.row().commands {
        Commands::None => Vec::new(),
        Commands::SubagentStart => steps(config.subagent_start.as_ref(), event, agent)?,
        Commands::SubagentStop => steps(config.subagent_stop.as_ref(), event, agent)?,
    };
    Ok(Plan {
        event,
        agent: agent.clone(),
        steps,
        cwd: root.work.clone(),
        env: environment(payload, agent, root),
        withheld: None,
    })
}

fn steps<R: Names + Copy>(
    section: Option<&SubagentConfig<R>>,
    event: Event,
    agent: &Agent,
) -> Result<Vec<Step>, PatternError> {
    let Some(section) = section else { return Ok(Vec::new()) };
    let mode = section.mode.unwrap_or_default();
    let selected = pattern::select(section.entries(), mode, &agent.name, agent.id.as_deref())?;
    Ok(selected
        .into_iter()
        .flat_map(|(pattern, commands)| {
            commands.iter().map(move |command| step(pattern.as_str(), command, event))
        })
        .collect())
}

fn step<R: Names + Copy>(pattern: &str, command: &SubagentCommand<R>, event: Event) -> Step {
    let default_on_timeout = match event.row().blocking {
        Blocking::Stop => Reaction::Block,
        Blocking::Never | Blocking::Tool => Reaction::Warn,
    };
    Step {
        pattern: pattern.to_owned(),
        script: command.run.as_str().to_owned(),
        shell: command.shell.as_ref().map_or(DEFAULT_SHELL, NonBlank::as_str).to_owned(),
        message: command.message.clone(),
        show_stdout: command.show_stdout.unwrap_or(false),
        show_stderr: command.show_stderr.unwrap_or(false),
        max_lines: command.max_output_lines.map(Bounded::get),
        timeout: command.timeout.map(|seconds| Duration::from_secs(seconds.get().into())),
        on_failure: command.on_failure.map_or(Reaction::Warn, Names::reaction),
        on_timeout: command.on_timeout.map_or(default_on_timeout, Names::reaction),
    }
}

/// What commands are told. A variable of ours that has no value here is taken away, so that one of an outer hook
/// does not shine through.
fn environment(payload: &HookPayload, agent: &Agent, root: &Root) -> Vec<(&'static str, Option<String>)> {
    let config_dir = root.config.as_ref().and_then(|path| path.parent());
    let values = [
        ("CONCLAUDE_SESSION_ID", Some(payload.session_id().to_owned())),
        ("CONCLAUDE_TRANSCRIPT_PATH", Some(payload.transcript_path().to_owned())),
        ("CONCLAUDE_HOOK_EVENT", Some(payload.hook_event_name().to_owned())),
        ("CONCLAUDE_CWD", Some(payload.cwd().to_owned())),
        ("CONCLAUDE_CONFIG_DIR", config_dir.map(|folder| folder.to_string_lossy().into_owned())),
        ("CONCLAUDE_SUBAGENT_NAME", Some(agent.name.clone())),
        ("CONCLAUDE_SUBAGENT_TYPE", agent.kind.clone()),
        ("CONCLAUDE_AGENT_ID", agent.id.clone()),
        ("CONCLAUDE_AGENT_TRANSCRIPT_PATH", agent.transcript.clone()),
        ("CONCLAUDE_DES_STEP_FILE", None),
        ("CONCLAUDE_DES_AGENT", None),
        ("CONCLAUDE_DES_COMMAND", None),
        ("CONCLAUDE_DES_PROJECT_ID", None),
    ];
    values.into_iter().map(|(name, value)| (name, value.and_then(|value| fit(name, value)))).collect()
}

/// The kernel takes no value with a NUL and none above 128 KiB; a command must start all the same.
const MAX_VALUE: usize = 32 << 10;

fn fit(name: &str, value: String) -> Option<String> {
    if value.contains('\0') {
        log::warn(|| format!("{name} is left out: its value contains a NUL"));
        return None;
    }
    if value.len() <= MAX_VALUE {
        return Some(value);
    }
    log::warn(|| format!("{name} is cut to {MAX_VALUE} of {} bytes", value.len()));
    value.get(..value.floor_char_boundary(MAX_VALUE)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_be_in_an_environment_are_left_out_or_cut() {
        assert_eq!(fit("X", "a\0b".into()), None);
        assert_eq!(fit("X", "ok".into()).as_deref(), Some("ok"));
        let cut = fit("X", "ü".repeat(MAX_VALUE)).unwrap();
        assert!(cut.len() <= MAX_VALUE && cut.chars().all(|c| c == 'ü'));
    }
}
