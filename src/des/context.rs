//! The DES context of an agent: what its prompt's markers say, and where that was found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::markers::{Markers, Validation};
use crate::audit::Position;
use crate::git::Snapshot;
use crate::log;
use crate::store::Session;
use crate::transcript::{self, identity::Meta};

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
    /// The time of the first message in the agent's transcript.
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

    /// With the times of the agent's transcript.
    #[must_use]
    pub fn with_times(mut self, agent_transcript: Option<&Path>) -> DesContext {
        if let Some(path) = agent_transcript {
            (self.start_time, self.end_time) = transcript::times(path);
        }
        self
    }
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
    /// Where that record is, so that the trail is read from there on; none in calls that an older version remembered.
    pub position: Option<Position>,
    /// The call of the gated agent that made this one: a helper works within the boundaries of the agent that called it.
    pub parent: Option<String>,
    /// The work tree at the call; none outside of a repository.
    pub baseline: Option<Snapshot>,
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
    /// What Gate 1 remembered.
    pub call: Option<Call>,
}

/// Where an agent's prompt can be found.
#[derive(Clone, Debug)]
pub struct TranscriptPaths {
    pub agent_id: Option<String>,
    /// The main transcript.
    pub main: PathBuf,
    /// The agent's own.
    pub own: Option<PathBuf>,
}

/// Finds the agent's prompt: what Gate 1 remembered, which an agent cannot delete as it can a transcript; the first user
/// message of its transcript; its call in the main transcript.
#[must_use]
pub fn origin(paths: &TranscriptPaths, agent: Option<&str>, session: &Session, wait: bool) -> Option<Origin> {
    let own = paths.own.as_deref();
    if let Some(call) = remembered(paths, session) {
        return Some(Origin { prompt: call.prompt.clone(), call: Some(call) });
    }
    let mut prompt = own.and_then(transcript::first_prompt);
    if let Some(id) =
        own.filter(|_| prompt.is_none()).and_then(Meta::beside).and_then(|meta| meta.tool_use_id)
    {
        prompt = transcript::call_prompt(&paths.main, Some(&id), agent);
    }
    // Only where the client keeps transcripts at all can one be late.
    if prompt.is_none() && wait && own.is_some() && paths.main.exists() {
        let over = Instant::now() + TRANSCRIPT_WAIT;
        while prompt.is_none() && Instant::now() < over {
            std::thread::sleep(Duration::from_millis(20));
            prompt = own.and_then(transcript::first_prompt);
        }
        if let Some(call) = remembered(paths, session) {
            return Some(Origin { prompt: call.prompt.clone(), call: Some(call) });
        }
        if prompt.is_none() {
            log::warn(|| {
                format!("the agent's prompt was not found in {}", own.unwrap_or(Path::new("")).display())
            });
        }
    }
    let tool_use_id = own.and_then(Meta::beside).and_then(|meta| meta.tool_use_id);
    let prompt = prompt.or_else(|| transcript::call_prompt(&paths.main, tool_use_id.as_deref(), agent))?;
    Some(Origin { prompt, call: None })
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
