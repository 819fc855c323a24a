//! Tools of MCP servers: the files that their input names, and what the tool may do to them.

use serde_json::{Map, Value};

use super::KNOWN;
use shell_effects::Access;

/// How the tools of MCP servers start: `mcp__server__tool`.
pub const PREFIX: &str = "mcp__";

/// The tool of a server.
pub fn name(server: &str, tool: &str) -> String {
    format!("{PREFIX}{server}__{tool}")
}

/// All of them, as an alternative of a matcher.
pub const MATCHER: &str = "mcp__.*";

/// Whether an alternative of a matcher may mean such a tool.
pub fn may_match(alternative: &str) -> bool {
    let literal = alternative.split(['.', '\\']).next().unwrap_or_default();
    let is_whole = literal.len() == alternative.len();
    literal.starts_with(PREFIX) || !is_whole && PREFIX.starts_with(literal)
}

/// Input is searched to this depth.
const MAX_DEPTH: usize = 4;

/// Words in a tool's name that say whether it writes, reads, or only lists.
const WRITING: [&str; 19] = [
    "write",
    "edit",
    "create",
    "delete",
    "remove",
    "append",
    "update",
    "insert",
    "replace",
    "save",
    "put",
    "patch",
    "overwrite",
    "truncate",
    "mkdir",
    "rm",
    "touch",
    "modify",
    "set",
];
const READING: [&str; 14] = [
    "read", "cat", "view", "open", "load", "fetch", "get", "show", "search", "grep", "find", "download",
    "query", "contents",
];
const LOOKING: [&str; 7] = ["list", "ls", "stat", "info", "tree", "exists", "metadata"];

/// Whether a tool is not one of Claude Code's own that this version knows.
pub fn is_foreign(tool: &str) -> bool {
    tool.starts_with(PREFIX) || !KNOWN.contains(&tool)
}

/// What a tool may do to the files that its input names, as far as its name says so: both where it says nothing, and nothing where
/// it only looks at what there is.
pub fn access(tool: &str) -> Option<Access> {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let words = words(name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match (has(&WRITING), has(&READING)) {
        (true, true) => Some(Access::Link),
        (true, false) => Some(Access::Write),
        (false, _) if has(&LOOKING) && !has(&["read", "contents"]) => None,
        (false, true) => Some(Access::Read),
        (false, false) => Some(Access::Link),
    }
}

/// The words of `read_text_file`, `read-text-file` and `readTextFile`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let is_start = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        was_lower = c.is_lowercase();
        if is_start {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// The files that the input of a tool names, as far as its keys say so.
pub fn named_files(input: &Map<String, Value>) -> Vec<&str> {
    let mut found = Vec::new();
    collect(input, 0, &mut found);
    found
}

fn collect<'a>(input: &'a Map<String, Value>, depth: usize, found: &mut Vec<&'a str>) {
    for (key, value) in input {
        // `{"files": {"src/a.rs": "its content"}}`
        if let Value::Object(inner) = value
            && names_file(key)
        {
            found.extend(inner.keys().filter_map(|name| path_in(name)));
        }
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            match value {
                Value::String(text) if names_file(key) => found.extend(path_in(text)),
                Value::Object(inner) if depth < MAX_DEPTH => collect(inner, depth + 1, found),
                _ => {}
            }
        }
    }
}

fn names_file(key: &str) -> bool {
    const KEYS: [&str; 11] =
        ["source", "destination", "src", "dst", "dest", "target", "directory", "folder", "dir", "from", "to"];
    const ENDS: [&str; 6] = ["path", "paths", "file", "files", "filename", "uri"];
    let key = key.to_ascii_lowercase();
    KEYS.contains(&key.as_str()) || ENDS.iter().any(|end| key.ends_with(end))
}

/// The path in a text; a URL of another host is not one.
fn path_in(text: &str) -> Option<&str> {
    let path = text.strip_prefix("file://").unwrap_or(text);
    let is_path = !path.is_empty() && !path.contains("://") && !path.contains('\0');
    if is_path { Some(path) } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_name_of_a_tool_says_what_it_may_do_to_files() {
        for (tool, expected) in [
            ("mcp__filesystem__write_file", Some(Access::Write)),
            ("mcp__filesystem__edit_file", Some(Access::Write)),
            ("mcp__github__create_or_update_file", Some(Access::Write)),
            ("mcp__filesystem__read_text_file", Some(Access::Read)),
            ("mcp__filesystem__read_multiple_files", Some(Access::Read)),
            ("mcp__ide__getDiagnostics", Some(Access::Read)),
            ("mcp__github__get_file_contents", Some(Access::Read)),
            ("mcp__fs__get-or-create", Some(Access::Link)),
            ("mcp__filesystem__move_file", Some(Access::Link)),
            ("mcp__a__frobnicate", Some(Access::Link)),
            ("NewTool", Some(Access::Link)),
            ("mcp__filesystem__list_directory", None),
            ("mcp__filesystem__get_file_info", None),
        ] {
            assert_eq!(access(tool), expected, "{tool}");
        }
        assert!(is_foreign("mcp__a__b") && is_foreign("NewTool") && !is_foreign("TodoWrite"));
    }

    #[test]
    fn paths_are_found_by_the_names_of_their_keys() {
        for (input, expected) in [
            (json!({"path": "a", "content": "b"}), vec!["a"]),
            (json!({"paths": ["a", "b"], "n": 1}), vec!["a", "b"]),
            (json!({"source": "a", "destination": "b"}), vec!["a", "b"]),
            (json!({"files": [{"path": "a", "content": "c"}, {"path": "b"}]}), vec!["a", "b"]),
            (json!({"files": {"a": "content", "b": {"text": "c"}}}), vec!["a", "b"]),
            (json!({"from": "a", "to": "b"}), vec!["a", "b"]),
            (json!({"edit": {"filePath": "a"}}), vec!["a"]),
            (json!({"uri": "file:///a/b"}), vec!["/a/b"]),
            (json!({"uri": "https://example.com/.env", "path": "", "file": 7}), vec![]),
            (json!({"a": {"a": {"a": {"a": {"a": {"path": "deep"}}}}}}), vec![]),
        ] {
            let mut found = named_files(input.as_object().unwrap());
            found.sort_unstable();
            assert_eq!(found, expected, "{input}");
        }
    }
}
