//! Sessions of the past with a config of today: which transcripts are meant, and all of them on all cores, in memory that does not
//! grow with them.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use serde_json::Value;

use conclaude_core::agent::Agent;
use conclaude_core::order::sorted;
use conclaude_core::text;
use conclaude_engine::hooks::replay::Replayer;
use conclaude_os::files;
use conclaude_store::root::{Root, claude_folder};
use conclaude_store::transcript::listing::SkippedFiles;
use conclaude_store::transcript::sessions::{self, AgentFile, SessionFiles};
use conclaude_store::transcript::stream::Stream;

mod judge;
mod project;
pub(crate) mod seen;
mod state;
mod stops;
mod walk;
mod wire;
mod workers;

pub(crate) use project::{Elsewhere, Projects};
use seen::Seen;
pub(crate) use state::Thread;
use state::Walk;

/// The sessions that are meant: by the start of their id, as files, as folders; all of the project without any. And what was left
/// out of these folders.
///
/// # Errors
/// When there is nothing of that name.
pub(crate) fn find(named: &[String], root: &Root) -> io::Result<(Vec<SessionFiles>, SkippedFiles)> {
    let claude = claude_folder();
    let of_project =
        || claude.as_deref().map(|claude| sessions::of_project(claude, &root.folder)).unwrap_or_default();
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
        return Err(io::Error::other(format!(
            "there is no transcript of {} in {looked_in}; name a session, a file or a folder{}",
            root.folder.display(),
            besides(&left_out)
        )));
    }
    Ok((sorted(found, |a, b| (&a.id, &a.main).cmp(&(&b.id, &b.main))), left_out))
}

/// How many sessions these are: the same one may be named twice, in other words.
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
) -> io::Result<Vec<SessionFiles>> {
    let path = Path::new(source);
    let (found, not_read) = if path.is_dir() {
        sessions::in_folder(path)
    } else if path.exists() {
        let (session, not_read) = sessions::of_file(path);
        // A file that was copied has another name than its session.
        let id = session.start().session_id.unwrap_or(session.id.clone());
        (vec![SessionFiles { id, ..session }], not_read)
    } else {
        let is_meant = |session: &SessionFiles| session.id.starts_with(source);
        let of = |found: Vec<SessionFiles>| found.into_iter().filter(is_meant).collect::<Vec<_>>();
        let own = of(of_project().0);
        let all = || claude.map(|claude| sessions::in_folder(&claude.join("projects")).0).unwrap_or_default();
        // What else is in those folders is not meant.
        (if own.is_empty() { of(all()) } else { own }, SkippedFiles::default())
    };
    match found.is_empty() {
        true if path.is_dir() => Err(io::Error::other(format!(
            "there is no transcript (*.jsonl) in {source}{}",
            besides(&not_read)
        ))),
        true => Err(io::Error::other(format!(
            "{source} is neither a file, nor a folder with transcripts, nor the start of a session's id"
        ))),
        false => {
            left_out.add(not_read);
            Ok(found)
        }
    }
}

/// What was left out where nothing else is there.
fn besides(left_out: &SkippedFiles) -> String {
    let unreadable = left_out.unreadable.iter().cloned();
    notes_of(left_out).chain(unreadable).map(|what| format!("; {what}")).collect()
}

/// What was left out and is no error, in words.
pub(crate) fn notes_of(left_out: &SkippedFiles) -> impl Iterator<Item = String> {
    let of = |n: u64, noun: &str, what: &str| (n > 0).then(|| format!("{} {what}", text::count(n, noun)));
    let links = of(left_out.links, "link", "to a folder or to nothing not followed");
    links.into_iter().chain(of(left_out.empty, "empty transcript", "not read"))
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
    // What was started in another project is judged as if the config were there.
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

/// Less is read by this process alone before others have started.
const MIN_BYTES_TO_SHARE: u64 = 32 << 20;

/// How transcripts are read.
pub(crate) struct Reading<'a> {
    pub(crate) replayer: &'a Replayer,
    pub(crate) since: Option<Timestamp>,
    /// How many processes read; as many as there are cores where nothing is asked for.
    pub(crate) jobs: Option<usize>,
    /// Starts one of them.
    pub(crate) worker: &'a (dyn Fn() -> Option<Command> + Sync),
}

impl Reading<'_> {
    /// Judges every event of all transcripts. `progress` is called with the bytes that were read, again and again.
    pub(crate) fn all(&self, threads: &[Thread], progress: &(dyn Fn(u64) + Sync)) -> Seen {
        let (read, all) = (AtomicU64::new(0), Mutex::new(Seen::default()));
        let read = |bytes| progress(read.fetch_add(bytes, Ordering::Relaxed) + bytes);
        let parts = workers::parts(threads, self.jobs(threads));
        let work = |part: &[&Thread]| {
            let shared = || workers::replay((self.worker)()?, part, &read).ok();
            // What another process cannot read, or not to its end, this one does.
            let shared = if parts.len() > 1 { shared() } else { None };
            let seen =
                shared.unwrap_or_else(|| part_of(self.replayer, part.iter().copied(), self.since, &read));
            all.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(seen);
        };
        match parts.as_slice() {
            [part] => work(part),
            parts => {
                std::thread::scope(|scope| parts.iter().for_each(|part| drop(scope.spawn(|| work(part)))))
            }
        }
        let mut all = all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.problems.sort();
        all
    }

    fn jobs(&self, threads: &[Thread]) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(|| if size(threads) < MIN_BYTES_TO_SHARE { 1 } else { cores() })
    }
}

/// What this process reads itself.
fn part_of<'t>(
    replayer: &Replayer,
    threads: impl IntoIterator<Item = &'t Thread>,
    since: Option<Timestamp>,
    read: &dyn Fn(u64),
) -> Seen {
    let mut seen = Seen::default();
    threads.into_iter().for_each(|thread| seen.add(replay(replayer, thread, since, read)));
    seen
}

/// Reads the part that is given on stdin, for the process that started this one.
///
/// # Errors
/// When there is no part, or nobody takes what was found.
pub(crate) fn work(
    replayer: &Replayer,
    since: Option<Timestamp>,
    stdin: impl BufRead,
    print: &dyn Fn(&Value) -> io::Result<()>,
) -> io::Result<()> {
    // Whoever is gone is noticed at the end.
    let read = workers::progress(|line| drop(print(line)));
    let seen = part_of(replayer, &workers::part(stdin)?, since, &read);
    workers::replies(seen).try_for_each(|line| print(&line))
}

fn replay(replayer: &Replayer, thread: &Thread, since: Option<Timestamp>, read: &dyn Fn(u64)) -> Seen {
    let mut walk = Walk::new(replayer, thread, since);
    if is_older(&thread.path, since) {
        walk.seen.not_replayed.old_files = 1;
        read(thread.size);
        return walk.seen;
    }
    walk.seen.not_replayed.unknown_agents =
        u64::from(thread.agent.as_ref().is_some_and(|agent| agent.kind.is_none()));
    let done = files::open_regular(&thread.path).and_then(|file| {
        let mut stream = Stream::of(Counted { file, read }, &thread.path);
        let done = stream.each(|entry| {
            walk.entry(entry);
            Ok(())
        });
        walk.seen.counts = std::mem::take(&mut stream.counts);
        walk.seen.counts.add(&stream.at_end());
        walk.ends_in_gap = stream.has_gap();
        done
    });
    let path = thread.path.display();
    let problem = match done {
        Err(error) => Some(format!("{path} cannot be read: {error}")),
        Ok(()) if walk.seen.counts.bytes == 0 && thread.size == 0 => Some(format!("{path} is empty")),
        Ok(()) if walk.seen.counts.has_nothing() => {
            Some(format!("{path} is no transcript: none of its lines can be read"))
        }
        Ok(()) => None,
    };
    if let Some(problem) = problem {
        walk.seen.unreadable = 1;
        walk.seen.unreadable_sessions = u64::from(thread.agent.is_none());
        walk.seen.problem(problem);
    }
    walk.finish()
}

/// Whether nothing was written to a file since then.
fn is_older(path: &Path, since: Option<Timestamp>) -> bool {
    let modified = || path.metadata().and_then(|metadata| metadata.modified()).ok();
    let modified = || modified().and_then(|time| Timestamp::try_from(time).ok());
    since.is_some_and(|since| modified().is_some_and(|modified| modified < since))
}

/// A file that says how much was read of it.
struct Counted<'a> {
    file: std::fs::File,
    read: &'a dyn Fn(u64),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        (self.read)(bytes as u64);
        Ok(bytes)
    }
}
