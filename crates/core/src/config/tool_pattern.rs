//! A pattern in Claude Code's notation, as it was written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::bounded::NOT_BLANK;
use super::patterns::Parse;
use crate::dialect::claude::notation::ToolPattern;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPatternText {
    pub written: Box<str>,
    pub pattern: ToolPattern,
}

impl ToolPatternText {
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// How the schema names it.
    pub(super) const FORMAT: &str = "tool-pattern";
}

impl<'de> Deserialize<'de> for ToolPatternText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parse(|text: &str| {
            let pattern = ToolPattern::parse(text).map_err(|error| error.to_string());
            pattern.map(|pattern| ToolPatternText { written: text.into(), pattern })
        }))
    }
}

impl JsonSchema for ToolPatternText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ToolPattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": NOT_BLANK, "format": ToolPatternText::FORMAT })
    }
}
