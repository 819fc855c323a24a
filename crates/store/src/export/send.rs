//! One request to a collector, again and again while that may help and there is time.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::Target;
use conclaude_core::config::Signal;
use conclaude_core::text::clean_line;
use conclaude_os::budget::Budget;
use conclaude_os::http::{self, Answered};
use conclaude_os::process;

/// No request takes longer, and none is cut so short that it cannot succeed.
const MAX_TIMEOUT: Duration = Duration::from_secs(10);
const MIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Between attempts: doubled each time, up to the second.
const MIN_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(8);

/// How much of an answer is repeated, in characters.
const MAX_SAID: usize = 300;

/// Why records were not accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendError {
    pub what: String,
    pub is_transient: bool,
    /// Nobody answered at all.
    pub(super) is_unreachable: bool,
    /// The collector asked to wait.
    pub(super) retry_after: Option<SignedDuration>,
    pub(super) is_too_large: bool,
}

/// Sends a request; the answer of a collector that accepted it.
pub(super) fn send(
    target: &Target,
    signal: Signal,
    body: &str,
    retry_for: Duration,
) -> Result<String, SendError> {
    let budget = Budget::unlimited();
    let give_up = Instant::now() + retry_for;
    let mut attempts = 1_u32;
    loop {
        let left = give_up.saturating_duration_since(Instant::now());
        let timeout = left.clamp(budget.at_least(MIN_TIMEOUT), budget.at_least(MAX_TIMEOUT));
        let refused = match attempt(target, signal, body, timeout) {
            Ok(answer) => return Ok(answer),
            Err(refused) => refused,
        };
        let left = give_up.saturating_duration_since(Instant::now());
        if !next_pause(&refused, attempts, left).is_some_and(sleep) {
            let times = if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() };
            return Err(SendError { what: format!("{}{times}", refused.what), ..refused });
        }
        attempts = attempts.saturating_add(1);
    }
}

/// How long to wait before the next attempt; none where there is no time left for one, or it would not help.
fn next_pause(refused: &SendError, attempts: u32, left: Duration) -> Option<Duration> {
    if !refused.is_transient || left.is_zero() {
        return None;
    }
    let asked = refused.retry_after.map(|wait| Duration::try_from(wait).unwrap_or_default());
    if let Some(asked) = asked {
        return (asked <= left).then_some(asked);
    }
    let doubled = MIN_PAUSE.saturating_mul(1 << attempts.saturating_sub(1).min(10));
    // The last pause is shorter, so that the last attempt is made when the time is over, and not before.
    Some(doubled.min(MAX_PAUSE).min(left))
}

/// Whether it was slept through; a signal that asks us to stop ends it.
pub fn sleep(wait: Duration) -> bool {
    let end = Instant::now() + wait;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if process::stop_signal().is_some() {
            return false;
        }
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(Duration::from_millis(100)));
    }
}

fn attempt(target: &Target, signal: Signal, body: &str, timeout: Duration) -> Result<String, SendError> {
    let url = target.url(signal);
    let own = [
        ("content-type", "application/json"),
        ("user-agent", concat!("conclaude/", env!("CARGO_PKG_VERSION"))),
    ];
    let given = target.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let headers: Vec<(&str, &str)> = own.into_iter().chain(given).collect();
    match http::post(&url, &headers, body, timeout) {
        Ok(answered) => judge(&url, answered),
        Err(failure) => Err(SendError {
            what: clean_line(&if failure.what.contains(&url) {
                failure.what
            } else {
                format!("{url}: {}", failure.what)
            }),
            is_transient: failure.is_transient,
            is_unreachable: true,
            ..SendError::default()
        }),
    }
}

fn judge(url: &str, answered: Answered) -> Result<String, SendError> {
    let Answered { status, retry_after, location, body } = answered;
    if (200..300).contains(&status) {
        return Ok(body);
    }
    let said: String = clean_line(&body).chars().take(MAX_SAID).collect();
    let said = if said.trim().is_empty() { String::new() } else { format!(": {}", said.trim()) };
    let retry_after = retry_after.and_then(|value| wait_of(&value, Timestamp::now()));
    let hint = match (status, location) {
        (429 | 503, _) if retry_after.is_some_and(|wait| wait.is_positive()) => {
            format!("; it asks to be called again in {} s", retry_after.unwrap_or_default().as_secs())
        }
        (300..400, Some(to)) => {
            format!("; redirects are not followed: if {} is right, use that", clean_line(&to))
        }
        (401 | 403, _) => "; check the `headers`".into(),
        (404 | 405, _) => "; check the endpoint, to which the path is added".into(),
        (413, _) => "; let the collector accept larger requests".into(),
        (400, _) => "; nothing of it counts as sent (--since leaves older records out)".into(),
        _ => String::new(),
    };
    Err(SendError {
        what: format!("{url} answered {status}{said}{hint}"),
        is_transient: matches!(status, 429 | 502 | 503 | 504),
        is_unreachable: false,
        retry_after,
        is_too_large: status == 413,
    })
}

/// `Retry-After`: seconds, or a date.
fn wait_of(value: &str, now: Timestamp) -> Option<SignedDuration> {
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(SignedDuration::from_secs(seconds.into()));
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Some(date.duration_since(now)).filter(|wait| wait.is_positive())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        assert_eq!(wait_of("7", now), Some(SignedDuration::from_secs(7)));
        assert_eq!(wait_of("Tue, 10 Mar 2026 12:00:30 GMT", now), Some(SignedDuration::from_secs(30)));
        assert_eq!(wait_of("Tue, 10 Mar 2026 11:00:30 GMT", now), None, "it is over");
        assert_eq!(wait_of("soon", now), None);
    }

    #[test]
    fn pauses_are_doubled_shortened_at_the_end_and_as_long_as_the_collector_asks_for() {
        let busy = |seconds: Option<i64>| SendError {
            is_transient: true,
            retry_after: seconds.map(SignedDuration::from_secs),
            ..SendError::default()
        };
        let (none, seconds) = (busy(None), Duration::from_secs);
        let mut left = seconds(30);
        let mut pauses = Vec::new();
        for attempts in 1..100 {
            let Some(pause) = next_pause(&none, attempts, left) else { break };
            pauses.push(pause.as_millis());
            left -= pause;
        }
        assert_eq!(pauses, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 6_500], "30 seconds in all");
        assert_eq!(next_pause(&none, u32::MAX, seconds(100)), Some(MAX_PAUSE));
        assert_eq!(next_pause(&busy(Some(7)), 1, seconds(7)), Some(seconds(7)));
        assert_eq!(next_pause(&busy(Some(8)), 1, seconds(7)), None, "it would be too early");
        assert_eq!(next_pause(&busy(Some(0)), 5, seconds(7)), Some(Duration::ZERO));
        assert_eq!(next_pause(&busy(Some(-5)), 5, seconds(7)), Some(Duration::ZERO), "a date in the past");
        assert_eq!(next_pause(&busy(Some(0)), 5, Duration::ZERO), None);
        assert_eq!(next_pause(&SendError::default(), 1, seconds(30)), None, "it would be refused again");
    }

    #[test]
    fn what_is_worth_another_attempt_is_what_otlp_says() {
        for (status, is_transient) in
            [(400, false), (401, false), (404, false), (429, true), (500, false), (503, true)]
        {
            let refused = judge("u", Answered { status, ..Answered::default() }).unwrap_err();
            assert_eq!(refused.is_transient, is_transient, "{status}");
        }
        let answered =
            Answered { status: 307, location: Some("http://b\u{1b}[2J".into()), ..Answered::default() };
        assert_eq!(
            judge("u", answered).unwrap_err().what,
            "u answered 307; redirects are not followed: if http://b is right, use that"
        );
    }
}
