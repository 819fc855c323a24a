//! One step of a plan: what is done and why, and what of the section is not done.

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

/// A command of the event's section that does not run, by its position there. `explain` and the audit trail look up the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmatchedCommand {
    /// The pattern, in the order of the section.
    pub entry: usize,
    /// One of its commands; none is all of them.
    pub command: Option<usize>,
    pub why: SkipReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    Pattern,
    /// `match: first` has found one before it.
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

/// What makes Claude go on.
pub const INFINITE_RULE: RuleSource = RuleSource::Config(&INFINITE);

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub reason: Reason,
    pub action: Action,
}

impl Step {
    /// One that belongs to the event itself.
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

    /// Whether it may have something to show beside what is decided.
    #[must_use]
    pub fn says_more(&self) -> bool {
        matches!(self.action, Action::Command(_) | Action::Budget(_))
    }

    /// The step, or those that it keeps waiting.
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
    /// The prompt's markers ask for a gate.
    Markers { step_file: String },
    /// The call comes from an agent that is gated.
    GatedCaller { step_file: String },
    /// Whether the prompt's markers ask for a gate is not known.
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
            Reason::NoPrompt => f.write_str("whether it applies is not known"),
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
    /// Whether a gate applies is not known, and nothing is checked but this reported.
    UnknownGate(Box<Finding>),
    Report(Report),
    Command(Command),
    /// Something that is shown to the user.
    Note(String),
    /// Something that only `explain` shows.
    Remark(String),
    Wait(PendingStop),
    /// Claude is asked to go on, with these words.
    Continue(String),
    Judge(JudgeConfig),
    /// What was used is counted, and compared with the budget.
    Budget(Box<BudgetConfig>),
    /// What the event changes in the state of its session.
    Remember(StateChange),
    /// The commands must have printed the path of the worktree that they made.
    Worktree,
}

/// What a stop does, and does not do before these agents have stopped, which still run in the background.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingStop {
    pub agents: Vec<String>,
    pub steps: Vec<Step>,
}

impl Action {
    /// Whether it is a gate, also where that is all that is known.
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

/// What an event changes in the state of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange {
    /// The call of an agent that nothing is against: the later gates rest on it.
    Call,
    /// An agent that goes on after it had stopped is at work again.
    Resumed,
    /// With a prompt of the user the main thread's blocks are counted from one again.
    Prompt,
}

impl StateChange {
    /// Before anything else.
    pub(super) fn first(event: EventKind) -> Option<StateChange> {
        match event {
            EventKind::SubagentStart => Some(StateChange::Resumed),
            EventKind::UserPromptSubmit => Some(StateChange::Prompt),
            _ => None,
        }
    }

    /// When everything else has let it pass.
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
    /// What of the prompt its pattern matched.
    pub matched: String,
    pub prompt: String,
}

impl ContextRule {
    pub(super) fn pattern(&self) -> &str {
        self.rule.pattern.as_deref().unwrap_or_default()
    }
}

/// What the user should know of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// What will not work in it: an untrusted config, registrations that are out of sync.
    Installation,
    /// Gated agents that started and never stopped.
    Unfinished,
    /// A config with an error that concerns the event.
    Config,
    /// What the sandbox or a permission rule refused, and by which rule of ours.
    Denials,
    /// What Claude Code's sandbox did not protect yet.
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
        // A command that fails may have made files before.
        if is_start && enforcers.is_any() || is_of_command && enforcers.sandbox {
            reports.push(Report::Enforcement);
        }
        reports
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Gate 1: an agent is about to be called with markers.
    Call { step_file: Option<String> },
    /// A gated agent calls a helper, which works within its caller's boundaries.
    Helper { step_file: String },
    /// Gate 2: a gated agent is about to write.
    Write { step_file: String, written: GateSubject },
    /// Gate 3: a gated agent wants to stop.
    Stop { step_file: Option<String> },
    /// Gate 3 of an agent that left nothing to judge it by; it may be the one that was called for this step.
    MissingState { step_file: String },
}

/// What Gate 2 looks at.
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
    /// The entry of the config that it is, with its pattern.
    pub rule: Box<Rule>,
    /// What the pattern matched.
    pub subject: String,
    /// As the config has it: the name of the command.
    pub run: String,
    /// What the shell gets: the same, with the changed files.
    pub script: String,
    pub shell: String,
    pub cwd: PathBuf,
    /// What `cwd` must not leave, also by a link.
    pub work: PathBuf,
    /// `None` removes a variable.
    pub env: Vec<Variable>,
    /// The part of `env` that the config has for it.
    pub own_env: Box<[Variable]>,
    /// What to say when it fails.
    pub message: Option<String>,
    /// Messages name it by its script.
    pub is_shown: bool,
    /// Its start and its end are notified.
    pub is_notified: bool,
    pub show_stdout: Show,
    pub show_stderr: Show,
    pub max_lines: Option<u32>,
    pub timeout: Option<Duration>,
    pub on_failure: Reaction,
    pub on_timeout: Reaction,
    /// What it prints is part of the answer.
    pub answers: bool,
    /// It runs at the same time as its neighbours that say so too.
    pub is_parallel: bool,
    /// How its end and its output are read. For a hook the reactions above do not count.
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

/// A variable; without a value it is removed.
pub(super) type Variable = (String, Option<String>);

pub(super) fn commands_in(steps: &[Step]) -> impl Iterator<Item = &Command> {
    steps.iter().filter_map(Step::command)
}

/// A step, and why it may not run.
pub(super) type PlannedStep<'a> = (Step, Option<&'a str>);
