//! The state between events, in `.conclaude/` at the project's root: one folder per session, one file per
//! agent, named by hash so that no id can lead to another folder. What agents are judged by is in `kept`, outside the project.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{FOLDER, hash, make_folder, make_room, open_new, outside};
use conclaude_core::agent::Agent;
use conclaude_core::blocks::{BlockCause, BlockCount};
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_os::log;

pub mod kept;

/// The folder of all sessions in the user's state.
const KEPT: &str = "sessions";

/// In a unit test many threads take turns on a machine that may be busy.
const LOCK_WAIT: Duration = Duration::from_secs(if cfg!(test) { 300 } else { 1 });

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

#[derive(Clone, Debug)]
pub struct Session {
    root: PathBuf,
    folder: PathBuf,
    /// The folder outside the project; none without a home.
    outside: Option<PathBuf>,
    is_read_only: bool,
    budget: Budget,
}

impl Session {
    /// Nothing is created until something is written.
    #[must_use]
    pub fn new(root: &Path, session_id: &str) -> Session {
        let name = hash(session_id);
        Session {
            root: root.to_owned(),
            // By the session alone: a config that appears or disappears moves the root.
            outside: outside().map(|folder| folder.join(KEPT).join(&name)),
            folder: root.join(FOLDER).join("state").join(name),
            is_read_only: false,
            budget: Budget::unlimited(),
        }
    }

    /// The same for a hook, which waits for locks no longer than this.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Session {
        Session { budget: budget.clone(), ..self }
    }

    /// How long whoever uses it may wait.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The same for whoever only looks: what would be written is not.
    #[must_use]
    pub fn read_only(self) -> Session {
        Session { is_read_only: true, ..self }
    }

    /// Counts a block of the agent, unless it has reached the limit, and remembers what blocked it.
    ///
    /// # Errors
    /// When the count cannot be read or written.
    pub fn count_block(&self, agent: &Agent, max: u32, cause: &BlockCause) -> io::Result<BlockCount> {
        make_folder(&self.root, &self.folder)?;
        make_folder(&self.root, &self.last())?;
        let _lock = self.lock()?;
        let path = self.state_file(agent);
        let mut state = read_state(&path)?;
        if state.blocks >= max {
            return Ok(BlockCount::Exhausted);
        }
        state.blocks += 1;
        state.timeout |= cause.timeout;
        let more: Vec<String> =
            cause.checks.iter().filter(|check| !state.checks.contains(check)).cloned().collect();
        state.checks.extend(more);
        files::write_atomically(&path, &serde_json::to_vec(&state)?)?;
        Ok(BlockCount::Blocks(state.blocks))
    }

    /// Whether a timeout has blocked the agent. What cannot be read is not known: then the count cannot be read either,
    /// which limits the blocks.
    pub fn was_blocked_by_timeout(&self, agent: &Agent) -> bool {
        self.is_ours() && read_state(&self.state_file(agent)).is_ok_and(|state| state.timeout)
    }

    /// How often the agent was blocked since this was last asked, and by what. None if it was not.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    pub fn take_blocks(&self, agent: &Agent) -> io::Result<Option<(u32, Vec<String>)>> {
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

    /// Starts the count of the agent's blocks again.
    ///
    /// # Errors
    /// When the state cannot be removed.
    pub fn forget_blocks(&self, agent: &Agent) -> io::Result<()> {
        if !self.is_ours() {
            return Ok(());
        }
        match fs::remove_file(self.state_file(agent)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn state_file(&self, agent: &Agent) -> PathBuf {
        self.folder.join(format!("{}.json", hash(agent.key())))
    }

    pub fn write<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        make_folder(&self.root, &self.folder)?;
        make_folder(&self.root, &self.last())?;
        files::write_atomically(&self.folder.join(format!("{name}.json")), &serde_json::to_vec(value)?)
    }

    pub fn read<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Option<T> {
        if !self.is_ours() {
            return None;
        }
        let text = files::read_text(&self.folder.join(format!("{name}.json")), 64 << 20).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// A new file for output that is too long to be shown.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn output_file(&self, label: &str) -> io::Result<(File, PathBuf)> {
        let folder = self.folder.join("output");
        make_folder(&self.root, &folder)?;
        make_room(&folder);
        let made =
            tempfile::Builder::new().prefix(&format!("{label}-")).suffix(".txt").tempfile_in(&folder)?;
        made.keep().map_err(|error| error.error)
    }

    /// The session's folders: its state, its outbox, and what is kept outside the project.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let name = self.folder.file_name().map(std::ffi::OsStr::to_owned).unwrap_or_default();
        let ours = self.root.join(FOLDER);
        let bases = [ours.join("state"), ours.join("outbox")];
        let real =
            bases.into_iter().filter(move |base| files::is_real_folder(&ours) && files::is_real_folder(base));
        let outside = self.outside.clone().filter(|folder| files::is_real_folder(folder));
        real.map(move |base| base.join(&name)).chain(outside)
    }

    /// Removes the mark of the session's end.
    pub fn resume(&self) {
        if self.is_read_only {
            return;
        }
        for folder in self.folders() {
            let _ = fs::remove_file(folder.join("ended"));
        }
    }

    /// Marks the session as ended, and removes sessions that ended long ago.
    pub fn end(&self) {
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

    /// Whether Claude Code said that it ended, and nothing of it came since.
    pub fn has_ended(&self) -> bool {
        self.is_ours() && self.folder.join("ended").symlink_metadata().is_ok()
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
        files::lock(&self.folder.join("lock"), self.budget.at_least(LOCK_WAIT), &self.budget)?
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
mod tests;
