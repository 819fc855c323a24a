//! The state of reading a transcript: its thread, its calls without a result, and its last stop.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::totals::{EventPosition, ReplayTotals};
use conclaude_core::agent::{Agent, actor};
use conclaude_core::dialect::claude::transcript::Ending;
use conclaude_core::types::Event;
use conclaude_engine::hooks::replay::{Judgement, Replayer, Stage};

/// One transcript.
pub(crate) struct Thread {
    /// In the order of all transcripts.
    pub(super) number: usize,
    pub(super) session: String,
    /// The transcript of the main thread.
    pub(super) main: PathBuf,
    pub(super) path: PathBuf,
    pub(super) size: u64,
    /// `None` for the main thread.
    pub(super) agent: Option<Agent>,
    /// The project of the session.
    pub(super) root: Option<PathBuf>,
    /// The mode of permissions in which the session was started.
    pub(super) mode: Option<String>,
}

impl Thread {
    pub(super) fn actor(&self) -> &str {
        actor(self.agent.as_ref())
    }
}

/// A call that has no result yet.
pub(super) struct UnansweredCall {
    pub(super) at: EventPosition,
    pub(super) judged: Option<Judgement>,
    /// If permission rules may have to be asked about it.
    pub(super) event: Option<Event>,
    pub(super) writes: Vec<String>,
    /// The agent that it starts.
    pub(super) starts: Option<String>,
    /// A hook answered PermissionRequest.
    pub(super) was_asked: bool,
    pub(super) is_early: bool,
}

/// A stop, until the next line shows its result.
pub(super) struct StopCandidate {
    pub(super) ending: Ending,
    pub(super) time: Option<String>,
    pub(super) is_early: bool,
}

/// The state of reading a transcript.
pub(super) struct Walk<'a> {
    pub(super) replayer: &'a Replayer,
    pub(super) thread: &'a Thread,
    pub(super) since: Option<Timestamp>,
    pub(super) totals: ReplayTotals,
    pub(super) stage: Option<(String, Stage)>,
    pub(super) judged_on_stage: u32,
    pub(super) cwd: String,
    /// The common fields of all payloads, for this folder and this permission mode.
    pub(super) common: Option<(String, Option<String>, Map<String, Value>)>,
    pub(super) mode: Option<String>,
    pub(super) time: Option<String>,
    /// Whether the line is before the requested time: it is only remembered.
    pub(super) is_early: bool,
    pub(super) open: HashMap<String, UnansweredCall>,
    pub(super) written: Vec<String>,
    pub(super) written_names: HashSet<String>,
    /// Agents in the background: their id and what they are.
    pub(super) running: BTreeMap<String, String>,
    pub(super) stop: Option<StopCandidate>,
    /// How often the stop would have been blocked.
    pub(super) blocks: u32,
    pub(super) was_blocked: bool,
    /// The agent was called with a step.
    pub(super) is_gated: bool,
    pub(super) has_prompt: bool,
    /// Whether the text after the last line could not be read.
    pub(super) ends_in_gap: bool,
    pub(super) hits: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(replayer: &'a Replayer, thread: &'a Thread, since: Option<Timestamp>) -> Walk<'a> {
        Walk {
            replayer,
            thread,
            since,
            totals: ReplayTotals::default(),
            stage: None,
            judged_on_stage: 0,
            cwd: String::new(),
            common: None,
            mode: thread.mode.clone(),
            time: None,
            is_early: since.is_some(),
            open: HashMap::new(),
            written: Vec::new(),
            written_names: HashSet::new(),
            running: BTreeMap::new(),
            stop: None,
            blocks: 0,
            was_blocked: false,
            is_gated: false,
            has_prompt: false,
            ends_in_gap: false,
            hits: 0,
        }
    }

    /// The path of a file from the project.
    pub(super) fn shown<'p>(&self, path: &'p str) -> &'p str {
        let root = self.thread.root.as_deref().unwrap_or(Path::new(&self.cwd));
        Path::new(path).strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(path)
    }
}
