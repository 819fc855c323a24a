//! A tree of values with their positions.

use std::borrow::Cow;
use std::ops::Range;

/// Nobody writes deeper YAML by hand.
pub(super) const MAX_DEPTH: usize = 32;
pub(super) const MAX_VALUES: usize = 10_000;

/// The limit on values after expanding aliases: more than that is an alias bomb.
pub(super) const MAX_ALIASED_VALUES: usize = 10_000;

/// The part of the text of a value or a key. For an alias, it is the alias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// In bytes.
    pub start: usize,
    pub end: usize,
    /// Counted from 1.
    pub line: usize,
    /// The index of the config's file; 0 if there is only one. `SOURCE_OF_ITEM` inside a rule of a pack.
    pub source: usize,
}

/// The value has the source of the list item that contains it. The values of packs are built into the program, and which index a pack
/// gets depends on the config that extends it.
pub const SOURCE_OF_ITEM: usize = usize::MAX;

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
        let mut pending = vec![(self, false)];
        while let Some((node, is_in_item)) = pending.pop() {
            node.span.source = source;
            match &mut node.value {
                // A rule of a pack, which stays as it is.
                Node::Map(Cow::Borrowed(_)) | Node::List(Cow::Borrowed(_)) if is_in_item => {}
                Node::Map(entries) => pending.extend(entries.to_mut().iter_mut().map(|(key, value)| {
                    key.span.source = source;
                    (value, is_in_item)
                })),
                Node::List(items) => pending.extend(items.to_mut().iter_mut().map(|item| (item, true))),
                _ => {}
            }
        }
    }

    /// A copy in which the spans of all values name their file.
    #[must_use]
    pub fn with_sources(&self) -> Spanned<Node> {
        Position::of(self).copy()
    }

    pub fn remove(&mut self, key: &str) {
        if self.value_of(key).is_some()
            && let Node::Map(entries) = &mut self.value
        {
            entries.to_mut().retain(|(own, _)| own.value != key);
        }
    }

    /// The entries of a mapping, otherwise none.
    pub fn entries(&self) -> &[MapEntry] {
        if let Node::Map(entries) = &self.value { entries } else { &[] }
    }

    /// The items of a list, otherwise none.
    pub fn items(&self) -> &[Spanned<Node>] {
        if let Node::List(items) = &self.value { items } else { &[] }
    }

    pub fn value_of(&self, key: &str) -> Option<&Spanned<Node>> {
        self.entries().iter().find(|(own, _)| own.value == key).map(|(_, value)| value)
    }

    /// The entry of a list below this key.
    pub fn entry(&self, key: &str, index: usize) -> Option<&Spanned<Node>> {
        self.value_of(key)?.items().get(index)
    }
}

/// A value on the way down a tree, with its file.
#[derive(Clone, Copy)]
pub struct Position<'a> {
    pub node: &'a Spanned<Node>,
    /// The file of the item of a list that it is in.
    item_source: Option<usize>,
}

impl<'a> Position<'a> {
    pub fn of(root: &'a Spanned<Node>) -> Position<'a> {
        Position { node: root, item_source: None }
    }

    pub fn span(self) -> Span {
        self.located(self.node.span)
    }

    fn located(self, span: Span) -> Span {
        match self.item_source {
            Some(source) if span.source == SOURCE_OF_ITEM => Span { source, ..span },
            _ => span,
        }
    }

    /// The entries of a mapping, otherwise none.
    pub fn entries(self) -> impl Iterator<Item = (Spanned<&'a str>, Position<'a>)> {
        self.node.entries().iter().map(move |(key, value)| {
            let key = Spanned { value: key.value.as_ref(), span: self.located(key.span) };
            (key, Position { node: value, ..self })
        })
    }

    /// The items of a list, otherwise none.
    pub fn items(self) -> impl Iterator<Item = Position<'a>> {
        self.node.items().iter().map(move |item| {
            let source = self.located(item.span).source;
            Position { node: item, item_source: Some(source) }
        })
    }

    fn copy(self) -> Spanned<Node> {
        let value = match &self.node.value {
            Node::Map(entries) => {
                let keys = entries.iter().map(|(key, _)| key.value.clone());
                let entry = |(text, (key, value)): (Text, (Spanned<&str>, Position<'_>))| {
                    (Spanned { value: text, span: key.span }, value.copy())
                };
                Node::Map(keys.zip(self.entries()).map(entry).collect())
            }
            Node::List(_) => Node::List(self.items().map(Position::copy).collect()),
            plain => plain.clone(),
        };
        Spanned { value, span: self.span() }
    }
}

/// From a file, or a part of the program. So are lists and mappings: the packs are built into the program as trees.
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
    List(Cow<'static, [Spanned<Node>]>),
    /// In the order of the file, with both entries of a duplicate key.
    Map(Cow<'static, [MapEntry]>),
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
