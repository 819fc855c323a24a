//! All facts of a call before planning: the payload, the agent, the config, the gate.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Environment;
use super::actors::{self, Actors};
use super::changed_files::ChangeSite;
use super::config::Config;
use super::gate_context::GateContext;
use super::lineage;
use super::panics;
use conclaude_checks::des::step_folders::StepFolders;
use conclaude_core::agent::Agent;
use conclaude_core::blocks::{BlockCause, BlockCount, CountError};
use conclaude_core::config::{ConfigError, TelemetryConfig};
use conclaude_core::error::{HookError, Result};
use conclaude_core::event::{BlockCounter, Blocking, EventKind, Subject};
use conclaude_core::file_pattern::Location;
use conclaude_core::finding::Finding;
use conclaude_core::messages;
use conclaude_core::outcome::Obstacle;
use conclaude_core::plan::{self, Facts, Plan, ProjectFacts, UnknownChanges};
use conclaude_core::types::{Event, HookPayload, PayloadError};
use conclaude_os::budget::Budget;
use conclaude_os::environment::Variables;
use conclaude_os::git::{Snapshot, WorkTree};
use conclaude_os::log;
use conclaude_store::audit::{self, Record, TraceParent};
use conclaude_store::export::background::PendingExport;
use conclaude_store::root::Root;
use conclaude_store::store::{self, Session};
use conclaude_store::transcript::identity;

/// The name of the main thread, in the state of a session.
pub(super) const MAIN_THREAD: &str = "main thread";

/// The files that the event, or the agent until its stop, changed.
pub(super) struct ChangedFiles {
    pub(super) files: Vec<Location>,
    /// Why these files may be too many.
    unknown: Option<UnknownChanges>,
}

pub(super) struct Context<'a> {
    /// The original payload, for the stdin of commands.
    pub(super) input: &'a [u8],
    pub(super) event: Event,
    /// The subagent, at its own events.
    pub(super) agent: Option<Agent>,
    /// The subagent that another event comes from.
    pub(super) caller: Option<Agent>,
    pub(super) root: Root,
    /// The folder whose settings Claude Code reads.
    pub(super) project: PathBuf,
    pub(super) config: Config,
    pub(super) session: Session,
    pub(super) gate: Option<GateContext>,
    /// Why it is unknown whether a gate applies, if one could.
    unknown_gate: Option<Finding>,
    pub(super) tree: WorkTree,
    /// The files that count as changed, if the event is only inspected.
    given_changes: Option<Vec<String>>,
    changed: OnceCell<ChangedFiles>,
    /// The time of the payload.
    pub(super) started: Timestamp,
    /// The time limit of the event without commands.
    pub(super) budget: Budget,
    environment: Environment,
    /// The export after the answer.
    export: Cell<Option<PendingExport>>,
}

impl<'a> Context<'a> {
    /// Reads everything that a plan needs. `None` if there is nothing to do, as at the stop of an agent that nobody started.
    pub(super) fn gather(
        mut event: Event,
        input: &'a [u8],
        environment: &Environment,
        budget: &Budget,
    ) -> Result<Option<Context<'a>>> {
        let started = Timestamp::now();
        let Some(mut root) = root_if_needed(&event, environment)? else { return Ok(None) };
        lineage::settle(&mut event, &root.folder, environment.is_rehearsal);
        let session = session_of(&event, &root, environment).within(budget);
        if let Some(why) = why_ignored(&event, &session) {
            log_start(&event, None);
            arrived(&root, &event, environment);
            log::info(|| why);
            return Ok(None);
        }
        if event.kind == EventKind::SessionStart {
            note_start(&session, environment);
        }
        let config = load_config(&root, &event, environment);
        let Actors { agent, mut gate, unknown_gate } = actors::find(&event, &session, &config.settings);
        if let Some(gate) = &mut gate {
            settle_gate(gate, &mut root, &event.payload);
        }
        log_start(&event, agent.as_ref());
        panics::panic_here_in_tests("agent");
        let baseline = baseline_of(&event, gate.as_ref(), &session);
        let project = environment.project_dir.clone().unwrap_or_else(|| root.folder.clone());
        Ok(Some(Context {
            input,
            caller: actors::caller(&event),
            event,
            agent,
            tree: WorkTree::at(&root.work, baseline, budget),
            root,
            project,
            config,
            session,
            gate,
            unknown_gate: if environment.is_sample { None } else { unknown_gate },
            given_changes: environment.changed.clone(),
            changed: OnceCell::new(),
            started,
            budget: budget.clone(),
            environment: environment.clone(),
            export: Cell::new(None),
        }))
    }

    /// This call with another input of its tool.
    pub(super) fn with_tool_input(&self, input: &Map<String, Value>) -> Option<Context<'a>> {
        let event = self.event.with_tool_input(input).ok()?;
        Context::gather(event, self.input, &self.environment, &self.budget).ok()?
    }

    pub(super) fn plan(&self) -> Result<Plan> {
        let asks_for_files = self.config.settings.asks_for_files(self.kind());
        let changed = if asks_for_files { Some(self.changed()) } else { None };
        let running = match self.payload() {
            HookPayload::Stop(stop) => stop.running_agents(),
            _ => Vec::new(),
        };
        let config_error = self.config.error.as_ref().map(ConfigError::brief);
        let Config { settings, origins, .. } = &self.config;
        let Root { folder: root, work, .. } = &self.root;
        let project = ProjectFacts { config: settings, origins, root, work };
        let facts = Facts {
            agent: self.agent.as_ref(),
            caller: self.caller.as_ref(),
            changed: changed.map_or(&[], |changed| &changed.files),
            unknown_changes: changed.and_then(|changed| changed.unknown.as_ref()),
            running: &running,
            gate: self.gate.as_ref().map(|gate| &gate.facts),
            unknown_gate: self.unknown_gate.as_ref(),
            config_error: config_error.as_deref(),
            is_event_concerned: self.config.fails(self.kind()),
            project: &self.project,
            config_dir: self.root.config.as_deref().and_then(Path::parent),
            inherited: Some(&inherited_variables(self.variables())),
            ..Facts::of(&self.event, project)
        };
        let plan = plan::plan(&facts)?;
        for warning in &plan.warnings {
            log::warn(|| warning.clone());
        }
        Ok(plan)
    }

    /// The environment variables of the call.
    pub(super) fn variables(&self) -> &Variables {
        &self.environment.variables
    }

    /// Whether the event is only inspected.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.environment.is_rehearsal
    }

    /// Whether the event did not happen.
    pub(super) fn is_sample(&self) -> bool {
        self.environment.is_sample
    }

    /// The start of relative paths, unless that is the project's root.
    pub(super) fn cwd_elsewhere(&self) -> Option<&str> {
        let cwd = self.payload().cwd();
        if self.root.folder.to_str() == Some(cwd) { None } else { Some(cwd) }
    }

    /// Computed once: this reads a transcript, and may start git.
    pub(super) fn changed(&self) -> &ChangedFiles {
        self.changed.get_or_init(|| {
            let is_trusted = self.config.origins.untrusted(&[self.kind().row().section]).is_none();
            let site = ChangeSite { event: &self.event, work: &self.root.work, budget: &self.budget };
            let (files, unknown) = match &self.given_changes {
                Some(names) => (site.located(names), None),
                None => site.changed(self.subagent(), is_trusted),
            };
            ChangedFiles { files, unknown }
        })
    }

    /// The subagent that causes the event. `None` for the main thread.
    pub(super) fn subagent(&self) -> Option<&Agent> {
        self.agent.as_ref().or(self.caller.as_ref())
    }

    pub(super) fn payload(&self) -> &HookPayload {
        &self.event.payload
    }

    pub(super) fn kind(&self) -> EventKind {
        self.event.kind
    }

    /// The client, unless it is Claude Code.
    fn client_name(&self) -> Option<&'static str> {
        let client = self.event.client;
        if client.is_translated() { Some(client.name) } else { None }
    }

    /// Whether the client shows messages of the event to the user, on the main thread.
    pub(super) fn is_shown(&self) -> bool {
        self.event.client.shows(self.kind())
    }

    pub(super) fn is_first_stop(&self) -> bool {
        self.payload().is_first_stop()
    }

    /// Whose blocks are counted, if a stop can be blocked.
    pub(super) fn stopping(&self) -> Option<Agent> {
        let field = |name: &str| self.event.fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let Blocking::Stop(stopping) = self.kind().blocking() else { return None };
        match stopping {
            BlockCounter::Agent => self.agent.clone(),
            BlockCounter::Main => Some(Agent::named(MAIN_THREAD)),
            BlockCounter::Teammate(name) => {
                Some(self.caller.clone().unwrap_or_else(|| Agent::named(field(name))))
            }
            BlockCounter::Task(id) => Some(Agent::named(format!("task {}", field(id)))),
        }
    }

    pub(super) fn count_block(&self, max: u32, cause: &BlockCause) -> Result<BlockCount, CountError> {
        let agent = self.stopping().ok_or(CountError::NoAgent)?;
        let count = self.session.count_block(&agent, max, cause);
        match &count {
            Ok(BlockCount::Blocks(_)) => {}
            Ok(BlockCount::Exhausted) => {
                let times = conclaude_core::text::count(max.into(), "time");
                log::warn(|| format!("{} may stop: it was blocked {times} already", agent.name));
            }
            Err(error) => log::warn(|| format!("cannot count blocks: {error}")),
        }
        Ok(count?)
    }

    pub(super) fn was_blocked_by(&self, obstacle: Obstacle) -> bool {
        self.stopping().is_some_and(|agent| self.session.was_blocked_by(obstacle, &agent))
    }

    /// A record of this event, to be filled.
    pub(super) fn record(&self) -> Record {
        Record {
            event: self.kind().name().into(),
            started: Some(audit::in_record(self.started)),
            client: self.client_name().map(str::to_owned),
            session: Some(self.payload().session_id().to_owned()),
            permission_mode: self.payload().base().permission_mode.clone(),
            traceparent: TraceParent::of(self.variables()),
            ..Record::default()
        }
    }

    /// Writes a record. A failure is reported, and is an error only if the config says so.
    pub(super) fn audit(&self, record: &Record) -> Result<Option<String>> {
        let written =
            audit::write(&self.root.folder, self.config.settings.audit.as_ref(), record, &self.budget);
        if let Ok(Some(problem)) | Err(problem) = &written {
            log::warn(|| problem.to_string());
        }
        if matches!(written, Ok(None)) {
            self.export();
        }
        match written {
            Ok(problem) => Ok(problem.map(|problem| problem.to_string())),
            Err(error) => Err(HookError::Audit(error.to_string())),
        }
    }

    pub(super) fn is_audited(&self) -> bool {
        self.config.settings.audit.as_ref().and_then(|audit| audit.enabled) != Some(false)
    }

    /// The export after the answer.
    pub(super) fn take_export(&self) -> Option<PendingExport> {
        self.export.take()
    }

    /// Schedules the export of the trail after the answer, if the config names a trusted collector.
    pub(super) fn export(&self) {
        let settings = &self.config.settings;
        if let Some(endpoint) = settings.endpoint()
            && self.is_audited()
        {
            let signals = settings.telemetry.as_ref().map(TelemetryConfig::signals).unwrap_or_default();
            // A missing variable may be set in this environment.
            let is_new = self.kind() == EventKind::SessionStart;
            let pending = PendingExport::new(&self.root.folder, endpoint.as_str(), signals, is_new);
            self.export.replace(Some(pending.only_trusted(self.environment.only_if_trusted)));
        }
    }
}

/// The variables of ours that commands inherit from our caller.
pub fn inherited_variables(variables: &Variables) -> Vec<String> {
    let own = variables.names().filter(|name| name.starts_with(plan::environment::PREFIX));
    own.map(str::to_owned).collect()
}

/// The folders of a call. They never depend on our own working directory.
pub(super) fn root_of(payload: &HookPayload, environment: &Environment) -> Result<Root> {
    let cwd = Path::new(payload.cwd());
    if !cwd.is_absolute() {
        let what = format!("`cwd` is {:?}, expected an absolute path", payload.cwd());
        return Err(PayloadError::Field(what).into());
    }
    Ok(Root::find(environment.project_dir.as_deref(), cwd))
}

/// Like `root_of`. `None` if there is none, and the event may be skipped silently.
fn root_if_needed(event: &Event, environment: &Environment) -> Result<Option<Root>> {
    match root_of(&event.payload, environment) {
        Err(_) if event.kind.is_quiet() => Ok(None),
        root => root.map(Some),
    }
}

/// The session of an event. It then knows the call of the event's agent.
fn session_of(event: &Event, root: &Root, environment: &Environment) -> Session {
    let session = Session::new(&root.folder, event.payload.session_id());
    let session = if environment.is_rehearsal { session.read_only() } else { session };
    lineage::link(event, &session);
    session
}

/// Records that a session starts, or continues after its end.
fn note_start(session: &Session, environment: &Environment) {
    session.resume();
    if !environment.only_if_trusted {
        session.note_project_start();
    }
}

/// Why there is nothing to do at an event, for the log.
fn why_ignored(event: &Event, session: &Session) -> Option<String> {
    let Event { kind, payload, .. } = event;
    if identity::is_phantom(payload) {
        return Some(format!("{kind} of no agent ({:?}): nothing to do", payload.agent_id()));
    }
    let why = match payload {
        HookPayload::UserPromptSubmit(said) if session.is_reason(&said.prompt) => {
            Some("the prompt is the reason for which the last stop was blocked, and not one of the user")
        }
        _ => event.client.ignores(*kind, &event.fields),
    };
    why.map(|why| format!("nothing to do at this {kind}: {why}"))
}

/// The config, after which the event counts as arrived unless the config fails it.
fn load_config(root: &Root, event: &Event, environment: &Environment) -> Config {
    let config = Config::load(root, event.kind, environment);
    panics::guards_are_known(event.kind, &config.settings.guards);
    if !config.fails(event.kind) {
        arrived(root, event, environment);
    }
    config
}

/// Finds the step file of a gate, and the worktree of its agent.
fn settle_gate(gate: &mut GateContext, root: &mut Root, payload: &HookPayload) {
    if !gate.is_of_helper() {
        root.leave_other_worktrees(payload.agent_id());
    }
    gate.resolve_step(&StepFolders { root: &root.work, cwd: Path::new(payload.cwd()) });
}

/// The work tree at the call of the agent that stops.
fn baseline_of(event: &Event, gate: Option<&GateContext>, session: &Session) -> Option<Snapshot> {
    if event.kind != EventKind::SubagentStop {
        return None;
    }
    gate?.origin.call.as_ref()?.tree(session)
}

/// Records the arrival of the event.
fn arrived(root: &Root, event: &Event, environment: &Environment) {
    if !environment.is_rehearsal {
        let name = if event.client.is_translated() { event.client_event } else { event.kind.name() };
        store::touch_last(&root.folder, event.client, name);
    }
}

/// Logs the event, with the fields that distinguish it from others of its kind.
fn log_start(event: &Event, agent: Option<&Agent>) {
    log::info(|| {
        let field = |name: &'static str| {
            let value = event.fields.get(name).and_then(Value::as_str).filter(|value| !value.is_empty());
            value.map(|value| (name, value))
        };
        let parts: Vec<(&str, &str)> = match (agent, event.kind.row().subject) {
            (Some(agent), _) => {
                vec![("agent_id", agent.id.as_deref().unwrap_or("-")), ("subagent_type", &agent.name)]
            }
            (None, subject) => {
                let compared = match subject {
                    Subject::Field(name) | Subject::File(name) => field(name),
                    Subject::Agent | Subject::Nothing => field("prompt_id"),
                };
                [field("agent_id"), compared, field("tool_use_id")].into_iter().flatten().collect()
            }
        };
        let parts: String =
            parts.iter().map(|(name, value)| format!(", {name}={}", messages::short(value))).collect();
        format!("Processing {} hook: session_id={}{parts}", event.kind, event.payload.session_id())
    });
}
