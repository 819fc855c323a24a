//! What the tools of an agent really wrote, as far as its transcript shows.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::{Said, bounded_line};
use crate::dialect::claude::tools;
use crate::files;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    pub id: Option<String>,
    /// The file, as it was named.
    pub file: String,
    /// Its result says that it failed or was denied; without a result that is not known.
    pub failed: bool,
}

/// The calls of tools that write, in order.
///
/// # Errors
/// When it cannot be read.
pub fn writes(path: &Path) -> io::Result<Vec<Write>> {
    let (mut calls, mut failed) = (Vec::new(), HashSet::new());
    let mut reader = io::BufReader::with_capacity(256 << 10, files::open_regular(path)?);
    while let Some(line) = bounded_line(&mut reader)? {
        let is_of_tool = [&b"\"tool_use\""[..], b"\"tool_result\""]
            .iter()
            .any(|needle| memchr::memmem::find(&line, needle).is_some());
        let Some(said) = is_of_tool.then(|| Said::read(&line)).flatten() else { continue };
        for block in said.content().and_then(Value::as_array).into_iter().flatten() {
            calls.extend(call(block));
            if block.get("is_error") == Some(&Value::Bool(true)) {
                failed.extend(text(block, "tool_use_id"));
            }
        }
    }
    let has_failed = |call: &Write| call.id.as_ref().is_some_and(|id| failed.contains(id));
    Ok(calls.into_iter().map(|call| Write { failed: has_failed(&call), ..call }).collect())
}

fn call(block: &Value) -> Option<Write> {
    let name = text(block, "name")?;
    let field = tools::written_field(&name)?;
    Some(Write { id: text(block, "id"), file: text(block.get("input")?, field)?, failed: false })
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_owned)
}
