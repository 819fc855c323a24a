//! What applies to an event, in order and with the reason: pure data, complete before anything runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent::Agent;
use crate::config::{
    ConclaudeConfig, GateConfig, JudgeConfig, Origins, PermissionRequestConfig, PreToolUseConfig, Reaction,
    Show,
};
use crate::event::EventKind;
use crate::file_pattern::Location;
use crate::pattern::PatternError;
use crate::rule::Rule;
use crate::types::Event;

mod commands;
pub(crate) mod environment;
mod files;
mod prompts;
mod rules;

use commands::Commands;
use environment::Variable;

/// Everything that a plan is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) event: &'a Event,
    pub(crate) select: Select,
    /// The subagent, at the events of one.
    pub(crate) agent: Option<&'a Agent>,
    /// The subagent from inside which another event comes.
    pub(crate) caller: Option<&'a Agent>,
    /// The files that the event, or the agent until its stop, changed; only where a command asks for them.
    pub(crate) changed: &'a [Location],
    /// The agents that still run in the background, at a stop of the main thread.
    pub(crate) running: &'a [String],
    pub(crate) config: &'a ConclaudeConfig,
    /// The files that the values of the config came from, and whether they may run.
    pub(crate) origins: &'a Origins,
    pub(crate) gate: Option<&'a GateFacts>,
    /// Where commands run.
    pub(crate) work: &'a Path,
    /// The folder of the config.
    pub(crate) config_dir: Option<&'a Path>,
    /// The names of variables with our prefix that we were started with, as by a command of an outer hook.
    pub(crate) inherited: &'a [String],
}

/// Which patterns of a section apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Select {
    /// Those that match what the event is about.
    #[default]
    Matching,
    /// Those that match whatever it is about: nobody has said which agent.
    ForEveryone,
    All,
}

/// What is known of a gate before anything is planned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GateFacts {
    pub(crate) gate: Gate,
    /// What the config said when Gate 1 let the agent in, or the one that calls: that counts, whatever the config says by then.
    pub(crate) at_call: Option<GateConfig>,
    /// The values of `DES-STEP-FILE`, `DES-AGENT`, `DES-COMMAND` and `DES-PROJECT-ID`.
    pub(crate) markers: [Option<String>; 4],
}

/// What an event's handling will do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) event: EventKind,
    pub(crate) agent: Option<Agent>,
    /// Gates, then commands, then the judge.
    pub(crate) steps: Vec<Step>,
    /// What would be done as well, if the config were trusted.
    pub(crate) untrusted: Option<Untrusted>,
    /// What a gate's finding does.
    pub(crate) violations: Reaction,
    /// The limit on blocks.
    pub(crate) max_blocks: u32,
    /// Whether the user can be asked, in the session's permission mode.
    pub(crate) can_ask: bool,
    /// Values that do not fit into an environment.
    pub(crate) warnings: Vec<String>,
    /// What the patterns of the section were compared with.
    pub(crate) subject: String,
    /// Commands of the section that do not run.
    pub(crate) unmatched: Vec<Unmatched>,
}

/// A command of the event's section that does not run. Where it is in the section is enough: what it says is for whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unmatched {
    /// The pattern, in the order of the section.
    pub(crate) entry: usize,
    /// One of its commands; none is all of them.
    pub(crate) command: Option<usize>,
    pub(crate) why: WhyNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhyNot {
    /// The pattern does not match.
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

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) reason: Reason,
    pub(crate) action: Action,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Action::Command(command) => {
                write!(f, "{} runs: {} matches {:?}", self.action, command.rule, command.subject)
            }
            action => write!(f, "{action} runs: {}", self.reason),
        }
    }
}

/// Why a step applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The pattern of its rule matches.
    Pattern,
    /// The prompt's markers ask for a gate.
    Markers { step_file: String },
    /// The call comes from an agent that is gated.
    GatedCaller { step_file: String },
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
            Reason::Judge => f.write_str("des.judge is configured"),
            Reason::Itself => f.write_str("it belongs to the event"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Guards(Box<PreToolUseConfig>),
    /// The rules for permissions.
    Permissions(Box<PermissionRequestConfig>),
    /// Context for a prompt.
    Context(Context),
    Gate(Gate),
    Report(Report),
    Command(Command),
    /// The commands of a stop wait for these agents, which still run in the background.
    Wait(Vec<String>),
    /// Claude is asked to go on, with these words.
    Continue(String),
    Judge(JudgeConfig),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Guards(_) => f.write_str("the guards"),
            Action::Context(context) => write!(f, "the context for {:?}", context.pattern()),
            Action::Permissions(_) => f.write_str("the rules for permissions"),
            Action::Gate(Gate::Call { .. } | Gate::Helper { .. }) => f.write_str("Gate 1"),
            Action::Gate(Gate::Write { .. }) => f.write_str("Gate 2"),
            Action::Gate(Gate::Stop { .. } | Gate::Lost { .. }) => f.write_str("Gate 3"),
            Action::Report(Report::Installation) => f.write_str("the report on the installation"),
            Action::Report(Report::Unfinished) => f.write_str("the report on unfinished agents"),
            Action::Command(command) => write!(f, "`{}`", command.run.trim()),
            Action::Wait(_) => f.write_str("waiting for background agents"),
            Action::Continue(_) => f.write_str("`stop.infinite`"),
            Action::Judge(_) => f.write_str("the judge"),
        }
    }
}

/// Text that a rule adds to a prompt, with the files that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) rule: Box<Rule>,
    pub(crate) prompt: String,
}

impl Context {
    fn pattern(&self) -> &str {
        self.rule.pattern.as_deref().unwrap_or_default()
    }
}

/// What the user should know of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// What will not work in it: an untrusted config, registrations that are out of sync.
    Installation,
    /// Gated agents that started and never stopped.
    Unfinished,
}

impl Report {
    fn of(event: EventKind) -> Option<Report> {
        match event {
            EventKind::SessionStart => Some(Report::Installation),
            EventKind::Stop | EventKind::SessionEnd => Some(Report::Unfinished),
            _ => None,
        }
    }
}

/// A gate of DES.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Gate 1: an agent is about to be called with markers.
    Call { step_file: Option<String> },
    /// A gated agent calls a helper, which works within its caller's boundaries.
    Helper { step_file: String },
    /// Gate 2: a gated agent is about to write.
    Write { step_file: String, written: Written },
    /// Gate 3: a gated agent wants to stop.
    Stop { step_file: Option<String> },
    /// Gate 3 of an agent that left nothing to judge it by; it may be the one that was called for this step.
    Lost { step_file: String },
}

/// What Gate 2 looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// The file of a tool.
    File(String),
    /// The files that a shell command writes.
    Shell(String),
}

impl Gate {
    fn reason(&self) -> Reason {
        match self {
            Gate::Call { step_file } | Gate::Stop { step_file } => {
                Reason::Markers { step_file: step_file.clone().unwrap_or_default() }
            }
            Gate::Write { step_file, .. } | Gate::Lost { step_file } => {
                Reason::Markers { step_file: step_file.clone() }
            }
            Gate::Helper { step_file } => Reason::GatedCaller { step_file: step_file.clone() },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// The entry of the config that it is, with its pattern.
    pub(crate) rule: Box<Rule>,
    /// What the pattern matched.
    pub(crate) subject: String,
    /// As the config has it: the name of the command.
    pub(crate) run: String,
    /// What the shell gets: the same, with the changed files.
    pub(crate) script: String,
    pub(crate) shell: String,
    pub(crate) cwd: PathBuf,
    /// What `cwd` must not leave, also by a link.
    pub(crate) work: PathBuf,
    /// `None` removes a variable.
    pub(crate) env: Vec<Variable>,
    /// What to say when it fails.
    pub(crate) message: Option<String>,
    /// Messages name it by its script.
    pub(crate) is_shown: bool,
    /// Its start and its end are notified.
    pub(crate) is_notified: bool,
    pub(crate) show_stdout: Show,
    pub(crate) show_stderr: Show,
    pub(crate) max_lines: Option<u32>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_failure: Reaction,
    pub(crate) on_timeout: Reaction,
    /// What it prints is part of the answer.
    pub(crate) answers: bool,
}

/// Modes in which the client does not ask the user.
const NOBODY_ASKED: [&str; 2] = ["dontAsk", "bypassPermissions"];

/// What is not done, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Untrusted {
    pub(crate) why: String,
    pub(crate) steps: Vec<Step>,
}

impl Plan {
    /// A plan to do nothing.
    #[must_use]
    pub(crate) fn empty(event: EventKind) -> Plan {
        Plan {
            event,
            agent: None,
            steps: Vec::new(),
            untrusted: None,
            violations: Reaction::Block,
            max_blocks: 1,
            can_ask: false,
            warnings: Vec::new(),
            subject: String::new(),
            unmatched: Vec::new(),
        }
    }

    #[must_use]
    pub(crate) fn gate(&self) -> Option<&Gate> {
        self.steps.iter().find_map(|step| match &step.action {
            Action::Gate(gate) => Some(gate),
            _ => None,
        })
    }

    pub(crate) fn commands(&self) -> impl Iterator<Item = &Command> {
        commands_in(&self.steps)
    }

    /// Whether any step may end in a block.
    #[must_use]
    pub(crate) fn can_block(&self) -> bool {
        let by_gate = match self.gate() {
            None | Some(Gate::Helper { .. }) => false,
            // Whatever the config says, nobody writes what belongs to the gates.
            Some(Gate::Write { .. }) => true,
            Some(Gate::Call { .. } | Gate::Stop { .. } | Gate::Lost { .. }) => {
                self.violations == Reaction::Block
            }
        };
        by_gate
            || self.steps.iter().any(|step| matches!(step.action, Action::Continue(_)))
            || self.commands().any(|command| {
                command.on_failure == Reaction::Block
                    || (command.timeout.is_some() && command.on_timeout == Reaction::Block)
            })
    }
}

impl Untrusted {
    pub(crate) fn commands(&self) -> impl Iterator<Item = &Command> {
        commands_in(&self.steps)
    }

    /// The patterns of context that was not given.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Context(context) => Some(context.pattern()),
            _ => None,
        })
    }

    #[must_use]
    pub(crate) fn has_judge(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Judge(_)))
    }
}

fn commands_in(steps: &[Step]) -> impl Iterator<Item = &Command> {
    steps.iter().filter_map(|step| match &step.action {
        Action::Command(command) => Some(command),
        _ => None,
    })
}

/// Makes the plan.
///
/// # Errors
/// When a pattern of the event's section cannot be evaluated.
pub(crate) fn plan(facts: &Facts<'_>) -> Result<Plan, PatternError> {
    let event = facts.event.kind;
    let at_call = facts.gate.and_then(|gate| gate.at_call.as_ref());
    let GateConfig { des, max_blocks } = at_call.cloned().unwrap_or_else(|| GateConfig::of(facts.config));
    // A gate that let an agent in also looks when it leaves.
    let gate = facts.gate.filter(|_| des.is_enabled() || at_call.is_some()).map(|facts| &facts.gate);
    let gates = gate.iter().map(|gate| Step { reason: gate.reason(), action: Action::Gate((*gate).clone()) });
    let mut steps: Vec<Step> = rules::rules(facts).into_iter().chain(gates).collect();
    steps.extend(
        Report::of(event).map(|report| Step { reason: Reason::Itself, action: Action::Report(report) }),
    );
    let mut of_section = commands::commands(facts, gate.is_some())?;
    prompts::prompts(facts, gate.is_some(), &mut of_section)?;
    let Commands { steps: mut of_config, warnings, subject, unmatched } = of_section;
    if event == EventKind::Stop {
        of_config = at_stop(facts, of_config);
    }
    let judge = des.judge.filter(|_| matches!(gate, Some(Gate::Stop { .. })));
    let judge = judge.map(|judge| Step { reason: Reason::Judge, action: Action::Judge(judge) });
    // A judge sends what it judges to a server, with the user's key: like a command, not for a project that nobody trusts.
    // One that Gate 1 remembered was trusted then.
    let untrusted_judge = facts.origins.untrusted(&["des", "judge"]).filter(|_| at_call.is_none());
    of_config.extend(judge.map(|judge| (judge, untrusted_judge)));
    let mut untrusted: Option<Untrusted> = None;
    for (step, why) in of_config {
        match why {
            None => steps.push(step),
            Some(why) => untrusted
                .get_or_insert_with(|| Untrusted { why: why.to_owned(), steps: Vec::new() })
                .steps
                .push(step),
        }
    }
    Ok(Plan {
        event,
        agent: facts.agent.cloned(),
        steps,
        untrusted,
        violations: des.on_violation.unwrap_or(Reaction::Block),
        max_blocks,
        can_ask: !NOBODY_ASKED
            .contains(&facts.event.payload.base().permission_mode.as_deref().unwrap_or_default()),
        warnings,
        subject,
        unmatched,
    })
}

/// A step, and why it may not run.
type Planned<'a> = (Step, Option<&'a str>);

/// What the main thread's stop does beside its commands. While background agents run there is more to come, and the stop comes
/// again after it.
fn at_stop<'a>(facts: &Facts<'a>, mut steps: Vec<Planned<'a>>) -> Vec<Planned<'a>> {
    let infinite = facts.config.stop.infinite().map(|message| Action::Continue(message.to_owned()));
    let untrusted = facts.origins.untrusted(&["stop", "infinite"]);
    steps.extend(infinite.map(|action| (Step { reason: Reason::Itself, action }, untrusted)));
    if steps.is_empty() || facts.running.is_empty() {
        return steps;
    }
    // One that may run is enough to wait for.
    let untrusted = steps.iter().map(|(_, why)| *why).min().flatten();
    let action = Action::Wait(facts.running.to_vec());
    vec![(Step { reason: Reason::Itself, action }, untrusted)]
}
