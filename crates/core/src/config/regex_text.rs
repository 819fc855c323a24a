//! Regular expressions over prompts.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::bounded::NOT_BLANK;

/// A compiled expression takes no more memory than this.
const MAX_COMPILED: usize = 1 << 18;

/// A regular expression, as it is written. It is compiled only where a prompt is compared: other events have no use for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexText(String);

impl RegexText {
    /// How the schema names it.
    pub(super) const FORMAT: &str = "regex";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a prompt matches; an error where the expression is none.
    pub fn is_found_in(&self, prompt: &str, case_insensitive: bool) -> Result<bool, String> {
        Ok(RegexText::compile(&self.0, case_insensitive)?.is_match(prompt))
    }

    pub fn found_in<'a>(&self, prompt: &'a str, case_insensitive: bool) -> Result<Option<&'a str>, String> {
        let found = RegexText::compile(&self.0, case_insensitive)?.find(prompt);
        Ok(found.map(|found| found.as_str()))
    }

    pub(super) fn check(text: &str) -> Result<(), String> {
        RegexText::compile(text, false).map(drop)
    }

    fn compile(text: &str, case_insensitive: bool) -> Result<regex_lite::Regex, String> {
        let mut builder = regex_lite::RegexBuilder::new(text);
        let built = builder.case_insensitive(case_insensitive).size_limit(MAX_COMPILED).build();
        built.map_err(|error| error.to_string())
    }
}

impl<'de> Deserialize<'de> for RegexText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() {
            return Err(de::Error::custom("expected text that is not blank"));
        }
        Ok(RegexText(text))
    }
}

impl JsonSchema for RegexText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Regex".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": NOT_BLANK, "format": RegexText::FORMAT })
    }
}
