//! Values as people and other programs write them.

use serde_json::Value;

pub(super) fn lenient_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A flag that warns of danger is set unless it clearly is not.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !matches!(text.trim().to_ascii_lowercase().as_str(), "" | "false" | "no"),
        _ => true,
    }
}

pub(super) fn lenient_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
