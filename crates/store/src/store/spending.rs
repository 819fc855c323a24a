//! The usage of sessions, for their budgets. Each session has a file with the counts of its transcripts and the positions up to
//! which they were read, so that only new lines are read. Another file has the usage of each session today. Both are kept outside
//! of projects, where agents cannot write.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{StoreError, hash, make_state_folder, user_state_folder};
use crate::transcript::sessions;
use conclaude_core::config::PriceTable;
use conclaude_core::dialect::claude::layout;
use conclaude_core::prices::{self, Tokens};
use conclaude_core::spending::{Marks, counted};
use conclaude_os::budget::Budget;
use conclaude_os::files;

mod day;
mod meters;
mod transcript_count;

pub use day::DaySpending;
pub use meters::{MeterQuery, MeteredAgent, NamedMeter};
pub use transcript_count::{CountedModel, TranscriptCount};

/// A session has a few hundred agents at most.
const MAX_BYTES: u64 = 16 << 20;

/// In a unit test many threads take turns on a machine that may be busy.
const LOCK_WAIT: Duration = Duration::from_secs(if cfg!(test) { 300 } else { 1 });

/// How long the count of a session is kept after its last change.
const RETENTION: Duration = Duration::from_hours(30 * 24);

/// This part of a hash is enough to distinguish the sessions of a day.
const SHORT_HASH: usize = 16;

/// The usage of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionSpending {
    pub session: String,
    /// The counts of transcripts by the id of the agent. The id of the main thread is empty.
    pub transcripts: BTreeMap<String, TranscriptCount>,
    pub agents: BTreeMap<String, AgentSpending>,
    /// By the name of the limit, and the agent or the day.
    pub marks: BTreeMap<String, Marks>,
    /// By how many percent the user has raised a limit, by its name.
    pub raised: BTreeMap<String, u32>,
    /// Whether the user was told that prices are unknown.
    pub told_of_prices: bool,
    /// The start of the day whose tokens are counted separately.
    day: Option<i64>,
    /// When transcripts of agents were last searched next to the main thread's, in milliseconds since 1970.
    looked: Option<i64>,
}

/// The known facts about a subagent, apart from its transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSpending {
    pub name: String,
    /// In milliseconds since 1970.
    pub started: Option<i64>,
    pub stopped: Option<i64>,
    pub calls: u64,
}

/// Tokens and their cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsedTokens {
    pub tokens: u64,
    pub cost: f64,
    /// The models without a known price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
}

impl UsedTokens {
    fn add(&mut self, model: &str, tokens: Tokens, own: &PriceTable) {
        self.tokens = self.tokens.saturating_add(counted(tokens));
        match prices::cost(model, tokens, own) {
            Some(cost) => self.cost += cost,
            None if tokens == Tokens::default() => {}
            None => self.add_unpriced(model),
        }
    }

    fn add_all(&mut self, other: &UsedTokens) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost += other.cost;
        other.unpriced.iter().for_each(|model| self.add_unpriced(model));
    }

    fn add_unpriced(&mut self, model: &str) {
        if !self.unpriced.iter().any(|known| known == model) {
            self.unpriced.push(model.to_owned());
        }
    }

    /// `None` if a price is unknown.
    #[must_use]
    pub fn known_cost(&self) -> Option<f64> {
        if self.unpriced.is_empty() { Some(self.cost) } else { None }
    }
}

impl SessionSpending {
    /// The usage of the whole session.
    #[must_use]
    pub fn used(&self, own: &PriceTable) -> UsedTokens {
        self.sum(self.transcripts.values(), own, |model| model.all)
    }

    /// Its usage today.
    #[must_use]
    pub fn used_today(&self, own: &PriceTable) -> UsedTokens {
        self.sum(self.transcripts.values(), own, |model| model.today)
    }

    /// The usage of a subagent.
    #[must_use]
    pub fn used_by(&self, agent: &str, own: &PriceTable) -> UsedTokens {
        self.sum(self.transcripts.get(agent), own, |model| model.all)
    }

    fn sum<'a>(
        &self,
        transcripts: impl IntoIterator<Item = &'a TranscriptCount>,
        own: &PriceTable,
        part: fn(&CountedModel) -> Tokens,
    ) -> UsedTokens {
        let mut used = UsedTokens::default();
        for transcript in transcripts {
            transcript.models.iter().for_each(|(name, model)| used.add(name, part(model), own));
        }
        used
    }

    /// The number of lines whose usage could not be read.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.transcripts.values().map(|transcript| transcript.unread).sum()
    }

    /// Counts the new lines of a transcript. A missing transcript has none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn count(&mut self, agent: &str, path: &Path, day: Option<&DaySpending>) -> io::Result<()> {
        self.begin_day(day);
        let transcript = self.transcripts.entry(agent.to_owned()).or_default();
        match transcript.read(path, day.map(|day| day.start..day.end)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if *transcript == TranscriptCount::default() {
                    self.transcripts.remove(agent);
                }
                Ok(())
            }
            read => read,
        }
    }

    /// The transcripts of the session's subagents, by the id of the agent.
    pub fn agents_of(&mut self, main: &Path, now: Timestamp) -> Vec<(String, PathBuf)> {
        let mut found = agents_in(&layout::subagents(main));
        let beside = main.parent().map(agents_in).unwrap_or_default();
        if beside.is_empty() {
            return found;
        }
        let looked = self.looked.replace(now.as_millisecond());
        let session = main.file_stem().unwrap_or_default();
        found.extend(beside.into_iter().filter(|(id, path)| {
            let is_known = self.transcripts.get(id).is_some_and(|known| known.path == *path);
            // Only its lines name the session, and there may be many transcripts.
            is_known || (is_newer(path, looked) && *sessions::of_file(path).0.id == *session)
        }));
        found
    }

    /// Counts the new lines of all known transcripts.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn count_again(&mut self, day: Option<&DaySpending>) -> io::Result<()> {
        let known: Vec<(String, PathBuf)> =
            self.transcripts.iter().map(|(agent, one)| (agent.clone(), one.path.clone())).collect();
        known.into_iter().try_for_each(|(agent, path)| self.count(&agent, &path, day))
    }

    /// Starts a new day: nothing is counted for it yet.
    fn begin_day(&mut self, day: Option<&DaySpending>) {
        let start = day.map(|day| day.start);
        if start.is_some() && self.day != start {
            self.day = start;
            self.transcripts.values_mut().for_each(TranscriptCount::begin_day);
        }
    }

    /// The marks of a limit: earlier reports and the user's answers. The name includes the agent or the day, if the limit has
    /// one.
    pub fn marks(&mut self, name: &str) -> &mut Marks {
        self.marks.entry(name.to_owned()).or_default()
    }

    /// Raises a limit for this session, and forgets earlier reports about it.
    pub fn raise(&mut self, limit: &str, percent: u32) {
        let raised = self.raised.entry(limit.to_owned()).or_default();
        *raised = raised.saturating_add(percent);
        self.marks.retain(|name, _| name != limit && !name.starts_with(&format!("{limit} ")));
    }

    /// An amount of the config, including the user's raises.
    #[must_use]
    pub fn with_raise(&self, limit: &str, amount: f64) -> f64 {
        let percent = self.raised.get(limit).copied().unwrap_or_default();
        amount * (1.0 + f64::from(percent) / 100.0)
    }
}

/// The transcripts of agents that are directly in a folder.
fn agents_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let path = entry.path();
        Some((layout::agent_id(&path)?.to_owned(), path))
    });
    named.collect()
}

/// Whether a file may have been written to since this time. Some file systems store times with a precision of two seconds.
fn is_newer(path: &Path, than: Option<i64>) -> bool {
    let changed = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let changed = changed.and_then(|time| Timestamp::try_from(time).ok()).map(Timestamp::as_millisecond);
    than.zip(changed).is_none_or(|(than, changed)| changed >= than - 2_000)
}

fn short_hash(session: &str) -> String {
    hash(session).chars().take(SHORT_HASH).collect()
}

/// The counts of a project.
#[derive(Clone, Debug)]
pub struct SpendingFolder {
    folder: PathBuf,
}

impl SpendingFolder {
    /// `None` without a home directory. Nothing is created until something is counted.
    #[must_use]
    pub fn of(root: &Path) -> Option<SpendingFolder> {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let folder = user_state_folder()?.join("budget").join(hash(&root.to_string_lossy()));
        Some(SpendingFolder { folder })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    fn path_of(&self, session: &str) -> PathBuf {
        self.folder.join(format!("{}.json", hash(session)))
    }

    fn day_path(&self) -> PathBuf {
        self.folder.join("day.json")
    }

    /// The current count of a session. It is empty if nothing was counted.
    #[must_use]
    pub fn session(&self, session: &str) -> SessionSpending {
        let known = read::<SessionSpending>(&self.path_of(session)).filter(|known| known.session == session);
        known.unwrap_or_else(|| SessionSpending { session: session.to_owned(), ..SessionSpending::default() })
    }

    /// The usage on the day of this time.
    #[must_use]
    pub fn day(&self, now: Timestamp) -> DaySpending {
        match read::<DaySpending>(&self.day_path()) {
            Some(day) if !day.is_over(now) => day,
            _ => DaySpending::of(now),
        }
    }

    /// All sessions that were counted, the newest first, with the time of their last count.
    #[must_use]
    pub fn sessions(&self) -> Vec<(SystemTime, SessionSpending)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<(SystemTime, SessionSpending)> = entries
            .filter_map(|entry| {
                let session: SessionSpending =
                    read(&entry.path()).filter(|one: &SessionSpending| !one.session.is_empty())?;
                Some((entry.metadata().ok()?.modified().ok()?, session))
            })
            .collect();
        found.sort_by(|(one, _), (other, _)| other.cmp(one));
        found
    }

    /// Prevents other processes from counting in this project, until it is dropped.
    ///
    /// # Errors
    /// When the folder cannot be created, or another process has the lock for too long.
    pub fn lock(&self, budget: &Budget) -> io::Result<SpendingLock<'_>> {
        if !self.folder.is_dir() {
            self.folder.parent().map_or(Ok(()), make_state_folder)?;
            make_state_folder(&self.folder)?;
        }
        let lock = files::lock(&self.folder.join("lock"), budget.at_least(LOCK_WAIT), budget)?;
        Ok(SpendingLock { folder: self, _lock: lock.ok_or(StoreError::Locked)? })
    }

    /// Removes the counts of sessions that have not changed for a long time.
    pub fn prune(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries {
            let modified = entry.metadata().and_then(|file| file.modified());
            let is_old = modified
                .is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > RETENTION));
            if is_old && entry.path().extension().is_some_and(|extension| extension == "json") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The lock of a project's counts.
pub struct SpendingLock<'a> {
    folder: &'a SpendingFolder,
    _lock: File,
}

impl SpendingLock<'_> {
    /// Writes the changes. If we are killed in between, the session enters its day again with its next count.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, session: &SessionSpending, before: &SessionSpending) -> io::Result<()> {
        if session == before {
            return Ok(());
        }
        files::write_atomically(&self.folder.path_of(&session.session), &serde_json::to_vec(session)?)
    }

    /// Adds the usage of a session to the day. Returns the changed day.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn enter(&self, mut day: DaySpending, session: &str, used: UsedTokens) -> io::Result<DaySpending> {
        let key = short_hash(session);
        let is_same = match day.sessions.get(&key) {
            Some(known) => *known == used,
            None => used == UsedTokens::default(),
        };
        if !is_same {
            day.sessions.insert(key, used);
            files::write_atomically(&self.folder.day_path(), &serde_json::to_vec(&day)?)?;
        }
        Ok(day)
    }
}

/// The period in which lines count as today's.
type DaySpan = Option<Range<i64>>;

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&files::read_bytes(path, MAX_BYTES).ok()?).ok()
}

#[cfg(test)]
mod tests;
