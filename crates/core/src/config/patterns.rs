//! Patterns that are checked when they are read: a broken one cannot exist.

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use super::shapes::ReadFrom;
use super::values::{InvalidValue, NOT_BLANK, TextRef, is_blank};
use crate::dialect::claude::notation::ToolPattern;
use crate::dialect::claude::tools::SHELL;
use crate::file_pattern::FilePattern;
use crate::pattern::alternatives_of;
use shell_effects::glob::{Glob, GlobError, GlobKind};

/// Why a text is not a glob over names.
#[derive(Debug, Error)]
pub(super) enum NameGlobError {
    /// Alternatives with the separator of Claude Code's own matchers would match nothing.
    #[error("alternatives are written `{0}`")]
    Alternatives(String),
    #[error("{0}")]
    Glob(GlobError),
}

/// Makes a pattern from a text that is not blank.
fn parse<T, E: ToString>(text: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, InvalidValue> {
    if is_blank(text) {
        return Err(InvalidValue::Blank);
    }
    parse(text).map_err(|error| InvalidValue::Pattern { text: text.to_owned(), reason: error.to_string() })
}

/// A glob over names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "TextRef<'de>")]
#[schemars(with = "String", inline, description = "", extend("pattern" = NOT_BLANK, "format" = NameGlob::FORMAT))]
pub struct NameGlob(Glob);

impl NameGlob {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "glob";

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn glob(&self) -> &Glob {
        &self.0
    }

    fn new(text: &str) -> Result<NameGlob, NameGlobError> {
        match alternatives_of(text) {
            Some(spelling) => Err(NameGlobError::Alternatives(spelling)),
            None => Glob::new(text, GlobKind::Name).map(NameGlob).map_err(NameGlobError::Glob),
        }
    }

    pub(super) fn check(text: &str) -> Result<(), NameGlobError> {
        NameGlob::new(text).map(drop)
    }

    pub fn matches(&self, name: &str) -> bool {
        self.0.matches_long(name)
    }
}

impl TryFrom<TextRef<'_>> for NameGlob {
    type Error = InvalidValue;

    fn try_from(text: TextRef<'_>) -> Result<Self, InvalidValue> {
        parse(&text, NameGlob::new)
    }
}

/// A glob over commands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "TextRef<'de>")]
#[schemars(with = "String", inline, description = "", extend("pattern" = NOT_BLANK, "format" = CommandGlob::FORMAT))]
pub struct CommandGlob(Glob);

impl CommandGlob {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "command-glob";

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn glob(&self) -> &Glob {
        &self.0
    }

    pub(super) fn check(text: &str) -> Result<(), GlobError> {
        Glob::check(text, GlobKind::Name)
    }
}

impl TryFrom<TextRef<'_>> for CommandGlob {
    type Error = InvalidValue;

    fn try_from(text: TextRef<'_>) -> Result<Self, InvalidValue> {
        parse(&text, |text| Glob::new(text, GlobKind::Name).map(CommandGlob))
    }
}

/// A gitignore pattern. A leading `!` makes it an exception.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "TextRef<'de>")]
#[schemars(with = "String", inline, description = "", extend("pattern" = NOT_BLANK, "format" = FileGlob::FORMAT))]
pub struct FileGlob {
    written: String,
    /// Without a home directory.
    pattern: FilePattern,
}

impl FileGlob {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "gitignore";

    fn new(written: &str) -> Result<FileGlob, GlobError> {
        let pattern = FilePattern::new(without_mark(written), None)?;
        Ok(FileGlob { written: written.to_owned(), pattern })
    }

    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it is an exception.
    pub fn allows(&self) -> bool {
        self.written.starts_with('!')
    }

    /// The files that it covers, as a rule or as an exception.
    ///
    /// # Errors
    /// If the path of the home directory is longer than a pattern may be.
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

impl TryFrom<TextRef<'_>> for FileGlob {
    type Error = InvalidValue;

    fn try_from(text: TextRef<'_>) -> Result<Self, InvalidValue> {
        parse(&text, FileGlob::new)
    }
}

impl ReadFrom for FileGlob {}

/// A pattern of files, or a blank text for none.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "TextRef<'de>")]
#[schemars(with = "String", inline, description = "", extend("format" = FileGlob::FORMAT))]
pub(super) struct OptionalFileGlob(Option<FileGlob>);

/// For `deserialize_with`.
pub(super) fn blank_is_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<FileGlob>, D::Error> {
    let pattern = Option::<OptionalFileGlob>::deserialize(deserializer)?;
    Ok(pattern.and_then(|pattern| pattern.0))
}

impl TryFrom<TextRef<'_>> for OptionalFileGlob {
    type Error = InvalidValue;

    fn try_from(text: TextRef<'_>) -> Result<Self, InvalidValue> {
        if is_blank(&text) {
            return Ok(OptionalFileGlob(None));
        }
        FileGlob::try_from(text).map(|glob| OptionalFileGlob(Some(glob)))
    }
}

/// A pattern in Claude Code's notation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "TextRef<'de>")]
#[schemars(with = "String", inline, description = "", extend("pattern" = NOT_BLANK, "format" = ToolPatternText::FORMAT))]
pub struct ToolPatternText {
    pub written: Arc<str>,
    pub pattern: ToolPattern,
}

/// The pattern of nearly all rules: hundreds of them share it.
static OF_SHELL: LazyLock<Result<ToolPatternText, InvalidValue>> =
    LazyLock::new(|| ToolPatternText::new(SHELL));

impl ToolPatternText {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "tool-pattern";

    pub fn as_str(&self) -> &str {
        &self.written
    }

    fn new(text: &str) -> Result<ToolPatternText, InvalidValue> {
        parse(text, |text| {
            ToolPattern::parse(text).map(|pattern| ToolPatternText { written: text.into(), pattern })
        })
    }
}

impl TryFrom<TextRef<'_>> for ToolPatternText {
    type Error = InvalidValue;

    fn try_from(text: TextRef<'_>) -> Result<Self, InvalidValue> {
        if &*text == SHELL { OF_SHELL.clone() } else { ToolPatternText::new(&text) }
    }
}

impl ReadFrom for ToolPatternText {}

/// One option of a command.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "TextRef<'de>", bound(deserialize = "'de: 't"))]
#[schemars(with = "String", inline, description = "", extend("pattern" = r"^--?[^-\s=][^\s=]*$", "format" = OptionName::FORMAT))]
pub(super) struct OptionName<'t>(TextRef<'t>);

impl OptionName<'_> {
    /// Its name in the schema.
    pub(super) const FORMAT: &'static str = "option";

    pub(super) fn is_valid(text: &str) -> bool {
        let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or_default();
        !name.is_empty() && !name.starts_with('-') && !name.contains(|c: char| c.is_whitespace() || c == '=')
    }
}

impl<'de: 't, 't> TryFrom<TextRef<'de>> for OptionName<'t> {
    type Error = InvalidValue;

    fn try_from(text: TextRef<'de>) -> Result<Self, InvalidValue> {
        if OptionName::is_valid(&text) {
            Ok(OptionName(text))
        } else {
            Err(InvalidValue::Option(text.0.into_owned()))
        }
    }
}

/// Options of a command, such as `-f` and `--force`. They are one text with spaces between, because there are many rules.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "Vec<OptionName<'de>>")]
#[schemars(with = "Vec<OptionName>", inline, description = "")]
pub struct OptionNames(Arc<str>);

impl OptionNames {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn to_vec(&self) -> Vec<String> {
        self.0.split_whitespace().map(str::to_owned).collect()
    }

    /// For messages.
    pub fn listed(&self) -> String {
        self.0.replace(' ', ",")
    }
}

impl From<Vec<OptionName<'_>>> for OptionNames {
    fn from(names: Vec<OptionName<'_>>) -> Self {
        let mut all = String::with_capacity(names.iter().map(|name| name.0.len() + 1).sum());
        for name in &names {
            if !all.is_empty() {
                all.push(' ');
            }
            all.push_str(&name.0);
        }
        OptionNames(all.into())
    }
}
