//! The reference of the config, from its schema.

use std::fmt::Write as _;

use regex_lite::Regex;
use serde_json::Value;

use conclaude_core::config::schema_text;

use super::{anchor, json, page, text};

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
