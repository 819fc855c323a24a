//! What the tools of an agent really wrote, as far as its transcript shows.

use std::io;
use std::path::Path;

use super::tool_calls::{ToolCall, tool_calls};
use conclaude_core::dialect::claude::tools;

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
    let calls = tool_calls(
        path,
        |_| false,
        |call| Some(Write { id: call.id().map(str::to_owned), file: written_file(call)?, failed: false }),
    )?;
    Ok(calls.into_iter().map(|(call, failed)| Write { failed, ..call }).collect())
}

/// The file of a call that writes one.
pub(super) fn written_file(call: &ToolCall<'_>) -> Option<String> {
    let field = tools::written_field(call.name()?)?;
    call.input()?.get(field)?.as_str().map(str::to_owned)
}
