//! What an agent changed: files by tools that write, and what shell commands wrote.

use std::io;
use std::path::Path;

use super::tool_calls::{ToolCall, tool_calls};
use super::writes::written_file;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::dialect::claude::transcript;
use shell_effects::Script;

/// What a call of a tool changed.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolChange {
    /// A file, as it was named.
    File(String),
    /// What a shell command wrote, and the directory that it ran in, where that is known.
    Shell { script: Box<Script>, cwd: Option<String> },
}

/// What was changed, without the calls that failed or were denied; on request since the last prompt of the user. What Claude Code says
/// itself, such as that an agent has stopped, is no prompt.
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

/// Whether the user asks the main thread for something on this line. What comes while Claude works is none: no stop has looked at what
/// was changed before it.
fn is_prompt(line: &[u8]) -> bool {
    let transcript::TranscriptLine::Entry(entry) = transcript::TranscriptLine::read(line) else {
        return false;
    };
    entry.asks() && !entry.is_queued() && !entry.is_sidechain.is_true()
}

/// What a shell command writes.
fn of_shell(call: &ToolCall<'_>, home: Option<&str>) -> Option<ToolChange> {
    let ToolUse::Shell(command) = tools::what(call.name()?, call.input()?.as_object()?) else { return None };
    let script = Box::new(shell_effects::writes(command, home)?);
    Some(ToolChange::Shell { script, cwd: call.cwd.map(str::to_owned) })
}
