//! `toolUsageValidation`: each simple command, or the call itself, is decided by one rule.

use super::call::{Call, Finding, named};
use super::resolve::{Effects, Touch};
use super::rules::{Action, Rules, ToolRule, Whom};
use crate::config::Layer;
use crate::text::clean_line;

pub(super) fn tools(rules: &Rules, call: &Call<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    let units: Vec<Option<usize>> = match effects.commands.len() {
        0 => vec![None],
        several => (0..several).map(Some).collect(),
    };
    for unit in units {
        let Some(rule) = deciding(rules, call, effects, unit) else { continue };
        if rule.action == Action::Allow {
            continue;
        }
        let what = match unit.and_then(|index| effects.commands.get(index)) {
            Some(command) => format!("running `{}`", clean_line(command)),
            None => format!("using {}", call.tool),
        };
        found.push(Finding {
            action: rule.action,
            what,
            rule: named(&rule.origin, &rule.written),
            advice: rule.message.clone().unwrap_or_else(|| "do it another way, or ask the user".into()),
            origin: rule.origin.rule(&rule.written),
            matched: subject(call, effects, unit).to_owned(),
        });
    }
}

fn subject<'a>(call: &Call<'a>, effects: &'a Effects, unit: Option<usize>) -> &'a str {
    unit.and_then(|index| effects.commands.get(index)).map_or(call.tool, String::as_str)
}

/// The rule that decides: the first that matches in each layer, and of these the strictest. What an outer layer decided an inner
/// one relaxes only where that is `overridable`.
fn deciding<'a>(
    rules: &'a Rules,
    call: &Call<'_>,
    effects: &Effects,
    unit: Option<usize>,
) -> Option<&'a ToolRule> {
    Layer::ALL.into_iter().fold(None, |outer, layer| {
        let of_layer = rules.tools.iter().filter(|rule| rule.origin.layer == layer);
        first_match(of_layer, outer, call, effects, unit).map(|rule| prevailing(outer, rule)).or(outer)
    })
}

fn prevailing<'a>(outer: Option<&'a ToolRule>, inner: &'a ToolRule) -> &'a ToolRule {
    outer.filter(|outer| !outer.overridable && outer.action >= inner.action).unwrap_or(inner)
}

fn first_match<'a>(
    rules: impl Iterator<Item = &'a ToolRule>,
    outer: Option<&ToolRule>,
    call: &Call<'_>,
    effects: &Effects,
    unit: Option<usize>,
) -> Option<&'a ToolRule> {
    let subject = subject(call, effects, unit);
    let mut first: Option<&ToolRule> = None;
    for rule in rules {
        let named = (&rule.origin, rule.written.as_str());
        if first.is_some() && !call.watch.is_watched() {
            break;
        }
        match (first, mismatch(rule, call, effects, unit)) {
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

fn mismatch(rule: &ToolRule, call: &Call<'_>, effects: &Effects, unit: Option<usize>) -> Option<Mismatch> {
    let is_allowing = rule.action == Action::Allow;
    if !rule.tool.matches(call.tool).unwrap_or(!is_allowing) {
        return Some(Mismatch::Tool);
    }
    if !rule.whom.is(call.agent) {
        return Some(Mismatch::Agent);
    }
    let of_unit = |touch: &&Touch| touch.command == unit || touch.command.is_none();
    let file = rule.pattern.as_ref().is_none_or(|pattern| {
        let mut touched = effects.touches.iter().filter(of_unit).peekable();
        let covers = |touch: &Touch| touch.names.iter().any(|name| pattern.covers(name));
        // Every file must be allowed, any file can be blocked.
        if is_allowing { touched.peek().is_some() && touched.all(covers) } else { touched.any(covers) }
    });
    if !file {
        return Some(Mismatch::File);
    }
    let command = rule.command.as_ref().is_none_or(|pattern| {
        let own = unit.and_then(|index| effects.commands.get(index));
        // The whole text only blocks: what follows an allowed command is not allowed by it.
        let whole = call.command.filter(|_| !is_allowing || effects.commands.len() <= 1);
        own.is_some_and(|text| pattern.matches(text, !is_allowing))
            || whole.is_some_and(|text| pattern.matches(text.trim(), !is_allowing))
    });
    (!command).then_some(Mismatch::Command)
}
