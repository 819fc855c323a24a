//! The destination of records, and one request to a collector. The request is repeated as long as that may help and there is
//! time.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use conclaude_core::config::{Endpoint, Headers, Signal, TelemetryConfig};
use conclaude_core::text::clean_line;
use conclaude_os::budget::Budget;
use conclaude_os::environment::Variables;
use conclaude_os::http::{self, HttpAnswer};
use conclaude_os::process;
use shell_effects::percent_decoded;

/// The limit of one request. None is cut so short that it cannot succeed.
const MAX_TIMEOUT: Duration = Duration::from_secs(10);
const MIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause between attempts: it is doubled each time, up to `MAX_PAUSE`.
const MIN_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(8);

/// The limit on the shown part of an answer, in characters.
const MAX_SHOWN: usize = 300;

/// Why records were not accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendError {
    pub what: String,
    pub is_transient: bool,
    /// There was no answer.
    pub(super) is_unreachable: bool,
    /// The collector asked to wait.
    pub(super) retry_after: Option<SignedDuration>,
    pub(super) is_too_large: bool,
}

/// Sends a request, and returns the answer of a collector that accepted it.
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
        let error = match attempt(target, signal, body, timeout) {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let left = give_up.saturating_duration_since(Instant::now());
        if !next_pause(&error, attempts, left).is_some_and(sleep) {
            let times = if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() };
            return Err(SendError { what: format!("{}{times}", error.what), ..error });
        }
        attempts = attempts.saturating_add(1);
    }
}

/// How long to wait before the next attempt. `None` if no time is left for one, or it would not help.
fn next_pause(error: &SendError, attempts: u32, left: Duration) -> Option<Duration> {
    if !error.is_transient || left.is_zero() {
        return None;
    }
    let asked = error.retry_after.map(|wait| Duration::try_from(wait).unwrap_or_default());
    if let Some(asked) = asked {
        return if asked <= left { Some(asked) } else { None };
    }
    let doubled = MIN_PAUSE.saturating_mul(1 << attempts.saturating_sub(1).min(10));
    // The last pause is shorter, so that the last attempt is made right at the deadline.
    Some(doubled.min(MAX_PAUSE).min(left))
}

/// Sleeps. Returns `false` if a signal asked us to stop meanwhile.
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

fn judge(url: &str, answered: HttpAnswer) -> Result<String, SendError> {
    let HttpAnswer { status, retry_after, location, body } = answered;
    if (200..300).contains(&status) {
        return Ok(body);
    }
    let said: String = clean_line(&body).chars().take(MAX_SHOWN).collect();
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
        (400, _) => "; none of it counts as sent (--since leaves older records out)".into(),
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

/// Why records cannot be sent to an endpoint.
#[derive(Debug, Error)]
pub enum TargetError {
    #[error(
        "no endpoint: name it on the command line, or as `telemetry: {{endpoint: URL}}` in the config, or in OTEL_EXPORTER_OTLP_ENDPOINT"
    )]
    NoEndpoint,
    #[error("the config names no `telemetry.endpoint`")]
    NotConfigured,
    #[error("{0}")]
    Endpoint(String),
    /// Without the value, which may be a secret.
    #[error("OTEL_EXPORTER_OTLP_HEADERS must be name=value,name=value")]
    HeaderSyntax,
    #[error("OTEL_RESOURCE_ATTRIBUTES must be name=value,name=value")]
    ResourceSyntax,
    #[error("telemetry.{section}: {name}: {error}")]
    Variable { section: &'static str, name: String, error: VariableError },
}

/// Why `${NAME}` cannot be replaced.
#[derive(Debug, Error)]
pub enum VariableError {
    #[error("the environment variable {0} is not set")]
    NotSet(String),
    #[error("`${{` without `}}`")]
    Unclosed,
}

/// An endpoint and the headers for it. It is not printable, since headers contain secrets.
pub struct Target {
    /// The URL before the paths of the signals.
    pub base: String,
    pub headers: Vec<(String, String)>,
    pub signals: Vec<Signal>,
    /// Attributes of the resource in addition to our own.
    pub resource: Vec<(String, String)>,
    /// Whether the output of failed commands is sent too.
    pub has_output: bool,
}

impl Target {
    /// An endpoint of the environment variables that all programs with OpenTelemetry have in common.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    pub fn of_variables(url: Option<&str>, variables: &Variables) -> Result<Target, TargetError> {
        let url = url.or_else(|| variables.value("OTEL_EXPORTER_OTLP_ENDPOINT"));
        let url = url.ok_or(TargetError::NoEndpoint)?;
        let headers = variables.value("OTEL_EXPORTER_OTLP_HEADERS");
        let headers = headers.map_or(Ok(Vec::new()), |text| pairs(text, TargetError::HeaderSyntax))?;
        Ok(Target {
            base: Endpoint::new(url.trim())
                .map_err(|error| TargetError::Endpoint(error.to_string()))?
                .as_str()
                .to_owned(),
            headers,
            signals: Signal::ALL.into(),
            resource: resource_of(variables)?,
            has_output: false,
        })
    }

    /// With the attributes of a config.
    ///
    /// # Errors
    /// When a variable for them is missing.
    pub fn with_resource(
        mut self,
        config: &TelemetryConfig,
        variables: &Variables,
    ) -> Result<Target, TargetError> {
        self.resource.extend(expanded_values("resource", config.resource.as_ref(), variables)?);
        Ok(self)
    }

    /// The endpoint of a config.
    ///
    /// # Errors
    /// When there is none, or a variable for its headers or attributes is missing.
    pub fn of_config(config: &TelemetryConfig, variables: &Variables) -> Result<Target, TargetError> {
        let endpoint = config.endpoint.as_ref().ok_or(TargetError::NotConfigured)?;
        let target = Target {
            base: endpoint.as_str().to_owned(),
            headers: expanded_values("headers", config.headers.as_ref(), variables)?,
            signals: config.signals(),
            resource: resource_of(variables)?,
            has_output: config.exports_output(),
        };
        target.with_resource(config, variables)
    }

    /// The same endpoint without headers, for callers that do not need them or do not know them.
    pub fn without_headers(config: &TelemetryConfig) -> Option<Target> {
        let base = config.endpoint.as_ref()?.as_str().to_owned();
        Some(Target::bare(base, config.signals()))
    }

    pub(super) fn bare(base: String, signals: Vec<Signal>) -> Target {
        Target { base, signals, headers: Vec::new(), resource: Vec::new(), has_output: false }
    }

    pub(super) fn url(&self, signal: Signal) -> String {
        format!("{}{}", self.base, signal.path())
    }
}

/// The attributes that all programs with OpenTelemetry have in common.
fn resource_of(variables: &Variables) -> Result<Vec<(String, String)>, TargetError> {
    let text = variables.get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    pairs(text, TargetError::ResourceSyntax)
}

/// The values of a section of the config, with the environment variables that they name.
fn expanded_values(
    section: &'static str,
    values: Option<&Headers>,
    variables: &Variables,
) -> Result<Vec<(String, String)>, TargetError> {
    let get = |name: &str| variables.get(name).map(str::to_owned);
    let one = |(name, value): (&str, &str)| match expanded(value, get) {
        Ok(value) => Ok((name.to_owned(), value)),
        Err(error) => Err(TargetError::Variable { section, name: name.to_owned(), error }),
    };
    values.into_iter().flat_map(Headers::iter).map(one).collect()
}

/// `key=value,key=value`, as OpenTelemetry writes headers and attributes in the environment.
fn pairs(text: &str, wrong: TargetError) -> Result<Vec<(String, String)>, TargetError> {
    let one = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        // Values are percent-encoded there.
        Some((name.trim().to_owned(), percent_decoded(value.trim()).into_owned()))
    };
    let found: Option<_> = text.split(',').filter(|pair| !pair.trim().is_empty()).map(one).collect();
    found.ok_or(wrong)
}

/// A text with `${NAME}` replaced by that environment variable.
///
/// # Errors
/// Names the variable that is not set.
fn expanded(text: &str, get: impl Fn(&str) -> Option<String>) -> Result<String, VariableError> {
    let mut found = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, tail) = after.split_once('}').ok_or(VariableError::Unclosed)?;
        found.push_str(before);
        found.push_str(&get(name).ok_or_else(|| VariableError::NotSet(name.to_owned()))?);
        rest = tail;
    }
    Ok(found + rest)
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
            let error = judge("u", HttpAnswer { status, ..HttpAnswer::default() }).unwrap_err();
            assert_eq!(error.is_transient, is_transient, "{status}");
        }
        let answered =
            HttpAnswer { status: 307, location: Some("http://b\u{1b}[2J".into()), ..HttpAnswer::default() };
        assert_eq!(
            judge("u", answered).unwrap_err().what,
            "u answered 307; redirects are not followed: if http://b is right, use that"
        );
    }
}

#[cfg(test)]
mod target_tests {
    use super::*;

    #[test]
    fn headers_of_the_environment_are_decoded() {
        let found =
            pairs("Authorization=Basic%20YTpi, x-team = a%2Cb,odd=5%,", TargetError::HeaderSyntax).unwrap();
        let expected = [("Authorization", "Basic YTpi"), ("x-team", "a,b"), ("odd", "5%")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(
            !pairs("Basic secret", TargetError::HeaderSyntax).unwrap_err().to_string().contains("secret")
        );
    }

    #[test]
    fn variables_are_replaced_once_and_must_be_set() {
        let get = |name: &str| if name == "KEY" { Some("a${KEY}b".to_owned()) } else { None };
        assert_eq!(expanded("Bearer ${KEY}$", get).unwrap(), "Bearer a${KEY}b$");
        assert_eq!(
            expanded("${OTHER}", get).unwrap_err().to_string(),
            "the environment variable OTHER is not set"
        );
        assert!(expanded("${KEY", get).is_err());
    }
}
