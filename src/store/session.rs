//! The state between events, in `.conclaude/` at the project's root: one folder per session, one file per
//! agent, named by hash so that no id can lead to another folder.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{FOLDER, hash, make_folder, make_room, open_new};
use crate::agent::Agent;
use crate::decide::{Cause, Count};
use crate::{files, log};

/// How long we wait for another process.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// How long a session's state is kept after its end, and without an end.
const KEPT_AFTER_END: Duration = Duration::from_hours(7 * 24);
const KEPT_WITHOUT_END: Duration = Duration::from_hours(30 * 24);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct AgentState {
    blocks: u32,
    /// How many of them the user was shown to be over.
    reported: u32,
    /// What blocked it since then.
    checks: Vec<String>,
    /// A timeout blocked it.
    timeout: bool,
    /// The fields of a newer version, which are kept.
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
    /// Nothing is created until something is written.
    #[must_use]
    pub(crate) fn new(root: &Path, session_id: &str) -> Session {
        Session { root: root.to_owned(), folder: root.join(FOLDER).join("state").join(hash(session_id)) }
    }

    /// Counts a block of the agent, unless it has reached the limit, and remembers what blocked it.
    ///
    /// # Errors
    /// When the count cannot be read or written.
    pub(crate) fn count_block(&self, agent: &Agent, max: u32, cause: &Cause) -> io::Result<Count> {
        make_folder(&self.root, &self.folder)?;
        make_folder(&self.root, &self.last())?;
        let _lock = self.lock()?;
        let path = self.state_file(agent);
        let mut state = read_state(&path)?;
        if state.blocks >= max {
            return Ok(Count::Exhausted);
        }
        state.blocks += 1;
        state.timeout |= cause.timeout;
        let more: Vec<String> =
            cause.checks.iter().filter(|check| !state.checks.contains(check)).cloned().collect();
        state.checks.extend(more);
        files::write_atomically(&path, &serde_json::to_vec(&state)?)?;
        Ok(Count::Blocks(state.blocks))
    }

    /// Whether a timeout has blocked the agent. What cannot be read is not known: then the count cannot be read either,
    /// which limits the blocks.
    pub(crate) fn was_blocked_by_timeout(&self, agent: &Agent) -> bool {
        self.is_ours() && read_state(&self.state_file(agent)).is_ok_and(|state| state.timeout)
    }

    /// How often the agent was blocked since this was last asked, and by what. None if it was not.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    pub(crate) fn take_blocks(&self, agent: &Agent) -> io::Result<Option<(u32, Vec<String>)>> {
        let path = self.state_file(agent);
        // Most agents are never blocked, and cost no lock.
        if !self.is_ours() || !path.exists() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let mut state = read_state(&path)?;
        let blocks = state.blocks.saturating_sub(state.reported);
        if blocks == 0 {
            return Ok(None);
        }
        state.reported = state.blocks;
        let checks = std::mem::take(&mut state.checks);
        files::write_atomically(&path, &serde_json::to_vec(&state)?)?;
        Ok(Some((blocks, checks)))
    }

    fn state_file(&self, agent: &Agent) -> PathBuf {
        self.folder.join(format!("{}.json", hash(agent.key())))
    }

    pub(crate) fn write<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        make_folder(&self.root, &self.folder)?;
        make_folder(&self.root, &self.last())?;
        files::write_atomically(&self.folder.join(format!("{name}.json")), &serde_json::to_vec(value)?)
    }

    pub(crate) fn read<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Option<T> {
        if !self.is_ours() {
            return None;
        }
        let text = files::read_text(&self.folder.join(format!("{name}.json")), 64 << 20).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The names of stored values that start with the prefix.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
            .filter(|name| name.starts_with(prefix))
            .collect();
        names.sort_unstable();
        names
    }

    /// A new file for output that is too long to be shown.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(crate) fn output_file(&self, label: &str) -> io::Result<(File, PathBuf)> {
        let folder = self.folder.join("output");
        make_folder(&self.root, &folder)?;
        make_room(&folder);
        let made =
            tempfile::Builder::new().prefix(&format!("{label}-")).suffix(".txt").tempfile_in(&folder)?;
        made.keep().map_err(|error| error.error)
    }

    /// The session's folders: its state and its outbox.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let name = self.folder.file_name().map(std::ffi::OsStr::to_owned).unwrap_or_default();
        let ours = self.root.join(FOLDER);
        let bases = [ours.join("state"), ours.join("outbox")];
        let real =
            bases.into_iter().filter(move |base| files::is_real_folder(&ours) && files::is_real_folder(base));
        real.map(move |base| base.join(&name))
    }

    /// Removes the mark of the session's end.
    pub(crate) fn resume(&self) {
        for folder in self.folders() {
            let _ = fs::remove_file(folder.join("ended"));
        }
    }

    /// Marks the session as ended, and removes sessions that ended long ago.
    pub(crate) fn end(&self) {
        for folder in self.folders() {
            if files::is_real_folder(&folder)
                && let Err(error) =
                    open_new(&folder.join("ended")).and_then(|mut file| file.write_all(b"ended\n"))
            {
                log::warn(|| format!("cannot mark the session's end in {}: {error}", folder.display()));
            }
            let sessions = folder.parent().map(fs::read_dir).and_then(Result::ok);
            for entry in sessions.into_iter().flatten().flatten() {
                let is_session =
                    entry.file_name().len() == 64 && entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_session && is_old(&entry.path()) {
                    log::debug(|| {
                        format!("removing the state of an old session, {}", entry.path().display())
                    });
                    let _ = fs::remove_dir_all(entry.path());
                }
            }
        }
    }

    /// Whether the folders above are real ones, and not symlinks.
    fn is_ours(&self) -> bool {
        let ours = self.root.join(FOLDER);
        files::is_real_folder(&ours) && files::is_real_folder(&ours.join("state"))
    }

    fn last(&self) -> PathBuf {
        self.root.join(FOLDER).join("state/last")
    }

    fn lock(&self) -> io::Result<File> {
        files::lock(&self.folder.join("lock"), LOCK_WAIT)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "another process holds the lock"))
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

    use super::super::{MAX_OUTPUTS, touch_last};
    use super::*;

    fn agent(id: &str) -> Agent {
        Agent { name: "coder".into(), kind: None, id: Some(id.into()), description: None, transcript: None }
    }

    #[test]
    fn blocks_are_counted_per_session_and_agent_up_to_the_limit() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s1");
        assert_eq!(session.count_block(&agent("a"), 2, &Cause::default()).unwrap(), Count::Blocks(1));
        assert_eq!(session.count_block(&agent("a"), 2, &Cause::default()).unwrap(), Count::Blocks(2));
        assert_eq!(session.count_block(&agent("a"), 2, &Cause::default()).unwrap(), Count::Exhausted);
        assert_eq!(session.count_block(&agent("b"), 2, &Cause::default()).unwrap(), Count::Blocks(1));
        let other = Session::new(root.path(), "s2");
        assert_eq!(other.count_block(&agent("a"), 2, &Cause::default()).unwrap(), Count::Blocks(1));
        assert_eq!(fs::read_to_string(root.path().join(".conclaude/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn what_blocked_an_agent_is_reported_once_and_a_timeout_is_remembered() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        assert_eq!(session.take_blocks(&agent("a")).unwrap(), None);
        let cause = |check: &str, timeout| Cause { checks: vec![check.into()], timeout };
        session.count_block(&agent("a"), 9, &cause("lint", false)).unwrap();
        session.count_block(&agent("a"), 9, &cause("lint", false)).unwrap();
        assert!(!session.was_blocked_by_timeout(&agent("a")));
        session.count_block(&agent("a"), 9, &cause("test", true)).unwrap();
        assert!(session.was_blocked_by_timeout(&agent("a")) && !session.was_blocked_by_timeout(&agent("b")));
        let taken = session.take_blocks(&agent("a")).unwrap();
        assert_eq!(taken, Some((3, vec!["lint".into(), "test".into()])));
        assert_eq!(session.take_blocks(&agent("a")).unwrap(), None);
        session.count_block(&agent("a"), 9, &cause("lint", false)).unwrap();
        assert_eq!(session.take_blocks(&agent("a")).unwrap(), Some((1, vec!["lint".into()])));
        assert!(session.was_blocked_by_timeout(&agent("a")));
    }

    #[test]
    fn ids_cannot_lead_out_of_the_folder() {
        let root = tempfile::tempdir().unwrap();
        Session::new(root.path(), "../../etc")
            .count_block(&agent("../../passwd"), 1, &Cause::default())
            .unwrap();
        let names: Vec<_> = fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, [FOLDER]);
    }

    #[test]
    fn concurrent_blocks_are_all_counted() {
        let root = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    Session::new(root.path(), "s").count_block(&agent("a"), 100, &Cause::default()).unwrap()
                });
            }
        });
        let last = Session::new(root.path(), "s").count_block(&agent("a"), 100, &Cause::default()).unwrap();
        assert_eq!(last, Count::Blocks(17));
    }

    #[test]
    fn fields_of_a_newer_version_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        session.count_block(&agent("a"), 9, &Cause::default()).unwrap();
        let path = session.folder.join(format!("{}.json", hash("a")));
        fs::write(&path, r#"{"blocks":4,"novelty":{"x":1}}"#).unwrap();
        assert_eq!(session.count_block(&agent("a"), 9, &Cause::default()).unwrap(), Count::Blocks(5));
        assert!(fs::read_to_string(&path).unwrap().contains(r#""novelty":{"x":1}"#));
    }

    #[test]
    fn a_damaged_count_is_an_error_not_a_zero() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        session.count_block(&agent("a"), 9, &Cause::default()).unwrap();
        fs::write(session.folder.join(format!("{}.json", hash("a"))), "{truncated").unwrap();
        assert!(session.count_block(&agent("a"), 9, &Cause::default()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_instead_of_our_folders_are_rejected() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), root.path().join(FOLDER)).unwrap();
        assert!(Session::new(root.path(), "s").count_block(&agent("a"), 1, &Cause::default()).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        // Nor is anything written or removed behind it.
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
    fn sessions_that_ended_long_ago_are_removed_and_others_stay() {
        let root = tempfile::tempdir().unwrap();
        let age = |session: &Session, name: &str, days: u64| {
            let path = session.folder.join(name);
            let then = SystemTime::now() - Duration::from_hours(days * 24);
            File::open(path).unwrap().set_times(fs::FileTimes::new().set_modified(then)).unwrap();
        };
        let sessions: Vec<Session> = (0..3).map(|n| Session::new(root.path(), &format!("s{n}"))).collect();
        for session in &sessions {
            session.count_block(&agent("a"), 9, &Cause::default()).unwrap();
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
    fn a_resumed_session_keeps_its_counts() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        session.count_block(&agent("a"), 9, &Cause::default()).unwrap();
        session.end();
        assert!(session.folder.join("ended").exists());
        session.resume();
        assert!(!session.folder.join("ended").exists());
    }

    #[test]
    fn a_folder_that_the_user_created_ignores_itself_too() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(FOLDER)).unwrap();
        Session::new(root.path(), "s").count_block(&agent("a"), 1, &Cause::default()).unwrap();
        assert!(
            root.path().join(".conclaude/.gitignore").exists()
                && root.path().join(".conclaude/state/last").is_dir()
        );
    }

    #[test]
    fn long_outputs_do_not_pile_up() {
        let root = tempfile::tempdir().unwrap();
        let session = Session::new(root.path(), "s");
        for _ in 0..MAX_OUTPUTS + 5 {
            session.output_file("stdout").unwrap();
        }
        assert_eq!(fs::read_dir(session.folder.join("output")).unwrap().count(), MAX_OUTPUTS);
    }

    #[test]
    fn arrivals_are_recorded_once_the_folder_exists() {
        let root = tempfile::tempdir().unwrap();
        touch_last(root.path(), "Stop");
        assert!(!root.path().join(FOLDER).exists());
        fs::create_dir_all(root.path().join(".conclaude/state/last")).unwrap();
        touch_last(root.path(), "Stop");
        assert!(root.path().join(".conclaude/state/last/Stop").is_file());
    }
}
