//! Makes structs from values. It is strict: `'5'` is not a number and `5` is not text, so that a config is accepted exactly if
//! its schema accepts it. Duplicate keys are errors.

use std::collections::HashSet;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::error::ValueError;
use super::located;
use super::tree::{MapEntry, Node, Spanned};

impl<'de> IntoDeserializer<'de, ValueError> for &'de Spanned<Node> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// A key is always text.
struct Key<'de>(&'de str);

impl<'de> IntoDeserializer<'de, ValueError> for Key<'de> {
    type Deserializer = serde::de::value::BorrowedStrDeserializer<'de, ValueError>;

    fn into_deserializer(self) -> Self::Deserializer {
        serde::de::value::BorrowedStrDeserializer::new(self.0)
    }
}

/// The first duplicate key.
fn duplicate(entries: &[MapEntry]) -> Option<&str> {
    let mut keys = entries.iter().map(|(key, _)| key.value.as_ref());
    // Hashing a few keys takes longer than comparing them.
    if entries.len() <= 32 {
        let is_repeated = |(index, key): &(usize, &str)| {
            entries.iter().take(*index).any(|(earlier, _)| earlier.value == *key)
        };
        return keys.enumerate().find(is_repeated).map(|(_, key)| key);
    }
    let mut seen = HashSet::with_capacity(entries.len());
    keys.find(|key| !seen.insert(*key))
}

/// Checks that no key is duplicate.
///
/// # Errors
/// Names the first duplicate key.
pub fn check_keys(entries: &[MapEntry]) -> Result<(), ValueError> {
    match duplicate(entries) {
        Some(key) => Err(ValueError(format!("duplicate key `{key}`"))),
        None => Ok(()),
    }
}

/// Makes a struct from some entries of a mapping.
///
/// # Errors
/// If the entries do not make the struct.
pub fn from_entries<'de, T: Deserialize<'de>>(
    entries: impl Iterator<Item = &'de MapEntry>,
) -> Result<T, ValueError> {
    T::deserialize(MapDeserializer::new(entries.map(|(key, value)| (Key(&key.value), value))))
}

/// The field names of a struct, as it reports them to serde.
pub fn fields_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &[&str] = &[];
    // This creates no value: the error is expected.
    drop(T::deserialize(FieldNames(&mut names)));
    names
}

/// Records the field names that a struct requests.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ValueError> {
        Err(ValueError(String::new()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> Deserializer<'de> for &'de Spanned<Node> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match &self.value {
            Node::Null => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(*value),
            Node::Int(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                _ => visitor.visit_i128(*value),
            },
            Node::Float(value) => visitor.visit_f64(*value),
            Node::Text(text) => visitor.visit_borrowed_str(text),
            Node::List(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Node::Map(entries) => {
                check_keys(entries)?;
                let entries = entries.iter().map(|(key, value)| (Key(&key.value), value));
                visitor.visit_map(MapDeserializer::new(entries))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.value {
            Node::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        if name == located::NAME {
            return visitor.visit_seq(located::Parts::of(self));
        }
        visitor.visit_newtype_struct(self)
    }

    /// Only from a mapping: the visitors of derived structs would take a list, too.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match &self.value {
            Node::Map(_) => self.deserialize_any(visitor),
            other => Err(ValueError(format!("expected {name}, found {}", other.describe()))),
        }
    }

    /// An enumeration is one of its words, never a mapping with that word as its key.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match &self.value {
            Node::Text(word) => visitor.visit_enum(word.as_ref().into_deserializer()),
            other => Err(ValueError(format!("expected {name}, found {}", other.describe()))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}
