//! `conclaude replay`: what the config would have decided in sessions of the past. Nothing is run.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use jiff::Timestamp;

use super::audit::since;
use super::out::Out;
use crate::replay::{self, Elsewhere, Projects, Reading};
use conclaude_core::config::{ConfigError, Patterns};
use conclaude_core::exit::Exit;
use conclaude_engine::hooks::replay::{Prediction, Replayer};
use conclaude_store::load::{self, Loaded};
use conclaude_store::root::Root;

mod json;
mod notes;
mod print;
mod progress;
mod summary;

use summary::ReplaySummary;

pub(super) const EXAMPLES: &str = "Examples:
  conclaude replay                                   all sessions of this project
  conclaude replay --since 30d --config strict.yaml  a stricter config on the last month's work
  conclaude replay 3f2a session.jsonl ~/.claude/projects

Commands are never run, and nothing is written. An untrusted config can be replayed for that reason. What is compared with the disk (links,
which files exist, what git ignores) is compared with today's.";

#[derive(clap::Args)]
pub(super) struct ReplayRequest {
    /// Sessions by the start of their id, transcripts, or folders of them [default: all sessions of this project]
    #[arg(value_name = "SESSION|FILE|DIR")]
    sources: Vec<String>,
    /// Compare with this file and what it extends, instead of the project's config with all its layers
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only what happened since this date or time (2026-01-31, 2026-01-31T12:00:00Z, yesterday) or in the last 30m, 12h or 7d
    #[arg(long, value_parser = since)]
    since: Option<Timestamp>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Exit with 1 if anything would be denied or blocked
    #[arg(long)]
    fail_on_block: bool,
    /// How many threads read at the same time [default: one per core, one alone for less than 32 MB]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// More threads than any machine has cores for.
const MAX_JOBS: usize = 256;

pub(super) fn run(request: &ReplayRequest) -> anyhow::Result<Exit> {
    let root = super::root()?;
    let (loaded, untrusted) = read(request, &root)?;
    if let Some(error) = loaded.errors.first() {
        return Ok(super::fail(&error.to_string()));
    }
    let replayer = Replayer::new(loaded, &root.folder).map_err(anyhow::Error::msg)?;
    let (sessions, not_listed) = replay::find(&request.sources, &root)?;
    let mut projects = Projects::of(&root);
    let threads = replay::threads(&sessions, request.since, &mut projects);
    let started = Instant::now();
    let progress = progress::ReplayProgress::new(replay::size(&threads));
    let reading = Reading {
        replayer: &replayer,
        since: request.since,
        jobs: request.jobs.map(|jobs| jobs.clamp(1, MAX_JOBS)),
    };
    let mut seen = reading.all(&threads, &|bytes| progress.show(bytes));
    progress.clear();
    seen.unreadable += not_listed.unreadable.len() as u64;
    not_listed.unreadable.iter().for_each(|problem| seen.problem(problem.clone()));
    let replayed = ReplaySummary {
        replayer: &replayer,
        seen: &seen,
        sessions: match request.since {
            Some(_) => seen.sessions.len() as u64,
            None => replay::count(&sessions).saturating_sub(seen.unreadable_sessions),
        },
        transcripts: (threads.len() as u64).saturating_sub(seen.not_replayed.old_files),
        not_listed,
        // A config that is named is compared with all sessions.
        other_configs: if request.config.is_none() { projects.other_configs } else { Elsewhere::default() },
        gone: projects.gone,
        seconds: started.elapsed().as_secs_f64(),
        untrusted,
    };
    let mut out = Out::stdout();
    match request.json {
        true => out.json(&json::of(&replayed))?,
        false => print::text(&mut out, &replayed)?,
    }
    out.flush()?;
    let is_blocked = seen.of(Prediction::Denied) + seen.of(Prediction::Blocked) > 0;
    let has_failed = seen.unreadable > 0 || (request.fail_on_block && is_blocked);
    Ok(if has_failed { Exit::Failure } else { Exit::Success })
}

/// The config, and why a hook would not use it. Since nothing of it runs, it need not be trusted.
fn read(request: &ReplayRequest, root: &Root) -> io::Result<(Loaded, Vec<String>)> {
    if let Some(path) = &request.config {
        return Ok((load::one(&std::path::absolute(path)?, root), Vec::new()));
    }
    let loaded = load::untrusted(root);
    let untrusted = match loaded.errors.is_empty() {
        true => load::all(root, Patterns::All).errors.iter().map(ConfigError::brief).collect(),
        false => Vec::new(),
    };
    Ok((loaded, untrusted))
}
