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
    while copy_piece::<8>(&mut copy, &mut rest) {}
    copy_piece::<4>(&mut copy, &mut rest);
    copy_piece::<2>(&mut copy, &mut rest);
    copy_piece::<1>(&mut copy, &mut rest);
    // What comes after a letter that is not ASCII.
    if !rest.is_empty() {
        copy.push_str(rest);
    }
    copy
}

/// Copies so many bytes, if there are as many and they are whole letters.
#[inline]
fn copy_piece<const LENGTH: usize>(copy: &mut String, rest: &mut &str) -> bool {
    let Some((piece, more)) = rest.split_at_checked(LENGTH) else { return false };
    copy.push_str(piece);
    *rest = more;
    true
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
