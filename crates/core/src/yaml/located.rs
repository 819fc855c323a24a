//! A value with its position, for messages about a rule that applied.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::U64Deserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::error::ValueError;
use super::tree::{Node, Spanned};

/// The name with which a value requests its position from the deserializer: serde has no other way.
pub(super) const NAME: &str = "$located";

#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    pub value: T,
    /// Counted from 1.
    pub line: usize,
    /// The index of the config's file.
    pub source: usize,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NAME, LocatedVisitor(PhantomData))
    }
}

struct LocatedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LocatedVisitor<T> {
    type Value = Located<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Located<T>, A::Error> {
        let missing = || A::Error::custom("a value has no position");
        let source = parts.next_element()?.ok_or_else(missing)?;
        let line = parts.next_element()?.ok_or_else(missing)?;
        let value = parts.next_element()?.ok_or_else(missing)?;
        Ok(Located { value, line, source })
    }
}

/// The source, the line and the value.
pub(super) struct Parts<'de> {
    node: &'de Spanned<Node>,
    given: usize,
}

impl<'de> Parts<'de> {
    pub(super) fn of(node: &'de Spanned<Node>) -> Self {
        Parts { node, given: 0 }
    }
}

impl<'de> SeqAccess<'de> for Parts<'de> {
    type Error = ValueError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ValueError> {
        self.given += 1;
        let number = |number: usize| U64Deserializer::<ValueError>::new(number as u64);
        match self.given {
            1 => seed.deserialize(number(self.node.span.source)).map(Some),
            2 => seed.deserialize(number(self.node.span.line)).map(Some),
            3 => seed.deserialize(self.node).map(Some),
            _ => Ok(None),
        }
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}
