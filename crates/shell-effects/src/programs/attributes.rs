//! Attributes in code: `row.key`, `import.meta.env`. Outside of texts and comments they name no file.

use crate::programs::code_reading;
use crate::programs::languages::SourceLanguage;

/// Ends the code. What follows is given to it.
pub(crate) const END: char = '\u{1e}';

/// Code in which the dots of attributes are blanks, and what follows its end as it is.
pub(crate) fn without_attributes(interpreter: &str, text: &str) -> String {
    let (code, given) = text.split_once(END).unwrap_or((text, ""));
    let plain = match code_reading::language_of(interpreter) {
        Some(kind @ (SourceLanguage::Python | SourceLanguage::JavaScript)) => {
            AttributeScanner::new(kind, code).plain()
        }
        _ => None,
    };
    format!("{}{given}", plain.as_deref().unwrap_or(code))
}

/// Characters and names in code that cannot be split into texts and other parts here, or that reads itself.
const UNCLEAR: &[&str] =
    &["\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}", "__annotations__", "getsource"];

/// Like `UNCLEAR`, but only for JavaScript: comments in HTML, and texts of JSX.
const UNCLEAR_JAVASCRIPT: &[&str] = &["<!--", "-->", "</"];

/// What Python writes before the quotes of a formatted text.
const FORMATTED: &[&str] = &["f", "fr", "rf", "t", "tr", "rt"];

/// Reads code part by part. Each method returns `None` if it is not certain what is a text.
struct AttributeScanner<'c> {
    kind: SourceLanguage,
    rest: &'c str,
    plain: String,
}

impl<'c> AttributeScanner<'c> {
    fn new(kind: SourceLanguage, code: &'c str) -> AttributeScanner<'c> {
        AttributeScanner { kind, rest: code, plain: String::with_capacity(code.len()) }
    }

    fn plain(mut self) -> Option<String> {
        let unclear = if self.kind == SourceLanguage::JavaScript { UNCLEAR_JAVASCRIPT } else { &[] };
        if UNCLEAR.iter().chain(unclear).any(|part| self.rest.contains(part)) {
            return None;
        }
        self.code(None)?;
        Some(self.plain)
    }

    fn take(&mut self, length: usize) -> Option<&'c str> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn keep(&mut self, length: usize) -> Option<()> {
        let kept = self.take(length)?;
        self.plain.push_str(kept);
        Some(())
    }

    /// Code up to its end, or up to the brace that closes it in a text.
    fn code(&mut self, end: Option<char>) -> Option<()> {
        let mut depth = 0_usize;
        while let Some(c) = self.rest.chars().next() {
            if Some(c) == end && depth == 0 {
                return Some(());
            }
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            match (self.kind, c) {
                (_, '"' | '\'') => self.text(c)?,
                (SourceLanguage::JavaScript, '`') => self.template()?,
                (SourceLanguage::Python, '#') => self.comment("\n")?,
                (SourceLanguage::JavaScript, '/') if self.rest.starts_with("//") => self.comment("\n")?,
                (SourceLanguage::JavaScript, '/') if self.rest.starts_with("/*") => self.comment("*/")?,
                (SourceLanguage::JavaScript, '/') => self.slash()?,
                // An escape outside of a text.
                (_, '\\') => return None,
                (_, '.') if self.is_attribute() => {
                    self.take(1)?;
                    self.plain.push(' ');
                }
                _ => self.keep(c.len_utf8())?,
            }
        }
        if end.is_none() { Some(()) } else { None }
    }

    /// A division after a value, or a pattern where a value must follow. After other signs it may be either.
    fn slash(&mut self) -> Option<()> {
        let before = self.plain.trim_end();
        if before.ends_with(|c: char| c.is_ascii_digit() || c == ']') {
            return self.keep(1);
        }
        let is_start =
            before.is_empty() || before.ends_with(['(', ',', '=', ':', '[', '!', '&', '|', '?', ';']);
        // The sign may be that of a comment.
        let is_comment =
            before.lines().next_back().is_some_and(|line| line.contains("//") || line.contains("*/"));
        if !is_start || is_comment {
            return None;
        }
        self.keep(1)?;
        let mut is_in_class = false;
        loop {
            match self.rest.chars().next()? {
                '/' if !is_in_class => return self.keep(1),
                '\\' => self.keep(1)?,
                '[' => is_in_class = true,
                ']' => is_in_class = false,
                '\n' => return None,
                _ => {}
            }
            let next = self.rest.chars().next()?;
            if next == '\n' {
                return None;
            }
            self.keep(next.len_utf8())?;
        }
    }

    /// Whether the name of something follows the dot that is not called.
    fn is_attribute(&self) -> bool {
        let after = self.rest.get(1..).unwrap_or_default();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let is_start = after.starts_with(|c: char| is_name(c) && !c.is_numeric());
        is_start && !after.trim_start_matches(is_name).starts_with('(')
    }

    fn comment(&mut self, end: &str) -> Option<()> {
        let length = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        // It may say that the code is in another character set.
        if self.rest.get(..length)?.contains("coding") { None } else { self.keep(length) }
    }

    fn text(&mut self, quote: char) -> Option<()> {
        let prefix = self.plain.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let is_formatted =
            self.kind == SourceLanguage::Python && FORMATTED.contains(&prefix.to_ascii_lowercase().as_str());
        let triple: String = [quote; 3].iter().collect();
        let is_triple = self.kind == SourceLanguage::Python && self.rest.starts_with(&triple);
        let end = if is_triple { triple.as_str() } else { triple.get(..1)? };
        self.keep(end.len())?;
        while !self.rest.starts_with(end) {
            match self.rest.chars().next()? {
                '\\' => {
                    self.keep(1)?;
                    let next = self.rest.chars().next()?;
                    self.keep(next.len_utf8())?;
                }
                '\n' if !is_triple => return None,
                '{' if is_formatted && self.rest.starts_with("{{") => self.keep(2)?,
                '{' if is_formatted => self.expression(end)?,
                c => self.keep(c.len_utf8())?,
            }
        }
        self.keep(end.len())
    }

    /// What is in the braces of a formatted text: code without texts of its own.
    fn expression(&mut self, end: &str) -> Option<()> {
        let length = self.rest.find('}')?;
        let inner = self.rest.get(1..length)?;
        if inner.contains(['"', '\'', '{', '\\', '#']) || inner.contains(end) {
            return None;
        }
        self.keep(1)?;
        self.code(Some('}'))?;
        self.keep(1)
    }

    /// A text of JavaScript in backticks.
    fn template(&mut self) -> Option<()> {
        self.keep(1)?;
        loop {
            match self.rest.chars().next()? {
                '`' => return self.keep(1),
                '\\' => {
                    self.keep(1)?;
                    let next = self.rest.chars().next()?;
                    self.keep(next.len_utf8())?;
                }
                '$' if self.rest.starts_with("${") => {
                    self.keep(2)?;
                    self.code(Some('}'))?;
                    self.keep(1)?;
                }
                c => self.keep(c.len_utf8())?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_not_files() {
        for (interpreter, code) in [
            ("python3", "for k in d: print(k.key)"),
            ("python3", "x = sorted(rows, key=lambda r: r.key)"),
            ("python3", "print(f'private {a.hex(acc.key)} x')"),
            ("python3", "# a comment's quote\nprint(a.b.key)"),
            ("python3", "print('''a\n\"b''', x[0].key, f().key)"),
            ("python3.12", "print(settings.env, r'\\\\', x.key, open(p, encoding='utf8'))"),
            ("node", "Object.entries(x).forEach(e => console.log(e.key, e?.key))"),
            ("node", "console.log(`${e.key}: ${ {a: e.key}.a }`)"),
            ("node", "// it's\nconst a = import.meta.env, b = {...x.env}"),
            ("node", "x = s.replace(/[/\"]\\/'/g, ''); y = 4 / 2 + a.key"),
            ("node", "if (/a\\/b/.test(s)) console.log(e.key, l[1] / 2)"),
            ("deno", "/* \" */ Deno.env.get(e.key)"),
        ] {
            let plain = without_attributes(interpreter, code);
            assert!(!plain.contains(".key") && !plain.contains(".env"), "{code}\n{plain}");
        }
    }

    #[test]
    fn texts_and_what_is_not_certain_stay() {
        for (interpreter, code) in [
            ("python3", "open('a.key')"),
            ("python3", "open(\"\"\"a.key\"\"\")"),
            ("python3", "print(f'{open(\"a.key\").read()}')"),
            ("python3", "print(f\"{d[\"a.key\"]}\")"),
            ("python3", "x = 'it\\'s'; open('a.key')"),
            ("python3", "# coding: x\nopen(a.key)"),
            ("node", "x = /\"/; fs.readFileSync(\"a.key\")"),
            ("node", "x = a /\"/ 1; fs.readFileSync(a.key)//\""),
            ("node", "x = 4 /\"/ 1; fs.readFileSync(a.key)//\""),
            ("node", "x = a // =\n/\"/ 1; fs.readFileSync(a.key)//\""),
            ("node", "x++ /\"/ 1; a.key"),
            ("node", "x = (a) /1; a.key"),
            ("node", "x = /[/*]/; fs.readFileSync(\"*/a.key\")"),
            ("node", "<!-- \"\nfs.readFileSync(\"a.key\")"),
            ("node", "fs.readFileSync(`a.key`)"),
            ("node", "fs.readFileSync(`${d}/a.key`)"),
            ("node", "$`cat a.key`"),
            ("tsx", "x = <a>\"</a>; fs.readFileSync(\"a.key\")"),
            ("perl", "open(F, a.key)"),
            ("ruby", "File.read(a.key)"),
            ("python3", "open(a)\u{1e}a.key"),
        ] {
            assert!(without_attributes(interpreter, code).contains("a.key"), "{code}");
        }
    }
}
