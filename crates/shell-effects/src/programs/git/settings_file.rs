//! The format of git's settings files.

use std::iter::Peekable;
use std::str::Chars;

/// The settings of a file: the key with its section, and the value.
pub(super) fn settings_of(text: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut section = String::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        match first {
            '#' | ';' => skip_line(&mut chars),
            '[' => section = header(&mut chars),
            first if is_of_name(first) => {
                let mut name = String::from(first);
                while let Some(next) = chars.next_if(|next| is_of_name(*next)) {
                    name.push(next);
                }
                while chars.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
                // A name alone is switched on.
                let has_value = chars.next_if_eq(&'=').is_some();
                let value = if has_value { value(&mut chars) } else { "true".to_owned() };
                settings.push((format!("{section}.{name}"), value));
            }
            _ => {}
        }
    }
    settings
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

fn skip_line(chars: &mut Peekable<Chars<'_>>) {
    chars.find(|next| *next == '\n');
}

/// `[section]` and `[section "sub"]` after the bracket: `section`, `section.sub`.
fn header(chars: &mut Peekable<Chars<'_>>) -> String {
    let (mut header, mut in_quotes) = (String::new(), false);
    while let Some(next) = chars.next() {
        match next {
            ']' if !in_quotes => break,
            '\n' => break,
            '"' => in_quotes = !in_quotes,
            '\\' if in_quotes => header.extend(chars.next()),
            next => header.push(next),
        }
    }
    match header.split_once([' ', '\t']) {
        Some((name, sub)) => format!("{name}.{}", sub.trim_start()),
        None => header,
    }
}

/// A value after its `=`. A backslash before the end of a line or of the file continues it.
fn value(chars: &mut Peekable<Chars<'_>>) -> String {
    let (mut value, mut in_quotes) = (String::new(), false);
    // The length without the blanks at the end.
    let mut length = 0;
    while let Some(next) = chars.next() {
        match next {
            '\n' => break,
            '#' | ';' if !in_quotes => {
                skip_line(chars);
                break;
            }
            '"' => in_quotes = !in_quotes,
            '\\' => {
                match chars.next() {
                    None | Some('\n') => continue,
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some(escaped) => value.push(escaped),
                }
                length = value.len();
            }
            next if next.is_ascii_whitespace() && !in_quotes => {
                if !value.is_empty() {
                    value.push(next);
                }
            }
            next => {
                value.push(next);
                length = value.len();
            }
        }
    }
    value.truncate(length);
    value
}

#[cfg(test)]
mod tests {
    use super::settings_of;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        for (text, expected) in [
            ("[alias]\n\tz = !rm a\n", vec![("alias.z", "!rm a")]),
            ("[alias]\nz=\"!rm a\"\\", vec![("alias.z", "!rm a")]),
            ("[alias]z=!rm \\\n  a ; b\n[core]\n x", vec![("alias.z", "!rm   a"), ("core.x", "true")]),
            ("# [x]\n[remote \"a.b\"]\n push = \"+x\" # y", vec![("remote.a.b.push", "+x")]),
            ("[a \"b]\\\"c\"] d = e\\\"f\\\\ g\\th  \r\n", vec![("a.b]\"c.d", "e\"f\\ g\th")]),
            ("[a] b = \" c \" ", vec![("a.b", " c ")]),
        ] {
            let found = settings_of(text);
            let found: Vec<(&str, &str)> =
                found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
