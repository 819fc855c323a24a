//! What can still be used of a file with errors: its guards and its rules for permissions, entry by entry. What is left out of
//! them is named together with the calls that it might have refused, so that no mistake in a file allows anything silently.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{ConclaudeConfig, ConfigError, NameGlob};
use crate::event::ALL;
use crate::text::nearest;
use crate::yaml::{Node, Spanned, Text};

type Entry = (Spanned<Text>, Spanned<Node>);

const GUARDS: &str = "preToolUse";
const PERMISSIONS: &str = "permissionRequest";
const EXTENDS: &str = "extends";

/// What those guards are about that have nothing to do with reading or commands.
const WRITE_GUARDS: [&str; 4] =
    ["uneditableFiles", "preventAdditions", "preventRootAdditions", "preventUpdateGitIgnored"];
const READ_GUARD: &str = "unreadableFiles";
const TOOL_GUARD: &str = "toolUsageValidation";

/// Rules that are written in a file and cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lost {
    pub(crate) path: PathBuf,
    /// Counted from 1; none for a file that cannot be read at all.
    pub(crate) line: Option<usize>,
    pub(crate) why: String,
    pub(crate) about: About,
}

/// The calls that rules might have been against.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum About {
    Writing,
    Reading,
    /// Files and commands of all kinds.
    Anything,
    Tools(NameGlob),
    /// Only what is allowed without asking.
    Permissions,
}

impl Lost {
    /// All rules of a file.
    pub(crate) fn file(error: &ConfigError, about: About) -> Lost {
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

/// What the rules in a text might be about that is not YAML.
pub(super) fn about_text(text: &str) -> Option<About> {
    let text = text.to_ascii_lowercase();
    let has = |word: &str| text.contains(&word.to_ascii_lowercase());
    if [EXTENDS, READ_GUARD, TOOL_GUARD].into_iter().any(has) {
        Some(About::Anything)
    } else if has(GUARDS) || WRITE_GUARDS.into_iter().any(has) {
        Some(About::Writing)
    } else {
        has(PERMISSIONS).then_some(About::Permissions)
    }
}

/// Guards and rules for permissions, what they extend, and notifications, since those are how the user may hear of the error. None
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
                (EXTENDS, node) if is_first => self.value(&[&name], &key, Spanned { value: node, ..value }),
                ("notifications", node) => {
                    let value = Spanned { value: node, ..value };
                    fits(&[&name], value.clone()).then_some(value)
                }
                // `null` equals absent.
                (_, Node::Null) => None,
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
            if kept.iter().any(|(known, _)| known.value == name) {
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
        let Node::List(items) = value.value else {
            self.leave_out(keys, key, &value);
            return None;
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

/// What a value that is left out might have refused; none if it could only have allowed something.
fn about(keys: &[&str], value: &Spanned<Node>) -> Option<About> {
    match keys {
        [PERMISSIONS, "allow"] | [GUARDS, "worktreeFence"] => None,
        [PERMISSIONS, ..] => Some(About::Permissions),
        [GUARDS, READ_GUARD] => (!frees(value)).then_some(About::Reading),
        [GUARDS, key] if WRITE_GUARDS.contains(key) => (!frees(value)).then_some(About::Writing),
        [GUARDS, TOOL_GUARD] => of_tool_rule(value),
        [GUARDS | EXTENDS, ..] => Some(About::Anything),
        [section, ..] => misplaced(section, value),
        [] => None,
    }
}

fn text<'a>(value: &'a Spanned<Node>, key: &str) -> Option<&'a str> {
    match &value.value_of(key)?.value {
        Node::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether an entry of a list of files is `!pattern`.
fn frees(value: &Spanned<Node>) -> bool {
    let pattern = match &value.value {
        Node::Text(text) => Some(text.as_ref()),
        _ => text(value, "pattern"),
    };
    pattern.is_some_and(|pattern| pattern.starts_with('!'))
}

fn of_tool_rule(rule: &Spanned<Node>) -> Option<About> {
    if text(rule, "action") == Some("allow") {
        return None;
    }
    let tool = text(rule, "tool").and_then(|tool| {
        NameGlob::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(tool)).ok()
    });
    Some(tool.map_or(About::Anything, About::Tools))
}

/// What rules are about that are in a section where they do not belong, or in one with a name that nothing has.
fn misplaced(section: &str, value: &Spanned<Node>) -> Option<About> {
    let of_key = |key: &str| match key {
        GUARDS | READ_GUARD | TOOL_GUARD => Some(About::Anything),
        PERMISSIONS => Some(About::Permissions),
        key if WRITE_GUARDS.contains(&key) => Some(About::Writing),
        _ => None,
    };
    let mut found = None;
    let mut pending = vec![value];
    while let Some(node) = pending.pop() {
        match &node.value {
            Node::Map(entries) => {
                for (key, value) in entries {
                    found = together(found, of_key(&key.value));
                    pending.push(value);
                }
            }
            Node::List(items) => pending.extend(items),
            _ => {}
        }
    }
    // A section that is close to another one is that.
    let sections = ALL.iter().map(|event| event.row().section).chain([EXTENDS, READ_GUARD, TOOL_GUARD]);
    let meant = nearest(section, sections.chain(WRITE_GUARDS));
    found.or_else(|| match meant {
        Some(EXTENDS) => Some(About::Anything),
        meant => of_key(meant?),
    })
}

fn together(one: Option<About>, other: Option<About>) -> Option<About> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one == other { one } else { About::Anything }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
