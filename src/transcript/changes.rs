//! What an agent changed: files by tools that write, and what shell commands wrote.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::{Said, bounded_line};
use crate::dialect::claude::tools::{self, Use};
use crate::dialect::claude::transcript;
use crate::shell::Script;
use crate::{files, shell};

/// What a call of a tool changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
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
pub(crate) fn changes(path: &Path, since_prompt: bool, home: Option<&str>) -> io::Result<Vec<Change>> {
    let (mut changed, mut failed) = (Vec::new(), HashSet::new());
    let mut reader = io::BufReader::with_capacity(256 << 10, files::open_regular(path)?);
    while let Some(line) = bounded_line(&mut reader)? {
        let has = |needle: &[u8]| memchr::memmem::find(&line, needle).is_some();
        if !has(b"\"tool_use\"") && !has(b"\"tool_result\"") {
            if since_prompt && has(b"\"user\"") && is_prompt(&line) {
                changed.clear();
            }
            continue;
        }
        let Some(said) = Said::read(&line) else { continue };
        let cwd = said.text("cwd");
        for block in said.content().and_then(Value::as_array).into_iter().flatten() {
            let id = text(block, "id");
            let change = of_tool(block).map(Change::File).or_else(|| of_shell(block, cwd, home));
            changed.extend(change.map(|change| (id, change)));
            if block.get("is_error") == Some(&Value::Bool(true)) {
                failed.extend(text(block, "tool_use_id"));
            }
        }
    }
    let succeeded = |(id, _): &(Option<String>, Change)| id.as_ref().is_none_or(|id| !failed.contains(id));
    Ok(changed.into_iter().filter(succeeded).map(|(_, change)| change).collect())
}

/// Whether the user asks the main thread for something on this line.
fn is_prompt(line: &[u8]) -> bool {
    matches!(transcript::Line::read(line), transcript::Line::Entry(entry) if entry.asks() && !entry.is_sidechain.is_true())
}

/// The file of a call that writes one.
fn of_tool(block: &Value) -> Option<String> {
    let name = text(block, "name")?;
    let field = tools::written_field(&name)?;
    text(block.get("input")?, field)
}

/// What a shell command writes.
fn of_shell(block: &Value, cwd: Option<&str>, home: Option<&str>) -> Option<Change> {
    let name = block.get("name")?.as_str()?;
    let Use::Shell(command) = tools::what(name, block.get("input")?.as_object()?) else { return None };
    let script = Box::new(shell::writes(command, home)?);
    Some(Change::Shell { script, cwd: cwd.map(str::to_owned) })
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_owned)
}
