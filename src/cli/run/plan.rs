//! The plan of an event without a session: the same as at a hook, with a payload of what is known.

use std::path::Path;

use anyhow::{anyhow, bail};
use serde_json::{Map, json};

use super::{InputFiles, RunRequest, input_files};
use conclaude_core::agent::Agent;
use conclaude_core::config::{ConclaudeConfig, Origins};
use conclaude_core::dialect::claude::{self, fields};
use conclaude_core::event::EventKind;
use conclaude_core::file_pattern::Location;
use conclaude_core::plan::{self, Command, Facts, Plan, ProjectFacts, Selection};
use conclaude_core::types::Event;
use conclaude_engine::hooks;
use conclaude_store::root::Root;

/// The session and the agent, where a payload must name some.
const NOBODY: &str = "conclaude-run";

/// A subagent or a tool without a name.
const UNKNOWN: &str = "unknown";

const TOOL_NAME: &str = "CONCLAUDE_TOOL_NAME";

pub(super) struct EventPlan {
    pub(super) event: EventKind,
    /// What commands read.
    pub(super) payload: Vec<u8>,
    pub(super) commands: Vec<PlannedCommand>,
    pub(super) warnings: Vec<String>,
    /// Why some of it may not run.
    pub(super) untrusted: Option<String>,
}

/// A command of the config, and the scripts that run for it: none if none of its files has changed, several if there are many files.
pub(super) struct PlannedCommand {
    pub(super) run: String,
    pub(super) parts: Vec<Command>,
    /// The section at which the same has run before.
    pub(super) ran_at: Option<&'static str>,
}

/// The project that the plan is for.
#[derive(Clone, Copy)]
pub(super) struct ProjectConfig<'a> {
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

/// A command that several events run in the same way runs once, at the first of them, with the strictest reaction.
fn once(planned: &mut [EventPlan]) {
    for at in 1..planned.len() {
        let (before, after) = planned.split_at_mut(at);
        let Some(later) = after.first_mut() else { continue };
        for command in later.commands.iter_mut().filter(|command| !command.parts.is_empty()) {
            let first = before.iter_mut().find_map(|event| {
                let section = event.event.row().section;
                Some((
                    section,
                    event.commands.iter_mut().find(|other| is_same(&other.parts, &command.parts))?,
                ))
            });
            let Some((section, first)) = first else { continue };
            for (first, again) in first.parts.iter_mut().zip(command.parts.drain(..)) {
                first.on_failure = first.on_failure.max(again.on_failure);
                first.on_timeout = first.on_timeout.max(again.on_timeout);
            }
            command.ran_at = Some(section);
        }
    }
}

/// Whether they do the same. A script that reads variables of its event may not.
fn is_same(some: &[Command], others: &[Command]) -> bool {
    let how =
        |one: &Command| (one.script.clone(), one.shell.clone(), one.cwd.clone(), one.timeout, one.protocol);
    some.len() == others.len()
        && some
            .iter()
            .zip(others)
            .all(|(one, other)| how(one) == how(other) && !one.script.contains("CONCLAUDE_"))
}

fn asks_for_files(request: &RunRequest, events: &[EventKind], config: &ConclaudeConfig) -> bool {
    !request.files.is_empty() || events.iter().any(|event| config.asks_for_files(*event))
}

/// The same config without `files`.
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
    let parts = plan.commands().filter(is_same).cloned().map(with_tool).collect();
    PlannedCommand { run: selected.run.clone(), parts, ran_at: None }
}

/// Sets the variable to a tool that the pattern names: the payload has none.
fn with_tool(mut command: Command) -> Command {
    let named = command.rule.pattern.as_deref().and_then(named_tool).map(str::to_owned);
    let tool = command.env.iter_mut().find(|(name, value)| name == TOOL_NAME && value.is_some());
    if let (Some(named), Some((_, value))) = (named, tool) {
        *value = Some(named);
    }
    command
}

/// The first tool of a pattern without wildcards: `Write`, `{Write,Edit}`.
fn named_tool(pattern: &str) -> Option<&str> {
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
        let parsed: Event = claude::parse(event, payload).map_err(|error| anyhow!("{error}"))?;
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
                (true, None) => Selection::ForEveryone,
                // Which tool it would be is not known, and which of the files it would write.
                (false, _) => Selection::All,
            },
            agent: if is_agents { Some(named.as_ref().unwrap_or(&unnamed)) } else { None },
            caller: if is_agents { None } else { named.as_ref() },
            changed,
            config_dir: self.root.config.as_deref().and_then(Path::parent),
            inherited: Some(&hooks::inherited_variables()),
            ..Facts::of(&parsed, project)
        };
        plan::plan(&facts).map_err(|error| anyhow!("{error}"))
    }
}
