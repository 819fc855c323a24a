//! Parses the bytes of a terminal into keys.

#![cfg_attr(not(unix), allow(dead_code, reason = "there keys come as such"))]

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Backspace,
    Esc,
    /// Ctrl-C.
    Interrupt,
    Other,
}

const ESC: u8 = 0x1b;

/// The keys of these bytes, and the bytes of an incomplete key.
pub(super) fn keys(mut bytes: &[u8]) -> (Vec<Key>, &[u8]) {
    let mut keys = Vec::new();
    while let Some((key, rest)) = next(bytes) {
        keys.push(key);
        bytes = rest;
    }
    (keys, bytes)
}

/// The key of an incomplete rest if nothing follows: Esc starts many other keys.
pub(super) fn last_keys(bytes: &[u8]) -> Vec<Key> {
    match bytes.first() {
        None => Vec::new(),
        Some(&ESC) if bytes.len() == 1 => vec![Key::Esc],
        Some(_) => vec![Key::Other],
    }
}

fn next(bytes: &[u8]) -> Option<(Key, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    match *first {
        ESC => sequence(rest),
        b'\r' | b'\n' => Some((Key::Enter, rest)),
        0x7f | 0x08 => Some((Key::Backspace, rest)),
        0x03 => Some((Key::Interrupt, rest)),
        0..0x20 => Some((Key::Other, rest)),
        0x20..0x80 => Some((Key::Char(char::from(*first)), rest)),
        _ => character(bytes),
    }
}

/// What follows Esc.
fn sequence(bytes: &[u8]) -> Option<(Key, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    match first {
        b'[' => {
            let end = rest.iter().position(|byte| (0x40..0x7f).contains(byte))?;
            let (parameters, rest) = rest.split_at_checked(end)?;
            let (last, rest) = rest.split_first()?;
            Some((named(parameters, *last), rest))
        }
        b'O' => rest.split_first().map(|(last, rest)| (named(b"", *last), rest)),
        // Two of them, or a key with Alt.
        &ESC => Some((Key::Esc, bytes)),
        _ => Some((Key::Other, rest)),
    }
}

/// A key by the end of its sequence, with any modifiers.
fn named(parameters: &[u8], last: u8) -> Key {
    let number = parameters.split(|byte| *byte == b';').next().unwrap_or_default();
    match (last, number) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'H', _) | (b'~', b"1" | b"7") => Key::Home,
        (b'F', _) | (b'~', b"4" | b"8") => Key::End,
        (b'~', b"5") => Key::PageUp,
        (b'~', b"6") => Key::PageDown,
        (b'M', b"") => Key::Enter,
        _ => Key::Other,
    }
}

fn character(bytes: &[u8]) -> Option<(Key, &[u8])> {
    let length = match bytes.first()? {
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => 1,
    };
    let (own, rest) = bytes.split_at_checked(length)?;
    let c = std::str::from_utf8(own).ok().and_then(|text| text.chars().next());
    Some((c.map_or(Key::Other, Key::Char), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Key> {
        let (mut found, rest) = keys(bytes);
        found.extend(last_keys(rest));
        found
    }

    #[test]
    fn keys_of_common_terminals() {
        assert_eq!(all(b"\x1b[A\x1bOB\x1b[5~\x1b[6~"), [Key::Up, Key::Down, Key::PageUp, Key::PageDown]);
        assert_eq!(all(b"\x1b[H\x1b[F\x1b[1~\x1bOF"), [Key::Home, Key::End, Key::Home, Key::End]);
        assert_eq!(all(b"\x1b[1;5A\x1b[3~\x1b[15~"), [Key::Up, Key::Other, Key::Other]);
        assert_eq!(
            all("q\r\u{7f}\u{3}é語😀".as_bytes()),
            [
                Key::Char('q'),
                Key::Enter,
                Key::Backspace,
                Key::Interrupt,
                Key::Char('é'),
                Key::Char('語'),
                Key::Char('😀')
            ]
        );
    }

    #[test]
    fn esc_is_a_key_where_nothing_follows() {
        assert_eq!(all(b"\x1b"), [Key::Esc]);
        assert_eq!(all(b"\x1b\x1b"), [Key::Esc, Key::Esc]);
        assert_eq!(all(b"\x1bf"), [Key::Other], "Alt-f");
        assert_eq!(keys(b"x\x1b[1;"), (vec![Key::Char('x')], &b"\x1b[1;"[..]));
        assert_eq!(all(b"x\x1b[1;"), [Key::Char('x'), Key::Other]);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes: Vec<u8>) {
            let (found, rest) = keys(&bytes);
            proptest::prop_assert!(found.len() + rest.len() <= bytes.len() && rest.len() <= bytes.len());
        }
    }
}
