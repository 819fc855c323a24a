//! Values that are checked when they are read: an invalid one cannot exist.

use std::borrow::Cow;
use std::path::{Component, Path};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bounded<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    #[must_use]
    pub fn get(self) -> u32 {
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

/// The seconds in a text such as `90s`, `5m` or `1h`.
pub(super) fn seconds_in(text: &str) -> Option<u32> {
    let unit = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        _ => return None,
    };
    let number = text.get(..text.len() - 1)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    number.parse::<u32>().ok().filter(|_| is_number)?.checked_mul(unit)
}

/// Reads seconds, as a number or with a unit. For `deserialize_with`.
pub(super) fn seconds<'de, D: Deserializer<'de>, const MIN: u32, const MAX: u32>(
    deserializer: D,
) -> Result<Option<Bounded<MIN, MAX>>, D::Error> {
    let seconds = Option::<Seconds<MIN, MAX>>::deserialize(deserializer)?;
    Ok(seconds.map(|seconds| Bounded(seconds.0)))
}

/// Seconds from `MIN` to `MAX`: a whole number, or a text with a unit.
pub(super) struct Seconds<const MIN: u32, const MAX: u32>(u32);

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Seconds<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl de::Visitor<'_> for NumberOrText {
            type Value = Option<u32>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("seconds, or a text such as `90s`, `5m` or `1h`")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Option<u32>, E> {
                Ok(u32::try_from(number).ok())
            }

            fn visit_str<E>(self, text: &str) -> Result<Option<u32>, E> {
                Ok(seconds_in(text))
            }
        }
        let seconds = deserializer.deserialize_any(NumberOrText)?;
        seconds.filter(|seconds| (MIN..=MAX).contains(seconds)).map(Seconds).ok_or_else(|| {
            de::Error::custom(format!(
                "expected {MIN} to {MAX} seconds, or a text such as `90s`, `5m` or `1h`"
            ))
        })
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

/// The pattern of a text that is not blank, in the schema.
pub(super) const NOT_BLANK: &str = "\\S";

/// Text that is not blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NonBlank(Box<str>);

impl NonBlank {
    #[must_use]
    pub fn as_str(&self) -> &str {
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
        json_schema!({ "type": "string", "pattern": NOT_BLANK })
    }
}

/// The maximum number of names in a list.
pub(super) const MAX_NAMES: usize = 100;

/// A name of limited length that is not blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Name(Box<str>);

impl Name {
    pub(super) const MAX_CHARS: usize = 200;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": NOT_BLANK, "maxLength": Name::MAX_CHARS })
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = NonBlank::deserialize(deserializer)?.0;
        if text.chars().count() <= Name::MAX_CHARS {
            Ok(Name(text))
        } else {
            Err(de::Error::custom(format!("a name is longer than {} characters", Name::MAX_CHARS)))
        }
    }
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Name::schema()
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
    pub fn as_path(&self) -> &Path {
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
        json_schema!({ "type": "string", "pattern": NOT_BLANK, "format": FolderBelow::FORMAT })
    }
}
