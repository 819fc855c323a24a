//! `conclaude budget`: shows the usage of budgets, and lets the user raise one.

use std::io;
use std::time::SystemTime;

use anstyle::Style;
use anyhow::{anyhow, bail};
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};

use super::consent::{agrees, refuse_agents};
use super::explain::layout::{BAD, BOLD, FAINT, WARNING};
use super::out::{Out, Paint};
use conclaude_core::config::{BUDGET, BudgetConfig, BudgetScope, Limit, Patterns, PriceTable};
use conclaude_core::exit::Exit;
use conclaude_core::spending::{self, Meter};
use conclaude_core::text::{count, printable_line};
use conclaude_os::budget::Budget;
use conclaude_os::environment::Variables;
use conclaude_store::audit::{self, Record, TraceParent, words};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;
use conclaude_store::store::spending::{
    DaySpending, MeterQuery, MeteredAgent, NamedMeter, SessionSpending, SpendingFolder,
};

pub(super) const EXAMPLES: &str = "Examples:
  conclaude budget                        where each amount stands, in the newest sessions
  conclaude budget raise                  50 % more for the newest session that has used up its budget
  conclaude budget raise --session 8f3a1c2e --by 100%

Raising is for a user at a terminal, who is shown what is raised and asked: it exits with 1 where an agent calls it.";

/// The number of sessions that are shown without `--all`.
const NEWEST: usize = 5;

#[derive(clap::Args)]
pub(super) struct BudgetRequest {
    #[command(subcommand)]
    subcommand: Option<BudgetSubcommand>,
    /// Only this session; the start of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// All sessions that were counted in the last 30 days, and not only the newest
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum BudgetSubcommand {
    /// Raise what is used up, for one session
    Raise {
        /// The session; the start of its id is enough [default: the newest that has used up its budget]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// By how much, as a percentage of the amount in the config
        #[arg(long, value_name = "PERCENT", default_value = "50%", value_parser = percent)]
        by: u32,
    },
}

fn percent(text: &str) -> anyhow::Result<u32> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().unwrap_or(0);
    if (1..=1_000).contains(&number) { Ok(number) } else { bail!("expected 1% to 1000%") }
}

pub(super) fn run(request: &BudgetRequest) -> anyhow::Result<Exit> {
    let project = BudgetedProject::find()?;
    match &request.subcommand {
        Some(BudgetSubcommand::Raise { session, by }) => raise(&project, session.as_deref(), *by),
        None => show(&project, request),
    }
}

/// A project with its budget and its usage.
struct BudgetedProject {
    root: Root,
    loaded: LoadedConfig,
    folder: SpendingFolder,
    day: DaySpending,
    now: Timestamp,
}

/// A session with the usage of its amounts.
struct MeteredSession {
    spending: SessionSpending,
    counted: SystemTime,
    meters: Vec<NamedMeter>,
    agents: Vec<AgentMeters>,
    /// Why not all of it could be counted now.
    problem: Option<String>,
}

struct AgentMeters {
    id: String,
    name: String,
    meters: Vec<NamedMeter>,
}

impl MeteredSession {
    fn all(&self) -> impl Iterator<Item = &Meter> {
        let agents = self.agents.iter().flat_map(|agent| &agent.meters);
        self.meters.iter().chain(agents).map(|one| &one.meter)
    }

    /// The amounts that are used up, each once.
    fn used_up(&self) -> Vec<&Meter> {
        let mut found: Vec<&Meter> = Vec::new();
        for meter in self.all().filter(|meter| meter.percent().is_some_and(|percent| percent >= 100)) {
            if !found.iter().any(|known| known.limit == meter.limit) {
                found.push(meter);
            }
        }
        found
    }
}

impl BudgetedProject {
    fn find() -> anyhow::Result<BudgetedProject> {
        let root = super::root()?;
        let folder = SpendingFolder::of(&root.folder).ok_or_else(|| {
            anyhow!("there is no home folder with what was counted: set HOME or XDG_STATE_HOME")
        })?;
        let loaded = load::all(&root, Patterns::All);
        if let Some(error) = loaded.errors.first() {
            bail!("{}", error.brief());
        }
        let now = Timestamp::now();
        let day = folder.day(now);
        Ok(BudgetedProject { root, loaded, folder, day, now })
    }

    fn budget(&self) -> Option<&BudgetConfig> {
        self.loaded.config.budget.as_ref().filter(|budget| budget.limits().next().is_some())
    }

    fn limits(&self) -> Vec<Limit> {
        self.budget().into_iter().flat_map(BudgetConfig::limits).collect()
    }

    fn prices(&self) -> PriceTable {
        let report = self.loaded.config.report.as_ref();
        report.and_then(|report| report.prices.clone()).unwrap_or_default()
    }

    /// The sessions, the newest first, including the lines after their last event.
    fn sessions(&self) -> impl Iterator<Item = MeteredSession> {
        self.folder.sessions().into_iter().map(|(counted, spending)| self.metered(counted, spending))
    }

    fn metered(&self, counted: SystemTime, mut spending: SessionSpending) -> MeteredSession {
        let problem = spending.count_again(Some(&self.day)).err().map(|error| error.to_string());
        let (limits, prices) = (self.limits(), self.prices());
        let query = MeterQuery { limits: &limits, prices: &prices, day: Some(&self.day), now: self.now };
        let meters = spending.meters(query);
        let agents = spending.agents.iter().map(|(id, agent)| {
            let meters = spending.meters_of(query, MeteredAgent { id, title: &agent.name });
            AgentMeters { id: id.clone(), name: agent.name.clone(), meters }
        });
        let agents = agents.filter(|agent| !agent.meters.is_empty()).collect();
        MeteredSession { meters, agents, spending, counted, problem }
    }

    fn named(&self, id: &str) -> anyhow::Result<MeteredSession> {
        let mut found = self.folder.sessions().into_iter().filter(|(_, one)| one.session.starts_with(id));
        let (counted, spending) =
            found.next().ok_or_else(|| anyhow!("nothing was counted of a session {}", printable_line(id)))?;
        if spending.session != id && found.next().is_some() {
            bail!("several sessions start with {}", printable_line(id));
        }
        Ok(self.metered(counted, spending))
    }
}

fn show(project: &BudgetedProject, request: &BudgetRequest) -> anyhow::Result<Exit> {
    let sessions: Vec<MeteredSession> = match &request.session {
        Some(id) => vec![project.named(id)?],
        None if request.all => project.sessions().collect(),
        None => project.sessions().take(NEWEST).collect(),
    };
    let mut out = Out::buffered_stdout();
    if request.json {
        out.json(&as_json(project, &sessions))?;
    } else {
        print(&mut out, project, &sessions)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn print(out: &mut Out<'_>, project: &BudgetedProject, sessions: &[MeteredSession]) -> io::Result<()> {
    let Some(budget) = project.budget() else {
        return writeln!(out, "no budget: the config has no amounts under `{BUDGET}`");
    };
    for session in sessions {
        print_session(out, session)?;
    }
    if sessions.is_empty() {
        writeln!(out, "nothing is counted yet: counting starts with the next event of a session")?;
    }
    let of_day: Vec<Limit> = budget.limits().filter(|limit| limit.scope == BudgetScope::Day).collect();
    if !of_day.is_empty() {
        writeln!(out, "{BOLD}today{BOLD:#}, in all sessions")?;
        day_meters(project, &of_day).iter().try_for_each(|meter| print_meter(out, 2, meter))?;
    }
    writeln!(out, "{FAINT}reported at {} %, then: {}{FAINT:#}", budget.at(), budget.reaction().as_str())
}

/// The amounts of the day, without the raises of a session.
fn day_meters(project: &BudgetedProject, limits: &[Limit]) -> Vec<Meter> {
    let prices = project.prices();
    let nobody = SessionSpending::default();
    let query = MeterQuery { limits, prices: &prices, day: Some(&project.day), now: project.now };
    nobody.meters(query).into_iter().map(|one| one.meter).collect()
}

fn print_session(out: &mut Out<'_>, session: &MeteredSession) -> io::Result<()> {
    let counted = Timestamp::try_from(session.counted).unwrap_or_default();
    let time = Zoned::new(counted, jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
    let id = printable_line(&session.spending.session);
    writeln!(out, "{BOLD}session {id}{BOLD:#}, counted at {time}")?;
    let own = session.meters.iter().filter(|one| one.meter.limit.scope == BudgetScope::Session);
    own.into_iter().try_for_each(|one| print_meter(out, 2, &one.meter))?;
    for agent in &session.agents {
        writeln!(out, "  {} ({})", printable_line(&agent.name), printable_line(&agent.id))?;
        agent.meters.iter().try_for_each(|one| print_meter(out, 4, &one.meter))?;
    }
    let raised = session.spending.raised.iter().map(|(limit, percent)| format!("{limit} by {percent} %"));
    let raised: Vec<String> = raised.collect();
    if !raised.is_empty() {
        writeln!(out, "  raised: {}", printable_line(&raised.join(", ")))?;
    }
    let unread = session.spending.unread();
    if unread > 0 {
        writeln!(
            out,
            "  {WARNING}{} could not be read and is not counted{WARNING:#}",
            count(unread, "answer")
        )?;
    }
    match &session.problem {
        Some(problem) => {
            writeln!(out, "  {WARNING}not all is counted: {}{WARNING:#}", printable_line(problem))
        }
        None => Ok(()),
    }
}

fn print_meter(out: &mut Out<'_>, indent: usize, meter: &Meter) -> io::Result<()> {
    let [_, _, measure] = meter.limit.keys();
    let width = 20 - indent;
    let (percent, paint) = match meter.percent() {
        Some(percent) if percent >= 100 => (format!("{percent} %"), BAD),
        Some(percent) => (format!("{percent} %"), Paint(Style::new())),
        None => ("the price is not known".to_owned(), WARNING),
    };
    let used = spending::used(meter);
    writeln!(out, "{:indent$}{measure:<width$}{used:<30}{paint}{percent}{paint:#}", "")
}

fn as_json(project: &BudgetedProject, sessions: &[MeteredSession]) -> Value {
    let meter = |meter: &Meter| {
        json!({
            "limit": meter.limit.name(), "amount": meter.limit.amount, "with_raise": meter.amount, "used": meter.used,
            "percent": meter.percent(),
        })
    };
    let meters = |all: &[NamedMeter]| all.iter().map(|one| meter(&one.meter)).collect::<Vec<_>>();
    let sessions = sessions.iter().map(|session| {
        let agents = session
            .agents
            .iter()
            .map(|agent| json!({ "id": agent.id, "name": agent.name, "limits": meters(&agent.meters) }));
        json!({
            "session": session.spending.session,
            "counted": Timestamp::try_from(session.counted).unwrap_or_default().to_string(),
            "limits": meters(&session.meters),
            "agents": agents.collect::<Vec<_>>(),
            "unread": session.spending.unread(),
            "problem": session.problem,
        })
    });
    let budget = project.budget();
    let limits: Vec<Limit> =
        project.limits().into_iter().filter(|limit| limit.scope == BudgetScope::Day).collect();
    json!({
        "at": budget.map(BudgetConfig::at),
        "then": budget.map(|budget| budget.reaction().as_str()),
        "sessions": sessions.collect::<Vec<_>>(),
        "day": day_meters(project, &limits).iter().map(meter).collect::<Vec<_>>(),
    })
}

fn raise(project: &BudgetedProject, id: Option<&str>, by: u32) -> anyhow::Result<Exit> {
    refuse_agents("raise its own budget")?;
    if project.budget().is_none() {
        bail!("the config has no amounts under `{BUDGET}`");
    }
    let session = match id {
        Some(id) => project.named(id)?,
        None => project
            .sessions()
            .find(|session| !session.used_up().is_empty())
            .ok_or_else(|| anyhow!("no session has used up its budget: name one with --session"))?,
    };
    let raised = raised_limits(project, &session);
    let mut out = Out::stdout();
    writeln!(out, "{BOLD}session {}{BOLD:#}", printable_line(&session.spending.session))?;
    for limit in &raised {
        let amount = session.spending.with_raise(&limit.name(), limit.amount);
        let more = amount + limit.amount * f64::from(by) / 100.0;
        let words = |amount| spending::in_words(limit.measure, amount);
        writeln!(out, "  {}: {} → {}", limit.name(), words(amount), words(more))?;
    }
    if !agrees(&mut out, "Raise it for this session?")? {
        writeln!(out, "not raised")?;
        return Ok(Exit::Failure);
    }
    let id = session.spending.session;
    let after = write_raise(project, &id, &raised, by)?;
    writeln!(out, "raised by {by} %")?;
    for meter in project.metered(session.counted, after).used_up() {
        let used = spending::used(meter);
        writeln!(out, "{WARNING}still used up{WARNING:#}: {}: {used}; raise it again", meter.limit.name())?;
    }
    Ok(Exit::Success)
}

/// The used-up amounts; all amounts if none is used up.
fn raised_limits(project: &BudgetedProject, session: &MeteredSession) -> Vec<Limit> {
    let used_up: Vec<Limit> = session.used_up().into_iter().map(|meter| meter.limit).collect();
    if used_up.is_empty() { project.limits() } else { used_up }
}

fn write_raise(
    project: &BudgetedProject,
    id: &str,
    raised: &[Limit],
    by: u32,
) -> anyhow::Result<SessionSpending> {
    let names: Vec<String> = raised.iter().map(Limit::name).collect();
    let record = Record {
        event: words::BUDGET_RAISE.into(),
        session: Some(id.to_owned()),
        decision: words::RAISED.into(),
        reason: Some(format!("the user raises {} by {by} % for this session", names.join(", "))),
        traceparent: TraceParent::of(&Variables::of_process()),
        ..Record::default()
    };
    let config = project.loaded.config.audit.as_ref();
    if let Some(problem) = audit::write(&project.root.folder, config, &record, &Budget::unlimited())? {
        writeln!(Out::stderr(), "conclaude: {problem}")?;
    }
    let lock = project.folder.lock(&Budget::unlimited())?;
    let before = project.folder.session(id);
    let mut after = before.clone();
    names.iter().for_each(|name| after.raise(name, by));
    lock.save(&after, &before)?;
    Ok(after)
}
