//! `conclaude replay`: what the config would have decided in past sessions. Nothing is run.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::audit::since;
use super::out::Out;
use crate::replay::totals::ReplayTotals;
use crate::replay::{self, AffectedSessions, Projects, ReplayJob};
use conclaude_core::config::{ConfigError, Patterns};
use conclaude_core::exit::Exit;
use conclaude_engine::hooks::replay::{Prediction, Replayer};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;
use conclaude_store::transcript::sessions::SkippedFiles;

mod json;
mod omissions;
mod print;

pub(super) const EXAMPLES: &str = "Examples:
  conclaude replay                                   all sessions of this project
  conclaude replay --since 30d --config strict.yaml  a stricter config on the last month's work
  conclaude replay 3f2a session.jsonl ~/.claude/projects

Only transcripts of Claude Code are read: sessions of other clients are in `conclaude audit show` and `conclaude report`.

Commands are never run, and nothing is written. An untrusted config can be replayed for that reason. What is compared with the disk (links,
which files exist, what git ignores) is compared with today's.";

#[derive(clap::Args)]
pub(super) struct ReplayRequest {
    /// Sessions by the start of their id, transcripts, or folders of them [default: all sessions of this project]
    #[arg(value_name = "SESSION|FILE|DIR")]
    sources: Vec<String>,
    /// The sessions of all projects, not only of this one
    #[arg(long, conflicts_with = "sources")]
    all_projects: bool,
    /// Compare with this file and the files that it extends, instead of the project's config with all its layers
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only events since this date or time (2026-01-31, 2026-01-31T12:00:00Z, yesterday) or in the last 30m, 12h or 7d
    #[arg(long, value_parser = since)]
    since: Option<Timestamp>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also list the rules of the config that never matched, except those of packs
    #[arg(long)]
    unmatched: bool,
    /// Exit with 1 if anything would be denied or blocked, or a transcript cannot be read
    #[arg(long, alias = "fail-on-block")]
    exit_code: bool,
    /// How many threads read in parallel [default: one per core, only one for less than 32 MB]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// The limit on threads: more than any machine has cores.
const MAX_JOBS: usize = 256;

pub(super) fn run(request: &ReplayRequest) -> anyhow::Result<Exit> {
    let root = super::root()?;
    let (loaded, untrusted) = read(request, &root)?;
    if let Some(error) = loaded.errors.first() {
        return Ok(super::fail(&error.to_string()));
    }
    let replayer = Replayer::new(loaded, &root.folder)?;
    let (sessions, not_listed) = replay::find(&request.sources, &root, request.all_projects)?;
    let mut projects = Projects::of(&root);
    let threads = replay::threads(&sessions, request.since, &mut projects);
    let started = Instant::now();
    let progress = ReplayProgress::new(replay::size(&threads));
    let job = ReplayJob {
        replayer: &replayer,
        since: request.since,
        jobs: request.jobs.map(|jobs| jobs.clamp(1, MAX_JOBS)),
    };
    let mut totals = job.all(&threads, &|bytes| progress.show(bytes));
    progress.clear();
    totals.unreadable += not_listed.unreadable.len() as u64;
    not_listed.unreadable.iter().for_each(|problem| totals.problem(problem.clone()));
    let replayed = ReplaySummary {
        replayer: &replayer,
        totals: &totals,
        sessions: match request.since {
            Some(_) => totals.sessions.len() as u64,
            None => replay::count(&sessions).saturating_sub(totals.unreadable_sessions),
        },
        transcripts: (threads.len() as u64).saturating_sub(totals.not_replayed.old_files),
        not_listed,
        // A named config is compared with all sessions.
        other_configs: if request.config.is_none() {
            projects.other_configs
        } else {
            AffectedSessions::default()
        },
        gone: projects.gone,
        seconds: started.elapsed().as_secs_f64(),
        untrusted,
    };
    show(request, &replayed)?;
    let is_blocked = totals.of(Prediction::Denied) + totals.of(Prediction::Blocked) > 0;
    let is_failure = totals.unreadable > 0 || is_blocked;
    Ok(if request.exit_code && is_failure { Exit::Failure } else { Exit::Success })
}

fn show(request: &ReplayRequest, replayed: &ReplaySummary<'_>) -> anyhow::Result<()> {
    let mut out = Out::stdout();
    if request.json {
        out.json(&json::of(replayed))?;
    } else {
        print::text(&mut out, replayed, request.unmatched)?;
    }
    out.flush()?;
    Ok(())
}

/// The config, and why a hook would not use it. Nothing in it runs, so it need not be trusted.
fn read(request: &ReplayRequest, root: &Root) -> io::Result<(LoadedConfig, Vec<String>)> {
    if let Some(path) = &request.config {
        return Ok((load::one(&std::path::absolute(path)?, root), Vec::new()));
    }
    let loaded = load::untrusted(root);
    let untrusted = if loaded.errors.is_empty() {
        load::all(root, Patterns::All).errors.iter().map(ConfigError::brief).collect()
    } else {
        Vec::new()
    };
    Ok((loaded, untrusted))
}

/// The results of a replay.
struct ReplaySummary<'a> {
    replayer: &'a Replayer,
    totals: &'a ReplayTotals,
    sessions: u64,
    transcripts: u64,
    seconds: f64,
    /// Why the config would not be used by a hook.
    untrusted: Vec<String>,
    /// The skipped files of these folders.
    not_listed: SkippedFiles,
    /// Sessions that had another config, or whose folder is gone.
    other_configs: AffectedSessions,
    gone: AffectedSessions,
}

/// Less is read without a bar.
const FROM_BYTES: u64 = 16 << 20;
const EVERY: Duration = Duration::from_millis(100);
const WIDTH: u64 = 30;

struct ReplayProgress {
    total: u64,
    started: Instant,
    /// When it was last drawn. `None` without a terminal.
    drawn: Option<Mutex<Instant>>,
}

impl ReplayProgress {
    fn new(total: u64) -> ReplayProgress {
        let is_shown = total >= FROM_BYTES && Out::stderr_is_terminal();
        let now = Instant::now();
        ReplayProgress { total, started: now, drawn: if is_shown { Some(Mutex::new(now)) } else { None } }
    }

    fn show(&self, bytes: u64) {
        // Another thread is drawing.
        let Some(mut drawn) = self.drawn.as_ref().and_then(|drawn| drawn.try_lock().ok()) else { return };
        if drawn.elapsed() < EVERY {
            return;
        }
        *drawn = Instant::now();
        let _ =
            Out::stderr().document(&format!("\r{}\u{1b}[K", bar(bytes, self.total, self.started.elapsed())));
    }

    fn clear(&self) {
        if self.drawn.is_some() {
            let _ = Out::stderr().document("\r\u{1b}[K");
        }
    }
}

/// Less than 80 columns.
fn bar(bytes: u64, total: u64, elapsed: Duration) -> String {
    let bytes = bytes.min(total);
    let filled = bytes * WIDTH / total.max(1);
    let part = |text: &str, n: u64| text.repeat(usize::try_from(n).unwrap_or_default());
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let speed = bytes / 1_000 / milliseconds;
    let (read, all) = (bytes / 1_000_000, total / 1_000_000);
    let left = (total - bytes).saturating_mul(milliseconds) / bytes.max(1) / 1_000;
    format!(
        "{}{} {read} of {all} MB, {speed} MB/s, {left} s left",
        part("█", filled),
        part("░", WIDTH - filled)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fits_a_narrow_terminal() {
        let half = bar(1_500_000_000, 3_000_000_000, Duration::from_secs(3));
        assert_eq!(half, "███████████████░░░░░░░░░░░░░░░ 1500 of 3000 MB, 500 MB/s, 3 s left");
        let huge = bar(9_999_999_000_000, 99_999_999_000_000, Duration::from_hours(2));
        assert!(huge.chars().count() < 80, "{huge}");
        assert_eq!(bar(5, 0, Duration::ZERO), format!("{} 0 of 0 MB, 0 MB/s, 0 s left", "░".repeat(30)));
    }
}
