//! One process in a sandbox: it asks the guards about each text, lets bash run it, and compares.

use std::io::BufRead;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::generator::{self, Case};
use crate::guard::{Guards, Verdict};
use crate::project::{self, Mode, Observation};
use crate::{sandbox, shrink};

/// What a worker does: texts of a seed, or texts that are given.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Work {
    Generated { seed: u64, first: u64, step: u64, count: u64 },
    Given(Vec<String>),
}

/// A line that a worker prints.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Report {
    /// The guards allowed it, and bash did what is guarded.
    Bypass {
        text: String,
        original: String,
        hits: Vec<String>,
        output: String,
    },
    /// An innocent text was asked about or denied.
    Alarm {
        text: String,
        why: String,
    },
    /// What was seen of a text that was given.
    Seen {
        text: String,
        decision: String,
        hits: Vec<String>,
        output: String,
    },
    Figures(Figures),
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Figures {
    pub(crate) texts: u64,
    pub(crate) allowed: u64,
    /// Texts for which bash did something that is guarded.
    pub(crate) hits: u64,
    /// Texts that are asked about or denied, and did nothing. Half of the generated texts are meant to be attacks, and some of
    /// them are wrong only by chance.
    pub(crate) false_alarms: u64,
    /// The same for texts in which nothing that is guarded is named.
    pub(crate) innocent: u64,
    pub(crate) innocent_alarms: u64,
    pub(crate) over_time: u64,
    pub(crate) bypasses: u64,
}

/// Making a text smaller takes many runs. After this number of bypasses they are shown as they are.
const MAX_SHRUNK: u64 = 20;

struct Bench {
    guards: Guards,
}

impl Bench {
    fn probe(&self, text: &str, mode: Mode) -> anyhow::Result<(Verdict, Observation)> {
        Ok((self.guards.verdict(text), project::observe(text, mode)?))
    }

    fn is_bypass(&self, text: &str, mode: Mode) -> bool {
        self.guards.verdict(text).allows()
            && project::observe(text, mode).is_ok_and(|observed| !observed.hits.is_empty())
    }
}

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    sandbox::require()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let work: Work = serde_json::from_str(&line)?;
    project::prepare()?;
    let bench = Bench { guards: Guards::new()? };
    match work {
        Work::Given(texts) => {
            for text in texts {
                let (verdict, observed) = bench.probe(&text, Mode::Evaluated)?;
                let hits = observed.hits.iter().map(|hit| (*hit).to_owned()).collect();
                let decision = match verdict.action {
                    None => "allowed".to_owned(),
                    Some(action) => format!("{action:?}: {}", verdict.why),
                };
                print(&Report::Seen { text, decision, hits, output: observed.output })?;
            }
        }
        Work::Generated { seed, first, step, count } => {
            let mut figures = Figures::default();
            let mut at = first;
            while at < count {
                compare(&bench, &generator::case(seed, at), &mut figures)?;
                at += step;
            }
            print(&Report::Figures(figures))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(bench: &Bench, case: &Case, figures: &mut Figures) -> anyhow::Result<()> {
    let Case { text, mode, is_innocent } = case;
    let (verdict, observed) = bench.probe(text, *mode)?;
    let is_hit = !observed.hits.is_empty();
    let is_alarm = !verdict.allows() && !is_hit;
    figures.texts += 1;
    figures.allowed += u64::from(verdict.allows());
    figures.hits += u64::from(is_hit);
    figures.false_alarms += u64::from(is_alarm);
    figures.innocent += u64::from(*is_innocent);
    figures.innocent_alarms += u64::from(*is_innocent && is_alarm);
    figures.over_time += u64::from(observed.is_over_time);
    if *is_innocent && is_alarm {
        print(&Report::Alarm { text: text.clone(), why: verdict.why.clone() })?;
    }
    if verdict.allows() && is_hit {
        figures.bypasses += 1;
        let smaller = if figures.bypasses <= MAX_SHRUNK {
            shrink::smallest(text, |smaller| bench.is_bypass(smaller, *mode))
        } else {
            text.clone()
        };
        let (_, observed) = bench.probe(&smaller, *mode)?;
        print(&Report::Bypass {
            text: smaller,
            original: text.clone(),
            hits: observed.hits.iter().map(|hit| (*hit).to_owned()).collect(),
            output: observed.output,
        })?;
    }
    Ok(())
}

fn print(report: &Report) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(report)?);
    Ok(())
}
