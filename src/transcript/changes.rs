//! Which files an agent changed: by tools that write, and by shell commands.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::{Said, bounded_line};
use crate::dialect::claude::tools::{self, Use};
use crate::dialect::claude::transcript;
use crate::{files, shell};

/// The files that were changed, as they were named, without the calls that failed or were denied; on request since the last prompt of
/// the user. What Claude Code says itself, such as that an agent has stopped, is none.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn changed_files(path: &Path, since_prompt: bool, home: Option<&str>) -> io::Result<Vec<String>> {
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
        let cwd = said.text("cwd").unwrap_or_default();
        for block in said.content().and_then(Value::as_array).into_iter().flatten() {
            let id = text(block, "id");
            let files = of_tool(block).map_or_else(|| of_shell(block, cwd, home), |file| vec![file]);
            changed.extend(files.into_iter().map(|file| (id.clone(), file)));
            if block.get("is_error") == Some(&Value::Bool(true)) {
                failed.extend(text(block, "tool_use_id"));
            }
        }
    }
    let succeeded = |(id, _): &(Option<String>, String)| id.as_ref().is_none_or(|id| !failed.contains(id));
    Ok(changed.into_iter().filter(succeeded).map(|(_, file)| file).collect())
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

/// The files that a shell command writes.
fn of_shell(block: &Value, cwd: &str, home: Option<&str>) -> Vec<String> {
    let used = || {
        let name = block.get("name")?.as_str()?;
        Some(tools::what(name, block.get("input")?.as_object()?))
    };
    let Some(Use::Shell(command)) = used() else { return Vec::new() };
    let files = shell::written_files(command, home);
    files.into_iter().map(|file| Path::new(cwd).join(file).to_string_lossy().into_owned()).collect()
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_owned)
}
