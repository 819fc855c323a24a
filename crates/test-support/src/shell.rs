//! The tables of shell commands with their effects, which several crates' tests read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

/// The tables of `crates/shell-effects/fixtures`.
pub fn tables() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shell-effects/fixtures");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A command of a table as the shell gets it.
pub fn written_out(command: &str) -> String {
    let mut out = String::new();
    let mut rest = command.trim_end();
    while let Some((before, repeated)) = rest.split_once('⟦') {
        let (repeated, after) = repeated.split_once('⟧').unwrap();
        let (count, text) = repeated.split_once('×').unwrap();
        out.push_str(before);
        for number in 0..count.parse::<usize>().unwrap() {
            out.push_str(&text.replace('#', &number.to_string()));
        }
        rest = after;
    }
    out.push_str(rest);
    out.replace('⏎', "\n")
}

/// The commands of all tables.
pub fn commands() -> Vec<String> {
    let mut commands = Vec::new();
    for table in tables() {
        let text = std::fs::read_to_string(table).unwrap();
        let cases = text.lines().filter_map(|line| line.split_once(" ⇒"));
        commands.extend(cases.map(|(command, _)| written_out(command)));
    }
    commands
}
