//! Reading the client's transcripts: JSON lines that are appended to while we look, and that grow to 100 MB.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{files, log};

/// How far back a call is searched for. What started a subagent that is stopping now is near the end.
const WINDOW: u64 = 8 << 20;
const CHUNK: u64 = 256 << 10;

/// The client writes no longer lines.
const LONGEST_LINE: u64 = 32 << 20;

/// A call of the Agent tool (`Task` in older clients) in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCall {
    /// The call's id.
    pub id: Option<String>,
    /// The subagent that was called.
    pub subagent_type: String,
    /// What it was told.
    pub prompt: Option<String>,
}

/// What looking for a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The call.
    Call(AgentCall),
    /// The transcript has no such call.
    Nothing,
    /// There is none near its end; the rest was not read.
    NotNear,
    /// A line that is not JSON lies between the end and any call: what it hides cannot be known.
    Malformed,
}

/// Finds the most recent Agent call with this id, or the most recent of all, reading from the end.
///
/// # Errors
/// When the file cannot be read.
pub fn last_agent_call(path: &Path, id: Option<&str>) -> io::Result<Found> {
    let mut lines = LinesFromEnd::open(path)?;
    // What stands after the last line break is a line that the client is in the middle of writing.
    let mut torn = true;
    while let Some(line) = lines.next_line()? {
        let line = line.trim_ascii();
        let is_torn = std::mem::take(&mut torn);
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
            Err(_) if is_torn => {}
            // What a line hides can be any call, but not one that is known by its id.
            Err(_) if id.is_some() => {}
            Err(_) => return Ok(Found::Malformed),
        }
    }
    Ok(if lines.floor > 0 { Found::NotNear } else { Found::Nothing })
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

/// The Agent calls on one line, in order: in the client's form, as a plain message, or as a bare call.
fn calls_in(line: &[u8]) -> serde_json::Result<Vec<AgentCall>> {
    // Most lines are anything but a call: they are checked, not taken apart.
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

/// A line of a transcript as far as prompts and times are concerned: the client's form, or a plain message. Fields of
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

    /// What the user said on this line, if it is the user's.
    fn prompt(&self) -> Option<String> {
        let role = self.0.get("message").and_then(|message| message.get("role")).and_then(Value::as_str);
        let role = role.or_else(|| self.text("role")).or_else(|| self.text("type"));
        (role == Some("user")).then(|| text_of(self.content()?)).flatten()
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

/// The first lines of a file, read no further than needed.
fn first_lines(path: &Path) -> io::Result<impl Iterator<Item = Vec<u8>>> {
    let file = files::open_regular(path)?;
    let reader = io::BufReader::with_capacity(16 << 10, file.take(WINDOW));
    Ok(BufRead::split(reader, b'\n').map_while(Result::ok))
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

/// The agent in whose transcript this call stands, among those of the folder, and that transcript.
#[must_use]
pub fn caller(folder: &Path, except: &Path, call: &str) -> Option<(String, PathBuf)> {
    let needle = format!("\"id\":\"{call}\"");
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path != except).find_map(|path| {
        let id = path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".jsonl")?.to_owned();
        holds(&mut files::open_regular(&path).ok()?, needle.as_bytes()).then_some((id, path))
    })
}

/// Whether this stands anywhere in a file, which is read in pieces.
fn holds(file: &mut impl Read, needle: &[u8]) -> bool {
    let mut buffer = vec![0; 256 << 10];
    let mut kept = 0;
    loop {
        let Some(room) = buffer.get_mut(kept..) else { return false };
        let end = match file.read(room) {
            Ok(0) => return false,
            Ok(read) => kept + read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return false,
        };
        if memchr::memmem::find(buffer.get(..end).unwrap_or_default(), needle).is_some() {
            return true;
        }
        // It may begin at the end of this piece.
        let from = end.saturating_sub(needle.len().saturating_sub(1));
        buffer.copy_within(from..end, 0);
        kept = end - from;
    }
}

/// The next line, none at the end. Of one that is too long only the beginning, which is told: what it says cannot be read.
fn bounded_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if Read::take(&mut *reader, LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && reader.skip_until(b'\n')? > 0 {
        log::warn(|| {
            format!("a line of a transcript is longer than {} MiB and is not read", LONGEST_LINE >> 20)
        });
    }
    Ok(Some(line))
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

/// The lines of a file from the last to the first, read in chunks and no further back than [`WINDOW`].
struct LinesFromEnd {
    file: File,
    /// Where the part that was read begins.
    start: u64,
    floor: u64,
    /// What was read and not yet given out.
    pending: Vec<u8>,
}

impl LinesFromEnd {
    fn open(path: &Path) -> io::Result<Self> {
        let file = files::open_regular(path)?;
        let end = file.metadata()?.len();
        Ok(LinesFromEnd { file, start: end, floor: end.saturating_sub(WINDOW), pending: Vec::new() })
    }

    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut searched = 0;
        loop {
            let unsearched = self.pending.len() - searched;
            if let Some(at) = self.pending.get(..unsearched).and_then(|part| memchr::memrchr(b'\n', part)) {
                let line = self.pending.split_off(at + 1);
                self.pending.truncate(at);
                return Ok(Some(line));
            }
            searched = self.pending.len();
            if self.start <= self.floor {
                // At the floor a line is whole only if the file begins there.
                let rest = std::mem::take(&mut self.pending);
                return Ok((self.floor == 0 && !rest.is_empty()).then_some(rest));
            }
            // A long line is read in ever larger steps, so that its length costs no more than itself.
            let step = CHUNK.max(searched as u64).min(self.start - self.floor);
            self.start -= step;
            self.file.seek(SeekFrom::Start(self.start))?;
            let mut chunk = Vec::new();
            (&self.file).take(step).read_to_end(&mut chunk)?;
            if (chunk.len() as u64) < step {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file became shorter while it was read",
                ));
            }
            chunk.append(&mut self.pending);
            self.pending = chunk;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(content: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file
    }

    fn call(id: &str, name: &str, kind: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"x"}},{{"type":"tool_use","id":"{id}","name":"{name}","input":{{"subagent_type":"{kind}","prompt":"p"}}}}]}}}}"#
        )
    }

    fn found(content: &str, id: Option<&str>) -> Option<String> {
        match last_agent_call(file(content).path(), id).unwrap() {
            Found::Call(call) => Some(call.subagent_type),
            Found::Nothing | Found::NotNear => None,
            Found::Malformed => panic!("malformed"),
        }
    }

    #[test]
    fn the_most_recent_call_wins_in_any_form() {
        let first = call("t1", "Task", "tester");
        assert_eq!(
            found(&format!("{first}\n{}\n", call("t2", "Agent", "coder")), None).as_deref(),
            Some("coder")
        );
        for form in [
            r#"{"role":"assistant","content":[{"type":"tool_use","name":"Task","input":{"subagent_type":"coder"}}]}"#,
            r#"{"type":"tool_use","name":"Task","input":{"subagent_type":"coder"}}"#,
            r#"{"type":"assistant","message":{"content":[{"name":"Task","input":{"subagent_type":"coder"}}]},"id":7}"#,
        ] {
            let expected = if form.ends_with("7}") { "tester" } else { "coder" };
            assert_eq!(found(&format!("{first}\n{form}"), None).as_deref(), Some(expected), "{form}");
        }
    }

    #[test]
    fn two_calls_on_one_line_are_told_apart_by_id() {
        let line = r#"{"type":"assistant","message":{"content":[{"id":"t1","name":"Agent","input":{"subagent_type":"one"}},{"id":"t2","name":"Agent","input":{"subagent_type":"two"}}]}}"#;
        assert_eq!(found(line, None).as_deref(), Some("two"));
        assert_eq!(found(line, Some("t1")).as_deref(), Some("one"));
        assert_eq!(found(line, Some("t3")), None);
    }

    #[test]
    fn what_only_quotes_a_call_is_not_one() {
        let call = call("t1", "Agent", "coder");
        let quoted = serde_json::json!({"type":"user","message":{"content": call}}).to_string();
        let snapshot = call.replace(r#""type":"assistant""#, r#""type":"api-request-blob""#);
        let other_tool = call.replace(r#""Agent""#, r#""TaskCreate""#);
        assert_eq!(found(&format!("{quoted}\n{snapshot}\n{other_tool}\n"), None), None);
    }

    #[test]
    fn a_torn_last_line_is_tolerated_and_any_other_is_not() {
        let call = call("t1", "Agent", "coder");
        assert_eq!(found(&format!("{call}\n{{\"type\":\"assi"), None).as_deref(), Some("coder"));
        for bad in ["{invalid json}\n{}\n", "{broken}\n", "not json\n"] {
            let path = file(&format!("{call}\n{bad}"));
            assert_eq!(last_agent_call(path.path(), None).unwrap(), Found::Malformed);
        }
    }

    #[test]
    fn a_transcript_of_one_hundred_megabytes_is_read_from_its_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(100 << 20).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        write!(file, "\n{}\n", call("t1", "Agent", "coder")).unwrap();
        let Found::Call(call) = last_agent_call(file.path(), None).unwrap() else { panic!("not found") };
        assert_eq!(call.subagent_type, "coder");
        // Without a call the search ends at the window, not at the beginning.
        let mut lines = LinesFromEnd::open(file.path()).unwrap();
        while lines.next_line().unwrap().is_some() {}
        assert!(lines.start >= (92 << 20));
    }

    #[test]
    fn lines_come_from_last_to_first_whatever_the_chunks() {
        let long = "y".repeat(CHUNK as usize * 3);
        let file = file(&format!("a\n\n{long}\nb"));
        let mut lines = LinesFromEnd::open(file.path()).unwrap();
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(all, ["b", long.as_str(), "", "a"]);
    }

    #[test]
    fn a_folder_or_a_missing_file_is_an_error_not_a_hang() {
        assert!(last_agent_call(Path::new("/"), None).is_err());
        assert!(last_agent_call(Path::new("/does/not/exist"), None).is_err());
    }

    #[test]
    fn a_text_is_found_wherever_the_pieces_of_a_file_part_it() {
        /// Gives one byte more each time.
        struct Slowly<'a>(&'a [u8], usize);
        impl Read for Slowly<'_> {
            fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                self.1 += 1;
                let length = self.1.min(room.len()).min(self.0.len());
                let (now, later) = self.0.split_at(length);
                room[..length].copy_from_slice(now);
                self.0 = later;
                Ok(length)
            }
        }
        for at in 0..40 {
            let text = format!("{}needle{}", "n".repeat(at), "e".repeat(40 - at));
            assert!(holds(&mut Slowly(text.as_bytes(), 0), b"needle"), "{at}");
            assert!(!holds(&mut Slowly(text.replace('d', "x").as_bytes(), 0), b"needle"), "{at}");
        }
        let far = format!("{}needle", "x".repeat((256 << 10) - 3));
        assert!(holds(&mut far.as_bytes(), b"needle"));
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_the_next_is_read() {
        let long = "x".repeat(usize::try_from(LONGEST_LINE).unwrap() + 10);
        let mut text = io::Cursor::new(format!("{long}\nshort\nlast"));
        assert_eq!(bounded_line(&mut text).unwrap().unwrap().len() as u64, LONGEST_LINE);
        assert_eq!(bounded_line(&mut text).unwrap().unwrap(), b"short\n");
        assert_eq!(bounded_line(&mut text).unwrap().unwrap(), b"last");
        assert_eq!(bounded_line(&mut text).unwrap(), None);
    }
}
