//! `toolUsageValidation`: each simple command, or the call itself, is decided by one rule.

use std::collections::HashMap;

use super::call::{Call, Finding, named, start};
use super::resolve::{Effects, Touch};
use super::rules::{Action, Rules, ToolRule, Whom};
use crate::config::Layer;
use crate::file_pattern::Location;
use crate::text::clean_line;

pub(super) fn tools(rules: &Rules, call: &Call<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    let units: Vec<Option<usize>> = match effects.commands.len() {
        0 => vec![None],
        several => (0..several).map(Some).collect(),
    };
    let script = &Compared::of(rules, call, effects);
    for unit in units {
        let unit = &script.unit(unit);
        let Some(rule) = deciding(rules, call, script, unit) else { continue };
        if rule.action == Action::Allow {
            continue;
        }
        let what = match (unit.command, call.command) {
            (Some(command), _) => format!("running `{}`", clean_line(command)),
            (None, Some(text)) => format!("running `{}`", clean_line(start(text))),
            (None, None) => format!("using {}", call.tool),
        };
        found.push(Finding {
            action: rule.action,
            what,
            rule: named(&rule.origin, &rule.written),
            advice: rule.message.clone().unwrap_or_else(|| "do it another way, or ask the user".into()),
            origin: rule.origin.rule(&rule.written),
            matched: unit.subject(call).to_owned(),
        });
    }
}

/// What a call does, prepared so that each command of a long script is compared with its own files alone, and the whole text
/// once with each rule.
struct Compared<'a> {
    effects: &'a Effects,
    /// By the simple command that touches them.
    touches: HashMap<Option<usize>, Vec<&'a Touch>>,
    /// The rules that match the whole text.
    matching_whole: Vec<&'a ToolRule>,
}

impl<'a> Compared<'a> {
    fn of(rules: &'a Rules, call: &Call<'_>, effects: &'a Effects) -> Compared<'a> {
        let mut touches: HashMap<Option<usize>, Vec<&Touch>> = HashMap::new();
        for touch in &effects.touches {
            touches.entry(touch.command).or_default().push(touch);
        }
        let matching_whole = rules.tools.iter().filter(|rule| matches_whole(rule, call, effects)).collect();
        Compared { effects, touches, matching_whole }
    }

    fn unit(&self, index: Option<usize>) -> Unit<'_> {
        Unit {
            command: index.and_then(|index| self.effects.commands.get(index)).map(String::as_str),
            touched: self.touches.get(&index).map_or(&[], Vec::as_slice),
        }
    }

    fn matches_whole(&self, rule: &ToolRule) -> bool {
        self.matching_whole.iter().any(|matching| std::ptr::eq(*matching, rule))
    }
}

/// What one rule decides: a simple command with the files that it touches, or the call itself.
struct Unit<'a> {
    command: Option<&'a str>,
    touched: &'a [&'a Touch],
}

impl<'a> Unit<'a> {
    /// Without a simple command, as where the text cannot be parsed, the start of the text.
    fn subject(&self, call: &Call<'a>) -> &'a str {
        self.command.or(call.command.map(start)).unwrap_or(call.tool)
    }
}

/// The whole text only blocks: what follows an allowed command is not allowed by it.
fn matches_whole(rule: &ToolRule, call: &Call<'_>, effects: &Effects) -> bool {
    let is_allowing = rule.action == Action::Allow;
    let text = call.command.filter(|_| !is_allowing || effects.commands.len() <= 1);
    let compared = rule.command.as_ref().zip(text).filter(|_| is_for_tool(rule, call));
    compared.is_some_and(|(pattern, text)| pattern.matches(text.trim(), !is_allowing))
}

fn is_for_tool(rule: &ToolRule, call: &Call<'_>) -> bool {
    rule.tool.matches(call.tool).unwrap_or(rule.action != Action::Allow)
}

/// The rule that decides: the first that matches in each layer, and of these the strictest. What an outer layer decided an inner
/// one relaxes only where that is `overridable`.
fn deciding<'a>(
    rules: &'a Rules,
    call: &Call<'_>,
    script: &Compared<'_>,
    unit: &Unit<'_>,
) -> Option<&'a ToolRule> {
    Layer::ALL.into_iter().fold(None, |outer, layer| {
        let of_layer = rules.tools.iter().filter(|rule| rule.origin.layer == layer);
        first_match(of_layer, outer, call, script, unit).map(|rule| prevailing(outer, rule)).or(outer)
    })
}

fn prevailing<'a>(outer: Option<&'a ToolRule>, inner: &'a ToolRule) -> &'a ToolRule {
    outer.filter(|outer| !outer.overridable && outer.action >= inner.action).unwrap_or(inner)
}

fn first_match<'a>(
    rules: impl Iterator<Item = &'a ToolRule>,
    outer: Option<&ToolRule>,
    call: &Call<'_>,
    script: &Compared<'_>,
    unit: &Unit<'_>,
) -> Option<&'a ToolRule> {
    let subject = unit.subject(call);
    let mut first: Option<&ToolRule> = None;
    for rule in rules {
        let named = (&rule.origin, rule.written.as_str());
        if first.is_some() && !call.watch.is_watched() {
            break;
        }
        match (first, mismatch(rule, call, script, unit)) {
            (Some(first), None) => call.watch.missed(named, subject, || {
                let position = first.origin.rule(&first.written).position().unwrap_or_default();
                format!("would match {subject}, but the rule in {position} matches first")
            }),
            (_, Some(why)) => call.watch.missed(named, subject, || why.describe(rule, call, subject)),
            (None, None) => {
                call.watch.matched(named, subject, || effect(rule, outer, subject));
                first = Some(rule);
            }
        }
    }
    first
}

/// What a rule that matches does.
fn effect(rule: &ToolRule, outer: Option<&ToolRule>, subject: &str) -> String {
    let prevailing = prevailing(outer, rule);
    if !std::ptr::eq(prevailing, rule) {
        return format!("matches {subject}, but cannot relax `{}` of an outer layer", prevailing.written);
    }
    match rule.action {
        Action::Allow => format!("matches {subject}, and allows it"),
        Action::Ask => format!("matches {subject}, and asks"),
        Action::Block => format!("matches {subject}, and blocks it"),
    }
}

/// The part of a rule that does not match.
#[derive(Clone, Copy)]
enum Mismatch {
    Tool,
    Agent,
    File,
    Command,
}

impl Mismatch {
    fn describe(self, rule: &ToolRule, call: &Call<'_>, subject: &str) -> String {
        match self {
            Mismatch::Tool => format!("is for other tools than {}", call.tool),
            Mismatch::Agent => Whom::other(call.agent),
            Mismatch::File if rule.action == Action::Allow => {
                format!("does not cover all files of {subject}")
            }
            Mismatch::File => format!("covers no file of {subject}"),
            Mismatch::Command => format!("does not match {subject}"),
        }
    }
}

fn mismatch(rule: &ToolRule, call: &Call<'_>, script: &Compared<'_>, unit: &Unit<'_>) -> Option<Mismatch> {
    let is_allowing = rule.action == Action::Allow;
    if !is_for_tool(rule, call) {
        return Some(Mismatch::Tool);
    }
    if !rule.whom.is(call.agent) {
        return Some(Mismatch::Agent);
    }
    let file = rule.pattern.as_ref().is_none_or(|pattern| {
        let covers = |name: &Location| pattern.covers(name);
        // Every file must be allowed by each of its names, any file can be blocked.
        if is_allowing {
            !unit.touched.is_empty() && unit.touched.iter().all(|touch| touch.names.iter().all(covers))
        } else {
            unit.touched.iter().any(|touch| touch.names.iter().any(covers))
        }
    });
    if !file {
        return Some(Mismatch::File);
    }
    let command = rule.command.as_ref().is_none_or(|pattern| {
        script.matches_whole(rule) || unit.command.is_some_and(|text| pattern.matches(text, !is_allowing))
    });
    (!command).then_some(Mismatch::Command)
}
