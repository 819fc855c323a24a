//! Waiting for what another process does: for the condition itself, and never for a time.

use std::time::{Duration, Instant};

/// Long enough for any machine.
pub(crate) const LIMIT: Duration = Duration::from_mins(5);

/// Waits until it is so.
#[track_caller]
pub(crate) fn until(what: &str, is: impl Fn() -> bool) {
    let over = Instant::now() + LIMIT;
    while !is() {
        assert!(Instant::now() < over, "it never came: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The ids of the living processes that have this word in their command line.
#[cfg(target_os = "linux")]
pub(crate) fn running(word: &str) -> Vec<String> {
    let has_word = |entry: &std::fs::DirEntry| {
        let text = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let dead = std::fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| stat.contains(") Z "));
        !dead && String::from_utf8_lossy(&text).contains(word)
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter(has_word).map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Waits until no process with this word in its command line lives: on a busy machine one that was killed takes a moment to go.
#[cfg(target_os = "linux")]
#[track_caller]
pub(crate) fn gone(word: &str) {
    until(&format!("the end of {word}"), || running(word).is_empty());
}

/// The seconds of a `sleep` that outlasts every limit, as no other has them: a name to find it by.
pub(crate) fn endless() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("3000.{:05}{:03}", std::process::id() % 100_000, NEXT.fetch_add(1, Ordering::Relaxed))
}
