//! One deadline for all that a hook does itself: a config, a step file, a slow git or a lock that somebody holds must not hold
//! a session up. It starts with the payload and again after each command, whose time is its own.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// No hook takes longer without commands.
pub const LIMIT: Duration = Duration::from_secs(2);

/// What is left for the record and the answer when a check runs out of time.
const RESERVE: Duration = Duration::from_millis(500);

thread_local! {
    /// None in subcommands, which a user can interrupt.
    static END: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// From now on.
pub fn start() {
    END.set(Instant::now().checked_add(limit()));
}

/// In a debug build tests choose it: neither a loaded nor a quick machine may change what they see.
#[cfg(debug_assertions)]
fn chosen() -> Option<Duration> {
    let seconds = std::env::var("TEST_LIMIT_OF_CONCLAUDE").ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(not(debug_assertions))]
const fn chosen() -> Option<Duration> {
    None
}

fn limit() -> Duration {
    chosen().unwrap_or(LIMIT)
}

/// How long to wait for another process: so long, or longer where a test chose that.
#[must_use]
pub fn at_least(wait: Duration) -> Duration {
    chosen().map_or(wait, |chosen| wait.max(chosen))
}

fn left() -> Option<Duration> {
    END.get().map(|end| end.saturating_duration_since(Instant::now()))
}

/// Whether a check must stop and say so.
#[must_use]
pub fn is_over() -> bool {
    left().is_some_and(|left| left < RESERVE)
}

/// How long a check may wait for something.
#[must_use]
pub fn at_most(wait: Duration) -> Duration {
    left().map_or(wait, |left| wait.min(left.saturating_sub(RESERVE)))
}

/// What a check says that ran out of time.
#[must_use]
pub fn exceeded() -> String {
    format!("it took longer than the {} s that a hook may take", LIMIT.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_start_there_is_no_deadline() {
        assert!(!is_over());
        assert_eq!(at_most(Duration::from_hours(1)), Duration::from_hours(1));
        start();
        assert!(at_most(Duration::from_hours(1)) <= LIMIT - RESERVE);
        END.set(Some(Instant::now()));
        assert!(is_over());
        assert_eq!(at_most(Duration::from_hours(1)), Duration::ZERO);
    }
}
