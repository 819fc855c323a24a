//! `docs/reference`, from what the program says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use regex_lite::Regex;
use serde_json::{Map, Value};

use conclaude_core::exit::Exit;
use conclaude_core::finding::Code;
use conclaude_core::plan::environment::{self, PREFIX};
use conclaude_core::variables;
use conclaude_store::audit;

use crate::common::{conclaude, scratch};
use crate::pages::{compare, root};

mod config_keys;

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
