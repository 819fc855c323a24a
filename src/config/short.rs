//! Texts of which there are many and most are short, such as patterns: musl's `memcpy` takes thrice as long for ten letters as a
//! copy in pieces whose length the compiler knows.

use std::fmt;

use serde::{Deserializer, de};

/// Reads a text.
pub(crate) fn read_short<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    struct Short;
    impl de::Visitor<'_> for Short {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E>(self, text: &str) -> Result<String, E> {
            Ok(copy_short(text))
        }

        fn visit_string<E>(self, text: String) -> Result<String, E> {
            Ok(text)
        }
    }
    deserializer.deserialize_string(Short)
}

/// A copy, made of pieces whose length the compiler knows.
fn copy_short(text: &str) -> String {
    let mut copy = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((piece, more)) = rest.split_at_checked(8) {
        copy.push_str(piece);
        rest = more;
    }
    if let Some((piece, more)) = rest.split_at_checked(4) {
        copy.push_str(piece);
        rest = more;
    }
    if let Some((piece, more)) = rest.split_at_checked(2) {
        copy.push_str(piece);
        rest = more;
    }
    if let Some((piece, more)) = rest.split_at_checked(1) {
        copy.push_str(piece);
        rest = more;
    }
    // What comes after a letter that is not ASCII.
    if !rest.is_empty() {
        copy.push_str(rest);
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_copy_is_the_same(text in ".{0,40}") {
            proptest::prop_assert_eq!(copy_short(&text), text);
        }
    }
}
