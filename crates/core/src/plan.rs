//! The steps of an event, in order and with their reasons: pure data, complete before anything runs.

use crate::agent::Agent;
use crate::config::{GateConfig, INFINITE, JUDGE};
use crate::dialect::{Dialect, claude};
use crate::event::{Blocking, EventKind};
use crate::pattern::PatternError;

mod commands;
pub mod environment;
mod facts;
mod files;
mod prompts;
mod step;

use commands::Commands;
pub use facts::{Facts, GateFacts, ProjectFacts, Selection, UnknownChanges};
pub use step::{
    Action, Command, ContextRule, Gate, GateSubject, INFINITE_RULE, PendingStop, Reason, Report, SkipReason,
    StateChange, Step, UnmatchedCommand,
};
use step::{PlannedStep, commands_in};

/// The steps of handling an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub event: EventKind,
    pub agent: Option<Agent>,
    /// Gates, then commands, then the judge. The record of an agent's call comes last.
    pub steps: Vec<Step>,
    /// Why the config cannot be read: gates run with their defaults.
    pub config_error: Option<String>,
    /// The steps that would run as well if the config were trusted.
    pub untrusted: Option<UntrustedSteps>,
    /// The settings of the gates: from the time when Gate 1 allowed the agent, else the current ones.
    pub gates: GateConfig,
    /// The client whose event it is.
    pub client: &'static Dialect,
    /// Whether the user can be asked in the session's permission mode.
    pub can_ask: bool,
    /// Values that do not fit into the environment.
    pub warnings: Vec<String>,
    /// The value that the patterns of the section were compared with.
    pub subject: String,
    /// Commands of the section that do not run.
    pub unmatched: Vec<UnmatchedCommand>,
}

/// The skipped steps, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct UntrustedSteps {
    pub why: String,
    pub steps: Vec<Step>,
}

impl Plan {
    /// An empty plan.
    #[must_use]
    pub fn empty(event: EventKind) -> Plan {
        Plan {
            event,
            agent: None,
            steps: Vec::new(),
            config_error: None,
            untrusted: None,
            gates: GateConfig { max_blocks: 1, ..GateConfig::default() },
            client: &claude::DIALECT,
            can_ask: false,
            warnings: Vec::new(),
            subject: String::new(),
            unmatched: Vec::new(),
        }
    }

    /// A plan to run these commands.
    #[must_use]
    pub fn of_commands(event: EventKind, commands: impl IntoIterator<Item = Command>) -> Plan {
        let step = |command| Step { reason: Reason::Pattern, action: Action::Command(command) };
        Plan { steps: commands.into_iter().map(step).collect(), ..Plan::empty(event) }
    }

    #[must_use]
    pub fn gate(&self) -> Option<&Gate> {
        self.steps.iter().find_map(|step| match &step.action {
            Action::Gate(gate) => Some(gate),
            _ => None,
        })
    }

    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        commands_in(&self.steps)
    }

    /// Whether any step may block. Permission rules do not count: without an answer Claude Code asks the user.
    #[must_use]
    pub fn can_block(&self) -> bool {
        let by_rule = self.steps.iter().any(|step| step.action.refuses_at(self.event));
        let by_gate = match self.gate() {
            None | Some(Gate::Helper { .. }) => false,
            // Nobody may write the files of the gates, whatever the config says.
            Some(Gate::Write { .. }) => true,
            Some(Gate::Call { .. } | Gate::Stop { .. } | Gate::MissingState { .. }) => {
                self.gates.des.blocks()
            }
        };
        by_rule || by_gate || self.commands().any(Command::can_block)
    }
}

impl Plan {
    /// Whether rules for permissions are compared.
    #[must_use]
    pub fn has_permission_rules(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Permissions(_)))
    }

    /// Whether the checks wait for background agents.
    pub fn waits(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Wait(_)))
    }
}

impl UntrustedSteps {
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        commands_in(&self.steps)
    }

    /// The patterns of skipped context.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Context(context) => Some(context.pattern()),
            _ => None,
        })
    }

    /// Whether the skipped steps would have made Claude continue.
    #[must_use]
    pub fn has_continue(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Continue(_)))
    }

    #[must_use]
    pub fn has_judge(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Judge(_)))
    }
}

/// Makes the plan.
///
/// # Errors
/// If a pattern of the event's section cannot be evaluated.
pub fn plan(facts: &Facts<'_>) -> Result<Plan, PatternError> {
    let event = facts.event.kind;
    let at_call = facts.gate.and_then(|gate| gate.at_call.as_ref());
    let gates = at_call.cloned().unwrap_or_else(|| GateConfig::of(facts.config));
    // A gate that allowed an agent to start also checks its stop.
    let is_gated = gates.des.is_enabled() || at_call.is_some();
    let gate = if is_gated { facts.gate.map(|facts| &facts.gate) } else { None };
    let mut steps = checks(facts, gate);
    let mut of_section = commands::commands(facts, gate.is_some())?;
    prompts::prompts(facts, gate.is_some(), &mut of_section)?;
    let Commands { steps: mut of_config, warnings, subject, unmatched } = of_section;
    if event == EventKind::Stop {
        of_config = at_stop(facts, of_config);
    }
    if matches!(gate, Some(Gate::Stop { .. })) {
        of_config.extend(judge(facts, &gates));
    }
    if let Some(unknown) = facts.unknown_changes
        && of_config.iter().any(|(step, _)| matches!(step.action, Action::Command(_)))
    {
        steps.push(Step::itself(unknown.action()));
    }
    let untrusted = add_trusted(&mut steps, of_config);
    // Also if none of them runs: Claude Code waits for a path anyway.
    let has_commands = commands_in(&steps).next().is_some() || untrusted.is_some() || !unmatched.is_empty();
    if has_commands && event.blocking() == Blocking::Worktree {
        steps.push(Step::itself(Action::Worktree));
    }
    steps.extend(budget(facts).map(Step::itself));
    let last = gate.and_then(|gate| Some((gate.reason(), StateChange::last(gate)?)));
    steps.extend(last.map(|(reason, what)| Step { reason, action: Action::Remember(what) }));
    Ok(Plan {
        event,
        agent: facts.agent.cloned(),
        steps,
        config_error: facts.config_error.map(str::to_owned),
        untrusted,
        gates: if at_call.is_some() { gates } else { gates.trusted(facts.origins) },
        can_ask: facts.event.client.can_ask(facts.event.payload.base().permission_mode.as_deref()),
        client: facts.event.client,
        warnings,
        subject,
        unmatched,
    })
}

/// The steps before those of the event's section: guards, permission rules, the gate and reports.
fn checks(facts: &Facts<'_>, gate: Option<&Gate>) -> Vec<Step> {
    let event = facts.event.kind;
    let mut steps: Vec<Step> =
        StateChange::first(event).map(Action::Remember).map(Step::itself).into_iter().collect();
    steps.extend(rules(facts).into_iter().map(Step::itself));
    steps.extend(gate.map(|gate| Step { reason: gate.reason(), action: Action::Gate(gate.clone()) }));
    let unknown = facts.unknown_gate.map(|finding| Action::UnknownGate(Box::new(finding.clone())));
    steps.extend(unknown.map(|action| Step { reason: Reason::NoPrompt, action }));
    let reports = Report::of(event, facts.config.enforcers());
    steps.extend(reports.into_iter().map(Action::Report).map(Step::itself));
    if facts.is_event_concerned {
        steps.push(Step::itself(Action::Report(Report::Config)));
    }
    steps
}

/// Guards and permission rules: they compare a tool before its use, or when the user is asked about it.
fn rules(facts: &Facts<'_>) -> Vec<Action> {
    let guards = || Action::Guards(facts.config.guards.clone());
    match facts.event.kind {
        // Guards only refuse, so they apply even if nothing may run.
        EventKind::PreToolUse => vec![guards()],
        EventKind::PermissionRequest if facts.config.permissions.has_rules() => {
            // An untrusted file allows nothing.
            let permissions =
                facts.config.permissions.trusted(|source| facts.origins.untrusted_source(source).is_none());
            let may_allow = permissions.may_allow();
            let permissions = Action::Permissions(Box::new(permissions));
            // If a guard asks, Claude Code asks the user in this way as well. Then no rule may answer for the user.
            if may_allow { vec![guards(), permissions] } else { vec![permissions] }
        }
        _ => Vec::new(),
    }
}

/// A judge sends data to a server, with the user's key. So it needs a trusted project, like a command. A judge that Gate 1 stored
/// was trusted then.
fn judge<'a>(facts: &Facts<'a>, gates: &GateConfig) -> Option<PlannedStep<'a>> {
    let judge = gates.des.judge.clone()?;
    let is_remembered = facts.gate.is_some_and(|gate| gate.at_call.is_some());
    let untrusted = if is_remembered { None } else { facts.origins.untrusted(&JUDGE) };
    Some((Step { reason: Reason::Judge, action: Action::Judge(judge) }, untrusted))
}

/// At these events a session's usage is counted, and compared with its budget if that can have a result. It comes after
/// everything that may refuse a tool: only executed calls count.
fn budget(facts: &Facts<'_>) -> Option<Action> {
    let config = facts.config.budget.as_ref()?;
    if config.is_for(facts.event.kind, facts.event.client.has_usage()) {
        Some(Action::Budget(Box::new(config.clone())))
    } else {
        None
    }
}

/// Adds the steps that may run, and returns the others.
fn add_trusted(steps: &mut Vec<Step>, of_config: Vec<PlannedStep<'_>>) -> Option<UntrustedSteps> {
    let mut untrusted: Option<UntrustedSteps> = None;
    for (step, why) in of_config {
        match why {
            None => steps.push(step),
            Some(why) => untrusted
                .get_or_insert_with(|| UntrustedSteps { why: why.to_owned(), steps: Vec::new() })
                .steps
                .push(step),
        }
    }
    untrusted
}

/// The steps of the main thread's stop besides its commands. While background agents run, the work is not finished: the stop
/// comes again after them.
fn at_stop<'a>(facts: &Facts<'a>, mut steps: Vec<PlannedStep<'a>>) -> Vec<PlannedStep<'a>> {
    let infinite = facts.config.stop.infinite().map(|message| Action::Continue(message.to_owned()));
    let untrusted = facts.origins.untrusted(&INFINITE);
    steps.extend(infinite.map(|action| (Step::itself(action), untrusted)));
    if steps.is_empty() || facts.running.is_empty() {
        return steps;
    }
    // Claude Code does not wait for a hook.
    let is_hook = |(step, _): &PlannedStep<'_>| matches!(&step.action, Action::Command(one) if one.is_hook());
    let (mut steps, waiting): (Vec<PlannedStep<'_>>, Vec<PlannedStep<'_>>) =
        steps.into_iter().partition(is_hook);
    if waiting.is_empty() {
        return steps;
    }
    // A single command that may run is enough to wait.
    let untrusted = waiting.iter().map(|(_, why)| *why).min().flatten();
    let waiting = waiting.into_iter().filter(|(_, why)| *why == untrusted).map(|(step, _)| step).collect();
    let waiting = PendingStop { agents: facts.running.to_vec(), steps: waiting };
    steps.push((Step::itself(Action::Wait(waiting)), untrusted));
    steps
}
