//! Everything that a plan is made from.

use std::path::Path;

use super::step::{Action, Gate};
use crate::agent::Agent;
use crate::config::{ConclaudeConfig, GateConfig, Origins};
use crate::file_pattern::Location;
use crate::finding::Finding;
use crate::types::Event;

/// Everything that a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub event: &'a Event,
    pub select: Selection,
    /// The subagent, at the events of one.
    pub agent: Option<&'a Agent>,
    /// The subagent from inside which another event comes.
    pub caller: Option<&'a Agent>,
    /// The files that the event, or the agent until its stop, changed; only where a command asks for them.
    pub changed: &'a [Location],
    /// Why these are only those that may have been changed.
    pub unknown_changes: Option<&'a UnknownChanges>,
    /// The agents that still run in the background, at a stop of the main thread.
    pub running: &'a [String],
    pub config: &'a ConclaudeConfig,
    /// The files that the values of the config came from, and whether they may run.
    pub origins: &'a Origins,
    pub gate: Option<&'a GateFacts>,
    /// Why it is not known whether a gate applies, where one could.
    pub unknown_gate: Option<&'a Finding>,
    /// Why a file of the config cannot be used, in a line.
    pub config_error: Option<&'a str>,
    /// That is an error of this event.
    pub is_event_concerned: bool,
    /// What the files of the config are named relative to.
    pub root: &'a Path,
    /// Where commands run.
    pub work: &'a Path,
    /// The folder whose settings Claude Code reads.
    pub project: &'a Path,
    /// The folder of the config.
    pub config_dir: Option<&'a Path>,
    /// The names of variables with our prefix that we were started with, as by a command of an outer hook. None where nothing is
    /// started or shown: then no environment is made.
    pub inherited: Option<&'a [String]>,
}

impl<'a> Facts<'a> {
    /// An event of the main thread about which nothing else is known. What is planned for it is neither started nor shown.
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

/// What is known of a project, whatever the event.
#[derive(Clone, Copy, Debug)]
pub struct ProjectFacts<'a> {
    pub config: &'a ConclaudeConfig,
    pub origins: &'a Origins,
    /// What the files of the config are named relative to.
    pub root: &'a Path,
    /// Where commands run.
    pub work: &'a Path,
}

/// Why it is not known which files were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownChanges {
    /// What would say so cannot be read.
    Unreadable(String),
    /// Shell commands wrote files that they do not name. That is nothing unusual.
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
    /// Those that match what the event is about.
    #[default]
    Matching,
    /// All of them.
    All,
    /// All of them, and the commands of all agents: nobody has said which one.
    AllAgents,
}

/// What is known of a gate before anything is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct GateFacts {
    pub gate: Gate,
    /// What the config said when Gate 1 let the agent in, or the one that calls: that counts, whatever the config says by then.
    pub at_call: Option<GateConfig>,
    /// The values of `DES-STEP-FILE`, `DES-AGENT`, `DES-COMMAND` and `DES-PROJECT-ID`.
    pub markers: [Option<String>; 4],
}
