//! `conclaude run`: the commands of the config now, without a session, as the hooks would run them.

use std::io;
use std::path::Path;

use anyhow::{anyhow, bail};

use crate::cli::out::{ColouredText, Out};
use crate::cli::project_dir;
use conclaude_core::agent::MAIN;
use conclaude_core::config::{self, ConfigError, Origins, Patterns, TRUST_IT};
use conclaude_core::dialect::{self, claude};
use conclaude_core::event::{ALL, EventKind};
use conclaude_core::exit::Exit;
use conclaude_core::file_pattern::{FilePattern, Location};
use conclaude_core::text::nearest;
use conclaude_engine::hooks;
use conclaude_engine::install::registration;
use conclaude_engine::install::scope::session_folder;
use conclaude_os::git::{self, FileSelection};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::{FILE_NAMES, Root};
use conclaude_store::store;
use plan::{EventPlan, ProjectConfig};
use report::RunReport;

mod plan;
mod report;

#[derive(clap::Args, Clone)]
pub(super) struct RunRequest {
    /// The event whose commands run, as `Stop` or `stop` [default: those of stop and subagentStop]
    event: Option<String>,
    /// Run what would run for this subagent only; without EVENT, at its stop. `main` is the main thread
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The client for `CONCLAUDE_CLIENT`: claude, codex, copilot, qwen or gemini [default: claude]
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Pretend that these files have changed, with patterns as in .gitignore [default: files that have changed in git]
    #[arg(long, value_name = "GLOB", num_args = 1.., conflicts_with = "all_files")]
    files: Vec<String>,
    /// Pretend that all files have changed
    #[arg(long)]
    all_files: bool,
    /// Also fail if a command fails that only warns, or if nothing has run
    #[arg(long)]
    strict: bool,
    /// Only the main thread is meant.
    #[arg(skip)]
    is_main: bool,
}

impl RunRequest {
    /// Resolves the arguments: an event after the patterns of `--files`, and the name of the main thread.
    ///
    /// # Errors
    /// When an agent without a name is meant.
    fn resolved(&self, work: &Path) -> anyhow::Result<RunRequest> {
        let mut request = self.clone();
        let is_event = |name: &str| EventKind::named(name).or_else(|| EventKind::of_section(name)).is_some();
        let is_behind = |name: &String| is_event(name) && !work.join(name).exists();
        if request.event.is_none() && request.files.len() > 1 && request.files.last().is_some_and(is_behind) {
            request.event = request.files.pop();
        }
        match request.agent.as_deref().map(str::trim) {
            Some("") => {
                bail!("--agent needs the name of a subagent, or `main` for the main thread");
            }
            Some(MAIN) => (request.agent, request.is_main) = (None, true),
            _ => {}
        }
        Ok(request)
    }
}

pub(super) fn run(request: &RunRequest) -> anyhow::Result<Exit> {
    let client = match &request.client {
        Some(name) => dialect::find(name)?,
        None => &claude::DIALECT,
    };
    let root = super::root()?;
    let request = &request.resolved(&root.work)?;
    let loaded = load::all(&root, Patterns::All);
    if !loaded.errors.is_empty() {
        return Ok(broken(&loaded.errors)?);
    }
    if loaded.origins.sources().is_empty() {
        bail!(
            "no config: neither {} here nor in a folder above; `conclaude init` writes one",
            FILE_NAMES.join(" nor ")
        );
    }
    let events = events(request, &loaded)?;
    let origins = checked_origins(&root, &loaded.origins)?;
    let project = ProjectConfig { client, root: &root, config: &loaded.config, origins: &origins };
    let planned = plan::plan(request, &events, project)?;
    if let Some(why) = planned.iter().find_map(|one| one.untrusted.as_deref()) {
        bail!("{why}, so nothing is run. {TRUST_IT}");
    }
    execute(request, &planned)
}

/// Prints the errors of the config as `validate` does.
fn broken(errors: &[ConfigError]) -> io::Result<Exit> {
    let mut out = Out::stderr();
    for error in errors {
        let report = error.report(config::Style::Plain);
        if !report.is_empty() {
            writeln!(out, "{}\n", ColouredText(&report))?;
        }
        writeln!(out, "conclaude: {}", error.summary())?;
    }
    Ok(Exit::Failure)
}

fn events(request: &RunRequest, loaded: &LoadedConfig) -> anyhow::Result<Vec<EventKind>> {
    let Some(name) = &request.event else {
        return Ok(match request.agent {
            Some(_) => vec![EventKind::SubagentStop],
            None if request.is_main => vec![EventKind::Stop],
            None => vec![EventKind::Stop, EventKind::SubagentStop],
        });
    };
    let configured = loaded.config.sections.iter().map(|(event, _)| *event);
    let all = || ALL.iter().copied().chain(configured.clone());
    if let Some(event) = all().find(|event| [event.name(), event.row().section].contains(&name.as_str())) {
        if request.is_main && event.is_of_agent() {
            bail!(
                "{event} never comes from the main thread: leave `--agent {MAIN}` out, or name another event"
            );
        }
        return Ok(vec![event]);
    }
    let names = all().flat_map(|event| [event.name(), event.row().section]);
    let hint = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`conclaude events` lists them".into(),
    };
    Err(anyhow!("unknown event `{name}`; {hint}"))
}

/// Whether the files of the config may run, under the rule of hooks: if only the user's own registration calls us, untrusted
/// files may not.
fn checked_origins(root: &Root, origins: &Origins) -> io::Result<Origins> {
    let project = session_folder(project_dir(), &root.folder)?;
    let mut origins = origins.clone();
    if registration::asks_for_trust(&registration::current(&project)) {
        origins.check_trust(load::why_untrusted);
    }
    Ok(origins)
}

fn execute(request: &RunRequest, planned: &[EventPlan]) -> anyhow::Result<Exit> {
    let mut report = RunReport::new(planned.len() > 1);
    for one in planned {
        report.event(one)?;
        let mut skipped = one.skipped();
        let mut ran = 0;
        let signal = hooks::run_commands(&one.plan(), |commands| {
            for command in skipped.extract_if(.., |command| command.position <= ran) {
                report.skipped(&command)?;
            }
            ran += commands.len();
            report.ran(commands, one)
        })?;
        if let Some(signal) = signal {
            bail!("interrupted by {signal}");
        }
        skipped.iter().try_for_each(|command| report.skipped(command))?;
    }
    Ok(report.finish(request.strict)?)
}

/// The files that count as changed.
#[derive(Default)]
struct InputFiles {
    files: Vec<Location>,
    /// Patterns that match nothing.
    warnings: Vec<String>,
}

/// The files that commands get, relative to the folder of the config.
fn input_files(request: &RunRequest, work: &Path) -> anyhow::Result<InputFiles> {
    let is_all = request.all_files || !request.files.is_empty();
    let listed = git::list(work, if is_all { FileSelection::All } else { FileSelection::Changed });
    let listed = match listed.map_err(anyhow::Error::msg)? {
        Some(listed) => listed,
        None if is_all => store::files_below(work)?,
        None => {
            bail!(
                "{} is not in a git repository, so it is not known what has changed: use --files or --all-files",
                work.display()
            );
        }
    };
    let patterns = patterns(&request.files)?;
    let locations = listed.into_iter().map(|name| Location {
        absolute: work.join(&name).to_string_lossy().into_owned(),
        relative: Some(name),
        ..Location::default()
    });
    let mut is_used = vec![false; patterns.len()];
    let mut is_meant = |file: &Location| {
        let mut is_covered = patterns.is_empty();
        for (pattern, is_used) in patterns.iter().zip(&mut is_used) {
            let covers = pattern.covers(file);
            *is_used |= covers;
            is_covered |= covers;
        }
        is_covered
    };
    let found: Vec<Location> = locations.filter(|file| is_meant(file)).collect();
    if found.is_empty() && !patterns.is_empty() {
        bail!(
            "no file of {} matches {}; patterns are those of .gitignore, and ignored files do not count",
            work.display(),
            request.files.join(", ")
        );
    }
    let unused = request.files.iter().zip(is_used).filter(|(_, is_used)| !is_used);
    let warnings = unused.map(|(glob, _)| format!("--files `{glob}` matches no file")).collect();
    Ok(InputFiles { files: found, warnings })
}

fn patterns(globs: &[String]) -> anyhow::Result<Vec<FilePattern>> {
    let compiled = globs.iter().map(|glob| {
        // The shell may have expanded a pattern to paths.
        let glob = glob.strip_prefix("./").unwrap_or(glob);
        FilePattern::new(glob, None).map_err(|error| anyhow!("--files `{glob}`: {error}"))
    });
    compiled.collect()
}
