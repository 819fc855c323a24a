//! The plan of an event without a session: the same as at a hook, with a payload of the known fields.

use std::path::Path;

use anyhow::{anyhow, bail};
use serde_json::{Map, json};

use super::{InputFiles, RunRequest, input_files};
use conclaude_core::agent::Agent;
use conclaude_core::config::{ConclaudeConfig, Origins};
use conclaude_core::dialect::Dialect;
use conclaude_core::dialect::claude::fields;
use conclaude_core::event::EventKind;
use conclaude_core::file_pattern::Location;
use conclaude_core::plan::{self, Command, Facts, Plan, ProjectFacts, Selection};
use conclaude_core::types::{self, Event};
use conclaude_engine::hooks;
use conclaude_os::environment::Variables;
use conclaude_store::root::Root;

/// The session and the agent, where a payload must name some.
const NOBODY: &str = "conclaude-run";

/// A subagent or a tool without a name.
const UNKNOWN: &str = "unknown";

/// The variables with the name that patterns compare: that of the tool, or of the agent.
const NAMES: [&str; 5] = [
    "CONCLAUDE_TOOL_NAME",
    "CONCLAUDE_SUBAGENT_NAME",
    "CONCLAUDE_SUBAGENT_TYPE",
    "CONCLAUDE_AGENT_NAME",
    "CONCLAUDE_SKILL_NAME",
];

pub(super) struct EventPlan {
    pub(super) event: EventKind,
    /// The input of commands.
    pub(super) payload: Vec<u8>,
    pub(super) commands: Vec<PlannedCommand>,
    pub(super) warnings: Vec<String>,
    /// Why some of it may not run.
    pub(super) untrusted: Option<String>,
}

/// A command of the config, and its scripts: none if none of its files has changed, several if there are many files.
pub(super) struct PlannedCommand {
    pub(super) run: String,
    pub(super) parts: Vec<Command>,
    /// The section where the same command has already run.
    pub(super) ran_at: Option<&'static str>,
}

/// A command of the config for which nothing runs.
pub(super) struct SkippedCommand<'a> {
    pub(super) run: &'a str,
    /// The section where the same command has already run.
    pub(super) ran_at: Option<&'static str>,
    /// How many scripts run before it.
    pub(super) position: usize,
}

impl EventPlan {
    /// The plan with what runs.
    pub(super) fn plan(&self) -> Plan {
        Plan::of_commands(self.event, self.commands.iter().flat_map(|command| command.parts.clone()))
    }

    /// The commands for which nothing runs, in their order.
    pub(super) fn skipped(&self) -> Vec<SkippedCommand<'_>> {
        let mut position = 0;
        let mut skipped = Vec::new();
        for PlannedCommand { run, parts, ran_at } in &self.commands {
            if parts.is_empty() {
                skipped.push(SkippedCommand { run, ran_at: *ran_at, position });
            }
            position += parts.len();
        }
        skipped
    }
}

/// The project that the plan is for.
#[derive(Clone, Copy)]
pub(super) struct ProjectConfig<'a> {
    pub(super) client: &'static Dialect,
    pub(super) root: &'a Root,
    pub(super) config: &'a ConclaudeConfig,
    pub(super) origins: &'a Origins,
}

/// An event with all commands that it selects, whatever has changed.
struct SelectedEvent {
    event: EventKind,
    payload: Vec<u8>,
    plan: Plan,
}

pub(super) fn plan(
    request: &RunRequest,
    events: &[EventKind],
    project: ProjectConfig<'_>,
) -> anyhow::Result<Vec<EventPlan>> {
    let ProjectConfig { root, config, .. } = project;
    let agent = request.agent.as_deref();
    let with_all = ProjectConfig { config: &without_files(config), ..project };
    let mut selected = Vec::new();
    for event in events.iter().copied() {
        let payload = payload(event, agent, &root.work)?;
        let plan = with_all.plan(event, &payload, agent, &[])?;
        selected.push(SelectedEvent { event, payload, plan });
    }
    // Git runs filters that a repository configures, so git is not called for an untrusted config.
    let is_trusted = selected.iter().all(|one| one.plan.untrusted.is_none());
    let changed = if is_trusted && asks_for_files(request, events, config) {
        input_files(request, &root.work)?
    } else {
        InputFiles::default()
    };
    let mut planned = Vec::new();
    for SelectedEvent { event, payload, plan: selected } in selected {
        let plan = project.plan(event, &payload, agent, &changed.files)?;
        planned.push(EventPlan {
            event,
            commands: selected.commands().map(|one| one_command(one, &plan)).collect(),
            warnings: plan.warnings.clone(),
            untrusted: selected.untrusted.map(|untrusted| untrusted.why),
            payload,
        });
    }
    once(&mut planned);
    if let Some(first) = planned.first_mut() {
        first.warnings.splice(0..0, changed.warnings);
    }
    Ok(planned)
}

/// If several events or patterns run a command in the same way, it runs once, for the first of them, with the strictest reaction.
fn once(planned: &mut [EventPlan]) {
    let mut all: Vec<(&'static str, &mut PlannedCommand)> = planned
        .iter_mut()
        .flat_map(|event| {
            let section = event.event.row().section;
            event.commands.iter_mut().map(move |command| (section, command))
        })
        .collect();
    for at in 1..all.len() {
        let (before, after) = all.split_at_mut(at);
        let Some((_, later)) = after.first_mut() else { continue };
        let Some((section, first)) = before.iter_mut().find(|(_, first)| first.does_the_same(later)) else {
            continue;
        };
        for (first, again) in first.parts.iter_mut().zip(later.parts.drain(..)) {
            first.on_failure = first.on_failure.max(again.on_failure);
            first.on_timeout = first.on_timeout.max(again.on_timeout);
        }
        later.ran_at = Some(section);
    }
}

impl PlannedCommand {
    /// Whether both are for different agents or events, and do the same. A script that reads variables of its event may not.
    fn does_the_same(&self, other: &PlannedCommand) -> bool {
        let how = |one: &Command| {
            (
                one.script.clone(),
                one.shell.clone(),
                one.cwd.clone(),
                one.own_env.clone(),
                one.timeout,
                one.protocol,
            )
        };
        let is_same = |(one, other): (&Command, &Command)| {
            let is_other_rule = one.rule.key != other.rule.key || one.rule.pattern != other.rule.pattern;
            is_other_rule && how(one) == how(other) && !one.script.contains("CONCLAUDE_")
        };
        !self.parts.is_empty()
            && self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(is_same)
    }
}

fn asks_for_files(request: &RunRequest, events: &[EventKind], config: &ConclaudeConfig) -> bool {
    !request.files.is_empty() || events.iter().any(|event| config.asks_for_files(*event))
}

/// The config without `files`.
fn without_files(config: &ConclaudeConfig) -> ConclaudeConfig {
    let mut config = config.clone();
    let maps = config.sections.iter_mut().filter_map(|(_, section)| section.commands.as_mut());
    for command in maps.flat_map(|map| &mut map.0).flat_map(|(_, commands)| commands) {
        command.files = None;
    }
    config
}

fn one_command(selected: &Command, plan: &Plan) -> PlannedCommand {
    let is_same = |one: &&Command| one.rule == selected.rule && one.run == selected.run;
    let parts = plan.commands().filter(is_same).cloned().map(with_name).collect();
    PlannedCommand { run: selected.run.clone(), parts, ran_at: None }
}

/// Sets the variables to a tool or an agent from the pattern, if the payload names none.
fn with_name(mut command: Command) -> Command {
    let Some(named) = command.rule.pattern.as_deref().and_then(first_name).map(str::to_owned) else {
        return command;
    };
    for (name, value) in &mut command.env {
        if NAMES.contains(&name.as_str()) && value.as_deref() == Some(UNKNOWN) {
            *value = Some(named.clone());
        }
    }
    command
}

/// The first name of a pattern without wildcards: `Write`, `{Write,Edit}`.
fn first_name(pattern: &str) -> Option<&str> {
    let inner = pattern.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let first = inner.and_then(|inner| inner.split(',').next()).unwrap_or(pattern);
    let is_name = !first.is_empty() && first.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if is_name { Some(first) } else { None }
}

fn payload(event: EventKind, agent: Option<&str>, work: &Path) -> anyhow::Result<Vec<u8>> {
    let mut payload = Map::new();
    let common = json!({
        "session_id": NOBODY,
        "transcript_path": work.join(NOBODY).with_extension("jsonl"),
        "cwd": work,
        "hook_event_name": event.name(),
        "permission_mode": "default",
    });
    payload.extend(common.as_object().cloned().unwrap_or_default());
    if matches!(event, EventKind::Stop | EventKind::SubagentStop) {
        payload.insert("stop_hook_active".into(), false.into());
        payload.insert("background_tasks".into(), json!([]));
    }
    if fields::has_tool(event) {
        payload.insert("tool_name".into(), UNKNOWN.into());
        payload.insert("tool_input".into(), json!({}));
    }
    if event == EventKind::UserPromptSubmit {
        payload.insert("prompt".into(), NOBODY.into());
    }
    if event.is_of_agent() || agent.is_some() {
        if !event.row().in_agents {
            bail!("{event} never comes from a subagent: leave --agent out, or name another event");
        }
        payload.insert("agent_id".into(), NOBODY.into());
        payload.insert("agent_type".into(), agent.unwrap_or(UNKNOWN).into());
    }
    serde_json::to_vec(&payload).map_err(anyhow::Error::msg)
}

impl ProjectConfig<'_> {
    fn plan(
        self,
        event: EventKind,
        payload: &[u8],
        agent: Option<&str>,
        changed: &[Location],
    ) -> anyhow::Result<Plan> {
        let parsed: Event = types::fields(payload)
            .and_then(|fields| Event::sample(self.client, event, fields))
            .map_err(|error| anyhow!("{error}"))?;
        let is_agents = event.is_of_agent();
        let named = agent.map(|name| Agent {
            kind: Some(name.to_owned()),
            id: Some(NOBODY.to_owned()),
            ..Agent::named(name)
        });
        let unnamed = Agent::named(UNKNOWN);
        let Root { folder: root, work, .. } = self.root;
        let project = ProjectFacts { config: self.config, origins: self.origins, root, work };
        let facts = Facts {
            select: match (is_agents, agent) {
                (true, Some(_)) => Selection::Matching,
                (true, None) => Selection::AllAgents,
                // The tool and its written files are unknown.
                (false, _) => Selection::All,
            },
            agent: if is_agents { Some(named.as_ref().unwrap_or(&unnamed)) } else { None },
            caller: if is_agents { None } else { named.as_ref() },
            changed,
            config_dir: self.root.config.as_deref().and_then(Path::parent),
            inherited: Some(&hooks::inherited_variables(&Variables::of_process())),
            ..Facts::of(&parsed, project)
        };
        plan::plan(&facts).map_err(|error| anyhow!("{error}"))
    }
}
