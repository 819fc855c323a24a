//! Which records are wanted.

use std::io;

use jiff::Timestamp;

use crate::audit::{Filter, Trail, last_session};

#[derive(clap::Args)]
pub(in crate::cli) struct FilterArgs {
    /// Only records of this session; the start of its id is enough
    #[arg(long)]
    session: Option<String>,
    /// Only records of the session of the newest record
    #[arg(long, conflicts_with = "session")]
    last_session: bool,
    /// Only records of this agent, by name or id
    #[arg(long)]
    agent: Option<String>,
    /// Only records of steps whose path contains this
    #[arg(long)]
    step: Option<String>,
    /// Only records of this event, such as SubagentStop or "des run"
    #[arg(long)]
    event: Option<String>,
    /// Only records with this decision, such as blocked
    #[arg(long)]
    decision: Option<String>,
    /// Only records since this time (2026-01-31T12:00:00Z) or of the last 30m, 12h or 7d
    #[arg(long, value_parser = since)]
    pub(super) since: Option<Timestamp>,
}

pub(in crate::cli) fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let help = || format!("{text:?} is neither a time (2026-01-31T12:00:00Z) nor a duration (30m, 12h, 7d)");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(help)?;
    let number: i64 = number.trim().parse().map_err(|_| help())?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(help()),
    };
    let seconds = number.checked_mul(seconds).ok_or_else(help)?;
    Timestamp::now().checked_sub(jiff::SignedDuration::from_secs(seconds)).map_err(|_| help())
}

impl FilterArgs {
    pub(super) fn has_more_than_since(&self) -> bool {
        let FilterArgs { session, last_session, agent, step, event, decision, since: _ } = self;
        *last_session || [session, agent, step, event, decision].into_iter().any(Option::is_some)
    }

    /// What is wanted of this trail.
    pub(super) fn filter(self, trail: &Trail) -> io::Result<Filter> {
        let FilterArgs { mut session, last_session: is_last, agent, step, event, decision, since } = self;
        if is_last {
            let last = last_session(trail)?;
            session = Some(last.ok_or_else(|| io::Error::other("no record names a session yet"))?);
        }
        Ok(Filter { session, agent, step, event, decision, since })
    }
}
