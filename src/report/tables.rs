//! Tokens and cost by day, model, project, branch and kind of agent.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::model::{Lane, Report, UsageCell};
use conclaude_core::agent::MAIN;
use conclaude_core::prices::Tokens;

/// The names of rows for transcripts without a branch, and the like.
const NO_BRANCH: &str = "(no branch)";
const NO_TYPE: &str = "(no type)";
const NO_PROJECT: &str = "(unknown)";

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct UsageTables {
    pub(crate) total: UsageRow,
    /// The oldest first.
    pub(crate) days: Vec<DayUsage>,
    pub(crate) models: Vec<UsageRow>,
    pub(crate) projects: Vec<UsageRow>,
    pub(crate) branches: Vec<UsageRow>,
    pub(crate) agent_types: Vec<UsageRow>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct DayUsage {
    #[serde(flatten)]
    pub(crate) total: UsageRow,
    pub(crate) models: Vec<UsageRow>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct UsageRow {
    pub(crate) name: String,
    pub(crate) sessions: u64,
    pub(crate) answers: u64,
    pub(crate) tokens: Tokens,
    /// `None` if no model of it has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// Tokens of models without a price, which are not in the cost.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unpriced: u64,
    #[serde(skip)]
    in_sessions: BTreeSet<Option<usize>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl UsageRow {
    fn add(&mut self, lane: &Lane, cell: &UsageCell) {
        self.in_sessions.insert(lane.session);
        self.sessions = self.in_sessions.len() as u64;
        self.answers += cell.answers;
        self.tokens.add(cell.tokens);
        match cell.cost {
            Some(cost) => self.cost = Some(self.cost.unwrap_or_default() + cost),
            None => self.unpriced = self.unpriced.saturating_add(cell.tokens.all()),
        }
    }
}

/// The sums of all lanes.
pub(super) fn tables(report: &Report) -> UsageTables {
    let cells = || report.lanes.iter().flat_map(|lane| lane.usage.iter().map(move |cell| (lane, cell)));
    let mut total = UsageRow { name: "total".into(), ..UsageRow::default() };
    let mut days: BTreeMap<&str, (UsageRow, BTreeMap<&str, UsageRow>)> = BTreeMap::new();
    for (lane, cell) in cells() {
        total.add(lane, cell);
        let (day, models) = days.entry(&cell.day).or_default();
        day.add(lane, cell);
        models.entry(&cell.model).or_default().add(lane, cell);
    }
    let project = |lane: &Lane| {
        let session = lane.session.and_then(|at| report.sessions.get(at));
        session.and_then(|session| session.project.as_deref())
    };
    UsageTables {
        total,
        days: days
            .into_iter()
            .map(|(day, (total, models))| DayUsage {
                total: UsageRow { name: day.to_owned(), ..total },
                models: largest_first(models),
            })
            .collect(),
        models: by(cells(), |_, cell| cell.model.as_str()),
        projects: by(cells(), |lane, _| project(lane).unwrap_or(NO_PROJECT)),
        branches: by(cells(), |_, cell| cell.branch.as_deref().unwrap_or(NO_BRANCH)),
        agent_types: by(cells(), |lane, _| match lane.id.as_deref() {
            None => MAIN,
            // Its id stands for a name that nobody wrote.
            Some(id) if id == lane.name => NO_TYPE,
            Some(_) => &lane.name,
        }),
    }
}

fn by<'a>(
    cells: impl Iterator<Item = (&'a Lane, &'a UsageCell)>,
    name: impl Fn(&'a Lane, &'a UsageCell) -> &'a str,
) -> Vec<UsageRow> {
    let mut rows: BTreeMap<&str, UsageRow> = BTreeMap::new();
    for (lane, cell) in cells {
        rows.entry(name(lane, cell)).or_default().add(lane, cell);
    }
    largest_first(rows)
}

/// By cost, then by tokens.
fn largest_first(rows: BTreeMap<&str, UsageRow>) -> Vec<UsageRow> {
    let mut rows: Vec<UsageRow> =
        rows.into_iter().map(|(name, row)| UsageRow { name: name.to_owned(), ..row }).collect();
    rows.sort_by(|a, b| {
        let cost = |row: &UsageRow| row.cost.unwrap_or_default();
        cost(b).total_cmp(&cost(a)).then_with(|| Reverse(a.tokens.all()).cmp(&Reverse(b.tokens.all())))
    });
    rows
}
