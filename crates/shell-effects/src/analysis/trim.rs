//! `${name#pattern}` and `${name%pattern}`.

use crate::analysis::field::{Field, FieldKind};

/// Longer values are not trimmed: each length is compared with the pattern.
const MAX_LENGTH: usize = 256;

/// The value without what the pattern matches at its start or end; nothing where that is not known.
pub(crate) fn trim(value: &Field, pattern: &Field, suffix: bool, longest: bool) -> Option<Field> {
    let is_unknown = |field: &Field| matches!(field.kind, FieldKind::Unknown | FieldKind::Tree);
    if is_unknown(pattern) || is_unknown(value) {
        return None;
    }
    let text = value.text.as_str();
    if text.len() > MAX_LENGTH || pattern.text.len() > MAX_LENGTH || pattern.text.contains(['[', '\\']) {
        return None;
    }
    if value.kind == FieldKind::Glob {
        // The end of a pattern is the end of what it matches, as long as it is literal.
        let is_plain = !pattern.text.contains(['*', '?']);
        let rest = if suffix { text.strip_suffix(&pattern.text) } else { text.strip_prefix(&pattern.text) };
        return rest.filter(|_| is_plain).map(|rest| value.with(rest));
    }
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    // The shortest match first: from the end for a suffix, from the start for a prefix.
    if suffix != longest {
        cuts.reverse();
    }
    for cut in cuts {
        let (start, end) = text.split_at_checked(cut)?;
        let (matched, rest) = if suffix { (end, start) } else { (start, end) };
        if matches(pattern.text.as_bytes(), matched.as_bytes()) {
            return Some(value.with(rest));
        }
    }
    Some(value.clone())
}

/// `*` and `?`, in the time of the product of the lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || text.get(t) == Some(c) => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|c| *c == b'*')
}
