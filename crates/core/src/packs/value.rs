//! The values of a pack as they are compiled in.

use crate::yaml::{Node, Span, Spanned};

/// Where a value is in the text of its pack: its first byte, the end, and the line.
pub(super) type At = (usize, usize, usize);

/// A value of a pack that was read when the program was written: reading the YAML of all packs took longer than all else that
/// an event does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    Flag(At, bool),
    Text(At, &'static str),
    List(At, &'static [Value]),
    Map(At, &'static [(At, &'static str, Value)]),
}

impl Value {
    pub(super) fn tree(&self) -> Spanned<Node> {
        let (at, value) = match self {
            Value::Flag(at, flag) => (at, Node::Bool(*flag)),
            Value::Text(at, text) => (at, Node::Text((*text).into())),
            Value::List(at, items) => (at, Node::List(items.iter().map(Value::tree).collect())),
            Value::Map(at, entries) => {
                let entry = |(at, key, value): &(At, &'static str, Value)| {
                    (Spanned { value: (*key).into(), span: span(*at) }, value.tree())
                };
                (at, Node::Map(entries.iter().map(entry).collect()))
            }
        };
        Spanned { value, span: span(*at) }
    }
}

fn span((start, end, line): At) -> Span {
    Span { start, end, line, source: 0 }
}
