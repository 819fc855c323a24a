//! Events of the past, looked at with a config of today: the same payload, plan, guards and decision as in a hook, with a config
//! that is read once. Nothing is run and nothing is written.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{changes, gate_facts};
use crate::agent::Agent;
use crate::config::{DesConfig, Layer, Reaction, file_name};
use crate::decide::{self, Count, Decided, Decision, Word};
use crate::des::markers::Markers;
use crate::des::paths::Links;
use crate::des::protected::Protected;
use crate::dialect::claude::tools;
use crate::event::{EventKind, Subject};
use crate::file_pattern::Location;
use crate::guard::{Rules, Sources};
use crate::load::Loaded;
use crate::plan::{self, Facts, Gate, GateFacts, Plan, Select};
use crate::rule::Rule;
use crate::types::{Event, HookPayload, PreToolUsePayload};
use crate::{deadline, files, permission, root};

mod check;
mod rules;

pub(crate) use rules::EVENTS;

/// A config, ready to be compared with many events.
pub(crate) struct Replayer {
    loaded: Loaded,
    guards: Rules,
    /// What the files of the config are called, and whose they are.
    sources: Vec<(Arc<str>, Layer)>,
    /// What the files of the config are named relative to.
    base: PathBuf,
    des: DesConfig,
    /// Every rule that could say something about the events of a transcript.
    pub(crate) rules: Vec<Rule>,
    /// The events that these are about.
    with_rules: Vec<EventKind>,
}

/// Where events happen. What the disk says about its folders is asked once.
pub(crate) struct Stage {
    root: PathBuf,
    work: PathBuf,
    links: Links,
    protected: OnceCell<Protected>,
}

impl Stage {
    /// In this folder of this project. A worktree of an agent is one also where it has been removed since.
    pub(crate) fn new(root: &Path, cwd: &Path) -> Stage {
        let worktree = root::worktree_of(cwd).filter(|tree| tree.starts_with(root));
        Stage {
            root: root.to_owned(),
            work: worktree.unwrap_or_else(|| root.to_owned()),
            links: Links::default(),
            protected: OnceCell::new(),
        }
    }
}

pub(crate) struct Past<'a> {
    pub(crate) event: &'a Event,
    pub(crate) stage: &'a Stage,
    /// The subagent that it comes from; none is the main thread.
    pub(crate) agent: Option<&'a Agent>,
    /// The files that were written until a stop.
    pub(crate) written: &'a [String],
    /// How often the stop would have been blocked before.
    pub(crate) blocks: u32,
    /// Gate 2 or Gate 3 applies, and what it looked at is gone.
    pub(crate) is_gated: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Would {
    #[default]
    Allowed,
    /// Without asking the user.
    Permitted,
    /// No rule is against it, and commands that were not run may be.
    Depends,
    /// No rule is against it, and a gate may be that cannot be replayed.
    Unknown,
    Asked,
    Denied,
    Blocked,
}

impl Would {
    pub(crate) const ALL: [Would; 7] = [
        Would::Allowed,
        Would::Permitted,
        Would::Depends,
        Would::Unknown,
        Would::Asked,
        Would::Denied,
        Would::Blocked,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Would::Allowed => "allowed",
            Would::Permitted => "permitted",
            Would::Depends => "depends",
            Would::Unknown => "unknown",
            Would::Asked => "asked",
            Would::Denied => "denied",
            Would::Blocked => "blocked",
        }
    }
}

/// A rule that denies, asks, blocks or permits, and what it matched.
#[derive(Clone, Debug)]
pub(crate) struct Because {
    pub(crate) rule: Rule,
    pub(crate) matched: String,
    /// What this rule alone comes to.
    pub(crate) would: Would,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Planned {
    pub(crate) rule: Rule,
    pub(crate) run: String,
    pub(crate) can_block: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) would: Would,
    pub(crate) because: Vec<Because>,
    /// Every rule that matches, also those that decide nothing.
    pub(crate) matched: Vec<Rule>,
    pub(crate) commands: Vec<Planned>,
    /// Gate 1 applies: its prompt was judged, and its step file is not known any more.
    pub(crate) has_gate: bool,
}

impl Replayer {
    /// # Errors
    /// When a rule cannot be evaluated.
    pub(crate) fn new(loaded: Loaded, root: &Path) -> Result<Replayer, String> {
        let used = loaded.origins.sources().iter();
        let sources: Vec<(Arc<str>, Layer)> =
            used.map(|source| (file_name(&source.path, Some(root)).into(), source.layer)).collect();
        let broken = |error| format!("a rule cannot be evaluated: {error}");
        let home = files::home();
        let guards = Rules::of(&loaded.config.guards, &Sources(&sources), home.as_deref()).map_err(broken)?;
        let permissions =
            permission::Rules::of(&loaded.config.permissions, &Sources(&sources), home.as_deref())
                .map_err(broken)?;
        let rules = rules::all(&loaded, &guards, &permissions, root);
        let des = loaded.config.des.clone().unwrap_or_default();
        let is_of = |event: &EventKind| {
            let section = event.row().section;
            let key = |rule: &Rule| rule.key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
            rules.iter().any(key)
        };
        let with_rules = EVENTS.into_iter().filter(is_of).collect();
        Ok(Replayer { loaded, guards, sources, base: root.to_owned(), des, rules, with_rules })
    }

    /// Whether a rule could say something about this event. Most configs have none for some of them, and then nothing is to be judged.
    pub(crate) fn has_rules(&self, event: EventKind) -> bool {
        self.with_rules.contains(&event)
    }

    /// Sections of the config for events that no transcript shows.
    pub(crate) fn other_sections(&self) -> Vec<&'static str> {
        let sections = self.loaded.config.sections.iter();
        let others = sections
            .filter(|(event, section)| !EVENTS.contains(event) && section.commands().next().is_some());
        others.map(|(event, _)| event.row().section).collect()
    }

    pub(crate) fn has_gates(&self) -> bool {
        self.des.is_enabled()
    }

    pub(crate) fn has_permissions(&self) -> bool {
        self.loaded.config.permissions.has_rules()
            || self.loaded.config.section(EventKind::PermissionRequest).is_some()
    }

    /// Whether a command at a stop is limited to the files that were written.
    pub(crate) fn asks_for_files(&self) -> bool {
        [EventKind::Stop, EventKind::SubagentStop].into_iter().any(|event| self.compares_files(event))
    }

    fn compares_files(&self, event: EventKind) -> bool {
        let section = self.loaded.config.section(event);
        section.is_some_and(|section| section.commands().any(|command| command.files.is_some()))
    }

    /// What the config has to say about an event.
    ///
    /// # Errors
    /// When a pattern cannot be evaluated.
    pub(crate) fn judge(&self, past: &Past<'_>) -> Result<Judged, String> {
        // A hook that takes too long decides without having looked at everything, and so does this.
        deadline::start();
        let gate = self.gate(past.event);
        let plan = self.plan(past, gate.as_ref()).map_err(|error| error.to_string())?;
        let mut judged = Judged { has_gate: gate.is_some(), ..Judged::default() };
        let mut outcomes = Vec::new();
        for step in &plan.steps {
            outcomes.extend(self.check(&step.action, past, &mut judged.matched));
        }
        judged.commands = plan.commands().map(planned).collect();
        judged.matched.extend(judged.commands.iter().map(|command| command.rule.clone()));
        let count = match past.blocks {
            blocks if blocks < plan.max_blocks => Count::Blocks(blocks + 1),
            _ => Count::Exhausted,
        };
        let decided = decide::decide(&plan, &outcomes, past.blocks == 0, || Ok(count));
        judged.would = would(&decided, &judged.commands, judged.has_gate || past.is_gated);
        let reasons = outcomes.iter().filter_map(|outcome| self.because(outcome, &judged.would, &outcomes));
        judged.because = reasons.collect();
        Ok(judged)
    }

    fn plan(&self, past: &Past<'_>, gate: Option<&GateFacts>) -> Result<Plan, crate::pattern::PatternError> {
        let is_of_agent = past.event.kind.row().subject == Subject::Agent;
        let changed = if self.compares_files(past.event.kind) { changed(past) } else { Vec::new() };
        let running = match &past.event.payload {
            HookPayload::Stop(stop) => stop.running_agents(),
            _ => Vec::new(),
        };
        plan::plan(&Facts {
            event: past.event,
            select: Select::Matching,
            agent: past.agent.filter(|_| is_of_agent),
            caller: past.agent.filter(|_| !is_of_agent),
            changed: &changed,
            unknown_changes: None,
            running: &running,
            config: &self.loaded.config,
            origins: &self.loaded.origins,
            gate,
            unknown_gate: None,
            config_error: None,
            work: &past.stage.work,
            config_dir: Some(&self.base),
            inherited: None,
        })
    }

    /// Gate 1, where the prompt of a call asks for it.
    fn gate(&self, event: &Event) -> Option<GateFacts> {
        let HookPayload::PreToolUse(tool) = &event.payload else { return None };
        let markers = Markers::of(called(tool)?);
        (self.des.is_enabled() && markers.apply()).then(|| GateFacts {
            gate: Gate::Call { step_file: markers.step_file.clone() },
            at_call: None,
            markers: [markers.step_file, markers.agent, markers.command, markers.project_id],
        })
    }
}

/// The prompt of an agent that is about to be called.
fn called(tool: &PreToolUsePayload) -> Option<&str> {
    tools::starts_agent(&tool.tool_name).then(|| tool.tool_input.get("prompt")?.as_str()).flatten()
}

fn changed(past: &Past<'_>) -> Vec<Location> {
    let Past { event, stage, .. } = past;
    match event.kind {
        EventKind::Stop | EventKind::SubagentStop => changes::located(event, past.written, &stage.work),
        _ => changes::changed(event, past.agent, &stage.work).0,
    }
}

/// The files that a call writes, for the stop that follows it.
pub(crate) fn written(event: &Event) -> Vec<String> {
    let cwd = Path::new(event.payload.cwd());
    let files = changes::of_tool(&event.fields).into_iter();
    files.map(|file| cwd.join(file).to_string_lossy().into_owned()).collect()
}

fn planned(command: &plan::Command) -> Planned {
    let can_block = command.on_failure == Reaction::Block
        || (command.timeout.is_some() && command.on_timeout == Reaction::Block);
    Planned { rule: (*command.rule).clone(), run: command.run.clone(), can_block }
}

fn would(decided: &Decided, commands: &[Planned], is_gated: bool) -> Would {
    match (decided.word, &decided.result.decision) {
        (Word::Denied, _) => Would::Denied,
        (Word::Blocked, _) => Would::Blocked,
        (Word::Asked, _) => Would::Asked,
        (_, Decision::Permit) => Would::Permitted,
        _ if is_gated => Would::Unknown,
        _ if commands.iter().any(|command| command.can_block) => Would::Depends,
        _ => Would::Allowed,
    }
}

/// Whether a prompt has markers that ask for gates.
pub(crate) fn is_gated(prompt: &str) -> bool {
    Markers::of(prompt).apply()
}

/// Whether Gate 2 would look at a call of an agent with a step.
pub(crate) fn concerns_scope(event: &Event) -> bool {
    let HookPayload::PreToolUse(tool) = &event.payload else { return false };
    let field = tools::written_field(&tool.tool_name);
    field.is_some_and(|field| tool.tool_input.get(field).is_some_and(Value::is_string))
        || gate_facts::shell_writes(tool).is_some()
}
