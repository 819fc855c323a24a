//! The glob that a simple regular expression means.

use std::iter::Peekable;
use std::str::Chars;

use super::ComparisonTarget;

/// A regular expression, without its anchors.
pub(super) struct Expression<'a> {
    body: &'a str,
    is_at_start: bool,
    is_at_end: bool,
}

impl<'a> Expression<'a> {
    pub(super) fn new(text: &'a str) -> Expression<'a> {
        let (body, is_at_start) = match text.strip_prefix('^') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        match body.strip_suffix('$') {
            Some(rest) if !rest.ends_with('\\') => Expression { body: rest, is_at_start, is_at_end: true },
            _ => Expression { body, is_at_start, is_at_end: false },
        }
    }

    /// The glob. `None` if there is no similar one.
    pub(super) fn glob(&self, compared: ComparisonTarget) -> Option<String> {
        let glob = self.translated(compared)?;
        Some(match compared {
            ComparisonTarget::Files => self.file(glob),
            ComparisonTarget::Commands if glob.ends_with('*') => glob,
            // An option at the end is meant wherever it is the last, and commands have arguments after it.
            ComparisonTarget::Commands if self.is_at_end && !ends_with_option(&glob) => glob,
            ComparisonTarget::Commands => format!("{glob}*"),
            ComparisonTarget::Names => {
                let start =
                    if self.is_at_end && !self.is_at_start && !glob.starts_with('*') { "*" } else { "" };
                let end = if self.is_at_start && !self.is_at_end && !glob.ends_with('*') { "*" } else { "" };
                format!("{start}{glob}{end}")
            }
        })
    }

    /// A path of a regular expression starts at the root with `^`, and anywhere without it.
    fn file(&self, glob: String) -> String {
        let start = if self.is_at_start && !glob.starts_with(['/', '~', '*']) {
            "/"
        } else if !self.is_at_end || self.is_at_start || glob.starts_with(['/', '*']) {
            ""
        } else if glob.contains('/') {
            "**/"
        } else {
            "*"
        };
        let end = if self.is_at_start && !self.is_at_end && !glob.ends_with(['/', '*']) { "*" } else { "" };
        format!("{start}{glob}{end}")
    }

    fn translated(&self, compared: ComparisonTarget) -> Option<String> {
        let has_folders = compared == ComparisonTarget::Files && self.body.contains('/');
        let mut glob = String::new();
        let mut rest = self.body.chars().peekable();
        let mut depth = 0_usize;
        let mut has_alternatives = false;
        while let Some(character) = rest.next() {
            match character {
                '\\' => glob.push_str(&escaped(&mut rest)?),
                '.' if rest.next_if(|next| matches!(next, '*' | '+')).is_some() => {
                    rest.next_if_eq(&'?');
                    let is_name = glob.is_empty() || glob.ends_with('/');
                    glob.push_str(match rest.peek() {
                        None | Some('/') if has_folders && is_name => "**",
                        Some(_) if has_folders && is_name => "**/*",
                        _ => "*",
                    });
                }
                '[' => glob.push_str(&class(&mut rest)?),
                '(' => {
                    if rest.next_if_eq(&'?').is_some() {
                        rest.next_if_eq(&':')?;
                    }
                    depth += 1;
                    glob.push('{');
                }
                ')' => {
                    depth = depth.checked_sub(1)?;
                    glob.push('}');
                    if rest.next_if(|next| matches!(next, '?' | '*' | '+')).is_some() {
                        return None;
                    }
                }
                '|' if depth > 0 => glob.push(','),
                // Next to a comma, an anchor, or a shell pipe, braces would mean something else.
                '|' if !self.body.contains([',', '^', '$']) && !self.body.contains(" |") => {
                    has_alternatives = true;
                    glob.push(',');
                }
                // Repetitions of one character have no glob.
                '+' | '?' | '|' | '^' | '$' => return None,
                plain => glob.push(plain),
            }
        }
        Some(if has_alternatives { format!("{{{glob}}}") } else { glob })
    }
}

/// The meaning of an escaped character.
fn escaped(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    Some(match rest.next()? {
        'b' | 'B' => String::new(),
        's' => {
            rest.next_if(|next| matches!(next, '+' | '*'));
            " ".into()
        }
        class @ ('d' | 'D' | 'w' | 'W' | 'S') => {
            let is_repeated = rest.next_if(|next| matches!(next, '+' | '*')).is_some();
            match class {
                _ if is_repeated => "*".into(),
                'd' => "[0-9]".into(),
                _ => "?".into(),
            }
        }
        special @ ('*' | '?' | '[' | ']' | '{' | '}' | '\\') => format!("\\{special}"),
        plain => plain.to_string(),
    })
}

fn ends_with_option(glob: &str) -> bool {
    glob.rsplit_once(' ').is_some_and(|(_, word)| word.starts_with('-'))
}

/// A class of characters without its `[`, as a glob. A repeated one is any text.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut class = String::from("[");
    if rest.next_if_eq(&'^').is_some() {
        class.push('!');
    }
    loop {
        match rest.next()? {
            ']' if !class.ends_with(['[', '!']) => break,
            '\\' => {
                let escaped = rest.next()?;
                if escaped.is_alphanumeric() {
                    return None;
                }
                class.extend(['\\', escaped]);
            }
            plain => class.push(plain),
        }
    }
    class.push(']');
    match rest.peek() {
        Some('+' | '*') => {
            rest.next();
            Some("*".into())
        }
        // A number of repetitions.
        Some('{') => None,
        _ => Some(class),
    }
}
