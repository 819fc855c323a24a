//! Percent-encoding of addresses.

use std::borrow::Cow;

/// A text with `%20` and the like decoded. A `%` without two hexadecimal digits after it stays. Bytes that are not UTF-8 become `�`.
#[must_use]
pub fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match encoded_byte(after) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn encoded_byte(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| digits.get(at).and_then(|digit| char::from(*digit).to_digit(16));
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn two_hexadecimal_digits_are_a_byte_and_nothing_else_is() {
        for (text, expected) in [
            ("a b", "a b"),
            ("a%20b", "a b"),
            ("%2e%2E/%C3%BC", "../ü"),
            ("100%", "100%"),
            ("%2", "%2"),
            ("%zz%41", "%zzA"),
            ("%+f%-1% 1", "%+f%-1% 1"),
            ("%%41", "%A"),
            ("a%FFb", "a\u{fffd}b"),
            ("%ü", "%ü"),
        ] {
            assert_eq!(percent_decoded(text), expected, "{text}");
        }
    }
}
