//! Shapes of values: one of two kinds, a short form or all fields, a list or a mapping of limited length. Each gives serde and
//! the schema the same rules.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{
    BoolDeserializer, F64Deserializer, MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer,
    U64Deserializer,
};
use serde::{Deserialize, Deserializer, Serialize, de};

/// The kind of a value in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Flag,
    Number,
    Text,
    List,
    Mapping,
}

/// A type with the kinds of values that it accepts, so that `Either` knows which type reads a value.
pub trait ReadFrom {
    #[must_use]
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::Text
    }
}

impl ReadFrom for String {}

impl ReadFrom for bool {
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::Flag
    }
}

impl ReadFrom for u64 {
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::Number
    }
}

impl ReadFrom for f64 {
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::Number
    }
}

/// A value of one of two types. Unlike an untagged enum it chooses by the kind alone, so that the reason of an error is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    First(A),
    Second(B),
}

impl<A: ReadFrom, B: ReadFrom> ReadFrom for Either<A, B> {
    fn reads(kind: ValueKind) -> bool {
        A::reads(kind) || B::reads(kind)
    }
}

impl<'de, A, B> Deserialize<'de> for Either<A, B>
where
    A: Deserialize<'de> + ReadFrom,
    B: Deserialize<'de> + ReadFrom,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EitherVisitor(PhantomData))
    }
}

struct EitherVisitor<A, B>(PhantomData<(A, B)>);

impl<A: ReadFrom, B: ReadFrom> EitherVisitor<A, B> {
    fn read<'de, D: Deserializer<'de>>(kind: ValueKind, value: D) -> Result<Either<A, B>, D::Error>
    where
        A: Deserialize<'de>,
        B: Deserialize<'de>,
    {
        if A::reads(kind) {
            A::deserialize(value).map(Either::First)
        } else if B::reads(kind) {
            B::deserialize(value).map(Either::Second)
        } else {
            Err(de::Error::custom(format!("expected {}", ExpectedShapes::<A, B>(PhantomData))))
        }
    }
}

/// The kinds that one of two types accepts, in words.
struct ExpectedShapes<A, B>(PhantomData<(A, B)>);

impl<A: ReadFrom, B: ReadFrom> fmt::Display for ExpectedShapes<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (ValueKind::Flag, "`true` or `false`"),
            (ValueKind::Number, "a number"),
            (ValueKind::Text, "text"),
            (ValueKind::List, "a list"),
            (ValueKind::Mapping, "a mapping"),
        ];
        let mut separator = "";
        for (kind, words) in all {
            if A::reads(kind) || B::reads(kind) {
                write!(f, "{separator}{words}")?;
                separator = " or ";
            }
        }
        Ok(())
    }
}

impl<'de, A, B> de::Visitor<'de> for EitherVisitor<A, B>
where
    A: Deserialize<'de> + ReadFrom,
    B: Deserialize<'de> + ReadFrom,
{
    type Value = Either<A, B>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", ExpectedShapes::<A, B>(PhantomData))
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Self::Value, E> {
        Self::read(ValueKind::Flag, BoolDeserializer::new(flag))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        Self::read(ValueKind::Number, U64Deserializer::new(number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        Self::read(ValueKind::Number, F64Deserializer::new(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Self::read(ValueKind::Text, StrDeserializer::new(text))
    }

    fn visit_seq<S: de::SeqAccess<'de>>(self, list: S) -> Result<Self::Value, S::Error> {
        Self::read(ValueKind::List, SeqAccessDeserializer::new(list))
    }

    fn visit_map<M: de::MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
        Self::read(ValueKind::Mapping, MapAccessDeserializer::new(map))
    }
}

impl<A: JsonSchema, B: JsonSchema> JsonSchema for Either<A, B> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Or{}", A::schema_name(), B::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<A>(), generator.subschema_for::<B>()] })
    }
}

/// A struct with a short form: a plain value sets one field, the others have their defaults.
pub trait Shorthand: From<Self::Short> {
    type Short: ReadFrom;
    /// The name in the schema for the short form and the struct together.
    const NAME: &str;
    const DESCRIPTION: &str;
}

impl<T: Shorthand> ReadFrom for T {
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::Mapping
    }
}

/// A plain value that stands for a struct, or all fields of the struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextOr<T>(pub T);

impl<'de, T> Deserialize<'de> for TextOr<T>
where
    T: Shorthand + Deserialize<'de>,
    T::Short: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Either::<T::Short, T>::deserialize(deserializer).map(|either| match either {
            Either::First(short) => TextOr(short.into()),
            Either::Second(fields) => TextOr(fields),
        })
    }
}

impl<T> JsonSchema for TextOr<T>
where
    T: Shorthand + JsonSchema,
    T::Short: JsonSchema,
{
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Either::<T::Short, T>::json_schema(generator);
        schema.insert("description".into(), T::DESCRIPTION.into());
        schema
    }
}

/// The message for a list or mapping that is too long. A file that is valid alone can be too long together with others.
const TOO_MANY: &str = "it has more entries than a section may have";

/// A list of `MIN` to `MAX` entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct List<T, const MIN: usize, const MAX: usize>(pub(super) Vec<T>);

impl<T, const MIN: usize, const MAX: usize> Deref for List<T, MIN, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, T, const MIN: usize, const MAX: usize> IntoIterator for &'a List<T, MIN, MAX> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T, const MIN: usize, const MAX: usize> ReadFrom for List<T, MIN, MAX> {
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::List
    }
}

impl<'de, T: Deserialize<'de>, const MIN: usize, const MAX: usize> Deserialize<'de> for List<T, MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::deserialize(deserializer)?;
        if items.len() < MIN {
            Err(de::Error::custom("the list is empty"))
        } else if items.len() > MAX {
            Err(de::Error::custom(TOO_MANY))
        } else {
            Ok(List(items))
        }
    }
}

impl<T: JsonSchema, const MIN: usize, const MAX: usize> JsonSchema for List<T, MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("ListOf{MIN}To{MAX}{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({ "type": "array", "items": generator.subschema_for::<T>() });
        if MIN > 0 {
            schema.insert("minItems".into(), MIN.into());
        }
        schema.insert("maxItems".into(), MAX.into());
        schema
    }
}

/// A mapping of at most `MAX` entries, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries<K, V, const MAX: usize>(pub(super) Vec<(K, V)>);

impl<'a, K, V, const MAX: usize> IntoIterator for &'a Entries<K, V, MAX> {
    type Item = &'a (K, V);
    type IntoIter = std::slice::Iter<'a, (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<K, V, const MAX: usize> ReadFrom for Entries<K, V, MAX> {
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::Mapping
    }
}

struct EntriesVisitor<K, V, const MAX: usize>(PhantomData<(K, V)>);

impl<'de, K, V, const MAX: usize> Deserialize<'de> for Entries<K, V, MAX>
where
    K: Deserialize<'de>,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

impl<'de, K, V, const MAX: usize> de::Visitor<'de> for EntriesVisitor<K, V, MAX>
where
    K: Deserialize<'de>,
    V: Deserialize<'de>,
{
    type Value = Entries<K, V, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            if entries.len() == MAX {
                return Err(de::Error::custom(TOO_MANY));
            }
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

impl<K: JsonSchema, V: JsonSchema, const MAX: usize> JsonSchema for Entries<K, V, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Of{}To{}UpTo{MAX}", K::schema_name(), V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({ "type": "object" });
        let names = generator.subschema_for::<K>();
        if names != generator.subschema_for::<String>() {
            schema.insert("propertyNames".into(), names.into());
        }
        if MAX < usize::MAX {
            schema.insert("maxProperties".into(), MAX.into());
        }
        schema.insert("additionalProperties".into(), generator.subschema_for::<V>().into());
        schema
    }
}
