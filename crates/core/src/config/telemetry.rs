//! The section `telemetry`: the URL of a collector, and the data that is sent.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::shapes::{Entries, List};
use super::values::InvalidValue;
use super::{NonBlank, Remark};

/// No collector needs more.
const MAX_HEADERS: usize = 20;

/// The attribute of the resource that identifies all data of conclaude.
pub const SERVICE_NAME: &str = "service.name";

/// Sending decisions to an OpenTelemetry collector, after the hook has answered. They leave this machine: see docs/explanation/fleet.md.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// The URL of the collector, such as `http://localhost:4318`; `/v1/logs`, `/v1/traces` and `/v1/metrics` are added. Without it
    /// nothing is sent.
    pub endpoint: Option<Endpoint>,
    /// Headers of every request. `${NAME}` becomes that environment variable, so that the file holds no secret.
    pub headers: Option<Headers>,
    /// OTLP over HTTP in JSON is the only one, and the default.
    pub protocol: Option<TelemetryProtocol>,
    /// What is sent. Default: all.
    pub signals: Option<List<Signal, 0, 20>>,
    /// Attributes of the resource, such as `team`. `${NAME}` becomes that environment variable. They override
    /// `OTEL_RESOURCE_ATTRIBUTES`.
    pub resource: Option<Headers>,
    /// Whether exported records contain the output of failed commands. Default: false.
    pub output: Option<bool>,
}

/// How requests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum TelemetryProtocol {
    /// The same port as OTLP/HTTP in protobuf, 4318.
    #[serde(rename = "http/json")]
    HttpJson,
}

/// Why a text is not the URL of a collector. The text itself is not repeated, because it could be a secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    #[error("an endpoint has no user or password: use `headers`, with ${{NAME}} for what is secret")]
    HasUser,
    #[error("an endpoint has no query, fragment, backslash or blank; {example}", example = EXAMPLE)]
    OddCharacter,
    #[error("{0:?} is not an endpoint; {example}", example = EXAMPLE)]
    NotUrl(String),
}

const EXAMPLE: &str = "expected one such as http://localhost:4318";

/// The URL of a collector.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, description = "", extend("pattern" = Endpoint::PATTERN, "format" = Endpoint::FORMAT))]
pub struct Endpoint(String);

impl Endpoint {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "otlp-endpoint";

    const PATTERN: &str = r"^https?://[^/?#@\s\\\x00-\x1f\x7f]+(/[^?#\s\\\x00-\x1f\x7f]*)?$";

    /// The URL without the path of a signal, which is often added to it.
    ///
    /// # Errors
    /// If records cannot be sent to the URL.
    pub fn new(url: &str) -> Result<Endpoint, EndpointError> {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let host = rest.map(|rest| rest.split('/').next().unwrap_or_default()).unwrap_or_default();
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#' | '\\');
        if host.contains('@') {
            return Err(EndpointError::HasUser);
        }
        if url.contains(is_odd) {
            return Err(EndpointError::OddCharacter);
        }
        if host.is_empty() {
            return Err(EndpointError::NotUrl(url.to_owned()));
        }
        let url = url.trim_end_matches('/');
        let base = Signal::ALL.iter().find_map(|signal| url.strip_suffix(signal.path()));
        Ok(Endpoint(base.unwrap_or(url).trim_end_matches('/').to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether data for this URL stays on this machine, or is encrypted.
    pub(super) fn is_private(&self) -> bool {
        let Some(rest) = self.0.strip_prefix("http://") else { return true };
        let host = rest.split('/').next().unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        name == "localhost" || name.starts_with("127.") || name == "[::1]"
    }
}

impl TryFrom<String> for Endpoint {
    type Error = EndpointError;

    fn try_from(url: String) -> Result<Self, EndpointError> {
        Endpoint::new(&url)
    }
}

/// A kind of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// A log record for each decision.
    Logs,
    /// A span for each decision below that of Claude Code, and one for each command below it.
    Traces,
    /// Counts of decisions, durations of hooks and commands, tokens and their cost.
    Metrics,
}

impl Signal {
    pub const ALL: [Signal; 3] = [Signal::Logs, Signal::Traces, Signal::Metrics];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Signal::Logs => "logs",
            Signal::Traces => "traces",
            Signal::Metrics => "metrics",
        }
    }

    /// The path that is added to the endpoint.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Signal::Logs => "/v1/logs",
            Signal::Traces => "/v1/traces",
            Signal::Metrics => "/v1/metrics",
        }
    }
}

/// The name of a header, or of an attribute of the resource.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, description = "", extend("pattern" = HeaderName::PATTERN))]
pub(super) struct HeaderName(String);

impl HeaderName {
    /// Its form in the schema.
    pub(super) const PATTERN: &str = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$";
}

impl TryFrom<String> for HeaderName {
    type Error = InvalidValue;

    fn try_from(name: String) -> Result<Self, InvalidValue> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+.^_`|~-".contains(c);
        if (1..=100).contains(&name.len()) && name.chars().all(is_token) {
            Ok(HeaderName(name))
        } else {
            Err(InvalidValue::Header(name))
        }
    }
}

type HeaderEntries = Entries<HeaderName, Option<NonBlank>, MAX_HEADERS>;

/// Names and values in the order of the file.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "HeaderEntries")]
#[schemars(with = "HeaderEntries", inline, description = "")]
pub struct Headers(Vec<(String, NonBlank)>);

impl Headers {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl From<HeaderEntries> for Headers {
    fn from(entries: HeaderEntries) -> Self {
        // `null` equals absent.
        Headers(entries.0.into_iter().filter_map(|(name, value)| Some((name.0, value?))).collect())
    }
}

/// Without the values, which may be secret.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

impl TelemetryConfig {
    /// The signals, each once.
    #[must_use]
    pub fn signals(&self) -> Vec<Signal> {
        let named = |signal: &Signal| self.signals.as_ref().is_none_or(|signals| signals.contains(signal));
        Signal::ALL.into_iter().filter(named).collect()
    }

    /// Whether the output of failed commands is exported.
    #[must_use]
    pub fn exports_output(&self) -> bool {
        self.output.unwrap_or(false)
    }

    pub(super) fn warnings(&self, is_audited: bool, found: &mut Vec<Remark>) {
        let Some(endpoint) = &self.endpoint else {
            // `output` alone is for `audit export --jsonl`, `resource` alone for `audit export --otlp URL`.
            if self.output.is_some() || self.resource.is_some() {
                return;
            }
            found.push(Remark::new(["telemetry"], "telemetry: without `endpoint` nothing is sent"));
            return;
        };
        if !is_audited {
            let what = "telemetry: it sends the audit trail, which `audit.enabled: false` switches off";
            found.push(Remark::new(["telemetry", "endpoint"], what));
        }
        if !endpoint.is_private() {
            let what = "telemetry: `endpoint` is http on another machine: decisions, and `headers`, can be read on the way";
            found.push(Remark::new(["telemetry", "endpoint"], what).help("use https"));
        }
        self.warn_of_values(found);
        if self.signals().is_empty() {
            found.push(Remark::new(
                ["telemetry", "signals"],
                "telemetry: `signals` is empty: nothing is sent",
            ));
        }
    }

    /// Values of headers and attributes that cannot be sent.
    fn warn_of_values(&self, found: &mut Vec<Remark>) {
        let sections = [("headers", "header", &self.headers), ("resource", "attribute", &self.resource)];
        for (section, what, values) in sections {
            for (name, value) in values.iter().flat_map(Headers::iter) {
                let wrong = if section == "resource" && name == SERVICE_NAME {
                    "stays `conclaude`: use another, such as `service.namespace`"
                } else if value.contains(char::is_control) {
                    "has control characters: it cannot be sent"
                } else if value.rsplit_once("${").is_some_and(|(_, last)| !last.contains('}')) {
                    "has `${` without `}`: it cannot be sent"
                } else {
                    continue;
                };
                let what = format!("telemetry: the {what} {name} {wrong}");
                found.push(Remark::new(["telemetry", section, name], what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base_of(url: &str) -> Result<String, EndpointError> {
        Endpoint::new(url).map(|endpoint| endpoint.as_str().to_owned())
    }

    #[test]
    fn an_endpoint_is_a_url_without_the_path_of_a_signal() {
        assert_eq!(base_of("http://localhost:4318/").unwrap(), "http://localhost:4318");
        assert_eq!(base_of("https://x.example/otlp/v1/logs").unwrap(), "https://x.example/otlp");
        for wrong in [
            "",
            "localhost:4318",
            "ftp://x",
            "http://",
            "http:///x",
            "http://a?b=c",
            "http://a b",
            "file:///etc/passwd",
        ] {
            assert!(base_of(wrong).is_err(), "{wrong}");
        }
        let secret = base_of("http://user:secret@x.example").unwrap_err().to_string();
        assert!(secret.contains("headers") && !secret.contains("secret@"), "{secret}");
    }

    #[test]
    fn http_is_private_on_this_machine_only() {
        for (url, is_private) in [
            ("http://localhost:4318", true),
            ("http://127.0.0.1", true),
            ("http://[::1]:4318", true),
            ("https://x.example", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1:4318", false),
        ] {
            assert_eq!(Endpoint::new(url).unwrap().is_private(), is_private, "{url}");
        }
    }

    #[test]
    fn no_value_of_a_header_is_printed() {
        let yaml = crate::yaml::read("{headers: {authorization: 'Bearer secret'}}").unwrap();
        let config: TelemetryConfig = Deserialize::deserialize(&yaml).unwrap();
        assert!(!format!("{config:?}").contains("secret"));
    }
}
