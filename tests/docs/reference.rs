//! `docs/reference`, from what the program says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use regex_lite::Regex;
use serde_json::{Map, Value};

use conclaude_core::config::schema_text;
use conclaude_core::exit::Exit;
use conclaude_core::finding::Code;
use conclaude_core::plan::environment::{self, PREFIX};
use conclaude_core::variables;
use conclaude_store::audit;

use crate::common::{conclaude, scratch};
use crate::pages::{compare, root};

const GENERATED: &str =
    "<!-- Generated from the program: UPDATE_DOCS=1 cargo test --test docs reference -->\n";

/// What a subcommand prints.
fn said(arguments: &[&str]) -> String {
    let folder = scratch();
    let output = conclaude().args(arguments).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&said(arguments)).unwrap()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', r"\|")
}

fn page(name: &str, title: &str, text: &str) {
    compare(&format!("docs/reference/{name}.md"), &format!("{GENERATED}\n# {title}\n\n{}\n", text.trim()));
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace(' ', "-")
}

#[test]
fn reference_of_the_events() {
    let events = json(&["events", "--json"]);
    let mut page_text = String::from(
        "Every hook event of Claude Code that conclaude knows. `conclaude events EVENT` prints the same in a terminal.\n\n\
         | event | section | patterns compare | `onFailure: block` |\n| --- | --- | --- | --- |\n",
    );
    let events = events["events"].as_array().unwrap();
    assert_eq!(events.len(), 33);
    for event in events {
        let name = text(event, "event");
        let blocks = event["block"].as_str().unwrap_or("–");
        let compares = event["compares"].as_str().unwrap_or("–");
        let _ = writeln!(
            page_text,
            "| [{name}](#{}) | [`{section}`](config.md#{}) | {} | {} |",
            anchor(name),
            anchor(text(event, "section")),
            cell(compares),
            cell(blocks),
            section = text(event, "section"),
        );
    }
    let common: BTreeSet<String> = environment::of_all().into_iter().collect();
    let names: Vec<String> = common.iter().map(|name| format!("`{name}`")).collect();
    let _ = write!(page_text, "\nAt every event a command has {}.\n", names.join(",\n"));
    for event in events {
        let _ = write!(page_text, "\n## {}\n\n", text(event, "event"));
        let rows = [
            (
                "Section",
                format!("[`{0}`](config.md#{1})", text(event, "section"), anchor(text(event, "section"))),
            ),
            (
                "Patterns compare",
                event["compares"].as_str().map_or_else(
                    || "nothing; write a plain list, or `*`".to_owned(),
                    |field| format!("`{field}`"),
                ),
            ),
            ("`onFailure: block`", event["block"].as_str().unwrap_or("not possible").to_owned()),
            (
                "`context: true`",
                if event["context"] == true { "possible" } else { "not possible" }.to_owned(),
            ),
            ("Registered", text(event, "registered").to_owned()),
        ];
        for (name, value) in rows {
            let _ = writeln!(page_text, "- {name}: {value}");
        }
        let variables = event["variables"].as_array().unwrap().iter().filter_map(Value::as_str);
        let own: Vec<String> =
            variables.filter(|name| !common.contains(*name)).map(|name| format!("`{name}`")).collect();
        if !own.is_empty() {
            let _ = writeln!(page_text, "- Variables: {}", own.join(", "));
        }
    }
    page("events", "Events", &page_text);
}

#[test]
fn reference_of_the_findings() {
    let mut page_text = String::from(
        "What gates, guards and rules find has a code. Messages, records and reports name it.\n\n\
         | code | cause | fix |\n| --- | --- | --- |\n",
    );
    for (code, description) in Code::DESCRIPTIONS {
        let (cause, fix) =
            description.trim().split_once(" Fix: ").unwrap_or_else(|| panic!("{code} has no fix"));
        let fix = fix.trim_end_matches('.');
        let _ = writeln!(
            page_text,
            "| <a id=\"{}\"></a>`{code}` | {} | {} |",
            code.to_lowercase(),
            cell(cause),
            cell(fix)
        );
    }
    page("findings", "Findings", &page_text);
}

#[test]
fn reference_of_the_packs() {
    let mut page_text = String::from(
        "The rules of the packs that come with conclaude. `conclaude pack show NAME` prints the same in a terminal.\n\
         [Packs](../explanation/packs.md) says how to use and change them.\n",
    );
    let list = said(&["pack", "list"]);
    let names =
        list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    for name in names {
        let pack = json(&["pack", "show", name, "--json"]);
        let _ = write!(page_text, "\n## {name}\n\n{}\n\n", text(&pack, "purpose"));
        page_text.push_str("| rule | action | message |\n| --- | --- | --- |\n");
        for rule in pack["rules"].as_array().unwrap() {
            let [name, action, message] = ["name", "action", "message"].map(|key| cell(text(rule, key)));
            let _ = writeln!(page_text, "| `{name}` | {action} | {message} |");
        }
    }
    page("packs", "Packs", &page_text);
}

/// The help of a subcommand and of all below it.
fn help(page_text: &mut String, words: &[&str]) {
    let mut arguments = words.to_vec();
    arguments.push("--help");
    let help = said(&arguments);
    let title = [&["conclaude"], words].concat().join(" ");
    if !words.is_empty() {
        let _ = write!(page_text, "\n## {title}\n");
    }
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page_text, "\n```text\n{}\n```\n", lines.join("\n"));
    let commands = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let names: Vec<String> = commands
        .lines()
        .take_while(|line| line.starts_with("  "))
        .filter(|line| line.chars().nth(2).is_some_and(|first| first != ' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    for name in names {
        help_of(page_text, words, &name);
    }
}

fn help_of(page_text: &mut String, words: &[&str], name: &str) {
    help(page_text, &[words, &[name]].concat());
}

#[test]
fn reference_of_the_command_line() {
    let mut page_text = String::from("What `--help` says of each subcommand.\n");
    help(&mut page_text, &[]);
    page("cli", "Command line", &page_text);
}

#[test]
fn reference_of_the_exit_codes() {
    let mut page_text = String::from("| code | meaning |\n| --- | --- |\n");
    for (exit, meaning) in Exit::MEANINGS {
        let _ = writeln!(page_text, "| {} | {meaning} |", exit.code());
    }
    page_text.push_str(
        "\nExit 2 only means that a hook blocked something on purpose. An error never blocks: it is exit 1, or exit 0 at events\n\
         where a client would read a failure as a denial. [How blocking works](../explanation/how-blocking-works.md) shows the answers.\n\n\
         What the help of subcommands says about their exit codes:\n\n",
    );
    let mut cli = String::new();
    help(&mut cli, &[]);
    let sentence = Regex::new(r"(?i)\bexit").unwrap();
    for part in cli.split("\n## ").skip(1) {
        let (title, body) = part.split_once('\n').unwrap();
        let about = body.split("Usage:").next().unwrap().replace("```text", "");
        // The sentences of each paragraph, however the terminal wraps them.
        let paragraphs =
            about.split("\n\n").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let parts: Vec<String> = paragraphs
            .flat_map(|text| text.split_inclusive(". ").map(str::to_owned).collect::<Vec<_>>())
            .filter(|text| sentence.is_match(text))
            .map(|text| text.trim().trim_end_matches('.').to_owned())
            .collect();
        if !parts.is_empty() {
            let _ = writeln!(page_text, "- [`{title}`](cli.md#{}): {}.", anchor(title), parts.join(". "));
        }
    }
    page("exit-codes", "Exit codes", &page_text);
}

fn environment_page() -> String {
    let mut page_text = String::from(
        "Every variable that conclaude reads, and those that it sets for the commands of a config.\n\n\
         ## What conclaude reads\n\n| variable | meaning |\n| --- | --- |\n",
    );
    for (names, meaning) in variables::OWN.iter().chain(&variables::OTHERS) {
        let names: Vec<String> = names.split(", ").map(|name| format!("`{name}`")).collect();
        let _ = writeln!(page_text, "| {} | {} |", names.join(", "), cell(meaning));
    }
    page_text.push_str(
        "\n## What commands get\n\nUnknown values are left out. At most 32 KiB of a value are passed.\n\n| variable | content |\n| --- | --- |\n",
    );
    for (name, meaning) in environment::OWN {
        let _ = writeln!(page_text, "| `{PREFIX}{name}` | {} |", cell(meaning));
    }
    page_text.push_str(
        "\nEvery other field of the payload that is text, a number or a flag is a variable too, also one that only a newer client sends:\n\n\
         | variable | events |\n| --- | --- |\n",
    );
    let events = json(&["events", "--json"]);
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let common = environment::of_all();
    for event in events["events"].as_array().unwrap() {
        for name in event["variables"].as_array().unwrap().iter().filter_map(Value::as_str) {
            fields.entry(name.to_owned()).or_default().push(text(event, "event").to_owned());
        }
    }
    for (name, events) in fields {
        let is_own = environment::OWN.iter().any(|(own, _)| format!("{PREFIX}{own}") == name);
        if is_own || name.contains(' ') {
            continue;
        }
        let events = if common.contains(&name) { "every event".to_owned() } else { events.join(", ") };
        let _ = writeln!(page_text, "| `{name}` | {events} |");
    }
    page_text
}

#[test]
fn reference_of_the_environment() {
    page("environment", "Environment", &environment_page());
}

/// Every name of a variable in the sources is in the table.
#[test]
fn every_variable_that_is_read_is_documented() {
    let name =
        Regex::new(r#""((?:CONCLAUDE|CLAUDE|ANTHROPIC|XDG|OTEL|GITHUB|CODEX|COPILOT|DBUS)(?:_[A-Z_]+)?)""#)
            .unwrap();
    let page_text = environment_page();
    let mut folders = vec![root().join("src")];
    folders.extend(
        std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")),
    );
    let mut missing = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                let is_ours = !["tests", "packs", "programs", "analysis"].contains(&file.as_str());
                if is_ours {
                    folders.push(path);
                }
            } else if file.ends_with(".rs") && file != "tests.rs" {
                let source = std::fs::read_to_string(&path).unwrap();
                let source = source.split("#[cfg(test)]\nmod tests").next().unwrap();
                for found in name.captures_iter(source) {
                    let variable = &found[1];
                    let is_inner = variable.ends_with('_') || variable.starts_with("CONCLAUDE_TEST_");
                    if !is_inner && !page_text.contains(&format!("`{variable}`")) {
                        missing.insert(format!("{variable} in {}", path.display()));
                    }
                }
            }
        }
    }
    assert_eq!(missing, BTreeSet::new());
}

/// The fields of a struct, with their doc comments.
fn fields(source: &str, name: &str) -> Vec<(String, String)> {
    let start = source.find(&format!("pub struct {name} {{")).unwrap();
    let body = source[start..].split("\n}").next().unwrap();
    let (mut found, mut doc, mut renamed) = (Vec::new(), String::new(), None);
    for line in body.lines().skip(1).map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            doc = format!("{doc} {text}").trim().to_owned();
        } else if let Some(rest) = line.split("rename = \"").nth(1) {
            renamed = rest.split('"').next().map(str::to_owned);
        } else if let Some(field) = line.strip_prefix("pub ").and_then(|line| line.split(':').next()) {
            assert!(!doc.is_empty(), "{name}.{field} has no description");
            found.push((renamed.take().unwrap_or_else(|| field.to_owned()), std::mem::take(&mut doc)));
        }
    }
    found
}

const RECORD: &str = include_str!("../../crates/store/src/audit/record.rs");

#[test]
fn reference_of_a_record() {
    let mut page_text = String::from(
        "A line of `.conclaude/audit/*.jsonl` is one record. Absent fields do not apply. [The audit trail](../explanation/audit.md)\n\
         says what the trail can prove.\n\n| field | content |\n| --- | --- |\n",
    );
    for (name, meaning) in audit::ADDED {
        let _ = writeln!(page_text, "| `{name}` | {meaning} |");
    }
    for (name, meaning) in fields(RECORD, "Record") {
        let _ = writeln!(page_text, "| `{name}` | {} |", cell(&meaning));
    }
    for (title, name) in [
        ("An entry of `commands`", "CommandRecord"),
        ("`tool`", "ToolRecord"),
        ("An entry of `applied`", "AppliedRule"),
        ("An entry of `skipped`", "Skip"),
        ("`blocks`", "Blocks"),
    ] {
        let _ = write!(page_text, "\n## {title}\n\n| field | content |\n| --- | --- |\n");
        for (name, meaning) in fields(RECORD, name) {
            let _ = writeln!(page_text, "| `{name}` | {} |", cell(&meaning));
        }
    }
    page("record", "A record of the audit trail", &page_text);
}

#[test]
fn a_real_record_has_only_documented_fields() {
    let config = "subagentStop:\n  commands: [{run: 'exit 1', message: no, onFailure: block}]\n";
    let done = crate::common::Test::stop().config(config).run().status(2);
    let folder = done.root().join(".conclaude/audit");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let record: Map<String, Value> =
        serde_json::from_str(std::fs::read_to_string(file).unwrap().lines().next().unwrap()).unwrap();
    let mut known: BTreeSet<String> = audit::ADDED.iter().map(|(name, _)| (*name).to_owned()).collect();
    known.extend(fields(RECORD, "Record").into_iter().map(|(name, _)| name));
    let unknown: Vec<&String> = record.keys().filter(|name| !known.contains(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(record.contains_key("seq") && record.contains_key("hash"), "{record:?}");
}

/// The config's schema, and the definitions in it.
struct Schema {
    root: Value,
}

impl Schema {
    fn definition(&self, reference: &str) -> &Value {
        &self.root["definitions"][reference.trim_start_matches("#/definitions/")]
    }

    /// The name of a definition as a heading: the sections of events that cannot be blocked have the same keys.
    fn heading(reference: &str) -> String {
        reference.trim_start_matches("#/definitions/").trim_start_matches("WarnOnly").to_owned()
    }

    /// What may be written, in words.
    fn kind(&self, schema: &Value) -> String {
        if let Some(reference) = schema["$ref"].as_str() {
            let definition = self.definition(reference);
            if definition["properties"].is_object() {
                let heading = Schema::heading(reference);
                return format!("[{heading}](#{})", anchor(&heading));
            }
            return self.kind(definition);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema[key].as_array() {
                let mut kinds: Vec<String> = Vec::new();
                for choice in choices.iter().filter(|choice| choice["type"] != "null") {
                    let kind = self.kind(choice);
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
                return kinds.join(" or ");
            }
        }
        if let Some(value) = schema.get("const") {
            return format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        if let Some(values) = schema["enum"].as_array() {
            if values.len() > 10 {
                return "the name of an event, or `*`".into();
            }
            let values: Vec<String> =
                values.iter().filter_map(Value::as_str).map(|value| format!("`{value}`")).collect();
            return values.join(" or ");
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => {
                types.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
            }
            kind => kind.as_str().into_iter().collect(),
        };
        let kinds: Vec<String> = types.into_iter().map(|kind| self.plain_kind(kind, schema)).collect();
        if kinds.is_empty() { "anything".into() } else { kinds.join(" or ") }
    }

    fn plain_kind(&self, kind: &str, schema: &Value) -> String {
        match kind {
            "array" => format!("list of {}", self.kind(&schema["items"])),
            "object" if schema["additionalProperties"].is_object() => {
                format!("map of {}", self.kind(&schema["additionalProperties"]))
            }
            "object" => "map".into(),
            "integer" | "number" => match (&schema["minimum"], &schema["maximum"]) {
                (Value::Number(low), Value::Number(high)) => format!("number from {low} to {high}"),
                (Value::Number(low), _) => format!("number from {low}"),
                _ => "number".into(),
            },
            "string" => match schema["format"].as_str() {
                Some("glob") => "glob".into(),
                Some("gitignore") => "pattern of gitignore".into(),
                Some("regex") => "regular expression".into(),
                _ => "text".into(),
            },
            "boolean" => "`true` or `false`".into(),
            other => other.into(),
        }
    }

    /// The description without its default, and the default.
    fn described(schema: &Value) -> (String, Option<String>) {
        let text = text(schema, "description").replace('\n', " ");
        let default = Regex::new(r"\s*Default: (.*?)\.(?:\s|$)").unwrap();
        let found = default.captures(&text).map(|found| found[1].to_owned());
        let rest = default.replace(&text, " ");
        let given = schema.get("default").filter(|value| !value.is_null()).map(|value| format!("`{value}`"));
        (rest.trim().to_owned(), found.or(given))
    }

    /// A line for each key of a map.
    fn keys(&self, schema: &Value) -> String {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut lines = String::new();
        for (name, property) in schema["properties"].as_object().unwrap() {
            let (description, default) = Schema::described(property);
            let description = if description.is_empty() {
                let reference = property["anyOf"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .find_map(|choice| choice["$ref"].as_str());
                let reference = reference.or(property["$ref"].as_str());
                reference
                    .map(|reference| text(self.definition(reference), "description").replace('\n', " "))
                    .unwrap_or_default()
            } else {
                description
            };
            assert!(!description.is_empty(), "the key `{name}` has no description");
            let default = if required.contains(&name.as_str()) {
                "required".to_owned()
            } else {
                format!("default: {}", default.as_deref().unwrap_or("none"))
            };
            let _ = writeln!(lines, "- `{name}`: {}, {default}\n\n    {description}\n", self.kind(property));
        }
        lines
    }

    /// The definitions with keys that are used from here.
    fn used(&self, schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => {
                if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                    let heading = Schema::heading(reference);
                    let definition = self.definition(reference);
                    if !definition["properties"].is_object() {
                        self.used(definition, found);
                    } else if !found.contains(&heading) {
                        found.push(heading);
                        self.used(definition, found);
                    }
                }
                fields.values().for_each(|value| self.used(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| self.used(item, found)),
            _ => {}
        }
    }
}

/// The events at which a key counts.
fn events_of(name: &str, events: &[Value]) -> String {
    let named = |is: &dyn Fn(&Value) -> bool| {
        let names = events.iter().filter(|event| is(event)).map(|event| text(event, "event"));
        let links: Vec<String> = names.map(|name| format!("[{name}](events.md#{})", anchor(name))).collect();
        links.join(", ")
    };
    let own = named(&|event| text(event, "section") == name);
    if !own.is_empty() {
        return own;
    }
    match name {
        "maxBlocks" => {
            named(&|event| event["block"].as_str().is_some_and(|block| block.contains("maxBlocks")))
        }
        "des" => named(&|event| text(event, "registered").contains("gates")),
        "enforce" => named(&|event| {
            text(event, "registered").contains("enforce") || text(event, "section") == "preToolUse"
        }),
        "packs" => "[PreToolUse](events.md#pretooluse)".into(),
        "skillStart" => "[SubagentStart](events.md#subagentstart)".into(),
        "clients" | "report" => "none; subcommands read it".into(),
        _ => "every event".into(),
    }
}

#[test]
fn reference_of_the_config() {
    let schema = Schema { root: serde_json::from_str(&schema_text()).unwrap() };
    let events = json(&["events", "--json"]);
    let events = events["events"].as_array().unwrap();
    let mut page_text = String::from(
        "Every key of `.conclaude.yaml`. The file is looked for from the project's folder upward. Keys that start with `x-` are free,\n\
         for YAML anchors. `null` equals absent. `conclaude validate` names every mistake with its line, `conclaude schema` prints the JSON Schema.\n\n",
    );
    let properties = schema.root["properties"].as_object().unwrap();
    let mut shapes = Vec::new();
    for (name, property) in properties {
        let (description, default) = Schema::described(property);
        assert!(!description.is_empty(), "the key `{name}` has no description");
        let _ = write!(
            page_text,
            "\n## {name}\n\n{description}\n\n- Type: {}\n- Default: {}\n- Events: {}\n",
            schema.kind(property),
            default.as_deref().unwrap_or("none"),
            events_of(name, events)
        );
        schema.used(property, &mut shapes);
    }
    page_text.push_str("\n# Shapes\n\nWhat several keys have in common.\n");
    for shape in shapes {
        let definition = &schema.root["definitions"][&shape];
        let (description, _) = Schema::described(definition);
        let _ = write!(page_text, "\n## {shape}\n\n{description}\n\n");
        if shape == "PackSwitches" {
            page_text.push_str("Its keys are the names of packs and of their [rules](packs.md).\n");
        } else {
            page_text.push_str(&schema.keys(definition));
        }
    }
    page("config", "Configuration", &page_text.replace("\n# Shapes\n", "\n## Shapes\n"));
}
