//! The state between events. Each session has a folder in `.conclaude/` at the project's root, with a file per agent. Names are
//! hashes, so that no id can lead to another folder. The state that gates need about agents is kept outside the project.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{FOLDER, StoreError, expect_arrivals, hash, make_folder, make_room, open_new, user_state_folder};
use conclaude_core::agent::Agent;
use conclaude_core::blocks::{BlockCause, BlockCount};
use conclaude_core::outcome::Obstacle;
use conclaude_core::text::clean;
use conclaude_os::budget::Budget;
use conclaude_os::{files, log};

/// The mark of a session whose start the project's own registration handled.
const PROJECT_START: &str = "started-by-project";

/// The folder of calls about which Claude got a message.
const CALLS: &str = "explained";

/// The file with the reason of the last block of a stop.
const STOP_REASON: &str = "stop-reason";

/// The folder of all sessions in the user's state.
const SESSIONS: &str = "sessions";

/// In a unit test many threads take turns on a machine that may be busy.
const LOCK_WAIT: Duration = Duration::from_secs(if cfg!(test) { 300 } else { 1 });

/// How long a session's state is kept after its end, and without an end.
const KEPT_AFTER_END: Duration = Duration::from_hours(7 * 24);
const KEPT_WITHOUT_END: Duration = Duration::from_hours(30 * 24);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct AgentState {
    blocks: u32,
    /// How many of these blocks were already reported to the user as resolved.
    reported: u32,
    /// The checks that blocked it since then.
    checks: Vec<String>,
    /// Whether a timeout has blocked it.
    timeout: bool,
    /// Whether a missing program has blocked it.
    missing_program: bool,
    /// Fields of a newer version, which are preserved.
    #[serde(flatten)]
    other: serde_json::Map<String, serde_json::Value>,
}

impl AgentState {
    /// The flag for this obstacle: whether it has blocked the agent.
    fn obstacle(&mut self, obstacle: Obstacle) -> &mut bool {
        match obstacle {
            Obstacle::Timeout => &mut self.timeout,
            Obstacle::MissingProgram => &mut self.missing_program,
        }
    }
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
        Session::named(root, &hash(session_id))
    }

    fn named(root: &Path, name: &str) -> Session {
        Session {
            root: root.to_owned(),
            // Only by the session: a config that appears or disappears moves the root.
            outside: user_state_folder().map(|folder| folder.join(SESSIONS).join(name)),
            folder: root.join(FOLDER).join("state").join(name),
            is_read_only: false,
            budget: Budget::unlimited(),
        }
    }

    /// This session for a hook, which waits for locks within this budget.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Session {
        Session { budget: budget.clone(), ..self }
    }

    /// The sessions with state outside of projects, or in this one. They are only read.
    #[must_use]
    pub fn all(root: &Path) -> Vec<Session> {
        let inside = fs::read_dir(root.join(FOLDER).join("state")).into_iter().flatten().flatten();
        let paths = folders().into_iter().chain(inside.map(|entry| entry.path()));
        let names: BTreeSet<String> =
            paths.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect();
        // Other folders have other names than hashes.
        let names = names.into_iter().filter(|name| name.len() == 64);
        names.map(|name| Session::named(root, &name).read_only()).collect()
    }

    /// The limit for waiting on behalf of this session.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// This session, read-only.
    #[must_use]
    pub fn read_only(self) -> Session {
        Session { is_read_only: true, ..self }
    }

    /// Counts a block of the agent, unless it has reached the limit, and stores the cause.
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
        cause.obstacles.iter().for_each(|obstacle| *state.obstacle(*obstacle) = true);
        let more: Vec<String> =
            cause.checks.iter().filter(|check| !state.checks.contains(check)).cloned().collect();
        state.checks.extend(more);
        files::write_atomically(&path, &serde_json::to_vec(&state)?)?;
        Ok(BlockCount::Blocks(state.blocks))
    }

    /// Whether this has blocked the agent before. False if the state cannot be read. Then the count of blocks cannot be read
    /// either, so blocks stay limited.
    pub fn was_blocked_by(&self, obstacle: Obstacle, agent: &Agent) -> bool {
        self.is_ours() && read_state(&self.state_file(agent)).is_ok_and(|mut state| *state.obstacle(obstacle))
    }

    /// How often the agent was blocked since the last call, and by which checks. `None` if it was not.
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

    /// Stores why a stop was blocked: some clients send the reason back like a prompt of the user.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_reason(&self, reason: &str) -> io::Result<()> {
        self.write(STOP_REASON, &fingerprint(reason))
    }

    /// Whether a prompt is the reason for which the last stop was blocked.
    pub fn is_reason(&self, prompt: &str) -> bool {
        self.read::<String>(STOP_REASON).is_some_and(|kept| kept == fingerprint(prompt))
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

    /// Records that a registration without `--if-trusted` was called at the start: Claude Code reads the project's settings.
    pub fn note_project_start(&self) {
        if self.is_read_only {
            return;
        }
        let Some(folder) = &self.outside else { return };
        let written = make_private(folder).and_then(|()| open_new(&folder.join(PROJECT_START)));
        if let Err(error) = written {
            log::debug(|| format!("cannot note the start of the session: {error}"));
        }
    }

    /// Whether a call is handled for the first time in this session. Also true if that cannot be stored.
    #[must_use]
    pub fn is_first_of(&self, call: &str) -> bool {
        let Some(outside) = &self.outside else { return true };
        if self.is_read_only {
            return true;
        }
        let folder = outside.join(CALLS);
        let path = folder.join(hash(call));
        if path.symlink_metadata().is_ok() {
            return false;
        }
        let made = make_private(&folder).and_then(|()| {
            make_room(&folder);
            files::no_links().write(true).create_new(true).open(&path)
        });
        // Another hook of the same call may have been faster.
        !made.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    }

    pub fn was_started_by_project(&self) -> bool {
        self.outside.as_ref().is_some_and(|folder| folder.join(PROJECT_START).symlink_metadata().is_ok())
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

    /// Whether the session ended, and no event came since.
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
            .ok_or_else(|| StoreError::Locked.into())
    }
}

/// A hash of the text that a client's changes to blanks and control characters do not affect.
fn fingerprint(text: &str) -> String {
    hash(&clean(text).split_whitespace().collect::<Vec<_>>().join(" "))
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
    serde_json::from_slice(&text).map_err(|error| StoreError::State { path: path.to_owned(), error }.into())
}

const MAX_SAVED_BYTES: u64 = 64 << 20;

impl Session {
    /// Stores a value about a gated agent outside the project, where neither an agent's tools nor `git clean -fdx` can reach it.
    /// Without a home folder it is stored in the project.
    ///
    /// # Errors
    /// When it can be written neither outside the project nor in it.
    pub fn keep<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let Some(folder) = &self.outside else { return self.write(name, value) };
        let text = serde_json::to_vec(value)?;
        let path = folder.join(format!("{name}.json"));
        match make_private(folder).and_then(|()| files::write_atomically(&path, &text)) {
            Ok(()) => {
                expect_arrivals(&self.root);
                Ok(())
            }
            Err(error) => {
                log::debug(|| format!("{}: {error}; it is kept in the project", folder.display()));
                self.write(name, value)
            }
        }
    }

    pub fn kept<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Option<T> {
        let outside = self.outside.as_ref().and_then(|folder| {
            let text = files::read_text(&folder.join(format!("{name}.json")), MAX_SAVED_BYTES).ok()?;
            serde_json::from_str(&text).ok()
        });
        outside.or_else(|| self.read(name))
    }

    /// Removes a stored value.
    ///
    /// # Errors
    /// When it is still there.
    pub fn forget(&self, name: &str) -> io::Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        for folder in self.readable() {
            match fs::remove_file(folder.join(format!("{name}.json"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// The names of stored values that start with the prefix.
    pub fn kept_names(&self, prefix: &str) -> BTreeSet<String> {
        let entries = self.readable().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let names = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()));
        names.filter(|name| name.starts_with(prefix)).collect()
    }

    fn readable(&self) -> impl Iterator<Item = PathBuf> {
        let inside = if self.is_ours() { Some(self.folder.clone()) } else { None };
        self.outside.clone().into_iter().chain(inside)
    }
}

/// The folders outside of projects that have such an entry for the project with this root.
pub fn folders_of_project(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let is_of_root = |path: &PathBuf| {
        let text = files::read_text(path, MAX_SAVED_BYTES).unwrap_or_default();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        value.get("root").and_then(serde_json::Value::as_str).is_some_and(|named| Path::new(named) == root)
    };
    let has_call = |folder: &PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
        named.map(|entry| entry.path()).any(|path| is_of_root(&path))
    };
    folders().into_iter().filter(has_call).collect()
}

fn folders() -> Vec<PathBuf> {
    let base = user_state_folder()
        .map(|folder| folder.join(SESSIONS))
        .filter(|folder| files::is_real_folder(folder));
    let entries = base.and_then(|base| fs::read_dir(base).ok()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| files::is_real_folder(path)).collect()
}

/// Only the user may read it, since it contains prompts.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

#[cfg(test)]
mod tests;
