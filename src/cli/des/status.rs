//! `des status`: all steps of a project with their state. Other subcommands find a step here by the start of its name.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use anstyle::Style;
use anyhow::{anyhow, bail};
use serde::Serialize;
use serde_json::json;

use super::DesProject;
use crate::cli::out::{Out, Paint};
use crate::cli::table;
use conclaude_checks::des::step;
use conclaude_core::decide::Word;
use conclaude_core::event::EventKind;
use conclaude_core::text::clean_line;
use conclaude_store::audit::fields::text;
use conclaude_store::audit::{Filter, Reader, Trail};

const BOLD: Paint = Paint(Style::new().bold());

/// Folders that contain no step files.
const IGNORED_FOLDERS: [&str; 6] = [".git", "node_modules", "target", ".conclaude", ".claude", "dist"];

/// How many levels of folders are searched.
const MAX_DEPTH: u32 = 6;

#[derive(clap::Args)]
pub(crate) struct StatusArgs {
    /// The folder to search [default: the project]
    folder: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct StatusRow {
    step: String,
    task: Option<String>,
    state: String,
    /// `None` for a step without phases.
    phases: Option<Phases>,
    last_agent: Option<String>,
    blocks: usize,
}

#[derive(Serialize)]
struct Phases {
    finished: usize,
    total: usize,
}

pub(super) fn list(project: &DesProject, args: &StatusArgs, out: &mut Out<'_>) -> anyhow::Result<()> {
    let folder = match args.folder.as_deref() {
        Some(folder) if !folder.is_dir() => {
            bail!("{} is not a folder", folder.display());
        }
        Some(folder) => std::path::absolute(folder)?,
        None => project.root.work.clone(),
    };
    let rows = rows(project, &folder)?;
    if args.json {
        out.json(&json!({ "steps": rows }))?;
        return Ok(());
    }
    if rows.is_empty() {
        writeln!(out, "no step files in {}; `conclaude des new` creates one", folder.display())?;
        return Ok(());
    }
    let heading = ["STEP", "TASK", "STATE", "PHASES", "LAST AGENT", "BLOCKS"].map(str::to_owned);
    let cells: Vec<_> = std::iter::once(heading).chain(rows.iter().map(StatusRow::cells)).collect();
    table(out, &cells, BOLD)?;
    Ok(())
}

fn rows(project: &DesProject, folder: &Path) -> anyhow::Result<Vec<StatusRow>> {
    let mut rows = Vec::new();
    for path in step_files(folder) {
        let Ok((step, _)) = step::read(&path, "") else { continue };
        let log = step.phases().unwrap_or_default();
        let (_, name) = project.step(&path)?;
        let phases = project.phases(&step);
        let finished = log.iter().filter(|phase| phases.contains(&phase.name) && phase.is_finished()).count();
        rows.push(StatusRow {
            task: step.task_id(),
            state: step.state(),
            phases: if step.has_phases() { Some(Phases { finished, total: phases.len() }) } else { None },
            last_agent: None,
            blocks: 0,
            step: name,
        });
    }
    add_stops(&Trail::of(&project.root.folder, None), &mut rows)?;
    Ok(rows)
}

/// Adds the last agent and the blocks of each step from the audit trail.
fn add_stops(trail: &Trail, rows: &mut [StatusRow]) -> io::Result<()> {
    let mut by_step: BTreeMap<String, &mut StatusRow> =
        rows.iter_mut().map(|row| (row.step.clone(), row)).collect();
    let stops = Filter { event: Some(EventKind::SubagentStop.name().into()), ..Filter::default() };
    Reader::new(trail).each(&stops, |entry| {
        let record = &entry.record;
        if let Some(row) = text(record, "step").and_then(|step| by_step.get_mut(step)) {
            row.last_agent = text(record, "agent").map(str::to_owned);
            row.blocks += usize::from(text(record, "decision") == Some(Word::Blocked.as_str()));
        }
        Ok(())
    })?;
    Ok(())
}

impl StatusRow {
    fn cells(&self) -> [String; 6] {
        let phases = self.phases.as_ref().map(|Phases { finished, total }| format!("{finished}/{total}"));
        [
            clean_line(&self.step),
            clean_line(self.task.as_deref().unwrap_or("-")),
            clean_line(&self.state),
            phases.unwrap_or_else(|| "-".into()),
            clean_line(self.last_agent.as_deref().unwrap_or("-")),
            self.blocks.to_string(),
        ]
    }
}

/// The step files in a folder, as they are listed.
pub(super) fn step_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    find_json_files(folder, MAX_DEPTH, &mut files);
    let is_step = |step: step::Step| step.phases().is_some() || !step.has_phases();
    files.retain(|path| step::read(path, "").is_ok_and(|(step, _)| is_step(step)));
    files
}

fn find_json_files(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_unstable_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 && !IGNORED_FOLDERS.iter().any(|ignored| name == *ignored) {
            find_json_files(&entry.path(), depth - 1, found);
        } else if kind.is_file() && entry.path().extension().is_some_and(|extension| extension == "json") {
            found.push(entry.path());
        }
    }
}

/// Resolves the start of a step's name: `01` instead of `steps/01-01.json`. A path stays as typed.
pub(super) fn resolve(project: &DesProject, typed: &Path) -> anyhow::Result<PathBuf> {
    let text = typed.to_string_lossy();
    if typed.is_absolute() || text.is_empty() || typed.metadata().is_ok_and(|file| !file.is_dir()) {
        return Ok(typed.to_owned());
    }
    let (mut exact, mut found) = (Vec::new(), Vec::new());
    for path in step_files(&project.root.work) {
        let (_, name) = project.step(&path)?;
        let compared = if text.contains('/') { name.as_str() } else { file_name(&name) };
        if compared.strip_suffix(".json") == Some(&*text) {
            exact.push((path, name));
        } else if compared.starts_with(&*text) {
            found.push((path, name));
        }
    }
    // A whole name is meant, even if others start with it.
    match if exact.is_empty() { found } else { exact }.as_slice() {
        [(path, _)] => Ok(path.clone()),
        // A missing file is reported when it is read.
        [] if typed.extension().is_some() => Ok(typed.to_owned()),
        [] => Err(anyhow!(
            "no step file {text}, and none whose name starts with that; `conclaude des status` lists them"
        )),
        several => {
            let names: Vec<String> = several.iter().map(|(_, name)| clean_line(name)).collect();
            Err(anyhow!("{text} may be one of {}: say which", names.join(", ")))
        }
    }
}

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
