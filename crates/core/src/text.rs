//! Cleaning and truncating untrusted text before it is shown.

use crate::dialect::claude::limits;

mod clean;

pub use clean::clean;
pub use clean::{
    MARKER, SECTION_MARKER, STEP_FILE_MARKER, clean_line, escaped_json, is_invisible, is_plain, on_one_line,
    pictured, printable, printable_line, printable_untagged, revealed, visible,
};

/// Below the limit of Claude Code, because we report ourselves that something is left out.
pub const LIMIT: usize = limits::MAX_ANSWER - 1_000;

/// Bytes as hexadecimal digits, without `format!`: every event does this, and for every file that git tracks.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
    let mut text = vec![0; bytes.len() * 2];
    for (digits, byte) in text.chunks_exact_mut(2).zip(bytes) {
        digits.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    String::from_utf8(text).unwrap_or_default()
}

/// The length as Claude Code counts it, in UTF-16 units.
#[must_use]
pub fn length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The start and the end of a text that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt<'a> {
    pub head: &'a str,
    pub tail: &'a str,
    /// The number of characters between them.
    pub left_out: usize,
}

/// The first and last parts of a text that together have at most `limit` units. `None` if all of it fits.
#[must_use]
pub fn head_and_tail(text: &str, limit: usize) -> Option<Excerpt<'_>> {
    if length(text) <= limit {
        return None;
    }
    let head_end =
        boundary(text.char_indices().map(|(at, c)| (at + c.len_utf8(), c)), limit / 2).unwrap_or(0);
    let tail_start = boundary(text.char_indices().rev(), limit - limit / 2).unwrap_or(text.len());
    let (head, tail) = (text.get(..head_end)?, text.get(tail_start..)?);
    let left_out = text.get(head_end..tail_start).map_or(0, |middle| middle.chars().count());
    Some(Excerpt { head, tail, left_out })
}

/// The last position that `positions` reaches within `limit` units.
fn boundary(positions: impl Iterator<Item = (usize, char)>, limit: usize) -> Option<usize> {
    let mut used = 0;
    positions
        .take_while(|(_, c)| {
            used += c.len_utf16();
            used <= limit
        })
        .last()
        .map(|(at, _)| at)
}

/// Joins texts with newlines. If they exceed the limit, the longest are cut in the middle.
#[must_use]
pub fn join_within(texts: &[&str], limit: usize) -> String {
    let note = |between: usize| format!("\n… {between} characters left out …\n");
    let mut lengths: Vec<usize> = texts.iter().map(|text| length(text) + 1).collect();
    lengths.sort_unstable();
    // Each gets an equal share of the space that shorter texts leave.
    let (mut left, mut share) = (limit, usize::MAX);
    for (done, length) in lengths.iter().enumerate() {
        let equal = left / (lengths.len() - done);
        if *length > equal {
            share = equal.saturating_sub(note(usize::MAX).chars().count() + 1);
            break;
        }
        left -= length;
    }
    let cut = |text: &&str| match head_and_tail(text, share) {
        Some(Excerpt { head, tail, left_out }) => format!("{head}{}{tail}", note(left_out)),
        None => (*text).to_owned(),
    };
    texts.iter().map(cut).collect::<Vec<_>>().join("\n")
}

#[must_use]
pub fn indent(text: &str, by: &str) -> String {
    text.lines().map(|line| format!("{by}{line}")).collect::<Vec<_>>().join("\n")
}

/// `1 line`, `2 lines`.
#[must_use]
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A message as a sentence that others may follow.
#[must_use]
pub fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

/// A sentence starts with a capital.
#[must_use]
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Words as code, separated by commas.
#[must_use]
pub fn quoted_list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The candidate most similar to the typed text, if one is similar enough.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // No name is that long, and the cost of a comparison grows with the length.
    if typed.len() > 100 {
        return None;
    }
    let folded = typed.to_lowercase();
    let length = folded.chars().count();
    candidates
        .into_iter()
        // The difference in length is a lower bound of the distance.
        .filter(|candidate| candidate.len().abs_diff(length) <= candidate.len().max(folded.len()) / 3)
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= candidate.len().max(folded.len()) / 3)
        .map(|(_, candidate)| candidate)
}

/// The candidates most similar to the typed text, even if the similarity is small.
pub fn most_similar<'a>(
    typed: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    max: usize,
) -> Vec<&'a str> {
    let folded: String = typed.chars().take(100).collect::<String>().to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&folded, &candidate.to_lowercase());
    // `*` is equally similar to everything.
    let names = candidates.into_iter().filter(|one| one.len() > 1);
    let mut all: Vec<(usize, &str)> = names.map(|one| (distance(one), one)).collect();
    all.sort_by_key(|(distance, _)| *distance);
    all.into_iter().map(|(_, candidate)| candidate).take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_head_and_tail_within_the_limit() {
        assert_eq!(head_and_tail("short", 5), None);
        assert_eq!(head_and_tail("0123456789", 4), Some(Excerpt { head: "01", tail: "89", left_out: 6 }));
        assert_eq!(head_and_tail("0123456789", 0), Some(Excerpt { head: "", tail: "", left_out: 10 }));
    }

    proptest::proptest! {
        #[test]
        fn head_and_tail_never_overlap_nor_exceed(text: String, limit in 0usize..40) {
            if let Some(Excerpt { head, tail, left_out }) = head_and_tail(&text, limit) {
                proptest::prop_assert!(length(head) + length(tail) <= limit);
                proptest::prop_assert!(text.starts_with(head) && text.ends_with(tail));
                proptest::prop_assert_eq!(head.chars().count() + left_out + tail.chars().count(), text.chars().count());
            } else {
                proptest::prop_assert!(length(&text) <= limit);
            }
        }
    }

    #[test]
    fn several_texts_share_what_an_answer_holds() {
        assert_eq!(join_within(&["a", "b"], 100), "a\nb");
        let (long, short) = ("x".repeat(500), "y".repeat(50));
        for texts in [vec![long.as_str(), &short], vec![&long, &long, &short], vec![&long; 5]] {
            let joined = join_within(&texts, 300);
            assert!(length(&joined) <= 300, "{joined}");
            assert_eq!(joined.contains(&short), texts.contains(&short.as_str()), "what is short stays whole");
            assert!(joined.contains("characters left out"));
        }
    }

    #[test]
    fn the_nearest_name_ignores_case_and_typos() {
        assert_eq!(nearest("subagentstop", crate::event::names()), Some("SubagentStop"));
        assert_eq!(nearest("SubagentStpo", crate::event::names()), Some("SubagentStop"));
        assert_eq!(nearest("SubagentStrat", crate::event::names()), Some("SubagentStart"));
        assert_eq!(nearest("frobnicate", crate::event::names()), None);
        assert_eq!(nearest("", crate::event::names()), None);
    }
}
