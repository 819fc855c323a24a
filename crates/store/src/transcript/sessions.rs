//! Finds transcripts. A session has a transcript of its main thread, and next to it a folder with those of its subagents.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::identity::Meta;
use super::stream::{Counts, Stream};
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::transcript::Scalar;
use conclaude_os::files::FileError;

/// Claude Code cuts longer names of project folders, and adds a hash.
const MAX_FOLDER_NAME: usize = 200;

/// The first line that has a folder is among these.
const MAX_LINES_TO_CWD: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFiles {
    pub id: String,
    /// `None` if only transcripts of subagents are left.
    pub main: Option<PathBuf>,
    /// By id.
    pub agents: Vec<AgentFile>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFile {
    pub id: String,
    pub path: PathBuf,
    pub meta: Meta,
}

impl SessionFiles {
    /// All files, that of the main thread first.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.main.iter().map(PathBuf::as_path).chain(self.agents.iter().map(|agent| agent.path.as_path()))
    }

    /// Where and how the session was started, as far as known.
    pub fn start(&self) -> SessionHeader {
        let found = self
            .paths()
            .map(|path| start(path, |start| start.cwd.is_some() && start.permission_mode.is_some()));
        found.into_iter().find(|start| start.cwd.is_some()).unwrap_or_default()
    }

    /// Whether the session was started in this folder or below it.
    pub fn is_of(&self, root: &Path) -> bool {
        let mut is_broken = false;
        for path in self.paths() {
            let start = start(path, |start| start.cwd.is_some());
            if let Some(cwd) = start.cwd {
                return cwd.starts_with(root);
            }
            is_broken |= start.is_broken;
        }
        // An unreadable session is reported in the project that its folder is named after.
        let folder = self.main.as_deref().and_then(Path::parent).and_then(Path::file_name);
        is_broken && folder.is_some_and(|folder| folder.to_string_lossy() == folder_name(root))
    }

    /// The total size of all files in bytes.
    pub fn size(&self) -> u64 {
        self.paths().filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len()).sum()
    }
}

/// The sessions with transcripts in this folder or below it, by id, and the skipped files.
pub fn in_folder(folder: &Path) -> (Vec<SessionFiles>, SkippedFiles) {
    let Listing { files, skipped } = Listing::of(folder, usize::MAX);
    (of_files(files), skipped)
}

/// The session of a file: its main thread with all subagents, or only one subagent.
pub fn of_file(path: &Path) -> (SessionFiles, SkippedFiles) {
    let (mut files, mut skipped) = (vec![path.to_owned()], SkippedFiles::default());
    if layout::agent_id(path).is_none() {
        let beside = Listing::of(&path.with_extension(""), 1);
        files.extend(beside.files);
        skipped = beside.skipped;
    }
    (of_files(files).into_iter().next().unwrap_or_default(), skipped)
}

/// The subagents of a session whose transcripts are next to its own. Versions before 2.1 stored them there.
pub fn agents_beside(session: &SessionFiles) -> Vec<AgentFile> {
    let Some(folder) = session.main.as_deref().and_then(Path::parent) else { return Vec::new() };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let agents = files.filter(|path| layout::agent_id(path).is_some() && path.is_file()).collect();
    let found = of_files(agents).into_iter().filter(|found| found.id == session.id);
    found.flat_map(|found| found.agents).collect()
}

/// The sessions of all projects, by id.
pub fn of_all_projects(claude: &Path) -> (Vec<SessionFiles>, SkippedFiles) {
    let (mut found, skipped) = in_folder(&claude.join("projects"));
    found.sort_by(|a, b| (&a.id, &a.main).cmp(&(&b.id, &b.main)));
    (found, skipped)
}

/// The sessions of the project with this root: those that were started in it or below it.
pub fn of_project(claude: &Path, root: &Path) -> (Vec<SessionFiles>, SkippedFiles) {
    let (mut found, mut skipped) = (Vec::new(), SkippedFiles::default());
    for folder in folders_of_project(claude, root) {
        let (mut sessions, not_read) = in_folder(&folder);
        let all = sessions.len();
        sessions.retain(|session| session.is_of(root));
        // The name is cut, so it may be that of another project's folder.
        if folder.file_name().is_some_and(|name| name.to_string_lossy() == folder_name(root)) {
            skipped.elsewhere += (all - sessions.len()) as u64;
        }
        found.extend(sessions);
        skipped.add(not_read);
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    (found, skipped)
}

/// The folders that may contain them. Other projects may have the same cut name.
pub fn folders_of_project(claude: &Path, root: &Path) -> Vec<PathBuf> {
    let name = folder_name(root);
    let name = name.get(..MAX_FOLDER_NAME).unwrap_or(&name);
    let folders = std::fs::read_dir(claude.join("projects")).into_iter().flatten().flatten();
    let named = folders.filter(|folder| folder.file_name().to_string_lossy().starts_with(name));
    named.map(|folder| folder.path()).collect()
}

/// The name of the folder in which Claude Code keeps the transcripts of a project.
pub fn folder_name(project: &Path) -> String {
    let text = project.to_string_lossy();
    text.chars()
        .flat_map(|c| std::iter::repeat_n(if c.is_ascii_alphanumeric() { c } else { '-' }, c.len_utf16()))
        .collect()
}

/// The facts about a session in the first lines of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionHeader {
    /// The folder in which it was started.
    pub cwd: Option<PathBuf>,
    pub permission_mode: Option<String>,
    pub session_id: Option<String>,
    /// The first request of the user.
    pub prompt: Option<String>,
    /// Whether a part of it could not be read.
    is_broken: bool,
}

fn start(path: &Path, is_enough: impl Fn(&SessionHeader) -> bool) -> SessionHeader {
    let (mut found, mut lines) = (SessionHeader::default(), 0);
    let read: io::Result<Counts> = Stream::open(path).and_then(|mut stream| {
        stream.until(|entry| {
            lines += 1;
            let text = |value: &Scalar<'_>| value.text().map(str::to_owned);
            found.cwd = found.cwd.take().or_else(|| entry.cwd.text().map(PathBuf::from));
            found.permission_mode = found.permission_mode.take().or_else(|| text(&entry.permission_mode));
            found.session_id = found.session_id.take().or_else(|| text(&entry.session_id));
            found.prompt = found.prompt.take().or_else(|| entry.submitted().map(Cow::into_owned));
            let is_over = is_enough(&found) || lines >= MAX_LINES_TO_CWD;
            Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        stream.counts.add(&stream.at_end());
        Ok(stream.counts)
    });
    read.map(|counts| SessionHeader { is_broken: counts.unread() > 0, ..found }).unwrap_or_default()
}

/// The first request of the user in a session.
pub fn first_prompt(main: &Path) -> Option<String> {
    start(main, |start| start.prompt.is_some()).prompt
}

/// The session's folder and the agent's id, if this is the transcript of a subagent.
fn agent_of(path: &Path) -> Option<(PathBuf, &str)> {
    let (folder, agent) = (layout::session_folder(path)?, layout::agent_id(path)?);
    if layout::is_in_session_folder(path) {
        return Some((folder.to_owned(), agent));
    }
    // For a transcript next to that of the main thread, only its lines name the session.
    let session = start(path, |start| start.session_id.is_some()).session_id;
    let session = session.filter(|id| !id.contains(['/', '\\']) && folder.file_name() != Some(id.as_ref()));
    Some((session.map_or_else(|| folder.to_owned(), |id| folder.join(id)), agent))
}

fn of_files(files: Vec<PathBuf>) -> Vec<SessionFiles> {
    let mut sessions: BTreeMap<PathBuf, SessionFiles> = BTreeMap::new();
    let id = |folder: &Path| {
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    for path in files {
        match agent_of(&path) {
            Some((folder, agent)) => {
                let meta = Meta::of_transcript(&path).unwrap_or_default();
                let agent = AgentFile { id: agent.to_owned(), meta, path: path.clone() };
                sessions.entry(folder).or_default().agents.push(agent);
            }
            None => {
                let folder = path.with_extension("");
                sessions.entry(folder).or_default().main = Some(path);
            }
        }
    }
    let finished = |(folder, mut session): (PathBuf, SessionFiles)| {
        session.id = id(&folder);
        session.agents.sort_by(|a, b| a.id.cmp(&b.id));
        session
    };
    sessions.into_iter().map(finished).collect()
}

/// The transcripts of a folder, and the skipped files.
#[derive(Debug, Default)]
pub struct Listing {
    pub(super) files: Vec<PathBuf>,
    pub skipped: SkippedFiles,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedFiles {
    /// Links to folders, which could form a cycle, and dangling links.
    pub links: u64,
    /// Empty files.
    pub empty: u64,
    /// Sessions in the project's folder that were started in another project.
    pub elsewhere: u64,
    /// Folders and files that cannot be read, with the reason.
    pub unreadable: Vec<String>,
}

impl SkippedFiles {
    pub fn add(&mut self, other: SkippedFiles) {
        self.links += other.links;
        self.empty += other.empty;
        self.elsewhere += other.elsewhere;
        self.unreadable.extend(other.unreadable);
    }
}

impl Listing {
    /// All transcripts in a folder and up to `max_depth` levels below it. Links to folders are not followed: they could form a
    /// cycle.
    pub(super) fn of(folder: &Path, max_depth: usize) -> Listing {
        let mut found = Listing::default();
        let mut open = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = open.pop() {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                // A session without subagents has no folder.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    found.unreadable(&folder, &error);
                    continue;
                }
            };
            for entry in entries {
                match entry {
                    Ok(entry) => {
                        if let Some(below) = found.take(&entry)
                            && depth < max_depth
                        {
                            open.push((below, depth + 1));
                        }
                    }
                    Err(error) => found.unreadable(&folder, &error),
                }
            }
        }
        found
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.skipped.unreadable.push(format!("{} cannot be read: {error}", path.display()));
    }

    /// Adds a transcript, or returns a folder that must be searched.
    fn take(&mut self, entry: &std::fs::DirEntry) -> Option<PathBuf> {
        let path = entry.path();
        let is_named = layout::is_transcript(&path);
        let (kind, is_link) = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => (path.metadata().map(|target| target.file_type()), true),
            kind => (kind, false),
        };
        match kind {
            Ok(kind) if kind.is_dir() && !is_link => return Some(path),
            Ok(kind) if !kind.is_dir() && !is_named => {}
            Ok(kind) if kind.is_file() => match path.metadata() {
                Ok(metadata) if metadata.len() == 0 => self.skipped.empty += 1,
                Ok(_) => self.files.push(path),
                Err(error) => self.unreadable(&path, &error),
            },
            // A dangling link is not a transcript. A link in a cycle or to an unreadable folder may be one.
            Err(error) if is_named && error.kind() != io::ErrorKind::NotFound => {
                self.unreadable(&path, &error)
            }
            _ if is_link => self.skipped.links += 1,
            Ok(_) => self.unreadable(&path, &FileError::NotRegular.into()),
            Err(error) => self.unreadable(&path, &error),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn line(cwd: &str) -> String {
        format!("{{\"type\":\"queue-operation\"}}\n{{\"type\":\"user\",\"cwd\":{cwd:?}}}\n")
    }

    #[test]
    fn a_session_is_its_main_thread_and_its_subagents() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "projects/-p/s1.jsonl", &line("/p"));
        write(root, "projects/-p/s1/subagents/agent-b.jsonl", &line("/p"));
        write(root, "projects/-p/s1/subagents/agent-a.jsonl", &line("/p"));
        write(root, "projects/-p/s1/subagents/agent-a.meta.json", r#"{"agentType":"coder"}"#);
        write(root, "projects/-p/s2/subagents/agent-c.jsonl", &line("/p"));
        write(root, "projects/-p/memory/notes.md", "");
        let all = in_folder(root).0;
        let shown: Vec<_> = all
            .iter()
            .map(|session| (session.id.as_str(), session.main.is_some(), session.agents.len()))
            .collect();
        assert_eq!(shown, [("s1", true, 2), ("s2", false, 1)]);
        assert_eq!(all[0].agents[0].meta.agent_type.as_deref(), Some("coder"));
        assert_eq!(of_file(&root.join("projects/-p/s1.jsonl")).0, all[0]);
        assert_eq!(of_file(&all[0].agents[1].path).0.agents, all[0].agents[1..]);
    }

    #[test]
    fn an_agent_beside_its_main_thread_belongs_to_the_session_that_its_lines_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let of = |session: &str| format!("{{\"type\":\"user\",\"cwd\":\"/p\",\"sessionId\":{session:?}}}\n");
        write(root, "projects/-p/s1.jsonl", &of("s1"));
        write(root, "projects/-p/agent-b.jsonl", &of("s1"));
        write(root, "projects/-p/agent-c.jsonl", &of("gone"));
        write(root, "projects/-p/s2/agent-d.jsonl", &of("s2"));
        let all = of_all_projects(root).0;
        let shown: Vec<_> = all
            .iter()
            .map(|session| (session.id.as_str(), session.main.is_some(), session.agents[0].id.as_str()))
            .collect();
        assert_eq!(shown, [("gone", false, "c"), ("s1", true, "b"), ("s2", false, "d")]);
        assert_eq!(agents_beside(&all[1]), all[1].agents);
        assert_eq!(of_file(&root.join("projects/-p/agent-b.jsonl")).0.id, "s1");
    }

    #[test]
    fn sessions_of_a_project_are_those_that_started_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "projects/-home-u-a-b/s1.jsonl", &line("/home/u/a.b"));
        write(root, "projects/-home-u-a-b/other.jsonl", &line("/home/u/a-b"));
        write(root, "projects/-home-u-a-b-sub/s2.jsonl", &line("/home/u/a.b/sub"));
        write(root, "projects/-home-u-a-bc/s3.jsonl", &line("/home/u/a.bc"));
        write(root, "projects/-home-u-a-b/empty.jsonl", "");
        let ids = |project: &str| -> Vec<String> {
            of_project(root, Path::new(project)).0.into_iter().map(|session| session.id).collect()
        };
        assert_eq!(ids("/home/u/a.b"), ["s1", "s2"]);
        let skipped = of_project(root, Path::new("/home/u/a.b")).1;
        assert_eq!((skipped.elsewhere, skipped.empty), (1, 1), "other.jsonl and empty.jsonl");
        assert_eq!(of_all_projects(root).0.len(), 4);
        assert_eq!(ids("/home/u/nothing"), [""; 0]);
        assert_eq!(folder_name(Path::new("/tmp/ä😀_x")), "-tmp-----x");
    }
}
