//! Log lines for debugging. They are buffered until the answer is known: the stderr of exit 1 or 2 is shown to users and models,
//! and must contain only the reason.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::environment;
use conclaude_core::text::clean_line;

const VARIABLE: &str = "CONCLAUDE_LOG";

/// `CONCLAUDE_LOG` sets the lowest level that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    /// The hook continues.
    Warn,
    Error,
    Off,
}

impl Level {
    fn named(name: &str) -> Option<Level> {
        Some(match name.to_ascii_lowercase().as_str() {
            "debug" => Level::Debug,
            "info" | "" => Level::Info,
            "warn" => Level::Warn,
            "error" => Level::Error,
            "off" => Level::Off,
            _ => return None,
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
            Level::Off => "off",
        })
    }
}

// These are statics, because every function may log, also in a thread and after a panic.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn threshold() -> Level {
    static THRESHOLD: OnceLock<Level> = OnceLock::new();
    *THRESHOLD.get_or_init(|| match environment::text(VARIABLE) {
        None => Level::Info,
        Some(name) => Level::named(&name).unwrap_or_else(|| {
            push(&format!(
                "conclaude: warn: {VARIABLE}={name:?} is not error, warn, info, debug or off; using info"
            ));
            Level::Info
        }),
    })
}

fn push(line: &str) {
    // A line break or an escape in the text would let data imitate a log line.
    LINES.lock().unwrap_or_else(PoisonError::into_inner).push(clean_line(line));
}

/// Adds a line. Builds the text only if the level is enabled.
pub fn line(level: Level, text: impl FnOnce() -> String) {
    if level >= threshold() {
        push(&format!("conclaude: {level}: {}", text()));
    }
}

/// Whether `CONCLAUDE_LOG` is set.
pub fn is_requested() -> bool {
    environment::is_set(VARIABLE)
}

pub fn debug(text: impl FnOnce() -> String) {
    line(Level::Debug, text);
}

pub fn info(text: impl FnOnce() -> String) {
    line(Level::Info, text);
}

pub fn warn(text: impl FnOnce() -> String) {
    line(Level::Warn, text);
}

#[must_use]
pub fn take() -> Vec<String> {
    std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_named() {
        assert!(Level::Debug < Level::Info && Level::Warn < Level::Error && Level::Error < Level::Off);
        assert_eq!(Level::named("WARN"), Some(Level::Warn));
        assert_eq!(Level::named("loud"), None);
        for level in [Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Off] {
            assert_eq!(Level::named(&level.to_string()), Some(level));
        }
    }
}
