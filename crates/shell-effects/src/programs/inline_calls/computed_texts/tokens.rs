//! Code of any language as tokens.

use super::NAMED_CHARACTER;
use crate::programs::inline_calls::is_part;
use crate::programs::inline_calls::text_arguments::literal;

/// Expressions in texts in expressions are read this deep.
const MAX_DEPTH: usize = 3;

/// A part of code. Spaces are left out, and ends of lines in brackets.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Text {
        text: String,
        /// Whether it is not in the code like this.
        is_made: bool,
    },
    Name(String),
    Number(u32),
    Sign(char),
}

impl Token {
    pub(super) fn made(text: String) -> Token {
        Token::Text { text, is_made: true }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Token::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

pub(super) fn tokens(code: &str, depth: usize) -> Vec<Token> {
    let mut found = Vec::new();
    let mut brackets = 0_usize;
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        if let Some((text, after)) = literal(rest) {
            let written = rest.get(..rest.len() - after.len()).unwrap_or_default();
            if written.contains("\\N{") {
                found.push(Token::Name(NAMED_CHARACTER.to_owned()));
            } else if text.is_literal() {
                found.push(Token::Text { text: text.text, is_made: false });
            } else {
                in_text(written, depth, &mut found);
            }
            rest = after;
            continue;
        }
        if is_part(c) {
            let (word, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
            rest = after;
            found.push(number(word).map_or_else(|| Token::Name(word.to_owned()), Token::Number));
            continue;
        }
        if let Some((pattern, after)) = listed(rest, found.last()) {
            found.push(Token::Name("glob".to_owned()));
            found.push(Token::Text { text: pattern.to_owned(), is_made: false });
            rest = after;
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '(' | '[' | '{' => brackets += usize::from(c != '{'),
            ')' | ']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        // `$name` of Perl and PHP is a name like any other.
        let is_sigil = matches!(c, '$') && rest.starts_with(is_part);
        let is_space = c.is_whitespace() && (c != '\n' || brackets > 0);
        if !is_sigil && !is_space {
            found.push(Token::Sign(c));
        }
    }
    found
}

fn number(word: &str) -> Option<u32> {
    match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// The pattern in `<*.c>` of Perl. A comparison has a value before it.
fn listed<'c>(code: &'c str, before: Option<&Token>) -> Option<(&'c str, &'c str)> {
    let (inner, after) = code.strip_prefix('<')?.split_once('>')?;
    let is_value = match before {
        Some(Token::Name(name)) => !matches!(name.as_str(), "unlink" | "for" | "foreach" | "print" | "rm"),
        Some(Token::Number(_) | Token::Text { .. } | Token::Sign(')' | ']')) => true,
        _ => false,
    };
    let is_pattern = inner.contains(['*', '?', '{']) && !inner.contains([' ', '\n', '=', '(', '<']);
    if is_value || !is_pattern { None } else { Some((inner, after)) }
}

/// A text with expressions in it: `f'.{name}'`, `` `.${name}` ``, `"#{name}"`.
fn in_text(written: &str, depth: usize, found: &mut Vec<Token>) {
    let inner = written.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let inner = inner.trim_matches(['"', '\'', '`']);
    // The quotes of an expression at the end belong to it.
    if depth >= MAX_DEPTH {
        return found.push(Token::Name("unknown".to_owned()));
    }
    found.push(Token::Sign('('));
    let mut rest = inner;
    loop {
        let (text, expression) = rest.split_once('{').unwrap_or((rest, ""));
        let opening = if expression.is_empty() { None } else { text.strip_suffix(['$', '#']) };
        let text = opening.unwrap_or(text);
        found.push(Token::Text { text: text.to_owned(), is_made: false });
        if expression.is_empty() {
            break;
        }
        let (expression, after) = expression.split_once('}').unwrap_or((expression, ""));
        found.extend([Token::Sign('+'), Token::Sign('(')]);
        found.extend(tokens(expression, depth + 1));
        found.extend([Token::Sign(')'), Token::Sign('+')]);
        rest = after;
    }
    found.push(Token::Sign(')'));
}
