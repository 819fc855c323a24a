//! What does an event cost? All cases take turns in one run, so that whatever else the machine does meets all of them.

mod case;
mod cases;
mod figures;
mod instructions;
mod limits;
mod measure;
mod options;
mod project;
mod report;
mod trail;

use std::process::ExitCode;

use case::Case;
use options::Options;
use project::Scratch;

fn run() -> Result<(), String> {
    let options = Options::parse()?;
    let scratch = Scratch::new(&options.binary, options.installed.as_deref())?;
    let is_wanted = |name: &str| options.only.as_deref().is_none_or(|only| name.contains(only));
    let with_many_files = !options.instructions && is_wanted("Gate 3, 100,000 files");
    let mut cases = cases::all(&scratch, with_many_files);
    if options.instructions {
        return instructions::run(&options, &cases);
    }
    if let Some(only) = &options.only {
        cases.retain(|case: &Case| case.is_baseline || case.name.contains(only.as_str()));
    }
    let figures = measure::measure(&cases, options.rounds);
    let size = std::fs::metadata(&options.binary).map_err(|error| error.to_string())?.len();
    report::table(&figures);
    println!("\nbinary: {:.2} MB", size as f64 / 1e6);
    if let Some(old) = &options.compare {
        report::compare(old, &figures)?;
    }
    report::write_json(&options.json, options.rounds, size, &figures)?;
    println!("figures: {}", options.json.display());
    if options.limits { limits::check(&figures, size) } else { Ok(()) }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
