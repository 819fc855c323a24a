//! How much of a project's trail was sent to an endpoint, and with what result: one file per endpoint in the user's state.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::send::{SendError, Target};
use super::usage::UsageState;
use crate::audit::{Mark, Trail};
use crate::store::{self, StoreError};
use conclaude_core::config::Signal;
use conclaude_os::budget::Budget;
use conclaude_os::files;

/// It holds two positions and a message.
const MAX_BYTES: u64 = 1 << 20;

/// It holds a position for each transcript.
const MAX_USAGE_BYTES: u64 = 16 << 20;

/// The pause between attempts in the background. Each failure doubles it, up to `MAX_PAUSE`.
const MIN_PAUSE: SignedDuration = SignedDuration::from_secs(30);
const MAX_PAUSE: SignedDuration = SignedDuration::from_mins(15);

/// The longest pause that a collector can ask for.
const MAX_RETRY_AFTER: SignedDuration = SignedDuration::from_hours(1);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportState {
    pub endpoint: String,
    pub(super) positions: BTreeMap<Signal, Mark>,
    /// The time of the newest metric point of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_until: Option<String>,
    /// The failures of each signal: signals may go to different parts of a collector.
    failures: BTreeMap<Signal, ExportFailure>,
}

/// The failures since the last success.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportFailure {
    pub what: String,
    /// Whether another attempt would fail as well.
    pub is_permanent: bool,
    /// No request was sent: the config cannot be used in that environment.
    pub by_config: bool,
    pub since: String,
    last: String,
    attempts: u32,
    /// The collector asked not to be called before.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<String>,
}

impl ExportState {
    /// The last failure, if there is one. A permanent one comes first.
    pub fn failure(&self) -> Option<&ExportFailure> {
        self.failures.values().max_by_key(|failure| failure.is_permanent)
    }

    pub(super) fn counted_until(&self) -> Option<Timestamp> {
        self.counted_until.as_ref()?.parse().ok()
    }

    pub(super) fn count_until(&mut self, time: Timestamp) {
        self.counted_until = Some(time.to_string());
    }

    /// Whether there was a failure before.
    pub(super) fn succeed(&mut self, signal: Signal) -> bool {
        self.failures.remove(&signal).is_some()
    }

    pub(super) fn fail(&mut self, signal: Signal, error: &SendError) {
        let now = Timestamp::now();
        let before = self.failures.remove(&signal);
        let before = before.unwrap_or_else(|| ExportFailure {
            since: now.strftime("%FT%TZ").to_string(),
            ..ExportFailure::default()
        });
        let attempts = before.attempts.saturating_add(1);
        let wait = error.retry_after.map(|wait| wait.min(MAX_RETRY_AFTER));
        let until = wait.and_then(|wait| now.checked_add(wait).ok());
        let failure = ExportFailure {
            what: error.what.clone(),
            is_permanent: !error.is_transient,
            last: now.to_string(),
            attempts,
            retry_after: until.map(|time| time.to_string()),
            by_config: false,
            ..before
        };
        self.failures.insert(signal, failure);
    }

    /// How long the collector still wants us to wait.
    pub(super) fn asked_to_wait(&self, signal: Signal, now: Timestamp) -> Option<SignedDuration> {
        self.failures.get(&signal)?.asked_to_wait(now)
    }

    /// Whether an attempt in the background is due. A new session may have a variable that was missing before.
    pub(super) fn is_due(&self, signal: Signal, now: Timestamp, is_new_session: bool) -> bool {
        let is_due = |failure: &ExportFailure| (is_new_session && failure.by_config) || failure.is_due(now);
        self.failures.get(&signal).is_none_or(is_due)
    }
}

impl ExportFailure {
    fn asked_to_wait(&self, now: Timestamp) -> Option<SignedDuration> {
        let until: Timestamp = self.retry_after.as_ref()?.parse().ok()?;
        // A clock that was set back must not switch the export off.
        Some(until.duration_since(now)).filter(|left| left.is_positive() && *left <= MAX_RETRY_AFTER)
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let doubled = MIN_PAUSE.checked_mul(1 << self.attempts.saturating_sub(1).min(10));
        let pause = doubled.unwrap_or(MAX_PAUSE).min(MAX_PAUSE);
        let last = self.last.parse::<Timestamp>();
        let waits = last.is_ok_and(|last| last <= now && now.duration_since(last) < pause);
        !waits && self.asked_to_wait(now).is_none()
    }
}

/// The state of one endpoint, on disk.
pub(super) struct StateFile {
    path: PathBuf,
    usage: PathBuf,
    lock: PathBuf,
    endpoint: String,
}

impl StateFile {
    /// # Errors
    /// Without a home.
    pub(super) fn of(trail: &Trail, target: &Target) -> io::Result<StateFile> {
        let folder = trail.exports().ok_or(StoreError::NoHomeForExports)?;
        let name = store::hash(&target.base);
        Ok(StateFile {
            path: folder.join(format!("{name}.json")),
            usage: folder.join(format!("{name}.usage")),
            lock: folder.join(format!("{name}.lock")),
            endpoint: target.base.clone(),
        })
    }

    /// An unreadable file counts as empty: then everything is sent again, under the same ids.
    pub(super) fn read(&self) -> ExportState {
        let text = files::read_text(&self.path, MAX_BYTES).unwrap_or_default();
        let state: ExportState = serde_json::from_str(&text).unwrap_or_default();
        ExportState { endpoint: self.endpoint.clone(), ..state }
    }

    /// An unreadable file counts as empty: then the tokens of the last day are sent again.
    pub(super) fn read_usage(&self) -> UsageState {
        let text = files::read_text(&self.usage, MAX_USAGE_BYTES).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn write_usage(&self, usage: &UsageState) -> io::Result<()> {
        self.write_json(&self.usage, usage)
    }

    pub(super) fn write(&self, state: &ExportState) -> io::Result<()> {
        self.write_json(&self.path, state)
    }

    fn write_json(&self, path: &Path, value: &impl Serialize) -> io::Result<()> {
        let write = || {
            self.make_folder()?;
            files::write_atomically(path, &serde_json::to_vec(value)?)
        };
        write().map_err(|error| {
            io::Error::new(error.kind(), format!("cannot note in {} what was sent: {error}", path.display()))
        })
    }

    /// Only one process at a time sends to an endpoint. `None` if another process has the lock for longer than `wait`.
    pub(super) fn lock(&self, wait: Duration) -> io::Result<Option<File>> {
        self.make_folder().and_then(|()| files::lock(&self.lock, wait, &Budget::unlimited())).map_err(
            |error| {
                let what = format!("cannot note in {} what was sent: {error}", self.path.display());
                io::Error::new(error.kind(), what)
            },
        )
    }

    fn make_folder(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), store::make_state_folder)
    }
}

/// Notes that nothing can be sent, for `doctor` and the start of a session. Nobody reads the output of the background process.
pub fn note_failure(trail: &Trail, target: &Target, why: &str) -> io::Result<()> {
    let file = StateFile::of(trail, target)?;
    let Some(_lock) = file.lock(Duration::ZERO)? else { return Ok(()) };
    let mut state = file.read();
    let error = SendError { what: why.to_owned(), ..SendError::default() };
    target.signals.iter().for_each(|signal| state.fail(*signal, &error));
    state.failures.values_mut().for_each(|failure| failure.by_config = true);
    file.write(&state)
}

/// The state of every endpoint that this trail was sent to.
pub fn all(trail: &Trail) -> Vec<ExportState> {
    let entries =
        trail.exports().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let paths =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json"));
    let texts = paths.filter_map(|path| files::read_text(&path, MAX_BYTES).ok());
    texts.filter_map(|text| serde_json::from_str(&text).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGS: Signal = Signal::Logs;

    fn down(retry_after: Option<SignedDuration>) -> SendError {
        SendError { what: "down".into(), is_transient: true, retry_after, ..SendError::default() }
    }

    #[test]
    fn a_collector_that_is_down_is_asked_less_and_less_often() {
        let mut state = ExportState::default();
        assert!(state.is_due(LOGS, Timestamp::now(), false));
        let mut pauses = Vec::new();
        for _ in 0..40 {
            state.fail(LOGS, &down(None));
            let last: Timestamp = state.failure().unwrap().last.parse().unwrap();
            let is_due = |seconds: &i64| state.is_due(LOGS, last + SignedDuration::from_secs(*seconds), true);
            pauses.push((0..2_000).find(is_due).unwrap());
        }
        assert_eq!(pauses[..7], [30, 60, 120, 240, 480, 900, 900]);
        assert_eq!(pauses[39], 900);
        assert!(state.is_due(Signal::Traces, Timestamp::now(), false), "each signal has its own fate");
        assert!(state.succeed(LOGS));
        assert!(state.is_due(LOGS, Timestamp::now(), false));
    }

    #[test]
    fn a_collector_is_left_alone_as_long_as_it_asks_but_no_longer_than_an_hour() {
        let mut state = ExportState::default();
        state.fail(LOGS, &down(Some(SignedDuration::from_hours(1_000))));
        let now = Timestamp::now();
        let left = |now| state.asked_to_wait(LOGS, now);
        assert!(left(now).unwrap() > SignedDuration::from_mins(59));
        assert_eq!(left(now + SignedDuration::from_hours(1)), None);
        assert_eq!(left(now - SignedDuration::from_hours(5)), None, "a clock that was set back");
    }
}
