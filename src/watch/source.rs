//! Feeds the model from the trail, the transcripts of Claude Code, step files and running commands. Growing files are read
//! incrementally, a little at a time, so that the screen never waits.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

use super::line::{MAX_TEXT, cut};
use super::model::{Model, StepKey, StepState};
use super::thread::UnreadParts;
use conclaude_checks::des::step;
use conclaude_core::dialect::claude::layout;
use conclaude_os::files;
use conclaude_store::audit::{Filter, Reader, Trail};
use conclaude_store::store::{Session, running};
use conclaude_store::transcript::sessions::{self, SessionFiles};
use conclaude_store::transcript::stream::Counts;
use conclaude_store::transcript::stream::{LinePosition, Stream};

/// How long one call may read.
const SLICE: Duration = Duration::from_millis(100);

/// Lines between two looks at the clock.
const LINES: u64 = 200;

/// How often new sessions, agents and changed steps are looked for.
const SCAN: Duration = Duration::from_secs(1);

/// An existing transcript is read from this many bytes before its end. It is larger than the longest line, so that one long line
/// does not hide all others.
const MAX_START: u64 = MAX_LINE + (8 << 20);
const MAX_START_OF_AGENT: u64 = 2 << 20;

/// Longer lines are not read.
const MAX_LINE: u64 = 32 << 20;

/// A transcript, and how far it was read.
struct Transcript {
    session: String,
    agent: Option<String>,
    position: LinePosition,
    /// The bytes before the first line that was read.
    skipped: u64,
    counts: Counts,
    /// A partial line at its end. It is read again the next time.
    at_end: Counts,
}

/// The agents' folder of a session, as it was when it was last looked at.
type Folders = BTreeMap<PathBuf, Option<SystemTime>>;

pub(crate) struct Source<'a> {
    root: PathBuf,
    /// The same without links, as Claude Code names it.
    real_root: PathBuf,
    claude: Option<PathBuf>,
    reader: Reader<'a>,
    max_sessions: usize,
    transcripts: BTreeMap<PathBuf, Transcript>,
    folders: Folders,
    /// Whether the session of a transcript is one of this project.
    is_ours: BTreeMap<PathBuf, bool>,
    steps: BTreeMap<StepKey, (PathBuf, SystemTime)>,
    /// Of sessions whose transcript is not read from its start.
    first_prompts: BTreeMap<String, String>,
    next_scan: Instant,
    /// Why something cannot be read.
    pub(crate) problem: Option<String>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(
        root: &Path,
        claude: Option<PathBuf>,
        trail: &'a Trail,
        max_sessions: usize,
    ) -> Source<'a> {
        Source {
            root: root.to_owned(),
            real_root: root.canonicalize().unwrap_or_else(|_| root.to_owned()),
            claude,
            reader: Reader::new(trail),
            max_sessions,
            transcripts: BTreeMap::new(),
            folders: Folders::new(),
            is_ours: BTreeMap::new(),
            steps: BTreeMap::new(),
            first_prompts: BTreeMap::new(),
            next_scan: Instant::now(),
            problem: None,
        }
    }

    /// New sessions are looked for at the next call.
    pub(crate) fn scan_again(&mut self) {
        self.next_scan = Instant::now();
    }

    /// Feeds the model with what is new. Returns whether there is more to read.
    pub(crate) fn poll(&mut self, model: &mut Model) -> bool {
        let until = Instant::now() + SLICE;
        self.problem = None;
        let is_due = Instant::now() >= self.next_scan;
        if is_due {
            self.find_transcripts(model);
        }
        let more = self.read_trail(model, until) | self.read_transcripts(model, until);
        if is_due {
            self.look_at_sessions(model);
            self.read_steps(model);
            self.next_scan = Instant::now() + SCAN;
        }
        model.set_running(running::all(&self.root));
        more
    }

    fn read_trail(&mut self, model: &mut Model, until: Instant) -> bool {
        let filter = Filter { session: model.only().map(str::to_owned), ..Filter::default() };
        let (mut lines, mut is_cut) = (0, false);
        let read = self.reader.each_until(&filter, |entry| {
            model.record(&entry.line, &entry.record, entry.doubt.as_deref());
            lines += 1;
            is_cut = lines % LINES == 0 && Instant::now() >= until;
            Ok(if is_cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        if let Err(error) = read {
            self.problem = Some(format!("the audit trail cannot be read: {error}"));
        }
        is_cut
    }

    fn read_transcripts(&mut self, model: &mut Model, until: Instant) -> bool {
        let mut more = false;
        for (path, transcript) in &mut self.transcripts {
            if Instant::now() >= until {
                return true;
            }
            match transcript.read_on(path, model, until) {
                Ok(is_cut) => more |= is_cut,
                // It was removed, or cannot be read: the others can.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.problem = Some(format!("{}: {error}", path.display())),
            }
        }
        more
    }

    /// The transcripts that were written to last.
    fn find_transcripts(&mut self, model: &mut Model) {
        let Some(claude) = &self.claude else { return };
        let mut found = main_transcripts(claude, &self.real_root);
        found.retain(|(_, path)| path.file_stem().is_some_and(|id| model.is_wanted(&id.to_string_lossy())));
        found.sort();
        let mut sessions = 0;
        for (_, path) in found.iter().rev() {
            let root = &self.real_root;
            let is_ours =
                self.is_ours.entry(path.clone()).or_insert_with(|| sessions::of_file(path).0.is_of(root));
            if !*is_ours {
                // A new file has no folder in it yet.
                self.is_ours.remove(path);
                continue;
            }
            self.add_session(path, model);
            sessions += 1;
            if sessions >= self.max_sessions {
                break;
            }
        }
    }

    fn add_session(&mut self, main: &Path, model: &mut Model) {
        let folder = layout::subagents(main);
        let changed = folder.metadata().and_then(|metadata| metadata.modified()).ok();
        if self.folders.get(main) == Some(&changed) {
            return;
        }
        self.folders.insert(main.to_owned(), changed);
        let (SessionFiles { id, agents, .. }, _) = sessions::of_file(main);
        self.add(main.to_owned(), &id, None);
        for agent in agents {
            let time = agent.path.metadata().and_then(|metadata| metadata.modified()).ok();
            let time = time.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(Timestamp::now);
            model.meta(&id, &agent.id, &agent.meta, time);
            self.add(agent.path, &id, Some(agent.id));
        }
    }

    fn add(&mut self, path: PathBuf, session: &str, agent: Option<String>) {
        if self.transcripts.contains_key(&path) {
            return;
        }
        let max = if agent.is_some() { MAX_START_OF_AGENT } else { MAX_START };
        let byte = start(&path, max).unwrap_or(0);
        if byte > 0 && agent.is_none() {
            let prompt = sessions::first_prompt(&path);
            self.first_prompts.extend(prompt.map(|prompt| (session.to_owned(), cut(&prompt, MAX_TEXT))));
        }
        let transcript = Transcript {
            session: session.to_owned(),
            agent,
            position: if byte == 0 { LinePosition::START } else { LinePosition { byte, lines: None } },
            skipped: byte,
            counts: Counts::default(),
            at_end: Counts::default(),
        };
        self.transcripts.insert(path, transcript);
    }

    /// Sessions with nothing but broken lines are shown, too.
    fn add_broken(&self, model: &mut Model) {
        for (path, transcript) in &self.transcripts {
            if transcript.counts.unread() + transcript.at_end.unread() > 0 {
                let time = path.metadata().and_then(|metadata| metadata.modified()).ok();
                let time = time.and_then(|time| Timestamp::try_from(time).ok());
                model.has_transcript(&transcript.session, time.unwrap_or_else(Timestamp::now));
            }
        }
    }

    fn look_at_sessions(&mut self, model: &mut Model) {
        self.add_broken(model);
        let ids: Vec<String> = model.session_ids().map(str::to_owned).collect();
        for id in ids {
            model.ended(&id, Session::new(&self.root, &id).has_ended());
            let mut counts = Counts::default();
            let mut skipped = 0;
            for transcript in self.transcripts.values().filter(|transcript| transcript.session == id) {
                counts.add(&transcript.counts);
                counts.add(&transcript.at_end);
                skipped += transcript.skipped;
            }
            if let Some(prompt) = self.first_prompts.get(&id) {
                model.first_prompt(&id, prompt);
            }
            model.unread(&id, UnreadParts { lines: counts.unread(), problems: counts.problems(), skipped });
        }
    }

    fn read_steps(&mut self, model: &mut Model) {
        let keys = model.step_keys();
        self.steps.retain(|key, _| keys.contains(key));
        for key in keys {
            let path = self.step_path(&key);
            let Ok(changed) = path.metadata().and_then(|metadata| metadata.modified()) else {
                self.steps.remove(&key);
                model.set_step(key, None);
                continue;
            };
            if self.steps.get(&key) != Some(&(path.clone(), changed)) {
                model.set_step(key.clone(), step_state(&path));
                self.steps.insert(key, (path, changed));
            }
        }
    }

    /// An agent in a worktree has the step file there.
    fn step_path(&self, (agent, step): &StepKey) -> PathBuf {
        let worktree = agent.as_ref().map(|id| layout::worktree(&self.root, id).join(step));
        worktree.filter(|path| path.is_file()).unwrap_or_else(|| self.root.join(step))
    }
}

impl Transcript {
    fn read_on(&mut self, path: &Path, model: &mut Model, until: Instant) -> io::Result<bool> {
        let size = path.metadata()?.len();
        if size < self.position.byte {
            // It was written again from its start.
            (self.position, self.skipped) = (LinePosition::START, 0);
        }
        if size == self.position.byte {
            return Ok(false);
        }
        let mut stream = Stream::open_at(path, self.position)?;
        let (mut lines, mut is_cut) = (0, false);
        let mut timeless = Counts::default();
        let read = stream.until(|entry| {
            if !model.entry(&self.session, self.agent.as_deref(), entry) {
                timeless.note("without a time that can be read", &path.to_string_lossy(), entry.line);
            }
            lines += 1;
            is_cut = lines % LINES == 0 && Instant::now() >= until;
            Ok(if is_cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        self.position = stream.position();
        self.counts.add(&stream.counts);
        self.counts.add(&timeless);
        self.at_end = stream.at_end();
        read.map(|()| is_cut)
    }
}

/// The transcripts of main threads of sessions that may be of this project, with when they were written to.
fn main_transcripts(claude: &Path, root: &Path) -> Vec<(SystemTime, PathBuf)> {
    let mut found = Vec::new();
    for folder in sessions::folders_of_project(claude, root) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_file()
                && layout::is_transcript(&path)
                && let Ok(changed) = metadata.modified()
            {
                found.push((changed, path));
            }
        }
    }
    found
}

/// Where the first line starts that is to be read.
fn start(path: &Path, max: u64) -> io::Result<u64> {
    let mut file = files::open_regular(path)?;
    let Some(before) = file.metadata()?.len().checked_sub(max).filter(|before| *before > 0) else {
        return Ok(0);
    };
    file.seek(SeekFrom::Start(before))?;
    let mut rest = Vec::new();
    let skipped = BufReader::new(file).take(MAX_LINE).read_until(b'\n', &mut rest)?;
    Ok(before + skipped as u64)
}

/// A step file as it is now; none where it cannot be read.
fn step_state(path: &Path) -> Option<StepState> {
    let (step, _) = step::read(path, "").ok()?;
    let phases = step.phases().unwrap_or_default();
    let open = |phase: &&step::Phase| phase.status() == Some(step::PhaseStatus::InProgress);
    let current = phases.iter().find(open).or_else(|| phases.iter().find(|phase| !phase.is_finished()));
    let status = |phase: &step::Phase| cut(phase.status.as_deref().unwrap_or("NOT_EXECUTED"), MAX_TEXT);
    Some(StepState {
        status: cut(&step.state(), MAX_TEXT),
        finished: phases.iter().filter(|phase| phase.is_finished()).count(),
        current: current.map(|phase| cut(&phase.name, MAX_TEXT)),
        phases: phases
            .iter()
            .map(|phase| {
                let outcome = phase.outcome.as_deref().or(phase.blocked_by.as_deref());
                (cut(&phase.name, MAX_TEXT), status(phase), outcome.map(|outcome| cut(outcome, MAX_TEXT)))
            })
            .collect(),
    })
}
