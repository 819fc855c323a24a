//! What a word does beside giving a value: arithmetic that sets a variable, and code that is evaluated later.

use super::syntax::{Piece, Word};

/// The literal parts of a word.
fn literal(word: &Word) -> impl Iterator<Item = &str> {
    word.iter().filter_map(|piece| match piece {
        Piece::Plain(text) | Piece::Quoted(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Whether arithmetic sets a variable: `=` that compares nothing, `++` and `--`.
pub(super) fn assigns(word: &Word) -> bool {
    literal(word).any(|text| {
        let bytes = text.as_bytes();
        let sets = |at: usize| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
            let doubled = at.checked_sub(2).and_then(|at| bytes.get(at)) == Some(&before);
            let compares = matches!(before, b'=' | b'!') || (matches!(before, b'<' | b'>') && !doubled);
            !compares && bytes.get(at + 1) != Some(&b'=')
        };
        text.contains("++") || text.contains("--") || text.match_indices('=').any(|(at, _)| sets(at))
    })
}

/// Whether a literal part holds a substitution: as the index of an array, the shell evaluates it.
pub(super) fn hides_code(word: &Word) -> bool {
    literal(word).any(|text| text.contains("$(") || text.contains("${") || text.contains('`'))
}

/// Builtins that evaluate the index of an array in their arguments, and with it a substitution in quotes.
pub(crate) const EVALUATING: [&str; 15] = [
    "test",
    "[",
    "printf",
    "read",
    "unset",
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
];

/// Whether a text is the index of an array with a substitution in it: `a[$(…)]`.
pub(crate) fn is_evaluated(text: &str) -> bool {
    text.contains('[') && (text.contains("$(") || text.contains('`'))
}

/// The literal parts that hold a substitution.
pub(super) fn hidden(word: &Word) -> impl Iterator<Item = &str> {
    literal(word).filter(|text| is_evaluated(text))
}

/// The names in the literal parts, which arithmetic takes for variables.
pub(super) fn names(word: &Word) -> impl Iterator<Item = &str> {
    let parts = literal(word).flat_map(|text| text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
    parts.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

/// The literal parts, as they are shown.
pub(super) fn shown(word: &Word) -> String {
    literal(word).collect::<Vec<_>>().join("…")
}
