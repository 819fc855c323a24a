//! The JSON Schema of the config, made from the structs, for editors and for our own messages.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::ConclaudeConfig;

/// The schema as a value.
pub(super) fn schema() -> Value {
    let schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<ConclaudeConfig>();
    schema.to_value()
}

/// The schema as text, as `conclaude schema` prints it.
#[must_use]
pub fn schema_text() -> String {
    let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
    text.push('\n');
    text
}
