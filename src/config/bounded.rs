//! Values that are checked when they are read: an invalid one cannot exist.

use std::borrow::Cow;
use std::path::{Component, Path};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounded<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    #[must_use]
    pub(crate) fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Bounded<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(deserializer)?;
        if (MIN..=MAX).contains(&number) {
            Ok(Bounded(number))
        } else {
            Err(de::Error::custom(format!(
                "{number} is out of range: expected a whole number from {MIN} to {MAX}"
            )))
        }
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

/// Text that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonBlank(Box<str>);

impl NonBlank {
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for NonBlank {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.chars().all(char::is_whitespace) {
            Err(de::Error::custom("expected text that is not blank"))
        } else {
            Ok(NonBlank(text.into()))
        }
    }
}

impl JsonSchema for NonBlank {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NonBlank".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1 })
    }
}

/// The path of a folder below another one, as far as its text tells: links are followed when it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderBelow(Box<str>);

impl FolderBelow {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "folder-below";

    pub(super) fn is_valid(text: &str) -> bool {
        let mut parts = Path::new(text).components();
        parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    }

    #[must_use]
    pub(crate) fn as_path(&self) -> &Path {
        Path::new(&*self.0)
    }
}

impl<'de> Deserialize<'de> for FolderBelow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = NonBlank::deserialize(deserializer)?.0;
        if FolderBelow::is_valid(&text) {
            Ok(FolderBelow(text))
        } else {
            Err(de::Error::custom(format!(
                "{text:?} is not below the folder of the config: expected a relative path without `..`"
            )))
        }
    }
}

impl JsonSchema for FolderBelow {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FolderBelow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "format": FolderBelow::FORMAT })
    }
}
