//! The texts and lists that names were last set to.

use std::collections::HashMap;

use super::tokens::Token;
use super::{MAX_LIST, MAX_TOKENS, MAX_VALUE};

/// What names were last set to.
#[derive(Default)]
struct Values {
    known: HashMap<String, Vec<Token>>,
    /// The value before, up to the end of the statement that sets another one: `c = c "x"`.
    before: Option<(String, Vec<Token>)>,
}

impl Values {
    fn get(&self, name: &str) -> Option<&Vec<Token>> {
        let old = || Some(&self.before.as_ref().filter(|(old, _)| old == name)?.1);
        self.known.get(name).or_else(old)
    }

    /// A statement sets a name: `n = 'a'`, `n += 'a'`, `n = ['a', 'b']`.
    fn set(&mut self, name: &str, adds: bool, rest: &[Token]) {
        let old = self.known.remove_entry(name);
        let Some(value) = value_at(rest) else {
            self.before = old;
            return;
        };
        let value = match (adds, old, value) {
            (true, Some((_, old)), [Token::Text { text, .. }]) => match old.as_slice() {
                [Token::Text { text: old, .. }] => vec![Token::made(format!("{old}{text}"))],
                _ => return,
            },
            (true, ..) => return,
            (false, _, value) => value.to_vec(),
        };
        let length: usize = value.iter().filter_map(Token::text).map(str::len).sum();
        if length <= MAX_VALUE && value.len() <= MAX_LIST {
            self.known.insert(name.to_owned(), value);
        }
    }
}

/// The text or the list of texts that a statement starts with, if that is all of its value.
fn value_at(rest: &[Token]) -> Option<&[Token]> {
    let length = match rest.first()? {
        Token::Text { .. } => 1,
        Token::Sign('[' | '(') => {
            let is_item =
                |item: &&Token| matches!(item, Token::Text { .. } | Token::Number(_) | Token::Sign(','));
            let count = rest.iter().skip(1).take(MAX_LIST).take_while(is_item).count();
            if !matches!(rest.get(count + 1), Some(Token::Sign(']' | ')'))) {
                return None;
            }
            count + 2
        }
        _ => return None,
    };
    match rest.get(length) {
        None | Some(Token::Sign(';' | '\n' | ',' | ')' | '}')) => rest.get(..length),
        Some(_) => None,
    }
}

/// Replaces names by what they were last set to. Also says whether there were any.
pub(super) fn with_values(items: &[Token]) -> (Vec<Token>, bool) {
    let mut values = Values::default();
    let mut out: Vec<Token> = Vec::with_capacity(items.len());
    let mut is_changed = false;
    for (at, item) in items.iter().enumerate() {
        let Token::Name(name) = item else {
            if matches!(item, Token::Sign(';' | '\n' | '}')) {
                values.before = None;
            }
            out.push(item.clone());
            continue;
        };
        let is_sign = |at: usize, sign: char| items.get(at) == Some(&Token::Sign(sign));
        let adds = (is_sign(at + 1, '+') || is_sign(at + 1, '.')) && is_sign(at + 2, '=');
        let equals = at + 1 + usize::from(adds);
        let is_set = is_sign(equals, '=') && !is_sign(equals + 1, '=') && !is_sign(equals + 1, '>');
        let is_member = at.checked_sub(1).is_some_and(|before| is_sign(before, '.'));
        if is_set && !is_member {
            values.set(name, adds, items.get(equals + 1..).unwrap_or_default());
        }
        match values.get(name) {
            Some(value) if !is_set && !is_member && !is_sign(at + 1, '(') => {
                is_changed = true;
                // `@list` of Perl is its items.
                let is_list = out.last() == Some(&Token::Sign('@')) && value.len() > 2;
                if is_list {
                    out.pop();
                    out.extend(value.get(1..value.len() - 1).unwrap_or_default().iter().cloned());
                } else {
                    out.extend(value.iter().cloned());
                }
            }
            _ => out.push(item.clone()),
        }
        if out.len() > 4 * MAX_TOKENS {
            break;
        }
    }
    (out, is_changed)
}
