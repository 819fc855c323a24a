//! Reading Claude Code's transcripts: JSON lines that are appended to while we look, and that grow to 100 MB.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::files;

mod ending;
pub mod identity;
mod lines;
mod writes;

pub use ending::ending;
use lines::{LinesFromEnd, bounded_line, first_lines, holds};
pub use writes::successful_writes;

/// A call of the Agent tool (`Task` in older clients) in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCall {
    pub id: Option<String>,
    /// The subagent that was called.
    pub subagent_type: String,
    pub prompt: Option<String>,
}

/// What looking for a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Call(AgentCall),
    /// The transcript has no such call.
    Nothing,
    /// There is none near its end; the rest was not read.
    NotNear,
    /// A line that is not JSON is between the end and any call: what it hides cannot be known.
    Malformed,
}

/// Finds the most recent Agent call with this id, or the most recent of all, reading from the end.
///
/// # Errors
/// When the file cannot be read.
pub fn last_agent_call(path: &Path, id: Option<&str>) -> io::Result<Found> {
    let mut lines = LinesFromEnd::open(path)?;
    // After the last line break comes a line that Claude Code is in the middle of writing.
    let mut unfinished = true;
    while let Some(line) = lines.next_line()? {
        let line = line.trim_ascii();
        let is_unfinished = std::mem::take(&mut unfinished);
        if line.is_empty() {
            continue;
        }
        match calls_in(line) {
            Ok(calls) => {
                let wanted = |call: &AgentCall| id.is_none() || call.id.as_deref() == id;
                if let Some(call) = calls.into_iter().rev().find(wanted) {
                    return Ok(Found::Call(call));
                }
            }
            Err(_) if is_unfinished => {}
            // What a line hides can be any call, but not one that is known by its id.
            Err(_) if id.is_some() => {}
            Err(_) => return Ok(Found::Malformed),
        }
    }
    Ok(if lines.left_out() { Found::NotNear } else { Found::Nothing })
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
    if memchr::memmem::find(line, b"subagent_type").is_none() {
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
    Ok(calls)
}

fn agent_call(tool: &str, id: Option<String>, input: Input) -> Option<AgentCall> {
    match input {
        Input::Agent { subagent_type, prompt }
            if matches!(tool, "Agent" | "Task") && !subagent_type.trim().is_empty() =>
        {
            Some(AgentCall { id, subagent_type, prompt })
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

    fn content(&self) -> Option<&Value> {
        self.0.get("message").and_then(|message| message.get("content")).or_else(|| self.0.get("content"))
    }

    fn role(&self) -> Option<&str> {
        let role = self.0.get("message").and_then(|message| message.get("role")).and_then(Value::as_str);
        role.or_else(|| self.text("role")).or_else(|| self.text("type"))
    }

    /// What the user said on this line, if it is the user's.
    fn prompt(&self) -> Option<String> {
        (self.role() == Some("user")).then(|| text_of(self.content()?)).flatten()
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

/// The prompt of a subagent: the first user message of its transcript. What comes later, or is quoted, never counts.
#[must_use]
pub fn first_prompt(path: &Path) -> Option<String> {
    // The client may write other lines before it; one that cannot be read does not hide the rest.
    first_lines(path).ok()?.take(200).find_map(|line| Said::read(&line)?.prompt())
}

/// The times of the first and the last line that have one.
#[must_use]
pub fn times(path: &Path) -> (Option<String>, Option<String>) {
    let time = |line: &[u8]| Said::read(line)?.text("timestamp").map(str::to_owned);
    let first = first_lines(path).ok().and_then(|lines| lines.take(50).find_map(|line| time(&line)));
    let last = LinesFromEnd::open(path).ok().and_then(|mut lines| {
        (0..50).find_map(|_| lines.next_line().ok().flatten().and_then(|line| time(&line)))
    });
    (first, last)
}

/// The prompt of the Agent call with this id in the main transcript. Without an id the most recent call counts, if it
/// is one of this agent: the prompt of another is none of its business.
#[must_use]
pub fn call_prompt(path: &Path, id: Option<&str>, agent: Option<&str>) -> Option<String> {
    match last_agent_call(path, id) {
        Ok(Found::Call(call)) if id.is_some() || agent == Some(&call.subagent_type) => call.prompt,
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
