//! Checks a config against the JSON Schema and collects all problems, since the typed reader stops at the first. The
//! schema is generated from the structs, so the rules are written once.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::original::{self, At};
use super::script::misplaced_files;
use crate::pattern::Pattern;
use crate::text::{head_and_tail, nearest};
use crate::yaml::{Node, Spanned, Text};

mod words;

use words::{Misfit, is_type, quoted};

/// Suggestions are searched for this many problems only: few are shown, and the search takes time.
const MAX_SUGGESTIONS: usize = 100;

/// Longer titles are cut in the middle.
const MAX_TITLE_CHARS: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// In bytes of the text.
    pub span: Range<usize>,
    pub title: String,
    /// What is at this position.
    pub label: String,
    /// What to do.
    pub help: Option<String>,
}

/// All problems of the tree, in the order of the file.
pub(super) fn problems(schema: &Value, what: &str, tree: &Spanned<Node>, text: &str) -> Vec<Problem> {
    let mut walk = Walk { root: schema, text, found: Vec::new() };
    // `null` equals absent, also for the whole file.
    if !matches!(tree.value, Node::Null) || schema.get("required").is_some() {
        walk.value(tree, schema, what);
    }
    let mut found = walk.found;
    found.sort_by_key(|finding| finding.span.start);
    found
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

    /// What the schema accepts beside `null`, with references followed.
    fn alternatives(&self, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let pointed = name.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return pointed.map_or_else(|| vec![schema], |target| self.alternatives(target));
        }
        let several = ["anyOf", "allOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array);
        let Some(several) = several else { return vec![schema] };
        let not_null = several.iter().filter(|one| one.get("type") != Some(&"null".into()));
        not_null.flat_map(|one| self.alternatives(one)).collect()
    }

    fn value(&mut self, node: &Spanned<Node>, schema: &'a Value, what: &str) {
        let allows_null = allows_null(schema);
        let alternatives = self.alternatives(schema);
        let of_its_kind = alternatives.iter().find(|one| words::is_of_kind(&node.value, one));
        let Some(schema) = of_its_kind.or(alternatives.first()).copied() else { return };
        let fits = match &node.value {
            Node::Null => allows_null,
            Node::Map(entries) if is_type(schema, "object") => {
                self.mapping(node, entries, schema, what);
                true
            }
            Node::List(items) if is_type(schema, "array") => {
                self.list(node, items, schema, what);
                true
            }
            scalar => words::scalar_fits(scalar, schema),
        };
        if !fits {
            let span = node.span.first_line(self.text);
            let source = self.text.get(span.clone()).unwrap_or_default();
            let items = self.alternatives(item_of(schema));
            let misfit =
                Misfit { node: &node.value, source, schema, alternatives: &alternatives, items: &items };
            let help = words::help(&misfit);
            let title = format!("invalid value for {what}: {}", node.value.describe());
            self.add(span, title, format!("expected {}", words::expected(&alternatives)), help);
        }
    }

    /// A list or mapping with too many entries.
    fn limit(&mut self, node: &Spanned<Node>, schema: &Value, what: &str) {
        let (count, key, unit) = match &node.value {
            Node::List(items) => (items.len(), "maxItems", "entries"),
            Node::Map(entries) => (entries.len(), "maxProperties", "keys"),
            _ => return,
        };
        let max = schema.get(key).and_then(Value::as_u64);
        let Some(max) = max.filter(|max| count as u64 > *max) else { return };
        let title = format!("{what} has {count} {unit}");
        let help = Some("remove what is not needed".into());
        self.add(node.span.first_line(self.text), title, format!("at most {max} are allowed"), help);
    }

    fn list(&mut self, node: &Spanned<Node>, items: &[Spanned<Node>], schema: &'a Value, what: &str) {
        if items.is_empty() && schema.get("minItems").is_some() {
            let help = "list at least one, or remove the key for the default".to_owned();
            let span = node.span.first_line(self.text);
            self.add(
                span,
                format!("{what} is an empty list"),
                "expected at least one entry".into(),
                Some(help),
            );
        }
        self.limit(node, schema, what);
        let is_unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut seen = HashMap::new();
        for item in items {
            self.value(item, item_of(schema), what);
            if let Node::Text(text) = &item.value
                && is_unique
                && let Some(line) = seen.insert(text, item.span.line)
            {
                let title = format!("duplicate entry `{text}` in {what}");
                let label = format!("already given on line {line}");
                let help = Some("remove one, or give it another name".into());
                self.add(item.span.first_line(self.text), title, label, help);
            }
        }
    }

    fn mapping(
        &mut self,
        node: &Spanned<Node>,
        entries: &[(Spanned<Text>, Spanned<Node>)],
        schema: &'a Value,
        what: &str,
    ) {
        self.limit(node, schema, what);
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut seen = HashMap::new();
        for (key, value) in entries {
            let span = key.span.first_line(self.text);
            if let Some(line) = seen.insert(&key.value, key.span.line) {
                let title = format!("duplicate key `{}` in {what}", key.value);
                let label = format!("already given on line {line}");
                self.add(span, title, label, Some("merge the two, or remove one".into()));
                continue;
            }
            let property = properties.and_then(|known| known.get(key.value.as_ref()));
            if let Some(property) = property.filter(|property| is_current(property)) {
                self.value(value, property, &format!("`{}`", key.value));
            } else if let Some(entry) = schema.get("additionalProperties").filter(|schema| schema.is_object())
            {
                if schema.get("propertyNames").is_some() {
                    self.pattern(key, span);
                }
                self.value(value, entry, &format!("`{}`", key.value));
            } else if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
                continue;
            } else if let Some(section) = self.future_section(&key.value, &value.value, schema) {
                self.value(value, section, &format!("`{}`", key.value));
            } else {
                let help =
                    (self.found.len() < MAX_SUGGESTIONS).then(|| self.instead(&key.value, schema, what));
                let title = format!("unknown key `{}` in {what}", key.value);
                self.add(span, title, "not a key of this section".into(), help);
            }
        }
        if properties.is_some_and(|known| known.contains_key("run") && known.contains_key("files")) {
            self.script(entries);
        }
        // What is null is as good as absent.
        let is_empty = entries.iter().all(|(_, value)| value.value == Node::Null);
        if is_empty && schema.get("minProperties").is_some() {
            let known: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let help = format!("allowed here: {}", quoted(&known));
            let span = node.span.first_line(self.text);
            self.add(span, format!("{what} is empty"), "expected at least one key".into(), Some(help));
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

    /// `{files}` in a script where its quotes would not hold.
    fn script(&mut self, entries: &[(Spanned<Text>, Spanned<Node>)]) {
        let of = |name: &str| entries.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
        let text = |name: &str| match of(name).map(|value| &value.value) {
            Some(Node::Text(text)) => Some(text.as_ref()),
            _ => None,
        };
        let (Some(run), Some(_)) = (of("run"), of("files")) else { return };
        let why = text("run").and_then(|script| misplaced_files(script, text("shell")));
        if let Some(why) = why {
            let title = "`{files}` is already quoted: write it without quotes, as words of a command";
            let help = "or use `$CONCLAUDE_FILES`, which has one file per line";
            self.add(run.span.first_line(self.text), title.into(), why, Some(help.into()));
        }
    }

    /// What to write instead of a key that is not known.
    fn instead(&self, key: &str, schema: &Value, what: &str) -> String {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let known: Vec<&str> =
            properties.filter(|(_, property)| is_current(property)).map(|(name, _)| name.as_str()).collect();
        let is_root = std::ptr::eq(schema, self.root);
        let at = match what.trim_matches('`') {
            _ if is_root => At::Top,
            _ if known.contains(&"run") => At::Command,
            _ if known.contains(&"pattern") => At::Rule,
            section => At::Section(section),
        };
        // Only a config has sections, and only one can be of another version.
        let is_config = self.root.pointer("/definitions/WarnOnlyEventConfig").is_some();
        let older = is_config.then(|| original::instead(at, key)).flatten();
        let is_of_event = is_config && (is_root || known.contains(&"commands"));
        let elsewhere = is_of_event.then(|| self.section_with(key)).flatten();
        let elsewhere = elsewhere.map(|section| format!("write it in `{section}`"));
        let of_events = (is_config && is_root).then(|| words::of_events(key)).flatten();
        older.or(of_events).or(elsewhere).unwrap_or_else(|| match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if is_root && is_config => words::sections(&known),
            None => format!("allowed here: {}", quoted(&known)),
        })
    }

    /// The only section that has this key.
    fn section_with(&self, key: &str) -> Option<&'a str> {
        let sections = self.root.get("properties")?.as_object()?;
        let has_key =
            |section: &&'a Value| section.get("properties").is_some_and(|keys| keys.get(key).is_some());
        let having = sections.iter().filter(|(_, section)| is_current(section));
        let mut having = having.filter(|(_, section)| self.alternatives(section).iter().any(has_key));
        let (name, _) = having.next()?;
        having.next().is_none().then_some(name.as_str())
    }

    /// What the section of an event that this version does not know may have. A key of another section shows that one is meant.
    fn future_section(&self, key: &str, value: &Node, schema: &'a Value) -> Option<&'a Value> {
        let Node::Map(entries) = value else { return None };
        let section = self.root.pointer("/definitions/WarnOnlyEventConfig")?;
        let known = section.get("properties")?;
        let is_future = std::ptr::eq(schema, self.root)
            && entries.iter().any(|(key, _)| {
                known.get(key.value.as_ref()).is_some() || self.section_with(&key.value).is_some()
            })
            && original::event_of(key).is_some();
        is_future.then_some(section)
    }

    fn pattern(&mut self, key: &Spanned<Text>, span: Range<usize>) {
        let problem = Pattern::try_from(key.value.to_string()).and_then(|pattern| pattern.check());
        if let Err(error) = problem {
            let help = words::pattern_help(&key.value);
            self.add(span, error.to_string(), "not a valid pattern".into(), Some(help));
        }
    }
}

/// Keys of the original were changed into ours before: what is left of them is not accepted.
fn is_current(property: &Value) -> bool {
    property.get("deprecated") != Some(&Value::Bool(true))
}

fn allows_null(schema: &Value) -> bool {
    let alternatives = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    is_type(schema, "null") || alternatives.into_iter().any(allows_null)
}

/// The position of a mapping is that of its first key: its own may be on the line before.
fn first_key(node: &Spanned<Node>, entries: &[(Spanned<Text>, Spanned<Node>)], text: &str) -> Range<usize> {
    entries.first().map_or(node.span, |(key, _)| key.span).first_line(text)
}

/// What the entries of a list must be.
fn item_of(schema: &Value) -> &Value {
    schema.get("items").unwrap_or(&Value::Null)
}
