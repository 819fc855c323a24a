//! Where records are sent: an endpoint, and the headers that let us in.

use conclaude_core::config::{Endpoint, Headers, Signal, TelemetryConfig};

/// Not printable, since headers hold secrets.
pub struct Target {
    /// The URL that the paths of the signals are added to.
    pub base: String,
    pub headers: Vec<(String, String)>,
    pub signals: Vec<Signal>,
}

impl Target {
    /// An endpoint of the environment variables that all programs with OpenTelemetry have in common.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    pub fn of_environment(url: Option<&str>) -> Result<Target, String> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let url = url.map(str::to_owned).or_else(|| set("OTEL_EXPORTER_OTLP_ENDPOINT"));
        let url = url.ok_or("no endpoint: name it on the command line, or as `telemetry: {endpoint: URL}` in the config, or in OTEL_EXPORTER_OTLP_ENDPOINT")?;
        let headers = set("OTEL_EXPORTER_OTLP_HEADERS").map_or(Ok(Vec::new()), |text| pairs(&text))?;
        Ok(Target {
            base: Endpoint::new(url.trim()).map_err(|error| error.to_string())?.as_str().to_owned(),
            headers,
            signals: Signal::ALL.into(),
        })
    }

    /// The endpoint of a config.
    ///
    /// # Errors
    /// When there is none, or a variable for its headers is missing.
    pub fn of_config(config: &TelemetryConfig) -> Result<Target, String> {
        let endpoint = config.endpoint.as_ref().ok_or("the config names no `telemetry.endpoint`")?;
        let get = |name: &str| std::env::var(name).ok();
        let one = |(name, value): (&str, &str)| {
            let value = expanded(value, get).map_err(|why| format!("telemetry.headers: {name}: {why}"))?;
            Ok((name.to_owned(), value))
        };
        let headers =
            config.headers.iter().flat_map(Headers::iter).map(one).collect::<Result<_, String>>()?;
        Ok(Target { base: endpoint.as_str().to_owned(), headers, signals: config.signals() })
    }

    /// The same endpoint where its headers are not needed, or not known.
    pub fn without_headers(config: &TelemetryConfig) -> Option<Target> {
        let base = config.endpoint.as_ref()?.as_str().to_owned();
        Some(Target { base, headers: Vec::new(), signals: config.signals() })
    }

    pub(super) fn url(&self, signal: Signal) -> String {
        format!("{}{}", self.base, signal.path())
    }
}

/// `key=value,key=value`, as OpenTelemetry writes headers in the environment.
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let one = |pair: &str| {
        // Not what it contains: it may be a secret.
        let (name, value) =
            pair.split_once('=').ok_or("OTEL_EXPORTER_OTLP_HEADERS must be name=value,name=value")?;
        Ok((name.trim().to_owned(), decoded(value.trim())))
    };
    text.split(',').filter(|pair| !pair.trim().is_empty()).map(one).collect()
}

/// Values are percent-encoded there.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(part.bytes().skip(2));
            }
            None => {
                bytes.push(b'%');
                bytes.extend(part.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text with `${NAME}` replaced by that environment variable.
///
/// # Errors
/// Names the variable that is not set.
pub(super) fn expanded(text: &str, get: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut found = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or("`${` without `}`")?;
        found.push_str(before);
        found.push_str(&get(name).ok_or_else(|| format!("the environment variable {name} is not set"))?);
        rest = behind;
    }
    Ok(found + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_environment_are_decoded() {
        let found = pairs("Authorization=Basic%20YTpi, x-team = a%2Cb,odd=5%,").unwrap();
        let expected = [("Authorization", "Basic YTpi"), ("x-team", "a,b"), ("odd", "5%")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(!pairs("Basic secret").unwrap_err().contains("secret"));
    }

    #[test]
    fn variables_are_replaced_once_and_must_be_set() {
        let get = |name: &str| (name == "KEY").then(|| "a${KEY}b".to_owned());
        assert_eq!(expanded("Bearer ${KEY}$", get).unwrap(), "Bearer a${KEY}b$");
        assert_eq!(expanded("${OTHER}", get).unwrap_err(), "the environment variable OTHER is not set");
        assert!(expanded("${KEY", get).is_err());
    }
}
