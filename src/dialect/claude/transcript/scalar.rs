//! Values of a line whose type another version may have changed: what is not as expected is absent, and hides nothing else.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A text, a number, a flag, or anything else.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scalar<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Flag(bool),
    #[default]
    Other,
}

impl Scalar<'_> {
    pub fn text(&self) -> Option<&str> {
        match self {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        *self == Scalar::Flag(true)
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Scalar::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// The content of a message: a text, or blocks.
#[derive(Debug, Default)]
pub enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
    #[default]
    Other,
}

macro_rules! ignored {
    ($value:expr; $($visit:ident: $kind:ty),*) => {
        $(fn $visit<E>(self, _: $kind) -> Result<Self::Value, E> {
            Ok($value)
        })*
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($value)
        }
    };
}

struct AnyScalar;

impl<'de> Visitor<'de> for AnyScalar {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Flag(flag))
    }

    #[expect(clippy::cast_precision_loss, reason = "no count of a transcript is that large")]
    fn visit_u64<E>(self, number: u64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Number(number as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "no count of a transcript is that large")]
    fn visit_i64<E>(self, number: i64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    ignored! { Scalar::Other; }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyScalar)
    }
}

struct AnyContent;

impl<'de> Visitor<'de> for AnyContent {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content<'de>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = list.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    ignored! { Content::Other; visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64 }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyContent)
    }
}

/// A block of a message: a text, a call of a tool, or its result.
#[derive(Debug, Deserialize)]
pub struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Scalar<'a>,
    /// Most texts are answers, which nobody asks for.
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub id: Scalar<'a>,
    #[serde(borrow, default)]
    pub name: Scalar<'a>,
    #[serde(borrow, default)]
    pub input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub tool_use_id: Scalar<'a>,
    #[serde(borrow, default)]
    pub is_error: Scalar<'a>,
    /// What a tool answered: a text, or blocks with texts.
    #[serde(borrow, default)]
    pub content: Option<&'a RawValue>,
}

impl Block<'_> {
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match serde_json::from_str(self.text?.get()).ok()? {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The start of what a tool answered, if it is a text.
    pub fn answer(&self, max: usize) -> Option<String> {
        let raw = self.content?.get();
        let text = match serde_json::from_str::<Content<'_>>(raw).ok()? {
            Content::Text(text) => text.into_owned(),
            Content::Blocks(blocks) => blocks.iter().find_map(Block::text)?.into_owned(),
            Content::Other => return None,
        };
        Some(text.chars().take(max).collect())
    }

    /// Whether a hook is why the tool was not used. Claude Code writes so in the result that the model reads.
    pub fn is_denied_by_hook(&self) -> bool {
        const START: &str = "PreToolUse:";
        self.is_error.is_true()
            && self.content.is_some_and(|raw| raw.get().contains(START))
            && self.answer(400).is_some_and(|text| text.starts_with(START) && text.contains(" hook "))
    }
}
