//! An event of the past, and what the config of today would make of it.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use conclaude_checks::des::protected::ProtectedPaths;
use conclaude_checks::paths::Links;
use conclaude_core::agent::Agent;
use conclaude_core::rule::Rule;
use conclaude_core::types::Event;
use conclaude_store::root;

/// Where events happen. What the disk says about its folders is asked once.
pub struct Stage {
    pub(super) root: PathBuf,
    pub(super) work: PathBuf,
    pub(super) links: Links,
    pub(super) protected: OnceCell<ProtectedPaths>,
}

impl Stage {
    /// In this folder of this project. A worktree of an agent is one also where it has been removed since.
    pub fn new(root: &Path, cwd: &Path) -> Stage {
        let worktree = root::worktree_of(cwd).filter(|tree| tree.starts_with(root));
        Stage {
            root: root.to_owned(),
            work: worktree.unwrap_or_else(|| root.to_owned()),
            links: Links::default(),
            protected: OnceCell::new(),
        }
    }
}

pub struct PastEvent<'a> {
    pub event: &'a Event,
    pub stage: &'a Stage,
    /// The subagent that it comes from; none is the main thread.
    pub agent: Option<&'a Agent>,
    /// The files that were written until a stop.
    pub written: &'a [String],
    /// How often the stop would have been blocked before.
    pub blocks: u32,
    /// Gate 2 or Gate 3 applies, and what it looked at is gone.
    pub is_gated: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Prediction {
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

impl Prediction {
    pub fn as_str(self) -> &'static str {
        match self {
            Prediction::Allowed => "allowed",
            Prediction::Permitted => "permitted",
            Prediction::Depends => "depends",
            Prediction::Unknown => "unknown",
            Prediction::Asked => "asked",
            Prediction::Denied => "denied",
            Prediction::Blocked => "blocked",
        }
    }
}

/// A rule that denies, asks, blocks or permits, and what it matched.
#[derive(Clone, Debug)]
pub struct DecidingRule {
    pub rule: Rule,
    pub matched: String,
    /// What this rule alone comes to.
    pub would: Prediction,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlannedCommand {
    pub rule: Rule,
    pub run: String,
    pub can_block: bool,
}

#[derive(Debug, Default)]
pub struct Judgement {
    pub would: Prediction,
    pub because: Vec<DecidingRule>,
    /// Every rule that matches, also those that decide nothing.
    pub matched: Vec<Rule>,
    pub commands: Vec<PlannedCommand>,
    /// Gate 1 applies: its prompt was judged, and its step file is not known any more.
    pub has_gate: bool,
}
