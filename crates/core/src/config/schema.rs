//! The JSON Schema of the config, for editors and for our own messages. A test generates it from the structs, and the file is
//! committed. So the generator is not part of the binary.

use std::sync::LazyLock;

use serde_json::Value;

pub(super) fn schema() -> &'static Value {
    // A test checks that it is valid JSON.
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(COMPACT).unwrap_or_default());
    &SCHEMA
}

/// What `conclaude schema` prints.
#[must_use]
pub fn schema_text() -> String {
    indented(COMPACT)
}

const COMPACT: &str = include_str!(concat!(env!("OUT_DIR"), "/conclaude.schema.json"));

/// A schema as it is in its file.
pub(super) fn indented(compact: &str) -> String {
    let value: Value = serde_json::from_str(compact).unwrap_or_default();
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
}

#[cfg(test)]
/// `null` equals absent. As a default, it would be invalid for its own type.
pub(super) fn without_null_defaults(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "default" || !value.is_null());
            fields.values_mut().for_each(without_null_defaults);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null_defaults),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::original::{KEYS, KeyPlace, Replacement};
    use crate::config::parse::may_be_list;
    use crate::config::{ConclaudeConfig, EventConfig};
    use crate::event::{Blocking, EventKind};

    /// The schema of the structs, with a section for every event. If an event cannot be blocked, its section does not accept
    /// `block`.
    fn generate() -> Value {
        let mut generator = schemars::generate::SchemaSettings::draft07().into_generator();
        generator.subschema_for::<Option<EventConfig>>();
        let mut root = generator.into_root_schema_for::<ConclaudeConfig>().to_value();
        let definitions = root["definitions"].as_object_mut().unwrap();
        for name in ["EventConfig", "Commands", "CommandConfig"] {
            let text = definitions[name]
                .to_string()
                .replace("#/definitions/Commands", "#/definitions/WarnOnlyCommands");
            let text = text.replace("#/definitions/CommandConfig", "#/definitions/WarnOnlyCommandConfig");
            let text = text.replace("#/definitions/Reaction", "#/definitions/WarnOnlyReaction");
            definitions.insert(format!("WarnOnly{name}"), serde_json::from_str(&text).unwrap());
        }
        let mut reaction = definitions["Reaction"].clone();
        reaction["oneOf"].as_array_mut().unwrap().retain(|choice| choice["const"] == "warn");
        definitions.insert("WarnOnlyReaction".into(), reaction);
        definitions["MessageDisplayConfig"]["properties"]["commands"] =
            definitions["WarnOnlyEventConfig"]["properties"]["commands"].clone();
        definitions.insert("WorktreeCreateConfig".into(), definitions["EventConfig"].clone());
        let properties = root["properties"].as_object_mut().unwrap();
        let mut own = std::mem::take(properties);
        // In the order of the reference: what it extends, the limit, the events, the rest.
        for key in ["extends", "maxBlocks"] {
            properties.insert(key.into(), own.shift_remove(key).unwrap());
        }
        for event in crate::event::ALL.iter().copied() {
            let section = own.shift_remove(event.row().section);
            properties.insert(event.row().section.into(), section.unwrap_or_else(|| section_of(event)));
        }
        properties.extend(own);
        with_plain_lists(properties);
        for action in ["ToolAction", "FileAction", "RuleAction"] {
            let words = root["definitions"][action]["oneOf"].as_array_mut().unwrap();
            words.push(json!({ "const": "deny", "description": "The same as `block`." }));
        }
        with_keys_of_the_original(&mut root);
        without_null_defaults(&mut root);
        with_free_keys(&mut root);
        root
    }

    /// The section of an event may be its list of commands.
    fn with_plain_lists(properties: &mut serde_json::Map<String, Value>) {
        for event in crate::event::ALL.iter().copied().filter(|event| may_be_list(*event)) {
            let definition = match event.blocking() {
                Blocking::Never => "WarnOnlyCommandConfig",
                _ => "CommandConfig",
            };
            let items = json!({ "$ref": format!("#/definitions/{definition}") });
            let list = json!({ "type": "array", "items": items, "maxItems": 100 });
            let section = properties[event.row().section]["anyOf"].as_array_mut().unwrap();
            section.insert(1, list);
        }
    }

    /// The section of an event without further keys.
    fn section_of(event: EventKind) -> Value {
        let can_block = event.blocking() != Blocking::Never;
        let definition = match event {
            EventKind::WorktreeCreate => "WorktreeCreateConfig",
            _ if can_block => "EventConfig",
            _ => "WarnOnlyEventConfig",
        };
        let effect = if can_block { "They may block it." } else { "They cannot block it." };
        json!({
            "anyOf": [{ "$ref": format!("#/definitions/{definition}") }, { "type": "null" }],
            "description": format!("Commands that run at {event}. {effect}"),
        })
    }

    /// Keys of the original that are converted, so that an editor does not underline accepted keys.
    fn with_keys_of_the_original(root: &mut Value) {
        let text = json!({ "type": ["string", "null"] });
        let timeout = root["definitions"]["CommandConfig"]["properties"]["timeout"].clone();
        for (place, key, replacement) in KEYS {
            let (in_definitions, what): (&[&str], String) = match (place, replacement) {
                // Only if the list of commands is for all tools.
                (_, Replacement::Instead(_)) | (KeyPlace::Command, Replacement::Rewritten(_)) => continue,
                (KeyPlace::Top, Replacement::Named(new)) => (&[], format!("`{new}`")),
                (KeyPlace::Section("preToolUse"), Replacement::Rewritten(what)) => {
                    (&["PreToolUseConfig"], (*what).to_owned())
                }
                (KeyPlace::Section(_), Replacement::Rewritten(what)) => {
                    (&["WorktreeCreateConfig"], (*what).to_owned())
                }
                (KeyPlace::Command, Replacement::Named(new)) => {
                    (&["CommandConfig", "WarnOnlyCommandConfig"], format!("`{new}`"))
                }
                (KeyPlace::Rule, Replacement::Named(new)) => {
                    (&["FileRuleFields", "ToolRuleConfig"], format!("`{new}`"))
                }
                other => panic!("no schema for {other:?}"),
            };
            let add = |properties: &mut Value| {
                let mut schema = match replacement {
                    Replacement::Named(new) => properties[*new].clone(),
                    _ if *key == "timeout" => timeout.clone(),
                    _ => text.clone(),
                };
                schema["description"] = format!("Of conclaude 0.2: write {what}.").into();
                schema["deprecated"] = true.into();
                properties[*key] = schema;
            };
            if in_definitions.is_empty() {
                add(&mut root["properties"]);
            }
            for name in in_definitions {
                add(&mut root["definitions"][*name]["properties"]);
            }
        }
    }

    /// Keys for anchors are accepted wherever keys are not names.
    fn with_free_keys(schema: &mut Value) {
        match schema {
            Value::Object(fields) => {
                fields.values_mut().for_each(with_free_keys);
                if fields.get("additionalProperties") == Some(&Value::Bool(false)) {
                    fields.insert("patternProperties".into(), json!({ "^x-": true }));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(with_free_keys),
            _ => {}
        }
    }

    #[test]
    fn the_schema_is_that_of_the_structs_and_of_the_table() {
        let text = serde_json::to_string_pretty(&generate()).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write("conclaude.schema.json", &text).unwrap();
        }
        assert!(
            text == schema_text(),
            "the structs have changed: UPDATE_SCHEMA=1 cargo test -p conclaude-core schema, and build again"
        );
        assert!(schema().is_object());
    }
}
