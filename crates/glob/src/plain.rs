//! A quick look at the bytes of a pattern. It shows of most patterns that they are valid, and what a match starts with. All patterns
//! of a config are looked at in every event.

use super::literal::FirstCharacters;
use super::program::MAX_DEPTH;

/// Some ASCII characters.
pub(super) struct ByteSet([bool; 256]);

impl ByteSet {
    #[expect(clippy::indexing_slicing, reason = "a byte is below 256, and the compiler evaluates this")]
    const fn of(mut members: &[u8]) -> ByteSet {
        let mut set = [false; 256];
        while let [first, rest @ ..] = members {
            set[*first as usize] = true;
            members = rest;
        }
        ByteSet(set)
    }

    #[inline]
    fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).is_some_and(|is_member| *is_member)
    }

    /// The position of the next of these characters, or the end.
    #[inline]
    pub(super) fn next(&self, bytes: &[u8], at: usize) -> usize {
        let rest = bytes.get(at..).unwrap_or_default();
        rest.iter().position(|byte| self.has(*byte)).map_or(bytes.len(), |found| at + found)
    }
}

/// The characters by which a pattern is divided into its parts, with the comma between alternatives and without it.
pub(super) static STRUCTURE: ByteSet = ByteSet::of(b"{,}[\\");
pub(super) static BRACES: ByteSet = ByteSet::of(b"{}[\\");
/// The characters that end the literal start of a pattern.
pub(super) static ENDS_LITERAL: ByteSet = ByteSet::of(b"*?[{\\}");

/// What the matches of a plain pattern start with. A plain pattern has no escape and no range, and each brace has its counterpart, so
/// it is valid. Its first `head` bytes are literal.
pub(super) fn starts(pattern: &str, head: usize) -> Option<FirstCharacters> {
    let bytes = pattern.as_bytes();
    let mut starts = FirstCharacters::NONE;
    let mut add_start = |at: usize| match bytes.get(at..).unwrap_or_default() {
        // Its alternatives are added.
        [b'{', ..] => {}
        // An alternative is empty: anything may follow.
        [b',', ..] => starts = FirstCharacters::ANY,
        rest => starts = starts.with(rest),
    };
    add_start(0);
    // Whether the alternatives of each open brace are starts of the pattern.
    let mut open = [false; MAX_DEPTH];
    let mut depth = 0;
    let mut is_start = head == 0;
    let mut at = head;
    loop {
        let is_in_start = depth > 0 && open.first() == Some(&true);
        let next = if is_in_start { STRUCTURE.next(bytes, at) } else { BRACES.next(bytes, at) };
        is_start &= next == at;
        at = next + 1;
        match bytes.get(next) {
            None => break,
            Some(b'{') => {
                *open.get_mut(depth)? = is_start;
                depth += 1;
            }
            Some(b'}') => {
                depth = depth.checked_sub(1)?;
                is_start = false;
                continue;
            }
            Some(b',') => is_start = depth > 0 && open.get(depth - 1) == Some(&true),
            Some(b'[') => {
                at = end_of_plain_class(bytes, at)?;
                is_start = false;
            }
            Some(_) => return None,
        }
        if is_start {
            add_start(at);
        }
    }
    if depth == 0 { Some(starts) } else { None }
}

/// The position after a class without ranges and escapes, which does not start with a special character.
fn end_of_plain_class(pattern: &[u8], at: usize) -> Option<usize> {
    static ENDS: ByteSet = ByteSet::of(b"]-\\");
    if matches!(pattern.get(at), None | Some(b']' | b'!' | b'^' | b'[')) {
        return None;
    }
    let end = ENDS.next(pattern, at);
    if pattern.get(end) == Some(&b']') { Some(end + 1) } else { None }
}
