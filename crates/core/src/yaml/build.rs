//! The tree, built from the parser's events.

use std::collections::{HashMap, HashSet};

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, Tag};

use super::error::SyntaxError;
use super::tree::{MAX_ALIASED_VALUES, MAX_DEPTH, MAX_VALUES, MapEntry, Node, Span, Spanned, Text};

#[derive(Default)]
pub(super) struct Builder {
    /// The lists and mappings that are open, the innermost last.
    open: Vec<OpenNode>,
    root: Option<Spanned<Node>>,
    /// By the parser's number of the anchor.
    anchored: HashMap<usize, Spanned<Node>>,
    values: usize,
    aliased: usize,
    source: usize,
}

/// A list or mapping whose end has not been read.
struct OpenNode {
    span: Span,
    anchor: usize,
    content: OpenContent,
}

enum OpenContent {
    List(Vec<Spanned<Node>>),
    Map { entries: Vec<MapEntry>, key: Option<Spanned<Text>> },
}

impl Builder {
    pub(super) fn of(source: usize) -> Builder {
        Builder { source, ..Builder::default() }
    }

    pub(super) fn read(mut self, text: &str) -> Result<Spanned<Node>, SyntaxError> {
        let options =
            granit_parser::options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
        for item in Parser::new_from_str_with_options(text, options) {
            let (event, span) = item.map_err(|error| {
                let reason = match error.kind() {
                    ErrorKind::UnknownAnchor => "an alias of an unknown anchor".to_owned(),
                    _ => error.info(),
                };
                fail(reason, self.span(error.marker(), error.marker()))
            })?;
            self.event(event, self.span(&span.start, &span.end))?;
        }
        Ok(self.root.unwrap_or(Spanned { value: Node::Null, span: Span::default() }))
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                return Err(fail("a second document starts here: only one is read", span));
            }
            Event::Scalar(text, style, anchor, tag) => {
                // A key is always text, except for the key that merges.
                if let Some(OpenNode { content: OpenContent::Map { key: key @ None, .. }, .. }) =
                    self.open.last_mut()
                {
                    *key = Some(Spanned { value: text.into_owned().into(), span });
                    return Ok(());
                }
                let value = scalar(&text, style, tag.as_deref()).map_err(|reason| fail(reason, span))?;
                self.value(Spanned { value, span }, anchor)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.start(
                    OpenNode { span, anchor, content: OpenContent::List(Vec::new()) },
                    tag.as_deref(),
                )?;
            }
            Event::MappingStart(_, anchor, tag) => {
                let content = OpenContent::Map { entries: Vec::new(), key: None };
                self.start(OpenNode { span, anchor, content }, tag.as_deref())?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Alias(anchor) => {
                let Some(mut node) = self.anchored.get(&anchor).cloned() else {
                    return Err(fail("an alias inside the value that it names", span));
                };
                self.aliased += size(&node.value);
                if self.aliased > MAX_ALIASED_VALUES {
                    return Err(fail("aliases expand to too many values", span));
                }
                node.span = span;
                self.value(node, 0)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, open: OpenNode, tag: Option<&Tag>) -> Result<(), SyntaxError> {
        if self.is_at_key() {
            return Err(fail("a key must be text", open.span));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(fail(format!("nested more than {MAX_DEPTH} levels deep"), open.span));
        }
        let expected = if matches!(open.content, OpenContent::List(_)) { "seq" } else { "map" };
        if tag.is_some_and(|tag| !tag.is_yaml_core_schema_tag(expected)) {
            return Err(fail(UNKNOWN_TAG, open.span));
        }
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self, end: Span) -> Result<(), SyntaxError> {
        let Some(OpenNode { span, anchor, content }) = self.open.pop() else { return Ok(()) };
        let value = match content {
            OpenContent::List(items) => Node::List(items.into()),
            OpenContent::Map { entries, .. } => Node::Map(merge(entries)?.into()),
        };
        self.value(Spanned { value, span: Span { end: end.end, ..span } }, anchor)
    }

    fn span(&self, start: &Marker, end: &Marker) -> Span {
        let bytes = |marker: &Marker| marker.byte_offset().unwrap_or_default();
        Span { start: bytes(start), end: bytes(end), line: start.line(), source: self.source }
    }

    fn is_at_key(&self) -> bool {
        matches!(self.open.last(), Some(OpenNode { content: OpenContent::Map { key: None, .. }, .. }))
    }

    /// Puts a complete value into its container.
    fn value(&mut self, node: Spanned<Node>, anchor: usize) -> Result<(), SyntaxError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(fail(format!("more than {MAX_VALUES} values"), node.span));
        }
        if anchor != 0 {
            if size(&node.value) > MAX_ALIASED_VALUES {
                return Err(fail("an anchor on too many values", node.span));
            }
            self.anchored.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(OpenContent::List(items)) => items.push(node),
            Some(OpenContent::Map { entries, key }) => match (key.take(), node) {
                (Some(key), node) => entries.push((key, node)),
                (None, Spanned { value: Node::Text(text), span }) => {
                    *key = Some(Spanned { value: text, span })
                }
                (None, node) => return Err(fail("a key must be text", node.span)),
            },
        }
        Ok(())
    }
}

const UNKNOWN_TAG: &str = "unknown tag: remove it";

/// The value of a scalar by the core schema of YAML 1.2. Only plain scalars can be anything but text.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Node, &'static str> {
    if let Some(tag) = tag {
        return match tag.core_suffix() {
            Some("str") => Ok(Node::Text(text.to_owned().into())),
            Some("null" | "bool" | "int" | "float") => Ok(plain(text)),
            _ => Err(UNKNOWN_TAG),
        };
    }
    Ok(if style == ScalarStyle::Plain { plain(text) } else { Node::Text(text.to_owned().into()) })
}

fn plain(text: &str) -> Node {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Node::Null,
        "true" | "True" | "TRUE" => return Node::Bool(true),
        "false" | "False" | "FALSE" => return Node::Bool(false),
        _ => {}
    }
    // Most values are words.
    if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        if let Some(number) = integer(text) {
            return Node::Int(number);
        }
        if let Some(number) = float(text) {
            return Node::Float(number);
        }
    }
    Node::Text(text.to_owned().into())
}

fn integer(text: &str) -> Option<i128> {
    let digits = |digits: &str, radix: u32| {
        // Rust's parser also accepts a sign here.
        if digits.starts_with(|c: char| c.is_digit(radix)) {
            i128::from_str_radix(digits, radix).ok()
        } else {
            None
        }
    };
    if let Some(octal) = text.strip_prefix("0o") {
        return digits(octal, 8);
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return digits(hexadecimal, 16);
    }
    match text.strip_prefix('-') {
        Some(rest) => digits(rest, 10).map(|number| -number),
        None => digits(text.strip_prefix('+').unwrap_or(text), 10),
    }
}

fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned {
        ".inf" | ".Inf" | ".INF" => Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => Some(f64::NAN),
        // Rust's parser also accepts `inf`, `nan` and `infinity`.
        _ if unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+')) => {
            text.parse().ok()
        }
        _ => None,
    }
}

/// `<<` adds the entries of one or several other mappings that this one does not have.
fn merge(entries: Vec<MapEntry>) -> Result<Vec<MapEntry>, SyntaxError> {
    if entries.iter().all(|(key, _)| key.value != "<<") {
        return Ok(entries);
    }
    let (merges, mut own): (Vec<MapEntry>, Vec<MapEntry>) =
        entries.into_iter().partition(|(key, _)| key.value == "<<");
    let mut known: HashSet<Text> = own.iter().map(|(key, _)| key.value.clone()).collect();
    for (_, node) in merges {
        let sources = match node.value {
            Node::List(items) => items.into_owned(),
            _ => vec![node],
        };
        for source in sources {
            let Node::Map(inherited) = source.value else {
                return Err(fail("`<<` merges only mappings", source.span));
            };
            own.extend(inherited.into_owned().into_iter().filter(|(key, _)| known.insert(key.value.clone())));
        }
    }
    Ok(own)
}

/// The number of values in it, including itself.
fn size(node: &Node) -> usize {
    1 + match node {
        Node::List(items) => items.iter().map(|item| size(&item.value)).sum::<usize>(),
        Node::Map(entries) => entries.iter().map(|(_, value)| size(&value.value)).sum(),
        _ => 0,
    }
}

fn fail(reason: impl Into<String>, span: Span) -> SyntaxError {
    SyntaxError { reason: reason.into(), span }
}
