//! Reads Claude Code's transcripts: JSON lines that grow while we read them, up to 100 MB.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use conclaude_core::dialect::claude::{layout, tools};
use conclaude_core::dialect::other_clients;
use conclaude_os::files;

mod calls;
mod changes;
pub mod fate;
pub mod identity;
mod lines;
pub mod sessions;
pub mod stream;

pub use calls::{AgentCall, CallLookup, call_of, has_malformed_line, last_agent_call, unanswered_call};
pub use changes::{FileWrite, ToolChange, changes, writes};
use lines::{BackwardLine, LinesFromEnd, bounded_line, holds};
pub use tail::tail;

/// The limit on searching a transcript of an unknown format.
const MAX_SEARCHED_BYTES: u64 = 4 << 20;

/// A line of a transcript, read for prompts and times: in Claude Code's form, or a plain message. Fields of an unexpected
/// type are ignored.
struct MessageLine(Value);

impl MessageLine {
    fn read(line: &[u8]) -> Option<MessageLine> {
        serde_json::from_slice(line).ok().filter(Value::is_object).map(MessageLine)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn content(&self) -> Option<&Value> {
        other_clients::content(&self.0)
    }

    fn role(&self) -> Option<&str> {
        let role = self.0.get("message").and_then(|message| message.get("role")).and_then(Value::as_str);
        role.or_else(|| self.text("role")).or_else(|| self.text("type"))
    }

    /// The calls whose results are on this line.
    fn answered(&self) -> Vec<String> {
        let blocks = self.content().and_then(Value::as_array).into_iter().flatten();
        let results = blocks.filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_result"));
        results.filter_map(|block| Some(block.get("tool_use_id")?.as_str()?.to_owned())).collect()
    }

    /// The prompt on this line, if the user wrote it.
    fn prompt(&self) -> Option<Prompt> {
        if let Some(text) = other_clients::task(&self.0) {
            return Some(Prompt { text, time: self.text("timestamp").map(str::to_owned), is_main: false });
        }
        if self.role() != Some("user") {
            return None;
        }
        let text = text_of(self.content()?)?;
        let is_main = self.0.get("message").is_some_and(Value::is_object)
            && self.0.get("isSidechain") != Some(&Value::Bool(true));
        Some(Prompt { text, time: self.text("timestamp").map(str::to_owned), is_main })
    }
}

/// Content as text: a string, or a list of blocks.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block.as_str().or(block.get("text")?.as_str())).collect();
            if texts.is_empty() { None } else { Some(texts.join("\n")) }
        }
        _ => None,
    }
}

/// The first user message of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    /// The time of its line.
    pub time: Option<String>,
    /// Whether the line is of Claude Code's main thread: not of a subagent, and not a plain message.
    pub is_main: bool,
}

/// The prompt of a subagent: the first user message of its transcript. Later messages and quotations never count.
#[must_use]
pub fn first_prompt(path: &Path) -> Option<Prompt> {
    let mut reader = io::BufReader::with_capacity(16 << 10, files::open_regular(path).ok()?);
    // The client may write other lines before it. An unreadable line does not hide those after it.
    while let Ok(Some(line)) = bounded_line(&mut reader) {
        let may_be_prompt = |word: &[u8]| memchr::memmem::find(&line, word).is_some();
        if !may_be_prompt(b"user") && !may_be_prompt(b"agent_message") {
            continue;
        }
        if let Some(prompt) = MessageLine::read(&line).and_then(|line| line.prompt()) {
            return Some(prompt);
        }
    }
    None
}

/// Whether the first lines are in the format of a client whose prompts we cannot read.
#[must_use]
pub fn is_foreign(path: &Path) -> bool {
    let Ok(file) = files::open_regular(path) else { return false };
    let mut reader = io::BufReader::with_capacity(16 << 10, file);
    (0..5).any(|_| {
        let line = bounded_line(&mut reader).ok().flatten();
        line.and_then(|line| MessageLine::read(&line)).is_some_and(|line| other_clients::is_foreign(&line.0))
    })
}

/// Whether the start of a transcript contains these words, in any format.
#[must_use]
pub fn mentions(path: &Path, words: &str) -> bool {
    let Ok(file) = files::open_regular(path) else { return false };
    holds(&mut file.take(MAX_SEARCHED_BYTES), words.as_bytes())
}

/// The time of the last line that has one.
#[must_use]
pub fn last_time(path: &Path) -> Option<String> {
    let mut lines = LinesFromEnd::open(path).ok()?;
    (0..50).find_map(|_| match lines.next_line() {
        Ok(Some(BackwardLine::Whole(line))) => MessageLine::read(&line)?.text("timestamp").map(str::to_owned),
        _ => None,
    })
}

/// The agent whose transcript contains this call, among the transcripts of the folder, and that transcript.
#[must_use]
pub fn caller(folder: &Path, except: &Path, call: &str) -> Option<(String, PathBuf)> {
    let needle = format!("\"id\":\"{call}\"");
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path != except).find_map(|path| {
        let id = layout::agent_id(&path)?.to_owned();
        if !holds(&mut files::open_regular(&path).ok()?, needle.as_bytes()) {
            return None;
        }
        Some((id, path))
    })
}

fn tool_uses(line: &[u8]) -> impl Iterator<Item = (String, Value)> {
    let blocks = match MessageLine::read(line).and_then(|line| line.content().cloned()) {
        Some(Value::Array(blocks)) => blocks,
        _ => Vec::new(),
    };
    blocks.into_iter().filter_map(|mut block| {
        let name = block.get("name")?.as_str()?.to_owned();
        Some((name, block.get_mut("input")?.take()))
    })
}

/// Whether a tool that can write was used since the time, judging by the end of the transcript.
#[must_use]
pub fn worked_since(path: &Path, time: &str) -> bool {
    let Ok(mut lines) = LinesFromEnd::open(path) else { return false };
    while let Ok(Some(line)) = lines.next_line() {
        let BackwardLine::Whole(line) = line else { continue };
        let Some(message) = MessageLine::read(&line) else { continue };
        // The client's times have a single format, so they can be compared as text.
        if message.text("timestamp").is_some_and(|then| then < time) {
            return false;
        }
        if tool_uses(&line).any(|(name, _)| tools::may_write(&name)) {
            return true;
        }
    }
    false
}

mod tail;
#[cfg(test)]
mod tests;
