//! Durations, times and states in words.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::line::Mark;

/// The current time, and the user's time zone.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    pub(crate) now: Timestamp,
    pub(crate) zone: TimeZone,
}

impl Clock {
    pub(super) fn since(&self, time: Timestamp) -> i64 {
        (self.now.as_millisecond() - time.as_millisecond()).max(0)
    }

    pub(super) fn time(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string()
    }

    pub(super) fn exact(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    pub(super) fn date(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    }
}

/// A duration, rounded for display.
pub(super) fn took(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => elapsed(ms),
    }
}

/// The duration of something that is still running, in whole seconds.
pub(super) fn elapsed(ms: i64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {:02} m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d", seconds / 86_400),
    }
}

impl Mark {
    /// The symbol, which needs no colours.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Mark::Good => "✓",
            Mark::Bad => "✗",
            Mark::Warning => "⚠",
            Mark::Running => "●",
            Mark::Quiet => "○",
            Mark::None => "·",
        }
    }
}

/// A tool with what it is used on.
pub(super) fn named(tool: &str, detail: &str) -> String {
    if detail.is_empty() { tool.to_owned() } else { format!("{tool} {detail}") }
}

/// A path without the folder that it is in: lines are short.
pub(super) fn inside<'a>(path: &'a str, folder: &str) -> &'a str {
    path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// The name of a step file without folder and ending, as people call it.
pub(super) fn step_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".json").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_as_exact_as_somebody_cares() {
        let shown: Vec<String> = [0, 999, 1_250, 59_999, 61_000, 3_600_000, 90_000_000].map(took).into();
        assert_eq!(shown, ["0 ms", "999 ms", "1.2 s", "59.9 s", "1 m 01 s", "1 h 00 m", "1 d"]);
        assert_eq!(elapsed(1_250), "1 s");
        assert_eq!(step_name("docs/steps/01-01.json"), "01-01");
    }
}
