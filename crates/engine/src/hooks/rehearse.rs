//! An event that is only looked at: its plan, what guards and gates find, and what would be answered in each case. Nothing is
//! run and nothing is written.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::context::Context;
use super::{Environment, commands, finish, guards, permissions, run};
use conclaude_checks::guard::{Compared, Effects, Watch};
use conclaude_checks::permission::Permitted;
use conclaude_core::config::{ConfigError, DesConfig, Source, file_name};
use conclaude_core::decide::{self, Count, Word};
use conclaude_core::dialect::claude::{self, Answer, tools};
use conclaude_core::error::Result;
use conclaude_core::event::EventKind;
use conclaude_core::messages;
use conclaude_core::outcome::{CommandRun, Evidence, Outcome};
use conclaude_core::plan::{Action, Command, Plan};
use conclaude_core::rule::Rule;
use conclaude_os::deadline;
use conclaude_os::process::{CapturedOutput, Status};

pub use super::not_run::NotRun;
use super::not_run::not_run;

/// How a command might end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exits(i32),
    TimesOut,
    /// As before, when it blocked: that counts once.
    TimesOutAgain,
}

/// What a command might print.
#[derive(Clone, Copy, Debug, Default)]
pub struct Printed<'a> {
    pub stdout: &'a str,
    pub stderr: &'a str,
}

/// How a command might end, and what it might print until then.
#[derive(Clone, Copy, Debug)]
pub struct Played<'a> {
    pub end: End,
    pub printed: Printed<'a>,
}

impl From<End> for Played<'_> {
    fn from(end: End) -> Self {
        Played { end, printed: Printed::default() }
    }
}

/// An event as it would be handled.
pub struct Rehearsal {
    pub plan: Plan,
    /// Who causes the event; none is the main thread.
    pub agent: Option<String>,
    pub root: PathBuf,
    /// The files of the config, the outermost first.
    pub files: Vec<Source>,
    pub config_error: Option<ConfigError>,
    pub not_run: Vec<NotRun>,
    pub guards: Option<Guarded>,
    pub permissions: Option<Permitted>,
    /// Why no gate applies, where one could.
    pub no_gate: Option<String>,
    /// What guards and gates find, step by step.
    pub checks: Vec<Vec<Outcome>>,
    /// The config has a section for the event.
    pub has_section: bool,
    is_first_stop: bool,
    is_shown_later: bool,
}

/// A tool call as the guards saw it.
pub struct Guarded {
    pub effects: Effects,
    /// Every rule, in the order in which they are compared.
    pub rules: Vec<Rule>,
    pub compared: Vec<Compared>,
}

pub struct Answered {
    /// None where the event fails.
    pub word: Option<Word>,
    pub answer: Answer,
    /// What is shown at a later event, since nobody would see it at this one.
    pub later: Option<String>,
}

/// Looks at an event. None where there is nothing to handle: the stop of an agent that nobody started.
///
/// # Errors
/// When the payload is invalid.
pub fn rehearse(event: EventKind, input: &[u8], environment: &Environment) -> Result<Option<Rehearsal>> {
    deadline::start();
    let environment = Environment { is_rehearsal: true, ..environment.clone() };
    let Some(context) = Context::gather(claude::parse(event, input)?, input, &environment)? else {
        return Ok(None);
    };
    let plan = context.plan()?;
    let seen = RefCell::new(Vec::new());
    let (mut guarded, mut permitted, mut checks) = (None, None, Vec::new());
    for step in &plan.steps {
        checks.push(match &step.action {
            Action::Guards(config) => match guards::inspect(config, &plan, &context, Watch::into(&seen)) {
                Some(Ok(inspected)) => {
                    guarded = Some((inspected.effects, inspected.rules.all()));
                    inspected.findings.into_iter().map(guards::outcome).collect()
                }
                Some(Err(error)) => vec![guards::broken(&error)],
                None => Vec::new(),
            },
            action => {
                if let Action::Permissions(config) = action {
                    permitted = permissions::inspect(config, &context);
                }
                run::check(action, &plan, &context)
            }
        });
    }
    let has_gate = plan.steps.iter().any(|step| step.action.is_gate());
    let no_gate = if has_gate { None } else { no_gate(&context) };
    Ok(Some(Rehearsal {
        agent: context.subagent().map(|agent| agent.name.clone()),
        root: context.root.folder.clone(),
        files: context.config.origins.sources().to_vec(),
        config_error: context.config.error.clone(),
        not_run: not_run(&plan, &context),
        guards: guarded.map(|(effects, rules)| Guarded { effects, rules, compared: seen.into_inner() }),
        permissions: permitted,
        no_gate,
        checks,
        has_section: context.config.settings.section(event).is_some(),
        is_first_stop: context.is_first_stop(),
        is_shown_later: finish::is_shown_later(&context, &plan),
        plan,
    }))
}

impl Rehearsal {
    /// A name for a file of the config.
    pub fn file_name(&self, path: &Path) -> String {
        file_name(path, Some(&self.root))
    }

    /// Whether a gate found this, and not a guard.
    pub fn is_of_gate(&self, outcome: &Outcome) -> bool {
        let steps = self.plan.steps.iter().zip(&self.checks);
        let gates = steps.filter(|(step, _)| step.action.is_gate());
        gates.into_iter().any(|(_, checks)| checks.iter().any(|one| std::ptr::eq(one, outcome)))
    }

    /// What would be answered if the commands ended so, and the agent had been blocked so often.
    pub fn answer(&self, end: impl Fn(&Command) -> End, count: Count) -> Answered {
        self.answer_to(|command| end(command).into(), count)
    }

    /// The same if they printed something.
    pub fn answer_to<'p>(&self, end: impl Fn(&Command) -> Played<'p>, count: Count) -> Answered {
        let event = self.plan.event;
        let mut outcomes = Vec::new();
        for (step, checks) in self.plan.steps.iter().zip(&self.checks) {
            match &step.action {
                Action::Command(command) => outcomes.push(played(command, end(command))),
                _ => outcomes.extend(checks.iter().cloned()),
            }
        }
        outcomes.extend(run::notes(&self.plan, &outcomes));
        let decided = decide::decide(&self.plan, &outcomes, self.is_first_stop, || Ok(count));
        let (mut result, word) = (decided.result, decided.word);
        let later = if self.is_shown_later { result.message_with_error() } else { None };
        if self.is_shown_later {
            result.message = None;
        }
        let word = result.error.is_none().then_some(word);
        Answered { word, answer: claude::render(event, &Ok(result), &[]), later }
    }
}

/// The outcome of a command that was not run, if it ended so.
fn played(command: &Command, Played { end, printed }: Played<'_>) -> Outcome {
    let status = match end {
        End::Exits(code) => Status::Exited(code),
        End::TimesOut | End::TimesOutAgain => Status::TimedOut(command.timeout.unwrap_or_default()),
    };
    let is_success = status.is_success();
    let excerpt = |name, text: &str, is_shown: bool| {
        let captured = is_shown.then(|| CapturedOutput::given(name, text, commands::MAX_SHOWN));
        captured.and_then(|captured| captured.excerpt(command.max_lines))
    };
    let run = CommandRun {
        command: command.clone(),
        is_success,
        is_timeout: matches!(end, End::TimesOut | End::TimesOutAgain),
        status: status.describe(),
        exit_code: status.code(),
        started: jiff::Timestamp::UNIX_EPOCH,
        duration: Duration::ZERO,
        stdout: excerpt("stdout", printed.stdout, command.show_stdout.applies(is_success)),
        stderr: excerpt("stderr", printed.stderr, command.show_stderr.applies(is_success)),
        answer: excerpt("stdout", printed.stdout, command.answers && is_success),
    };
    let verdict = commands::verdict(&run, || end == End::TimesOutAgain);
    let message = messages::of_command(&run, verdict);
    Outcome { verdict, message, evidence: Evidence::Command(run) }
}

/// Why no gate applies to an event that could have one.
fn no_gate(context: &Context<'_>) -> Option<String> {
    let is_on = context.config.settings.des.as_ref().is_none_or(DesConfig::is_enabled);
    let tool = context.event.fields.get("tool_name").and_then(serde_json::Value::as_str);
    let why = match (context.kind(), tool) {
        (EventKind::PreToolUse | EventKind::SubagentStop, _) if !is_on => "`des.enabled` is false",
        (EventKind::PreToolUse, Some(tool)) if tools::starts_agent(tool) => {
            "the prompt has no marker `DES-VALIDATION: required`"
        }
        (EventKind::PreToolUse, _) if context.caller.is_none() => {
            "on the main thread only calls of agents have one"
        }
        (EventKind::PreToolUse | EventKind::SubagentStop, _) => {
            "no prompt with DES markers is known for this agent (a real payload, with --payload, names its transcript)"
        }
        _ => return None,
    };
    Some(why.into())
}
