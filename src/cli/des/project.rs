//! The project that a subcommand of `conclaude des` works in: its phases, its steps, and its records.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use jiff::Timestamp;
use serde_json::Value;

use crate::cli::out::Out;
use crate::cli::{project_dir, root};
use conclaude_checks::des::call::GatedCall;
use conclaude_checks::des::protected::is_protected;
use conclaude_checks::des::record::{self, PhaseChange, PhaseUpdate, RecordError};
use conclaude_checks::des::step;
use conclaude_checks::paths;
use conclaude_core::config::{AuditConfig, ConclaudeConfig, Origins, Patterns, TRUST_IT};
use conclaude_core::dialect::claude::variables;
use conclaude_core::text::clean_line;
use conclaude_engine::enforced_session;
use conclaude_engine::install::registration;
use conclaude_engine::install::scope::session_folder;
use conclaude_os::budget::Budget;
use conclaude_os::environment::{self, Variables};
use conclaude_store::audit::{self, Record, TraceParent, words};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;
use conclaude_store::store::running_commands::{self, RunningCommand, RunningMarker};
use conclaude_store::store::{self, Session};

pub(super) struct DesProject {
    pub(super) root: Root,
    /// As far as its files can be read.
    pub(super) config: ConclaudeConfig,
    origins: Origins,
    config_error: Option<String>,
}

impl DesProject {
    pub(super) fn find() -> anyhow::Result<DesProject> {
        let root = root()?;
        let LoadedConfig { config, origins, errors, .. } = load::all(&root, Patterns::All);
        let config_error = errors.first().map(ToString::to_string);
        Ok(DesProject { root, config, origins, config_error })
    }

    /// For subcommands whose output depends on the config: with the defaults it would be wrong.
    pub(super) fn require_valid_config(&self) -> anyhow::Result<()> {
        match &self.config_error {
            Some(error) => bail!("{error}"),
            None => Ok(()),
        }
    }

    /// These subcommands run outside of Claude Code's sandbox: there the config of the session decides which commands run.
    pub(super) fn require_config_of_session(&self) -> anyhow::Result<()> {
        match enforced_session::of_other_config(&self.root, &Variables::of_process()) {
            None => Ok(()),
            Some(session) => bail!(
                "this is not the project of the session, {}, and `conclaude des` runs outside of its sandbox (enforce): use the steps of that project, or ask the user to run it",
                session.display()
            ),
        }
    }

    /// Nothing can be recorded in Claude Code's sandbox, so nothing is started there.
    pub(super) fn require_writable_state(&self) -> anyhow::Result<()> {
        let folder = self.root.folder.join(store::FOLDER);
        let tried = tempfile::NamedTempFile::new_in(&folder);
        if tried.is_err_and(|error| error.kind() == io::ErrorKind::ReadOnlyFilesystem) {
            bail!(
                "{} cannot be written in Claude Code's sandbox: run `conclaude des …` as a command of its own, without `cd`, `&&`, pipes or redirections; then it runs outside (`enforce`)",
                folder.display()
            );
        }
        Ok(())
    }

    /// With a broken config the gates apply with their defaults, so an agent must be able to record what they require.
    pub(super) fn warn_about_config(&self) {
        if let Some(summary) = self.config_problem() {
            let _ = writeln!(Out::stderr(), "conclaude: warning: {summary}; using the step's own phases");
        }
    }

    /// The problem of the config, on one line.
    pub(super) fn config_problem(&self) -> Option<&str> {
        self.config_error.as_deref().map(|error| error.lines().next().unwrap_or_default())
    }

    /// The phases of a step: from the config, or from the step if the config cannot be read.
    pub(super) fn phases(&self, step: &step::Step) -> Vec<String> {
        let log = step.phases().filter(|log| self.config_error.is_some() && !log.is_empty());
        match log {
            Some(log) => log.into_iter().map(|phase| phase.name).collect(),
            None => self.configured_phases(),
        }
    }

    pub(super) fn configured_phases(&self) -> Vec<String> {
        self.config.des.clone().unwrap_or_default().phase_names()
    }

    /// The real path of the step file, and its name in records. It must be inside the project.
    pub(super) fn step(&self, path: &Path) -> anyhow::Result<(PathBuf, String)> {
        let cwd = std::env::current_dir()?;
        let outside = || anyhow!("{} is outside the project {}", path.display(), self.root.work.display());
        let name = paths::relative(&self.root.work, &cwd, &path.to_string_lossy()).ok_or_else(outside)?;
        // Agents may call us for files that they may not write: config and settings are not step files.
        if is_protected(&name) {
            bail!("{name} belongs to the gates: it is not a step file");
        }
        Ok((paths::real_path(&cwd.join(path)), name))
    }

    pub(super) fn audit(&self, record: &Record) -> anyhow::Result<()> {
        let problem =
            audit::write(&self.root.folder, self.config.audit.as_ref(), record, &Budget::unlimited())
                .map_err(anyhow::Error::msg)?;
        if let Some(problem) = problem {
            let _ = writeln!(Out::stderr(), "conclaude: warning: {problem}");
        }
        Ok(())
    }

    /// A phase that counts only with proof is not recorded without it.
    pub(super) fn refuse_without_proof(&self, phase: &str) -> anyhow::Result<()> {
        let des = self.config.des.clone().unwrap_or_default();
        if !des.evidence().contains(&phase) {
            return Ok(());
        }
        let runs =
            des.evidence_command(phase).map(|command| format!(", which runs `{}`", clean_line(command)));
        Err(anyhow!(
            "{phase} counts only with proof (des.evidence): use `conclaude des run`{}",
            runs.unwrap_or_default()
        ))
    }

    /// Commands of the config run under the same conditions as at a stop: not in an untrusted project.
    pub(super) fn require_trust(&self) -> anyhow::Result<()> {
        let project = session_folder(project_dir(), &self.root.folder)?;
        if !registration::asks_for_trust(&registration::current(&project)) {
            return Ok(());
        }
        let mut origins = self.origins.clone();
        origins.check_trust(load::why_untrusted);
        match origins.untrusted(&["des", "evidence"]) {
            None => Ok(()),
            Some(why) => Err(anyhow!("{why}, so its commands do not run. {TRUST_IT}")),
        }
    }

    /// Changes a step file under its lock, and returns the step's name.
    pub(super) fn change_step(
        &self,
        path: &Path,
        change: impl FnOnce(&mut step::Step) -> Result<(), RecordError>,
    ) -> anyhow::Result<String> {
        let (real, name) = self.step(path)?;
        record::change(&self.root.folder, &real, change).map_err(anyhow::Error::msg)?;
        Ok(name)
    }

    /// Records a change of a phase, in the step file and in the audit trail.
    pub(super) fn record_phase(&self, path: &Path, phase: &str, change: &PhaseChange) -> anyhow::Result<()> {
        self.record_run(path, phase, change, None)
    }

    /// Like `record_phase`, with the end of a failed command's output. That goes only to the trail.
    pub(super) fn record_run(
        &self,
        path: &Path,
        phase: &str,
        change: &PhaseChange,
        output: Option<String>,
    ) -> anyhow::Result<()> {
        let name = self.change_step(path, |step| {
            let update =
                PhaseUpdate { phases: &self.phases(step), name: phase, change, now: Timestamp::now() };
            record::record(step, &update)
        })?;
        let AuditedChange { event, decision, evidence } = AuditedChange::of(change);
        let mut evidence = evidence.cloned();
        if let (Some(Value::Object(proof)), Some(output)) = (&mut evidence, output) {
            proof.insert("output".to_owned(), output.into());
        }
        self.audit(&Record {
            phase: Some(phase.into()),
            evidence,
            reason: match change {
                PhaseChange::Skip { reason } => Some(reason.trim().to_owned()),
                _ => None,
            },
            ..self.base_record(event, &name, decision)
        })
    }

    /// Whether the end of a failed command's output is recorded.
    pub(super) fn records_output(&self) -> bool {
        self.config.audit.as_ref().is_none_or(AuditConfig::records_output)
    }

    /// Notes that a phase's command runs, for `conclaude watch`.
    pub(super) fn note_running(
        &self,
        step: &Path,
        phase: &str,
        command: &str,
        started: Timestamp,
    ) -> anyhow::Result<Option<RunningMarker>> {
        if self.config.audit.as_ref().and_then(|audit| audit.enabled) == Some(false) {
            return Ok(None);
        }
        let (_, name) = self.step(step)?;
        let Record { event, session, agent, step, .. } = self.base_record(words::DES_RUN, &name, "");
        let running = RunningCommand {
            event,
            session,
            agent,
            step,
            phase: Some(phase.to_owned()),
            command: command.to_owned(),
            started: audit::in_record(started),
            ..RunningCommand::default()
        };
        Ok(running_commands::note(&self.root.folder, &running))
    }

    /// The common fields of a step's records.
    pub(super) fn base_record(&self, event: &str, step: &str, decision: &str) -> Record {
        let AgentAtWork { agent, session } = self.agent_at_work(step);
        Record {
            event: event.into(),
            agent,
            session,
            step: Some(step.into()),
            decision: decision.into(),
            traceparent: TraceParent::of(&Variables::of_process()),
            ..Record::default()
        }
    }

    /// The agent that works on the step, from the call that Gate 1 stored: Claude Code does not tell a command which agent runs
    /// it. `None` if several agents are possible.
    fn agent_at_work(&self, step: &str) -> AgentAtWork {
        let mut calls = self.open_calls(step);
        let named = environment::text(variables::SESSION_ID);
        if named.is_some() {
            calls.dedup_by(|one, other| one.subagent_type == other.subagent_type);
        }
        let only = if calls.len() == 1 { calls.pop() } else { None };
        let Some(call) = only else { return AgentAtWork { agent: None, session: named } };
        let session = if call.session.is_empty() { None } else { Some(call.session) };
        AgentAtWork { agent: Some(call.subagent_type), session: named.or(session) }
    }

    /// The calls of agents that work on the step: in this session, or in all if the environment names none.
    fn open_calls(&self, step: &str) -> Vec<GatedCall> {
        let root = &self.root.folder;
        let is_of_step = |call: &GatedCall| call.is_open() && !call.is_helper() && call.step_file == step;
        let mut calls: Vec<GatedCall> = match environment::text(variables::SESSION_ID) {
            Some(session) => GatedCall::all(&Session::new(root, &session)),
            None => {
                let real_root = paths::real_path(root);
                let calls = Session::all(root).iter().flat_map(GatedCall::all).collect::<Vec<_>>();
                calls.into_iter().filter(|call| paths::real_path(&call.root) == real_root).collect()
            }
        };
        calls.retain(is_of_step);
        calls.sort_unstable_by(|one, other| one.subagent_type.cmp(&other.subagent_type));
        calls
    }

    /// The `PATH` with which the hook admitted the agent that is at work on the step.
    pub(super) fn hook_path(&self, step: &str) -> Option<String> {
        self.open_calls(step).into_iter().find_map(|call| call.path)
    }
}

/// The agent that works on a step, as far as known.
#[derive(Default)]
struct AgentAtWork {
    agent: Option<String>,
    session: Option<String>,
}

/// A change in the form of the audit trail.
struct AuditedChange<'a> {
    event: &'static str,
    decision: &'static str,
    /// Only `des run` has evidence.
    evidence: Option<&'a Value>,
}

impl AuditedChange<'_> {
    fn of(change: &PhaseChange) -> AuditedChange<'_> {
        let outcome = |pass: bool| if pass { words::PASS } else { words::FAIL };
        let (event, decision, evidence) = match change {
            PhaseChange::Start => (words::DES_START, words::IN_PROGRESS, None),
            PhaseChange::Skip { .. } => (words::DES_SKIP, words::SKIPPED, None),
            PhaseChange::Finish { pass, evidence: None, .. } => (words::DES_FINISH, outcome(*pass), None),
            PhaseChange::Finish { pass, evidence: Some(evidence), .. }
            | PhaseChange::Prove { pass, evidence, .. } => (words::DES_RUN, outcome(*pass), Some(evidence)),
        };
        AuditedChange { event, decision, evidence }
    }
}
