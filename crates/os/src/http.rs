//! One HTTP request. Proxies come from the environment, and certificates are checked with the system's store.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

use crate::{environment, process};

/// An answer is never this large.
const MAX_BYTES: u64 = 1 << 20;

/// How often a request checks for a signal to us.
const POLL: Duration = Duration::from_millis(50);

const USER_AGENT: &str = concat!("conclaude/", env!("CARGO_PKG_VERSION"));

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpAnswer {
    pub status: u16,
    /// The value of the header `Retry-After`.
    pub retry_after: Option<String>,
    pub location: Option<String>,
    pub body: String,
}

/// Why there is no answer, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub what: String,
    pub is_transient: bool,
}

impl Failure {
    fn transient(what: String) -> Failure {
        Failure { what, is_transient: true }
    }

    fn permanent(what: impl ToString) -> Failure {
        Failure { what: what.to_string(), is_transient: false }
    }
}

/// Posts a body, with this timeout for the answer. Redirects are not followed: headers may hold secrets.
///
/// # Errors
/// When no answer comes in time.
pub fn post(
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
    timeout: Duration,
) -> Result<HttpAnswer, Failure> {
    process::note_stop_signals();
    let post = PostRequest {
        url: url.to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: body.to_owned(),
        timeout,
    };
    let (sender, receiver) = mpsc::channel();
    // In a thread, so that a signal to us does not wait for it.
    std::thread::spawn(move || sender.send(post.send()));
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(signal) = process::stop_signal() {
                    return Err(Failure::permanent(format!("interrupted by {signal}")));
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::permanent("internal error: the request has no result"));
            }
        }
    }
}

struct PostRequest {
    url: String,
    headers: Vec<(String, String)>,
    body: String,
    timeout: Duration,
}

impl PostRequest {
    fn send(&self) -> Result<HttpAnswer, Failure> {
        let agent = agent(&self.url, self.timeout)?;
        let mut request = agent.post(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let failure = |error| describe(&self.url, self.timeout, error);
        let mut answer = request.send(&self.body).map_err(failure)?;
        let header = |name: &str| {
            let value = answer.headers().get(name)?.to_str().ok()?.trim();
            if value.is_empty() { None } else { Some(value.to_owned()) }
        };
        let (retry_after, location) = (header("retry-after"), header("location"));
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(MAX_BYTES).read_to_vec().map_err(failure)?;
        let body = String::from_utf8(body)
            .map_err(|_| Failure::permanent("the answer cannot be read: it is not UTF-8"))?;
        Ok(HttpAnswer { status, retry_after, location, body })
    }
}

fn agent(url: &str, timeout: Duration) -> Result<Agent, Failure> {
    let uri = url.parse::<Uri>().ok();
    let Some(uri) = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https"))) else {
        let url = without_secrets(url);
        let what = format!("cannot reach {url}: it is not a URL that starts with https:// or http://");
        return Err(Failure::permanent(what));
    };
    let proxy = match proxy_of(&uri, environment::text) {
        // The URL of a proxy may hold a password, so it is not repeated.
        Some((name, proxy)) => Some(Proxy::new(&proxy).map_err(|_| {
            let url = without_secrets(url);
            Failure::permanent(format!("cannot reach {url}: {name} is not the URL of a proxy"))
        })?),
        None => None,
    };
    // Without its bundled certificates, `ureq` leaves this choice to us. The first one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(USER_AGENT)
        .proxy(proxy)
        .tls_config(tls);
    Ok(config.build().into())
}

/// The variable that names the proxy for a URL, and its value. As for curl, the variable depends on the scheme, and a host of
/// `NO_PROXY` includes its subdomains.
fn proxy_of(uri: &Uri, variable: impl Fn(&str) -> Option<String>) -> Option<(&'static str, String)> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let host = uri.host()?.trim_matches(['[', ']']).to_ascii_lowercase();
    let excluded = set("no_proxy").or_else(|| set("NO_PROXY")).unwrap_or_default().to_ascii_lowercase();
    let is_excluded = excluded.split([',', ' ']).any(|name| {
        let name = name.trim_start_matches("*.").trim_start_matches('.').trim_matches(['[', ']']);
        name == "*" || (!name.is_empty() && is_below(&host, name))
    });
    if is_excluded {
        return None;
    }
    let names = if uri.scheme_str() == Some("https") {
        ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    } else {
        ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
    };
    names.into_iter().find_map(|name| Some((name, set(name)?)))
}

/// Whether a host is this domain or one below it.
fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// A URL for messages and records: without user, password, query and fragment.
#[must_use]
pub fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

fn describe(url: &str, timeout: Duration, error: ureq::Error) -> Failure {
    let (full, url) = (url, without_secrets(url));
    let permanent = |why: &str| Failure::permanent(format!("cannot reach {url}: {why}"));
    let transient = |why: &str| Failure::transient(format!("cannot reach {url}: {why}"));
    match error {
        ureq::Error::Timeout(_) => Failure::transient(format!("no answer within {} s", timeout.as_secs())),
        ureq::Error::BodyExceedsLimit(_) => Failure::permanent("the answer is too long"),
        // Without a network, the host is not found either.
        ureq::Error::HostNotFound => transient("the host was not found"),
        ureq::Error::ConnectionFailed => transient("the connection failed"),
        ureq::Error::ConnectProxyFailed(why) => permanent(&format!("the proxy did not connect: {why}")),
        ureq::Error::Rustls(error) => permanent(&describe_tls(&error)),
        ureq::Error::Io(error) => {
            let inner = error.get_ref();
            match inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(error) => permanent(&describe_tls(error)),
                None => transient(&error.to_string()),
            }
        }
        other => permanent(&other.to_string().replace(full, &url)),
    }
}

/// The TLS problem, and a fix if one is known.
fn describe_tls(error: &rustls::Error) -> String {
    let hint = match error {
        rustls::Error::InvalidMessage(_) => {
            "; does the server use TLS? Without it the URL starts with http://"
        }
        rustls::Error::InvalidCertificate(_) | rustls::Error::General(_) | rustls::Error::Other(_) => {
            "; if the certificate is from your own authority, set SSL_CERT_FILE=FILE"
        }
        _ => "",
    };
    format!("{error}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let get = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        proxy_of(&url.parse().unwrap(), get).map(|(_, proxy)| proxy)
    }

    #[test]
    fn no_secret_of_a_url_is_shown() {
        for (url, shown) in [
            ("https://example.com/a/b", "https://example.com/a/b"),
            ("https://user:pa@ss@example.com:8443/a?key=secret#x", "https://example.com:8443/a"),
            ("user:secret@example.com", "example.com"),
            ("http://example.com?key=a/b@c", "http://example.com"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }

    #[test]
    fn the_proxy_depends_on_the_scheme() {
        let variables =
            [("HTTPS_PROXY", "http://secure"), ("http_proxy", "http://plain"), ("ALL_PROXY", "http://all")];
        assert_eq!(proxy("https://example.com/x", &variables).as_deref(), Some("http://secure"));
        assert_eq!(proxy("http://example.com/x", &variables).as_deref(), Some("http://plain"));
        assert_eq!(proxy("http://example.com/x", &variables[2..]).as_deref(), Some("http://all"));
        assert_eq!(
            proxy("https://example.com/x", &[("http_proxy", "http://plain"), ("https_proxy", " ")]),
            None
        );
    }

    #[test]
    fn hosts_of_no_proxy_and_those_below_them_are_reached_directly() {
        let is_direct = |host: &str, excluded: &str| {
            let variables = [("HTTP_PROXY", "http://plain"), ("NO_PROXY", excluded)];
            proxy(&format!("http://{host}:4318/v1/logs"), &variables).is_none()
        };
        for (host, excluded, expected) in [
            ("example.com", "example.com", true),
            ("otel.example.com", "localhost, Example.com", true),
            ("otel.example.com", ".example.com", true),
            ("otel.example.com", "*.example.com", true),
            ("badexample.com", "example.com", false),
            ("example.com", "otel.example.com", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("[::1]", "::1", true),
            ("example.com", "*", true),
            ("example.com", ",", false),
        ] {
            assert_eq!(is_direct(host, excluded), expected, "{host} {excluded}");
        }
    }
}
