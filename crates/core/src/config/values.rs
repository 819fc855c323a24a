//! Plain values that are checked when they are read: an invalid one cannot exist.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::path::{Component, Path};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::shapes::{Either, ReadFrom, ValueKind};
use crate::dialect::UnknownClient;

/// Why a value is not accepted.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum InvalidValue {
    #[error("expected text that is not blank")]
    Blank,
    #[error("a name is longer than {} characters", Name::MAX_CHARS)]
    LongName,
    #[error("{number} is out of range: expected a whole number from {min} to {max}")]
    Number { number: u32, min: u32, max: u32 },
    #[error("{number} is out of range: expected a number from 0 to {max}")]
    Price { number: f64, max: f64 },
    #[error("expected a number above 0, or one with `k` or `M` such as `500k`")]
    Amount,
    #[error("expected 1 to 100 percent, such as `80%`")]
    Percent,
    #[error("expected {min} to {max} seconds, or a text such as `90s`, `5m` or `1h`")]
    Seconds { min: u32, max: u32 },
    #[error("{0:?} is not below the folder of the config: expected a relative path without `..`")]
    Folder(String),
    #[error("invalid pattern `{text}`: {reason}")]
    Pattern { text: String, reason: String },
    #[error("{0:?} is not an option: expected one such as `-f` or `--force`")]
    Option(String),
    #[error("{0:?} is not the name of a variable: expected letters, digits and `_`")]
    Variable(String),
    #[error("a value of the environment cannot contain a NUL character")]
    Nul,
    #[error("{0:?} is not the name of a header or attribute")]
    Header(String),
    #[error("`{0}` is not a hook event")]
    Event(String),
    #[error("{0}")]
    Client(UnknownClient),
    #[error("duplicate phase `{0}`")]
    DuplicatePhase(String),
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct Bounded<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> TryFrom<u32> for Bounded<MIN, MAX> {
    type Error = InvalidValue;

    fn try_from(number: u32) -> Result<Self, InvalidValue> {
        if (MIN..=MAX).contains(&number) {
            Ok(Bounded(number))
        } else {
            Err(InvalidValue::Number { number, min: MIN, max: MAX })
        }
    }
}

impl<const MIN: u32, const MAX: u32> ReadFrom for Bounded<MIN, MAX> {
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::Number
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Bounded<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("From{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// Seconds from `MIN` to `MAX`: a whole number, or a text with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Either<u64, String>")]
pub struct Seconds<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Seconds<MIN, MAX> {
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> TryFrom<Either<u64, String>> for Seconds<MIN, MAX> {
    type Error = InvalidValue;

    fn try_from(value: Either<u64, String>) -> Result<Self, InvalidValue> {
        let seconds = match value {
            Either::First(number) => u32::try_from(number).ok(),
            Either::Second(text) => seconds_in(&text),
        };
        match seconds {
            Some(seconds) if (MIN..=MAX).contains(&seconds) => Ok(Seconds(seconds)),
            _ => Err(InvalidValue::Seconds { min: MIN, max: MAX }),
        }
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Seconds<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("SecondsFrom{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"], "minimum": MIN, "maximum": MAX, "pattern": "^[1-9][0-9]*[smh]$",
        })
    }
}

/// The seconds in a text such as `90s`, `5m` or `1h`.
pub(super) fn seconds_in(text: &str) -> Option<u32> {
    let unit = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        _ => return None,
    };
    let number = text.get(..text.len() - 1)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) || number.starts_with('0') {
        return None;
    }
    number.parse::<u32>().ok()?.checked_mul(unit)
}

/// The pattern of a text that is not blank, in the schema.
pub(super) const NOT_BLANK: &str = "\\S";

pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// A text of the file that is made into a value of another type. It is not copied: a config may have hundreds of patterns.
pub(super) struct TextRef<'de>(pub(super) Cow<'de, str>);

impl Deref for TextRef<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for TextRef<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = TextRef<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<TextRef<'de>, E> {
                Ok(TextRef(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<TextRef<'de>, E> {
                Ok(TextRef(text.to_owned().into()))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// Text that is not blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, description = "", extend("pattern" = NOT_BLANK))]
pub struct NonBlank(Box<str>);

impl NonBlank {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for NonBlank {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        if is_blank(&text) {
            return Err(InvalidValue::Blank);
        }
        Ok(NonBlank(text.into()))
    }
}

impl ReadFrom for NonBlank {}

/// A name of limited length that is not blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "NonBlank")]
#[schemars(with = "NonBlank", inline, description = "", extend("maxLength" = Name::MAX_CHARS))]
pub struct Name(Box<str>);

impl Name {
    const MAX_CHARS: usize = 200;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<NonBlank> for Name {
    type Error = InvalidValue;

    fn try_from(text: NonBlank) -> Result<Self, InvalidValue> {
        if text.0.chars().count() > Name::MAX_CHARS {
            return Err(InvalidValue::LongName);
        }
        Ok(Name(text.0))
    }
}

/// The path of a folder below another one, judging by its text: links are followed when it is used.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "NonBlank")]
#[schemars(with = "NonBlank", inline, description = "", extend("format" = FolderBelow::FORMAT))]
pub struct FolderBelow(Box<str>);

impl FolderBelow {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "folder-below";

    pub(super) fn is_valid(text: &str) -> bool {
        let mut parts = Path::new(text).components();
        parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    }

    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(&*self.0)
    }
}

impl TryFrom<NonBlank> for FolderBelow {
    type Error = InvalidValue;

    fn try_from(text: NonBlank) -> Result<Self, InvalidValue> {
        if FolderBelow::is_valid(&text.0) {
            Ok(FolderBelow(text.0))
        } else {
            Err(InvalidValue::Folder(text.0.into()))
        }
    }
}
