//! What can still be used of a file with errors: its guards and its rules for permissions, entry by entry. What is left out of
//! them is named together with the calls that it might have refused, so that no mistake in a file allows anything silently.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{ConclaudeConfig, ConfigError};
use crate::yaml::{Node, Spanned, Text};

mod about;

pub use about::About;
pub(super) use about::about_text;
use about::{EXTENDS, GUARDS, PERMISSIONS, about};

type Entry = (Spanned<Text>, Spanned<Node>);

/// Rules that are written in a file and cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    pub path: PathBuf,
    /// Counted from 1; none for a file that cannot be read at all.
    pub line: Option<usize>,
    pub why: String,
    pub about: About,
}

impl Lost {
    /// All rules of a file.
    pub fn file(error: &ConfigError, about: About) -> Lost {
        let first = error.located().into_iter().next();
        let why = first.as_ref().map_or_else(|| error.summary(), |problem| problem.message.to_owned());
        Lost { path: error.path().to_owned(), line: first.map(|problem| problem.line), why, about }
    }
}

/// A file with errors, without what cannot be used.
pub(super) struct Usable {
    pub(super) config: ConclaudeConfig,
    pub(super) tree: Spanned<Node>,
    pub(super) left_out: Vec<LeftOut>,
}

/// A part of the tree that is not used.
pub(super) struct LeftOut {
    /// In bytes of the text.
    range: Range<usize>,
    line: usize,
    about: About,
}

impl LeftOut {
    pub(super) fn lost(self, path: &Path, error: &ConfigError) -> Lost {
        let why = error.title_in(&self.range).unwrap_or("it cannot be used").to_owned();
        Lost { path: path.to_owned(), line: Some(self.line), why, about: self.about }
    }
}

/// Guards and rules for permissions, what they extend, and notifications, since those may show the error to the user. None
/// if nothing can be said about the file but that it is wrong.
pub(super) fn usable(tree: Spanned<Node>) -> Option<Usable> {
    let span = tree.span;
    let Node::Map(entries) = tree.value else { return None };
    let mut sieve = Sieve::default();
    let value = Node::Map(sieve.sections(entries));
    let tree = Spanned { value, span };
    let config = read(&tree)?;
    Some(Usable { config, tree, left_out: sieve.left_out })
}

/// The same of a file that is valid: what extends it is not.
pub(super) fn only_rules(tree: Spanned<Node>) -> Option<(ConclaudeConfig, Spanned<Node>)> {
    usable(tree).map(|usable| (usable.config, usable.tree))
}

fn read(tree: &Spanned<Node>) -> Option<ConclaudeConfig> {
    let config = Option::<ConclaudeConfig>::deserialize(tree).ok()?.unwrap_or_default();
    config.is_within_bounds().then_some(config)
}

#[derive(Default)]
struct Sieve {
    left_out: Vec<LeftOut>,
}

impl Sieve {
    fn sections(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let mut kept: Vec<Entry> = Vec::new();
        for (key, value) in entries {
            let name = key.value.clone();
            let is_first = !kept.iter().any(|(known, _)| known.value == name);
            let usable = match (name.as_ref(), value.value) {
                (GUARDS | PERMISSIONS, Node::Map(rules)) if is_first => {
                    let rules = self.rules(&name, rules);
                    Some(Spanned { value: Node::Map(rules), span: value.span })
                }
                (EXTENDS, node) if is_first && node != Node::Null => {
                    self.value(&[&name], &key, Spanned { value: node, ..value })
                }
                ("notifications", node) => {
                    let value = Spanned { value: node, ..value };
                    fits(&[&name], value.clone()).then_some(value)
                }
                // `null` equals absent; but what belongs to rules may have slipped elsewhere.
                (other, Node::Null) if !matches!(other, GUARDS | PERMISSIONS | EXTENDS) => None,
                (_, node) => {
                    self.leave_out(&[&name], &key, &Spanned { value: node, span: value.span });
                    None
                }
            };
            kept.extend(usable.map(|value| (key, value)));
        }
        kept
    }

    /// The rules of a section. What it runs stays off as a whole: half of it might be something else than was meant.
    fn rules(&mut self, section: &str, entries: Vec<Entry>) -> Vec<Entry> {
        let mut kept: Vec<Entry> = Vec::new();
        for (key, value) in entries {
            let name = key.value.clone();
            if matches!(name.as_ref(), "commands" | "match") {
                continue;
            }
            let keys = [section, &name];
            if value.value == Node::Null || kept.iter().any(|(known, _)| known.value == name) {
                self.leave_out(&keys, &key, &value);
            } else {
                kept.extend(self.value(&keys, &key, value).map(|value| (key, value)));
            }
        }
        kept
    }

    /// A value, or the entries of a list that can be used.
    fn value(&mut self, keys: &[&str], key: &Spanned<Text>, value: Spanned<Node>) -> Option<Spanned<Node>> {
        if fits(keys, value.clone()) {
            return Some(value);
        }
        let empty = Spanned { value: Node::List(Vec::new()), span: value.span };
        let items = match value.value {
            Node::List(items) if fits(keys, empty) => items,
            node => {
                self.leave_out(keys, key, &Spanned { value: node, span: value.span });
                return None;
            }
        };
        let mut kept = Vec::new();
        for item in items {
            let alone = Spanned { value: Node::List(vec![item.clone()]), span: item.span };
            if fits(keys, alone) {
                kept.push(item);
            } else {
                self.leave_out(keys, &Spanned { value: Text::default(), span: item.span }, &item);
            }
        }
        let list = Spanned { value: Node::List(kept), span: value.span };
        if fits(keys, list.clone()) {
            return Some(list);
        }
        // More entries than are accepted.
        self.leave_out(keys, key, &list);
        None
    }

    fn leave_out(&mut self, keys: &[&str], key: &Spanned<Text>, value: &Spanned<Node>) {
        if let Some(about) = about(keys, value) {
            let range = key.span.start..value.span.end.max(key.span.end);
            self.left_out.push(LeftOut { range, line: key.span.line, about });
        }
    }
}

/// Whether a value is valid below these keys, and nothing else is there.
fn fits(keys: &[&str], value: Spanned<Node>) -> bool {
    let tree = keys.iter().rev().fold(value, |inner, key| {
        let span = inner.span;
        let key = Spanned { value: Text::Owned((*key).to_owned()), span };
        Spanned { value: Node::Map(vec![(key, inner)]), span }
    });
    read(&tree).is_some()
}

#[cfg(test)]
mod tests;
