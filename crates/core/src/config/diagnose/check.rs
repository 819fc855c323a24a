//! Checks a config against the JSON Schema and collects all problems. The typed reader would stop at the first one. The schema is
//! generated from the structs, so the rules are written once.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::expectation::{self, Misfit, is_type};
use super::problem::Problem;
use crate::config::commands::{NOT_FOR_HOOKS, VariableName, misplaced_files};
use crate::config::original::{self, KeyPlace};
use crate::config::telemetry::HeaderName;
use crate::pattern::Pattern;
use crate::text::{Excerpt, head_and_tail, nearest, quoted_list};
use crate::yaml::{MapEntry, Node, Spanned, Text};

/// Suggestions are searched only for this many problems: few are shown, and the search takes time.
const MAX_SUGGESTIONS: usize = 100;

/// Longer titles are cut in the middle.
const MAX_TITLE_CHARS: usize = 300;

/// All problems of the tree, in the order of the file.
pub(super) fn problems(schema: &Value, what: &str, tree: &Spanned<Node>, text: &str) -> Vec<Problem> {
    let mut check = SchemaCheck { root: schema, text, found: Vec::new() };
    // `null` equals absent, also for the whole file.
    if !matches!(tree.value, Node::Null) || schema.get("required").is_some() {
        check.value(tree, schema, what);
    }
    check.found.sort_by_key(|problem| problem.span.start);
    check.found
}

struct SchemaCheck<'a> {
    root: &'a Value,
    text: &'a str,
    found: Vec<Problem>,
}

impl<'a> SchemaCheck<'a> {
    fn add(&mut self, mut problem: Problem) {
        // The title contains keys and values of the file, which may be long.
        if let Some(Excerpt { head, tail, .. }) = head_and_tail(&problem.title, MAX_TITLE_CHARS) {
            problem.title = format!("{head}…{tail}");
        }
        self.found.push(problem);
    }

    /// The accepted alternatives of a schema except `null`, with references resolved.
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

    fn allows_null(&self, schema: &Value) -> bool {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let pointed = name.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return pointed.is_some_and(|target| self.allows_null(target));
        }
        let mut alternatives = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        is_type(schema, "null") || alternatives.any(|one| self.allows_null(one))
    }

    fn value(&mut self, node: &Spanned<Node>, schema: &'a Value, what: &str) {
        let allows_null = self.allows_null(schema);
        let alternatives = self.alternatives(schema);
        let of_its_kind = alternatives.iter().find(|one| expectation::is_of_kind(&node.value, one));
        let Some(schema) = of_its_kind.or(alternatives.first()).copied() else { return };
        let fits = match &node.value {
            Node::Null => allows_null,
            Node::Map(_) if is_type(schema, "object") => {
                self.mapping(node, schema, what);
                true
            }
            Node::List(_) if is_type(schema, "array") => {
                self.list(node, schema, what);
                true
            }
            scalar => expectation::scalar_fits(scalar, schema),
        };
        if !fits {
            let span = node.span.first_line(self.text);
            let source = self.text.get(span.clone()).unwrap_or_default();
            let items = self.alternatives(item_of(schema));
            let misfit =
                Misfit { node: &node.value, source, schema, alternatives: &alternatives, items: &items };
            let help = expectation::help(&misfit);
            let title = format!("invalid value for {what}: {}", node.value.describe());
            let label = format!("expected {}", expectation::expected(&alternatives));
            self.add(Problem { span, title, label, help });
        }
    }

    /// A list or mapping with too many entries.
    fn limit(&mut self, node: &Spanned<Node>, schema: &Value, what: &str) {
        let (count, key, unit) = match &node.value {
            Node::List(items) => (items.len(), "maxItems", "entries"),
            Node::Map(entries) => (entries.len(), "maxProperties", "keys"),
            _ => return,
        };
        if let Some(max) = schema.get(key).and_then(Value::as_u64)
            && count as u64 > max
        {
            let span = node.span.first_line(self.text);
            let title = format!("{what} has {count} {unit}");
            let label = format!("at most {max} are allowed");
            self.add(Problem { span, title, label, help: Some("remove what is not needed".into()) });
        }
    }

    fn list(&mut self, node: &Spanned<Node>, schema: &'a Value, what: &str) {
        let Node::List(items) = &node.value else { return };
        if items.is_empty() && schema.get("minItems").is_some() {
            self.add(Problem {
                span: node.span.first_line(self.text),
                title: format!("{what} is an empty list"),
                label: "expected at least one entry".into(),
                help: Some("list at least one, or remove the key for the default".into()),
            });
        }
        self.limit(node, schema, what);
        let is_unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut seen = HashMap::new();
        for item in items.iter() {
            self.value(item, item_of(schema), what);
            if let Node::Text(text) = &item.value
                && is_unique
                && let Some(line) = seen.insert(text, item.span.line)
            {
                self.add(Problem {
                    span: item.span.first_line(self.text),
                    title: format!("duplicate entry `{text}` in {what}"),
                    label: format!("already given on line {line}"),
                    help: Some("remove one, or give it another name".into()),
                });
            }
        }
    }

    fn mapping(&mut self, node: &Spanned<Node>, schema: &'a Value, what: &str) {
        let Node::Map(entries) = &node.value else { return };
        self.limit(node, schema, what);
        let mut seen = HashMap::new();
        for (key, value) in entries.iter() {
            if let Some(line) = seen.insert(&key.value, key.span.line) {
                self.add(Problem {
                    span: key.span.first_line(self.text),
                    title: format!("duplicate key `{}` in {what}", key.value),
                    label: format!("already given on line {line}"),
                    help: Some("merge the two, or remove one".into()),
                });
            } else {
                self.entry(key, value, schema, what);
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        if properties.is_some_and(|known| known.contains_key("run") && known.contains_key("files")) {
            self.script(entries);
            self.protocol(entries);
        }
        // `null` equals absent.
        let is_empty = entries.iter().all(|(_, value)| value.value == Node::Null);
        if is_empty && schema.get("minProperties").is_some() {
            let known: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            self.add(Problem {
                span: node.span.first_line(self.text),
                title: format!("{what} is empty"),
                label: "expected at least one key".into(),
                help: Some(format!("allowed here: {}", quoted_list(&known))),
            });
        }
        self.required(node, schema, what);
    }

    fn entry(&mut self, key: &Spanned<Text>, value: &Spanned<Node>, schema: &'a Value, what: &str) {
        let span = key.span.first_line(self.text);
        let name = format!("`{}`", key.value);
        let known = schema.get("properties").and_then(|known| known.get(key.value.as_ref()));
        if let Some(property) = known
            && is_current(property)
        {
            return self.value(value, property, &name);
        }
        match schema.get("additionalProperties") {
            Some(entry @ Value::Object(_)) => {
                match schema.get("propertyNames") {
                    Some(_) if expectation::is_of_variables(schema) => self.variable(key, span),
                    Some(_) if expectation::is_of_patterns(schema) => self.pattern(key, span),
                    Some(_) if expectation::is_of_headers(schema) => self.header(key, span),
                    Some(names) => self.name(key, names, span),
                    None => {}
                }
                return self.value(value, entry, &name);
            }
            Some(Value::Bool(true)) => return,
            _ => {}
        }
        if let Some(section) = self.future_section(&key.value, &value.value, schema) {
            return self.value(value, section, &name);
        }
        let help = if self.found.len() >= MAX_SUGGESTIONS {
            None
        } else if is_list_of_commands(&key.value, &value.value) && expectation::has_commands(schema) {
            Some("put it under `commands:`".into())
        } else {
            Some(self.instead(&key.value, schema, what))
        };
        let title = format!("unknown key {name} in {what}");
        self.add(Problem { span, title, label: "not a key of this section".into(), help });
        if let Some(section) = self.meant_section(&key.value, &value.value, schema) {
            self.value(value, section, &name);
        }
    }

    /// The section that an unknown key probably means, so that mistakes in its value are found at once.
    fn meant_section(&self, key: &str, value: &Node, schema: &'a Value) -> Option<&'a Value> {
        if !std::ptr::eq(schema, self.root) {
            let known = schema.get("properties")?.as_object()?;
            if expectation::has_commands(schema) && is_list_of_commands(key, value) {
                let commands = self.alternatives(known.get("commands")?);
                return commands.iter().find_map(|one| one.get("additionalProperties"));
            }
            let current = known.iter().filter(|(_, property)| is_current(property));
            return known.get(nearest(key, current.map(|(name, _)| name.as_str()))?);
        }
        let sections = self.root.get("properties")?.as_object()?;
        let section = self.root.pointer("/definitions/WarnOnlyEventConfig");
        if section.is_none() || original::is_known(key) {
            return None;
        }
        let names = sections.iter().filter(|(_, section)| is_current(section)).map(|(name, _)| name.as_str());
        if let Some(near) = nearest(key, names) {
            return sections.get(near);
        }
        match value {
            Node::Map(entries) if entries.iter().any(|(key, _)| key.value == "commands") => {
                self.root.pointer("/definitions/EventConfig")
            }
            _ => None,
        }
    }

    fn required(&mut self, node: &Spanned<Node>, schema: &Value, what: &str) {
        let Node::Map(entries) = &node.value else { return };
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            let is_given =
                entries.iter().any(|(key, value)| key.value == name && !matches!(value.value, Node::Null));
            if !is_given {
                self.add(Problem {
                    span: first_key(node, entries, self.text),
                    title: format!("missing field `{name}` in {what}"),
                    label: format!("`{name}` is required here"),
                    help: None,
                });
            }
        }
    }

    /// `{files}` in a script, where its quotes would not work.
    fn script(&mut self, entries: &[MapEntry]) {
        let of = |name: &str| entries.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
        let text = |name: &str| match of(name).map(|value| &value.value) {
            Some(Node::Text(text)) => Some(text.as_ref()),
            _ => None,
        };
        let (Some(run), Some(_)) = (of("run"), of("files")) else { return };
        if let Some(why) = text("run").and_then(|script| misplaced_files(script, text("shell"))) {
            self.add(Problem {
                span: run.span.first_line(self.text),
                title: "`{files}` is already quoted: write it without quotes, as words of a command".into(),
                label: why,
                help: Some("or use `$CONCLAUDE_FILES`, which has one file per line".into()),
            });
        }
    }

    /// Keys without effect for a command that answers as a hook.
    fn protocol(&mut self, entries: &[MapEntry]) {
        let is_hook = |(key, value): &MapEntry| {
            key.value == "protocol" && matches!(&value.value, Node::Text(text) if text == "hook")
        };
        if !entries.iter().any(is_hook) {
            return;
        }
        for (key, value) in entries.iter() {
            if NOT_FOR_HOOKS.contains(&key.value.as_ref()) && value.value != Node::Null {
                self.add(Problem {
                    span: key.span.first_line(self.text),
                    title: format!("`{}` has no effect with `protocol: hook`", key.value),
                    label: "Claude Code defines what a hook's exit code and output mean".into(),
                    help: Some(format!("remove `{}`, or `protocol: hook`", key.value)),
                });
            }
        }
    }

    /// What to write instead of an unknown key.
    fn instead(&self, key: &str, schema: &Value, what: &str) -> String {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let known: Vec<&str> =
            properties.filter(|(_, property)| is_current(property)).map(|(name, _)| name.as_str()).collect();
        let is_root = std::ptr::eq(schema, self.root);
        let at = match what.trim_matches('`') {
            _ if is_root => KeyPlace::Top,
            _ if known.contains(&"run") => KeyPlace::Command,
            _ if known.contains(&"pattern") => KeyPlace::Rule,
            section => KeyPlace::Section(section),
        };
        // Only a config has sections, and only it can be of another version.
        let is_config = self.root.pointer("/definitions/WarnOnlyEventConfig").is_some();
        if is_config && let Some(older) = original::instead(at, key) {
            return older;
        }
        if is_config
            && is_root
            && let Some(of_events) = expectation::of_events(key)
        {
            return of_events;
        }
        if is_config
            && (is_root || known.contains(&"commands"))
            && let Some(section) = self.section_with(key)
        {
            return format!("write it in `{section}`");
        }
        if at == KeyPlace::Command
            && let Some(help) = expectation::of_command(key)
        {
            return help.into();
        }
        match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if at == KeyPlace::Command && expectation::is_run(key) => "did you mean `run`?".into(),
            None if is_root && is_config => expectation::sections(&known),
            None => format!("allowed here: {}", quoted_list(&known)),
        }
    }

    /// The only section that has this key.
    fn section_with(&self, key: &str) -> Option<&'a str> {
        let sections = self.root.get("properties")?.as_object()?;
        let has_key =
            |section: &&'a Value| section.get("properties").is_some_and(|keys| keys.get(key).is_some());
        let having = sections.iter().filter(|(_, section)| is_current(section));
        let mut having = having.filter(|(_, section)| self.alternatives(section).iter().any(has_key));
        let (name, _) = having.next()?;
        if having.next().is_none() { Some(name) } else { None }
    }

    /// The allowed keys in the section of an event that this version does not know. A key of another section shows that that one
    /// is meant.
    fn future_section(&self, key: &str, value: &Node, schema: &'a Value) -> Option<&'a Value> {
        let Node::Map(entries) = value else { return None };
        let section = self.root.pointer("/definitions/WarnOnlyEventConfig")?;
        let known = section.get("properties")?;
        let is_future = std::ptr::eq(schema, self.root)
            && entries.iter().any(|(key, _)| {
                known.get(key.value.as_ref()).is_some() || self.section_with(&key.value).is_some()
            })
            && original::event_of(key).is_some();
        if is_future { Some(section) } else { None }
    }

    fn variable(&mut self, key: &Spanned<Text>, span: Range<usize>) {
        if let Err(error) = VariableName::try_from(key.value.to_string()) {
            let label = "a name starts with a letter or `_`, and has at most 100 characters".into();
            self.add(Problem { span, title: error.to_string(), label, help: None });
        }
    }

    /// A name that is neither a pattern nor the name of a variable or header.
    fn name(&mut self, key: &Spanned<Text>, names: &'a Value, span: Range<usize>) {
        if !expectation::scalar_fits(&Node::Text(key.value.clone()), names) {
            let title = format!("invalid name {:?}", key.value);
            self.add(Problem {
                span,
                title,
                label: format!("expected {}", expectation::expected(&[names])),
                help: None,
            });
        }
    }

    fn header(&mut self, key: &Spanned<Text>, span: Range<usize>) {
        if let Err(error) = HeaderName::try_from(key.value.to_string()) {
            let label =
                "a name has letters, digits and some signs such as `-`, and at most 100 characters".into();
            self.add(Problem { span, title: error.to_string(), label, help: None });
        }
    }

    fn pattern(&mut self, key: &Spanned<Text>, span: Range<usize>) {
        let problem = Pattern::try_from(key.value.to_string()).and_then(|pattern| pattern.check());
        if let Err(error) = problem {
            let help = Some(expectation::pattern_help(&key.value));
            self.add(Problem { span, title: error.to_string(), label: "not a valid pattern".into(), help });
        }
    }
}

/// Whether an entry of a section belongs in `commands`: a pattern with a list of commands, or a command.
fn is_list_of_commands(key: &str, value: &Node) -> bool {
    match value {
        Node::List(items) => expectation::are_commands(items),
        Node::Text(_) => key == "run",
        _ => false,
    }
}

/// The keys of the original have already been changed into ours. The remaining ones are invalid.
fn is_current(property: &Value) -> bool {
    property.get("deprecated") != Some(&Value::Bool(true))
}

/// The position of a mapping is that of its first key. Its own position may be on the line before.
fn first_key(node: &Spanned<Node>, entries: &[MapEntry], text: &str) -> Range<usize> {
    entries.first().map_or(node.span, |(key, _)| key.span).first_line(text)
}

/// The schema of a list's entries.
fn item_of(schema: &Value) -> &Value {
    schema.get("items").unwrap_or(&Value::Null)
}
