//! Operations on known texts. Tokens are put on a stack one after the other, and the end of the stack is replaced by its result
//! as long as it is a known operation.

use super::MAX_TEXT;
use super::decoding::decoded;
use super::tokens::Token;

/// More arguments are not looked at.
const MAX_ARGUMENTS: usize = 600;

#[derive(Clone, Debug)]
enum FoldedValue {
    Text(String),
    Number(u32),
}

impl FoldedValue {
    fn of(token: &Token) -> Option<FoldedValue> {
        match token {
            Token::Text { text, .. } => Some(FoldedValue::Text(text.clone())),
            Token::Number(number) => Some(FoldedValue::Number(*number)),
            _ => None,
        }
    }

    fn shown(&self) -> String {
        match self {
            FoldedValue::Text(text) => text.clone(),
            FoldedValue::Number(number) => number.to_string(),
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            FoldedValue::Text(text) => Some(text),
            FoldedValue::Number(_) => None,
        }
    }
}

/// The tokens with operations replaced by their results, and whether there were any.
pub(super) fn fold(items: &[Token]) -> (Vec<Token>, bool) {
    let mut out: Vec<Token> = Vec::with_capacity(items.len());
    let mut changed = false;
    for (at, item) in items.iter().enumerate() {
        out.push(item.clone());
        let rest = items.get(at + 1..).unwrap_or_default();
        while let Some((start, text)) = reduced(&out, rest).filter(|(_, text)| text.len() <= MAX_TEXT) {
            out.truncate(start);
            out.push(Token::Text { text, is_made: true });
            changed = true;
        }
    }
    (out, changed)
}

/// Where the operation at the end starts, and its result.
fn reduced(out: &[Token], rest: &[Token]) -> Option<(usize, String)> {
    match out.last()? {
        Token::Sign(')') => called(out),
        Token::Sign(']') => indexed(out),
        Token::Name(name) if name == "chr" => match out {
            [.., Token::Number(code), Token::Sign('.'), _] => {
                Some((out.len() - 3, char::from_u32(*code)?.to_string()))
            }
            _ => None,
        },
        Token::Name(name) => match out {
            [.., Token::Name(owner), Token::Sign('.'), _]
                if matches!(owner.as_str(), "os" | "path" | "string") =>
            {
                Some((out.len() - 3, constant(name)?.to_owned()))
            }
            // `'vne.'.reverse` of Ruby.
            [.., Token::Text { text, .. }, Token::Sign('.'), _]
                if rest.first() != Some(&Token::Sign('(')) =>
            {
                let word = if matches!(name.as_str(), "reverse" | "downcase" | "strip" | "chomp") {
                    decoded(name, text, &[])
                } else {
                    None
                };
                Some((out.len() - 3, word?))
            }
            _ => None,
        },
        Token::Text { .. } | Token::Number(_) => bare_call(out, rest).or_else(|| joined(out, rest)),
        Token::Sign(_) => None,
    }
}

/// Constants of modules.
fn constant(name: &str) -> Option<&'static str> {
    match name {
        "curdir" | "extsep" => Some("."),
        "pardir" => Some(".."),
        "sep" => Some("/"),
        "ascii_lowercase" => Some("abcdefghijklmnopqrstuvwxyz"),
        "ascii_uppercase" => Some("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        _ => None,
    }
}

/// `'a' + 'b'`, `"a" . "b"`, `'a' || 'b'`, `"a" "b"`, `Path('a') / 'b'`, `'%s' % 'a'`.
fn joined(out: &[Token], rest: &[Token]) -> Option<(usize, String)> {
    // What follows belongs to the last text alone.
    let binds = matches!(rest, [Token::Sign('.'), Token::Name(_), ..] | [Token::Sign('[' | '%'), ..]);
    let (last, before) = out.split_last()?;
    let last = FoldedValue::of(last)?;
    if let [.., Token::Text { text, .. }, Token::Sign('%')] = before {
        return Some((out.len() - 3, formatted(text, &[last])?));
    }
    let last = last.text()?;
    if binds {
        return None;
    }
    // `x'2e656e76'` of SQL.
    if let [.., Token::Name(name)] = before {
        let is_hex = name.eq_ignore_ascii_case("x") && !last.is_empty();
        return if is_hex { Some((out.len() - 2, decoded("fromhex", last, &[])?)) } else { None };
    }
    let (start, text, between) = match before {
        [.., Token::Text { text, .. }] => (out.len() - 2, text, ""),
        [.., Token::Text { text, .. }, Token::Sign('+' | '.' | '~')] => (out.len() - 3, text, ""),
        [.., Token::Text { text, .. }, Token::Sign('/')] => (out.len() - 3, text, "/"),
        [.., Token::Text { text, .. }, Token::Sign('|'), Token::Sign('|')]
        | [.., Token::Text { text, .. }, Token::Sign('.'), Token::Sign('.')]
        | [.., Token::Text { text, .. }, Token::Sign('<'), Token::Sign('>')]
        | [.., Token::Text { text, .. }, Token::Sign('+'), Token::Sign('+')] => (out.len() - 4, text, ""),
        _ => return None,
    };
    Some((start, format!("{text}{between}{last}")))
}

/// Functions that Perl calls without parentheses.
const BARE: &[&str] = &["chr", "join", "lc", "pack", "reverse", "sprintf", "strrev"];

/// `reverse "vne."`, `join "", ".e", "nv"`.
fn bare_call(out: &[Token], rest: &[Token]) -> Option<(usize, String)> {
    if matches!(rest.first(), Some(Token::Sign(',' | '.' | '+'))) && !is_chr(out) {
        return None;
    }
    let is_argument =
        |token: &&Token| matches!(token, Token::Text { .. } | Token::Number(_) | Token::Sign(','));
    let count = out.iter().rev().take(MAX_ARGUMENTS).take_while(is_argument).count();
    let at = out.len().checked_sub(count + 1)?;
    let Token::Name(name) = out.get(at)? else { return None };
    if !BARE.contains(&name.as_str()) {
        return None;
    }
    let values = values(out.get(at + 1..)?)?;
    let text = function(name, "", &values)?;
    let is_scalar = |before: usize| matches!(out.get(before), Some(Token::Name(name)) if name == "scalar");
    let start = at.checked_sub(1).filter(|before| is_scalar(*before)).unwrap_or(at);
    Some((start, text))
}

/// `chr 46`, which binds more closely than what follows.
fn is_chr(out: &[Token]) -> bool {
    matches!(out, [.., Token::Name(name), Token::Number(_)] if name == "chr")
}

/// The values of a list: `'a', 'b'`, and `['a', 'b']`.
fn values(tokens: &[Token]) -> Option<Vec<FoldedValue>> {
    let value = |part: &[Token]| match part {
        [one] | [Token::Name(_), Token::Sign('='), one] => FoldedValue::of(one),
        _ => None,
    };
    let is_bracket = |token: &&Token| matches!(token, Token::Sign('[' | ']' | '(' | ')'));
    let plain: Vec<Token> = tokens.iter().filter(|token| !is_bracket(token)).cloned().collect();
    if plain.is_empty() {
        return Some(Vec::new());
    }
    let parts = plain.split(|token| *token == Token::Sign(','));
    parts.filter(|part| !part.is_empty()).map(value).collect()
}

/// Where the bracket opens that the last token closes, if only values are between them.
fn opening(out: &[Token], open: char) -> Option<usize> {
    let (_, inner) = out.split_last()?;
    let mut depth = 0_usize;
    for (at, token) in inner.iter().enumerate().rev().take(MAX_ARGUMENTS) {
        match token {
            Token::Text { .. } | Token::Number(_) | Token::Sign(',') => {}
            Token::Sign(sign) if *sign == open && depth == 0 => return Some(at),
            Token::Sign(')') if open == '(' => depth += 1,
            Token::Sign('(') if open == '(' => depth -= 1,
            Token::Sign('[' | ']' | '=') | Token::Name(_) if open == '(' => {}
            Token::Sign('.' | ':' | '-') if open == '[' => {}
            _ => return None,
        }
    }
    None
}

/// `NAME(…)`, `'…'.NAME(…)`, `['…'].NAME(…)`, `'…' % (…)`, `(…)`.
fn called(out: &[Token]) -> Option<(usize, String)> {
    let open = opening(out, '(')?;
    let values = values(out.get(open + 1..out.len() - 1)?)?;
    let before = out.get(..open)?;
    match before {
        [.., Token::Text { text, .. }, Token::Sign('%')] => Some((open - 2, formatted(text, &values)?)),
        [.., Token::Text { text, .. }, Token::Sign('.' | ':'), Token::Name(name)] => {
            Some((open - 3, method(name, text, &values)?))
        }
        [.., Token::Sign(']'), Token::Sign('.'), Token::Name(name)] if name == "join" => {
            let list = out.get(..open - 2)?;
            let start = opening(list, '[')?;
            let parts = self::values(list.get(start + 1..list.len() - 1)?)?;
            let separator = values.first().map_or(",".to_owned(), FoldedValue::shown);
            Some((start, texts(&parts).join(&separator)))
        }
        [.., Token::Name(name)] => {
            let mut start = open - 1;
            let owner = match before {
                [.., Token::Name(owner), Token::Sign('.'), _] => owner.as_str(),
                _ => "",
            };
            while let [.., Token::Name(_), Token::Sign('.')] = out.get(..start)? {
                start -= 2;
            }
            Some((start, function(name, owner, &values)?))
        }
        [.., Token::Sign(')' | ']') | Token::Text { .. }] => None,
        _ => match values.as_slice() {
            [FoldedValue::Text(text)] => Some((open, text.clone())),
            _ => None,
        },
    }
}

fn texts(values: &[FoldedValue]) -> Vec<String> {
    values.iter().map(FoldedValue::shown).collect()
}

fn characters(values: &[FoldedValue]) -> Option<String> {
    let one = |value: &FoldedValue| match value {
        FoldedValue::Number(number) => char::from_u32(*number),
        FoldedValue::Text(_) => None,
    };
    if values.is_empty() { None } else { values.iter().map(one).collect() }
}

/// The result of a function.
fn function(name: &str, owner: &str, values: &[FoldedValue]) -> Option<String> {
    let (first, more) = values.split_first()?;
    let texts_of_more = texts(more);
    let more_texts: Vec<&str> = texts_of_more.iter().map(String::as_str).collect();
    match name {
        "chr" | "fromCharCode" | "fromCodePoint" | "char" | "bytes" | "bytearray" | "from"
            if first.text().is_none() =>
        {
            characters(values)
        }
        "join" if matches!(owner, "path" | "File" | "Path") => Some(texts(values).join("/")),
        "join" | "implode" if !more.is_empty() => Some(more_texts.join(first.text()?)),
        "sub" if owner == "re" => match more_texts.as_slice() {
            [to, text, ..] => Some(text.replace(first.text()?, to)),
            _ => None,
        },
        "printf" | "sprintf" => formatted(first.text()?, more),
        "pack" => match (first.text()?, more) {
            ("C*" | "U*" | "c*" | "W*", codes) => characters(codes),
            (encoding, [text]) => decoded("pack", text.text()?, &[encoding]),
            _ => None,
        },
        "Path" | "PurePath" | "Pathname" | "File" if more.is_empty() => first.text().map(str::to_owned),
        "Path" => Some(texts(values).join("/")),
        _ => decoded(name, first.text()?, &more_texts),
    }
}

/// The result of a method of a text.
fn method(name: &str, text: &str, values: &[FoldedValue]) -> Option<String> {
    let texts = texts(values);
    let arguments: Vec<&str> = texts.iter().map(String::as_str).collect();
    match (name, values) {
        // The characters, which are joined again.
        ("split" | "chars" | "toList", [] | [FoldedValue::Text(_)]) if arguments.concat().is_empty() => {
            Some(text.to_owned())
        }
        ("join", [FoldedValue::Text(separator)]) if separator.is_empty() => Some(text.to_owned()),
        ("join", [_, _, ..]) => Some(arguments.join(text)),
        ("join", [FoldedValue::Text(only)]) if !text.is_empty() => Some(only.clone()),
        ("format", _) => formatted(text, values),
        ("slice" | "substring" | "substr", [FoldedValue::Number(from)]) => part(text, *from, None),
        ("slice" | "substring", [FoldedValue::Number(from), FoldedValue::Number(to)]) => {
            part(text, *from, Some(*to))
        }
        ("substr", [FoldedValue::Number(from), FoldedValue::Number(count)]) => {
            part(text, *from, Some(from.saturating_add(*count)))
        }
        _ => decoded(name, text, &arguments),
    }
}

fn part(text: &str, from: u32, to: Option<u32>) -> Option<String> {
    let from = usize::try_from(from).ok()?;
    let to = to.map_or(Some(usize::MAX), |to| usize::try_from(to).ok())?;
    Some(text.chars().skip(from).take(to.saturating_sub(from)).collect())
}

/// `'vne.'[::-1]`, `'x.env'[1:]`, `[...'vne.']`.
fn indexed(out: &[Token]) -> Option<(usize, String)> {
    let open = opening(out, '[')?;
    let inner = out.get(open + 1..out.len() - 1)?;
    if let [Token::Sign('.'), Token::Sign('.'), Token::Sign('.'), Token::Text { text, .. }] = inner {
        return Some((open, text.clone()));
    }
    let Some(Token::Text { text, .. }) = out.get(open.checked_sub(1)?) else { return None };
    let found = match inner {
        [Token::Sign(':'), Token::Sign(':'), Token::Sign('-'), Token::Number(1)] => {
            text.chars().rev().collect()
        }
        [Token::Number(from), Token::Sign(':')] => part(text, *from, None)?,
        [Token::Sign(':'), Token::Number(to)] => part(text, 0, Some(*to))?,
        [Token::Number(from), Token::Sign(':'), Token::Number(to)] => part(text, *from, Some(*to))?,
        [Token::Number(at)] => part(text, *at, Some(at.saturating_add(1)))?,
        _ => return None,
    };
    Some((open - 1, found))
}

/// A text with `%s`, `%c` and `{}` replaced by values.
fn formatted(text: &str, values: &[FoldedValue]) -> Option<String> {
    let mut made = String::new();
    let mut values = values.iter();
    let mut rest = text;
    while let Some(at) = rest.find(['%', '{']) {
        made.push_str(rest.get(..at)?);
        let after = rest.get(at + 1..)?;
        if rest.get(at..)?.starts_with('{') {
            let (_, more) = after.split_once('}')?;
            made.push_str(&values.next()?.shown());
            rest = more;
            continue;
        }
        let kind = after.chars().next()?;
        match (kind, kind == '%') {
            (_, true) => made.push('%'),
            ('c', _) => match values.next()? {
                FoldedValue::Number(number) => made.push(char::from_u32(*number)?),
                FoldedValue::Text(text) => made.push_str(text),
            },
            ('s' | 'd' | 'r' | 'i', _) => made.push_str(&values.next()?.shown()),
            _ => return None,
        }
        rest = after.get(kind.len_utf8()..)?;
    }
    made.push_str(rest);
    Some(made)
}
