//! Adds a file or a pack to `extends` in the text of a config. Everything else stays unchanged, including comments.

use std::path::Path;

use thiserror::Error;

use super::{ConclaudeConfig, ConfigError};
use crate::yaml::{self, MapEntry, Node, Spanned};

/// Why a text cannot be changed.
#[derive(Debug, Error)]
pub enum ExtensionError {
    #[error("{0}")]
    Invalid(ConfigError),
    #[error("the file is written in a way that is not edited: add {0} to `extends` by hand")]
    ByHand(String),
}

/// The text with one more entry of `extends`. `None` if it already has that entry.
///
/// # Errors
/// If the text is not a valid config, or is written in a way that the entry cannot be added to.
pub fn with_extended(text: &str, path: &Path, name: &str) -> Result<Option<String>, ExtensionError> {
    let config = ConclaudeConfig::parse(text, path).map_err(ExtensionError::Invalid)?;
    if config.extended().any(|one| one == name) {
        return Ok(None);
    }
    let entry = format!("\"{name}\"");
    let by_hand = || ExtensionError::ByHand(entry.clone());
    let (at, added) = insertion(text, &entry).ok_or_else(by_hand)?;
    let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else { return Err(by_hand()) };
    let changed = format!("{before}{added}{after}");
    let is_added = |config: ConclaudeConfig| config.extended().any(|one| one == name);
    if ConclaudeConfig::parse(&changed, path).is_ok_and(is_added) {
        Ok(Some(changed))
    } else {
        Err(by_hand())
    }
}

/// The inserted text and its position in bytes.
fn insertion(text: &str, entry: &str) -> Option<(usize, String)> {
    let plain = yaml::without_bom(text);
    let mark = text.len() - plain.len();
    let tree = yaml::read(plain).ok()?;
    let entries = match &tree.value {
        Node::Map(entries) if !plain.get(tree.span.start..)?.starts_with('{') => entries.as_ref(),
        Node::Null => &[],
        _ => return None,
    };
    let line_end = line_end(plain);
    let (at, added) = match entries.iter().find(|(key, _)| key.value == "extends") {
        Some((key, value)) => match &value.value {
            Node::List(items) => in_list(plain, value, items, entry)?,
            Node::Null => (key.span.end + plain.get(key.span.end..)?.find(':')? + 1, format!(" [{entry}]")),
            _ => return None,
        },
        None => {
            let at = first_line(plain, entries);
            let end = if at > 0 && !plain.get(..at)?.ends_with('\n') { line_end } else { "" };
            (at, format!("{end}extends: [{entry}]{line_end}"))
        }
    };
    Some((mark + at, added))
}

fn in_list(
    text: &str,
    list: &Spanned<Node>,
    items: &[Spanned<Node>],
    entry: &str,
) -> Option<(usize, String)> {
    let is_flow = text.get(list.span.start..)?.starts_with('[');
    let Some(last) = items.last() else {
        return if is_flow { Some((list.span.start + 1, entry.to_owned())) } else { None };
    };
    if is_flow {
        return Some((last.span.end, format!(", {entry}")));
    }
    let start = text.get(..last.span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let (indent, _) = text.get(start..)?.split_once('-')?;
    let line_end = line_end(text);
    let end = text.get(last.span.end..)?.find(line_end).map_or(text.len(), |at| last.span.end + at);
    if indent.trim().is_empty() { Some((end, format!("{line_end}{indent}- {entry}"))) } else { None }
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The start of the first section, with the comment directly above it. A comment at the top of the file may belong to the file or
/// to that section, so nothing is inserted between them.
fn first_line(text: &str, entries: &[MapEntry]) -> usize {
    let Some((key, _)) = entries.first() else { return text.len() };
    let before = text.get(..key.span.start).unwrap_or_default();
    let first = before.rfind('\n').map_or(0, |at| at + 1);
    let mut start = first;
    while let Some(above) = text.get(..start).and_then(|above| above.strip_suffix('\n')) {
        let line = above.rfind('\n').map_or(0, |at| at + 1);
        if !above.get(line..).unwrap_or_default().starts_with('#') {
            return start;
        }
        start = line;
    }
    if start < first { text.len() } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str) -> String {
        with_extended(text, Path::new("x"), "pack:secrets").unwrap().unwrap()
    }

    #[test]
    fn everything_else_in_the_file_stays_as_it_is() {
        for (text, expected) in [
            ("", "extends: [\"pack:secrets\"]\n"),
            ("# only a comment", "# only a comment\nextends: [\"pack:secrets\"]\n"),
            ("maxBlocks: 3 # three\n", "extends: [\"pack:secrets\"]\nmaxBlocks: 3 # three\n"),
            ("# header\nmaxBlocks: 3\n", "# header\nmaxBlocks: 3\nextends: [\"pack:secrets\"]\n"),
            ("# How often\nmaxBlocks: 3", "# How often\nmaxBlocks: 3\nextends: [\"pack:secrets\"]\n"),
            ("maxBlocks: 3\r\n", "extends: [\"pack:secrets\"]\r\nmaxBlocks: 3\r\n"),
            (
                "extends:\r\n  - a.yaml\r\nmaxBlocks: 3\r\n",
                "extends:\r\n  - a.yaml\r\n  - \"pack:secrets\"\r\nmaxBlocks: 3\r\n",
            ),
            (
                "# header\n\n# of it\nmaxBlocks: 3\n",
                "# header\n\nextends: [\"pack:secrets\"]\n# of it\nmaxBlocks: 3\n",
            ),
            ("extends: [] # none\n", "extends: [\"pack:secrets\"] # none\n"),
            ("extends: # none\nmaxBlocks: 3\n", "extends: [\"pack:secrets\"] # none\nmaxBlocks: 3\n"),
            ("extends: [a.yaml, 'b.yaml'] # x\n", "extends: [a.yaml, 'b.yaml', \"pack:secrets\"] # x\n"),
            (
                "extends:\n  - a.yaml # x\n  # y\nmaxBlocks: 3",
                "extends:\n  - a.yaml # x\n  - \"pack:secrets\"\n  # y\nmaxBlocks: 3",
            ),
            ("extends:\n- a.yaml", "extends:\n- a.yaml\n- \"pack:secrets\""),
            ("\u{feff}maxBlocks: 3\n", "\u{feff}extends: [\"pack:secrets\"]\nmaxBlocks: 3\n"),
        ] {
            assert_eq!(added(text), expected);
        }
    }

    #[test]
    fn what_is_there_already_or_cannot_be_edited_is_left() {
        let of = |text: &str| with_extended(text, Path::new("x"), "pack:secrets");
        assert!(of("extends: ['pack:secrets']\n").unwrap().is_none());
        assert!(matches!(of("{maxBlocks: 3}\n"), Err(ExtensionError::ByHand(_))));
        assert!(matches!(of("maxBlocks: x\n"), Err(ExtensionError::Invalid(_))));
    }
}
