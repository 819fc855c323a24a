//! Calls of agents in a transcript, searched from its end.

use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::MessageLine;
use super::lines::{BackwardLine, CALL, LinesFromEnd};
use conclaude_core::dialect::claude::tools;

/// A call of the Agent tool (`Task` in older clients) in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCall {
    pub id: Option<String>,
    pub subagent_type: String,
    pub prompt: Option<String>,
    /// The time of its line.
    pub time: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallLookup {
    Call(AgentCall),
    Nothing,
    /// A line after the last readable call is too long to be read. It may be a call.
    TooLong,
    /// A line after the last readable call is not JSON. It may hide a call.
    Malformed,
}

/// Finds the most recent Agent call with this id, or the most recent of all. Reads from the end, as far back as necessary.
///
/// # Errors
/// When the file cannot be read.
pub fn last_agent_call(path: &Path, id: Option<&str>) -> io::Result<CallLookup> {
    let mut lines = LinesFromEnd::open(path)?;
    // After the last line break there may be a line that Claude Code is still writing.
    let mut unfinished = true;
    // A file with a single line that is not JSON is not a transcript.
    let mut only_junk = false;
    while let Some(line) = lines.next_line()? {
        let is_unfinished = std::mem::take(&mut unfinished);
        let line = match line {
            BackwardLine::Whole(line) => line,
            BackwardLine::TooLong(true) if id.is_none() => return Ok(CallLookup::TooLong),
            BackwardLine::TooLong(_) => continue,
        };
        let line = line.trim_ascii();
        // A line without the id cannot have the call, even if it is not JSON.
        if line.is_empty() || id.is_some_and(|id| memchr::memmem::find(line, id.as_bytes()).is_none()) {
            continue;
        }
        match calls_in(line) {
            Ok(calls) => {
                only_junk = false;
                let wanted = |call: &AgentCall| id.is_none() || call.id.as_deref() == id;
                if let Some(call) = calls.into_iter().rev().find(wanted) {
                    return Ok(CallLookup::Call(call));
                }
            }
            Err(_) if is_unfinished => only_junk = id.is_none(),
            Err(_) if id.is_some() => {}
            Err(_) => return Ok(CallLookup::Malformed),
        }
    }
    Ok(if only_junk { CallLookup::Malformed } else { CallLookup::Nothing })
}

/// How far back from the end a transcript is searched for lines that are not JSON. Claude Code's have up to 100 MB.
const MAX_CHECKED_BYTES: u64 = 256 << 20;

/// Whether a line is not JSON. The last line does not count, because it may still be being written.
#[must_use]
pub fn has_malformed_line(path: &Path) -> bool {
    let Ok(mut lines) = LinesFromEnd::open(path) else { return false };
    let end = lines.start;
    let mut unfinished = true;
    while let Ok(Some(line)) = lines.next_line() {
        let is_unfinished = std::mem::take(&mut unfinished);
        if let BackwardLine::Whole(line) = line
            && !line.trim_ascii().is_empty()
            && !is_unfinished
            && serde_json::from_slice::<IgnoredAny>(&line).is_err()
        {
            return true;
        }
        if end - lines.start > MAX_CHECKED_BYTES {
            return false;
        }
    }
    false
}

/// The most recent unanswered Agent call: its agent is working. A call without an id is answered by any later message with the
/// role of the user.
#[must_use]
pub fn unanswered_call(path: &Path) -> Option<AgentCall> {
    let mut lines = LinesFromEnd::open(path).ok()?;
    let mut answered = Vec::new();
    let mut user_spoke = false;
    while let Ok(Some(line)) = lines.next_line() {
        let BackwardLine::Whole(line) = line else { continue };
        let is_open = |call: &AgentCall| match &call.id {
            Some(id) => !answered.contains(id),
            None => !user_spoke,
        };
        let calls = calls_in(&line).unwrap_or_default();
        if let Some(call) = calls.into_iter().rev().find(is_open) {
            return Some(call);
        }
        if memchr::memmem::find(&line, b"user").is_some()
            && let Some(message) = MessageLine::read(&line)
            && message.role() == Some("user")
        {
            user_spoke = true;
            answered.extend(message.answered());
        }
    }
    None
}

#[derive(Deserialize)]
struct CallLine {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    input: Option<Input>,
    #[serde(default)]
    timestamp: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Blocks(Vec<Block>),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Block {
    Call { name: String, id: Option<String>, input: Input },
    Other(IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    Agent { subagent_type: String, prompt: Option<String> },
    Other(IgnoredAny),
}

/// The Agent calls on one line, in order: in Claude Code's form, as a plain message, or as a bare call.
fn calls_in(line: &[u8]) -> serde_json::Result<Vec<AgentCall>> {
    // Most lines contain no call: they are checked, not parsed.
    if memchr::memmem::find(line, CALL).is_none() {
        return serde_json::from_slice::<IgnoredAny>(line).map(|_| Vec::new());
    }
    let Ok(line) = serde_json::from_slice::<CallLine>(line) else {
        return serde_json::from_slice::<IgnoredAny>(line).map(|_| Vec::new());
    };
    // Other kinds of lines, such as snapshots of requests, repeat old calls.
    if !matches!(line.kind.as_deref(), None | Some("assistant" | "message" | "tool_use")) {
        return Ok(Vec::new());
    }
    let mut calls = Vec::new();
    for content in [line.message.and_then(|message| message.content), line.content].into_iter().flatten() {
        if let Content::Blocks(blocks) = content {
            calls.extend(blocks.into_iter().filter_map(|block| match block {
                Block::Call { name, id, input } => agent_call(&name, id, input),
                Block::Other(_) => None,
            }));
        }
    }
    if let (Some(name), Some(input)) = (line.name, line.input) {
        calls.extend(agent_call(&name, line.id, input));
    }
    let time = line.timestamp.as_ref().and_then(Value::as_str);
    Ok(calls.into_iter().map(|call| AgentCall { time: time.map(str::to_owned), ..call }).collect())
}

fn agent_call(tool: &str, id: Option<String>, input: Input) -> Option<AgentCall> {
    match input {
        Input::Agent { subagent_type, prompt }
            if tools::starts_agent(tool) && !subagent_type.trim().is_empty() =>
        {
            Some(AgentCall { id, subagent_type, prompt, time: None })
        }
        _ => None,
    }
}

/// The Agent call with this id in the main transcript. Without an id, the most recent call, if it is for this agent.
#[must_use]
pub fn call_of(path: &Path, id: Option<&str>, agent: Option<&str>) -> Option<AgentCall> {
    id.or(agent)?;
    match last_agent_call(path, id) {
        Ok(CallLookup::Call(call)) if id.is_some() || agent == Some(&call.subagent_type) => Some(call),
        _ => None,
    }
}
