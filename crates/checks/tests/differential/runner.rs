//! Starts the workers, and reports what they found.

use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Instant;

use anyhow::{Context, bail};

use crate::sandbox;
use crate::worker::{Figures, Report, Work};

const COUNT: u64 = 20_000;
/// False alarms that are shown.
const MAX_ALARMS: usize = 15;
/// Bypasses that are shown.
const MAX_SHOWN: usize = 60;

struct Options {
    seed: u64,
    count: u64,
    /// A file with texts instead, one in each line, with `⏎` for a line break.
    texts: Option<String>,
}

impl Options {
    fn read(arguments: &[String]) -> anyhow::Result<Options> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        let by_variable = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>());
        let mut options = Options {
            seed: by_variable("DIFFERENTIAL_SEED").transpose()?.unwrap_or(now.as_secs()),
            count: by_variable("DIFFERENTIAL_COUNT").transpose()?.unwrap_or(COUNT),
            texts: None,
        };
        for pair in arguments.chunks(2) {
            match pair {
                [name, value] if name == "--seed" => options.seed = value.parse()?,
                [name, value] if name == "--count" => options.count = value.parse()?,
                [name, value] if name == "--texts" => options.texts = Some(value.clone()),
                // `cargo test` hands on what is meant for other tests.
                [name, ..] if name.starts_with("--nocapture") => {}
                _ => bail!("--seed NUMBER, --count NUMBER or --texts FILE, not {pair:?}"),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let options = Options::read(arguments)?;
    if let Some(file) = &options.texts {
        let texts = std::fs::read_to_string(file).with_context(|| file.clone())?;
        let texts = texts.lines().filter(|line| !line.is_empty()).map(|line| line.replace('⏎', "\n"));
        return given(&Work::Given(texts.collect()));
    }
    let Options { seed, count, .. } = options;
    println!("differential: {count} texts, seed {seed}");
    let start = Instant::now();
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let (sender, reports) = mpsc::channel();
    std::thread::scope(|scope| {
        for first in 0..workers {
            let sender = sender.clone();
            scope.spawn(move || {
                let work = Work::Generated { seed, first, step: workers, count };
                let worked = reports_of(&work, |report| drop(sender.send(Ok(report))));
                if let Err(error) = worked {
                    drop(sender.send(Err(error)));
                }
            });
        }
        drop(sender);
    });
    let mut figures = Figures::default();
    let (mut bypasses, mut alarms) = (Vec::new(), Vec::new());
    for report in reports {
        match report? {
            Report::Figures(more) => figures.add(&more),
            Report::Alarm { text, why } => alarms.push((text, why)),
            report => bypasses.push(report),
        }
    }
    if figures.texts != count {
        bail!("only {} of {count} texts were tried", figures.texts);
    }
    println!(
        "figure: {} texts in {:.0} s: {} allowed, {} did something that is guarded, {} over time",
        figures.texts,
        start.elapsed().as_secs_f64(),
        figures.allowed,
        figures.hits,
        figures.over_time
    );
    println!(
        "figure: {} texts were asked about or denied and did nothing; of {} innocent ones {}",
        figures.false_alarms, figures.innocent, figures.innocent_alarms
    );
    for (text, why) in alarms.iter().take(MAX_ALARMS) {
        println!("  {text:?}: {why}");
    }
    println!("figure: {} bypasses", figures.bypasses);
    show(&bypasses);
    Ok(if bypasses.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Figures {
    fn add(&mut self, more: &Figures) {
        self.texts += more.texts;
        self.allowed += more.allowed;
        self.hits += more.hits;
        self.false_alarms += more.false_alarms;
        self.innocent += more.innocent;
        self.innocent_alarms += more.innocent_alarms;
        self.over_time += more.over_time;
        self.bypasses += more.bypasses;
    }
}

fn show(bypasses: &[Report]) {
    let mut shown: Vec<&str> = Vec::new();
    for report in bypasses {
        let Report::Bypass { text, original, hits, output } = report else { continue };
        if shown.contains(&text.as_str()) || shown.len() >= MAX_SHOWN {
            continue;
        }
        shown.push(text);
        println!("\nbypass: {text:?}\n  the guards allow it; bash: {}", hits.join(", "));
        println!("  printed {output:?}\n  smaller than {original:?}");
    }
}

/// Decisions about texts that are given, and what bash did.
fn given(work: &Work) -> anyhow::Result<ExitCode> {
    let mut is_clean = true;
    reports_of(work, |report| {
        let Report::Seen { text, decision, hits, output } = report else { return };
        let is_bypass = decision == "allowed" && !hits.is_empty();
        is_clean &= !is_bypass;
        let mark = match (is_bypass, hits.is_empty(), decision == "allowed") {
            (true, ..) => "BYPASS",
            (_, true, false) => "alarm ",
            (_, true, true) => "free  ",
            _ => "held  ",
        };
        println!("{mark} {} ⇒ {decision} · {}", text.replace('\n', "⏎"), hits.join(", "));
        if hits.is_empty() {
            println!("         {:?}", output.lines().next().unwrap_or_default());
        }
    })?;
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn reports_of(work: &Work, mut found: impl FnMut(Report)) -> anyhow::Result<()> {
    let mut child = sandbox::start()?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        bail!("a worker has no pipes")
    };
    writeln!(input, "{}", serde_json::to_string(work)?)?;
    drop(input);
    for line in BufReader::new(output).lines() {
        found(serde_json::from_str(&line?)?);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!(
            "the sandbox could not be made, or a worker failed ({status}): nothing that it had left was tested"
        );
    }
    Ok(())
}
