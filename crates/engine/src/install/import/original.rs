//! A config of the original conclaude, 0.2.9.

use serde_json::{Map, Value, json};

use super::{ImportResult, fits};
use conclaude_core::config::original::{KeyPlace, instead};
use conclaude_core::event::EventKind;
use conclaude_core::yaml;

/// Splits a config of the original into its valid and its invalid parts. `None` if it is not a mapping.
pub fn original(text: &str) -> Option<ImportResult> {
    let Value::Object(config) = yaml::read_value(text)? else { return None };
    let mut imported = ImportResult::default();
    for (section, value) in &config {
        match value {
            Value::Object(map) => of_section(section, map, &mut imported),
            value if says_nothing(value) => {}
            value if fits(&json!({ section.as_str(): value })) => {
                imported.config.insert(section.clone(), value.clone());
            }
            _ => imported.left.push(not_imported(section, KeyPlace::Top, section)),
        }
    }
    Some(imported)
}

fn of_section(section: &str, map: &Map<String, Value>, imported: &mut ImportResult) {
    for (key, value) in map.iter().filter(|(_, value)| !says_nothing(value)) {
        let is_event = EventKind::of_section(section).is_some();
        if fits(&json!({ section: { key.as_str(): value } })) {
            imported.add(section, key, value.clone());
        } else if key == "commands" && is_event {
            commands(section, value, imported);
        } else if key == "hooks"
            && let Some(names) = value.as_array()
        {
            some_of(section, key, names, imported);
        } else {
            imported.left.push(not_imported(&format!("{section}.{key}"), KeyPlace::Section(section), key));
        }
    }
}

/// The valid entries of a list.
fn some_of(section: &str, key: &str, entries: &[Value], imported: &mut ImportResult) {
    let (good, bad): (Vec<&Value>, Vec<&Value>) =
        entries.iter().partition(|entry| fits(&json!({ section: { key: [entry] } })));
    imported.left.extend(bad.iter().map(|entry| format!("`{section}.{key}`: {entry} is not known here")));
    if !good.is_empty() {
        imported.add(section, key, json!(good));
    }
}

/// Commands by pattern, or a plain list, each without unknown keys.
fn commands(section: &str, value: &Value, imported: &mut ImportResult) {
    let all = json!({ "*": value });
    let patterns = if value.is_array() { all.as_object() } else { value.as_object() };
    let mut is_left = patterns.is_none();
    for (pattern, list) in patterns.into_iter().flatten() {
        for command in list.as_array().into_iter().flatten() {
            let fitting =
                |command: &Value| fits(&json!({ section: { "commands": { pattern.as_str(): [command] } } }));
            let Some(run) = command.get("run").filter(|run| fitting(&json!({ "run": run }))) else {
                is_left = true;
                continue;
            };
            let keys = command.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
            let (good, bad): (Vec<_>, Vec<_>) =
                keys.partition(|(key, value)| fitting(&json!({ "run": run, key.as_str(): value })));
            for (key, _) in bad {
                imported.left.push(not_imported(
                    &format!("{key}` of {run} in `{section}"),
                    KeyPlace::Command,
                    key,
                ));
            }
            let command = good.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            imported.add_command(section, pattern, command);
        }
    }
    if is_left {
        imported.left.push(not_imported(
            &format!("{section}.commands"),
            KeyPlace::Section(section),
            "commands",
        ));
    }
}

/// Whether a value has no effect: an empty list, `false`, null.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// The message about a part that was not imported.
fn not_imported(name: &str, at: KeyPlace<'_>, key: &str) -> String {
    let of_section = match at {
        KeyPlace::Section(section) => instead(KeyPlace::Top, section),
        _ => None,
    };
    let why = instead(at, key).or(of_section).unwrap_or_else(|| "not supported here".into());
    format!("`{name}`: {why}")
}
