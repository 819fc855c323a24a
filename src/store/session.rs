//! What is remembered between calls, in `.conclaude/` at the project's root: one folder per session, one file per
//! agent, named by hash so that no id can lead elsewhere.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{FOLDER, hash, make_folder, make_room, open_new};
use crate::agent::Agent;
use crate::decide::Count;
use crate::{files, log};

/// How long another call may keep us waiting.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// How long a session's state stays after its end, and how long that of a session which never ended.
const KEPT_AFTER_END: Duration = Duration::from_hours(7 * 24);
const KEPT_WITHOUT_END: Duration = Duration::from_hours(30 * 24);

/// What is remembered of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct AgentState {
    /// How often its stop was blocked.
    blocks: u32,
    /// What a newer version remembers, kept as it is.
    #[serde(flatten)]
    other: serde_json::Map<String, serde_json::Value>,
}

/// The state of one session.
#[derive(Clone, Debug)]
pub struct Session {
    root: PathBuf,
    folder: PathBuf,
}

impl Session {
    /// The session's place. Nothing is made until something is written.
    #[must_use]
    pub fn new(root: &Path, session_id: &str) -> Session {
        Session { root: root.to_owned(), folder: root.join(FOLDER).join("state").join(hash(session_id)) }
    }

    /// Counts a block of the agent, unless it has reached the bound.
    ///
    /// # Errors
    /// When the count cannot be read or written.
    pub fn count_block(&self, agent: &Agent, max: u32) -> io::Result<Count> {
        make_folder(&self.root, &self.folder)?;
        make_folder(&self.root, &self.last())?;
        let _lock = self.lock()?;
        let path = self.folder.join(format!("{}.json", hash(agent.key())));
        let mut state = read_state(&path)?;
        if state.blocks >= max {
            return Ok(Count::Exhausted);
        }
        state.blocks += 1;
        files::write_atomically(&path, &serde_json::to_vec(&state)?)?;
        Ok(Count::Blocks(state.blocks))
    }

    /// Remembers something under a name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        make_folder(&self.root, &self.folder)?;
        make_folder(&self.root, &self.last())?;
        files::write_atomically(&self.folder.join(format!("{name}.json")), &serde_json::to_vec(value)?)
    }

    /// What is remembered under a name.
    #[must_use]
    pub fn read<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Option<T> {
        if !self.is_ours() {
            return None;
        }
        let text = files::read_text(&self.folder.join(format!("{name}.json")), 64 << 20).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The names that begin so.
    #[must_use]
    pub fn names(&self, prefix: &str) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
            .filter(|name| name.starts_with(prefix))
            .collect();
        names.sort_unstable();
        names
    }

    /// How often the agent was sent back.
    #[must_use]
    pub fn blocks(&self, agent_key: &str) -> u32 {
        self.read::<AgentState>(&hash(agent_key)).map_or(0, |state| state.blocks)
    }

    /// A new file for output that is too long to be shown.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn output_file(&self, label: &str) -> io::Result<(File, PathBuf)> {
        let folder = self.folder.join("output");
        make_folder(&self.root, &folder)?;
        make_room(&folder);
        let made =
            tempfile::Builder::new().prefix(&format!("{label}-")).suffix(".txt").tempfile_in(&folder)?;
        made.keep().map_err(|error| error.error)
    }

    /// The session's folders: its state, and what waits to be shown.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let name = self.folder.file_name().map(std::ffi::OsStr::to_owned).unwrap_or_default();
        let ours = self.root.join(FOLDER);
        let bases = [ours.join("state"), ours.join("outbox")];
        let real =
            bases.into_iter().filter(move |base| files::is_real_folder(&ours) && files::is_real_folder(base));
        real.map(move |base| base.join(&name))
    }

    /// Notes that the session goes on.
    pub fn resume(&self) {
        for folder in self.folders() {
            let _ = fs::remove_file(folder.join("ended"));
        }
    }

    /// Notes that the session has ended, and removes what ended long ago.
    pub fn end(&self) {
        for folder in self.folders() {
            if files::is_real_folder(&folder)
                && let Err(error) =
                    open_new(&folder.join("ended")).and_then(|mut file| file.write_all(b"ended\n"))
            {
                log::warn(|| format!("cannot note the session's end in {}: {error}", folder.display()));
            }
            let sessions = folder.parent().map(fs::read_dir).and_then(Result::ok);
            for entry in sessions.into_iter().flatten().flatten() {
                let is_session =
                    entry.file_name().len() == 64 && entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_session && is_old(&entry.path()) {
                    log::debug(|| {
                        format!("removing what is left of an old session, {}", entry.path().display())
                    });
                    let _ = fs::remove_dir_all(entry.path());
                }
            }
        }
    }

    /// Whether the folders above are real ones, and not links to what is none of our business.
    fn is_ours(&self) -> bool {
        let ours = self.root.join(FOLDER);
        files::is_real_folder(&ours) && files::is_real_folder(&ours.join("state"))
    }

    fn last(&self) -> PathBuf {
        self.root.join(FOLDER).join("state/last")
    }

    fn lock(&self) -> io::Result<File> {
        files::lock(&self.folder.join("lock"), LOCK_WAIT)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "another call holds the lock"))
    }
}

fn is_old(session: &Path) -> bool {
    let age = |path: &Path| {
        path.symlink_metadata().and_then(|m| m.modified()).ok().and_then(|time| time.elapsed().ok())
    };
    match age(&session.join("ended")) {
        Some(age) => age > KEPT_AFTER_END,
        None => age(session).is_some_and(|age| age > KEPT_WITHOUT_END),
    }
}

fn read_state(path: &Path) -> io::Result<AgentState> {
    let mut text = Vec::new();
    match files::no_links().read(true).open(path) {
        Ok(file) => file.take(1 << 20).read_to_end(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(AgentState::default()),
        Err(error) => return Err(error),
    };
    serde_json::from_slice(&text).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::{MOST_OUTPUTS, touch_last};
    use super::*;

    fn agent(id: &str) -> Agent {
        Agent { name: "coder".into(), kind: None, id: Some(id.into()), transcript: None }
    }

    #[test]
    fn blocks_are_counted_per_session_and_agent_up_to_the_bound() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s1");
        assert_eq!(session.count_block(&agent("a"), 2).unwrap(), Count::Blocks(1));
        assert_eq!(session.count_block(&agent("a"), 2).unwrap(), Count::Blocks(2));
        assert_eq!(session.count_block(&agent("a"), 2).unwrap(), Count::Exhausted);
        assert_eq!(session.count_block(&agent("b"), 2).unwrap(), Count::Blocks(1));
        let other = Session::new(root.path(), "s2");
        assert_eq!(other.count_block(&agent("a"), 2).unwrap(), Count::Blocks(1));
        assert_eq!(fs::read_to_string(root.path().join(".conclaude/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn ids_cannot_lead_out_of_the_folder() {
        let root = tempfile::tempdir().unwrap();
        Session::new(root.path(), "../../etc").count_block(&agent("../../passwd"), 1).unwrap();
        let names: Vec<_> = fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, [FOLDER]);
    }

    #[test]
    fn concurrent_blocks_are_all_counted() {
        let root = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| Session::new(root.path(), "s").count_block(&agent("a"), 100).unwrap());
            }
        });
        let last = Session::new(root.path(), "s").count_block(&agent("a"), 100).unwrap();
        assert_eq!(last, Count::Blocks(17));
    }

    #[test]
    fn what_a_newer_version_remembers_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        session.count_block(&agent("a"), 9).unwrap();
        let path = session.folder.join(format!("{}.json", hash("a")));
        fs::write(&path, r#"{"blocks":4,"novelty":{"x":1}}"#).unwrap();
        assert_eq!(session.count_block(&agent("a"), 9).unwrap(), Count::Blocks(5));
        assert!(fs::read_to_string(&path).unwrap().contains(r#""novelty":{"x":1}"#));
    }

    #[test]
    fn a_damaged_count_is_an_error_not_a_zero() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        session.count_block(&agent("a"), 9).unwrap();
        fs::write(session.folder.join(format!("{}.json", hash("a"))), "{torn").unwrap();
        assert!(session.count_block(&agent("a"), 9).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_in_the_place_of_our_folders_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), root.path().join(FOLDER)).unwrap();
        assert!(Session::new(root.path(), "s").count_block(&agent("a"), 1).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        // Nor is anything noted or removed behind it.
        let old = elsewhere.path().join("state").join("0".repeat(64));
        fs::create_dir_all(&old).unwrap();
        fs::create_dir_all(elsewhere.path().join("state/last")).unwrap();
        File::open(&old)
            .unwrap()
            .set_times(fs::FileTimes::new().set_modified(SystemTime::UNIX_EPOCH))
            .unwrap();
        touch_last(root.path(), "Stop");
        Session::new(root.path(), "s").end();
        assert!(old.exists() && !elsewhere.path().join("state/last/Stop").exists());
    }

    #[test]
    fn sessions_that_ended_long_ago_go_and_others_stay() {
        let root = tempfile::tempdir().unwrap();
        let age = |session: &Session, name: &str, days: u64| {
            let path = session.folder.join(name);
            let then = SystemTime::now() - Duration::from_hours(days * 24);
            File::open(path).unwrap().set_times(fs::FileTimes::new().set_modified(then)).unwrap();
        };
        let sessions: Vec<Session> = (0..3).map(|n| Session::new(root.path(), &format!("s{n}"))).collect();
        for session in &sessions {
            session.count_block(&agent("a"), 9).unwrap();
        }
        sessions[0].end();
        age(&sessions[0], "ended", 8);
        sessions[1].end();
        age(&sessions[1], "ended", 6);
        sessions[2].end();
        let left: Vec<bool> = sessions.iter().map(|s| s.folder.exists()).collect();
        assert_eq!(left, [false, true, true]);
    }

    #[test]
    fn a_session_that_goes_on_keeps_its_counts() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        session.count_block(&agent("a"), 9).unwrap();
        session.end();
        assert!(session.folder.join("ended").exists());
        session.resume();
        assert!(!session.folder.join("ended").exists());
    }

    #[test]
    fn a_folder_that_a_person_made_ignores_itself_too() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(FOLDER)).unwrap();
        Session::new(root.path(), "s").count_block(&agent("a"), 1).unwrap();
        assert!(
            root.path().join(".conclaude/.gitignore").exists()
                && root.path().join(".conclaude/state/last").is_dir()
        );
    }

    #[test]
    fn long_outputs_do_not_pile_up() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        for _ in 0..MOST_OUTPUTS + 5 {
            session.output_file("stdout").unwrap();
        }
        assert_eq!(fs::read_dir(session.folder.join("output")).unwrap().count(), MOST_OUTPUTS);
    }

    #[test]
    fn arrivals_are_noted_once_the_folder_exists() {
        let root = tempfile::tempdir().unwrap();
        touch_last(root.path(), "Stop");
        assert!(!root.path().join(FOLDER).exists());
        fs::create_dir_all(root.path().join(".conclaude/state/last")).unwrap();
        touch_last(root.path(), "Stop");
        assert!(root.path().join(".conclaude/state/last/Stop").is_file());
    }
}
