//! What the tools of an agent really wrote, as far as its transcript shows.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::{Said, WRITING_TOOLS, bounded_line};
use crate::files;

/// The files that tools wrote, as they were named, without the calls that failed or were denied.
///
/// # Errors
/// When it cannot be read.
pub fn successful_writes(path: &Path) -> io::Result<Vec<String>> {
    let (mut written, mut failed) = (Vec::new(), Vec::new());
    let mut reader = io::BufReader::with_capacity(256 << 10, files::open_regular(path)?);
    while let Some(line) = bounded_line(&mut reader)? {
        let is_of_tool = [&b"\"tool_use\""[..], b"\"tool_result\""]
            .iter()
            .any(|needle| memchr::memmem::find(&line, needle).is_some());
        let Some(said) = is_of_tool.then(|| Said::read(&line)).flatten() else { continue };
        for block in said.content().and_then(Value::as_array).into_iter().flatten() {
            written.extend(write(block));
            if block.get("is_error") == Some(&Value::Bool(true)) {
                failed.extend(text(block, "tool_use_id"));
            }
        }
    }
    let succeeded = |(id, _): &(Option<String>, String)| id.as_ref().is_none_or(|id| !failed.contains(id));
    Ok(written.into_iter().filter(succeeded).map(|(_, file)| file).collect())
}

/// The id and the file of a call that writes.
fn write(block: &Value) -> Option<(Option<String>, String)> {
    let name = text(block, "name")?;
    let (_, field) = WRITING_TOOLS.iter().find(|(tool, _)| *tool == name)?;
    Some((text(block, "id"), text(block.get("input")?, field)?))
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_owned)
}
