//! The time limit of a hook without commands: a config, a step file, a slow git or a held lock must not delay a session. The hook
//! creates a budget when the payload has arrived, and passes it to whatever may wait or stop early.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The limit on the CPU time of a hook without commands. A busy machine or a cold disk must not cause a denial.
pub const LIMIT: Duration = Duration::from_secs(2);

/// The limit on the total time of a hook, on any machine.
const LIMIT_WITH_WAITS: Duration = Duration::from_secs(15);

/// The time that remains for the record and the answer if a check runs out of time.
const RESERVE: Duration = Duration::from_millis(500);

/// The remaining time. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget {
    /// `None` in subcommands, which a user can interrupt.
    limits: Option<Limits>,
    start: Arc<Mutex<Instant>>,
    /// Chosen by tests in a debug build: the speed of the machine must not change their result.
    chosen: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    cpu: Duration,
    wall: Duration,
}

impl Budget {
    /// The budget of a hook, from now on.
    #[must_use]
    pub fn of_hook() -> Budget {
        let chosen = chosen();
        let limits = Limits { cpu: chosen.unwrap_or(LIMIT), wall: chosen.unwrap_or(LIMIT_WITH_WAITS) };
        Budget { limits: Some(limits), chosen, ..Budget::unlimited() }
    }

    /// The budget of a subcommand.
    #[must_use]
    pub fn unlimited() -> Budget {
        Budget { limits: None, start: Arc::new(Mutex::new(Instant::now())), chosen: chosen() }
    }

    /// Starts again after a command, whose time does not count. CPU time is counted from the start of the process.
    pub fn restart(&self) {
        *self.start() = Instant::now();
    }

    fn start(&self) -> MutexGuard<'_, Instant> {
        self.start.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a check must stop and report that.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let Some(limits) = self.limits else { return false };
        let wall = self.start().elapsed() + RESERVE;
        // One thread works, so CPU time cannot exceed real time. Reading the CPU clock costs a system call.
        if wall <= limits.cpu {
            return false;
        }
        wall > limits.wall || cpu_time() + RESERVE > limits.cpu
    }

    /// How long a check may wait for something.
    #[must_use]
    pub fn at_most(&self, wait: Duration) -> Duration {
        let Some(limits) = self.limits else { return wait };
        let left = limits.wall.saturating_sub(self.start().elapsed());
        wait.min(left.saturating_sub(RESERVE))
    }

    /// How long to wait for another process: the given time, or longer if a test chose that.
    #[must_use]
    pub fn at_least(&self, wait: Duration) -> Duration {
        self.chosen.map_or(wait, |chosen| wait.max(chosen))
    }

    /// The message of a check that ran out of time.
    #[must_use]
    pub fn exceeded() -> String {
        let (cpu, wall) = (LIMIT.as_secs(), LIMIT_WITH_WAITS.as_secs());
        format!("it took longer than a hook may take ({cpu} s of CPU time, {wall} s in all)")
    }
}

#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Elsewhere waiting counts as work.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}

#[cfg(debug_assertions)]
fn chosen() -> Option<Duration> {
    let seconds = crate::environment::text("TEST_LIMIT_OF_CONCLAUDE")?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(not(debug_assertions))]
const fn chosen() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { cpu: LIMIT, wall: LIMIT_WITH_WAITS };

    /// A budget with this much total time and unlimited CPU time.
    fn budget_since(wall: Duration) -> Budget {
        let start = Instant::now().checked_sub(wall).unwrap();
        let limits = Limits { cpu: cpu_time() + LIMIT, ..LIMITS };
        Budget { limits: Some(limits), start: Arc::new(Mutex::new(start)), chosen: None }
    }

    #[test]
    fn only_a_hook_has_a_limit() {
        let unlimited = Budget { limits: None, ..budget_since(LIMIT_WITH_WAITS) };
        assert!(!unlimited.is_over());
        assert_eq!(unlimited.at_most(Duration::from_hours(1)), Duration::from_hours(1));
        let budget = budget_since(Duration::ZERO);
        assert!(budget.at_most(Duration::from_hours(1)) <= LIMIT_WITH_WAITS - RESERVE);
    }

    #[test]
    fn a_busy_machine_does_not_use_the_budget_up() {
        assert!(!budget_since(cpu_time() + LIMIT).is_over());
        assert!(budget_since(LIMIT_WITH_WAITS).is_over());
    }

    #[test]
    #[cfg(unix)]
    fn work_uses_the_budget_up() {
        let budget = budget_since(Duration::from_secs(6));
        assert!(Budget { limits: Some(Limits { cpu: cpu_time(), ..LIMITS }), ..budget }.is_over());
    }

    #[test]
    fn clones_run_out_of_time_together_and_start_again_together() {
        let budget = budget_since(LIMIT_WITH_WAITS);
        let clone = budget.clone();
        assert!(clone.is_over());
        assert_eq!(clone.at_most(Duration::from_hours(1)), Duration::ZERO);
        budget.restart();
        assert!(!clone.is_over());
    }
}
