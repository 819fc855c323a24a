//! YAML as a tree with positions. `granit-parser` parses the syntax. The meaning of its events is decided here, once for valid
//! and for invalid configs: scalars by the core schema, anchors and `<<`, limits on size.

mod build;
mod deserialize;
mod emit;
mod error;
mod located;
mod tree;

pub use deserialize::{check_keys, fields_of, from_entries};
pub use emit::emit;
pub use error::{SyntaxError, ValueError};
pub use located::Located;
pub use tree::{MapEntry, Node, Position, SOURCE_OF_ITEM, Span, Spanned, Text};

/// Reads one document. An empty text is `Null`.
///
/// # Errors
/// Names the first position where the text is not YAML, or not YAML that is accepted.
pub fn read(text: &str) -> Result<Spanned<Node>, SyntaxError> {
    read_source(text, 0)
}

/// Like `read`, for one of several files.
///
/// # Errors
/// As for one.
pub fn read_source(text: &str, source: usize) -> Result<Spanned<Node>, SyntaxError> {
    build::Builder::of(source).read(without_bom(text))
}

/// A file may start with a byte order mark, which is not part of its content.
pub fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads one document as plain values, for files of other programs.
pub fn read_value(text: &str) -> Option<serde_json::Value> {
    serde::Deserialize::deserialize(&read(text).ok()?).ok()
}

#[cfg(test)]
mod tests;
