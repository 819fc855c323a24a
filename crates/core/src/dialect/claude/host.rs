//! The host of a URL, read strictly: what two readers could understand differently has none.

use serde_json::{Map, Value};

/// The host of the input's `url`, in lower case.
pub fn of(input: &Map<String, Value>) -> Option<String> {
    host(input.get("url")?.as_str()?)
}

fn host(url: &str) -> Option<String> {
    let url = url.trim();
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end)?;
    // Who is logged in where is what such a URL hides; a backslash is a slash to some.
    if authority.contains(['@', '\\', '%']) {
        return None;
    }
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) => return None,
        None => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_name =
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    is_name.then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_everybody_reads_as_one() {
        for (url, expected) in [
            ("https://example.com/a?b#c", Some("example.com")),
            ("HTTP://Example.COM:8080", Some("example.com")),
            ("https://example.com.", Some("example.com")),
            ("https://example.com?@evil.org", Some("example.com")),
            ("https://example.com@evil.org/", None),
            ("https://evil.org\\@example.com/", None),
            ("https://example.com:80@evil.org", None),
            ("https://ex%61mple.com", None),
            ("https://exämple.com", None),
            ("ftp://example.com", None),
            ("example.com", None),
            ("https:///x", None),
        ] {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        }
    }
}
