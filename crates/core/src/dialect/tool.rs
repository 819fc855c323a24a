//! The tools of a client: which of ours they are, and what they call the fields of their input.

use serde_json::Value;

use super::{Dialect, Fields};

/// A tool of a client.
pub struct Tool {
    /// As the client names it, in its different payloads.
    pub names: &'static [&'static str],
    /// The tool of ours that does the same.
    pub ours: &'static str,
    /// Fields of its input under the client's name, and under ours.
    pub fields: &'static [(&'static str, &'static str)],
}

/// Gives the input of the payload's tool our names.
pub(crate) fn translate(dialect: &Dialect, fields: &mut Fields) {
    let name = fields.get("tool_name").and_then(Value::as_str);
    let Some(tool) = dialect.tools.iter().find(|tool| name.is_some_and(|name| tool.names.contains(&name)))
    else {
        return;
    };
    if let Some(Value::Object(input)) = fields.get_mut("tool_input") {
        rename(input, tool.fields);
    }
}

/// Gives fields our names. One that is there under our name already stays.
fn rename(fields: &mut Fields, names: &[(&'static str, &'static str)]) {
    for (theirs, ours) in names {
        if !fields.contains_key(*ours)
            && let Some(value) = fields.remove(*theirs)
        {
            fields.insert((*ours).to_owned(), value);
        }
    }
}
