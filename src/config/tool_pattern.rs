//! A pattern in Claude Code's notation, as it was written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::bounded::NOT_BLANK;
use crate::dialect::claude::notation::ToolPattern;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolPatternText {
    pub(crate) written: String,
    pub(crate) pattern: ToolPattern,
}

impl ToolPatternText {
    /// How the schema names it.
    pub(super) const FORMAT: &str = "tool-pattern";
}

impl<'de> Deserialize<'de> for ToolPatternText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = String::deserialize(deserializer)?;
        if written.trim().is_empty() {
            return Err(de::Error::custom("expected text that is not blank"));
        }
        let invalid = |error| de::Error::custom(format!("invalid pattern `{written}`: {error}"));
        let pattern = ToolPattern::parse(&written).map_err(invalid)?;
        Ok(ToolPatternText { written, pattern })
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
