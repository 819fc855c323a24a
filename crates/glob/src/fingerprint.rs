//! A quick look at texts, before globs are compared with them.

use super::literal::{FirstCharacters, end_of_alternative};
use super::program::{GlobKind, end_of_alternatives, end_of_class};

/// The pairs of neighbouring characters of some texts, and the first characters of these texts. A glob that spells another pair
/// matches none of the texts. A command is compared with hundreds of rules, and most of them spell the name of another program:
/// its pairs are collected once, and these rules are not compared.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    starts: FirstCharacters,
    /// For each code of a character, the codes that follow it somewhere: one bit for each.
    pairs: [u64; 64],
}

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint { starts: FirstCharacters::NONE, pairs: [0; 64] }
    }
}

/// The code of a byte. Characters with the same code are mixed up, as `a` and `A` are, because some rules ignore case.
fn code(byte: u8) -> usize {
    usize::from(byte & 0x1f | byte >> 1 & 0x20)
}

impl Fingerprint {
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        texts.into_iter().for_each(|text| fingerprint.add(text));
        fingerprint
    }

    pub fn add(&mut self, text: &str) {
        self.starts = self.starts.with_text(text);
        let bytes = text.as_bytes();
        for (first, second) in bytes.iter().zip(bytes.iter().skip(1)) {
            if let Some(followers) = self.pairs.get_mut(code(*first)) {
                *followers |= 1 << code(*second);
            }
        }
    }

    fn has(&self, first: u8, second: u8) -> bool {
        self.pairs.get(code(first)).is_none_or(|followers| followers >> code(second) & 1 == 1)
    }
}

/// Whether the texts lack the first characters of the pattern, or pairs without which it does not match.
pub(super) fn rules_out(pattern: &str, starts: FirstCharacters, kind: GlobKind, texts: &Fingerprint) -> bool {
    !starts.has_one_of(texts.starts) || !(Search { pattern, kind, texts }.sequence(0, false))
}

struct Search<'a> {
    pattern: &'a str,
    kind: GlobKind,
    texts: &'a Fingerprint,
}

impl Search<'_> {
    /// Whether the texts have all pairs of the pattern from here on, or of this alternative.
    fn sequence(&self, mut at: usize, is_alternative: bool) -> bool {
        let mut before = None;
        while let Some(byte) = self.pattern.as_bytes().get(at) {
            let after = match byte {
                b',' | b'}' if is_alternative => return true,
                b'{' if !self.alternatives(at + 1) => return false,
                b'{' => end_of_alternatives(self.pattern, at + 1),
                b'[' => end_of_class(self.pattern, at + 1),
                b'*' | b'?' => at + 1,
                // What follows it is literal, and the pairs with it are not examined.
                b'\\' => at + 2,
                _ if before.is_some_and(|before| !self.texts.has(before, *byte)) => return false,
                _ => {
                    (before, at) = (Some(*byte), at + 1);
                    continue;
                }
            };
            (before, at) = (None, self.after_slash(after));
        }
        true
    }

    /// In a path, `**/` also matches nothing.
    fn after_slash(&self, at: usize) -> usize {
        let is_skipped = self.kind == GlobKind::Path && self.pattern.as_bytes().get(at) == Some(&b'/');
        at + usize::from(is_skipped)
    }

    /// Whether the texts have the pairs of an alternative.
    fn alternatives(&self, mut at: usize) -> bool {
        while !self.sequence(at, true) {
            at = end_of_alternative(self.pattern, at);
            if self.pattern.as_bytes().get(at) != Some(&b',') {
                return false;
            }
            at += 1;
        }
        true
    }
}
