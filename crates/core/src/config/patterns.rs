//! Patterns that are checked when they are read: a broken one cannot exist.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::bounded::NOT_BLANK;
use crate::file_pattern::FilePattern;
use crate::pattern::alternatives_of;
use shell_effects::glob::{Glob, GlobError, Kind};

/// A glob over names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameGlob(Glob);

/// A glob over commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandGlob(Glob);

/// A pattern of files by gitignore's rules; `!` in front of it frees what it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGlob {
    written: String,
    /// As if there were no home directory.
    pattern: FilePattern,
}

impl NameGlob {
    /// How the schema names it.
    pub(super) const FORMAT: &str = "glob";

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn glob(&self) -> &Glob {
        &self.0
    }

    /// Alternatives that are separated as in Claude Code's own matchers would match nothing.
    fn new(text: &str) -> Result<NameGlob, String> {
        match alternatives_of(text) {
            Some(spelling) => Err(format!("alternatives are written `{spelling}`")),
            None => Glob::new(text, Kind::Name).map(NameGlob).map_err(|error| error.to_string()),
        }
    }

    pub(super) fn check(text: &str) -> Result<(), String> {
        NameGlob::new(text).map(drop)
    }

    pub fn matches(&self, name: &str) -> bool {
        self.0.matches_long(name)
    }
}

impl CommandGlob {
    /// How the schema names it.
    pub(super) const FORMAT: &str = "command-glob";

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn glob(&self) -> &Glob {
        &self.0
    }

    pub(super) fn check(text: &str) -> Result<(), GlobError> {
        Glob::check(text, Kind::Name)
    }
}

impl FileGlob {
    /// How the schema names it.
    pub(super) const FORMAT: &str = "gitignore";

    fn new(written: &str) -> Result<FileGlob, GlobError> {
        let pattern = FilePattern::new(without_mark(written), None)?;
        Ok(FileGlob { written: written.to_owned(), pattern })
    }

    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it frees what it covers.
    pub fn allows(&self) -> bool {
        self.written.starts_with('!')
    }

    /// What it covers, either way.
    ///
    /// # Errors
    /// Where the path of the home directory is longer than a pattern may be.
    pub fn pattern(&self, home: Option<&str>) -> Result<FilePattern, GlobError> {
        if self.written.contains('~') {
            return FilePattern::new(without_mark(&self.written), home);
        }
        Ok(self.pattern.clone())
    }

    pub(super) fn check(text: &str) -> Result<(), GlobError> {
        FileGlob::new(text).map(drop)
    }
}

fn without_mark(written: &str) -> &str {
    written.strip_prefix('!').unwrap_or(written)
}

/// Makes a pattern of a text, which is only borrowed: there are many of them.
pub(super) struct Parse<F>(pub(super) F);

impl<T, P: fmt::Display, F: Fn(&str) -> Result<T, P>> de::Visitor<'_> for Parse<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        if text.chars().all(char::is_whitespace) {
            return Err(de::Error::custom("expected text that is not blank"));
        }
        (self.0)(text).map_err(|error| de::Error::custom(format!("invalid pattern `{text}`: {error}")))
    }
}

impl<'de> Deserialize<'de> for NameGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parse(NameGlob::new))
    }
}

impl<'de> Deserialize<'de> for CommandGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parse(|text: &str| Glob::new(text, Kind::Name).map(CommandGlob)))
    }
}

impl<'de> Deserialize<'de> for FileGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parse(FileGlob::new))
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

impl JsonSchema for CommandGlob {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CommandGlob".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema(CommandGlob::FORMAT)
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

/// Options of a command, such as `-f` and `--force`. They are shared: there are many rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionNames(Arc<[String]>);

impl OptionNames {
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// One of them.
pub(super) struct OptionName(String);

impl OptionName {
    /// How the schema names it.
    pub(super) const FORMAT: &str = "option";

    pub(super) fn is_valid(text: &str) -> bool {
        let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or_default();
        !name.is_empty() && !name.starts_with('-') && !name.contains(|c: char| c.is_whitespace() || c == '=')
    }
}

impl<'de> Deserialize<'de> for OptionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if OptionName::is_valid(&text) {
            return Ok(OptionName(text));
        }
        Err(de::Error::custom(format!("{text:?} is no option: expected one such as `-f` or `--force`")))
    }
}

impl<'de> Deserialize<'de> for OptionNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<OptionName>::deserialize(deserializer)?;
        Ok(OptionNames(names.into_iter().map(|name| name.0).collect()))
    }
}

impl JsonSchema for OptionName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OptionName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^--?[^-\s=][^\s=]*$", "format": OptionName::FORMAT })
    }
}

impl JsonSchema for OptionNames {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OptionNames".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<OptionName>::json_schema(generator)
    }
}
