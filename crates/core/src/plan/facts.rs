//! The inputs of a plan.

use std::path::Path;

use super::step::{Action, Gate};
use crate::agent::Agent;
use crate::config::{ConclaudeConfig, GateConfig, Origins};
use crate::file_pattern::Location;
use crate::finding::Finding;
use crate::types::Event;

/// The inputs of a plan.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub event: &'a Event,
    pub select: Selection,
    /// The subagent, at its own events.
    pub agent: Option<&'a Agent>,
    /// The subagent that another event comes from.
    pub caller: Option<&'a Agent>,
    /// The files that the event changed, or the agent until its stop. Only if a command needs them.
    pub changed: &'a [Location],
    /// Why these files may be too many.
    pub unknown_changes: Option<&'a UnknownChanges>,
    /// The agents that still run in the background at a stop of the main thread.
    pub running: &'a [String],
    pub config: &'a ConclaudeConfig,
    /// The files of the config, and whether they may run.
    pub origins: &'a Origins,
    pub gate: Option<&'a GateFacts>,
    /// Why it is unknown whether a gate applies, if one could.
    pub unknown_gate: Option<&'a Finding>,
    /// Why a file of the config cannot be used, on one line.
    pub config_error: Option<&'a str>,
    /// Whether that error concerns this event.
    pub is_event_concerned: bool,
    /// Names of config files are relative to this folder.
    pub root: &'a Path,
    /// Where commands run.
    pub work: &'a Path,
    /// The folder whose settings Claude Code reads.
    pub project: &'a Path,
    /// The folder of the config.
    pub config_dir: Option<&'a Path>,
    /// The names of inherited variables with our prefix, as in a command of an outer hook. `None` if nothing is started or shown:
    /// then no environment is built.
    pub inherited: Option<&'a [String]>,
}

impl<'a> Facts<'a> {
    /// An event of the main thread without further facts. Its plan is neither run nor shown.
    pub fn of(event: &'a Event, project: ProjectFacts<'a>) -> Facts<'a> {
        let ProjectFacts { config, origins, root, work } = project;
        Facts {
            event,
            select: Selection::Matching,
            agent: None,
            caller: None,
            changed: &[],
            unknown_changes: None,
            running: &[],
            config,
            origins,
            gate: None,
            unknown_gate: None,
            config_error: None,
            is_event_concerned: false,
            root,
            work,
            project: root,
            config_dir: None,
            inherited: None,
        }
    }
}

/// The facts of a project, for any event.
#[derive(Clone, Copy, Debug)]
pub struct ProjectFacts<'a> {
    pub config: &'a ConclaudeConfig,
    pub origins: &'a Origins,
    /// Names of config files are relative to this folder.
    pub root: &'a Path,
    /// Where commands run.
    pub work: &'a Path,
}

/// Why the changed files are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownChanges {
    /// Their source cannot be read.
    Unreadable(String),
    /// Shell commands wrote files that they do not name, which is common.
    Unclear(String),
}

impl UnknownChanges {
    pub(super) fn action(&self) -> Action {
        match self {
            UnknownChanges::Unreadable(why) => Action::Note(why.clone()),
            UnknownChanges::Unclear(why) => Action::Remark(why.clone()),
        }
    }
}

/// Which patterns of a section apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Those that match the event.
    #[default]
    Matching,
    /// All of them.
    All,
    /// All of them, with the commands of all agents: the user named none.
    AllAgents,
}

/// The facts of a gate before planning.
#[derive(Clone, Debug, PartialEq)]
pub struct GateFacts {
    pub gate: Gate,
    /// The settings from the time when Gate 1 allowed the agent, or its caller. They count, whatever the config says now.
    pub at_call: Option<GateConfig>,
    /// The values of `DES-STEP-FILE`, `DES-AGENT`, `DES-COMMAND` and `DES-PROJECT-ID`.
    pub markers: [Option<String>; 4],
}
