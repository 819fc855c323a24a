//! Code as tokens, for the part of each language that can be read without doubt.

use crate::programs::languages::SourceLanguage;

/// A part of code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::programs) enum SourceToken<'c> {
    /// A name, a word of the language, or a number.
    Name(&'c str),
    /// What is between quotes, or a pattern between slashes.
    Text(&'c str),
    Sign(char),
}

/// Words after which a pattern may follow.
const BEFORE_PATTERN: &[&str] = &["and", "if", "not", "or", "print", "split", "unless", "while"];

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The tokens of a code. `None` if it is not certain what is a text.
pub(in crate::programs) fn tokens(kind: SourceLanguage, code: &str) -> Option<Vec<SourceToken<'_>>> {
    // Documentation in the code.
    let has_pages = matches!(kind, SourceLanguage::Perl | SourceLanguage::Ruby);
    let is_page = has_pages && code.lines().any(|line| line.starts_with('='));
    // Only some languages end a line here.
    if is_page || code.contains('\r') {
        return None;
    }
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            ' ' | '\t' | '\n' => 1,
            '#' if matches!(kind, SourceLanguage::Python | SourceLanguage::Ruby) => {
                let comment = rest.lines().next()?;
                // It may say that the code is in another character set.
                if comment.contains("coding") {
                    return None;
                }
                comment.len()
            }
            '"' | '\'' => {
                let (text, length) = text(kind, rest, c)?;
                tokens.push(SourceToken::Text(text));
                length
            }
            '/' if kind != SourceLanguage::Python => {
                let pattern = pattern(kind, rest, &tokens)?;
                tokens.push(SourceToken::Text(pattern));
                pattern.len() + 2
            }
            c if is_part(c) => {
                let name = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len()))?;
                named(kind, name, rest.get(name.len()..)?, &mut tokens)?
            }
            '`' | '\\' => return None,
            '#' if kind != SourceLanguage::JavaScript => return None,
            c if c.is_ascii_graphic() => {
                tokens.push(SourceToken::Sign(c));
                1
            }
            _ => return None,
        };
        rest = rest.get(length..)?;
    }
    Some(tokens)
}

/// Adds a name, or the text after a prefix, and says how long that is.
fn named<'c>(
    kind: SourceLanguage,
    name: &'c str,
    after: &'c str,
    tokens: &mut Vec<SourceToken<'c>>,
) -> Option<usize> {
    // What hides other names. `$_` is the line at hand.
    if name.len() > 1 && name.starts_with('_') {
        return None;
    }
    // In awk a name and a text beside each other are joined.
    if kind == SourceLanguage::Awk || !after.starts_with(['"', '\'']) {
        tokens.push(SourceToken::Name(name));
        return Some(name.len());
    }
    match name.to_ascii_lowercase().as_str() {
        "f" | "fr" | "rf" if kind == SourceLanguage::Python => {
            let (text, length) = text(kind, after, after.chars().next()?)?;
            tokens.push(SourceToken::Text(text));
            for expression in expressions(text)? {
                tokens.extend([SourceToken::Sign('%'), SourceToken::Sign('(')]);
                tokens.extend(self::tokens(kind, expression)?);
                tokens.push(SourceToken::Sign(')'));
            }
            Some(name.len() + length)
        }
        "r" | "b" | "u" | "rb" | "br" if kind == SourceLanguage::Python => Some(name.len()),
        _ => None,
    }
}

/// The text at the start of a code, and how long it is with its quotes.
fn text(kind: SourceLanguage, code: &str, quote: char) -> Option<(&str, usize)> {
    let triple = match quote {
        '"' => "\"\"\"",
        _ => "'''",
    };
    let is_triple = kind == SourceLanguage::Python && code.starts_with(triple);
    let end = if is_triple { triple } else { triple.get(..1)? };
    let inner = code.get(end.len()..)?;
    let mut at = 0;
    loop {
        let rest = inner.get(at..)?;
        if rest.starts_with(end) {
            break;
        }
        match rest.chars().next()? {
            '\\' => at += 1 + rest.get(1..)?.chars().next()?.len_utf8(),
            '\n' if !is_triple => return None,
            c => at += c.len_utf8(),
        }
    }
    let text = inner.get(..at)?;
    let has_code = ["${", "@{", "#{", "{$"].iter().any(|start| text.contains(start));
    let has_index = kind == SourceLanguage::Perl
        && quote == '"'
        && text.contains(['$', '@'])
        && text.contains(['[', '{']);
    if has_index
        || has_code && matches!(kind, SourceLanguage::Perl | SourceLanguage::Ruby | SourceLanguage::Php)
    {
        return None;
    }
    Some((text, at + 2 * end.len()))
}

/// The code in the braces of a formatted text. `None` if that is unclear.
fn expressions(text: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let after = rest.get(at + 1..)?;
        if rest.get(at..at + 2).is_some_and(|twice| matches!(twice, "{{" | "}}")) {
            rest = after.get(1..)?;
            continue;
        }
        let (inner, more) = after.split_once('}')?;
        if rest.get(at..)?.starts_with('}') || inner.contains(['{', '\\', '"', '\'', '=', '#']) {
            return None;
        }
        // `{price:>10}`, `{name!r}`
        let end = inner.rfind([')', ']']).map_or(0, |at| at + 1);
        let format = inner.get(end..)?.find([':', '!']).map_or(inner.len(), |at| end + at);
        found.push(inner.get(..format)?);
        rest = more;
    }
    Some(found)
}

/// A plain pattern between slashes, where none can be a division.
fn pattern<'c>(kind: SourceLanguage, code: &'c str, before: &[SourceToken<'_>]) -> Option<&'c str> {
    let is_expected = match before.last() {
        None => true,
        Some(SourceToken::Name(name)) => BEFORE_PATTERN.contains(name),
        Some(SourceToken::Sign('}')) => kind == SourceLanguage::Awk,
        Some(SourceToken::Sign(sign)) => "({;,!&|".contains(*sign),
        Some(SourceToken::Text(_)) => false,
    };
    let (pattern, _) = code.strip_prefix('/')?.split_once('/')?;
    let is_plain = |c: char| is_part(c) || " ^.*+-".contains(c);
    let has_patterns = matches!(kind, SourceLanguage::Perl | SourceLanguage::Ruby | SourceLanguage::Awk);
    if has_patterns && is_expected && !pattern.is_empty() && pattern.chars().all(is_plain) {
        Some(pattern)
    } else {
        None
    }
}

/// The arguments between a parenthesis and the one that closes it.
pub(super) fn arguments<'t, 'c>(
    tokens: &'t [SourceToken<'c>],
    at: usize,
) -> Option<Vec<&'t [SourceToken<'c>]>> {
    if tokens.get(at) != Some(&SourceToken::Sign('(')) {
        return None;
    }
    let mut arguments = Vec::new();
    let mut depth = 0_usize;
    let mut start = at + 1;
    for (position, token) in tokens.iter().enumerate().skip(at + 1) {
        match token {
            SourceToken::Sign('(' | '[' | '{') => depth += 1,
            SourceToken::Sign(')') if depth == 0 => {
                arguments.push(tokens.get(start..position)?);
                return Some(arguments);
            }
            SourceToken::Sign(')' | ']' | '}') => depth = depth.checked_sub(1)?,
            SourceToken::Sign(',') if depth == 0 => {
                arguments.push(tokens.get(start..position)?);
                start = position + 1;
            }
            _ => {}
        }
    }
    None
}

/// Whether the name at this place is in the list after `import`.
pub(in crate::programs) fn is_in_import(tokens: &[SourceToken<'_>], mut at: usize) -> bool {
    let token = |at: usize| tokens.get(at).copied();
    while let (Some(SourceToken::Name(_)), Some(before)) = (token(at), at.checked_sub(1).and_then(token)) {
        match before {
            SourceToken::Name("import") => return true,
            SourceToken::Sign(',') => at = at.saturating_sub(2),
            _ => return false,
        }
    }
    false
}
