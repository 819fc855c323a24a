//! How long something was working: the time between its lines, without the pauses.

/// A longer gap does not count.
const PAUSE: i64 = 5 * 60 * 1_000;

/// Periods without a pause, in milliseconds since 1970.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveTime(Vec<(i64, i64)>);

impl ActiveTime {
    pub(super) fn add(&mut self, time: i64) {
        match self.0.last_mut() {
            Some((start, end)) if time >= *start - PAUSE && time <= *end + PAUSE => {
                (*start, *end) = (time.min(*start), time.max(*end));
            }
            _ => self.0.push((time, time)),
        }
    }

    pub(super) fn merge(&mut self, other: &ActiveTime) {
        self.0.extend_from_slice(&other.0);
    }

    pub(super) fn milliseconds(&mut self) -> i64 {
        self.0.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::with_capacity(self.0.len());
        for (start, end) in self.0.drain(..) {
            match joined.last_mut() {
                Some((_, last)) if start <= *last + PAUSE => *last = end.max(*last),
                _ => joined.push((start, end)),
            }
        }
        self.0 = joined;
        self.0.iter().map(|(start, end)| end - start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn gaps_over_five_minutes_do_not_count_wherever_lines_come_from() {
        let mut thread = ActiveTime::default();
        for minute in [0, 4, 9, 60, 62] {
            thread.add(minute * MINUTE);
        }
        assert_eq!(thread.milliseconds(), 11 * MINUTE);
        let mut agent = ActiveTime::default();
        for minute in [70, 58, 66, 10] {
            agent.add(minute * MINUTE);
        }
        thread.merge(&agent);
        assert_eq!(thread.milliseconds(), 22 * MINUTE, "0 to 10 and 58 to 70, once");
        assert_eq!(ActiveTime::default().milliseconds(), 0);
    }
}
