//! How far a project's trail was sent to an endpoint, and how that went: in the user's state, a file for each of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Target;
use crate::audit::{Mark, Trail};
use crate::config::Signal;
use crate::{files, store};

/// It holds two positions and a message.
const MAX_BYTES: u64 = 1 << 20;

/// Between attempts in the background after a failure: doubled each time, up to the second.
const MIN_PAUSE: SignedDuration = SignedDuration::from_secs(30);
const MAX_PAUSE: SignedDuration = SignedDuration::from_mins(15);

/// A collector cannot ask for more.
const MAX_RETRY_AFTER: SignedDuration = SignedDuration::from_hours(1);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    pub(crate) endpoint: String,
    pub(super) positions: BTreeMap<Signal, Mark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failed>,
    /// The collector asked not to be called before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_after: Option<String>,
}

/// What went wrong since the last success.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Failed {
    pub(crate) what: String,
    /// Waiting does not help.
    pub(crate) is_permanent: bool,
    pub(crate) since: String,
    last: String,
    attempts: u32,
}

impl State {
    pub(super) fn succeed(&mut self) {
        (self.failure, self.retry_after) = (None, None);
    }

    pub(super) fn fail(&mut self, what: String, is_permanent: bool, retry_after: Option<SignedDuration>) {
        let now = Timestamp::now();
        let before =
            self.failure.take().unwrap_or_else(|| Failed { since: now.to_string(), ..Failed::default() });
        let attempts = before.attempts.saturating_add(1);
        self.failure = Some(Failed { what, is_permanent, last: now.to_string(), attempts, ..before });
        let until = retry_after.and_then(|wait| now.checked_add(wait.min(MAX_RETRY_AFTER)).ok());
        self.retry_after = until.map(|time| time.to_string());
    }

    /// How long the collector still wants to be left alone.
    pub(super) fn asked_to_wait(&self, now: Timestamp) -> Option<SignedDuration> {
        let until: Timestamp = self.retry_after.as_ref()?.parse().ok()?;
        // A clock that was set back must not switch the export off.
        Some(until.duration_since(now)).filter(|left| left.is_positive() && *left <= MAX_RETRY_AFTER)
    }

    /// Whether to try in the background.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        let pause = |failed: &Failed| {
            let doubled = MIN_PAUSE.checked_mul(1 << failed.attempts.saturating_sub(1).min(10));
            doubled.unwrap_or(MAX_PAUSE).min(MAX_PAUSE)
        };
        let waits = self.failure.as_ref().is_some_and(|failed| {
            let last = failed.last.parse::<Timestamp>();
            last.is_ok_and(|last| last <= now && now.duration_since(last) < pause(failed))
        });
        !waits && self.asked_to_wait(now).is_none()
    }
}

/// The state of one endpoint, on disk.
pub(super) struct StateFile {
    path: PathBuf,
    lock: PathBuf,
    endpoint: String,
}

impl StateFile {
    /// # Errors
    /// Without a home.
    pub(super) fn of(trail: &Trail, target: &Target) -> io::Result<StateFile> {
        let no_home = || {
            io::Error::other("there is no home folder to keep in what was sent: set HOME or XDG_STATE_HOME")
        };
        let folder = trail.exports().ok_or_else(no_home)?;
        let name = store::hash(&target.base);
        Ok(StateFile {
            path: folder.join(format!("{name}.json")),
            lock: folder.join(format!("{name}.lock")),
            endpoint: target.base.clone(),
        })
    }

    /// What cannot be read is nothing: then all is sent again, under the same ids.
    pub(super) fn read(&self) -> State {
        let text = files::read_text(&self.path, MAX_BYTES).unwrap_or_default();
        let state: State = serde_json::from_str(&text).unwrap_or_default();
        State { endpoint: self.endpoint.clone(), ..state }
    }

    pub(super) fn write(&self, state: &State) -> io::Result<()> {
        let write = || {
            self.make_folder()?;
            files::write_atomically(&self.path, &serde_json::to_vec(state)?)
        };
        write().map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("cannot note in {} what was sent: {error}", self.path.display()),
            )
        })
    }

    /// Only one process at a time sends to an endpoint; none if another does for longer than this.
    pub(super) fn lock(&self, wait: Duration) -> io::Result<Option<File>> {
        self.make_folder()?;
        files::lock(&self.lock, wait)
    }

    fn make_folder(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), store::make_outside_folder)
    }
}

/// The state of every endpoint that this trail was sent to.
pub(crate) fn all(trail: &Trail) -> Vec<State> {
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

    #[test]
    fn a_collector_that_is_down_is_asked_less_and_less_often() {
        let mut state = State::default();
        assert!(state.is_due(Timestamp::now()));
        let mut pauses = Vec::new();
        for _ in 0..40 {
            state.fail("down".into(), false, None);
            let last: Timestamp = state.failure.as_ref().unwrap().last.parse().unwrap();
            let due = (0..2_000).find(|seconds| state.is_due(last + SignedDuration::from_secs(*seconds)));
            pauses.push(due.unwrap());
        }
        assert_eq!(pauses[..7], [30, 60, 120, 240, 480, 900, 900]);
        assert_eq!(pauses[39], 900);
        state.succeed();
        assert!(state.is_due(Timestamp::now()));
    }

    #[test]
    fn a_collector_is_left_alone_as_long_as_it_asks_but_no_longer_than_an_hour() {
        let mut state = State::default();
        state.fail("busy".into(), false, Some(SignedDuration::from_hours(1_000)));
        let now = Timestamp::now();
        assert!(state.asked_to_wait(now).unwrap() > SignedDuration::from_mins(59));
        assert_eq!(state.asked_to_wait(now + SignedDuration::from_hours(1)), None);
        assert_eq!(
            state.asked_to_wait(now - SignedDuration::from_hours(5)),
            None,
            "a clock that was set back"
        );
    }
}
