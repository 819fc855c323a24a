//! A step of a plan: its action and its reason. Also the commands of the section that do not run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::config::{
    BudgetConfig, Enforcers, INFINITE, JUDGE, JudgeConfig, Origins, PermissionRequestConfig,
    PreToolUseConfig, Protocol, Reaction, Show,
};
use crate::event::{Blocking, EventKind};
use crate::finding::Finding;
use crate::rule::{Rule, RuleSource};

/// A command of the event's section that does not run, by its position. `explain` and the audit trail look up the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmatchedCommand {
    /// The pattern, in the order of the section.
    pub entry: usize,
    /// One of its commands. `None` means all of them.
    pub command: Option<usize>,
    pub why: SkipReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    Pattern,
    /// `match: first` selected an earlier pattern.
    Earlier,
    /// `agent` does not match.
    Agent,
    /// `pattern` is not found in the prompt.
    Prompt,
    /// `files` covers nothing that changed.
    Files,
    /// It waits for the last part of a message.
    InBetween,
}

/// The rule that makes Claude continue.
pub const INFINITE_RULE: RuleSource = RuleSource::Config(&INFINITE);

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub reason: Reason,
    pub action: Action,
}

impl Step {
    /// A step that belongs to the event itself.
    pub(super) fn itself(action: Action) -> Step {
        Step { reason: Reason::Itself, action }
    }

    /// Whether both are commands that may run at the same time.
    pub fn is_parallel_with(&self, next: &Step) -> bool {
        [self, next].iter().all(|step| step.command().is_some_and(|command| command.is_parallel))
    }

    pub fn command(&self) -> Option<&Command> {
        match &self.action {
            Action::Command(command) => Some(command),
            _ => None,
        }
    }

    /// The rule of the config that it follows from, with its position. None if it belongs to the event, or follows from many rules.
    #[must_use]
    pub fn rule(&self, origins: &Origins, root: &Path) -> Option<Rule> {
        let key = match &self.action {
            Action::Command(command) => return Some((*command.rule).clone()),
            Action::Context(context) => return Some((*context.rule).clone()),
            Action::Judge(_) => RuleSource::Config(&JUDGE),
            Action::Continue(_) => INFINITE_RULE,
            Action::Guards(_)
            | Action::Permissions(_)
            | Action::Gate(_)
            | Action::UnknownGate(_)
            | Action::Report(_)
            | Action::Note(_)
            | Action::Remark(_)
            | Action::Wait(_)
            | Action::Budget(_)
            | Action::Remember(_)
            | Action::Worktree => return None,
        };
        Some(key.rule(origins, root))
    }

    /// Whether it may have something to show in addition to the decision.
    #[must_use]
    pub fn says_more(&self) -> bool {
        matches!(self.action, Action::Command(_) | Action::Budget(_))
    }

    /// The step itself, or the steps that it delays.
    pub fn parts(&self) -> &[Step] {
        match &self.action {
            Action::Wait(waiting) => &waiting.steps,
            _ => std::slice::from_ref(self),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Action::Command(command) => {
                write!(f, "planned: {}: {} matches {:?}", self.action, command.rule, command.subject)
            }
            action => write!(f, "planned: {action}: {}", self.reason),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The pattern of its rule matches.
    Pattern,
    /// The prompt's markers name a gate.
    Markers { step_file: String },
    /// A gated agent made the call.
    GatedCaller { step_file: String },
    /// It is unknown whether the prompt's markers name a gate.
    NoPrompt,
    /// `des.judge` is configured.
    Judge,
    /// It belongs to the event itself.
    Itself,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Pattern => f.write_str("its pattern matches"),
            Reason::Markers { step_file } => write!(f, "the prompt's markers name the step file {step_file}"),
            Reason::GatedCaller { step_file } => write!(f, "its caller is gated by {step_file}"),
            Reason::NoPrompt => f.write_str("it is unknown whether it applies"),
            Reason::Judge => f.write_str("des.judge is configured"),
            Reason::Itself => f.write_str("it belongs to the event"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Guards(Arc<PreToolUseConfig>),
    Permissions(Box<PermissionRequestConfig>),
    /// Context for a prompt.
    Context(ContextRule),
    Gate(Gate),
    /// It is unknown whether a gate applies. Nothing is checked, only this is reported.
    UnknownGate(Box<Finding>),
    Report(Report),
    Command(Command),
    /// A message for the user.
    Note(String),
    /// Something that only `explain` shows.
    Remark(String),
    Wait(PendingStop),
    /// Claude must continue, with this text.
    Continue(String),
    Judge(JudgeConfig),
    /// Usage is counted, and compared with the budget.
    Budget(Box<BudgetConfig>),
    /// The event's change to the state of its session.
    Remember(StateChange),
    /// The commands must have printed the path of the new worktree.
    Worktree,
}

/// Steps of a stop that wait until these background agents have stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingStop {
    pub agents: Vec<String>,
    pub steps: Vec<Step>,
}

impl Action {
    /// Whether it is a gate, even an unknown one.
    #[must_use]
    pub fn is_gate(&self) -> bool {
        matches!(self, Action::Gate(_) | Action::UnknownGate(_))
    }

    /// Whether it judges the input of a tool, without running anything.
    #[must_use]
    pub fn is_check(&self) -> bool {
        matches!(self, Action::Guards(_) | Action::Permissions(_) | Action::Gate(_))
    }

    #[must_use]
    pub fn is_budget(&self) -> bool {
        matches!(self, Action::Budget(_))
    }

    /// Whether it may refuse the event by itself. Commands and gates say that on their own.
    pub(super) fn refuses_at(&self, event: EventKind) -> bool {
        match self {
            Action::Guards(guards) => event.blocking() == Blocking::Tool && guards.has_any(),
            Action::Continue(_) | Action::Worktree => true,
            _ => false,
        }
    }
}

/// An event's change to the state of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange {
    /// An agent call with no findings. Later gates need it.
    Call,
    /// A stopped agent continues and is working again.
    Resumed,
    /// After a user's prompt, the main thread's blocks are counted from one again.
    Prompt,
}

impl StateChange {
    /// Changes before all other steps.
    pub(super) fn first(event: EventKind) -> Option<StateChange> {
        match event {
            EventKind::SubagentStart => Some(StateChange::Resumed),
            EventKind::UserPromptSubmit => Some(StateChange::Prompt),
            _ => None,
        }
    }

    /// Changes after all other steps, if nothing blocked.
    pub(super) fn last(gate: &Gate) -> Option<StateChange> {
        match gate {
            Gate::Call { .. } | Gate::Helper { .. } => Some(StateChange::Call),
            Gate::Write { .. } | Gate::Stop { .. } | Gate::MissingState { .. } => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Guards(_) => f.write_str("the guards"),
            Action::Context(context) => write!(f, "the context for {:?}", context.pattern()),
            Action::Permissions(_) => f.write_str("the rules for permissions"),
            Action::Gate(Gate::Call { .. } | Gate::Helper { .. }) => f.write_str("Gate 1"),
            Action::Gate(Gate::Write { .. }) => f.write_str("Gate 2"),
            Action::Gate(Gate::Stop { .. } | Gate::MissingState { .. }) | Action::UnknownGate(_) => {
                f.write_str("Gate 3")
            }
            Action::Report(Report::Installation) => f.write_str("the report on the installation"),
            Action::Report(Report::Unfinished) => f.write_str("the report on unfinished agents"),
            Action::Report(Report::Config) => f.write_str("the report on the config"),
            Action::Report(Report::Denials) => f.write_str("the report on what the sandbox refused"),
            Action::Report(Report::Enforcement) => f.write_str("the files that the sandbox protects"),
            Action::Command(command) => write!(f, "`{}`", command.run.trim()),
            Action::Note(text) | Action::Remark(text) => f.write_str(text),
            Action::Wait(_) => f.write_str("waiting for background agents"),
            Action::Continue(_) => f.write_str("`stop.infinite`"),
            Action::Judge(_) => f.write_str("the judge"),
            Action::Budget(_) => f.write_str("the budget"),
            Action::Remember(StateChange::Call) => f.write_str("remembering the call"),
            Action::Remember(StateChange::Resumed) => f.write_str("noting that the agent is at work"),
            Action::Remember(StateChange::Prompt) => f.write_str("counting blocks from one again"),
            Action::Worktree => f.write_str("looking for the path of the worktree"),
        }
    }
}

/// Text that a rule adds to a prompt, with the files that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextRule {
    pub rule: Box<Rule>,
    /// The part of the prompt that its pattern matched.
    pub matched: String,
    pub prompt: String,
}

impl ContextRule {
    pub(super) fn pattern(&self) -> &str {
        self.rule.pattern.as_deref().unwrap_or_default()
    }
}

/// Information about the session for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// Installation problems: an untrusted config, registrations that are out of sync.
    Installation,
    /// Gated agents that started and never stopped.
    Unfinished,
    /// A config error that concerns the event.
    Config,
    /// The sandbox or a permission rule refused something, and our rule for it.
    Denials,
    /// Files that Claude Code's sandbox did not protect yet.
    Enforcement,
}

impl Report {
    pub(super) fn of(event: EventKind, enforcers: Enforcers) -> Vec<Report> {
        let mut reports = match event {
            EventKind::SessionStart => vec![Report::Installation],
            EventKind::Stop | EventKind::SessionEnd => vec![Report::Unfinished],
            _ => Vec::new(),
        };
        let is_of_command = matches!(event, EventKind::PostToolUse | EventKind::PostToolUseFailure);
        if is_of_command && enforcers.sandbox || event == EventKind::PostToolBatch && enforcers.permissions {
            reports.push(Report::Denials);
        }
        let is_start = event == EventKind::SessionStart;
        // A failing command may have made files before.
        if is_start && enforcers.is_any() || is_of_command && enforcers.sandbox {
            reports.push(Report::Enforcement);
        }
        reports
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Gate 1: an agent with markers is about to be called.
    Call { step_file: Option<String> },
    /// A gated agent calls a helper, which must stay within its caller's boundaries.
    Helper { step_file: String },
    /// Gate 2: a gated agent is about to write.
    Write { step_file: String, written: GateSubject },
    /// Gate 3: a gated agent wants to stop.
    Stop { step_file: Option<String> },
    /// Gate 3 of an agent that cannot be judged. It may be the one that was called for this step.
    MissingState { step_file: String },
}

/// What a gated agent is about to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateSubject {
    /// The file of a tool.
    File(String),
    /// The files of a patch.
    Patch(String),
    /// The files that a shell command writes.
    Shell(String),
}

impl Gate {
    pub(super) fn reason(&self) -> Reason {
        match self {
            Gate::Call { step_file } | Gate::Stop { step_file } => {
                Reason::Markers { step_file: step_file.clone().unwrap_or_default() }
            }
            Gate::Write { step_file, .. } | Gate::MissingState { step_file } => {
                Reason::Markers { step_file: step_file.clone() }
            }
            Gate::Helper { step_file } => Reason::GatedCaller { step_file: step_file.clone() },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The entry of the config, with its pattern.
    pub rule: Box<Rule>,
    /// The value that the pattern matched.
    pub subject: String,
    /// The script in the config: the name of the command.
    pub run: String,
    /// The script for the shell: `run` with the changed files.
    pub script: String,
    pub shell: String,
    pub cwd: PathBuf,
    /// The folder that `cwd` must not leave, not even through a link.
    pub work: PathBuf,
    /// `None` removes a variable.
    pub env: Vec<Variable>,
    /// The part of `env` that comes from the config.
    pub own_env: Box<[Variable]>,
    /// The message when it fails.
    pub message: Option<String>,
    /// Whether messages name it by its script.
    pub is_shown: bool,
    /// Whether its start and its end are notified.
    pub is_notified: bool,
    pub show_stdout: Show,
    pub show_stderr: Show,
    pub max_lines: Option<u32>,
    pub timeout: Option<Duration>,
    pub on_failure: Reaction,
    pub on_timeout: Reaction,
    /// Whether its output is part of the answer.
    pub answers: bool,
    /// Whether it runs in parallel with its neighbours that have this too.
    pub is_parallel: bool,
    /// How its end and its output are read. For a hook the reactions above do not apply.
    pub protocol: Protocol,
}

impl Command {
    #[must_use]
    pub fn is_hook(&self) -> bool {
        self.protocol == Protocol::Hook
    }

    #[must_use]
    pub fn can_block(&self) -> bool {
        self.is_hook()
            || self.on_failure == Reaction::Block
            || (self.timeout.is_some() && self.on_timeout == Reaction::Block)
    }
}

/// A variable. Without a value it is removed.
pub(super) type Variable = (String, Option<String>);

pub(super) fn commands_in(steps: &[Step]) -> impl Iterator<Item = &Command> {
    steps.iter().filter_map(Step::command)
}

/// A step, and the reason if it may not run.
pub(super) type PlannedStep<'a> = (Step, Option<&'a str>);
