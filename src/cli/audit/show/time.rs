//! When a record was written: for people relative to now and in their own time zone, for programs as it is recorded.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};

pub(super) enum TimeDisplay {
    Recorded,
    Local { now: Timestamp, zone: TimeZone },
}

impl TimeDisplay {
    pub(super) fn of(is_terminal: bool) -> TimeDisplay {
        let zone = TimeZone::system();
        // Without a known zone a local time would be wrong.
        if is_terminal && !zone.is_unknown() {
            TimeDisplay::Local { now: Timestamp::now(), zone }
        } else {
            TimeDisplay::Recorded
        }
    }

    /// The time of a record. What is no time stays as it is.
    pub(super) fn show(&self, recorded: &str) -> String {
        let TimeDisplay::Local { now, zone } = self else { return recorded.to_owned() };
        let Ok(time) = recorded.parse::<Timestamp>() else { return recorded.to_owned() };
        // All of the same width, so that what follows is aligned.
        format!("{:>16}", relative(time, *now, zone))
    }
}

fn relative(time: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let seconds = now.duration_since(time).as_secs();
    let (local, today) = (time.to_zoned(zone.clone()), now.to_zoned(zone.clone()).date());
    let days = local.date().until((Unit::Day, today)).map_or(i32::MAX, |span| span.get_days());
    match (seconds, days) {
        (0..60, _) => "just now".into(),
        (60..3_600, _) => format!("{} min ago", seconds / 60),
        (3_600.., 0) => local.strftime("today %H:%M").to_string(),
        (3_600.., 1) => local.strftime("yesterday %H:%M").to_string(),
        _ => local.strftime("%Y-%m-%d %H:%M").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_and_local_for_people() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let clock = TimeDisplay::Local { now: "2026-03-10T12:00:00Z".parse().unwrap(), zone };
        let shown = |time: &str| clock.show(time).trim_start().to_owned();
        assert_eq!(shown("2026-03-10T11:59:30.123Z"), "just now");
        assert_eq!(shown("2026-03-10T11:01:00Z"), "59 min ago");
        assert_eq!(shown("2026-03-10T05:30:00Z"), "today 07:30");
        assert_eq!(shown("2026-03-09T21:30:00Z"), "yesterday 23:30");
        assert_eq!(shown("2026-03-09T22:30:00Z"), "today 00:30");
        assert_eq!(shown("2026-02-28T10:00:00Z"), "2026-02-28 12:00");
        assert_eq!(shown("2026-03-11T10:00:00Z"), "2026-03-11 12:00", "a clock that was wrong");
        assert_eq!(shown("whenever"), "whenever");
        assert_eq!(TimeDisplay::of(false).show("2026-03-10T11:59:30.123Z"), "2026-03-10T11:59:30.123Z");
    }
}
