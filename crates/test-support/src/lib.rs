//! How thorough a property test is, and how much work it was.

use std::time::Duration;

/// How many cases it tries: few locally, many in CI.
pub fn cases(local: u32, ci: u32) -> u32 {
    if std::env::var_os("CI").is_some() { ci } else { local }
}

/// The processor time of this thread: unlike a clock it stands still while others have the processor.
#[cfg(unix)]
pub fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to a struct that lives as long as the call.
    #[allow(unsafe_code, reason = "the clock of a thread has no safe interface")]
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0);
    Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

#[cfg(not(unix))]
pub fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
