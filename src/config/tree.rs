//! A YAML file as a tree with positions, so that each problem is reported with its line and column.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Location, Options, Spanned};

/// Beyond what is written by hand.
const MAX_DEPTH: usize = 32;
const MAX_VALUES: usize = 50_000;

/// The limit on what aliases expand to: anything larger is an alias bomb, and is rejected at once.
const MAX_ALIAS_EVENTS: usize = 10_000;

/// How every config is read.
pub(super) fn options() -> Options {
    serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_VALUES,
            max_recorded_anchor_events: MAX_ALIAS_EVENTS,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_ALIAS_EVENTS },
    }
}

/// A value with its position.
pub(super) type SpannedNode = Spanned<Node>;

#[derive(Debug)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<SpannedNode>),
    Map(Vec<(Spanned<String>, SpannedNode)>),
}

impl Node {
    /// The value as an error message names it.
    pub(super) fn describe(&self) -> String {
        match self {
            Node::Null => "nothing".into(),
            Node::Bool(value) => format!("`{value}`"),
            Node::Int(value) => format!("the number {value}"),
            Node::Float(value) => format!("the number {value}"),
            Node::Text(text) => format!("the text {text:?}"),
            Node::List(_) => "a list".into(),
            Node::Map(_) => "a mapping".into(),
        }
    }
}

/// Reads the values alone. The config is made from these and not by the YAML reader itself, whose code would be there once for
/// every type of the config: half a megabyte.
pub(super) fn read_value(text: &str) -> Result<serde_json::Value, serde_saphyr::Error> {
    let sections: Option<Sections> = serde_saphyr::from_str_with_options(text, options())?;
    Ok(sections.map_or(serde_json::Value::Null, |sections| serde_json::Value::Object(sections.0)))
}

/// The sections of a config. The first unknown one ends the reading: what follows it may be long.
struct Sections(serde_json::Map<String, serde_json::Value>);

impl<'de> Deserialize<'de> for Sections {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByKey;
        impl<'de> Visitor<'de> for ByKey {
            type Value = Sections;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping of sections")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sections, A::Error> {
                let mut sections = serde_json::Map::new();
                while let Some(key) = map.next_key::<String>()? {
                    if !super::is_section(&key) {
                        return Err(serde::de::Error::custom(format!("unknown key `{key}`")));
                    }
                    sections.insert(key, map.next_value()?);
                }
                Ok(Sections(sections))
            }
        }
        deserializer.deserialize_map(ByKey)
    }
}

/// Reads the tree, with both entries of a duplicate key.
pub(super) fn read(text: &str) -> Result<SpannedNode, serde_saphyr::Error> {
    let mut options = options();
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    serde_saphyr::from_str_with_options(text, options)
}

/// The bytes of a value in the text.
pub(super) fn range(location: &Location, text: &str) -> std::ops::Range<usize> {
    let span = location.span();
    let start = span.byte_offset().and_then(|at| usize::try_from(at).ok()).unwrap_or(0).min(text.len());
    let length = span.byte_len().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let end = (start + length).min(text.len());
    // A mapping or a list spans lines: its first line is enough to point at. The search stops there, since
    // one long line may contain thousands of values.
    start..text.get(start..end).and_then(|inside| inside.find(['\n', '\r'])).map_or(end, |at| start + at)
}

struct AnyNode;

impl<'de> Visitor<'de> for AnyNode {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(AnyNode)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Int(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Int(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Node, E> {
        Ok(Node::Int(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key()? {
            entries.push((key, map.next_value()?));
        }
        Ok(Node::Map(entries))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyNode)
    }
}
