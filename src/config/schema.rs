//! The JSON Schema of the config, for editors and for our own messages. It is made from the structs by a test and kept as a
//! file: what makes it has no place in the binary.

use serde_json::Value;

/// The schema as a value.
pub(super) fn schema() -> Value {
    // A test reads it too.
    serde_json::from_str(&schema_text()).unwrap_or_default()
}

/// The schema as text, as `conclaude schema` prints it.
#[must_use]
pub fn schema_text() -> String {
    include_str!("../../conclaude.schema.json").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConclaudeConfig;

    #[test]
    fn the_schema_is_that_of_the_structs() {
        let made = schemars::generate::SchemaSettings::draft07()
            .into_generator()
            .into_root_schema_for::<ConclaudeConfig>();
        let text = serde_json::to_string_pretty(&made.to_value()).unwrap() + "\n";
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
