//! Inspects an event: its plan, the findings of guards and gates, and the answer in each case. Nothing is run and nothing is
//! written.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::call::AnsweredEvent;
use super::changed_input::ChangedCall;
use super::conclude::{self, Conclusion, DecidingWorld};
use super::context::Context;
use super::run::{self, World};
use super::sandbox_questions::SettledQuestions;
use super::{
    Environment, budgets, commands, config, finish, gates, guards, permissions, permits, prompt_context,
};
use crate::sandbox::WhyAsked;
use conclaude_checks::guard::{Comparison, ComparisonLog, Effects, Finding};
use conclaude_checks::permission::PermissionExplanation;
use conclaude_core::blocks::{BlockCause, BlockCount, CountError};
use conclaude_core::config::{
    BudgetConfig, ConfigError, DesConfig, JudgeConfig, PermissionRequestConfig, PreToolUseConfig, Source,
    file_name,
};
use conclaude_core::decide::Word;
use conclaude_core::dialect::Answer;
use conclaude_core::dialect::claude::{self, HookEnd, HookReply, tools};
use conclaude_core::error::Result;
use conclaude_core::event::{Blocking, EventKind};
use conclaude_core::messages;
use conclaude_core::outcome::{CommandRun, Evidence, Outcome, Verdict};
use conclaude_core::plan::{Command, ContextRule, Gate, Plan, Report, StateChange};
use conclaude_core::rule::Rule;
use conclaude_core::types::Event;
use conclaude_os::budget::Budget;
use conclaude_os::process::{CapturedOutput, Status};
use conclaude_store::store::permits::{ClaimedAt, Permit};
use serde_json::{Map, Value};

pub use super::skipped_commands::SkippedCommand;
use super::skipped_commands::not_run;

/// How a command might end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    Exits(i32),
    TimesOut,
    /// It times out, as it did when it blocked before. It blocks only once.
    TimesOutAgain,
    /// Like `TimesOutAgain`, but with an exit code. It matters for missing programs.
    ExitsAgain(i32),
}

impl CommandEnd {
    fn is_repeated(self) -> bool {
        matches!(self, CommandEnd::TimesOutAgain | CommandEnd::ExitsAgain(_))
    }
}

/// The simulated output of a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimulatedOutput<'a> {
    pub stdout: &'a str,
    pub stderr: &'a str,
}

/// The simulated end of a command, and its output.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedRun<'a> {
    pub end: CommandEnd,
    /// `None` if unspecified: then the output is what the event needs.
    pub printed: Option<SimulatedOutput<'a>>,
}

const SUCCESS: SimulatedRun<'static> = SimulatedRun { end: CommandEnd::Exits(0), printed: None };

/// The output of a command that makes a worktree, if unspecified.
const SOME_WORKTREE: &str = "(the path of the worktree)";

impl From<CommandEnd> for SimulatedRun<'_> {
    fn from(end: CommandEnd) -> Self {
        SimulatedRun { end, printed: None }
    }
}

/// The handling of an event.
pub struct Rehearsal {
    pub plan: Plan,
    /// The agent that causes the event. `None` for the main thread.
    pub agent: Option<String>,
    pub root: PathBuf,
    /// The files of the config, the outermost first.
    pub files: Vec<Source>,
    pub config_error: Option<ConfigError>,
    pub not_run: Vec<SkippedCommand>,
    pub guards: Option<GuardReport>,
    pub permissions: Option<PermissionExplanation>,
    /// Why no gate applies, if one could.
    pub no_gate: Option<String>,
    /// The findings of guards and gates, step by step.
    pub checks: Vec<Vec<Outcome>>,
    /// Whether the config has a section for the event.
    pub has_section: bool,
    context: Context<'static>,
    results: CheckResults,
}

/// The guards' view of a tool call.
pub struct GuardReport {
    pub effects: Effects,
    /// Every rule once, in the order in which they are compared.
    pub rules: Vec<Rule>,
    pub compared: Vec<Comparison>,
    /// Questions for the sandbox.
    pub settled: Vec<Finding>,
    /// Why the other questions are asked.
    pub why_asked: Option<WhyAsked>,
}

pub struct RehearsedAnswer {
    /// `None` if the event fails.
    pub word: Option<Word>,
    /// In the form of the event's client.
    pub answer: Answer,
    /// In the form of Claude Code.
    pub plain: Answer,
    /// The message at a later event, if nobody would see it at this one.
    pub later: Option<String>,
    /// The outcomes that led to the answer.
    pub outcomes: Vec<Outcome>,
}

/// The findings of an event's checks. They run once, for any number of simulated answers.
#[derive(Default)]
struct CheckResults {
    /// Whether comparisons with rules are recorded.
    explains: bool,
    guards: OnceCell<Vec<Outcome>>,
    guarded: OnceCell<GuardReport>,
    permissions: OnceCell<Vec<Outcome>>,
    permitted: OnceCell<PermissionExplanation>,
    gate: OnceCell<Vec<Outcome>>,
    budget: OnceCell<Vec<Outcome>>,
    config_error: OnceCell<Vec<Outcome>>,
}

/// The world of a rehearsal: checks read the disk as in a hook, commands end as the caller says, and nothing is run or written.
struct RehearsedWorld<'a, F> {
    context: &'a Context<'static>,
    results: &'a CheckResults,
    ends: F,
    /// How often the agent was blocked, if this blocks it.
    count: BlockCount,
}

impl<'p, F: Fn(&Command) -> SimulatedRun<'p>> World for RehearsedWorld<'_, F> {
    fn guards(&mut self, config: &PreToolUseConfig, plan: &Plan) -> Vec<Outcome> {
        let look = || {
            let seen = RefCell::default();
            let log = if self.results.explains { ComparisonLog::into(&seen) } else { ComparisonLog::Nothing };
            let inspected = match guards::inspect(config, plan, self.context, log) {
                Some(Ok(inspected)) => inspected,
                Some(Err(error)) => return vec![guards::broken(&error)],
                None => return Vec::new(),
            };
            let (effects, rules) = (inspected.effects, distinct(inspected.rules.all()));
            let compared = seen.into_inner().into_iter().collect();
            let SettledQuestions { findings, settled, why_asked } = inspected.found;
            self.results.guarded.get_or_init(|| GuardReport { effects, rules, compared, settled, why_asked });
            findings.into_iter().map(guards::outcome).collect()
        };
        self.results.guards.get_or_init(look).clone()
    }

    fn permissions(&mut self, config: &PermissionRequestConfig) -> Vec<Outcome> {
        let look = || {
            if let Some(permitted) = permissions::inspect(config, self.context) {
                self.results.permitted.get_or_init(|| permitted);
            }
            permissions::run(config, self.context)
        };
        self.results.permissions.get_or_init(look).clone()
    }

    fn gate(&mut self, gate: &Gate, plan: &Plan) -> Vec<Outcome> {
        self.results.gate.get_or_init(|| gates::run(gate, plan, self.context)).clone()
    }

    fn context(&mut self, rule: &ContextRule) -> Vec<Outcome> {
        prompt_context::run(rule, self.context)
    }

    /// Reports need the state of the session, or write it.
    fn report(&mut self, report: Report) -> Vec<Outcome> {
        match report {
            Report::Installation | Report::Unfinished | Report::Denials | Report::Enforcement => Vec::new(),
            Report::Config => {
                let look = || config::report_error(self.context).into_iter().collect();
                self.results.config_error.get_or_init(look).clone()
            }
        }
    }

    fn command(&mut self, command: &Command) -> Option<Outcome> {
        Some(played(command, (self.ends)(command), self.context.kind()))
    }

    fn judge(&mut self, _config: &JudgeConfig, _plan: &Plan) -> Option<Outcome> {
        None
    }

    /// A sample uses nothing.
    fn budget(&mut self, config: &BudgetConfig, so_far: &[Outcome]) -> Vec<Outcome> {
        let is_refused = so_far.iter().any(|outcome| outcome.verdict == Verdict::Block);
        if is_refused || self.context.is_sample() {
            return Vec::new();
        }
        self.results.budget.get_or_init(|| budgets::run(config, self.context, so_far)).clone()
    }

    fn remember(&mut self, _what: StateChange, _plan: &Plan, _so_far: &[Outcome]) -> Vec<Outcome> {
        Vec::new()
    }

    fn changed_input(&mut self, input: &Map<String, Value>, _plan: &Plan) -> Vec<Outcome> {
        let Some(ChangedCall { context, plan }) = ChangedCall::new(self.context, input) else {
            return Vec::new();
        };
        let results = CheckResults::default();
        let ends: fn(&Command) -> SimulatedRun<'static> = |_| SUCCESS;
        let mut world = RehearsedWorld { context: &context, results: &results, ends, count: self.count };
        run::run(&plan, &mut world).outcomes
    }
}

impl<'p, F: Fn(&Command) -> SimulatedRun<'p>> DecidingWorld for RehearsedWorld<'_, F> {
    /// It stays for the call that is made.
    fn permit(&mut self, at: ClaimedAt) -> Option<Permit> {
        if self.context.is_sample() { None } else { permits::find(self.context, at) }
    }

    fn is_first_stop(&self) -> bool {
        self.context.is_first_stop()
    }

    fn count_block(&mut self, _max: u32, _cause: &BlockCause) -> Result<BlockCount, CountError> {
        Ok(self.count)
    }
}

/// A rule of several layers counts once, as in a pack that both extend.
fn distinct(rules: Vec<Rule>) -> Vec<Rule> {
    let mut found: Vec<Rule> = Vec::new();
    for rule in rules {
        if !found.contains(&rule) {
            found.push(rule);
        }
    }
    found
}

/// Inspects an event. `None` if there is nothing to handle: the stop of an agent that nobody started.
///
/// # Errors
/// When the payload is invalid.
pub fn rehearse(event: Event, environment: &Environment) -> Result<Option<Rehearsal>> {
    let environment = Environment { is_rehearsal: true, ..environment.clone() };
    let kind = event.kind;
    // No command reads the payload.
    let Some(context) = Context::gather(event, &[], &environment, &Budget::of_hook())? else {
        return Ok(None);
    };
    let plan = context.plan()?;
    let mut results = CheckResults { explains: environment.explains, ..CheckResults::default() };
    let ends: fn(&Command) -> SimulatedRun<'static> = |_| SUCCESS;
    let mut world =
        RehearsedWorld { context: &context, results: &results, ends, count: BlockCount::Blocks(1) };
    let checks = run::run(&plan, &mut world).by_step();
    let has_gate = plan.steps.iter().any(|step| step.action.is_gate());
    let no_gate = if has_gate { None } else { no_gate(&context) };
    Ok(Some(Rehearsal {
        agent: context.subagent().map(|agent| agent.name.clone()),
        root: context.root.folder.clone(),
        files: context.config.origins.sources().to_vec(),
        config_error: context.config.error.clone(),
        not_run: not_run(&plan, &context),
        guards: results.guarded.take(),
        permissions: results.permitted.take(),
        no_gate,
        checks,
        has_section: context.config.settings.section(kind).is_some(),
        plan,
        context,
        results,
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

    /// The answer if the commands ended like this, and the agent had been blocked this often.
    pub fn answer(&self, end: impl Fn(&Command) -> CommandEnd, count: BlockCount) -> RehearsedAnswer {
        self.answer_to(|command| end(command).into(), count)
    }

    /// Like `answer`, with output of the commands.
    pub fn answer_to<'p>(
        &self,
        end: impl Fn(&Command) -> SimulatedRun<'p>,
        count: BlockCount,
    ) -> RehearsedAnswer {
        let mut world = RehearsedWorld { context: &self.context, results: &self.results, ends: end, count };
        let run = run::run(&self.plan, &mut world);
        let Conclusion { outcomes, recorded } = conclude::conclude(&self.plan, run, &mut world);
        let (mut result, word) = (recorded.ruling.result, recorded.ruling.word);
        let later = if finish::is_shown_later(&self.context, &self.plan) {
            let later = result.message_with_error();
            result.message = None;
            later
        } else {
            None
        };
        let word = if result.error.is_none() { Some(word) } else { None };
        let result = Ok(result);
        let answer = AnsweredEvent::of(&self.context.event).render(&result, &[]);
        let plain = claude::render(self.plan.event, &result, &[]);
        RehearsedAnswer { word, answer, plain, later, outcomes }
    }
}

/// The outcome of a simulated command.
fn played(command: &Command, SimulatedRun { end, printed }: SimulatedRun<'_>, event: EventKind) -> Outcome {
    let makes_worktree = event.blocking() == Blocking::Worktree && end == CommandEnd::Exits(0);
    let printed = match printed {
        Some(printed) => printed,
        None if makes_worktree => SimulatedOutput { stdout: SOME_WORKTREE, stderr: "" },
        None => SimulatedOutput::default(),
    };
    let status = match end {
        CommandEnd::Exits(code) | CommandEnd::ExitsAgain(code) => Status::Exited(code),
        CommandEnd::TimesOut | CommandEnd::TimesOutAgain => {
            Status::TimedOut(command.timeout.unwrap_or_default())
        }
    };
    let is_success = status.is_success();
    let excerpt = |name, text: &str, is_shown: bool| {
        if is_shown {
            CapturedOutput::of_text(name, text, commands::MAX_SHOWN).excerpt(command.max_lines)
        } else {
            None
        }
    };
    let run = CommandRun {
        command: command.clone(),
        is_success,
        is_timeout: matches!(end, CommandEnd::TimesOut | CommandEnd::TimesOutAgain),
        status: status.describe(),
        exit_code: status.code(),
        started: jiff::Timestamp::UNIX_EPOCH,
        duration: Duration::ZERO,
        stdout: excerpt("stdout", printed.stdout, command.show_stdout.applies(is_success)),
        stderr: excerpt("stderr", printed.stderr, command.show_stderr.applies(is_success)),
        answer: excerpt("stdout", printed.stdout, command.answers && is_success),
        reply: if command.is_hook() { Some(Box::new(reply(event, &status, printed))) } else { None },
        output: None,
    };
    let verdict = commands::verdict(&run, |_| end.is_repeated());
    let message = match &run.reply {
        Some(reply) => messages::of_reply(&run, reply),
        None => messages::of_command(&run, verdict),
    };
    Outcome { verdict, message, evidence: Evidence::Command(Box::new(run)) }
}

/// The answer of a simulated hook.
fn reply(event: EventKind, status: &Status, printed: SimulatedOutput<'_>) -> HookReply {
    HookReply::read(
        event,
        &HookEnd {
            exit_code: status.code(),
            is_timeout: matches!(status, Status::TimedOut(_)),
            status: &status.describe(),
            stdout: printed.stdout,
            is_cut: false,
            stderr: printed.stderr,
        },
    )
}

/// Why no gate applies to an event that could have one.
fn no_gate(context: &Context<'_>) -> Option<String> {
    let is_on = context.config.settings.des.as_ref().is_none_or(DesConfig::is_enabled);
    let tool = context.event.fields.get("tool_name").and_then(Value::as_str);
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
