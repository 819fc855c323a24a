//! Checks a config against the JSON Schema and collects all problems, since the typed reader stops at the first. The
//! schema is generated from the structs, so the rules are written once.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;
use serde_saphyr::Spanned;

use super::FolderBelow;
use super::schema::schema;
use super::tree::{Node, SpannedNode, range};
use crate::dialect::claude::abilities::{self, Blocking};
use crate::event;
use crate::pattern::Pattern;
use crate::text::{head_and_tail, nearest};

/// Suggestions are searched for this many problems only: few are shown, and the search takes time.
const MAX_SUGGESTIONS: usize = 100;

/// Longer titles are cut in the middle.
const MAX_TITLE_CHARS: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// In bytes of the text.
    pub(super) span: Range<usize>,
    pub(super) title: String,
    /// What is at this position.
    pub(super) label: String,
    /// What to do.
    pub(super) help: Option<String>,
}

/// All problems of the tree, in the order of the file.
pub(super) fn problems(tree: &SpannedNode, text: &str) -> Vec<Problem> {
    let schema = schema();
    let mut walk = Walk { root: &schema, text, found: Vec::new() };
    // `null` equals absent, also for the whole file.
    if !matches!(tree.value, Node::Null) {
        walk.value(tree, &schema, "the config");
    }
    walk.found.sort_by_key(|problem| problem.span.start);
    walk.found
}

struct Walk<'a> {
    root: &'a Value,
    text: &'a str,
    found: Vec<Problem>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, span: Range<usize>, title: String, label: String, help: Option<String>) {
        // The title contains keys and values of the file, which may be long.
        let title = match head_and_tail(&title, MAX_TITLE_CHARS) {
            Some((head, tail, _)) => format!("{head}…{tail}"),
            None => title,
        };
        self.found.push(Problem { span, title, label, help });
    }

    /// Follows references and leaves out the alternative `null`.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let pointed = name.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return pointed.map_or(schema, |target| self.resolve(target));
        }
        let alternatives =
            ["anyOf", "allOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array);
        match alternatives.and_then(|all| all.iter().find(|one| one.get("type") != Some(&"null".into()))) {
            Some(one) => self.resolve(one),
            None => schema,
        }
    }

    fn value(&mut self, node: &SpannedNode, schema: &'a Value, what: &str) {
        let allows_null = schema.to_string().contains("\"null\"");
        let schema = self.resolve(schema);
        let fits = match &node.value {
            Node::Null => allows_null,
            Node::Map(entries) if is_type(schema, "object") => {
                self.mapping(node, entries, schema, what);
                true
            }
            Node::List(items) if is_type(schema, "array") => {
                if let Some(item_schema) = schema.get("items") {
                    for item in items {
                        self.value(item, item_schema, what);
                    }
                }
                true
            }
            scalar => scalar_fits(scalar, schema),
        };
        if !fits {
            let help = misplaced_help(&node.value, schema).or_else(|| choice_help(&node.value, schema));
            let title = format!("invalid value for {what}: {}", node.value.describe());
            self.add(
                range(&node.referenced, self.text),
                title,
                format!("expected {}", expected(schema)),
                help,
            );
        }
    }

    fn mapping(
        &mut self,
        node: &SpannedNode,
        entries: &[(Spanned<String>, SpannedNode)],
        schema: &'a Value,
        what: &str,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut seen = HashMap::new();
        for (key, value) in entries {
            let span = range(&key.referenced, self.text);
            if let Some(line) = seen.insert(&key.value, key.referenced.line()) {
                let title = format!("duplicate key `{}` in {what}", key.value);
                let label = format!("already given on line {line}");
                self.add(span, title, label, Some("merge the two, or remove one".into()));
                continue;
            }
            if let Some(property) = properties.and_then(|known| known.get(&key.value)) {
                self.value(value, property, &format!("`{}`", key.value));
            } else if let Some(entry) = schema.get("additionalProperties").filter(|schema| schema.is_object())
            {
                self.pattern(key, span);
                self.value(value, entry, &format!("`{}`", key.value));
            } else {
                let help = (self.found.len() < MAX_SUGGESTIONS).then(|| {
                    let known: Vec<&str> =
                        properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                    match nearest(&key.value, known.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("allowed here: {}", quoted(&known)),
                    }
                });
                let title = format!("unknown key `{}` in {what}", key.value);
                self.add(span, title, "not a key of this section".into(), help);
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            let given =
                entries.iter().any(|(key, value)| key.value == name && !matches!(value.value, Node::Null));
            if !given {
                let title = format!("missing field `{name}` in {what}");
                let label = format!("`{name}` is required here");
                self.add(first_key(node, entries, self.text), title, label, None);
            }
        }
    }

    fn pattern(&mut self, key: &Spanned<String>, span: Range<usize>) {
        let problem = Pattern::try_from(key.value.clone()).and_then(|pattern| pattern.check());
        if let Err(error) = problem {
            let help =
                "patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character";
            self.add(span, error.to_string(), "not a valid pattern".into(), Some(help.into()));
        }
    }
}

/// The position of a mapping is that of its first key: its own may be on the line before.
fn first_key(node: &SpannedNode, entries: &[(Spanned<String>, SpannedNode)], text: &str) -> Range<usize> {
    range(entries.first().map_or(&node.referenced, |(key, _)| &key.referenced), text)
}

fn is_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(many)) => many.iter().any(|one| one == name),
        _ => false,
    }
}

/// The allowed words of an enumeration, however the schema spells it.
fn choices(schema: &Value) -> Vec<&str> {
    let one_of = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let constants = one_of.flat_map(|one| {
        let several = one.get("enum").and_then(Value::as_array).into_iter().flatten();
        one.get("const").into_iter().chain(several)
    });
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    constants.chain(listed).chain(schema.get("const")).filter_map(Value::as_str).collect()
}

fn scalar_fits(node: &Node, schema: &Value) -> bool {
    let choices = choices(schema);
    if !choices.is_empty() {
        return matches!(node, Node::Text(text) if choices.contains(&text.as_str()));
    }
    if is_type(schema, "boolean") {
        return matches!(node, Node::Bool(_));
    }
    if is_type(schema, "integer") {
        let bound = |key: &str| schema.get(key).and_then(Value::as_i64).map(i128::from);
        let number = match node {
            Node::Int(number) => Some(*number),
            Node::Text(text) => text.parse().ok(),
            _ => None,
        };
        return number.is_some_and(|n| {
            bound("minimum").is_none_or(|low| n >= low) && bound("maximum").is_none_or(|high| n <= high)
        });
    }
    if is_type(schema, "string") {
        return match node {
            Node::Text(text) if is_folder(schema) && !FolderBelow::is_valid(text) => false,
            Node::Text(text) => schema.get("minLength").is_none() || !text.trim().is_empty(),
            // `run: true` is the command of that name.
            Node::Bool(_) | Node::Int(_) | Node::Float(_) => true,
            _ => false,
        };
    }
    false
}

fn is_folder(schema: &Value) -> bool {
    schema.get("format").and_then(Value::as_str) == Some(FolderBelow::FORMAT)
}

fn expected(schema: &Value) -> String {
    if is_folder(schema) {
        return "a folder below that of the config: a relative path without `..`".into();
    }
    let choices = choices(schema);
    if !choices.is_empty() {
        return match choices.as_slice() {
            [only] => format!("`{only}`"),
            many if many.len() > 8 => format!("one of {} known names", many.len()),
            some => format!("one of {}", quoted(some)),
        };
    }
    if is_type(schema, "integer") {
        return match (schema.get("minimum"), schema.get("maximum")) {
            (Some(low), Some(high)) => format!("a whole number from {low} to {high}"),
            _ => "a whole number".into(),
        };
    }
    let names = [
        ("boolean", "`true` or `false`"),
        ("string", "text that is not blank"),
        ("array", "a list"),
        ("object", "a mapping of keys to values"),
    ];
    names.iter().find(|(kind, _)| is_type(schema, kind)).map_or("another value", |(_, words)| words).into()
}

/// The two mistakes that YAML makes easy.
fn misplaced_help(node: &Node, schema: &Value) -> Option<String> {
    match node {
        Node::Map(_) if is_type(schema, "array") => Some("start each entry with `- `".into()),
        Node::Text(text) if is_type(schema, "array") => {
            let of_names = schema.get("items").is_some_and(|items| items.to_string().contains("HookName"));
            Some(if of_names {
                format!("write it as a list: [\"{text}\"]")
            } else {
                "write it as a list: `- run: …`".into()
            })
        }
        Node::List(_) if is_type(schema, "object") => Some("remove the `-` before the keys".into()),
        _ => None,
    }
}

fn choice_help(node: &Node, schema: &Value) -> Option<String> {
    let choices = choices(schema);
    let Node::Text(text) = node else { return None };
    if text == "block" && choices == ["warn"] {
        return Some(format!(
            "this event cannot be blocked, use `warn`; events that can: {}",
            quoted(&blockable())
        ));
    }
    nearest(text, choices).map(|near| format!("did you mean `{near}`?"))
}

/// The sections of events that can be blocked by a command.
fn blockable() -> Vec<&'static str> {
    let blockable = event::with_commands().filter(|event| abilities::blocking(*event) != Blocking::Never);
    blockable.map(|event| event.row().section).collect()
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
