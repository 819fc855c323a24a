//! What is valid, and probably a mistake.

use super::Problem;
use super::layer::Source;
use super::origins::Origins;
use crate::yaml::{Node, Span};

/// A remark about a value of the config.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    position: Position,
    /// What does not do what it seems to do.
    pub title: String,
    /// Why.
    pub label: String,
    /// What to write.
    pub help: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Position {
    /// Keys and indices, as in `["stop", "commands", "*", "0", "files"]`.
    Keys(Vec<String>),
    Span(Span),
}

impl Remark {
    pub fn new<K: Into<String>>(keys: impl IntoIterator<Item = K>, title: impl Into<String>) -> Remark {
        let keys = keys.into_iter().map(Into::into).collect();
        Remark { position: Position::Keys(keys), title: title.into(), label: String::new(), help: None }
    }

    pub fn at(span: Span, title: impl Into<String>) -> Remark {
        Remark { position: Position::Span(span), title: title.into(), label: String::new(), help: None }
    }

    /// Why it is so.
    #[must_use]
    pub fn because(mut self, label: impl Into<String>) -> Remark {
        self.label = label.into();
        self
    }

    /// What to write.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Remark {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn in_one_line(&self) -> String {
        let mut line = self.title.clone();
        if !self.label.is_empty() {
            line.push_str(": ");
            line.push_str(&self.label);
        }
        if let Some(help) = &self.help {
            line.push_str("; ");
            line.push_str(help);
        }
        line
    }

    /// The file, and the remark as a problem of its text.
    #[must_use]
    pub fn locate<'a>(&self, origins: &'a Origins) -> Option<(&'a Source, Problem)> {
        let span = match &self.position {
            Position::Span(span) => *span,
            Position::Keys(keys) => span_of(origins, keys)?,
        };
        let source = origins.sources().get(span.source)?;
        let (title, label, help) = (self.title.clone(), self.label.clone(), self.help.clone());
        Some((source, Problem { span: span.first_line(&source.text), title, label, help }))
    }
}

/// A plain value is pointed at itself, anything longer at its key.
fn span_of(origins: &Origins, keys: &[String]) -> Option<Span> {
    let mut node = origins.tree();
    let mut span = node.span;
    for key in keys {
        match &node.value {
            Node::Map(entries) => {
                let (own, value) = entries.iter().find(|(own, _)| own.value == *key)?;
                span =
                    if matches!(value.value, Node::Map(_) | Node::List(_)) { own.span } else { value.span };
                node = value;
            }
            // A plain list of commands is that of `*`.
            Node::List(_) if key == "*" => {}
            Node::List(items) => {
                node = items.get(key.parse::<usize>().ok()?)?;
                span = match &node.value {
                    Node::Map(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
                    _ => node.span,
                };
            }
            _ => return None,
        }
    }
    Some(span)
}
