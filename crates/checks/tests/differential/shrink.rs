//! Makes a text smaller for as long as it still shows the same.

/// How often a smaller text is tried.
const MAX_TRIES: usize = 250;

/// The smallest text that was found for which something holds.
pub(crate) fn smallest(text: &str, mut holds: impl FnMut(&str) -> bool) -> String {
    let mut best = text.to_owned();
    let mut tries = 0;
    for separators in [&['\n'][..], &[';', '\n', '|', '&'], &[' ', '\n', '\t', ';'], &[]] {
        let mut at = 0;
        loop {
            let parts = parts(&best, separators);
            if at >= parts.len() || tries >= MAX_TRIES {
                break;
            }
            let (mut before, mut after) = (String::new(), String::new());
            before.extend(parts.iter().take(at).copied());
            after.extend(parts.iter().skip(at + 1).copied());
            let shorter = before + &after;
            tries += 1;
            if !shorter.trim().is_empty() && holds(&shorter) {
                best = shorter;
            } else {
                at += 1;
            }
        }
    }
    best
}

/// The parts of a text, each with the separator after it; single characters if there are no separators.
fn parts<'t>(text: &'t str, separators: &[char]) -> Vec<&'t str> {
    if separators.is_empty() {
        return text.split_inclusive(|_| true).collect();
    }
    text.split_inclusive(separators).collect()
}
