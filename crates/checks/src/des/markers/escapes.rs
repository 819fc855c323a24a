//! Escapes that a reader or a program replaces, and the gates do not.

/// The text with the escapes of HTML, of URLs, of JSON and of terminals replaced, which the gates do not decode. `None` if it has none.
pub(super) fn without_escapes(prompt: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = prompt;
    while let Some(at) = rest.find(['&', '%', '\\', ESCAPE]) {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        if let Some(length) = control_sequence(escape) {
            rest = escape.get(length..).unwrap_or_default();
            continue;
        }
        let (c, length) = escaped(escape).unwrap_or_else(|| (escape.chars().next().unwrap_or_default(), 1));
        text.push(c);
        rest = escape.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    if text == prompt { None } else { Some(text) }
}

const ESCAPE: char = '\u{1b}';

/// The length of a control sequence of a terminal at the start of a text, such as one that sets a color.
fn control_sequence(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix(ESCAPE)?;
    let end = parameters.strip_prefix('[').and_then(|rest| rest.find(|c| matches!(c, '@'..='~')));
    Some(end.map_or(1, |end| "\u{1b}[".len() + end + 1))
}

/// The character that an escape at the start of a text stands for, and the length of the escape.
fn escaped(text: &str) -> Option<(char, usize)> {
    const NAMES: [(&str, char); 13] = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&excl;", '!'),
        ("&dash;", '-'),
        ("&hyphen;", '-'),
        ("&ndash;", '-'),
        ("&mdash;", '-'),
        ("&lowbar;", '_'),
        ("&colon;", ':'),
        ("&nbsp;", ' '),
        ("&shy;", '\u{ad}'),
        ("&ZeroWidthSpace;", '\u{200b}'),
        ("&amp;", '&'),
    ];
    if let Some((name, c)) = NAMES.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((*c, name.len()));
    }
    if let Some(number) = text.strip_prefix("&#") {
        let number = number.get(..number.floor_char_boundary(10))?.split_once(';')?.0;
        let value = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return Some((char::from_u32(value.ok()?)?, "&#;".len() + number.len()));
    }
    [("%", 2), ("\\u", 4), ("\\x", 2)].iter().find_map(|(prefix, digits)| {
        let number = text.strip_prefix(prefix)?.get(..*digits)?;
        let value = u32::from_str_radix(number, 16).ok()?;
        Some((char::from_u32(value)?, prefix.len() + digits))
    })
}
