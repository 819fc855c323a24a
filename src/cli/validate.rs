//! `conclaude validate`: every problem of a config, and what is probably a mistake.

use std::io;
use std::path::{Path, PathBuf};

use anstyle::AnsiColor;

use crate::cli::out::{Coloured, Out, Paint};
use crate::config::{self, ConclaudeConfig, ConfigError, DesConfig, EventConfig};
use crate::exit::Exit;
use crate::hooks::Environment;
use crate::install::registration::over_limit;
use crate::install::schema_file;
use crate::root::{self, FILE_NAMES};
use crate::text::count;

mod machine;

/// What is said of a config without any.
const NO_RULES: &str = "no rules configured";

const GOOD: Paint = Paint(AnsiColor::Green.on_default().bold());
const BAD: Paint = Paint(AnsiColor::Red.on_default().bold());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default().bold());

#[derive(clap::Args)]
pub(super) struct Request {
    /// The config file, or the folder from which to search upward [default: CLAUDE_PROJECT_DIR, else the current folder]
    path: Option<PathBuf>,
    /// How to print the result: github prints annotations for GitHub Actions
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Github,
}

/// What was found.
struct Checked {
    /// None if there is no config.
    path: Option<PathBuf>,
    result: Result<ConclaudeConfig, ConfigError>,
    warnings: Vec<String>,
}

pub(super) fn run(request: &Request) -> io::Result<Exit> {
    let mut out = Out::stdout();
    let checked = check(request.path.as_deref())?;
    match if request.json { Format::Json } else { request.format } {
        Format::Text => print(&mut out, &checked)?,
        Format::Json => machine::json(&mut out, &checked)?,
        Format::Github => machine::github(&mut out, &checked)?,
    }
    Ok(if checked.path.is_some() && checked.result.is_ok() { Exit::Success } else { Exit::Failure })
}

fn check(path: Option<&Path>) -> io::Result<Checked> {
    let Some(path) = locate(path)? else {
        return Ok(Checked { path: None, result: Ok(ConclaudeConfig::default()), warnings: Vec::new() });
    };
    let schema = schema_file::refreshed(Some(&path));
    let result = root::read(&path).and_then(|text| ConclaudeConfig::parse(&text, &path));
    let warnings = result.as_ref().map(warnings).unwrap_or_default();
    let warnings = warnings.into_iter().chain(second_file(&path)).chain(schema).collect();
    Ok(Checked { path: Some(path), result, warnings })
}

/// What is valid, and probably a mistake.
pub(super) fn warnings(config: &ConclaudeConfig) -> Vec<String> {
    config.warnings().into_iter().chain(over_limit(config)).collect()
}

fn print(out: &mut Out<'_>, checked: &Checked) -> io::Result<()> {
    let Some(path) = &checked.path else {
        return writeln!(out, "{BAD}error{BAD:#}: {}", no_config());
    };
    let config = match &checked.result {
        Ok(config) => config,
        Err(error) => {
            let style = if Out::shows_colours() { config::Style::Colour } else { config::Style::Plain };
            let report = error.report(style);
            if !report.is_empty() {
                writeln!(out, "{}\n", Coloured(&report))?;
            }
            return writeln!(out, "{BAD}error{BAD:#}: {}", error.summary());
        }
    };
    for warning in &checked.warnings {
        writeln!(out, "{WARNING}warning{WARNING:#}: {warning}")?;
    }
    writeln!(out, "{GOOD}valid{GOOD:#}: {}", path.display())?;
    for line in contents(config) {
        writeln!(out, "  {line}")?;
    }
    if contents(config) == [NO_RULES] {
        let help = "add `subagentStop:` with commands, or uncomment what `conclaude init` wrote; prompts with markers are gated without any rule";
        writeln!(out, "  = help: {help}")?;
    }
    Ok(())
}

fn no_config() -> String {
    format!("no config: neither {} here nor in a folder above", FILE_NAMES.join(" nor "))
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

/// What the config does, in one line per section.
pub(super) fn contents(config: &ConclaudeConfig) -> Vec<String> {
    let sections = config.sections.iter();
    let mut lines: Vec<String> =
        sections.map(|(event, section)| section_line(event.row().section, section)).collect();
    if config.notifications.as_ref().is_some_and(|notifications| notifications.enabled == Some(true)) {
        lines.push("notifications: on".into());
    }
    if let Some(des) = &config.des {
        lines.push(des_line(des));
    }
    if lines.is_empty() {
        lines.push(NO_RULES.into());
    }
    lines
}

fn section_line(name: &str, section: &EventConfig) -> String {
    let commands = section.commands().count();
    let patterns = count(section.entries().len() as u64, "pattern");
    format!("{name}: {patterns}, {}", count(commands as u64, "command"))
}

fn des_line(des: &DesConfig) -> String {
    if !des.is_enabled() {
        return "des: off".into();
    }
    let phases = count(des.phase_names().len() as u64, "phase");
    let findings = if des.blocks() { "block" } else { "warn" };
    let judge = if des.judge.is_some() { ", with a judge" } else { "" };
    format!("des: gates for prompts with markers, {phases}, findings {findings}{judge}")
}
