//! Text as one word of a shell.

/// In single quotes.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// In single quotes where it needs them.
#[must_use]
pub fn quoted_if_needed(text: &str) -> String {
    let is_plain =
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@+,".contains(c));
    if is_plain { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word() {
        assert_eq!(quoted("a"), "'a'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        for (text, expected) in
            [("a/b.rs", "a/b.rs"), ("", "''"), ("a b", "'a b'"), ("$x", "'$x'"), ("ä", "'ä'")]
        {
            assert_eq!(quoted_if_needed(text), expected);
        }
    }
}
