//! The start of a line: what it is, without reading the rest. Claude Code writes a few short fields first.

/// What the first fields of a line say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head<'a> {
    pub(super) kind: Option<&'a str>,
    pub(super) attachment: Option<&'a str>,
}

/// No line has more fields before the one that says what it is.
const MAX_FIELDS: usize = 8;

/// Reads as far as there are plain fields: anything else is left to a real parser.
pub(super) fn scan(line: &[u8]) -> Head<'_> {
    let mut head = Head::default();
    let mut rest = line;
    for number in 0..MAX_FIELDS {
        let Some((name, value)) = field(rest, if number == 0 { b'{' } else { b',' }) else { return head };
        match name {
            "type" => {
                head.kind = string(value).map(|(kind, _)| kind);
                return head;
            }
            "attachment" => {
                let kind = field(value, b'{').filter(|(name, _)| *name == "type");
                head.attachment = kind.and_then(|(_, value)| string(value)).map(|(kind, _)| kind);
                return head;
            }
            _ => match after_scalar(value) {
                Some(after) => rest = after,
                None => return head,
            },
        }
    }
    head
}

/// The name of a field behind this character, and what follows its colon.
fn field(text: &[u8], before: u8) -> Option<(&str, &[u8])> {
    let (name, rest) = string(text.strip_prefix(&[before])?)?;
    Some((name, rest.strip_prefix(b":")?))
}

/// A string without escapes, and what follows it.
fn string(text: &[u8]) -> Option<(&str, &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', text)?;
    let (content, rest) = text.split_at_checked(end)?;
    Some((std::str::from_utf8(content).ok()?, rest.strip_prefix(b"\"")?))
}

/// What follows a string, a word or a number.
fn after_scalar(text: &[u8]) -> Option<&[u8]> {
    if let Some((_, rest)) = string(text) {
        return Some(rest);
    }
    let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
    text.get(end..).filter(|rest| end > 0 && rest.starts_with(b","))
}
