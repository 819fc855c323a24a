//! Tools of MCP servers: the files in their input, and the possible access to them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{KNOWN, NAMING};
use shell_effects::{Access, percent_decoded};

/// The prefix of the tools of MCP servers: `mcp__server__tool`.
pub const PREFIX: &str = "mcp__";

/// The tool of a server.
pub fn name(server: &str, tool: &str) -> String {
    format!("{PREFIX}{server}__{tool}")
}

/// All of these tools, as an alternative of a matcher.
pub const MATCHER: &str = "mcp__.*";

/// Whether an alternative of a matcher may match such a tool.
pub fn may_match(alternative: &str) -> bool {
    let literal = alternative.split(['.', '\\']).next().unwrap_or_default();
    let is_whole = literal.len() == alternative.len();
    literal.starts_with(PREFIX) || !is_whole && PREFIX.starts_with(literal)
}

/// Words in a tool's name that show whether it writes, reads, or only lists.
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
const READING: [&str; 13] = [
    "read", "cat", "view", "open", "load", "fetch", "get", "show", "search", "grep", "find", "query",
    "contents",
];
const LISTING: [&str; 7] = ["list", "ls", "stat", "info", "tree", "exists", "metadata"];

/// Whether a tool is not one of Claude Code's known tools.
pub fn is_foreign(tool: &str) -> bool {
    tool.starts_with(PREFIX) || !KNOWN.contains(&tool)
}

/// Whether the files in a tool's input are found by its keys.
pub fn names_files(tool: &str) -> bool {
    is_foreign(tool) || NAMING.contains(&tool)
}

/// The possible access of a tool to the files in its input, judging by its name. An unclear name counts as reading and writing. A
/// tool that only lists has no access.
pub fn access(tool: &str) -> Option<Access> {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let words = words(name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match (has(&WRITING), has(&READING)) {
        (true, true) => Some(Access::Link),
        (true, false) => Some(Access::Write),
        (false, _) if has(&LISTING) && !has(&["read", "contents"]) => None,
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

/// The limit on files in a tool's input. With more it takes too long to compare them with the rules.
const MAX_FILES: usize = 10_000;

/// The files in a tool's input, judging by its keys, at any depth. `None` if there are too many.
pub fn named_files(input: &Map<String, Value>) -> Option<Vec<Cow<'_, str>>> {
    let mut found = Vec::new();
    of_object(input, false, &mut found);
    if found.len() > MAX_FILES { None } else { Some(found) }
}

/// Fields with a text that a tool writes or searches for.
const TEXTS: [&str; 14] = [
    "body",
    "code",
    "content",
    "contents",
    "description",
    "message",
    "new_string",
    "old_string",
    "pattern",
    "prompt",
    "query",
    "text",
    "title",
    "value",
];

/// The other texts in an input that may be a path, at any depth. They count if such a file exists. A text that a tool writes or
/// searches for is not a path.
pub fn other_texts(input: &Map<String, Value>) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Vec<&Value> = values_without(input, &TEXTS).collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if is_short(text) => found.push(text.trim()),
            Value::Array(values) => open.extend(values),
            Value::Object(map) => open.extend(values_without(map, &TEXTS)),
            _ => {}
        }
    }
    found
}

fn values_without<'a>(map: &'a Map<String, Value>, keys: &[&str]) -> impl Iterator<Item = &'a Value> {
    map.iter().filter(|(key, _)| !keys.contains(&key.as_str())).map(|(_, value)| value)
}

/// Whether a text is as short as a path, and on one line.
fn is_short(text: &str) -> bool {
    const MAX_PATH: usize = 4096;
    !text.is_empty() && text.len() <= MAX_PATH && !text.contains(['\0', '\n'])
}

fn of_object<'a>(input: &'a Map<String, Value>, are_files: bool, found: &mut Vec<Cow<'a, str>>) {
    for (key, value) in input {
        // `{"files": {"src/a.rs": "its content"}}`. No parameter has a name with a dot or a slash.
        if are_files || key.contains(['.', '/']) {
            add(key, found);
        }
        // `{"path": {"value": "src/a.rs"}}`.
        let is_inner = are_files && matches!(key.as_str(), "name" | "value");
        let is_file = is_inner || names_file(key);
        of_value(value, is_file, found);
        if let Value::String(text) = value
            && !TEXTS.contains(&key.as_str())
        {
            of_json(text, is_file, found);
        }
    }
}

/// The files in a text that is JSON itself: `{"arguments": "{\"path\": \"src/a.rs\"}"}`.
fn of_json(text: &str, is_file: bool, found: &mut Vec<Cow<'_, str>>) {
    if !text.trim_start().starts_with(['{', '[', '"']) {
        return;
    }
    let Ok(inner) = serde_json::from_str::<Value>(text) else { return };
    let mut own = Vec::new();
    match &inner {
        Value::String(text) => {
            of_value(&inner, is_file, &mut own);
            of_json(text, is_file, &mut own);
        }
        inner => of_value(inner, is_file, &mut own),
    }
    found.extend(own.into_iter().map(|file| Cow::Owned(file.into_owned())));
}

fn of_value<'a>(value: &'a Value, is_file: bool, found: &mut Vec<Cow<'a, str>>) {
    match value {
        Value::String(text) if is_file => {
            add(text, found);
            // Several may be in one text.
            let parts = text.split([',', '\n']).map(str::trim);
            parts.filter(|part| part.len() < text.trim().len()).for_each(|part| add(part, found));
        }
        Value::Array(values) => values.iter().for_each(|value| match value {
            // `{"files": [{"path": "src/a.rs"}]}`
            Value::Object(inner) => of_object(inner, false, found),
            _ => of_value(value, is_file, found),
        }),
        Value::Object(inner) => of_object(inner, is_file, found),
        _ => {}
    }
}

fn names_file(key: &str) -> bool {
    const KEYS: [&str; 15] = [
        "source",
        "destination",
        "src",
        "dst",
        "dest",
        "target",
        "directory",
        "folder",
        "dir",
        "from",
        "to",
        "attachment",
        "attachments",
        "cwd",
        "root",
    ];
    const ENDS: [&str; 12] = [
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "filenames",
        "file_name",
        "file_names",
        "pathname",
        "pathnames",
        "uri",
        "uris",
    ];
    let key = key.to_ascii_lowercase();
    KEYS.contains(&key.as_str()) || ENDS.iter().any(|end| key.ends_with(end))
}

/// Adds the path in a text, unless it is the URL of another host.
fn add<'a>(text: &'a str, found: &mut Vec<Cow<'a, str>>) {
    if text.is_empty() || text.contains('\0') {
        return;
    }
    match text.split_at_checked(SCHEME.len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(SCHEME) => of_url(rest, found),
        _ if !text.contains("://") => found.push(text.into()),
        _ => {}
    }
}

const SCHEME: &str = "file:";

/// Decodes `file:///a/b`, `file://localhost/a/b` and `file:/a/b`. If a part may be a fragment or belong to the name, both
/// readings count.
fn of_url<'a>(rest: &'a str, found: &mut Vec<Cow<'a, str>>) {
    let path = match rest.strip_prefix("//") {
        Some(rest) => match rest.split_once('/') {
            Some((host, _)) if host.eq_ignore_ascii_case("localhost") => {
                rest.get(host.len()..).unwrap_or(rest)
            }
            _ => rest,
        },
        None => rest,
    };
    let before = path.split_once(['?', '#']).map(|(before, _)| before);
    for path in before.into_iter().chain([path]).map(percent_decoded) {
        if !path.is_empty() && !path.contains('\0') {
            found.push(path);
        }
    }
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
            ("mcp__fs__download_file", Some(Access::Link)),
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
            // A text of JSON in a text.
            (json!({"path": "\"/x/.env\""}), vec!["\"/x/.env\"", "/x/.env"]),
            (json!({"arguments": "{\"path\": \".env\", \"n\": 1}"}), vec![".env"]),
            (json!({"calls": ["{\"path\": \"x\"}"], "input": "[{\"file\": \"a\"}]"}), vec!["a"]),
            (json!({"content": "{\"path\": \".env\"}"}), vec![]),
            (json!({"path": "a", "content": "b"}), vec!["a"]),
            (json!({"paths": ["a", "b"], "n": 1}), vec!["a", "b"]),
            (json!({"source": "a", "destination": "b"}), vec!["a", "b"]),
            (json!({"files": [{"path": "a", "content": "c"}, {"path": "b"}]}), vec!["a", "b"]),
            (json!({"files": {"a": "content", "b": {"text": "c"}}}), vec!["a", "b"]),
            (json!({"from": "a", "to": "b"}), vec!["a", "b"]),
            (json!({"edit": {"filePath": "a"}}), vec!["a"]),
            (json!({"path": {"value": "a"}}), vec!["a", "value"]),
            (json!({"paths": "a, b\nc"}), vec!["a", "a, b\nc", "b", "c"]),
            (json!({"uri": "file:///a/b"}), vec!["/a/b"]),
            (json!({"uri": "https://example.com/.env", "path": "", "file": 7}), vec![]),
            (json!({"a": {"a": {"a": {"a": {"a": {"path": "deep"}}}}}}), vec!["deep"]),
            (json!({"uri": "FILE://localhost/a/%2eenv"}), vec!["/a/.env"]),
            (json!({"uri": "file:/a/.env#L1"}), vec!["/a/.env", "/a/.env#L1"]),
            (json!({"uri": "file:///%00", "path": "%2e"}), vec!["%2e"]),
            (json!({"files": [[["a"]], {"./b": [1], "c": "d"}]}), vec!["./b", "a"]),
            (json!({"edits": [{"src/a.rs": [{"old": "b"}]}], ".env": null}), vec![".env", "src/a.rs"]),
        ] {
            let mut found = named_files(input.as_object().unwrap()).unwrap();
            found.sort_unstable();
            assert_eq!(found, expected, "{input}");
        }
    }
}
