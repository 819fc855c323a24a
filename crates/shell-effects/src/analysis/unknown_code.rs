//! Code with unknown parts, as a text that can be parsed.

use std::borrow::Cow;

use crate::analysis::field::{Field, FieldKind, SPELLED_WORD, UNKNOWN_WORD};
use crate::analysis::spelling::may_print_sign;
use crate::syntax::parser::is_name;

/// Whether an unknown part is the start of a text and of a word that goes on.
pub(super) fn starts_inside_unknown(text: &Field) -> bool {
    text.holes.first().is_some_and(|(hole, _)| {
        let rest = text.text.get(hole.end..).unwrap_or_default();
        hole.start == 0 && !rest.starts_with(|c: char| c.is_whitespace() || ";&|".contains(c))
    })
}

/// Whether a text is completely unknown.
pub(crate) fn is_wholly_unknown(text: &Field) -> bool {
    let mut at = 0;
    let mut is_blank = |end: usize, next: usize| {
        let known = text.text.get(at..end).unwrap_or_default();
        at = next;
        known.trim().is_empty()
    };
    text.kind == FieldKind::Tree
        || text.kind == FieldKind::Unknown
            && (text.holes.is_empty()
                || text.holes.iter().all(|(hole, _)| is_blank(hole.start, hole.end))
                    && is_blank(text.text.len(), text.text.len()))
}

/// A text as code, with a variable for each unknown part.
pub(crate) fn as_code(text: &Field) -> Cow<'_, str> {
    as_code_with(text, |_| true)
}

/// Like `as_code`, but only some variables stand for themselves.
pub(super) fn as_code_with(text: &Field, stays: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if text.kind != FieldKind::Unknown {
        return text.shown().into();
    }
    let mut code = String::new();
    let mut at = 0;
    for (hole, _) in &text.holes {
        code.push_str(text.text.get(at..hole.start).unwrap_or_default());
        let part = text.text.get(hole.clone()).and_then(|part| part.strip_prefix('$'));
        let is_spelled = part.is_some_and(|part| part.starts_with('(') && may_print_sign(part));
        let unknown = if is_spelled { SPELLED_WORD } else { UNKNOWN_WORD };
        let is_variable = |name: &&str| {
            name.bytes().all(is_name) && !name.starts_with(|first: char| first.is_ascii_digit())
        };
        let name = part.filter(is_variable).filter(|name| stays(name)).unwrap_or(unknown);
        code.push_str(&format!("${{{name}}}"));
        at = hole.end;
    }
    code.push_str(text.text.get(at..).unwrap_or_default());
    code.into()
}
