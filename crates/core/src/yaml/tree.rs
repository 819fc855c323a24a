//! A tree of values with their positions.

use std::borrow::Cow;
use std::ops::Range;

/// Nobody writes deeper YAML by hand.
pub(super) const MAX_DEPTH: usize = 32;
pub(super) const MAX_VALUES: usize = 10_000;

/// The limit on values after expanding aliases: more than that is an alias bomb.
pub(super) const MAX_ALIASED_VALUES: usize = 10_000;

/// The part of the text that a value or a key was read from. For an alias, it is the alias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// In bytes.
    pub start: usize,
    pub end: usize,
    /// Counted from 1.
    pub line: usize,
    /// The index of the config's file; 0 if there is only one.
    pub source: usize,
}

impl Span {
    /// In bytes. For a mapping or a list, its first line is enough. The search stops there, because one long line may contain
    /// thousands of values.
    pub fn first_line(self, text: &str) -> Range<usize> {
        let start = self.start.min(text.len());
        let end = self.end.clamp(start, text.len());
        start..text.get(start..end).and_then(|inside| inside.find(['\n', '\r'])).map_or(end, |at| start + at)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl Spanned<Node> {
    /// Sets the file of all values.
    pub fn set_source(&mut self, source: usize) {
        let mut pending = if source == 0 { Vec::new() } else { vec![self] };
        while let Some(node) = pending.pop() {
            node.span.source = source;
            match &mut node.value {
                Node::Map(entries) => pending.extend(entries.iter_mut().map(|(key, value)| {
                    key.span.source = source;
                    value
                })),
                Node::List(items) => pending.extend(items),
                _ => {}
            }
        }
    }

    pub fn remove(&mut self, key: &str) {
        if let Node::Map(entries) = &mut self.value {
            entries.retain(|(own, _)| own.value != key);
        }
    }

    pub fn value_of(&self, key: &str) -> Option<&Spanned<Node>> {
        let Node::Map(entries) = &self.value else { return None };
        entries.iter().find(|(own, _)| own.value == key).map(|(_, value)| value)
    }

    /// The entry of a list below this key.
    pub fn entry(&self, key: &str, index: usize) -> Option<&Spanned<Node>> {
        match &self.value_of(key)?.value {
            Node::List(items) => items.get(index),
            _ => None,
        }
    }
}

/// From a file, or a part of the program.
pub type Text = Cow<'static, str>;

/// A key of a mapping with its value.
pub type MapEntry = (Spanned<Text>, Spanned<Node>);

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Node {
    #[default]
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Text),
    List(Vec<Spanned<Node>>),
    /// In the order of the file, with both entries of a duplicate key.
    Map(Vec<MapEntry>),
}

impl Node {
    /// The value in an error message.
    pub fn describe(&self) -> String {
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
