//! The files that a text names as `@path`.

/// Characters that close a sentence or a quotation are not part of a path.
const CLOSING: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`'];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// A path, without its `@`.
    File(&'a str),
}

/// Splits a text into its pieces. An `@` inside a word is text, and `@@` at its start is an `@`.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let (mut start, mut opens) = (0, true);
    let mut from = 0;
    while let Some(c) = text.get(from..).and_then(|rest| rest.chars().next()) {
        let next = from + c.len_utf8();
        if c != '@' || !opens {
            opens = c.is_whitespace() || "([{\"'`".contains(c);
            from = next;
            continue;
        }
        opens = false;
        let after = text.get(next..).unwrap_or_default();
        found.push(Piece::Text(text.get(start..from).unwrap_or_default()));
        if after.starts_with('@') {
            // One of the two is left out.
            (start, from) = (next, next + 1);
            continue;
        }
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        let path = after.get(..end).unwrap_or_default().trim_end_matches(CLOSING);
        found.push(if path.is_empty() { Piece::Text("@") } else { Piece::File(path) });
        from = next + path.len();
        start = from;
    }
    found.push(Piece::Text(text.get(start..).unwrap_or_default()));
    found.retain(|piece| *piece != Piece::Text(""));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_with_its_word_and_an_address_is_none() {
        let text = "See @docs/a.md, (@b) and me@example.com; @@c is @ c. @";
        assert_eq!(
            pieces(text),
            [
                Piece::Text("See "),
                Piece::File("docs/a.md"),
                Piece::Text(", ("),
                Piece::File("b"),
                Piece::Text(") and me@example.com; "),
                Piece::Text("@c is "),
                Piece::Text("@"),
                Piece::Text(" c. "),
                Piece::Text("@"),
            ]
        );
    }
}
