//! The usage, compared with the amounts of the config.

use jiff::Timestamp;

use super::{DaySpending, SessionSpending, UsedTokens};
use conclaude_core::config::{BudgetScope, Limit, Measure, PriceTable};
use conclaude_core::spending::Meter;

/// The usage that amounts are compared with.
#[derive(Clone, Copy)]
pub struct MeterQuery<'a> {
    pub limits: &'a [Limit],
    pub prices: &'a PriceTable,
    pub day: Option<&'a DaySpending>,
    pub now: Timestamp,
}

/// An amount, its used part, and the name of its marks.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedMeter {
    pub name: String,
    pub meter: Meter,
}

/// A subagent, and its name in messages.
#[derive(Clone, Copy)]
pub struct MeteredAgent<'a> {
    pub id: &'a str,
    pub title: &'a str,
}

impl SessionSpending {
    /// The amounts of the session and of the day.
    #[must_use]
    pub fn meters(&self, query: MeterQuery<'_>) -> Vec<NamedMeter> {
        let session = self.used(query.prices);
        let day = query.day.map(|day| {
            let today = self.used_today(query.prices);
            (day.start, day.used_with(&self.session, &today))
        });
        let limits = query.limits.iter().filter_map(|limit| {
            let name = limit.name();
            let (name, used) = match (limit.scope, &day) {
                (BudgetScope::Session, _) => (name, of_shared(*limit, &session)),
                (BudgetScope::Day, Some((start, used))) => {
                    (format!("{name} {start}"), of_shared(*limit, used))
                }
                (BudgetScope::Day, None) | (BudgetScope::Agent, _) => return None,
            };
            Some(NamedMeter { name, meter: self.meter(*limit, used) })
        });
        limits.collect()
    }

    /// The amounts of a subagent. The clock of a stopped agent stands still, unless the agent works again.
    #[must_use]
    pub fn meters_of(&self, query: MeterQuery<'_>, agent: MeteredAgent<'_>) -> Vec<NamedMeter> {
        let limits = query.limits.iter().filter(|limit| limit.scope == BudgetScope::Agent);
        let meters = limits.filter_map(|limit| {
            let used = self.used_by_agent(*limit, agent.id, query)?;
            let meter = self.meter(*limit, Some(used));
            let call = if limit.measure == Measure::ToolCalls { 1.0 } else { 0.0 };
            let meter = Meter { with_call: Some(used + call), agent: Some(agent.title.to_owned()), ..meter };
            Some(NamedMeter { name: format!("{} {}", limit.name(), agent.id), meter })
        });
        meters.collect()
    }

    fn meter(&self, limit: Limit, used: Option<f64>) -> Meter {
        let amount = self.with_raise(&limit.name(), limit.amount);
        Meter { limit, amount, used, with_call: used, agent: None }
    }

    #[expect(clippy::cast_precision_loss, reason = "no agent uses 2^53 tokens or milliseconds")]
    fn used_by_agent(&self, limit: Limit, id: &str, query: MeterQuery<'_>) -> Option<f64> {
        let known = self.agents.get(id);
        Some(match limit.measure {
            Measure::ToolCalls => known.map_or(0, |agent| agent.calls) as f64,
            Measure::Minutes => {
                let agent = known?;
                let end = agent.stopped.unwrap_or_else(|| query.now.as_millisecond());
                end.saturating_sub(agent.started?).max(0) as f64 / 60e3
            }
            Measure::Tokens | Measure::Cost => self.used_by(id, query.prices).tokens as f64,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "no session uses 2^53 tokens")]
fn of_shared(limit: Limit, used: &UsedTokens) -> Option<f64> {
    match limit.measure {
        Measure::Cost => used.known_cost(),
        _ => Some(used.tokens as f64),
    }
}
