//! The fields of a record that was read as JSON. Others may have written it: what is missing or of another type is absent.

use serde_json::Value;

pub fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

pub fn text_or_empty<'a>(value: &'a Value, name: &str) -> &'a str {
    text(value, name).unwrap_or_default()
}

pub fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + Clone + use<'a> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
