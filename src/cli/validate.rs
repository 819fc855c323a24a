//! `conclaude validate`: all errors and warnings of a config.

use std::io;
use std::path::{Path, PathBuf};

use anstyle::AnsiColor;

use crate::cli::out::{ColouredText, Out, Paint};
use conclaude_core::config::{self, BudgetConfig, ConclaudeConfig, DesConfig, EventConfig, Patterns, Remark};
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_core::spending;
use conclaude_core::text::count;
use conclaude_engine::install::{local_file, schema_file};
use conclaude_engine::lint::{self, LintContext};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::{FILE_NAMES, Root};

mod machine;

const GOOD: Paint = Paint(AnsiColor::Green.on_default().bold());
const BAD: Paint = Paint(AnsiColor::Red.on_default().bold());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default().bold());

#[derive(clap::Args)]
pub(super) struct ValidateRequest {
    /// The config file, or the folder from which to search upward [default: CLAUDE_PROJECT_DIR, else the current folder]
    path: Option<PathBuf>,
    /// The output format: github prints annotations for GitHub Actions
    #[arg(long, value_enum, default_value_t)]
    format: ValidateFormat,
    /// Exit with 1 if there are warnings
    #[arg(long)]
    strict: bool,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum ValidateFormat {
    #[default]
    Text,
    Json,
    Github,
}

/// The result of checking a config.
struct CheckedConfig {
    /// The given file, or the project's. `None` if there is no config at all.
    path: Option<PathBuf>,
    loaded: LoadedConfig,
    warnings: Vec<Remark>,
    /// Valid rules that may not mean what the user intended.
    notes: Vec<Remark>,
    /// Warnings that do not concern a value of the config.
    others: Vec<String>,
}

impl CheckedConfig {
    fn has_warnings(&self) -> bool {
        !self.warnings.is_empty() || !self.others.is_empty()
    }

    fn is_valid(&self) -> bool {
        self.path.is_some() && self.loaded.errors.is_empty()
    }

    /// The valid files, the outermost first. A file that several layers extend is named once.
    fn files(&self) -> Vec<&Path> {
        let is_broken = |path: &Path| self.loaded.errors.iter().any(|error| error.path() == path);
        let mut found = Vec::new();
        for source in self.loaded.origins.sources() {
            let path = source.path.as_path();
            if !is_broken(path) && !found.contains(&path) {
                found.push(path);
            }
        }
        found
    }
}

pub(super) fn run(request: &ValidateRequest) -> anyhow::Result<Exit> {
    let mut out = Out::stdout();
    let checked = check(request.path.as_deref())?;
    match if request.json { ValidateFormat::Json } else { request.format } {
        ValidateFormat::Text => print(&mut out, &checked)?,
        ValidateFormat::Json => machine::json(&mut out, &checked)?,
        ValidateFormat::Github => machine::github(&mut out, &checked)?,
    }
    let is_refused = request.strict && checked.has_warnings();
    Ok(if checked.is_valid() && !is_refused { Exit::Success } else { Exit::Failure })
}

fn check(path: Option<&Path>) -> io::Result<CheckedConfig> {
    let (path, local, folder, loaded) = match path {
        Some(file) if !file.is_dir() => {
            let folder = std::path::absolute(file)?.parent().map(Path::to_owned).unwrap_or_default();
            let loaded = load::one(file, &Root::find(None, &folder));
            (Some(file.to_owned()), None, folder, loaded)
        }
        folder => {
            let root = match folder {
                Some(folder) => Root::find(None, &std::path::absolute(folder)?),
                None => super::root()?,
            };
            let loaded = load::all(&root, Patterns::All);
            let first = || loaded.origins.sources().first().map(|source| source.path.clone());
            let broken = || loaded.errors.first().map(|error| error.path().to_owned());
            let local = local_file::not_ignored(&root.folder).map(|problem| problem.to_string());
            (root.config.or_else(first).or_else(broken), local, root.folder, loaded)
        }
    };
    let schema = schema_file::refreshed(path.as_deref());
    let is_valid = loaded.errors.is_empty();
    let warnings = if is_valid { lint::remarks(&loaded, &LintContext::of(&folder)) } else { Vec::new() };
    let notes = if is_valid { lint::notes(&loaded) } else { Vec::new() };
    let second = path.as_deref().and_then(second_file);
    let others = second.into_iter().chain(local).chain(schema).collect();
    Ok(CheckedConfig { path, loaded, warnings, notes, others })
}

fn print(out: &mut Out<'_>, checked: &CheckedConfig) -> io::Result<()> {
    if checked.path.is_none() {
        return writeln!(out, "{BAD}error{BAD:#}: {}", no_config());
    }
    for error in &checked.loaded.errors {
        let style = if Out::shows_colours() { config::Style::Colour } else { config::Style::Plain };
        let report = error.report(style);
        if !report.is_empty() {
            writeln!(out, "{}\n", ColouredText(&report))?;
        }
        writeln!(out, "{BAD}error{BAD:#}: {}", error.summary())?;
    }
    if !checked.is_valid() {
        return Ok(());
    }
    warn(out, checked)?;
    for file in checked.files() {
        writeln!(out, "{GOOD}valid{GOOD:#}: {}", file.display())?;
    }
    for line in contents(&checked.loaded.config) {
        writeln!(out, "  {line}")?;
    }
    if contents(&checked.loaded.config) == [NO_RULES] {
        let help = "add `subagentStop:` with commands, or uncomment what `conclaude init` wrote; prompts with markers are gated without any rule";
        writeln!(out, "  = help: {help}")?;
    }
    Ok(())
}

/// If a warning concerns a value, its line is shown as for an error.
fn warn(out: &mut Out<'_>, checked: &CheckedConfig) -> io::Result<()> {
    let style = if Out::shows_colours() { config::Style::Colour } else { config::Style::Plain };
    for remark in &checked.warnings {
        match remark.locate(&checked.loaded.origins) {
            Some((source, problem)) => {
                let report = config::warning(&problem, &source.path, &source.text, style);
                writeln!(out, "{}\n", ColouredText(&report))?;
            }
            None => writeln!(out, "{WARNING}warning{WARNING:#}: {}", remark.in_one_line())?,
        }
    }
    for warning in &checked.others {
        writeln!(out, "{WARNING}warning{WARNING:#}: {warning}")?;
    }
    for (source, problem) in checked.notes.iter().filter_map(|note| note.locate(&checked.loaded.origins)) {
        let report = config::note(&problem, &source.path, &source.text, style);
        writeln!(out, "{}\n", ColouredText(&report))?;
    }
    Ok(())
}

/// A second config in the same folder is not read.
fn second_file(path: &Path) -> Option<String> {
    let [preferred, other] = FILE_NAMES;
    let other = path.with_file_name(other);
    if path.ends_with(preferred) && other.exists() {
        return Some(format!("{} is not read: {preferred} comes first", other.display()));
    }
    None
}

fn no_config() -> String {
    format!("no config: neither {} here nor in a folder above", FILE_NAMES.join(" nor "))
}

/// Printed for a config without rules.
const NO_RULES: &str = "no rules configured";

/// The content of the config, in one line per section.
pub(super) fn contents(config: &ConclaudeConfig) -> Vec<String> {
    let sections = config.sections.iter();
    let mut lines: Vec<String> =
        sections.map(|(event, section)| section_line(*event, section, config)).collect();
    if config.notifications.as_ref().is_some_and(|notifications| notifications.enabled == Some(true)) {
        lines.push("notifications: on".into());
    }
    if let Some(des) = &config.des {
        lines.push(des_line(des));
    }
    lines.extend(config.budget.as_ref().and_then(budget_line));
    if lines.is_empty() {
        lines.push(NO_RULES.into());
    }
    lines
}

fn section_line(event: EventKind, section: &EventConfig, config: &ConclaudeConfig) -> String {
    let mut parts = Vec::new();
    let mut add = |number: usize, noun: &str| parts.push((number, count(number as u64, noun)));
    add(section.entries().len(), "pattern");
    add(section.commands().count(), "command");
    match event {
        EventKind::PreToolUse => add(config.guards.count_distinct(), "guard"),
        EventKind::PermissionRequest => add(config.permissions.count(), "rule"),
        EventKind::UserPromptSubmit => {
            add(config.prompts.rules().count(), "context rule");
            add(config.prompts.slash_commands().count(), "slash command");
        }
        _ => {}
    }
    // Zeros are shown only if there is nothing else.
    if parts.iter().any(|(number, _)| *number > 0) {
        parts.retain(|(number, _)| *number > 0);
    }
    let parts: Vec<String> = parts.into_iter().map(|(_, words)| words).collect();
    format!("{}: {}", event.row().section, parts.join(", "))
}

/// The amounts of the budget. `None` if it has none.
fn budget_line(budget: &BudgetConfig) -> Option<String> {
    let amounts = budget.limits().map(|limit| {
        let [_, scope, _] = limit.keys();
        format!("{scope} {}", spending::in_words(limit.measure, limit.amount))
    });
    let amounts: Vec<String> = amounts.collect();
    if amounts.is_empty() {
        return None;
    }
    Some(format!(
        "budget: {}; reported at {} %, then {}",
        amounts.join(", "),
        budget.at(),
        budget.reaction().as_str()
    ))
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
