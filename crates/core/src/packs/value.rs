//! The values of a pack as they are compiled in.

use crate::yaml::{Node, Span, Spanned};

/// Where a value is in the text of its pack: its first byte, the end, and the line.
pub(super) type TextRange = (usize, usize, usize);

/// A value of a pack, read when the program was written: reading the YAML of all packs took longer than everything else that an
/// event does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PackValue {
    Flag(TextRange, bool),
    Text(TextRange, &'static str),
    List(TextRange, &'static [PackValue]),
    Map(TextRange, &'static [(TextRange, &'static str, PackValue)]),
}

impl PackValue {
    pub(super) fn tree(&self) -> Spanned<Node> {
        let (at, value) = match self {
            PackValue::Flag(at, flag) => (at, Node::Bool(*flag)),
            PackValue::Text(at, text) => (at, Node::Text((*text).into())),
            PackValue::List(at, items) => (at, Node::List(items.iter().map(PackValue::tree).collect())),
            PackValue::Map(at, entries) => {
                let entry = |(at, key, value): &(TextRange, &'static str, PackValue)| {
                    (Spanned { value: (*key).into(), span: span(*at) }, value.tree())
                };
                (at, Node::Map(entries.iter().map(entry).collect()))
            }
        };
        Spanned { value, span: span(*at) }
    }
}

fn span((start, end, line): TextRange) -> Span {
    Span { start, end, line, source: 0 }
}
