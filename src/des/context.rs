//! The DES context of an agent: what its prompt's markers say, and where that was found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::markers::{Markers, Validation};
use crate::git::Snapshot;
use crate::store::Session;
use crate::transcript::identity::Meta;
use crate::transcript::{self, AgentCall, Found, Prompt};
use crate::{deadline, log};

/// How long to wait for a transcript that is written late.
const TRANSCRIPT_WAIT: Duration = Duration::from_secs(2);

/// What is extracted from the prompt's markers and the transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DesContext {
    /// `DES-VALIDATION` asks for it.
    pub validation_required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The time of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
}

impl DesContext {
    /// From the markers, without times.
    #[must_use]
    pub fn of(markers: &Markers) -> DesContext {
        DesContext {
            validation_required: markers.validation == Validation::Required,
            step_file: markers.step_file.clone(),
            agent_name: markers.agent.clone(),
            command: markers.command.clone(),
            project_id: markers.project_id.clone(),
            start_time: None,
            end_time: None,
        }
    }

    /// With the time of the prompt and that of the last line of the agent's transcript.
    #[must_use]
    pub fn with_times(mut self, paths: &TranscriptPaths, origin: &Origin) -> DesContext {
        self.start_time =
            origin.time.clone().or_else(|| origin.call.as_ref().map(|call| started(paths, call)));
        self.end_time = paths.own.as_deref().and_then(transcript::last_time);
        self
    }
}

/// When an agent started whose call Gate 1 remembered: by its own transcript, by the main one, by our clock.
fn started(paths: &TranscriptPaths, call: &Call) -> String {
    let prompt = paths.own.as_deref().and_then(transcript::first_prompt).and_then(|prompt| prompt.time);
    let called =
        || transcript::call_of(&paths.main, Some(&call.tool_use_id), None).and_then(|found| found.time);
    prompt.or_else(called).unwrap_or_else(|| call.time.clone())
}

/// What Gate 1 remembers of a call that it let through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Call {
    pub tool_use_id: String,
    pub subagent_type: String,
    /// Its prompt, as it was when the gate looked.
    pub prompt: String,
    pub step_file: String,
    /// What the step said that the agent is judged by; what it says later is the agent's own doing.
    pub rules: Value,
    /// Its `allowed_file_patterns` at that time.
    pub allowed: Vec<String>,
    /// The phases that counted at that time. What the config says later, or that it breaks, changes nothing for this agent.
    pub phases: Vec<String>,
    /// The phases that needed proof.
    pub evidence: Vec<String>,
    /// The commands that the config had for them.
    pub commands: BTreeMap<String, String>,
    /// The phases that were finished before this agent started; what proves them is older than its call.
    pub finished: Vec<String>,
    /// The last record of the trail at the call. What proves the work comes after it, whatever the clock says.
    pub last_record: Option<u64>,
    /// The call of the gated agent that made this one: a helper works within the boundaries of the agent that called it.
    pub parent: Option<String>,
    /// The work tree was remembered beside this; outside of a repository there is none.
    pub has_tree: bool,
    /// When it was, in the form of Claude Code's transcripts.
    pub time: String,
    /// Whether the main thread goes on meanwhile.
    pub background: bool,
    /// The agent's stop was allowed.
    pub stopped: bool,
    /// The user was shown that the agent never stopped.
    #[serde(alias = "told")]
    pub reported: bool,
}

impl Call {
    fn name(tool_use_id: &str) -> String {
        format!("call-{}", crate::store::hash(tool_use_id))
    }

    /// # Errors
    /// When it cannot be written.
    pub fn remember(&self, session: &Session) -> std::io::Result<()> {
        session.write(&Call::name(&self.tool_use_id), self)
    }

    /// The work tree at the call. It names every file, so it is not part of what every event reads.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn remember_tree(&self, session: &Session, tree: &Snapshot) -> std::io::Result<()> {
        session.write(&Call::tree_name(&self.tool_use_id), tree)
    }

    /// None outside of a repository.
    #[must_use]
    pub fn tree(&self, session: &Session) -> Option<Snapshot> {
        session.read(&Call::tree_name(&self.tool_use_id))
    }

    fn tree_name(tool_use_id: &str) -> String {
        format!("tree-{}", crate::store::hash(tool_use_id))
    }

    /// The agent was called, and neither stopped nor was reported as unfinished.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.stopped && !self.reported
    }

    /// The call with this id, if it was remembered.
    #[must_use]
    pub fn recall(session: &Session, tool_use_id: &str) -> Option<Call> {
        session.read(&Call::name(tool_use_id))
    }

    #[must_use]
    pub fn all(session: &Session) -> Vec<Call> {
        session.names("call-").iter().filter_map(|name| session.read(name)).collect()
    }
}

/// The prompt of an agent, and the remembered call if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub prompt: String,
    /// When it was said, where that is known without looking further.
    pub time: Option<String>,
    /// What Gate 1 remembered.
    pub call: Option<Call>,
}

impl Origin {
    #[must_use]
    pub fn of_call(call: Call) -> Origin {
        Origin { prompt: call.prompt.clone(), time: None, call: Some(call) }
    }

    fn said(prompt: Prompt) -> Origin {
        Origin { prompt: prompt.text, time: prompt.time, call: None }
    }

    fn called(call: AgentCall) -> Option<Origin> {
        Some(Origin { prompt: call.prompt?, time: call.time, call: None })
    }
}

/// Where an agent's prompt can be found.
#[derive(Clone, Debug)]
pub struct TranscriptPaths {
    pub agent_id: Option<String>,
    /// The main transcript.
    pub main: PathBuf,
    /// The agent's own. The same as the main one where the payload has a single path and no id: it may be either.
    pub own: Option<PathBuf>,
}

impl TranscriptPaths {
    /// Whether there is one transcript alone.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.own.as_ref() == Some(&self.main)
    }
}

/// Finds the agent's prompt: what Gate 1 remembered, which an agent cannot delete as it can a transcript; the first user
/// message of its transcript; its call in the main transcript.
#[must_use]
pub fn origin(paths: &TranscriptPaths, agent: Option<&str>, session: &Session, wait: bool) -> Option<Origin> {
    if let Some(call) = remembered(paths, session) {
        return Some(Origin::of_call(call));
    }
    if paths.is_single() {
        return in_single(&paths.main, agent);
    }
    let own = paths.own.as_deref();
    if let Some(prompt) = own.and_then(transcript::first_prompt) {
        return Some(Origin::said(prompt));
    }
    // In a format that we do not know nothing is found, and nothing can be late.
    if own.is_some_and(transcript::is_foreign) || transcript::is_foreign(&paths.main) {
        return None;
    }
    let id = || own.and_then(Meta::beside).and_then(|meta| meta.tool_use_id);
    let called = |id: Option<&str>| transcript::call_of(&paths.main, id, agent).and_then(Origin::called);
    id().and_then(|id| called(Some(&id)))
        .or_else(|| if wait { late(paths, session) } else { None })
        .or_else(|| called(id().as_deref()))
}

/// The prompt in a transcript of which the payload does not say whose it is. It is the agent's own unless it has the form
/// of Claude Code's main thread and calls agents.
fn in_single(path: &Path, agent: Option<&str>) -> Option<Origin> {
    let first = transcript::first_prompt(path);
    if let Some(prompt) = first.as_ref().filter(|prompt| !prompt.is_main) {
        return Some(Origin::said(prompt.clone()));
    }
    match transcript::last_agent_call(path, None) {
        Ok(Found::Call(call)) if agent == Some(&call.subagent_type) => Origin::called(call),
        Ok(Found::Nothing) => first.map(Origin::said),
        _ => None,
    }
}

/// Waits for a transcript that is written late. Only where the client keeps transcripts at all can one be late.
fn late(paths: &TranscriptPaths, session: &Session) -> Option<Origin> {
    let own = paths.own.as_deref()?;
    if !paths.main.exists() {
        return None;
    }
    log::debug(|| format!("waiting for the agent's prompt in {}", own.display()));
    let over = Instant::now() + deadline::at_most(TRANSCRIPT_WAIT);
    let mut prompt = None;
    while prompt.is_none() && Instant::now() < over {
        std::thread::sleep(Duration::from_millis(20));
        prompt = transcript::first_prompt(own);
    }
    let found = remembered(paths, session).map(Origin::of_call).or_else(|| prompt.map(Origin::said));
    if found.is_none() {
        log::warn(|| format!("the agent's prompt was not found in {}", own.display()));
    }
    found
}

/// The call that Gate 1 remembered for this agent. Once found, the link is kept with our own state: the file that names it
/// is where an agent can delete it.
#[must_use]
pub fn remembered(paths: &TranscriptPaths, session: &Session) -> Option<Call> {
    let link = paths.agent_id.as_deref().map(|id| format!("link-{}", crate::store::hash(id)));
    if let Some(call) = link
        .as_deref()
        .and_then(|link| session.read::<String>(link))
        .and_then(|id| Call::recall(session, &id))
    {
        return Some(call);
    }
    let id = paths.own.as_deref().and_then(Meta::beside)?.tool_use_id?;
    let call = Call::recall(session, &id)?;
    if let Some(link) = link
        && let Err(error) = session.write(&link, &id)
    {
        log::warn(|| format!("cannot keep the link from agent to call: {error}"));
    }
    Some(call)
}
