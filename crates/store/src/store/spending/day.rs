//! The usage of all sessions of a project on one day, from local midnight to the next one.

use std::collections::BTreeMap;
use std::fs;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use super::{UsedTokens, short_hash};
use conclaude_os::environment;

/// The usage of all sessions of a project on one day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DaySpending {
    /// From local midnight to the next one, in milliseconds since 1970.
    pub start: i64,
    pub end: i64,
    pub(super) sessions: BTreeMap<String, UsedTokens>,
}

impl DaySpending {
    /// The total usage, with this value for one of the sessions.
    #[must_use]
    pub fn used_with(&self, session: &str, own: &UsedTokens) -> UsedTokens {
        let mut used = own.clone();
        let key = short_hash(session);
        self.sessions.iter().filter(|(other, _)| **other != key).for_each(|(_, one)| used.add_all(one));
        used
    }

    /// The total usage.
    #[must_use]
    pub fn used(&self) -> UsedTokens {
        let mut used = UsedTokens::default();
        self.sessions.values().for_each(|one| used.add_all(one));
        used
    }

    /// Whether the time is of another day.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        !(self.start..self.end).contains(&now.as_millisecond())
    }

    /// The day of this time, still without usage.
    pub(super) fn of(now: Timestamp) -> DaySpending {
        let midnight = Zoned::new(now, local_zone()).start_of_day();
        let next = midnight.as_ref().ok().and_then(|start| start.tomorrow().ok()?.start_of_day().ok());
        let millis = |time: &Zoned| time.timestamp().as_millisecond();
        let start = midnight.as_ref().map(millis).unwrap_or_default();
        DaySpending { start, end: next.as_ref().map_or(i64::MAX, millis), sessions: BTreeMap::new() }
    }
}

/// The time zone of this machine. `TimeZone::system` would list all existing zones to find its name, which takes longer than an
/// event.
fn local_zone() -> TimeZone {
    let is_set = environment::is_set("TZ");
    let file = if is_set { None } else { fs::read("/etc/localtime").ok() };
    let zone = file.and_then(|bytes| TimeZone::tzif("", &bytes).ok());
    zone.unwrap_or_else(TimeZone::system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_of_the_machine_is_that_of_the_system() {
        let zones = [local_zone(), TimeZone::system()];
        let offsets = zones.map(|zone| {
            let in_winter = Timestamp::from_second(1_800_000_000).unwrap();
            let in_summer = Timestamp::from_second(1_815_000_000).unwrap();
            [in_winter, in_summer].map(|time| zone.to_offset(time))
        });
        assert_eq!(offsets[0], offsets[1]);
    }
}
