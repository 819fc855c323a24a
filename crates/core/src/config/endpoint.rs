//! The URL of a collector, and what is sent there.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// The URL of a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(String);

impl Endpoint {
    /// Its name in the schema.
    pub(super) const FORMAT: &str = "otlp-endpoint";

    const PATTERN: &str = r"^https?://[^/?#@\s\\\x00-\x1f\x7f]+(/[^?#\s\\\x00-\x1f\x7f]*)?$";

    /// The URL without the path of a signal, which is often written along.
    ///
    /// # Errors
    /// When it is no URL that records can be sent to; repeats nothing of it that could be a secret.
    pub fn new(url: &str) -> Result<Endpoint, String> {
        let example = "expected one such as http://localhost:4318";
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let host = rest.map(|rest| rest.split('/').next().unwrap_or_default()).unwrap_or_default();
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#' | '\\');
        match () {
            () if host.contains('@') => {
                Err("an endpoint has no user or password: use `headers`, with ${NAME} for what is secret"
                    .into())
            }
            () if url.contains(is_odd) => {
                Err(format!("an endpoint has no query, fragment, backslash or blank; {example}"))
            }
            () if host.is_empty() => Err(format!("{url:?} is not an endpoint; {example}")),
            () => {
                let url = url.trim_end_matches('/');
                let base = Signal::ALL.iter().find_map(|signal| url.strip_suffix(signal.path()));
                Ok(Endpoint(base.unwrap_or(url).trim_end_matches('/').to_owned()))
            }
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether what is sent there stays on this machine, or is encrypted.
    pub(super) fn is_private(&self) -> bool {
        let Some(rest) = self.0.strip_prefix("http://") else { return true };
        let host = rest.split('/').next().unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        name == "localhost" || name.starts_with("127.") || name == "[::1]"
    }
}

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Endpoint::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl JsonSchema for Endpoint {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Endpoint".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": Endpoint::PATTERN, "format": Endpoint::FORMAT })
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
}

impl Signal {
    pub const ALL: [Signal; 2] = [Signal::Logs, Signal::Traces];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Signal::Logs => "logs",
            Signal::Traces => "traces",
        }
    }

    /// Behind the endpoint.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Signal::Logs => "/v1/logs",
            Signal::Traces => "/v1/traces",
        }
    }
}
