//! What does an event cost? All cases take turns in one run, so that whatever else the machine does meets all of them.

mod cases;
mod instructions;
mod measure;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
benches/run [options]

  --rounds N            rounds of every case (default 500)
  --only TEXT           only cases with this in their name, beside the two to compare with
  --json FILE           write the figures as JSON (default target/bench.json)
  --compare FILE        show what changed against such a file
  --instructions        count instructions with valgrind instead of measuring time
  --check FILE          with --instructions: fail if a count is more than 5 % above the committed one
  --update FILE         with --instructions: write the counts there
  --limits              fail where a figure misses what docs/performance.md promises
";

/// What was asked for.
#[derive(Default)]
pub struct Options {
    binary: PathBuf,
    rounds: usize,
    only: Option<String>,
    json: PathBuf,
    compare: Option<PathBuf>,
    instructions: bool,
    check: Option<PathBuf>,
    update: Option<PathBuf>,
    limits: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options { rounds: 500, json: "target/bench.json".into(), ..Options::default() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--binary" => options.binary = value()?.into(),
            "--rounds" => options.rounds = value()?.parse().map_err(|error| format!("--rounds: {error}"))?,
            "--only" => options.only = Some(value()?),
            "--json" => options.json = value()?.into(),
            "--compare" => options.compare = Some(value()?.into()),
            "--instructions" => options.instructions = true,
            "--check" => options.check = Some(value()?.into()),
            "--update" => options.update = Some(value()?.into()),
            "--limits" => options.limits = true,
            "--help" | "-h" => return Err(HELP.into()),
            other => return Err(format!("unknown option {other}\n\n{HELP}")),
        }
    }
    options.binary =
        options.binary.canonicalize().map_err(|error| format!("{:?}: {error}", options.binary))?;
    Ok(options)
}

fn main() -> ExitCode {
    let done = options().and_then(|options| {
        let place = cases::Place::new(&options.binary)?;
        if options.instructions {
            instructions::run(&options, &place)
        } else {
            measure::run(&options, &place)
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
