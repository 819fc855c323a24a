//! Instructions, counted by valgrind: they do not depend on what else the machine does.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};

use crate::Options;
use crate::cases::{Case, Place};
use crate::measure;

/// What is promised for an event with nothing to do.
const MOST: u64 = 900_000;
const PROMISED: [&str; 3] = ["PreToolUse, outside a gate", "SubagentStart", "SubagentStop, no match"];

/// Compilers differ a little.
const TOLERANCE: f64 = 1.05;

pub fn run(options: &Options, place: &Place) -> Result<(), String> {
    let committed: Map<String, Value> = match &options.check {
        Some(path) => read(path)?,
        None => Map::new(),
    };
    let mut counts = Map::new();
    let mut failed = Vec::new();
    for case in place.cases().iter().filter(|case| case.counted) {
        let count = count(case, place)?;
        let before = committed.get(case.name).and_then(Value::as_u64);
        let change = before.map(|before| count as f64 / before as f64);
        let words = change.map_or(String::new(), |change| format!("  {:+.1} %", (change - 1.0) * 100.0));
        println!("{:<36} {count:>9} instructions{words}", case.name);
        if change.is_some_and(|change| change > TOLERANCE) {
            failed.push(format!(
                "{}: {count} instructions, more than 5 % above {}",
                case.name,
                before.unwrap_or(0)
            ));
        }
        if options.check.is_some() && before.is_none() {
            failed.push(format!("{}: no committed figure", case.name));
        }
        if PROMISED.contains(&case.name) && count > MOST {
            failed.push(format!("{}: {count} instructions, promised are at most {MOST}", case.name));
        }
        counts.insert(case.name.to_owned(), count.into());
    }
    if let Some(path) = &options.update {
        let text = format!("{:#}\n", Value::Object(counts));
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn read(path: &Path) -> Result<Map<String, Value>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn count(case: &Case, place: &Place) -> Result<u64, String> {
    let plain = measure::command(case, place);
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(&case.program)
        .args(&case.arguments)
        .env_clear()
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(&case.project);
    let input = case.project.join(".payload");
    std::fs::write(&input, &case.input).map_err(|error| error.to_string())?;
    command.stdin(std::fs::File::open(&input).map_err(|error| error.to_string())?);
    let output = command.output().map_err(|error| format!("valgrind (Debian package valgrind): {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} fails, so what it counts means nothing:\n{text}", case.name));
    }
    let refs = text
        .lines()
        .find_map(|line| line.split_once("refs:"))
        .map(|(_, number)| number.trim().replace(',', ""));
    refs.and_then(|number| number.parse().ok())
        .ok_or(format!("{}: valgrind says nothing:\n{text}", case.name))
}
