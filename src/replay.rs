//! Replays past sessions with the current config: selects the transcripts, and reads all of them on all cores, with bounded
//! memory.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use anyhow::bail;
use jiff::Timestamp;

use conclaude_core::agent::Agent;
use conclaude_core::text;
use conclaude_engine::hooks::replay::Replayer;
use conclaude_os::files;
use conclaude_store::root::{Root, claude_folder};
use conclaude_store::transcript::sessions::SkippedFiles;
use conclaude_store::transcript::sessions::{self, AgentFile, SessionFiles};
use conclaude_store::transcript::stream::Stream;

mod judge;
mod project;
mod state;
mod stops;
pub(crate) mod totals;
mod walk;

pub(crate) use project::{AffectedSessions, Projects};
pub(crate) use state::Thread;
use state::Walk;
use totals::ReplayTotals;

/// The selected sessions: by the start of their id, as files, or as folders; without names, all sessions of the project. Also
/// what was left out of these folders.
///
/// # Errors
/// When there is nothing of that name.
pub(crate) fn find(
    named: &[String],
    root: &Root,
    all_projects: bool,
) -> anyhow::Result<(Vec<SessionFiles>, SkippedFiles)> {
    let claude = claude_folder();
    let of_project = || match claude.as_deref() {
        Some(claude) if all_projects => sessions::of_all_projects(claude),
        Some(claude) => sessions::of_project(claude, &root.folder),
        None => Default::default(),
    };
    let (mut found, mut left_out) = (Vec::new(), SkippedFiles::default());
    for source in named {
        found.extend(of_source(source, claude.as_deref(), of_project, &mut left_out)?);
    }
    if named.is_empty() {
        (found, left_out) = of_project();
    }
    if found.is_empty() {
        let looked_in = claude
            .map_or_else(|| "a home folder".into(), |claude| claude.join("projects").display().to_string());
        let whose = if all_projects { "any project".into() } else { root.folder.display().to_string() };
        bail!(
            "there is no transcript of {whose} in {looked_in}, and only those of Claude Code are read; name a session, a file or a folder{}",
            besides(&left_out)
        );
    }
    found.sort_by(|a, b| (&a.id, &a.main).cmp(&(&b.id, &b.main)));
    Ok((found, left_out))
}

/// The number of these sessions. The same one may be named twice, in different ways.
pub(crate) fn count(found: &[SessionFiles]) -> u64 {
    let file = |session: &SessionFiles| {
        let main = session.main.as_deref().unwrap_or(Path::new(&session.id));
        main.canonicalize().unwrap_or_else(|_| main.to_owned())
    };
    found.iter().map(file).collect::<HashSet<_>>().len() as u64
}

fn of_source(
    source: &str,
    claude: Option<&Path>,
    of_project: impl Fn() -> (Vec<SessionFiles>, SkippedFiles),
    left_out: &mut SkippedFiles,
) -> anyhow::Result<Vec<SessionFiles>> {
    let path = Path::new(source);
    let (found, not_read) = if path.is_dir() {
        sessions::in_folder(path)
    } else if path.exists() {
        let (session, not_read) = sessions::of_file(path);
        // A copied file has another name than its session.
        let id = session.start().session_id.unwrap_or(session.id.clone());
        let mut session = SessionFiles { id, ..session };
        session.agents.extend(sessions::agents_beside(&session));
        (vec![session], not_read)
    } else {
        let is_meant = |session: &SessionFiles| session.id.starts_with(source);
        let of = |found: Vec<SessionFiles>| found.into_iter().filter(is_meant).collect::<Vec<_>>();
        let own = of(of_project().0);
        let all = || claude.map(|claude| sessions::in_folder(&claude.join("projects")).0).unwrap_or_default();
        // Other sessions in those folders are not selected.
        (if own.is_empty() { of(all()) } else { own }, SkippedFiles::default())
    };
    if found.is_empty() && path.is_dir() {
        bail!("there is no transcript (*.jsonl) in {source}{}", besides(&not_read));
    }
    if found.is_empty() {
        bail!("{source} is neither a file, nor a folder with transcripts, nor the start of a session's id");
    }
    left_out.add(not_read);
    Ok(found)
}

/// The omissions, if there is nothing else.
fn besides(left_out: &SkippedFiles) -> String {
    let unreadable = left_out.unreadable.iter().cloned();
    notes_of(left_out).chain(unreadable).map(|what| format!("; {what}")).collect()
}

/// The omissions without an error, in words.
pub(crate) fn notes_of(left_out: &SkippedFiles) -> impl Iterator<Item = String> {
    let counts = [
        (left_out.links, "link", "to a folder or to nothing not followed"),
        (left_out.empty, "empty transcript", "not read"),
        (left_out.elsewhere, "session", "of another project not read: --all-projects reads all"),
    ];
    let found = counts.into_iter().filter(|(n, ..)| *n > 0);
    found.map(|(n, noun, what)| format!("{} {what}", text::count(n, noun)))
}

/// The transcripts of sessions, each once.
pub(crate) fn threads(
    sessions: &[SessionFiles],
    since: Option<Timestamp>,
    projects: &mut Projects<'_>,
) -> Vec<Thread> {
    let mut known = HashSet::new();
    let mut found: Vec<Thread> =
        sessions.iter().flat_map(|session| of_session(session, since, projects)).collect();
    found.retain(|thread| known.insert(thread.path.canonicalize().unwrap_or(thread.path.clone())));
    found.iter_mut().enumerate().for_each(|(number, thread)| thread.number = number);
    found
}

fn of_session(session: &SessionFiles, since: Option<Timestamp>, projects: &mut Projects<'_>) -> Vec<Thread> {
    let main = session.main.as_deref().or_else(|| session.paths().next()).unwrap_or(Path::new(""));
    let start = session.start();
    let is_read = session.paths().any(|path| !is_older(path, since));
    // A session of another project is judged as if the config were there.
    let project = start.cwd.as_deref().map(|cwd| projects.root_of(cwd, is_read));
    let thread = |path: &Path, agent: Option<Agent>| Thread {
        number: 0,
        session: session.id.clone(),
        main: main.to_owned(),
        path: path.to_owned(),
        size: path.metadata().map_or(0, |metadata| metadata.len()),
        agent,
        root: project.clone(),
        mode: start.permission_mode.clone(),
    };
    let of_main = session.main.iter().map(|path| thread(path, None));
    of_main.chain(session.agents.iter().map(|file| thread(&file.path, Some(agent(file))))).collect()
}

fn agent(file: &AgentFile) -> Agent {
    let kind = file.meta.agent_type.clone().filter(|kind| !kind.trim().is_empty());
    Agent {
        name: kind.clone().unwrap_or_else(|| file.id.clone()),
        kind,
        id: Some(file.id.clone()),
        description: file.meta.description.clone(),
        transcript: Some(file.path.display().to_string()),
    }
}

/// The bytes of all transcripts.
pub(crate) fn size(threads: &[Thread]) -> u64 {
    threads.iter().map(|thread| thread.size).sum()
}

/// Less is read by one thread.
const MIN_BYTES_TO_SHARE: u64 = 32 << 20;

/// How transcripts are read.
pub(crate) struct ReplayJob<'a> {
    pub(crate) replayer: &'a Replayer,
    pub(crate) since: Option<Timestamp>,
    /// How many threads read. By default as many as there are cores.
    pub(crate) jobs: Option<usize>,
}

impl ReplayJob<'_> {
    /// Judges every event of all transcripts. `progress` is called repeatedly with the number of bytes read.
    pub(crate) fn all(&self, threads: &[Thread], progress: &(dyn Fn(u64) + Sync)) -> ReplayTotals {
        let read = AtomicU64::new(0);
        let read = |bytes| progress(read.fetch_add(bytes, Ordering::Relaxed) + bytes);
        // The largest first: at the end all threads are busy with small ones.
        let mut queue: Vec<&Thread> = threads.iter().collect();
        queue.sort_by_key(|thread| Reverse(thread.size));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut totals = ReplayTotals::default();
            while let Some(thread) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
                totals.add(replay(self.replayer, thread, self.since, &read));
            }
            totals
        };
        let others = self.jobs(threads).min(threads.len()).saturating_sub(1);
        let mut all = std::thread::scope(|scope| {
            let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                match other.join() {
                    Ok(totals) => all.add(totals),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        all.problems.sort();
        all
    }

    fn jobs(&self, threads: &[Thread]) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(|| if size(threads) < MIN_BYTES_TO_SHARE { 1 } else { cores() })
    }
}

fn replay(
    replayer: &Replayer,
    thread: &Thread,
    since: Option<Timestamp>,
    read: &dyn Fn(u64),
) -> ReplayTotals {
    let mut walk = Walk::new(replayer, thread, since);
    if is_older(&thread.path, since) {
        walk.totals.not_replayed.old_files = 1;
        read(thread.size);
        return walk.totals;
    }
    walk.totals.not_replayed.unknown_agents =
        u64::from(thread.agent.as_ref().is_some_and(|agent| agent.kind.is_none()));
    let done = files::open_regular(&thread.path).and_then(|file| {
        let mut stream = Stream::of(CountingReader { file, read }, &thread.path);
        let done = stream.each(|entry| {
            walk.entry(entry);
            Ok(())
        });
        walk.totals.counts = std::mem::take(&mut stream.counts);
        walk.totals.counts.add(&stream.at_end());
        walk.ends_in_gap = stream.has_gap();
        done
    });
    let path = thread.path.display();
    let problem = match done {
        Err(error) => Some(format!("{path} cannot be read: {error}")),
        Ok(()) if walk.totals.counts.bytes == 0 && thread.size == 0 => Some(format!("{path} is empty")),
        Ok(()) if walk.totals.counts.has_nothing() => {
            Some(format!("{path} is not a transcript: none of its lines can be read"))
        }
        Ok(()) => None,
    };
    if let Some(problem) = problem {
        walk.totals.unreadable = 1;
        walk.totals.unreadable_sessions = u64::from(thread.agent.is_none());
        walk.totals.problem(problem);
    }
    walk.finish()
}

/// Whether a file has not been written since then.
fn is_older(path: &Path, since: Option<Timestamp>) -> bool {
    let modified = || path.metadata().and_then(|metadata| metadata.modified()).ok();
    let modified = || modified().and_then(|time| Timestamp::try_from(time).ok());
    since.is_some_and(|since| modified().is_some_and(|modified| modified < since))
}

/// A file that reports how much of it was read.
struct CountingReader<'a> {
    file: std::fs::File,
    read: &'a dyn Fn(u64),
}

impl Read for CountingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        (self.read)(bytes as u64);
        Ok(bytes)
    }
}
