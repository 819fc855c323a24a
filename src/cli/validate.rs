//! `conclaude validate`: every problem of a config, and what is probably a mistake.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};

use crate::config::{self, ConclaudeConfig, EventConfig};
use crate::exit::Exit;
use crate::hooks::Environment;
use crate::install::schema_file;
use crate::root::{self, FILE_NAMES};
use crate::text::count;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

pub(super) fn run(path: Option<&Path>) -> io::Result<Exit> {
    let mut out = anstream::stdout().lock();
    let Some(path) = locate(path)? else {
        writeln!(
            out,
            "{BAD}error{BAD:#}: no config: neither {} here nor in a folder above",
            FILE_NAMES.join(" nor ")
        )?;
        return Ok(Exit::Failure);
    };
    let schema = schema_file::refreshed(Some(&path));
    let checked = root::read(&path).and_then(|text| ConclaudeConfig::parse(&text, &path));
    let config = match checked {
        Ok(config) => config,
        Err(error) => {
            let style = if super::shows_colours() { config::Style::Colour } else { config::Style::Plain };
            let report = error.report(style);
            if !report.is_empty() {
                writeln!(out, "{report}\n")?;
            }
            writeln!(out, "{BAD}error{BAD:#}: {}", error.summary())?;
            return Ok(Exit::Failure);
        }
    };
    for warning in config.warnings().iter().chain(&second_file(&path)).chain(&schema) {
        writeln!(out, "{WARNING}warning{WARNING:#}: {warning}")?;
    }
    writeln!(out, "{GOOD}valid{GOOD:#}: {}", path.display())?;
    for line in contents(&config) {
        writeln!(out, "  {line}")?;
    }
    Ok(Exit::Success)
}

fn locate(path: Option<&Path>) -> io::Result<Option<PathBuf>> {
    let start = match path {
        Some(path) if !path.is_dir() => return Ok(Some(path.to_owned())),
        Some(folder) => std::path::absolute(folder)?,
        None => match Environment::of_process().project_dir {
            Some(folder) => folder,
            None => std::env::current_dir()?,
        },
    };
    Ok(root::find_upward(&start))
}

/// A second config beside the first would be a rule that silently does nothing.
fn second_file(path: &Path) -> Option<String> {
    let [preferred, other] = FILE_NAMES;
    let other = path.with_file_name(other);
    (path.ends_with(preferred) && other.exists())
        .then(|| format!("{} is not read: {preferred} comes first", other.display()))
}

fn contents(config: &ConclaudeConfig) -> Vec<String> {
    let sections = config.sections.iter();
    let mut lines: Vec<String> =
        sections.map(|(event, section)| section_line(event.row().section, section)).collect();
    if config.notifications.as_ref().is_some_and(|notifications| notifications.enabled == Some(true)) {
        lines.push("notifications: on".into());
    }
    if lines.is_empty() {
        lines.push("no rules configured".into());
    }
    lines
}

fn section_line(name: &str, section: &EventConfig) -> String {
    let commands = section.commands().count();
    let patterns = count(section.entries().len() as u64, "pattern");
    format!("{name}: {patterns}, {}", count(commands as u64, "command"))
}
