//! The tools of a client, our names for them, and the fields of their input.

use serde_json::Value;

use super::claude::tools::{self, mcp};
use super::translate::rename;
use super::{Dialect, FieldAlias, Fields};

/// A tool of a client.
pub struct Tool {
    /// The client's names for it, in different payloads.
    pub names: &'static [&'static str],
    /// Our tool that does the same.
    pub ours: &'static str,
    /// Fields of its input.
    pub fields: &'static [FieldAlias],
    /// The field with the directory in which it runs.
    pub directory: Option<&'static str>,
}

impl Tool {
    pub const fn new(
        names: &'static [&'static str],
        ours: &'static str,
        fields: &'static [FieldAlias],
    ) -> Tool {
        Tool { names, ours, fields, directory: None }
    }

    #[must_use]
    pub const fn in_directory(self, field: &'static str) -> Tool {
        Tool { directory: Some(field), ..self }
    }

    /// Whether its input may be a patch. Then rules for written files apply too.
    #[must_use]
    pub fn takes_patches(&self) -> bool {
        self.fields.iter().any(|(_, ours)| *ours == tools::PATCH)
    }
}

/// The client's names for tools of MCP servers. `mcp__server__tool` is the same for all clients.
pub enum McpSpelling {
    /// Our names.
    Ours,
    /// After this prefix, server and tool are joined by one of these characters, which either may contain.
    Joined { prefix: &'static str, joints: &'static [char] },
}

/// The tools of MCP servers, in a matcher.
pub(super) enum McpMatcher {
    /// Our names.
    Ours,
    /// All names with this prefix.
    Prefix(&'static str),
    /// All tools: their names cannot be distinguished from others.
    Everything,
}

/// The limit on the readings of a name.
const MAX_SPLITS: usize = 16;

impl McpSpelling {
    pub(super) fn matcher(&self) -> McpMatcher {
        match self {
            McpSpelling::Ours => McpMatcher::Ours,
            McpSpelling::Joined { prefix: "", .. } => McpMatcher::Everything,
            McpSpelling::Joined { prefix, .. } => McpMatcher::Prefix(prefix),
        }
    }

    /// Our possible names for a tool.
    fn readings(&self, name: &str) -> Vec<String> {
        let McpSpelling::Joined { prefix, joints } = self else { return Vec::new() };
        if name.starts_with(mcp::PREFIX) {
            return Vec::new();
        }
        let Some(rest) = name.strip_prefix(prefix) else { return Vec::new() };
        let splits = rest.match_indices(*joints).filter_map(|(at, joint)| {
            let (server, tool) = (rest.get(..at)?, rest.get(at + joint.len()..)?);
            if server.is_empty() || tool.is_empty() { None } else { Some(mcp::name(server, tool)) }
        });
        splits.take(MAX_SPLITS).collect()
    }
}

/// The names of a tool in a payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolNames {
    /// The client's name, if the client is not Claude Code.
    pub client: Option<String>,
    /// Names in addition to ours that rules may use.
    pub others: Vec<String>,
    /// The fields of its input that were renamed.
    pub renamed: Vec<FieldAlias>,
}

/// Gives the tools of a payload, and the fields of their input, our names.
pub(super) fn translate(dialect: &Dialect, fields: &mut Fields) -> ToolNames {
    if let Some(Value::Array(calls)) = fields.get_mut("tool_calls") {
        for call in calls.iter_mut().filter_map(Value::as_object_mut) {
            translate(dialect, call);
        }
    }
    let Some(name) = fields.get("tool_name").and_then(Value::as_str).map(str::to_owned) else {
        return ToolNames::default();
    };
    let tool = dialect.tools.iter().find(|tool| tool.names.contains(&name.as_str()));
    let (ours, mut others) = match tool {
        Some(tool) => (tool.ours.to_owned(), Vec::new()),
        None => {
            let mut readings = dialect.mcp.readings(&name).into_iter();
            (readings.next().unwrap_or_else(|| name.clone()), readings.collect())
        }
    };
    let mut renamed = Vec::new();
    match fields.get_mut("tool_input") {
        Some(Value::Object(input)) => renamed = rename(input, tool.map_or(&[], |tool| tool.fields)),
        // Some models write only a patch.
        Some(Value::String(patch)) if ours == tools::EDIT => {
            let patch = std::mem::take(patch);
            fields.insert(
                "tool_input".into(),
                Fields::from_iter([(tools::PATCH.to_owned(), patch.into())]).into(),
            );
        }
        _ => {}
    }
    if let Some(input) = fields.get("tool_input").and_then(Value::as_object) {
        if tools::is_patch(&ours, input) {
            others.push(tools::WRITE.to_owned());
        }
        let directory = tool.and_then(|tool| super::text(input, tool.directory?)).map(str::to_owned);
        if let Some(directory) = directory {
            enter(fields, &directory);
        }
    }
    if ours != name {
        others.push(name.clone());
    }
    fields.insert("tool_name".into(), ours.into());
    ToolNames { client: Some(name), others, renamed }
}

/// Makes relative paths start at the directory in which the tool runs.
fn enter(fields: &mut Fields, directory: &str) {
    let cwd = super::text(fields, "cwd").unwrap_or_default();
    let entered = match directory.strip_prefix('/') {
        Some(_) => directory.to_owned(),
        None => format!("{}/{directory}", cwd.trim_end_matches('/')),
    };
    if entered.starts_with('/') {
        fields.insert("cwd".into(), entered.into());
    }
}
