//! The changes by an agent's tools, as far as its transcript shows them: files that tools wrote, and writes of shell commands.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde_json::Value;
use shell_effects::Script;

use super::lines::CHUNK;
use super::{MessageLine, bounded_line};
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::dialect::claude::transcript::TranscriptLine;
use conclaude_os::files;

/// The change that a tool call made.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolChange {
    /// A file, as the call names it.
    File(String),
    /// The writes of a shell command, and its working directory if known.
    Shell { script: Box<Script>, cwd: Option<String> },
}

/// The changes of all calls that did not fail and were not denied, optionally since the last prompt of the user. Messages of
/// Claude Code itself, such as that an agent has stopped, are not prompts.
///
/// # Errors
/// When it cannot be read.
pub fn changes(path: &Path, since_prompt: bool, home: Option<&str>) -> io::Result<Vec<ToolChange>> {
    let restarts =
        |line: &[u8]| since_prompt && memchr::memmem::find(line, b"\"user\"").is_some() && is_prompt(line);
    let changed = tool_calls(path, restarts, |call| {
        written_file(call).map(ToolChange::File).or_else(|| of_shell(call, home))
    })?;
    Ok(changed.into_iter().filter(|(_, failed)| !failed).map(|(change, _)| change).collect())
}

/// Whether this line is a prompt of the user to the main thread. A message that arrives while Claude works is not one: no stop
/// has checked the changes before it.
fn is_prompt(line: &[u8]) -> bool {
    let TranscriptLine::Entry(entry) = TranscriptLine::read(line) else {
        return false;
    };
    entry.asks() && !entry.is_queued() && !entry.is_sidechain.is_true()
}

/// The writes of a shell command.
fn of_shell(call: &ToolCall<'_>, home: Option<&str>) -> Option<ToolChange> {
    let ToolUse::Shell(command) = tools::what(call.name()?, call.input()?.as_object()?) else { return None };
    let script = Box::new(shell_effects::writes(command, home)?);
    Some(ToolChange::Shell { script, cwd: call.cwd.map(str::to_owned) })
}

/// A call on a line.
struct ToolCall<'a> {
    block: &'a Value,
    /// The directory of its line.
    cwd: Option<&'a str>,
}

impl ToolCall<'_> {
    fn id(&self) -> Option<&str> {
        self.block.get("id")?.as_str()
    }

    fn name(&self) -> Option<&str> {
        self.block.get("name")?.as_str()
    }

    fn input(&self) -> Option<&Value> {
        self.block.get("input")
    }
}

/// The results of `take` for the calls, in order. Each comes with whether the call failed or was denied; a call without a result
/// counts as successful. A line without calls and results for which `restarts` is true discards all earlier calls.
///
/// # Errors
/// When it cannot be read.
fn tool_calls<T>(
    path: &Path,
    restarts: impl Fn(&[u8]) -> bool,
    take: impl Fn(&ToolCall<'_>) -> Option<T>,
) -> io::Result<Vec<(T, bool)>> {
    let (mut taken, mut failed) = (Vec::new(), HashSet::new());
    let mut reader = io::BufReader::with_capacity(CHUNK, files::open_regular(path)?);
    while let Some(line) = bounded_line(&mut reader)? {
        let has = |needle: &[u8]| memchr::memmem::find(&line, needle).is_some();
        if !has(b"\"tool_use\"") && !has(b"\"tool_result\"") {
            if restarts(&line) {
                taken.clear();
            }
            continue;
        }
        let Some(message) = MessageLine::read(&line) else { continue };
        for block in message.content().and_then(Value::as_array).into_iter().flatten() {
            let call = ToolCall { block, cwd: message.text("cwd") };
            taken.extend(take(&call).map(|what| (call.id().map(str::to_owned), what)));
            if block.get("is_error") == Some(&Value::Bool(true)) {
                failed.extend(block.get("tool_use_id").and_then(Value::as_str).map(str::to_owned));
            }
        }
    }
    let has_failed = |id: Option<String>| id.is_some_and(|id| failed.contains(&id));
    Ok(taken.into_iter().map(|(id, what)| (what, has_failed(id))).collect())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWrite {
    pub id: Option<String>,
    /// The file, as the call names it.
    pub file: String,
    /// Whether the call failed or was denied. False without a result.
    pub failed: bool,
}

/// The calls of tools that write, in order.
///
/// # Errors
/// When it cannot be read.
pub fn writes(path: &Path) -> io::Result<Vec<FileWrite>> {
    let calls = tool_calls(
        path,
        |_| false,
        |call| Some(FileWrite { id: call.id().map(str::to_owned), file: written_file(call)?, failed: false }),
    )?;
    Ok(calls.into_iter().map(|(call, failed)| FileWrite { failed, ..call }).collect())
}

/// The file of a call that writes one.
fn written_file(call: &ToolCall<'_>) -> Option<String> {
    let field = tools::written_field(call.name()?)?;
    call.input()?.get(field)?.as_str().map(str::to_owned)
}
