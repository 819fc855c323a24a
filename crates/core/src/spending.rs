//! Budgets: how much of each amount of `budget` is used, the reaction, and the messages.

use serde::{Deserialize, Serialize};

use crate::config::{BudgetReaction, BudgetScope, Limit, Measure};
use crate::finding::{Code, Finding, GuardWords};
use crate::outcome::{BudgetNotice, Evidence, Outcome, Verdict};
use crate::prices::Tokens;
use crate::rule::Rule;
use crate::text::count;

/// Tokens as budgets count them: reads from the cache have a cost, but are not counted.
#[must_use]
pub fn counted(tokens: Tokens) -> u64 {
    tokens.input.saturating_add(tokens.output).saturating_add(tokens.cache_write)
}

/// How much of an amount is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Meter {
    pub limit: Limit,
    /// The amount of the config, with the user's raises.
    pub amount: f64,
    /// `None` if a price is unknown.
    pub used: Option<f64>,
    /// The usage including the next tool call.
    pub with_call: Option<f64>,
    /// The agent, if it is the budget of an agent.
    pub agent: Option<String>,
}

/// The moment of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Tool,
    Prompt,
    /// The report of a background agent, which is never refused.
    Notification,
}

/// The messages about an amount in this session, and the user's answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Marks {
    /// It was reported that the amount is partly used, and that it is used up.
    pub told: bool,
    pub reached: bool,
    /// The user said yes at this percentage.
    pub agreed: Option<u64>,
    /// The call that the user was last asked about, and the percentage.
    pub asked: Option<(String, u64)>,
    /// It was shown to the user that an agent's tools are denied.
    pub denied: bool,
}

/// The reaction for one amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterReading {
    Fine,
    /// It is partly used, which is reported now.
    Near,
    /// It is used up, which is reported now.
    UsedUp,
    /// The user is asked, at this percentage.
    Asks(u64),
    Denied,
}

/// After a yes the user is asked again when this much more is used.
const STEP: u64 = 10;

const ALL: u64 = 100;

impl Meter {
    /// The used percentage, rounded down, so that 100 means used up.
    #[must_use]
    pub fn percent(&self) -> Option<u64> {
        self.used.map(|used| percent(used, self.amount))
    }

    /// The reaction, and the new marks.
    #[must_use]
    pub fn read(&self, at: u32, then: BudgetReaction, moment: Moment, marks: &mut Marks) -> MeterReading {
        let Some(used) = self.percent() else { return MeterReading::Fine };
        if used >= ALL {
            return match (then, moment) {
                (BudgetReaction::Block, Moment::Tool | Moment::Prompt) => MeterReading::Denied,
                (BudgetReaction::Ask, Moment::Tool) => {
                    let level = used / STEP * STEP;
                    if marks.agreed.is_some_and(|agreed| agreed >= level) {
                        MeterReading::Fine
                    } else {
                        MeterReading::Asks(level)
                    }
                }
                // The user sees nothing else at a prompt.
                (BudgetReaction::Ask, Moment::Prompt) => MeterReading::UsedUp,
                _ if marks.reached => MeterReading::Fine,
                _ => {
                    (marks.told, marks.reached) = (true, true);
                    MeterReading::UsedUp
                }
            };
        }
        let with_call = self.with_call.map_or(used, |used| percent(used, self.amount));
        if with_call >= u64::from(at) && !marks.told {
            marks.told = true;
            return MeterReading::Near;
        }
        MeterReading::Fine
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float is cut to the range")]
fn percent(used: f64, amount: f64) -> u64 {
    // 8 of 10 may be slightly below 80 % in floating point.
    (used / amount * 100.0 + 1e-9) as u64
}

/// The messages about one amount.
pub struct MeterWords<'a> {
    pub meter: &'a Meter,
    pub then: BudgetReaction,
    pub rule: &'a Rule,
    pub moment: Moment,
    pub session: &'a str,
}

impl MeterWords<'_> {
    /// The outcome of a reading. `None` if everything is fine.
    #[must_use]
    pub fn outcome(&self, reading: MeterReading) -> Option<Outcome> {
        match reading {
            MeterReading::Fine => None,
            MeterReading::Near => Some(self.near()),
            MeterReading::UsedUp => Some(self.used_up()),
            MeterReading::Asks(level) => Some(self.question(level)),
            MeterReading::Denied => Some(self.denial()),
        }
    }

    /// `The budget of this session is used up: $20.31 of $20.00.`
    fn all_used(&self) -> String {
        format!("The budget of {} is used up: {}.", whose(self.meter), used(self.meter))
    }

    fn finding(&self, code: Code, what: String, fix: &str) -> Finding {
        Finding::new(code, what, fix).by(Some(self.rule.clone()), used(self.meter))
    }

    fn near(&self) -> Outcome {
        let meter = self.meter;
        let shown = meter.with_call.map_or(0, |used| percent(used, meter.amount));
        let (whose, used) = (whose(meter), used_with_call(meter));
        let what = format!("{shown} % of the budget of {whose} is used: {used}.");
        let (for_user, for_claude) = match self.then {
            BudgetReaction::Warn => ("When it is used up, nothing is denied.", "Do what matters most first."),
            BudgetReaction::Ask => (
                "When it is used up, you are asked about tools.",
                "When it is used up, the user is asked about your tools: do what matters most first.",
            ),
            BudgetReaction::Block if meter.limit.scope == BudgetScope::Agent => {
                ("When it is used up, its tools are denied.", DENIED_LATER)
            }
            BudgetReaction::Block => ("When it is used up, tools and prompts are refused.", DENIED_LATER),
        };
        let claude = format!("{what} {for_claude}");
        self.notice(Code::BudgetNear, &what, for_user, claude)
    }

    fn used_up(&self) -> Outcome {
        let what = self.all_used();
        let for_user = match (self.then, self.moment) {
            (BudgetReaction::Warn, _) => "Nothing is denied, since `then` is `warn`.".to_owned(),
            (BudgetReaction::Ask, _) => format!("You are asked about tools. {}", self.raise()),
            (BudgetReaction::Block, _) => format!("Tools and prompts are refused. {}", self.raise()),
        };
        let claude = format!("{what} Finish now, and report what is done and what is left.");
        self.notice(Code::BudgetReached, &what, &for_user, claude)
    }

    fn notice(&self, code: Code, what: &str, for_user: &str, for_claude: String) -> Outcome {
        let finding = self.finding(code, what.to_owned(), for_user).warning();
        let message = format!("{} {finding}", Verdict::Warn.mark());
        let evidence = Evidence::Budget(Box::new(BudgetNotice { finding, for_claude: Some(for_claude) }));
        Outcome { verdict: Verdict::Warn, message, evidence }
    }

    fn question(&self, level: u64) -> Outcome {
        let fix = format!(
            "Only the user can let this go on, or raise it by `{}`: finish now, and report what is done and what is left.",
            self.raising()
        );
        let user = format!("If you allow it, you are asked again at {} %. {}", level + STEP, self.raise());
        let words = GuardWords { user_fix: Some(user), about: None };
        let finding = self.finding(Code::BudgetReached, self.all_used(), &fix).with_words(words);
        Outcome::of_guard(Verdict::Ask, finding)
    }

    fn denial(&self) -> Outcome {
        let fix = match self.moment {
            Moment::Prompt | Moment::Notification => self.raise(),
            Moment::Tool => format!(
                "Use no more tools: finish now, and report what is done and what is left. Only the user can raise it, by `{}`.",
                self.raising()
            ),
        };
        Outcome::of_guard(Verdict::Block, self.finding(Code::BudgetReached, self.all_used(), &fix))
    }

    /// The user's message, shown once, about an agent whose tools are denied.
    #[must_use]
    pub fn denied_agent(&self, agent: &str) -> String {
        format!("conclaude: ⚠ {} The tools of {agent} are denied. {}", self.all_used(), self.raise())
    }

    fn raise(&self) -> String {
        format!("`{}` in a terminal raises it.", self.raising())
    }

    fn raising(&self) -> String {
        format!("conclaude budget raise --session {}", self.session)
    }
}

const DENIED_LATER: &str =
    "When it is used up, tools are denied: do what matters most first, and report in time.";

/// The message that a model has no price, shown once per session.
#[must_use]
pub fn unknown_price(models: &[String], rule: &Rule) -> Outcome {
    let names = models.iter().map(|model| format!("`{model}`")).collect::<Vec<_>>().join(", ");
    let what = format!("The price of {names} is not known, so what this session costs is not known either.");
    let fix = "Budgets of cost deny nothing in it; `report.prices` can say the price.";
    let finding = Finding::new(Code::PriceUnknown, what, fix).by(Some(rule.clone()), names).warning();
    let message = format!("{} {finding}", Verdict::Warn.mark());
    let evidence = Evidence::Budget(Box::new(BudgetNotice { finding, for_claude: None }));
    Outcome { verdict: Verdict::Warn, message, evidence }
}

fn whose(meter: &Meter) -> String {
    match (meter.limit.scope, &meter.agent) {
        (BudgetScope::Session, _) => "this session".into(),
        (BudgetScope::Day, _) => "this project for today".into(),
        (BudgetScope::Agent, Some(agent)) => format!("the agent {agent}"),
        (BudgetScope::Agent, None) => "this agent".into(),
    }
}

/// The usage and its limit: `$16.20 of $20.00`.
#[must_use]
pub fn used(meter: &Meter) -> String {
    used_of(meter, meter.used)
}

fn used_with_call(meter: &Meter) -> String {
    used_of(meter, meter.with_call)
}

fn used_of(meter: &Meter, used: Option<f64>) -> String {
    let Some(used) = used else {
        return format!("an unknown part of {}", in_words(meter.limit.measure, meter.amount));
    };
    let all = in_words(meter.limit.measure, meter.amount);
    match meter.limit.measure {
        Measure::Cost => format!("{} of {all}", dollars(used)),
        Measure::Tokens => format!("{} of {all}", short(used)),
        Measure::ToolCalls | Measure::Minutes => format!("{} of {all}", plain(used)),
    }
}

/// An amount with its unit.
#[must_use]
pub fn in_words(measure: Measure, amount: f64) -> String {
    let one = |noun: &str| {
        if (amount - 1.0).abs() < f64::EPSILON {
            count(1, noun)
        } else {
            format!("{} {noun}s", plain(amount))
        }
    };
    match measure {
        Measure::Cost => dollars(amount),
        Measure::Tokens => format!("{} tokens", short(amount)),
        Measure::ToolCalls => one("tool call"),
        Measure::Minutes => one("minute"),
    }
}

/// Cents are enough, unless there are none.
fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.095 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// A number of tokens in few characters: `812`, `81.2k`, `8.12M`.
fn short(number: f64) -> String {
    let (number, unit) = match number {
        number if number < 1e3 => (number, ""),
        number if number < 999_950.0 => (number / 1e3, "k"),
        number => (number / 1e6, "M"),
    };
    let text = match unit {
        "" => format!("{number:.0}"),
        "k" => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

/// With one decimal, unless it is 0.
fn plain(number: f64) -> String {
    let text = if number > 0.0 && number < 0.095 { format!("{number:.4}") } else { format!("{number:.1}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(measure: Measure, amount: f64, used: f64) -> Meter {
        let limit = Limit { scope: BudgetScope::Agent, measure, amount };
        let call = if measure == Measure::ToolCalls { 1.0 } else { 0.0 };
        Meter { limit, amount, used: Some(used), with_call: Some(used + call), agent: None }
    }

    fn calls(then: BudgetReaction, moment: Moment, used: &[f64]) -> Vec<MeterReading> {
        let mut marks = Marks::default();
        used.iter()
            .map(|used| meter(Measure::ToolCalls, 10.0, *used).read(80, then, moment, &mut marks))
            .collect()
    }

    #[test]
    fn ten_calls_are_allowed_of_ten() {
        use MeterReading::{Denied, Fine, Near, UsedUp};
        let used = [0.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0];
        assert_eq!(
            calls(BudgetReaction::Block, Moment::Tool, &used),
            [Fine, Fine, Near, Fine, Fine, Denied, Denied]
        );
        assert_eq!(
            calls(BudgetReaction::Warn, Moment::Tool, &used),
            [Fine, Fine, Near, Fine, Fine, UsedUp, Fine]
        );
        assert_eq!(calls(BudgetReaction::Block, Moment::Notification, &[10.0, 11.0]), [UsedUp, Fine]);
        assert_eq!(calls(BudgetReaction::Ask, Moment::Prompt, &[10.0, 11.0]), [UsedUp, UsedUp]);
    }

    #[test]
    fn after_a_yes_the_user_is_asked_again_at_each_further_ten_percent() {
        let mut marks = Marks::default();
        let read = |used: f64, marks: &mut Marks| {
            meter(Measure::Tokens, 1000.0, used).read(80, BudgetReaction::Ask, Moment::Tool, marks)
        };
        assert_eq!(read(1030.0, &mut marks), MeterReading::Asks(100));
        assert_eq!(read(1040.0, &mut marks), MeterReading::Asks(100), "without a yes");
        marks.agreed = Some(100);
        assert_eq!(read(1099.0, &mut marks), MeterReading::Fine);
        assert_eq!(read(1100.0, &mut marks), MeterReading::Asks(110));
        assert_eq!(read(1250.0, &mut marks), MeterReading::Asks(120));
    }

    #[test]
    fn what_is_not_known_denies_nothing() {
        let unknown = Meter { used: None, with_call: None, ..meter(Measure::Cost, 1.0, 0.0) };
        let reading = unknown.read(80, BudgetReaction::Block, Moment::Tool, &mut Marks::default());
        assert_eq!(reading, MeterReading::Fine);
    }

    #[test]
    fn amounts_are_short() {
        for (measure, used_amount, text) in [
            (Measure::Cost, 20.306, "$20.31 of $20.00"),
            (Measure::Cost, 0.012_34, "$0.0123 of $20.00"),
            (Measure::Tokens, 812.0, "812 of 20 tokens"),
            (Measure::Tokens, 81_260.0, "81.3k of 20 tokens"),
            (Measure::Tokens, 8_100_000.0, "8.1M of 20 tokens"),
            (Measure::ToolCalls, 20.0, "20 of 20 tool calls"),
            (Measure::Minutes, 20.55, "20.6 of 20 minutes"),
        ] {
            assert_eq!(used(&meter(measure, 20.0, used_amount)), text);
        }
        assert_eq!(in_words(Measure::Minutes, 1.0), "1 minute");
        assert_eq!(in_words(Measure::Tokens, 5e6), "5M tokens");
        assert_eq!(in_words(Measure::Minutes, 0.5), "0.5 minutes");
    }
}
