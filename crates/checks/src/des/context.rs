//! The DES context of an agent: its prompt's markers, and their source.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::call::GatedCall;
use super::markers::{Markers, Validation};
use conclaude_os::log;
use conclaude_store::store::Session;
use conclaude_store::transcript::identity::Meta;
use conclaude_store::transcript::{self, AgentCall, CallLookup, Prompt};

/// How long to wait for a late transcript.
const TRANSCRIPT_WAIT: Duration = Duration::from_secs(2);

/// Facts from the prompt's markers and the transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DesContext {
    /// Whether `DES-VALIDATION` requires validation.
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

    /// Adds the time of the prompt and that of the last line of the agent's transcript.
    #[must_use]
    pub fn with_times(mut self, paths: &TranscriptPaths, origin: &PromptOrigin) -> DesContext {
        self.start_time =
            origin.time.clone().or_else(|| origin.call.as_ref().map(|call| started(paths, call)));
        self.end_time = paths.own.as_deref().and_then(transcript::last_time);
        self
    }
}

/// The start of an agent whose call Gate 1 stored: from its own transcript, the main one, or our clock.
fn started(paths: &TranscriptPaths, call: &GatedCall) -> String {
    let prompt = paths.own.as_deref().and_then(transcript::first_prompt).and_then(|prompt| prompt.time);
    let called =
        || transcript::call_of(&paths.main, Some(&call.tool_use_id), None).and_then(|found| found.time);
    prompt.or_else(called).unwrap_or_else(|| call.time.clone())
}

/// The prompt of an agent, and the stored call if there is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptOrigin {
    pub prompt: String,
    /// The time of the prompt, if it is known without further reading.
    pub time: Option<String>,
    /// The subagent of the call, if the call names one.
    pub agent: Option<String>,
    /// The state that Gate 1 stored.
    pub call: Option<GatedCall>,
}

impl PromptOrigin {
    #[must_use]
    pub fn of_call(call: GatedCall) -> PromptOrigin {
        let agent = Some(call.subagent_type.clone()).filter(|name| !name.is_empty());
        PromptOrigin { prompt: call.prompt.clone(), time: None, agent, call: Some(call) }
    }

    fn of_prompt(prompt: Prompt) -> PromptOrigin {
        PromptOrigin { prompt: prompt.text, time: prompt.time, agent: None, call: None }
    }

    fn of_agent_call(call: AgentCall, session: &Session) -> Option<PromptOrigin> {
        match call.id.as_deref().and_then(|id| GatedCall::recall(session, id)) {
            Some(remembered) => Some(PromptOrigin::of_call(remembered)),
            None => PromptOrigin::of_transcript_call(call),
        }
    }

    fn of_transcript_call(call: AgentCall) -> Option<PromptOrigin> {
        let agent = Some(call.subagent_type);
        Some(PromptOrigin { prompt: call.prompt?, time: call.time, agent, call: None })
    }

    /// The prompt in a transcript alone. The transcript may be the agent's own, or that of the thread that called it.
    #[must_use]
    pub fn in_transcript(path: &Path) -> Option<PromptOrigin> {
        let first = transcript::first_prompt(path);
        let call = match &first {
            Some(prompt) if Markers::of(&prompt.text).apply() => None,
            Some(prompt) if !prompt.is_main => waiting_call(path, prompt),
            _ => match transcript::last_agent_call(path, None) {
                Ok(CallLookup::Call(call)) => Some(call),
                _ => None,
            },
        };
        call.and_then(PromptOrigin::of_transcript_call).or_else(|| first.map(PromptOrigin::of_prompt))
    }
}

#[derive(Clone, Debug)]
pub struct TranscriptPaths {
    pub agent_id: Option<String>,
    pub main: PathBuf,
    /// The agent's own transcript. If the payload has one path and no id, this is that path, and so is the main transcript: it
    /// may be either.
    pub own: Option<PathBuf>,
    /// The call that started the agent, where the payload names it.
    call_id: Option<String>,
    meta: OnceCell<Option<Meta>>,
}

impl TranscriptPaths {
    #[must_use]
    pub fn new(agent_id: Option<String>, main: PathBuf, own: Option<PathBuf>) -> TranscriptPaths {
        TranscriptPaths { agent_id, main, own, call_id: None, meta: OnceCell::new() }
    }

    /// These paths, with the call that started the agent, if the payload names it.
    #[must_use]
    pub fn of_call(self, call_id: Option<&str>) -> TranscriptPaths {
        TranscriptPaths { call_id: call_id.map(str::to_owned), ..self }
    }

    /// The call that started the agent: from the payload, else from the file next to its transcript.
    fn call_ids(&self) -> impl Iterator<Item = &str> {
        let beside = || self.meta()?.tool_use_id.as_deref();
        self.call_id.as_deref().into_iter().chain(std::iter::once_with(beside).flatten())
    }

    /// The payload's call in the main transcript.
    #[must_use]
    pub fn named_call(&self) -> Option<AgentCall> {
        transcript::call_of(&self.main, Some(self.call_id.as_deref()?), None)
    }

    /// Claude Code's file about the agent, next to its transcript. It is read once.
    #[must_use]
    pub fn meta(&self) -> Option<&Meta> {
        self.meta.get_or_init(|| self.own.as_deref().and_then(Meta::of_transcript)).as_ref()
    }

    /// These paths, with nothing read yet.
    fn unread(&self) -> TranscriptPaths {
        let paths = TranscriptPaths::new(self.agent_id.clone(), self.main.clone(), self.own.clone());
        paths.of_call(self.call_id.as_deref())
    }

    /// Whether there is only one transcript.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.own.as_ref() == Some(&self.main)
    }
}

/// Finds the agent's prompt: in the state of Gate 1, which an agent cannot delete; else the first user message of its transcript;
/// else its call in the main transcript. A found call is claimed for the agent.
#[must_use]
pub fn origin(
    paths: &TranscriptPaths,
    agent: Option<&str>,
    session: &Session,
    wait: bool,
) -> Option<PromptOrigin> {
    if let Some(call) = claim(paths, session) {
        return Some(PromptOrigin::of_call(call));
    }
    if paths.is_single() {
        return in_single(paths, agent, session);
    }
    let own = paths.own.as_deref();
    if let Some(prompt) = own.and_then(transcript::first_prompt) {
        let call = claim_by_prompt(&prompt.text, paths, session);
        return Some(call.map_or_else(|| PromptOrigin::of_prompt(prompt), PromptOrigin::of_call));
    }
    // In an unknown format nothing can be found, so waiting is useless.
    if own.is_some_and(transcript::is_foreign) || transcript::is_foreign(&paths.main) {
        return None;
    }
    if let Some(origin) = paths.named_call().and_then(|call| PromptOrigin::of_agent_call(call, session)) {
        return Some(origin);
    }
    let id = || own.and_then(Meta::of_transcript).and_then(|meta| meta.tool_use_id);
    let called = |id: Option<&str>| {
        transcript::call_of(&paths.main, id, agent)
            .and_then(|call| PromptOrigin::of_agent_call(call, session))
    };
    let known = id();
    if let Some(origin) = known.as_deref().and_then(|id| called(Some(id))) {
        return Some(origin);
    }
    let by_name = if known.is_some() { None } else { called(None) };
    // Most agents have no step, so we do not wait for their prompts. If a known call is not in the transcript, the transcript is
    // late.
    let has_step = |origin: &PromptOrigin| origin.call.is_some() || Markers::of(&origin.prompt).apply();
    let may_have_step = || {
        known.is_some() || by_name.as_ref().is_some_and(has_step) || !GatedCall::unclaimed(session).is_empty()
    };
    if wait && may_have_step() { late(paths, session).or_else(|| called(id().as_deref())) } else { by_name }
}

/// The prompt, if the payload does not say whose transcript it is. It is the agent's own, unless the transcript is that of a
/// calling thread: in the form of Claude Code's main thread, or a plain one that waits for an agent with markers.
fn in_single(paths: &TranscriptPaths, agent: Option<&str>, session: &Session) -> Option<PromptOrigin> {
    if let Some(call) = paths.named_call() {
        return PromptOrigin::of_agent_call(call, session);
    }
    let first = transcript::first_prompt(&paths.main);
    if let Some(prompt) = first.as_ref().filter(|prompt| !prompt.is_main) {
        if let Some(call) = waiting_call(&paths.main, prompt) {
            return PromptOrigin::of_agent_call(call, session);
        }
        let call = claim_by_prompt(&prompt.text, paths, session);
        return Some(call.map_or_else(|| PromptOrigin::of_prompt(prompt.clone()), PromptOrigin::of_call));
    }
    match transcript::last_agent_call(&paths.main, None) {
        Ok(CallLookup::Call(call)) if agent == Some(&call.subagent_type) => {
            PromptOrigin::of_agent_call(call, session)
        }
        Ok(CallLookup::Nothing) => first.map(PromptOrigin::of_prompt),
        _ => None,
    }
}

/// The call with markers that a plain transcript waits for. If the transcript's own prompt has markers, it belongs to the agent,
/// and its calls are helpers.
fn waiting_call(path: &Path, first: &Prompt) -> Option<AgentCall> {
    let applies = |prompt: &str| Markers::of(prompt).apply();
    if applies(&first.text) {
        return None;
    }
    transcript::unanswered_call(path).filter(|call| call.prompt.as_deref().is_some_and(applies))
}

/// Waits for a late transcript, if the client writes transcripts at all.
fn late(paths: &TranscriptPaths, session: &Session) -> Option<PromptOrigin> {
    let own = paths.own.as_deref()?;
    if !paths.main.exists() {
        return None;
    }
    log::debug(|| format!("waiting for the agent's prompt in {}", own.display()));
    let over = Instant::now() + session.budget().at_most(session.budget().at_least(TRANSCRIPT_WAIT));
    let mut prompt = None;
    while prompt.is_none() && Instant::now() < over {
        std::thread::sleep(Duration::from_millis(20));
        prompt = transcript::first_prompt(own);
    }
    let found = claim(&paths.unread(), session)
        .map(PromptOrigin::of_call)
        .or_else(|| prompt.map(PromptOrigin::of_prompt));
    if found.is_none() {
        log::warn(|| format!("the agent's prompt was not found in {}", own.display()));
    }
    found
}

/// The call that Gate 1 stored for this agent.
#[must_use]
pub fn remembered(paths: &TranscriptPaths, session: &Session) -> Option<GatedCall> {
    claimed(paths, session).or_else(|| named(paths, session))
}

/// Like `remembered`, but also stores the link in our own state: an agent can delete the file that names the call.
pub fn claim(paths: &TranscriptPaths, session: &Session) -> Option<GatedCall> {
    let found = || named(paths, session).inspect(|call| call.claim(session, paths.agent_id.as_deref()));
    claimed(paths, session).or_else(found)
}

fn claimed(paths: &TranscriptPaths, session: &Session) -> Option<GatedCall> {
    GatedCall::of_agent(session, paths.agent_id.as_deref()?)
}

/// By the payload, or by Claude Code's file next to the agent's transcript.
fn named(paths: &TranscriptPaths, session: &Session) -> Option<GatedCall> {
    paths.call_ids().find_map(|id| GatedCall::recall(session, id))
}

/// Like `claim`, but by the prompt, to which Gate 1 appended text. It needs no file that names the call.
fn claim_by_prompt(prompt: &str, paths: &TranscriptPaths, session: &Session) -> Option<GatedCall> {
    if paths.meta().is_some() {
        return None;
    }
    let mut unclaimed = GatedCall::unclaimed(session).into_iter();
    let call = unclaimed.find(|call| prompt.starts_with(&call.prompt))?;
    call.claim(session, paths.agent_id.as_deref());
    Some(call)
}

/// The possible calls of this agent, if both its transcript and the file next to it are gone.
#[must_use]
pub fn lost(paths: &TranscriptPaths, subagent_type: Option<&str>, session: &Session) -> Vec<GatedCall> {
    let own = paths.own.as_deref();
    if own.is_some_and(|own| own.exists() || Meta::of_transcript(own).is_some()) {
        return Vec::new();
    }
    let is_of_type = |call: &GatedCall| subagent_type.is_none_or(|kind| kind == call.subagent_type);
    GatedCall::unclaimed(session).into_iter().filter(is_of_type).collect()
}
