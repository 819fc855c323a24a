//! The report as one page. Its script and its style are ours and known by their hash. Everything else is data.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

use sha2::{Digest, Sha256};

use super::model::Report;
use conclaude_core::text::escaped_json;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(
    include_str!("page/text.js"),
    include_str!("page/filter.js"),
    include_str!("page/records.js"),
    include_str!("page/timeline.js"),
    include_str!("page/sections.js"),
    include_str!("page/usage.js"),
    include_str!("page/controls.js"),
);

/// Writes the page. It may be large, so it is never in memory as a whole.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_page(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    // The page loads nothing, and runs only the script with this hash.
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    let mut rest = PAGE;
    // In one pass, so that placeholders in the data are not replaced.
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, after)| Some((before, after.split_once("}}")?)))
    {
        to.write_all(before.as_bytes())?;
        match name {
            "CSP" => to.write_all(policy.as_bytes())?,
            "STYLE" => to.write_all(STYLE.as_bytes())?,
            "DATA" => write_escaped(report, to, in_script)?,
            _ => to.write_all(SCRIPT.as_bytes())?,
        }
        rest = after;
    }
    to.write_all(rest.as_bytes())
}

/// Writes all the data on one line.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_json(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    write_escaped(report, to, escaped_json)?;
    to.write_all(b"\n")
}

fn write_escaped(report: &Report, to: &mut dyn Write, escape: fn(&str) -> String) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(64 << 10, to);
    serde_json::to_writer(EscapingWriter { to: &mut to, escape }, report)?;
    to.flush()
}

/// Escapes JSON while it is written. The serializer gives whole characters.
struct EscapingWriter<W> {
    to: W,
    escape: fn(&str) -> String,
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'<' | b'>' | b'&');
        if json.iter().all(is_plain) {
            self.to.write_all(json)?;
        } else {
            let text = std::str::from_utf8(json).map_err(|_| io::ErrorKind::InvalidData)?;
            self.to.write_all((self.escape)(text).as_bytes())?;
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// JSON in which nothing can end the element that it is in, or start another.
fn in_script(json: &str) -> String {
    let json = escaped_json(json);
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    let mut rest = json.as_str();
    // Invisible characters, such as line separators, are escaped already.
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'<' | b'>' | b'&')) {
        let (before, after) = rest.split_at(at);
        safe.push_str(before);
        let mut characters = after.chars();
        if let Some(c) = characters.next() {
            let _ = write!(safe, "\\u{:04x}", u32::from(c));
        }
        rest = characters.as_str();
    }
    safe.push_str(rest);
    safe
}

/// The hash of an inline script or style, in base64.
fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut found = String::new();
    for three in digest.chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let digit = usize::try_from((bits >> (18 - 6 * at)) & 63).unwrap_or_default();
            let is_filled = at <= three.len() as u32;
            match DIGITS.get(digit) {
                Some(byte) if is_filled => found.push(char::from(*byte)),
                _ => found.push('='),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_element() {
        let hostile = "</script><script>alert(1)</script><!--&\u{2028}";
        let json = serde_json::to_string(hostile).unwrap();
        let safe = in_script(&json);
        assert!(!safe.contains(['<', '>', '&', '\u{2028}']), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), hostile);
    }

    #[test]
    fn the_hash_is_that_of_the_policy() {
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn the_template_is_small_and_has_no_script_of_others() {
        assert!(PAGE.len() + STYLE.len() + SCRIPT.len() < 96_000);
        for (name, text) in [("script", SCRIPT), ("page", PAGE)] {
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "http://",
                "https://",
                "onclick=\"",
            ] {
                assert!(!text.contains(forbidden), "{name}: {forbidden}");
            }
        }
    }
}
