//! Calls of tools in a transcript, with what their results say.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::{MessageLine, bounded_line};
use conclaude_os::files;

/// A call, as its line has it.
pub(super) struct ToolCall<'a> {
    block: &'a Value,
    /// The directory of its line.
    pub(super) cwd: Option<&'a str>,
}

impl ToolCall<'_> {
    pub(super) fn id(&self) -> Option<&str> {
        self.block.get("id")?.as_str()
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.block.get("name")?.as_str()
    }

    pub(super) fn input(&self) -> Option<&Value> {
        self.block.get("input")
    }
}

/// What is taken of the calls, in order, each with whether its result says that it failed or was denied; without a result that is
/// not known. A line without calls and results for which `restarts` holds takes all back that came before it.
///
/// # Errors
/// When it cannot be read.
pub(super) fn tool_calls<T>(
    path: &Path,
    restarts: impl Fn(&[u8]) -> bool,
    take: impl Fn(&ToolCall<'_>) -> Option<T>,
) -> io::Result<Vec<(T, bool)>> {
    let (mut taken, mut failed) = (Vec::new(), HashSet::new());
    let mut reader = io::BufReader::with_capacity(256 << 10, files::open_regular(path)?);
    while let Some(line) = bounded_line(&mut reader)? {
        let has = |needle: &[u8]| memchr::memmem::find(&line, needle).is_some();
        if !has(b"\"tool_use\"") && !has(b"\"tool_result\"") {
            if restarts(&line) {
                taken.clear();
            }
            continue;
        }
        let Some(said) = MessageLine::read(&line) else { continue };
        for block in said.content().and_then(Value::as_array).into_iter().flatten() {
            let call = ToolCall { block, cwd: said.text("cwd") };
            taken.extend(take(&call).map(|what| (call.id().map(str::to_owned), what)));
            if block.get("is_error") == Some(&Value::Bool(true)) {
                failed.extend(block.get("tool_use_id").and_then(Value::as_str).map(str::to_owned));
            }
        }
    }
    let has_failed = |id: Option<String>| id.is_some_and(|id| failed.contains(&id));
    Ok(taken.into_iter().map(|(id, what)| (what, has_failed(id))).collect())
}
