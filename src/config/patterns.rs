//! Patterns that are checked when they are read: a broken one cannot exist.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::bounded::NOT_BLANK;
use crate::file_pattern::FilePattern;
use crate::glob::{Glob, GlobError, Kind};

/// A glob over names or commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameGlob(String);

/// A pattern of files by gitignore's rules; `!` in front of it frees what it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGlob(String);

impl NameGlob {
    /// How the schema names it.
    pub(super) const FORMAT: &str = "glob";

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn check(text: &str) -> Result<(), GlobError> {
        Glob::new(text, Kind::Name).map(drop)
    }

    /// Whether it matches the name; one that is too long to be compared is no match.
    pub(crate) fn matches(&self, name: &str) -> bool {
        Glob::new(&self.0, Kind::Name).is_ok_and(|glob| glob.matches(name).unwrap_or(false))
    }
}

impl FileGlob {
    /// How the schema names it.
    pub(super) const FORMAT: &str = "gitignore";

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn check(text: &str) -> Result<(), GlobError> {
        FilePattern::new(text.strip_prefix('!').unwrap_or(text), None).map(drop)
    }
}

fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    check: impl Fn(&str) -> Result<(), GlobError>,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(de::Error::custom("expected text that is not blank"));
    }
    check(&text).map_err(|error| de::Error::custom(format!("invalid pattern `{text}`: {error}")))?;
    Ok(text)
}

impl<'de> Deserialize<'de> for NameGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, NameGlob::check).map(NameGlob)
    }
}

impl<'de> Deserialize<'de> for FileGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, FileGlob::check).map(FileGlob)
    }
}

/// A pattern of files, where a blank one is none. For `deserialize_with`.
pub(super) fn blank_is_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<FileGlob>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    if text.trim().is_empty() {
        return Ok(None);
    }
    FileGlob::deserialize(de::value::StringDeserializer::new(text)).map(Some)
}

/// What such a field accepts.
pub(super) struct FileGlobOrBlank;

impl JsonSchema for FileGlobOrBlank {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FileGlobOrBlank".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": FileGlob::FORMAT })
    }
}

fn schema(format: &str) -> Schema {
    json_schema!({ "type": "string", "pattern": NOT_BLANK, "format": format })
}

impl JsonSchema for NameGlob {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NameGlob".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema(NameGlob::FORMAT)
    }
}

impl JsonSchema for FileGlob {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FileGlob".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema(FileGlob::FORMAT)
    }
}
