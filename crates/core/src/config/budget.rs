//! `budget`: what a session, an agent and a day may use.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::shapes::Either;
use super::values::InvalidValue;
use crate::event::EventKind;
use crate::yaml::{Node, Text};

/// The section.
pub const BUDGET: &str = "budget";

/// Tokens are read from transcripts, and the cost is computed from them. For clients whose transcripts are not read, only tool
/// calls and minutes count.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BudgetConfig {
    /// What a session may use: its main thread with its subagents.
    pub session: Option<SharedBudget>,
    /// What each subagent may use.
    pub agent: Option<AgentBudget>,
    /// What all sessions of the project together may use on one day, from local midnight on.
    pub day: Option<SharedBudget>,
    /// The part of an amount at which Claude and the user are warned once. Default: `80%`.
    pub at: Option<Percent>,
    /// What happens at the limit. Default: `warn`.
    pub then: Option<BudgetReaction>,
}

/// Cost and tokens, of several threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SharedBudget {
    /// Dollars, by the prices of `report.prices` and the built-in list prices.
    pub cost: Option<Amount>,
    /// Tokens: input, output and writes to the cache, but not reads from it. `500k` and `5M` are accepted.
    pub tokens: Option<Amount>,
}

/// What one subagent may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AgentBudget {
    /// How many tool calls it may make: `10` allows ten calls.
    pub tool_calls: Option<Amount>,
    /// How long it may work, from its SubagentStart on.
    pub minutes: Option<Amount>,
    /// Tokens, as for a session.
    pub tokens: Option<Amount>,
}

/// What happens at the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetReaction {
    /// Claude and the user are warned once.
    #[default]
    Warn,
    /// The user is asked about each tool. After a yes, the user is asked again when a further 10 % are used. At prompts it is
    /// shown.
    Ask,
    /// Tools are denied, and prompts are refused. An agent may still stop and report.
    Block,
}

impl BudgetReaction {
    const ALL: [BudgetReaction; 3] = [BudgetReaction::Warn, BudgetReaction::Ask, BudgetReaction::Block];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            BudgetReaction::Warn => "warn",
            BudgetReaction::Ask => "ask",
            BudgetReaction::Block => "block",
        }
    }

    fn named(name: &str) -> Option<BudgetReaction> {
        BudgetReaction::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

/// Who is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetScope {
    Session,
    Agent,
    Day,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Cost,
    Tokens,
    ToolCalls,
    Minutes,
}

impl Measure {
    /// Whether it is known only from a transcript.
    #[must_use]
    pub fn needs_transcript(self) -> bool {
        matches!(self, Measure::Cost | Measure::Tokens)
    }
}

/// One amount of a budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    pub scope: BudgetScope,
    pub measure: Measure,
    pub amount: f64,
}

impl Limit {
    /// The keys of the config that set it.
    #[must_use]
    pub fn keys(&self) -> [&'static str; 3] {
        keys_of(self.scope, self.measure)
    }

    /// Its keys below `budget`, as state and JSON name it.
    #[must_use]
    pub fn name(&self) -> String {
        let [_, scope, measure] = self.keys();
        format!("{scope}.{measure}")
    }
}

fn keys_of(scope: BudgetScope, measure: Measure) -> [&'static str; 3] {
    let scope = match scope {
        BudgetScope::Session => "session",
        BudgetScope::Agent => "agent",
        BudgetScope::Day => "day",
    };
    let measure = match measure {
        Measure::Cost => "cost",
        Measure::Tokens => "tokens",
        Measure::ToolCalls => "toolCalls",
        Measure::Minutes => "minutes",
    };
    [BUDGET, scope, measure]
}

type AmountOf = fn(&BudgetConfig) -> Option<Amount>;

/// The amounts of a budget, in the order of the reference.
const AMOUNTS: [(BudgetScope, Measure, AmountOf); 7] = [
    (BudgetScope::Session, Measure::Cost, |budget| budget.session?.cost),
    (BudgetScope::Session, Measure::Tokens, |budget| budget.session?.tokens),
    (BudgetScope::Agent, Measure::ToolCalls, |budget| budget.agent?.tool_calls),
    (BudgetScope::Agent, Measure::Minutes, |budget| budget.agent?.minutes),
    (BudgetScope::Agent, Measure::Tokens, |budget| budget.agent?.tokens),
    (BudgetScope::Day, Measure::Cost, |budget| budget.day?.cost),
    (BudgetScope::Day, Measure::Tokens, |budget| budget.day?.tokens),
];

impl BudgetConfig {
    /// The part of an amount, in percent, at which Claude and the user are warned.
    #[must_use]
    pub fn at(&self) -> u32 {
        self.at.map_or(Percent::DEFAULT, Percent::get)
    }

    #[must_use]
    pub fn reaction(&self) -> BudgetReaction {
        self.then.unwrap_or_default()
    }

    /// All amounts, in the order of the reference.
    pub fn limits(&self) -> impl Iterator<Item = Limit> {
        AMOUNTS.iter().filter_map(|(scope, measure, amount)| {
            Some(Limit { scope: *scope, measure: *measure, amount: amount(self)?.get() })
        })
    }

    /// Whether an event is counted or compared. A client's transcripts may not be read.
    #[must_use]
    pub fn is_for(&self, event: EventKind, reads_transcripts: bool) -> bool {
        let has =
            |is_meant: fn(&Limit) -> bool| self.limits_with(reads_transcripts).any(|limit| is_meant(&limit));
        match event {
            EventKind::PreToolUse => has(|_| true),
            // The user permitted what ran.
            EventKind::PostToolUse | EventKind::PostToolUseFailure => {
                self.reaction() == BudgetReaction::Ask && has(|_| true)
            }
            EventKind::SubagentStart => has(|limit| limit.measure == Measure::Minutes),
            EventKind::UserPromptSubmit => has(|limit| limit.scope != BudgetScope::Agent),
            EventKind::SubagentStop => {
                has(|limit| limit.measure.needs_transcript() || limit.measure == Measure::Minutes)
            }
            EventKind::Stop | EventKind::SessionEnd => has(|limit| limit.measure.needs_transcript()),
            _ => false,
        }
    }

    /// The amounts that count for a client.
    pub fn limits_with(&self, reads_transcripts: bool) -> impl Iterator<Item = Limit> {
        self.limits().filter(move |limit| reads_transcripts || !limit.measure.needs_transcript())
    }
}

/// A number above 0; as a text with `k` for a thousand or `M` for a million.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Either<f64, String>")]
pub struct Amount(f64);

impl Amount {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "amount";

    const MAX: f64 = 1e12;

    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    fn of(number: f64) -> Option<Amount> {
        if number > 0.0 && number <= Amount::MAX { Some(Amount(number)) } else { None }
    }

    /// Reads `500k`, `5M` or `1.5M`.
    pub(super) fn parse(text: &str) -> Option<Amount> {
        let unit = match text.chars().last()? {
            'k' => 1e3,
            'M' => 1e6,
            _ => return None,
        };
        let number = text.get(..text.len() - 1)?;
        let (whole, part) =
            number.split_once('.').map_or((number, None), |(whole, part)| (whole, Some(part)));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number =
            is_digits(whole) && part.is_none_or(is_digits) && (whole == "0" || !whole.starts_with('0'));
        if is_number { Amount::of(number.parse::<f64>().ok()? * unit) } else { None }
    }

    /// A value of a file, before the file is read as a config.
    pub(super) fn of_node(node: &Node) -> Option<Amount> {
        match node {
            #[expect(clippy::cast_precision_loss, reason = "larger numbers are refused")]
            Node::Int(number) => Amount::of(*number as f64),
            Node::Float(number) => Amount::of(*number),
            Node::Text(text) => Amount::parse(text),
            _ => None,
        }
    }
}

impl TryFrom<Either<f64, String>> for Amount {
    type Error = InvalidValue;

    fn try_from(value: Either<f64, String>) -> Result<Self, InvalidValue> {
        let amount = match &value {
            Either::First(number) => Amount::of(*number),
            Either::Second(text) => Amount::parse(text),
        };
        amount.ok_or(InvalidValue::Amount)
    }
}

impl JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"], "exclusiveMinimum": 0, "maximum": 1_000_000_000_000_u64,
            "pattern": r"^([1-9][0-9]*(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)[kM]$", "format": Amount::FORMAT,
        })
    }
}

/// A whole number from 1 to 100, or such a text as `80%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Either<u64, String>")]
pub struct Percent(u32);

impl Percent {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "percent";

    const DEFAULT: u32 = 80;

    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    fn of(number: u32) -> Option<Percent> {
        if (1..=100).contains(&number) { Some(Percent(number)) } else { None }
    }

    pub(super) fn parse(text: &str) -> Option<Percent> {
        let number = text.strip_suffix('%')?;
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
        if is_number { Percent::of(number.parse().ok()?) } else { None }
    }

    /// A value of a file, before the file is read as a config.
    pub(super) fn of_node(node: &Node) -> Option<Percent> {
        match node {
            Node::Int(number) => Percent::of(u32::try_from(*number).ok()?),
            Node::Text(text) => Percent::parse(text),
            _ => None,
        }
    }
}

impl TryFrom<Either<u64, String>> for Percent {
    type Error = InvalidValue;

    fn try_from(value: Either<u64, String>) -> Result<Self, InvalidValue> {
        let percent = match &value {
            Either::First(number) => u32::try_from(*number).ok().and_then(Percent::of),
            Either::Second(text) => Percent::parse(text),
        };
        percent.ok_or(InvalidValue::Percent)
    }
}

impl JsonSchema for Percent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Percent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"], "minimum": 1, "maximum": 100, "pattern": "^(100|[1-9][0-9]?)%$",
            "format": Percent::FORMAT,
        })
    }
}

/// Whether the outer layer's value is at least as strict as the inner layer's, for these keys below `budget`. False if one of
/// them cannot be read, which is reported elsewhere.
pub(super) fn is_as_strict(keys: &[Text], outer: &Node, inner: &Node) -> bool {
    match strictness(keys, outer).zip(strictness(keys, inner)) {
        Some((outer, inner)) => outer <= inner,
        None => false,
    }
}

/// Whether the inner value is looser than the outer one, for these keys.
#[must_use]
pub fn is_looser_budget(keys: &[&str], outer: &Node, inner: &Node) -> bool {
    let keys: Vec<Text> = keys.iter().skip(1).map(|key| (*key).to_owned().into()).collect();
    strictness(&keys, outer).zip(strictness(&keys, inner)).is_some_and(|(outer, inner)| inner > outer)
}

/// Whether an inner layer with this `at` warns later than by default.
pub(super) fn is_later_than_default(at: &Node) -> bool {
    Percent::of_node(at).is_some_and(|percent| percent.get() > Percent::DEFAULT)
}

/// A number that is lower if Claude may use less.
fn strictness(keys: &[Text], value: &Node) -> Option<f64> {
    match keys {
        [key] if key == "at" => Percent::of_node(value).map(|percent| percent.get().into()),
        [key] if key == "then" => match value {
            Node::Text(word) => Some(-f64::from(BudgetReaction::named(word)? as u8)),
            _ => None,
        },
        [_, _] => Amount::of_node(value).map(Amount::get),
        _ => None,
    }
}

/// The keys of all values of `budget`, for messages about layers.
pub fn budget_keys() -> impl Iterator<Item = Vec<&'static str>> {
    let amounts = AMOUNTS.iter().map(|(scope, measure, _)| keys_of(*scope, *measure).to_vec());
    amounts.chain(["at", "then"].map(|key| vec![BUDGET, key]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_take_thousands_and_millions() {
        for (text, number) in
            [("500k", 500e3), ("5M", 5e6), ("1.5M", 1.5e6), ("0.5k", 500.0), ("10.25k", 10_250.0)]
        {
            assert_eq!(Amount::parse(text).map(Amount::get), Some(number), "{text}");
        }
        for text in
            ["", "k", "5", "5m", "5K", "-5k", "5 M", "1e3k", ".5k", "5.k", "0k", "0.0M", "05k", "5000000M"]
        {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_part_is_a_whole_percentage() {
        for (text, number) in [("80%", Some(80)), ("1%", Some(1)), ("100%", Some(100))] {
            assert_eq!(Percent::parse(text).map(Percent::get), number, "{text}");
        }
        for text in ["", "%", "80", "0%", "101%", "8.5%", "080%", "80 %", "-1%"] {
            assert_eq!(Percent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_limit_is_under_one_of_the_keys() {
        let all: BudgetConfig = serde_json::from_str(
            r#"{"session": {"cost": 1, "tokens": "2k"}, "agent": {"toolCalls": 3, "minutes": 0.5, "tokens": 5}, "day": {"cost": 6, "tokens": 7}}"#,
        )
        .unwrap();
        let keys: Vec<Vec<&str>> = all.limits().map(|limit| limit.keys().to_vec()).collect();
        let known: Vec<Vec<&str>> = budget_keys().filter(|keys| keys.len() == 3).collect();
        assert_eq!(keys, known);
        let amounts: Vec<f64> = all.limits().map(|limit| limit.amount).collect();
        assert_eq!(amounts, [1.0, 2000.0, 3.0, 0.5, 5.0, 6.0, 7.0]);
        let unread: Vec<String> = all.limits_with(false).map(|limit| limit.name()).collect();
        assert_eq!(unread, ["agent.toolCalls", "agent.minutes"]);
    }
}
