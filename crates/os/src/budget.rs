//! How long a hook may take without commands: a config, a step file, a slow git or a lock that somebody holds must not hold a
//! session up. The hook makes a budget when the payload is there and passes it to whatever may wait or stop early.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No hook takes longer without commands.
pub const LIMIT: Duration = Duration::from_secs(2);

/// What is left for the record and the answer when a check runs out of time.
const RESERVE: Duration = Duration::from_millis(500);

/// The time that is left. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget {
    /// None in subcommands, which a user can interrupt.
    limit: Option<Duration>,
    end: Arc<Mutex<Option<Instant>>>,
    /// In a debug build tests choose it: neither a loaded nor a quick machine may change what they see.
    chosen: Option<Duration>,
}

impl Budget {
    /// That of a hook, from now on.
    #[must_use]
    pub fn of_hook() -> Budget {
        let chosen = chosen();
        let budget = Budget { limit: Some(chosen.unwrap_or(LIMIT)), chosen, ..Budget::unlimited() };
        budget.restart();
        budget
    }

    /// That of a subcommand.
    #[must_use]
    pub fn unlimited() -> Budget {
        Budget { limit: None, end: Arc::default(), chosen: chosen() }
    }

    /// Starts again after a command, whose time is its own.
    pub fn restart(&self) {
        *self.end() = self.limit.and_then(|limit| Instant::now().checked_add(limit));
    }

    fn end(&self) -> MutexGuard<'_, Option<Instant>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left(&self) -> Option<Duration> {
        let end = *self.end();
        end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether a check must stop and say so.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left().is_some_and(|left| left < RESERVE)
    }

    /// How long a check may wait for something.
    #[must_use]
    pub fn at_most(&self, wait: Duration) -> Duration {
        self.left().map_or(wait, |left| wait.min(left.saturating_sub(RESERVE)))
    }

    /// How long to wait for another process: the given time, or longer where a test chose that.
    #[must_use]
    pub fn at_least(&self, wait: Duration) -> Duration {
        self.chosen.map_or(wait, |chosen| wait.max(chosen))
    }

    /// What a check says that ran out of time.
    #[must_use]
    pub fn exceeded() -> String {
        format!("it took longer than the {} s that a hook may take", LIMIT.as_secs())
    }
}

#[cfg(debug_assertions)]
fn chosen() -> Option<Duration> {
    let seconds = std::env::var("TEST_LIMIT_OF_CONCLAUDE").ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(not(debug_assertions))]
const fn chosen() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hook_has_a_limit() {
        let unlimited = Budget::unlimited();
        unlimited.restart();
        assert!(!unlimited.is_over());
        assert_eq!(unlimited.at_most(Duration::from_hours(1)), Duration::from_hours(1));
        let budget = Budget { chosen: None, limit: Some(LIMIT), ..Budget::of_hook() };
        budget.restart();
        assert!(budget.at_most(Duration::from_hours(1)) <= LIMIT - RESERVE);
    }

    #[test]
    fn clones_run_out_of_time_together_and_start_again_together() {
        let budget = Budget { limit: Some(LIMIT), ..Budget::of_hook() };
        let clone = budget.clone();
        *budget.end() = Some(Instant::now());
        assert!(clone.is_over());
        assert_eq!(clone.at_most(Duration::from_hours(1)), Duration::ZERO);
        budget.restart();
        assert!(!clone.is_over());
    }
}
