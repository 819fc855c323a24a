//! Reading Claude Code's transcripts: JSON lines that are appended to while we look, and that grow to 100 MB.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::files;

pub mod identity;
mod lines;

use lines::{CALL, Line as RawLine, LinesFromEnd, bounded_line, holds};

/// A call of the Agent tool (`Task` in older clients) in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCall {
    pub id: Option<String>,
    /// The subagent that was called.
    pub subagent_type: String,
    pub prompt: Option<String>,
    /// The time of its line.
    pub time: Option<String>,
}

/// What looking for a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Call(AgentCall),
    /// The transcript has no such call.
    Nothing,
    /// A line that is too long to be read, and may be a call, is between the end and any other.
    TooLong,
    /// A line that is not JSON is between the end and any call: what it hides cannot be known.
    Malformed,
}

/// Finds the most recent Agent call with this id, or the most recent of all, reading from the end, however far back it is.
///
/// # Errors
/// When the file cannot be read.
pub fn last_agent_call(path: &Path, id: Option<&str>) -> io::Result<Found> {
    let mut lines = LinesFromEnd::open(path)?;
    // After the last line break comes a line that Claude Code is in the middle of writing.
    let mut unfinished = true;
    // A file of one line that is not JSON is no transcript in the making.
    let mut only_junk = false;
    while let Some(line) = lines.next_line()? {
        let is_unfinished = std::mem::take(&mut unfinished);
        let line = match line {
            RawLine::Whole(line) => line,
            RawLine::TooLong(true) if id.is_none() => return Ok(Found::TooLong),
            RawLine::TooLong(_) => continue,
        };
        let line = line.trim_ascii();
        // What is known by its id cannot be on a line without it, nor hidden by one that is not JSON.
        if line.is_empty() || id.is_some_and(|id| memchr::memmem::find(line, id.as_bytes()).is_none()) {
            continue;
        }
        match calls_in(line) {
            Ok(calls) => {
                only_junk = false;
                let wanted = |call: &AgentCall| id.is_none() || call.id.as_deref() == id;
                if let Some(call) = calls.into_iter().rev().find(wanted) {
                    return Ok(Found::Call(call));
                }
            }
            Err(_) if is_unfinished => only_junk = id.is_none(),
            Err(_) if id.is_some() => {}
            Err(_) => return Ok(Found::Malformed),
        }
    }
    Ok(if only_junk { Found::Malformed } else { Found::Nothing })
}

#[derive(Deserialize)]
struct Line {
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
    // Most lines are anything but a call: they are checked, not parsed.
    if memchr::memmem::find(line, CALL).is_none() {
        return serde_json::from_slice::<IgnoredAny>(line).map(|_| Vec::new());
    }
    let Ok(line) = serde_json::from_slice::<Line>(line) else {
        return serde_json::from_slice::<IgnoredAny>(line).map(|_| Vec::new());
    };
    // Other kinds of lines (snapshots of requests among them) repeat calls of long ago.
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
            if matches!(tool, "Agent" | "Task") && !subagent_type.trim().is_empty() =>
        {
            Some(AgentCall { id, subagent_type, prompt, time: None })
        }
        _ => None,
    }
}

/// A line of a transcript as far as prompts and times are concerned: Claude Code's form, or a plain message. Fields of
/// another type than expected are passed over.
struct Said(Value);

impl Said {
    fn read(line: &[u8]) -> Option<Said> {
        serde_json::from_slice(line).ok().filter(Value::is_object).map(Said)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Qwen Code writes `parts` where Claude Code writes `content`.
    fn content(&self) -> Option<&Value> {
        let message = self.0.get("message");
        message
            .and_then(|message| message.get("content").or_else(|| message.get("parts")))
            .or_else(|| self.0.get("content"))
    }

    /// What the user said on this line, if it is the user's.
    fn prompt(&self) -> Option<Prompt> {
        let role = self.0.get("message").and_then(|message| message.get("role")).and_then(Value::as_str);
        let role = role.or_else(|| self.text("role")).or_else(|| self.text("type"));
        let text = (role == Some("user")).then(|| text_of(self.content()?)).flatten()?;
        let is_main = self.0.get("message").is_some_and(Value::is_object)
            && self.0.get("isSidechain") != Some(&Value::Bool(true));
        Some(Prompt { text, time: self.text("timestamp").map(str::to_owned), is_main })
    }

    /// Whether the line is one of Codex (`payload`) or Copilot (`data`), in whose transcripts we find no prompt.
    fn is_foreign(&self) -> bool {
        let has = |name: &str| self.0.get(name).is_some();
        let has_object = |name: &str| self.0.get(name).is_some_and(Value::is_object);
        (has_object("payload") || has_object("data")) && !has("sessionId") && !has("uuid") && !has("message")
    }
}

/// Content as text: a string, or a list of blocks.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block.as_str().or(block.get("text")?.as_str())).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// The first thing that the user says in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    /// The time of its line.
    pub time: Option<String>,
    /// Its line is one of Claude Code's main thread, and not of a subagent or in the plain form.
    pub is_main: bool,
}

/// The prompt of a subagent: the first user message of its transcript, wherever it is. What comes later, or is quoted, never
/// counts.
#[must_use]
pub fn first_prompt(path: &Path) -> Option<Prompt> {
    let mut reader = io::BufReader::with_capacity(16 << 10, files::open_regular(path).ok()?);
    // The client may write other lines before it; one that cannot be read does not hide the rest.
    while let Ok(Some(line)) = bounded_line(&mut reader) {
        if memchr::memmem::find(&line, b"user").is_none() {
            continue;
        }
        if let Some(prompt) = Said::read(&line).and_then(|said| said.prompt()) {
            return Some(prompt);
        }
    }
    None
}

/// Whether the transcript is in the format of a client whose prompts we cannot read, as far as its first lines tell.
#[must_use]
pub fn is_foreign(path: &Path) -> bool {
    let Ok(file) = files::open_regular(path) else { return false };
    let mut reader = io::BufReader::with_capacity(16 << 10, file);
    (0..5).any(|_| {
        let line = bounded_line(&mut reader).ok().flatten();
        line.and_then(|line| Said::read(&line)).is_some_and(|said| said.is_foreign())
    })
}

/// The time of the last line that has one.
#[must_use]
pub fn last_time(path: &Path) -> Option<String> {
    let mut lines = LinesFromEnd::open(path).ok()?;
    (0..50).find_map(|_| match lines.next_line() {
        Ok(Some(RawLine::Whole(line))) => Said::read(&line)?.text("timestamp").map(str::to_owned),
        _ => None,
    })
}

/// The Agent call with this id in the main transcript. Without an id the most recent call counts, if it is one of this
/// agent: the prompt of another is none of its business.
#[must_use]
pub fn call_of(path: &Path, id: Option<&str>, agent: Option<&str>) -> Option<AgentCall> {
    id.or(agent)?;
    match last_agent_call(path, id) {
        Ok(Found::Call(call)) if id.is_some() || agent == Some(&call.subagent_type) => Some(call),
        _ => None,
    }
}

/// The files that the tools of this transcript wrote, as they were named.
///
/// # Errors
/// When it cannot be read.
pub fn written_files(path: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut reader = io::BufReader::with_capacity(256 << 10, files::open_regular(path)?);
    while let Some(line) = bounded_line(&mut reader)? {
        if memchr::memmem::find(&line, b"\"tool_use\"").is_none() {
            continue;
        }
        found.extend(tool_uses(&line).filter_map(|(name, input)| {
            let field = WRITING_TOOLS.iter().find(|(tool, _)| *tool == name)?.1;
            Some(input.get(field)?.as_str()?.to_owned())
        }));
    }
    Ok(found)
}

/// The agent in whose transcript this call is, among those of the folder, and that transcript.
#[must_use]
pub fn caller(folder: &Path, except: &Path, call: &str) -> Option<(String, PathBuf)> {
    let needle = format!("\"id\":\"{call}\"");
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path != except).find_map(|path| {
        let id = path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".jsonl")?.to_owned();
        holds(&mut files::open_regular(&path).ok()?, needle.as_bytes()).then_some((id, path))
    })
}

/// The tools that write a file, and the field that names it.
pub const WRITING_TOOLS: [(&str, &str); 4] = [
    ("Write", "file_path"),
    ("Edit", "file_path"),
    ("MultiEdit", "file_path"),
    ("NotebookEdit", "notebook_path"),
];

fn tool_uses(line: &[u8]) -> impl Iterator<Item = (String, Value)> {
    let blocks = match Said::read(line).and_then(|said| said.content().cloned()) {
        Some(Value::Array(blocks)) => blocks,
        _ => Vec::new(),
    };
    blocks.into_iter().filter_map(|mut block| {
        let name = block.get("name")?.as_str()?.to_owned();
        Some((name, block.get_mut("input")?.take()))
    })
}

/// Tools that only look.
const READING_TOOLS: [&str; 10] =
    ["Agent", "Task", "Read", "Glob", "Grep", "LS", "ToolSearch", "TodoWrite", "WebFetch", "WebSearch"];

/// Whether anything that can write was done here since the time, as far as the end of the transcript shows.
#[must_use]
pub fn worked_since(path: &Path, time: &str) -> bool {
    let Ok(mut lines) = LinesFromEnd::open(path) else { return false };
    while let Ok(Some(line)) = lines.next_line() {
        let RawLine::Whole(line) = line else { continue };
        let Some(said) = Said::read(&line) else { continue };
        // The client's times have one form, so that they can be compared as text.
        if said.text("timestamp").is_some_and(|then| then < time) {
            return false;
        }
        if tool_uses(&line).any(|(name, _)| !READING_TOOLS.contains(&name.as_str())) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
