//! If a file has errors, its valid guards and permission rules still apply, entry by entry. A skipped rule is reported together
//! with the calls that it might have refused, so that no mistake in a file silently allows anything.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{BUDGET, ConclaudeConfig, ConfigError, GUARD_KEYS, GuardKey, GuardSubject, PACKS};
use crate::dialect::claude::notation::ToolPattern;
use crate::event::ALL;
use crate::text::nearest;
use crate::yaml::{MapEntry, Node, Spanned, Text};
use shell_effects::glob::{Glob, GlobKind};

/// Unusable rules of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct UnusableRules {
    pub path: PathBuf,
    /// Counted from 1. `None` for a file that cannot be read at all.
    pub line: Option<usize>,
    pub why: String,
    /// The calls that they might have refused.
    pub calls: GuardedCalls,
}

impl UnusableRules {
    /// All rules of a file.
    pub fn of_file(error: &ConfigError, calls: GuardedCalls) -> UnusableRules {
        let first = error.located().into_iter().next();
        let why = first.as_ref().map_or_else(|| error.summary(), |problem| problem.message.to_owned());
        let line = first.map(|problem| problem.line);
        UnusableRules { path: error.path().to_owned(), line, why, calls }
    }
}

/// The usable part of a file with errors.
pub(super) struct SalvagedConfig {
    pub(super) config: ConclaudeConfig,
    pub(super) tree: Spanned<Node>,
    pub(super) skipped: Vec<SkippedValue>,
}

/// An unused part of the tree.
pub(super) struct SkippedValue {
    /// In bytes of the text.
    range: Range<usize>,
    line: usize,
    calls: GuardedCalls,
}

impl SkippedValue {
    pub(super) fn unusable(self, path: &Path, error: &ConfigError) -> UnusableRules {
        let why = error.title_in(&self.range).unwrap_or("it cannot be used").to_owned();
        UnusableRules { path: path.to_owned(), line: Some(self.line), why, calls: self.calls }
    }
}

/// Keeps guards and permission rules, the extended files, budgets, and notifications, because those may show the error to the
/// user. `None` if nothing is known except that the file is wrong.
pub(super) fn salvage(tree: Spanned<Node>) -> Option<SalvagedConfig> {
    let span = tree.span;
    let Node::Map(entries) = tree.value else { return None };
    let mut sieve = Sieve::default();
    let value = Node::Map(sieve.sections(entries.into_owned()).into());
    let tree = Spanned { value, span };
    let config = ConclaudeConfig::from_tree(&tree).ok()?;
    Some(SalvagedConfig { config, tree, skipped: sieve.skipped })
}

#[derive(Default)]
struct Sieve {
    skipped: Vec<SkippedValue>,
}

impl Sieve {
    fn sections(&mut self, entries: Vec<MapEntry>) -> Vec<MapEntry> {
        let mut kept: Vec<MapEntry> = Vec::new();
        for (key, value) in entries {
            let name = key.value.clone();
            let is_first = !kept.iter().any(|(known, _)| known.value == name);
            let usable = match (name.as_ref(), value.value) {
                (GUARDS | PERMISSIONS, Node::Map(rules)) if is_first => {
                    let rules = self.rules(&name, rules.into_owned());
                    Some(Spanned { value: Node::Map(rules.into()), span: value.span })
                }
                (EXTENDS, node) if is_first && node != Node::Null => {
                    self.value(&[&name], &key, Spanned { value: node, ..value })
                }
                // A rule of a pack without a switch does what the pack says.
                (PACKS, Node::Map(packs)) if is_first => {
                    Some(Spanned { value: Node::Map(switches(packs.into_owned()).into()), span: value.span })
                }
                ("notifications" | BUDGET, node) => {
                    let value = Spanned { value: node, ..value };
                    if fits(&[&name], value.clone()) { Some(value) } else { None }
                }
                // `null` equals absent; but what belongs to rules may have moved elsewhere.
                (other, Node::Null) if !matches!(other, GUARDS | PERMISSIONS | EXTENDS) => None,
                (_, node) => {
                    self.skip(&[&name], &key, &Spanned { value: node, span: value.span });
                    None
                }
            };
            kept.extend(usable.map(|value| (key, value)));
        }
        kept
    }

    /// The rules of a section. Its commands are all off: half of them might not be what the user meant.
    fn rules(&mut self, section: &str, entries: Vec<MapEntry>) -> Vec<MapEntry> {
        let mut kept: Vec<MapEntry> = Vec::new();
        for (key, value) in entries {
            let name = key.value.clone();
            if matches!(name.as_ref(), "commands" | "match") {
                continue;
            }
            let keys = [section, &name];
            if value.value == Node::Null || kept.iter().any(|(known, _)| known.value == name) {
                self.skip(&keys, &key, &value);
            } else {
                kept.extend(self.value(&keys, &key, value).map(|value| (key, value)));
            }
        }
        kept
    }

    /// A value, or the valid entries of a list.
    fn value(&mut self, keys: &[&str], key: &Spanned<Text>, value: Spanned<Node>) -> Option<Spanned<Node>> {
        if fits(keys, value.clone()) {
            return Some(value);
        }
        let empty = Spanned { value: Node::List(Cow::default()), span: value.span };
        let items = match value.value {
            Node::List(items) if fits(keys, empty) => items,
            node => {
                self.skip(keys, key, &Spanned { value: node, span: value.span });
                return None;
            }
        };
        let mut kept = Vec::new();
        for item in items.into_owned() {
            let alone = Spanned { value: Node::List(vec![item.clone()].into()), span: item.span };
            if fits(keys, alone) {
                kept.push(item);
            } else {
                self.skip(keys, &Spanned { value: Text::default(), span: item.span }, &item);
            }
        }
        let list = Spanned { value: Node::List(kept.into()), span: value.span };
        if fits(keys, list.clone()) {
            return Some(list);
        }
        // More entries than are accepted.
        self.skip(keys, key, &list);
        None
    }

    fn skip(&mut self, keys: &[&str], key: &Spanned<Text>, value: &Spanned<Node>) {
        if let Some(calls) = calls_of(keys, value) {
            let range = key.span.start..value.span.end.max(key.span.end);
            self.skipped.push(SkippedValue { range, line: key.span.line, calls });
        }
    }
}

/// The valid entries of `packs`.
fn switches(packs: Vec<MapEntry>) -> Vec<MapEntry> {
    let mut kept = Vec::new();
    for (pack, rules) in packs {
        let Node::Map(entries) = rules.value else { continue };
        let is_valid = |(rule, action): &MapEntry| fits(&[PACKS, &pack.value, &rule.value], action.clone());
        let entries: Vec<MapEntry> = entries.into_owned().into_iter().filter(is_valid).collect();
        kept.push((pack.clone(), Spanned { value: Node::Map(entries.into()), span: rules.span }));
    }
    kept.retain(|(pack, rules)| fits(&[PACKS, &pack.value], rules.clone()));
    kept
}

/// Whether this value alone, below these keys, is valid.
fn fits(keys: &[&str], value: Spanned<Node>) -> bool {
    let tree = keys.iter().rev().fold(value, |inner, key| {
        let span = inner.span;
        let key = Spanned { value: Text::Owned((*key).to_owned()), span };
        Spanned { value: Node::Map(vec![(key, inner)].into()), span }
    });
    ConclaudeConfig::from_tree(&tree).is_ok()
}

const GUARDS: &str = "preToolUse";
const PERMISSIONS: &str = "permissionRequest";
const EXTENDS: &str = "extends";

/// The calls that rules might have refused.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardedCalls {
    Writing,
    Reading,
    /// Files and commands of all kinds.
    Anything,
    Tools(Glob),
    /// Only calls that are allowed without asking.
    Permissions,
}

/// The calls that rules in a text might refuse. The text is not YAML.
pub(super) fn calls_in_text(text: &str) -> Option<GuardedCalls> {
    let text = text.to_ascii_lowercase();
    let has = |word: &str| text.contains(&word.to_ascii_lowercase());
    let has_guard = |subject| GUARD_KEYS.iter().any(|guard| guard.subject == subject && has(guard.name));
    if has(EXTENDS) || has_guard(GuardSubject::Reading) || has_guard(GuardSubject::Tools) {
        Some(GuardedCalls::Anything)
    } else if has(GUARDS) || has_guard(GuardSubject::Writing) {
        Some(GuardedCalls::Writing)
    } else if has(PERMISSIONS) {
        Some(GuardedCalls::Permissions)
    } else {
        None
    }
}

/// The calls that a skipped value might have refused. `None` if it could only have allowed or run something.
fn calls_of(keys: &[&str], value: &Spanned<Node>) -> Option<GuardedCalls> {
    match keys {
        [PERMISSIONS, key] => match nearest(key, ["default", "deny", "allow", "commands", "match"]) {
            Some("allow" | "commands" | "match") => None,
            _ => Some(GuardedCalls::Permissions),
        },
        [GUARDS, key] => of_guard(key, value),
        [GUARDS | EXTENDS] => Some(GuardedCalls::Anything),
        [PERMISSIONS] => Some(GuardedCalls::Permissions),
        [section, ..] => misplaced(section, value),
        [] => None,
    }
}

/// Like `calls_of`, for a key of `preToolUse`. A similar key means the real one.
fn of_guard(key: &str, value: &Spanned<Node>) -> Option<GuardedCalls> {
    let names = GUARD_KEYS.iter().map(|guard| guard.name).chain(["commands", "match"]);
    let Some(meant) = nearest(key, names) else { return Some(GuardedCalls::Anything) };
    match GuardKey::of(meant)?.subject {
        GuardSubject::Fence => None,
        GuardSubject::Tools => of_tool_rule(value),
        GuardSubject::Reading | GuardSubject::Writing if frees(value) => None,
        GuardSubject::Reading => Some(GuardedCalls::Reading),
        GuardSubject::Writing => Some(GuardedCalls::Writing),
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

fn of_tool_rule(rule: &Spanned<Node>) -> Option<GuardedCalls> {
    if text(rule, "action") == Some("allow") {
        return None;
    }
    let Some(tool) = text(rule, "tool") else { return Some(GuardedCalls::Anything) };
    // It may be about any tool, if its tool name is the mistake.
    let named = ToolPattern::parse(tool).ok().and_then(|pattern| pattern.glob().ok());
    named.or_else(|| Glob::new("*", GlobKind::Name).ok()).map(GuardedCalls::Tools)
}

/// The calls that rules in a wrong or unknown section might refuse. If a colon or quote is missing, they are part of a key or of
/// a text.
fn misplaced(section: &str, value: &Spanned<Node>) -> Option<GuardedCalls> {
    let mut found = calls_in_text(section);
    if let Node::Text(text) = &value.value {
        found = together(found, calls_in_text(text));
    }
    let mut pending = vec![value];
    while let Some(node) = pending.pop() {
        match &node.value {
            Node::Map(entries) => {
                for (key, value) in entries.iter() {
                    found = together(found, calls_in_text(&key.value));
                    pending.push(value);
                }
            }
            Node::List(items) => pending.extend(items.iter()),
            _ => {}
        }
    }
    // A similar name means the real section.
    let sections = ALL.iter().map(|event| event.row().section).chain([EXTENDS]);
    let guards = GUARD_KEYS.iter().filter(|guard| guard.subject != GuardSubject::Fence);
    let meant = nearest(section, sections.chain(guards.map(|guard| guard.name)));
    found.or_else(|| match meant? {
        GUARDS => Some(GuardedCalls::Anything),
        meant => calls_in_text(meant),
    })
}

fn together(one: Option<GuardedCalls>, other: Option<GuardedCalls>) -> Option<GuardedCalls> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one == other { one } else { GuardedCalls::Anything }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
