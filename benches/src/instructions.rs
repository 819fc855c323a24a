//! Instructions, counted by valgrind: they do not depend on what else the machine does.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};

use crate::case::Case;
use crate::options::Options;

/// Compilers differ a little.
const TOLERANCE: f64 = 1.05;

pub fn run(options: &Options, cases: &[Case]) -> Result<(), String> {
    let committed: Map<String, Value> = match &options.check {
        Some(path) => read(path)?,
        None => Map::new(),
    };
    let mut counts = Map::new();
    let mut failed = Vec::new();
    for case in cases.iter().filter(|case| case.is_counted) {
        let count = patiently(case)?;
        let before = committed.get(case.name).and_then(Value::as_u64);
        let change = before.map(|before| count as f64 / before as f64);
        let shown = change.map_or(String::new(), |change| format!("  {:+.1} %", (change - 1.0) * 100.0));
        println!("{:<36} {count:>9} instructions{shown}", case.name);
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

/// Under valgrind a call may run out of the time that a hook has, on a machine that is busy: it is made again then.
fn patiently(case: &Case) -> Result<u64, String> {
    (1..5).find_map(|_| count(case).ok()).map_or_else(|| count(case), Ok)
}

fn count(case: &Case) -> Result<u64, String> {
    let plain = case.command();
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(&case.program)
        .args(&case.arguments)
        .env_clear()
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(&case.root)
        .stdin(File::open(&case.input).map_err(|error| error.to_string())?);
    let output = command.output().map_err(|error| format!("valgrind (Debian package valgrind): {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} fails, so its count means nothing:\n{text}", case.name));
    }
    let refs = text
        .lines()
        .find_map(|line| line.split_once("refs:"))
        .map(|(_, number)| number.trim().replace(',', ""));
    refs.and_then(|number| number.parse().ok())
        .ok_or(format!("{}: valgrind printed no count:\n{text}", case.name))
}
