//! Regular expressions over prompts.

mod literals;

use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

use super::values::NonBlank;

/// The memory limit of a compiled expression.
const MAX_COMPILED: usize = 1 << 18;

/// Why a regular expression cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct RegexError(String);

/// A regular expression over prompts, as it is written. It is compiled only when a prompt is compared: other events do not need
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "NonBlank")]
#[schemars(with = "NonBlank", inline, description = "", extend("format" = RegexText::FORMAT))]
pub struct RegexText(NonBlank);

impl RegexText {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "regex";

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether a prompt matches.
    pub fn is_found_in(&self, prompt: &str, case_insensitive: bool) -> Result<bool, RegexError> {
        Ok(self.found_in(prompt, case_insensitive)?.is_some())
    }

    /// The first part of a prompt that matches.
    ///
    /// The config was checked when it was read. An expression that cannot match here is not compiled again.
    pub fn found_in<'a>(
        &self,
        prompt: &'a str,
        case_insensitive: bool,
    ) -> Result<Option<&'a str>, RegexError> {
        if !literals::may_match(self.as_str(), prompt) {
            return Ok(None);
        }
        let found = RegexText::compile(self.as_str(), case_insensitive)?.find(prompt);
        Ok(found.map(|found| found.as_str()))
    }

    pub(super) fn check(text: &str) -> Result<(), RegexError> {
        RegexText::compile(text, false).map(drop)
    }

    fn compile(text: &str, case_insensitive: bool) -> Result<regex_lite::Regex, RegexError> {
        let mut builder = regex_lite::RegexBuilder::new(text);
        let built = builder.case_insensitive(case_insensitive).size_limit(MAX_COMPILED).build();
        built.map_err(|error| RegexError(error.to_string()))
    }
}

impl From<NonBlank> for RegexText {
    fn from(text: NonBlank) -> Self {
        RegexText(text)
    }
}
