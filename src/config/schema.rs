//! The JSON Schema of the config, for editors and for our own messages. A test generates it from the structs and the file is
//! committed, so that the generator is not part of the binary.

use serde_json::Value;

pub(super) fn schema() -> Value {
    // A test checks that it is valid JSON.
    serde_json::from_str(&schema_text()).unwrap_or_default()
}

/// What `conclaude schema` prints.
#[must_use]
pub(crate) fn schema_text() -> String {
    include_str!("../../conclaude.schema.json").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::{ConclaudeConfig, EventConfig, PreToolUseConfig, StopConfig};
    use crate::dialect::claude::abilities::{self, Blocking};
    use crate::event::EventKind;

    /// The schema of the structs, with a section for every event that has commands. Where an event cannot be blocked, its
    /// section does not accept `block`.
    fn generate() -> Value {
        let mut generator = schemars::generate::SchemaSettings::draft07().into_generator();
        generator.subschema_for::<Option<EventConfig>>();
        generator.subschema_for::<Option<PreToolUseConfig>>();
        generator.subschema_for::<Option<StopConfig>>();
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
        let sections = crate::event::ALL.iter().map(|&event| {
            let can_block = abilities::blocking(event) != Blocking::Never;
            let definition = match event {
                EventKind::PreToolUse => "PreToolUseConfig",
                EventKind::Stop => "StopConfig",
                _ if can_block => "EventConfig",
                _ => "WarnOnlyEventConfig",
            };
            let effect = if can_block { "They may block it." } else { "They cannot block it." };
            let section = json!({
                "anyOf": [{ "$ref": format!("#/definitions/{definition}") }, { "type": "null" }],
                "description": format!("Commands that run at {event}. {effect}"),
            });
            (event.row().section.to_owned(), section)
        });
        let properties = root["properties"].as_object_mut().unwrap();
        // In the order of the reference: what it extends, the limit, the events, the rest.
        let (limit, rest): (Vec<_>, Vec<_>) = std::mem::take(properties)
            .into_iter()
            .partition(|(key, _)| ["extends", "maxBlocks"].contains(&key.as_str()));
        properties.extend(limit.into_iter().chain(sections).chain(rest));
        without_null_defaults(&mut root);
        root
    }

    /// `null` equals absent; as a default it would be one that its own type refuses.
    fn without_null_defaults(schema: &mut Value) {
        match schema {
            Value::Object(fields) => {
                fields.retain(|name, value| name != "default" || !value.is_null());
                fields.values_mut().for_each(without_null_defaults);
            }
            Value::Array(items) => items.iter_mut().for_each(without_null_defaults),
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
            "the structs have changed: UPDATE_SCHEMA=1 cargo test schema, and build again"
        );
        assert!(schema().is_object());
    }
}
