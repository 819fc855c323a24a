//! A progress bar, on a terminal only.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::cli::out::Out;

/// Less is read without a bar.
const FROM_BYTES: u64 = 16 << 20;
const EVERY: Duration = Duration::from_millis(100);
const WIDTH: u64 = 30;

pub(super) struct ReplayProgress {
    total: u64,
    started: Instant,
    /// When it was last drawn; none where there is no terminal.
    drawn: Option<Mutex<Instant>>,
}

impl ReplayProgress {
    pub(super) fn new(total: u64) -> ReplayProgress {
        let is_shown = total >= FROM_BYTES && Out::stderr_is_terminal();
        let now = Instant::now();
        ReplayProgress { total, started: now, drawn: if is_shown { Some(Mutex::new(now)) } else { None } }
    }

    pub(super) fn show(&self, bytes: u64) {
        // Another thread is drawing.
        let Some(mut drawn) = self.drawn.as_ref().and_then(|drawn| drawn.try_lock().ok()) else { return };
        if drawn.elapsed() < EVERY {
            return;
        }
        *drawn = Instant::now();
        let _ =
            Out::stderr().document(&format!("\r{}\u{1b}[K", bar(bytes, self.total, self.started.elapsed())));
    }

    pub(super) fn clear(&self) {
        if self.drawn.is_some() {
            let _ = Out::stderr().document("\r\u{1b}[K");
        }
    }
}

/// Less than 80 columns.
fn bar(bytes: u64, total: u64, elapsed: Duration) -> String {
    let bytes = bytes.min(total);
    let filled = bytes * WIDTH / total.max(1);
    let part = |text: &str, n: u64| text.repeat(usize::try_from(n).unwrap_or_default());
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let speed = bytes / 1_000 / milliseconds;
    let (read, all) = (bytes / 1_000_000, total / 1_000_000);
    let left = (total - bytes).saturating_mul(milliseconds) / bytes.max(1) / 1_000;
    format!(
        "{}{} {read} of {all} MB, {speed} MB/s, {left} s left",
        part("█", filled),
        part("░", WIDTH - filled)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fits_a_narrow_terminal() {
        let half = bar(1_500_000_000, 3_000_000_000, Duration::from_secs(3));
        assert_eq!(half, "███████████████░░░░░░░░░░░░░░░ 1500 of 3000 MB, 500 MB/s, 3 s left");
        let huge = bar(9_999_999_000_000, 99_999_999_000_000, Duration::from_hours(2));
        assert!(huge.chars().count() < 80, "{huge}");
        assert_eq!(bar(5, 0, Duration::ZERO), format!("{} 0 of 0 MB, 0 MB/s, 0 s left", "░".repeat(30)));
    }
}
