//! Several files make one config: maps merge, lists append, scalars override, and a guard of an outer layer stays.

use super::Layer;
use crate::config::budget::{is_as_strict, is_later_than_default};
use crate::config::trust::TELEMETRY;
use crate::config::{BUDGET, GuardKey, PACKS, RuleAction};
use crate::yaml::{MapEntry, Node, Span, Spanned, Text};

pub(super) struct TreeMerger<'a> {
    /// Of each file.
    pub(super) layers: &'a [Layer],
    /// Of the current values.
    pub(super) keys: Vec<Text>,
}

impl TreeMerger<'_> {
    /// `null` equals absent.
    pub(super) fn values(&mut self, outer: Spanned<Node>, inner: Spanned<Node>) -> Spanned<Node> {
        if self.is_locked_on(&outer, &inner)
            || self.is_stricter(&outer, &inner)
            || self.is_stricter_switch(&outer, &inner)
            || self.is_stricter_budget(&outer, &inner)
        {
            return outer;
        }
        let (outer, inner) = self.with_own_headers(outer, inner);
        let span = outer.span;
        let outer = as_commands(outer, &inner, &self.keys);
        let inner = as_commands(inner, &outer, &self.keys);
        match (outer.value, inner.value) {
            (outer, Node::Null) => Spanned { value: outer, span },
            (Node::Map(entries), Node::Map(more)) if !is_one_value(&self.keys) => Spanned {
                value: Node::Map(self.entries(entries.into_owned(), more.into_owned()).into()),
                span,
            },
            (Node::List(items), Node::List(more)) if !is_one_value(&self.keys) => {
                let (mut items, more) = if first_decides(&self.keys) { (more, items) } else { (items, more) };
                items.to_mut().extend(more.into_owned());
                Spanned { value: Node::List(items), span }
            }
            (_, value) => Spanned { value, span: inner.span },
        }
    }

    fn entries(&mut self, mut entries: Vec<MapEntry>, more: Vec<MapEntry>) -> Vec<MapEntry> {
        let outer = SectionMode::of(&entries);
        for (key, value) in more {
            let is_void = key.value == MATCH && self.would_drop(outer, &value)
                || key.value == "at" && self.warns_later(&entries, &value)
                || self.would_stop_audit(&entries, &value);
            if is_void {
                continue;
            }
            match entries.iter_mut().find(|(known, _)| known.value == key.value) {
                Some((_, old)) => {
                    self.keys.push(key.value);
                    let outer = std::mem::replace(old, Spanned { value: Node::Null, span: value.span });
                    *old = self.values(outer, value);
                    self.keys.pop();
                }
                None => entries.push((key, value)),
            }
        }
        entries
    }

    /// Whether `match: first` would stop commands of an outer layer, where all of them run.
    fn would_drop(&self, outer: SectionMode, value: &Spanned<Node>) -> bool {
        let is_outer = |span| self.layer_of(span) < self.layer_of(value.span);
        !outer.is_first && is_first(value) && outer.commands.is_some_and(is_outer)
    }

    /// Whether an inner layer would disable records that an outer one wants or requires.
    fn would_stop_audit(&self, outer: &[MapEntry], value: &Spanned<Node>) -> bool {
        let is_wanted = |(key, wanted): &MapEntry| {
            (key.value == "enabled" || key.value == "required")
                && wanted.value == Node::Bool(true)
                && self.layer_of(wanted.span) < self.layer_of(value.span)
        };
        self.keys == ["audit"] && value.value == Node::Bool(false) && outer.iter().any(is_wanted)
    }

    /// Whether an inner layer warns later than the outer layer's default.
    fn warns_later(&self, outer: &[MapEntry], value: &Spanned<Node>) -> bool {
        let is_outer = |(_, amounts): &MapEntry| self.layer_of(amounts.span) < self.layer_of(value.span);
        self.keys == [BUDGET]
            && is_later_than_default(&value.value)
            && outer.iter().any(is_outer)
            && !outer.iter().any(|(key, _)| key.value == "at")
    }

    /// Headers go only to the endpoint of their own layer, because they may hold a token.
    fn with_own_headers(
        &self,
        mut outer: Spanned<Node>,
        mut inner: Spanned<Node>,
    ) -> (Spanned<Node>, Spanned<Node>) {
        if self.keys == [TELEMETRY] && self.layer_of(outer.span) < self.layer_of(inner.span) {
            let names_endpoint = inner.value_of("endpoint").is_some_and(|url| url.value != Node::Null);
            if names_endpoint { outer.remove(HEADERS) } else { inner.remove(HEADERS) }
        }
        (outer, inner)
    }

    fn layer_of(&self, span: Span) -> Layer {
        self.layers.get(span.source).copied().unwrap_or_default()
    }

    /// Whether a guard of an outer layer is on, and an inner layer may not switch it off.
    fn is_locked_on(&self, outer: &Spanned<Node>, inner: &Spanned<Node>) -> bool {
        let is_switch = match self.keys.as_slice() {
            [section, key] => {
                section == "preToolUse" && GuardKey::of(key).is_some_and(|guard| guard.is_switch)
            }
            _ => false,
        };
        let field = |key: &str| match &outer.value {
            Node::Map(entries) => {
                entries.iter().any(|(own, value)| own.value == key && value.value == Node::Bool(true))
            }
            value => key == "enabled" && *value == Node::Bool(true),
        };
        is_switch
            && self.layer_of(outer.span) < self.layer_of(inner.span)
            && field("enabled")
            && !field("overridable")
    }

    /// Whether an outer layer allows less without a rule than an inner one would.
    fn is_stricter(&self, outer: &Spanned<Node>, inner: &Spanned<Node>) -> bool {
        let rank = |node: &Spanned<Node>| match node
            .value_of("answer")
            .map_or(&node.value, |answer| &answer.value)
        {
            Node::Text(word) => ["allow", "ask", "deny"].iter().position(|known| known == word),
            _ => None,
        };
        let is_overridable = outer.value_of("overridable").is_some_and(|flag| flag.value == Node::Bool(true));
        self.keys == DEFAULT
            && self.layer_of(outer.span) < self.layer_of(inner.span)
            // An equal one would make the rules of its own layer ineffective.
            && rank(inner) <= rank(outer)
            && !is_overridable
    }

    /// Whether an outer layer is stricter about a rule of a pack.
    fn is_stricter_switch(&self, outer: &Spanned<Node>, inner: &Spanned<Node>) -> bool {
        let [section, _, _] = self.keys.as_slice() else { return false };
        let rank = |node: &Spanned<Node>| match &node.value {
            Node::Text(word) => RuleAction::named(word),
            _ => None,
        };
        section == PACKS
            && self.layer_of(outer.span) < self.layer_of(inner.span)
            && rank(inner) <= rank(outer)
    }

    /// Whether an outer layer's budget is at least as strict as the inner layer's.
    fn is_stricter_budget(&self, outer: &Spanned<Node>, inner: &Spanned<Node>) -> bool {
        let [section, keys @ ..] = self.keys.as_slice() else { return false };
        section == BUDGET
            && self.layer_of(outer.span) < self.layer_of(inner.span)
            && is_as_strict(keys, &outer.value, &inner.value)
    }
}

/// The phases are one value, because their order matters. An answer with `overridable` is one value as well.
fn is_one_value(keys: &[Text]) -> bool {
    keys == ["des", "phases"] || keys == DEFAULT
}

const DEFAULT: [&str; 2] = ["permissionRequest", "default"];

const MATCH: &str = "match";

const HEADERS: &str = "headers";

/// How the section of the outer files selects patterns.
#[derive(Clone, Copy)]
struct SectionMode {
    is_first: bool,
    commands: Option<Span>,
}

impl SectionMode {
    fn of(section: &[MapEntry]) -> SectionMode {
        let value = |name: &str| section.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
        SectionMode {
            is_first: value(MATCH).is_some_and(is_first),
            commands: value("commands").map(|commands| commands.span),
        }
    }
}

fn is_first(value: &Spanned<Node>) -> bool {
    matches!(&value.value, Node::Text(word) if word == "first")
}

/// Lists whose first match decides. A file comes before the files that it extends, so that it can make exceptions.
fn first_decides(keys: &[Text]) -> bool {
    keys == ["preToolUse", "toolUsageValidation"]
}

/// A plain list of commands becomes the list of `*`, if the other file has a map.
fn as_commands(node: Spanned<Node>, other: &Spanned<Node>, keys: &[Text]) -> Spanned<Node> {
    let is_list = matches!((&node.value, &other.value), (Node::List(_), Node::Map(_)));
    if !is_list || keys.last().is_none_or(|key| key != "commands") {
        return node;
    }
    let span = node.span;
    let key = Spanned { value: "*".into(), span };
    Spanned { value: Node::Map(vec![(key, node)].into()), span }
}
