//! Feeds the model from the trail, the transcripts of Claude Code, step files and running commands. Growing files are read
//! incrementally, a little at a time, so that the screen never waits.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

use super::line::{MAX_TEXT, cut};
use super::model::{Model, PhaseState, StepKey, StepState};
use super::thread::UnreadParts;
use super::{Watch, WatchedProject};
use conclaude_checks::des::step;
use conclaude_core::dialect::claude::layout;
use conclaude_os::files;
use conclaude_store::audit::{Filter, Reader};
use conclaude_store::store::{Session, running_commands};
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
    /// The index of its project, and its name if several are shown.
    project: (usize, Option<String>),
    session: String,
    agent: Option<String>,
    position: LinePosition,
    /// The bytes before the first line that was read.
    skipped: u64,
    counts: Counts,
    /// A partial line at its end. It is read again the next time.
    at_end: Counts,
}

/// The transcript of a main thread, or of a subagent next to it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FoundTranscript {
    /// When it was written to.
    changed: SystemTime,
    path: PathBuf,
    session: String,
    size: u64,
}

/// The agents' folder of a session, as it was when it was last looked at.
type Folders = BTreeMap<PathBuf, Option<SystemTime>>;

/// A project whose trail, steps and running commands are read.
struct ProjectSource<'a> {
    root: PathBuf,
    /// The root without links, as Claude Code names it.
    real_root: PathBuf,
    reader: Reader<'a>,
}

/// The folder in which the session of a transcript was started.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SessionOrigin {
    /// In the project with this index.
    Project(usize),
    /// In another folder, which is shown by its name.
    Folder(String),
    Elsewhere,
}

pub(crate) struct Source<'a> {
    projects: Vec<ProjectSource<'a>>,
    /// Sessions of all folders are shown, with their names.
    all_projects: bool,
    claude: Option<PathBuf>,
    max_sessions: usize,
    transcripts: BTreeMap<PathBuf, Transcript>,
    folders: Folders,
    /// By transcript, with the size at which it was found.
    origins: BTreeMap<PathBuf, (SessionOrigin, u64)>,
    /// Sessions by the transcript of an agent, if that is next to the main thread's.
    sessions_of_agents: BTreeMap<PathBuf, String>,
    steps: BTreeMap<StepKey, (PathBuf, SystemTime)>,
    /// The first prompts of sessions whose transcript is not read from its start.
    first_prompts: BTreeMap<String, String>,
    next_scan: Instant,
    /// Why something cannot be read.
    pub(crate) problem: Option<String>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(watch: &Watch<'a>) -> Source<'a> {
        let project = |project: &'a WatchedProject| ProjectSource {
            root: project.root.clone(),
            real_root: project.root.canonicalize().unwrap_or_else(|_| project.root.clone()),
            reader: Reader::new(&project.trail),
        };
        Source {
            projects: watch.projects.iter().map(project).collect(),
            all_projects: watch.all_projects,
            claude: watch.claude.clone(),
            max_sessions: watch.limits.sessions,
            transcripts: BTreeMap::new(),
            folders: Folders::new(),
            origins: BTreeMap::new(),
            sessions_of_agents: BTreeMap::new(),
            steps: BTreeMap::new(),
            first_prompts: BTreeMap::new(),
            next_scan: Instant::now(),
            problem: None,
        }
    }

    /// The name of a project, if several are shown.
    fn name_of(&self, index: usize) -> Option<String> {
        if !self.all_projects {
            return None;
        }
        let project = self.projects.get(index)?;
        Some(cut(&project.root.file_name()?.to_string_lossy(), MAX_TEXT))
    }

    fn root_of(&self, index: usize) -> &Path {
        self.projects.get(index).map_or(Path::new(""), |project| &project.root)
    }

    /// Makes the next call look for new sessions.
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
        model.forget_running();
        for index in 0..self.projects.len() {
            model.read_project(index, self.name_of(index));
            model.add_running(running_commands::all(self.root_of(index)));
        }
        more
    }

    fn read_trail(&mut self, model: &mut Model, until: Instant) -> bool {
        let filter = Filter { session: model.only().map(str::to_owned), ..Filter::default() };
        let (mut lines, mut is_cut) = (0, false);
        for index in 0..self.projects.len() {
            model.read_project(index, self.name_of(index));
            let Some(project) = self.projects.get_mut(index) else { break };
            let read = project.reader.each_until(&filter, |entry| {
                model.record(&entry.line, &entry.record, entry.doubt.as_deref());
                lines += 1;
                is_cut = lines % LINES == 0 && Instant::now() >= until;
                Ok(if is_cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
            if let Err(error) = read {
                self.problem = Some(format!("the audit trail cannot be read: {error}"));
            }
            if is_cut {
                break;
            }
        }
        is_cut
    }

    fn read_transcripts(&mut self, model: &mut Model, until: Instant) -> bool {
        let mut more = false;
        for (path, transcript) in &mut self.transcripts {
            if Instant::now() >= until {
                return true;
            }
            let (project, name) = transcript.project.clone();
            model.read_project(project, name);
            match transcript.read_on(path, model, until) {
                Ok(is_cut) => more |= is_cut,
                // It was removed, or cannot be read: the others can.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.problem = Some(format!("{}: {error}", path.display())),
            }
        }
        more
    }

    /// The transcripts that were written to last are read; the others are counted.
    fn find_transcripts(&mut self, model: &mut Model) {
        let Some(claude) = self.claude.clone() else { return };
        let mut found = self.transcripts_in_folders(&claude);
        found.retain(|file| model.is_wanted(&file.session));
        found.sort();
        let mut shown = BTreeSet::new();
        for FoundTranscript { path, size, session, .. } in found.iter().rev() {
            let project = match self.origin_of(path, *size) {
                SessionOrigin::Elsewhere => continue,
                SessionOrigin::Project(index) => (index, self.name_of(index)),
                SessionOrigin::Folder(name) => (self.projects.len(), Some(name)),
            };
            model.know(session);
            if shown.len() < self.max_sessions {
                shown.insert(session);
            }
            if shown.contains(session) {
                model.read_project(project.0, project.1.clone());
                self.add_session(path, model, &project);
            }
        }
    }

    /// A file without a folder in its lines yet is read again when it has grown.
    fn origin_of(&mut self, path: &Path, size: u64) -> SessionOrigin {
        match self.origins.get(path) {
            Some((origin, at)) if *origin != SessionOrigin::Elsewhere || *at == size => origin.clone(),
            _ => {
                let origin = self.find_origin(path);
                self.origins.insert(path.to_owned(), (origin.clone(), size));
                origin
            }
        }
    }

    fn find_origin(&self, path: &Path) -> SessionOrigin {
        let session = sessions::of_file(path).0;
        let ours = self.projects.iter().enumerate().filter(|(_, project)| session.is_of(&project.real_root));
        // A project may be in another one: the inner one counts.
        if let Some((index, _)) = ours.max_by_key(|(_, project)| project.real_root.as_os_str().len()) {
            return SessionOrigin::Project(index);
        }
        if self.all_projects
            && let Some(cwd) = session.start().cwd
        {
            let name = cwd.file_name().unwrap_or(cwd.as_os_str());
            SessionOrigin::Folder(cut(&name.to_string_lossy(), MAX_TEXT))
        } else {
            SessionOrigin::Elsewhere
        }
    }

    /// The session of a transcript. If an agent's transcript is next to the main thread's, only its lines name the session.
    fn session_of(&mut self, path: &Path) -> String {
        if layout::agent_id(path).is_none() {
            return path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        let known = self.sessions_of_agents.entry(path.to_owned());
        known.or_insert_with(|| sessions::of_file(path).0.id).clone()
    }

    /// The transcripts in the possible folders.
    fn transcripts_in_folders(&mut self, claude: &Path) -> Vec<FoundTranscript> {
        let folders: Vec<PathBuf> = if self.all_projects {
            let all = std::fs::read_dir(claude.join("projects")).into_iter().flatten().flatten();
            all.map(|folder| folder.path()).collect()
        } else {
            let roots = self.projects.iter();
            roots.flat_map(|project| sessions::folders_of_project(claude, &project.real_root)).collect()
        };
        let mut found = Vec::new();
        for entry in folders.into_iter().flat_map(std::fs::read_dir).flatten().flatten() {
            let path = entry.path();
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_file()
                && layout::is_transcript(&path)
                && let Ok(changed) = metadata.modified()
            {
                let session = self.session_of(&path);
                found.push(FoundTranscript { changed, path, session, size: metadata.len() });
            }
        }
        found
    }

    fn add_session(&mut self, main: &Path, model: &mut Model, project: &(usize, Option<String>)) {
        let folder = layout::subagents(main);
        let changed = folder.metadata().and_then(|metadata| metadata.modified()).ok();
        if self.folders.get(main) == Some(&changed) {
            return;
        }
        self.folders.insert(main.to_owned(), changed);
        let (SessionFiles { id, agents, main: own }, _) = sessions::of_file(main);
        if own.is_some() {
            self.add(main.to_owned(), &id, None, project);
        }
        for agent in agents {
            let time = agent.path.metadata().and_then(|metadata| metadata.modified()).ok();
            let time = time.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(Timestamp::now);
            model.meta(&id, &agent.id, &agent.meta, time);
            self.add(agent.path, &id, Some(agent.id), project);
        }
    }

    fn add(
        &mut self,
        path: PathBuf,
        session: &str,
        agent: Option<String>,
        project: &(usize, Option<String>),
    ) {
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
            project: project.clone(),
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
                let (project, name) = transcript.project.clone();
                model.read_project(project, name);
                model.has_transcript(&transcript.session, time.unwrap_or_else(Timestamp::now));
            }
        }
    }

    fn look_at_sessions(&mut self, model: &mut Model) {
        self.add_broken(model);
        let ids: Vec<(String, usize)> =
            model.session_ids().map(|(id, project)| (id.to_owned(), project)).collect();
        let mut unread: BTreeMap<&str, (Counts, u64)> = BTreeMap::new();
        for transcript in self.transcripts.values() {
            let (counts, skipped) = unread.entry(&transcript.session).or_default();
            counts.add(&transcript.counts);
            counts.add(&transcript.at_end);
            *skipped += transcript.skipped;
        }
        for (id, project) in ids {
            model.ended(&id, Session::new(self.root_of(project), &id).has_ended());
            if let Some(prompt) = self.first_prompts.get(&id) {
                model.first_prompt(&id, prompt);
            }
            let (counts, skipped) = unread.remove(id.as_str()).unwrap_or_default();
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
    fn step_path(&self, StepKey { project, agent, step }: &StepKey) -> PathBuf {
        let root = self.root_of(*project);
        let worktree = agent.as_ref().map(|id| layout::worktree(root, id).join(step));
        worktree.filter(|path| path.is_file()).unwrap_or_else(|| root.join(step))
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

/// The position of the first line to read.
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

/// A step file as it is now. `None` if it cannot be read.
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
                PhaseState {
                    name: cut(&phase.name, MAX_TEXT),
                    status: status(phase),
                    outcome: outcome.map(|outcome| cut(outcome, MAX_TEXT)),
                }
            })
            .collect(),
    })
}
