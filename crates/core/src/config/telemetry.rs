//! The section `telemetry`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::NonBlank;
use super::Remark;
use super::bounded::NOT_BLANK;
use super::endpoint::{Endpoint, Signal};

/// More than any collector asks for.
const MAX_HEADERS: usize = 20;

/// Sending decisions to a collector of OpenTelemetry, after the hook has answered. They leave this machine: see docs/fleet.md.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// The URL of the collector, such as `http://localhost:4318`; `/v1/logs` and `/v1/traces` are added. Without it nothing is
    /// sent.
    pub endpoint: Option<Endpoint>,
    /// Headers of every request. `${NAME}` becomes that environment variable, so that the file holds no secret.
    pub headers: Option<Headers>,
    /// OTLP over HTTP in JSON is the only one, and the default.
    pub protocol: Option<Protocol>,
    /// What is sent. Default: both.
    #[schemars(length(max = 20))]
    pub signals: Option<Vec<Signal>>,
}

/// How requests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Protocol {
    /// The same port as OTLP/HTTP in protobuf, 4318.
    #[serde(rename = "http/json")]
    HttpJson,
}

/// Names and values in the order of the file.
#[derive(Clone, PartialEq, Eq)]
pub struct Headers(Vec<(String, NonBlank)>);

impl Headers {
    const NAME: &str = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$";

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn is_name(text: &str) -> bool {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+.^_`|~-".contains(c);
        (1..=100).contains(&text.len()) && text.chars().all(is_token)
    }
}

/// Without the values, which may be secret.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> de::Visitor<'de> for Map {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of names of headers to their values")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut found = Vec::new();
                let mut left = 0..MAX_HEADERS;
                while let Some(name) = map.next_key::<String>()? {
                    left.next()
                        .ok_or_else(|| de::Error::custom(format!("more than {MAX_HEADERS} headers")))?;
                    if !Headers::is_name(&name) {
                        return Err(de::Error::custom(format!("{name:?} is not the name of a header")));
                    }
                    // `null` equals absent.
                    found.extend(map.next_value::<Option<NonBlank>>()?.map(|value| (name, value)));
                }
                Ok(Headers(found))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

impl JsonSchema for Headers {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Headers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "propertyNames": { "type": "string", "pattern": Headers::NAME },
            "maxProperties": MAX_HEADERS,
            "additionalProperties": { "type": ["string", "null"], "pattern": NOT_BLANK },
        })
    }
}

impl TelemetryConfig {
    pub(super) fn is_within_bounds(&self) -> bool {
        self.signals.as_ref().is_none_or(|signals| signals.len() <= 20)
    }

    /// What is sent, without what is named twice.
    #[must_use]
    pub fn signals(&self) -> Vec<Signal> {
        let named = |signal: &Signal| self.signals.as_ref().is_none_or(|signals| signals.contains(signal));
        Signal::ALL.into_iter().filter(named).collect()
    }

    pub(super) fn warnings(&self, is_audited: bool, found: &mut Vec<Remark>) {
        let Some(endpoint) = &self.endpoint else {
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
        for (name, value) in self.headers.iter().flat_map(Headers::iter) {
            let wrong = if value.contains(char::is_control) {
                "has control characters: it cannot be sent"
            } else if value.rsplit_once("${").is_some_and(|(_, last)| !last.contains('}')) {
                "has `${` without `}`: it cannot be sent"
            } else {
                continue;
            };
            let what = format!("telemetry: the header {name} {wrong}");
            found.push(Remark::new(["telemetry", "headers", name], what));
        }
        if self.signals().is_empty() {
            found.push(Remark::new(
                ["telemetry", "signals"],
                "telemetry: `signals` is empty: nothing is sent",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base_of(url: &str) -> Result<String, String> {
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
        let secret = base_of("http://user:secret@x.example").unwrap_err();
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
