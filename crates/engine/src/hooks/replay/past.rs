//! A past event, and the current config's judgement of it.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use conclaude_checks::des::protected::ProtectedPaths;
use conclaude_checks::paths::Links;
use conclaude_core::agent::Agent;
use conclaude_core::rule::Rule;
use conclaude_core::types::Event;
use conclaude_store::root;

/// The place of events. Facts of its folders are read from the disk once.
pub struct Stage {
    pub(super) root: PathBuf,
    pub(super) work: PathBuf,
    pub(super) links: Links,
    pub(super) protected: OnceCell<ProtectedPaths>,
}

impl Stage {
    /// A stage in this folder of this project. A worktree of an agent counts even if it has been removed since.
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
    /// The subagent that it comes from. `None` for the main thread.
    pub agent: Option<&'a Agent>,
    /// The files that were written before a stop.
    pub written: &'a [String],
    /// How often the stop would already have been blocked.
    pub blocks: u32,
    /// Gate 2 or Gate 3 applies, and its data is gone.
    pub is_gated: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Prediction {
    #[default]
    Allowed,
    /// Without asking the user.
    Permitted,
    /// No rule forbids it, but commands that did not run might.
    Depends,
    /// No rule forbids it, but a gate that cannot be replayed might.
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

/// A rule that denies, asks, blocks or permits, and the text that it matched.
#[derive(Clone, Debug)]
pub struct DecidingRule {
    pub rule: Rule,
    pub matched: String,
    /// The result of this rule alone.
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
    /// Every matching rule, including those without effect.
    pub matched: Vec<Rule>,
    pub commands: Vec<PlannedCommand>,
    /// Gate 1 applies: its prompt was judged, but its step file is no longer known.
    pub has_gate: bool,
}
