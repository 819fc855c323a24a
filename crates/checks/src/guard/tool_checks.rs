//! `toolUsageValidation`: one rule decides about each simple command, each pipeline, or the call itself.

use std::collections::BTreeMap;

use super::call::{Advice, Explanation, Finding, ToolCall, for_question, shown, start};
use super::command_pattern::Match;
use super::comparison_log::ComparisonLog;
use super::resolve::{Effects, Touch};
use super::rules::{Action, GuardRules, ToolRule};
use super::tool_rule::{RuleTarget, TargetKind, Touches, is_for, touches};
use conclaude_core::config::Layer;
use conclaude_core::dialect::claude::mcp;
use conclaude_core::text::{clean_line, ended};
use shell_effects::{Access, SimpleCommand};

/// Shorter scripts are not searched for repeated commands.
const SHORT_SCRIPT: usize = 32;

pub(super) fn tools(rules: &GuardRules, call: &ToolCall<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    // An explanation shows every rule.
    let applies = |rule: &&ToolRule| call.log.shows_all() || is_for(rule, call).is_ok();
    let rules = &LayeredRules::of(rules.tools.iter().filter(applies));
    if rules.0.is_empty() {
        return;
    }
    let compares_files = rules.0.iter().any(|rule| rule.compares_files());
    let named: Vec<Touch> = if compares_files { named_files(call) } else { Vec::new() };
    let mut touches = if compares_files { touches(effects) } else { Touches::new() };
    if !named.is_empty() {
        touches.entry(None).or_default().extend(&named);
    }
    let is_only = effects.commands.len() == 1;
    if effects.commands.is_empty() {
        found.extend(judged(rules, call, &RuleTarget::call(&touches)));
    }
    let is_long = effects.commands.len() > SHORT_SCRIPT;
    let mut seen = BTreeMap::new();
    for (index, command) in effects.commands.iter().enumerate() {
        // Long scripts repeat themselves.
        if is_long && !compares_files && seen.insert(command.text.as_str(), command) == Some(command) {
            continue;
        }
        found.extend(judged(rules, call, &RuleTarget::command((index, command), call, is_only, &touches)));
    }
    if is_only {
        return;
    }
    let rules = LayeredRules::of(rules.0.iter().copied().filter(|rule| rule.is_for_joined()));
    if rules.0.iter().any(|rule| rule.action != Action::Allow) {
        joined(&rules, call, effects, found);
    }
}

/// The layer whose rule allows a call that runs no command.
pub(super) fn allowing_layer(rules: &GuardRules, call: &ToolCall<'_>) -> Option<Layer> {
    let rules = LayeredRules::of(rules.tools.iter().filter(|rule| is_for(rule, call).is_ok()));
    if !rules.0.iter().any(|rule| rule.action == Action::Allow) {
        return None;
    }
    let named = named_files(call);
    let touches = Touches::from([(None, named.iter().collect())]);
    // An explanation shows these rules elsewhere.
    let call = &ToolCall { log: ComparisonLog::default(), ..*call };
    let decided = deciding(&rules, call, &RuleTarget::call(&touches))?;
    if decided.action == Action::Allow { Some(decided.rule.origin.layer) } else { None }
}

/// The files that the input of an MCP server's tool names. If there are too many, the user is asked about the call.
fn named_files(call: &ToolCall<'_>) -> Vec<Touch> {
    if !call.tool.starts_with(mcp::PREFIX) {
        return Vec::new();
    }
    let files = mcp::named_files(call.input).unwrap_or_default().into_iter();
    files.map(|path| call.ground.touch(Access::Link, &path)).collect()
}

/// Pipelines, and the whole text.
fn joined(rules: &LayeredRules<'_>, call: &ToolCall<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    let before = found.len();
    for pipeline in &effects.pipelines {
        let commands: Vec<&SimpleCommand> =
            pipeline.iter().filter_map(|index| effects.commands.get(*index)).collect();
        found.extend(judged(rules, call, &RuleTarget::pipeline(&commands, call.ground.home)));
    }
    let whole = call.command.and_then(|text| judged(rules, call, &RuleTarget::whole(text)));
    // A finding about a pipeline is repeated by the whole text.
    let is_new = |one: &Finding| !found.iter().skip(before).any(|known| known.origin == one.origin);
    let whole = whole.filter(is_new);
    found.extend(whole);
}

/// Whether a rule allows a pipeline of this command, or the whole text.
pub(super) fn allows(rules: &GuardRules, call: &ToolCall<'_>, effects: &Effects, command: usize) -> bool {
    let is_for_it = |rule: &&ToolRule| is_for(rule, call).is_ok() && rule.is_for_joined();
    let rules = LayeredRules::of(rules.tools.iter().filter(is_for_it));
    let is_allowed = |target: &RuleTarget<'_>| {
        deciding(&rules, call, target).is_some_and(|decided| decided.action == Action::Allow)
    };
    let mut pipelines = effects.pipelines.iter().filter(|pipeline| pipeline.contains(&command));
    let of_pipeline = |pipeline: &Vec<usize>| {
        let commands: Vec<&SimpleCommand> =
            pipeline.iter().filter_map(|index| effects.commands.get(*index)).collect();
        is_allowed(&RuleTarget::pipeline(&commands, call.ground.home))
    };
    pipelines.any(of_pipeline) || call.command.is_some_and(|text| is_allowed(&RuleTarget::whole(text)))
}

/// Rules in the order of their layers, outer layers first. The packs of a layer follow each other, at the position of the first
/// one.
struct LayeredRules<'a>(Vec<&'a ToolRule>);

impl<'a> LayeredRules<'a> {
    fn of(rules: impl Iterator<Item = &'a ToolRule>) -> LayeredRules<'a> {
        let mut with_packs: Vec<Layer> = Vec::new();
        let place = |rule: &'a ToolRule| {
            let layer = rule.origin.layer;
            let comes_after = with_packs.contains(&layer);
            let part = match (rule.origin.is_of_pack(), comes_after) {
                (false, false) => LayerPart::Before,
                (false, true) => LayerPart::After,
                (true, _) => LayerPart::Packs,
            };
            if part == LayerPart::Packs && !comes_after {
                with_packs.push(layer);
            }
            ((layer, part), rule)
        };
        let mut placed: Vec<((Layer, LayerPart), &ToolRule)> = rules.map(place).collect();
        placed.sort_by_key(|(place, _)| *place);
        LayeredRules(placed.into_iter().map(|(_, rule)| rule).collect())
    }

    /// The rules that a quick look at the target does not rule out. An explanation shows every rule.
    fn compared_with(&self, target: &RuleTarget<'_>, call: &ToolCall<'_>) -> LayeredRules<'a> {
        let shows_all = call.log.shows_all();
        let is_compared = |rule: &&ToolRule| shows_all || !target.rules_out(rule);
        LayeredRules(self.0.iter().copied().filter(is_compared).collect())
    }

    fn layers(&self) -> impl Iterator<Item = &[&'a ToolRule]> {
        self.0.chunk_by(|one, other| one.origin.layer == other.origin.layer)
    }
}

/// Where a rule of a layer is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LayerPart {
    Before,
    Packs,
    After,
}

/// The decision of a rule, and whether it is certain.
#[derive(Clone, Copy)]
struct ToolDecision<'a> {
    rule: &'a ToolRule,
    action: Action,
    is_certain: bool,
    /// Whether a rule matched, so that later files do not count.
    is_final: bool,
}

impl<'a> ToolDecision<'a> {
    fn by(rule: &'a ToolRule) -> ToolDecision<'a> {
        ToolDecision { rule, action: rule.action, is_certain: true, is_final: true }
    }

    /// The rule would match if unknown parts of the command had certain values.
    fn perhaps(rule: &'a ToolRule, is_final: bool) -> ToolDecision<'a> {
        ToolDecision { rule, action: Action::Ask, is_certain: false, is_final }
    }
}

fn judged(rules: &LayeredRules<'_>, call: &ToolCall<'_>, target: &RuleTarget<'_>) -> Option<Finding> {
    let ToolDecision { rule, action, is_certain, .. } = deciding(rules, call, target)?;
    let subject = target.subject(call);
    if action == Action::Allow {
        call.log.allowed((&rule.origin, &rule.written), subject);
        return None;
    }
    let (what, written) = match &target.kind {
        TargetKind::Call if call.command.is_none() => (format!("using {}", call.tool), None),
        TargetKind::Command(_) => (format!("running `{}`", shown(subject)), Some(subject)),
        TargetKind::Call | TargetKind::Joined { .. } => {
            (format!("running `{}`", shown(start(subject))), Some(start(subject)))
        }
    };
    // The file is named if the command does not show it.
    let file = target.file(rule, &call.ground).map(clean_line).filter(|file| !what.contains(file.as_str()));
    let on = file.as_ref().map(|file| format!(" on {file}")).unwrap_or_default();
    let Explanation { reason, advice } = match &target.kind {
        TargetKind::Command(forms) if !is_certain => uncertain(forms.plain.unknown(), rule),
        _ => Explanation::of(rule.message.clone(), || {
            Explanation::by_default(action, &format!("{what}{on}"), &rule.origin, &rule.written)
        }),
    };
    let about = match (written, file) {
        (Some(command), _) => call.about_command(command, &reason),
        (None, Some(file)) => call.about_file(&file, &reason),
        (None, None) => None,
    };
    let origin = rule.origin.rule(&rule.written);
    Some(Finding { action, reason, advice, about, origin, matched: subject.to_owned(), unknown: None })
}

/// The text of a rule that would match if a part of the command had a certain value.
fn uncertain(unknown: &str, rule: &ToolRule) -> Explanation {
    let against = match &rule.message {
        Some(message) if rule.action == Action::Block => {
            format!("a rule could forbid it: {}", ended(for_question(message, &rule.origin)))
        }
        Some(message) => format!("a rule could forbid it: {}", ended(message)),
        None => format!("`{}` has `{}`.", rule.origin.key, rule.written),
    };
    let unknown = clean_line(unknown);
    Explanation {
        reason: format!("The value of `{unknown}` is unknown before it runs, and {against}"),
        advice: Advice::both(
            "Write the value itself; if it is one name or path, put it in quotes.",
            "Allow it if you know the value.",
        ),
    }
}

/// The deciding rule: the strictest among the decisions of the layers. An inner layer relaxes the decision of an outer one only
/// if that is `overridable`.
fn deciding<'a>(
    rules: &LayeredRules<'a>,
    call: &ToolCall<'_>,
    target: &RuleTarget<'_>,
) -> Option<ToolDecision<'a>> {
    let rules = rules.compared_with(target, call);
    rules.layers().fold(None, |outer, of_layer| {
        let comparison = LayerComparison { call, target, outer };
        comparison.decide(of_layer).map(|inner| prevailing(outer, inner)).or(outer)
    })
}

fn prevailing<'a>(outer: Option<ToolDecision<'a>>, inner: ToolDecision<'a>) -> ToolDecision<'a> {
    outer.filter(|outer| !outer.rule.overridable && outer.action >= inner.action).unwrap_or(inner)
}

/// A comparison with the rules of one layer.
struct LayerComparison<'a, 'c> {
    call: &'c ToolCall<'c>,
    target: &'c RuleTarget<'c>,
    /// The decision of outer layers.
    outer: Option<ToolDecision<'a>>,
}

impl<'a> LayerComparison<'a, '_> {
    /// The first match of the layer's files decides. Its packs count as one file: the strictest of their first matches counts.
    fn decide(&self, rules: &[&'a ToolRule]) -> Option<ToolDecision<'a>> {
        let mut decided: Option<ToolDecision<'a>> = None;
        for part in rules.chunk_by(|one, other| one.origin.is_of_pack() == other.origin.is_of_pack()) {
            let earlier = decided.filter(|decided| decided.is_final);
            if earlier.is_some() && !self.call.log.shows_all() {
                break;
            }
            let found = self.of_part(part, earlier.map(|decided| decided.rule));
            decided = match (decided, found) {
                (None, found) => found,
                // A rule that could match is stricter than one that allows.
                (Some(ToolDecision { is_final: false, .. }), Some(found))
                    if found.is_certain && found.action != Action::Allow =>
                {
                    Some(found)
                }
                (decided, _) => decided,
            };
        }
        decided
    }

    /// The decision of a file, or of all packs.
    fn of_part(&self, rules: &[&'a ToolRule], earlier: Option<&'a ToolRule>) -> Option<ToolDecision<'a>> {
        let is_pack = rules.first().is_some_and(|rule| rule.origin.is_of_pack());
        if !is_pack {
            return self.first_match(rules, earlier);
        }
        let mut strictest: Option<ToolDecision<'a>> = None;
        for pack in rules.chunk_by(|one, other| one.origin.file == other.origin.file) {
            let Some(found) = self.first_match(pack, earlier) else { continue };
            let rank = |decision: ToolDecision<'_>| (decision.action, decision.is_certain);
            if strictest.is_none_or(|strictest| rank(found) > rank(strictest)) {
                strictest = Some(found);
            }
        }
        strictest
    }

    /// The first rule that matches. If it allows, an earlier rule that could match decides instead. After an earlier file has decided,
    /// rules are compared only for an explanation.
    fn first_match(&self, rules: &[&'a ToolRule], earlier: Option<&'a ToolRule>) -> Option<ToolDecision<'a>> {
        let LayerComparison { call, target, outer } = *self;
        let subject = target.subject(call);
        let mut first = earlier;
        let mut perhaps: Option<&ToolRule> = None;
        for rule in rules.iter().copied() {
            let named = (&rule.origin, rule.written.as_str());
            if first.is_some() && !call.log.shows_all() {
                break;
            }
            match (first, target.compare(rule, call)) {
                (_, Err(why)) => call.log.missed(named, subject, || why.describe(rule, call, subject)),
                (Some(first), Ok(_)) => call.log.missed(named, subject, || {
                    let position = first.origin.rule(&first.written).position().unwrap_or_default();
                    format!("would match {subject}, but the rule in {position} matches first")
                }),
                (None, Ok(Match::Perhaps)) => {
                    call.log.matched(named, subject, || {
                        format!("could match {subject}, which is unknown in part: it asks")
                    });
                    perhaps = perhaps.or(Some(rule));
                }
                (None, Ok(Match::As(form))) => {
                    call.log.matched(named, subject, || effect(ToolDecision::by(rule), outer, subject, form));
                    first = Some(rule);
                }
            }
        }
        let perhaps = perhaps.map(|rule| ToolDecision::perhaps(rule, first.is_some()));
        let first = first.map(ToolDecision::by);
        first.filter(|first| first.action != Action::Allow).or(perhaps).or(first)
    }
}

/// The effect of a matching rule.
fn effect(decided: ToolDecision<'_>, outer: Option<ToolDecision<'_>>, subject: &str, form: &str) -> String {
    let prevailing = prevailing(outer, decided);
    if !std::ptr::eq(prevailing.rule, decided.rule) {
        return format!(
            "matches {subject}, but cannot relax `{}` of an outer layer",
            prevailing.rule.written
        );
    }
    let form = if form.is_empty() || form == subject { String::new() } else { format!(" as `{form}`") };
    match decided.action {
        Action::Allow => format!("matches {subject}{form}, and allows it"),
        Action::Ask => format!("matches {subject}{form}, and asks"),
        Action::Block => format!("matches {subject}{form}, and blocks it"),
    }
}
