//! `toolUsageValidation`: each simple command, each pipeline, or the call itself, is decided by one rule.

use std::collections::BTreeMap;

use super::call::{Call, Finding, named, shown, start};
use super::command_pattern::Match;
use super::resolve::{Effects, Touch};
use super::rules::{Action, Rules, ToolRule};
use super::unit::{Kind, Touches, Unit, is_for, touches};
use super::watch::Watch;
use conclaude_core::config::Layer;
use conclaude_core::dialect::claude::mcp;
use conclaude_core::text::clean_line;
use shell_effects::{Access, Simple};

/// In a script of so many commands it is not worth looking for those that are repeated.
const SHORT_SCRIPT: usize = 32;

pub(super) fn tools(rules: &Rules, call: &Call<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    // Whoever watches is shown every rule.
    let applies = |rule: &&ToolRule| call.watch.is_watched() || is_for(rule, call).is_ok();
    let rules = &OuterFirst::of(rules.tools.iter().filter(applies));
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
        found.extend(judged(rules, call, &Unit::call(&touches)));
    }
    let is_long = effects.commands.len() > SHORT_SCRIPT;
    let mut seen = BTreeMap::new();
    for (index, command) in effects.commands.iter().enumerate() {
        // A long script does the same again and again.
        if is_long && !compares_files && seen.insert(command.text.as_str(), command) == Some(command) {
            continue;
        }
        found.extend(judged(rules, call, &Unit::command((index, command), call, is_only, &touches)));
    }
    if is_only {
        return;
    }
    let rules = OuterFirst::of(rules.0.iter().copied().filter(|rule| rule.is_for_joined()));
    if rules.0.iter().any(|rule| rule.action != Action::Allow) {
        joined(&rules, call, effects, found);
    }
}

/// The layer whose rule allows a call that runs no command.
pub(super) fn allowing_layer(rules: &Rules, call: &Call<'_>) -> Option<Layer> {
    let rules = OuterFirst::of(rules.tools.iter().filter(|rule| is_for(rule, call).is_ok()));
    if !rules.0.iter().any(|rule| rule.action == Action::Allow) {
        return None;
    }
    let named = named_files(call);
    let touches = Touches::from([(None, named.iter().collect())]);
    // Whoever watches is shown these rules elsewhere.
    let call = &Call { watch: Watch::default(), ..*call };
    let decided = deciding(&rules, call, &Unit::call(&touches))?;
    (decided.action == Action::Allow).then_some(decided.rule.origin.layer)
}

/// The files that the input of an MCP server's tool names.
fn named_files(call: &Call<'_>) -> Vec<Touch> {
    if !call.tool.starts_with(mcp::PREFIX) {
        return Vec::new();
    }
    mcp::named_files(call.input).into_iter().map(|path| call.ground.touch(Access::Link, path)).collect()
}

/// Pipelines, and the whole text.
fn joined(rules: &OuterFirst<'_>, call: &Call<'_>, effects: &Effects, found: &mut Vec<Finding>) {
    let before = found.len();
    for pipeline in &effects.pipelines {
        let commands: Vec<&Simple> =
            pipeline.iter().filter_map(|index| effects.commands.get(*index)).collect();
        found.extend(judged(rules, call, &Unit::pipeline(&commands, call.ground.home)));
    }
    let whole = call.command.and_then(|text| judged(rules, call, &Unit::whole(text)));
    // What is found in a pipeline is found in the whole text as well.
    let is_new = |one: &Finding| !found.iter().skip(before).any(|known| known.origin == one.origin);
    let whole = whole.filter(is_new);
    found.extend(whole);
}

/// Whether a rule allows a pipeline of this command, or the whole text.
pub(super) fn allows(rules: &Rules, call: &Call<'_>, effects: &Effects, command: usize) -> bool {
    let is_for_it = |rule: &&ToolRule| is_for(rule, call).is_ok() && rule.is_for_joined();
    let rules = OuterFirst::of(rules.tools.iter().filter(is_for_it));
    let is_allowed =
        |unit: &Unit<'_>| deciding(&rules, call, unit).is_some_and(|decided| decided.action == Action::Allow);
    let mut pipelines = effects.pipelines.iter().filter(|pipeline| pipeline.contains(&command));
    let of_pipeline = |pipeline: &Vec<usize>| {
        let commands: Vec<&Simple> =
            pipeline.iter().filter_map(|index| effects.commands.get(*index)).collect();
        is_allowed(&Unit::pipeline(&commands, call.ground.home))
    };
    pipelines.any(of_pipeline) || call.command.is_some_and(|text| is_allowed(&Unit::whole(text)))
}

/// Rules, those of outer layers before those of inner ones.
struct OuterFirst<'a>(Vec<&'a ToolRule>);

impl<'a> OuterFirst<'a> {
    fn of(rules: impl Iterator<Item = &'a ToolRule>) -> OuterFirst<'a> {
        let mut rules: Vec<&ToolRule> = rules.collect();
        rules.sort_by_key(|rule| rule.origin.layer);
        OuterFirst(rules)
    }

    fn layers(&self) -> impl Iterator<Item = &[&'a ToolRule]> {
        self.0.chunk_by(|one, other| one.origin.layer == other.origin.layer)
    }
}

/// What a rule decided, and for certain or not.
#[derive(Clone, Copy)]
struct Decided<'a> {
    rule: &'a ToolRule,
    action: Action,
    is_certain: bool,
}

impl<'a> Decided<'a> {
    fn by(rule: &'a ToolRule) -> Decided<'a> {
        Decided { rule, action: rule.action, is_certain: true }
    }

    /// It depends on what is not known before the command runs.
    fn perhaps(rule: &'a ToolRule) -> Decided<'a> {
        Decided { rule, action: Action::Ask, is_certain: false }
    }
}

fn judged(rules: &OuterFirst<'_>, call: &Call<'_>, unit: &Unit<'_>) -> Option<Finding> {
    let Decided { rule, action, is_certain } = deciding(rules, call, unit)?;
    let subject = unit.subject(call);
    if action == Action::Allow {
        call.watch.allowed((&rule.origin, &rule.written), subject);
        return None;
    }
    let mut what = match &unit.kind {
        Kind::Call if call.command.is_none() => format!("using {}", call.tool),
        Kind::Command(_) => format!("running `{}`", shown(subject)),
        Kind::Call | Kind::Joined { .. } => format!("running `{}`", shown(start(subject))),
    };
    // What is not to be seen in the command.
    if let Some(file) = unit.file(rule).map(clean_line).filter(|file| !what.contains(file.as_str())) {
        what += &format!(" on {file}");
    }
    let mut found = Finding {
        action,
        what,
        rule: named(&rule.origin, &rule.written),
        advice: rule.message.clone().unwrap_or_else(|| "do it another way, or ask the user".into()),
        origin: rule.origin.rule(&rule.written),
        matched: subject.to_owned(),
    };
    if !is_certain && let Kind::Command(forms) = &unit.kind {
        let unknown = clean_line(forms.plain.unknown());
        found.rule +=
            &format!(", which could match: what `{unknown}` stands for is not known before it runs");
        found.advice = "write it out; one name or path in quotes is no option".into();
    }
    Some(found)
}

/// The rule that decides: the first that matches in each layer, and of these the strictest. What an outer layer decided an inner
/// one relaxes only where that is `overridable`.
fn deciding<'a>(rules: &OuterFirst<'a>, call: &Call<'_>, unit: &Unit<'_>) -> Option<Decided<'a>> {
    rules.layers().fold(None, |outer, of_layer| {
        first_match(of_layer, outer, call, unit).map(|inner| prevailing(outer, inner)).or(outer)
    })
}

fn prevailing<'a>(outer: Option<Decided<'a>>, inner: Decided<'a>) -> Decided<'a> {
    outer.filter(|outer| !outer.rule.overridable && outer.action >= inner.action).unwrap_or(inner)
}

/// The first rule that matches; before it one that could match, unless the first denies as well.
fn first_match<'a>(
    rules: &[&'a ToolRule],
    outer: Option<Decided<'a>>,
    call: &Call<'_>,
    unit: &Unit<'_>,
) -> Option<Decided<'a>> {
    let subject = unit.subject(call);
    let mut first: Option<&ToolRule> = None;
    let mut perhaps: Option<&ToolRule> = None;
    for rule in rules.iter().copied() {
        let named = (&rule.origin, rule.written.as_str());
        if first.is_some() && !call.watch.is_watched() {
            break;
        }
        match (first, unit.compare(rule, call)) {
            (_, Err(why)) => call.watch.missed(named, subject, || why.describe(rule, call, subject)),
            (Some(first), Ok(_)) => call.watch.missed(named, subject, || {
                let position = first.origin.rule(&first.written).position().unwrap_or_default();
                format!("would match {subject}, but the rule in {position} matches first")
            }),
            (None, Ok(Match::Perhaps)) => {
                call.watch.matched(named, subject, || {
                    format!("could match {subject}, of which a part is not known: it asks")
                });
                perhaps = perhaps.or(Some(rule));
            }
            (None, Ok(Match::As(form))) => {
                call.watch.matched(named, subject, || effect(Decided::by(rule), outer, subject, form));
                first = Some(rule);
            }
        }
    }
    let first = first.map(Decided::by);
    first.filter(|first| first.action != Action::Allow).or(perhaps.map(Decided::perhaps)).or(first)
}

/// What a rule that matches does.
fn effect(decided: Decided<'_>, outer: Option<Decided<'_>>, subject: &str, form: &str) -> String {
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
