//! `conclaude run`: the commands of the config now, without a session, as the hooks would run them.

use std::io;

use anyhow::{anyhow, bail};

use crate::cli::out::{ColouredText, Out};
use conclaude_core::agent::MAIN;
use conclaude_core::config::{self, ConfigError, Origins, Patterns, TRUST_IT};
use conclaude_core::event::{ALL, EventKind};
use conclaude_core::exit::Exit;
use conclaude_core::text::nearest;
use conclaude_engine::hooks::Environment;
use conclaude_engine::install::registration;
use conclaude_engine::install::scope::session_folder;
use conclaude_os::process;
use conclaude_store::load::{self, Loaded};
use conclaude_store::root::{FILE_NAMES, Root};

mod files;
mod plan;
mod report;
mod request;

use plan::{EventPlan, ProjectConfig};
use report::RunReport;
pub(super) use request::RunRequest;

pub(super) fn run(request: &RunRequest) -> anyhow::Result<Exit> {
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
    let project = ProjectConfig { root: &root, config: &loaded.config, origins: &origins };
    let planned = plan::plan(request, &events, project)?;
    if let Some(why) = planned.iter().find_map(|one| one.untrusted.as_deref()) {
        bail!("{why}, so nothing is run. {TRUST_IT}");
    }
    execute(request, &planned)
}

/// All that is wrong with the config, as `validate` prints it.
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

fn events(request: &RunRequest, loaded: &Loaded) -> anyhow::Result<Vec<EventKind>> {
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

/// Whether the files of the config may run, by the same rule as at a hook: where only the user's own registration calls us, what the
/// user has not trusted does not.
fn checked_origins(root: &Root, origins: &Origins) -> io::Result<Origins> {
    let project = session_folder(Environment::of_process().project_dir, &root.folder)?;
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
        for command in &one.commands {
            if command.parts.is_empty() {
                report.skipped(command)?;
            }
            for part in &command.parts {
                report.ran(part, one)?;
                if let Some(signal) = process::stop_signal() {
                    bail!("interrupted by {signal}");
                }
            }
        }
    }
    Ok(report.finish(request.strict)?)
}
