//! `packs` changes what rules of packs do. This changes the values of the files, so that everything that reads the config agrees.

use super::{Layer, PACK, Source};
use crate::config::{GUARD_KEYS, PACKS, RuleAction};
use crate::packs::PackRule;
use crate::yaml::{MapEntry, Node, Span, Spanned, Text};

/// One entry of `packs`.
#[derive(Clone, Debug, PartialEq)]
pub struct PackSwitch {
    pub pack: Text,
    pub rule: Text,
    pub action: RuleAction,
    pub layer: Layer,
    pub span: Span,
}

/// Why an entry of `packs` has no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IdleSwitch<'a> {
    /// No file extends the pack.
    NotExtended,
    /// Another layer is stricter.
    Stricter(&'a PackSwitch),
    /// This outer layer extends the pack.
    OfOuterLayer(Layer),
}

/// The entries of a file. Unreadable ones have already been reported.
pub(super) fn of_file(tree: &Spanned<Node>, layer: Layer) -> Vec<PackSwitch> {
    let Some(Spanned { value: Node::Map(packs), .. }) = tree.value_of(PACKS) else { return Vec::new() };
    let mut found = Vec::new();
    for (pack, rules) in packs.iter() {
        let Node::Map(rules) = &rules.value else { continue };
        for (rule, value) in rules.iter() {
            let Node::Text(word) = &value.value else { continue };
            if let Some(action) = RuleAction::named(word) {
                let (pack, rule) = (pack.value.clone(), rule.value.clone());
                found.push(PackSwitch { pack, rule, action, layer, span: value.span });
            }
        }
    }
    found
}

/// A rule of a pack, and the layer that extends the pack.
#[derive(Clone, Copy)]
pub(super) struct SwitchedRule<'a> {
    pub(super) pack: &'a str,
    pub(super) rule: &'a str,
    pub(super) layer: Layer,
    /// The action in the pack.
    pub(super) action: RuleAction,
}

/// The entry that decides a rule. The layer that extends the pack and outer ones may relax it, and the strictest of them counts.
/// An inner layer can only make it stricter.
pub(super) fn deciding<'a>(switches: &'a [PackSwitch], of: &SwitchedRule<'_>) -> Option<&'a PackSwitch> {
    let mut decided: Option<&PackSwitch> = None;
    for layer in [Layer::User, Layer::Project, Layer::Local] {
        let is_meant = |one: &&PackSwitch| one.layer == layer && one.pack == of.pack && one.rule == of.rule;
        // In one layer, the last file counts.
        let Some(switch) = switches.iter().rfind(is_meant) else { continue };
        let current = match decided {
            Some(outer) => Some(outer.action),
            None if layer > of.layer => Some(of.action),
            None => None,
        };
        if current.is_none_or(|current| switch.action > current) {
            decided = Some(switch);
        }
    }
    decided
}

/// Changes the rules of packs, and removes those that are off.
pub(super) fn apply(tree: &mut Spanned<Node>, sources: &[Source], switches: &[PackSwitch]) {
    if switches.is_empty() {
        return;
    }
    let Some(Node::Map(guards)) = entry_mut(tree, "preToolUse").map(|guards| &mut guards.value) else {
        return;
    };
    for (key, list) in guards.to_mut() {
        if let Node::List(rules) = &mut list.value
            && GUARD_KEYS.iter().any(|guard| guard.name == key.value)
        {
            rules.to_mut().retain_mut(|rule| is_kept(rule, sources, switches));
        }
    }
}

/// Changes a rule of a pack. Returns whether it is still there.
fn is_kept(rule: &mut Spanned<Node>, sources: &[Source], switches: &[PackSwitch]) -> bool {
    let Some(source) = sources.get(rule.span.source) else { return true };
    let path = source.path.to_string_lossy();
    let (Some(pack), Some(name)) = (path.strip_prefix(PACK), PackRule::name_at(&path, rule.span.line)) else {
        return true;
    };
    let action = text(rule, "action").and_then(RuleAction::named).unwrap_or(RuleAction::Block);
    let named = SwitchedRule { pack, rule: name, layer: source.layer, action };
    let Some(switch) = deciding(switches, &named) else { return true };
    if switch.action == RuleAction::Allow {
        return false;
    }
    let action = Spanned { value: Node::Text(switch.action.as_str().into()), span: switch.span };
    if let Node::Map(entries) = &mut rule.value {
        let entries = entries.to_mut();
        entries.retain(|(key, _)| key.value != "action");
        entries.push((Spanned { value: "action".into(), span: switch.span }, action));
    }
    true
}

fn text<'a>(node: &'a Spanned<Node>, key: &str) -> Option<&'a str> {
    match &node.value_of(key)?.value {
        Node::Text(text) => Some(text),
        _ => None,
    }
}

fn entry_mut<'a>(node: &'a mut Spanned<Node>, key: &str) -> Option<&'a mut Spanned<Node>> {
    let Node::Map(entries) = &mut node.value else { return None };
    entries.to_mut().iter_mut().find(|(own, _): &&mut MapEntry| own.value == key).map(|(_, value)| value)
}
