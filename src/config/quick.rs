//! A quick reader for the YAML that people write: mappings and lists in lines of their own, plain and quoted words, comments.
//! Whatever else stands in a file, and whatever is wrong with it, is left to the full reader: this one only ever says "I know
//! what that means", and then it means the same.

use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// The full reader must have a look.
#[derive(Debug)]
pub(super) struct Unsure;

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not sure")
    }
}

impl std::error::Error for Unsure {}

impl de::Error for Unsure {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Unsure
    }
}

/// Larger configs may take longer; and the full reader has bounds of its own, which these are well within.
const MOST_LINES: usize = 12_000;
const LONGEST_KEY: usize = 500;
const DEEPEST: usize = 16;

/// Reads a value, if every line of the text is of the usual kind.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    let mut reader = Reader { lines: lines(text)?, at: 0, depth: 0, key: None };
    let indent = reader.lines.first()?.indent;
    let value = T::deserialize(Node { reader: &mut reader, what: What::Block(indent) }).ok()?;
    (reader.at == reader.lines.len()).then_some(value)
}

#[derive(Clone, Copy)]
struct Line<'a> {
    indent: usize,
    text: &'a str,
}

/// The lines that say something; none if any is unusual.
fn lines(text: &str) -> Option<Vec<Line<'_>>> {
    // Without a way out in between: so the compiler looks at many letters at once.
    let is_odd = |odd: bool, byte: u8| odd | ((byte < b' ') & (byte != b'\n')) | (byte > b'~');
    if text.bytes().fold(false, is_odd) {
        return None;
    }
    let mut lines = Vec::with_capacity(text.len() / 20);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
        let line = text.get(start..end)?;
        start = end + 1;
        let indent = line.bytes().take_while(|byte| *byte == b' ').count();
        let content = line.get(indent..)?.trim_end_matches(' ');
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if indent == 0
            && (content.starts_with("---") || content.starts_with("...") || content.starts_with('%'))
        {
            return None;
        }
        lines.push(Line { indent, text: content });
    }
    (lines.len() <= MOST_LINES).then_some(lines)
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
    depth: usize,
    /// The key of this line, where it was looked at already.
    key: Option<(Word<'a>, &'a str)>,
}

impl<'a> Reader<'a> {
    fn line(&self) -> Option<Line<'a>> {
        self.lines.get(self.at).copied()
    }

    /// Nothing may go on below this: words over several lines are unusual.
    fn ends_at(&self, indent: usize) -> Result<(), Unsure> {
        if self.line().is_some_and(|line| line.indent > indent) { Err(Unsure) } else { Ok(()) }
    }
}

#[derive(Clone, Copy)]
enum Word<'a> {
    Quoted(&'a str),
    Plain(&'a str),
}

/// What a quoted word is, and what follows it on the line.
fn quoted(text: &str) -> Result<Option<(&str, &str)>, Unsure> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let (word, after) = rest.split_once(quote).ok_or(Unsure)?;
            // Escapes are left to others.
            let is_simple = !word.contains('\\') || quote == '\'';
            return if is_simple && !after.starts_with(quote) {
                Ok(Some((word, after)))
            } else {
                Err(Unsure)
            };
        }
    }
    Ok(None)
}

/// The first colon with a blank behind it.
fn colon(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b':', bytes).find(|at| bytes.get(at + 1) == Some(&b' '))
}

/// The first sign of a comment with a blank before it.
fn comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'#', bytes)
        .filter_map(|at| at.checked_sub(1))
        .find(|at| bytes.get(*at) == Some(&b' '))
}

/// A word may begin so without meaning something else.
fn begins_plainly(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || "/._$(<=+^;\\~".contains(c))
}

/// The key of a line and what follows it; none if the line is no entry of a mapping.
fn key_of(text: &str) -> Result<Option<(Word<'_>, &str)>, Unsure> {
    let (key, rest) = if let Some((word, after)) = quoted(text)? {
        let Some(rest) = after.trim_start_matches(' ').strip_prefix(':') else { return Ok(None) };
        (Word::Quoted(word), rest)
    } else {
        if !begins_plainly(text) {
            return Err(Unsure);
        }
        let at = match colon(text) {
            Some(at) => at,
            None if text.ends_with(':') => text.len() - 1,
            None => return Ok(None),
        };
        let (key, rest) = (text.get(..at).ok_or(Unsure)?, text.get(at + 1..).ok_or(Unsure)?);
        if comment(key).is_some() || !is_text(key) {
            return Err(Unsure);
        }
        (Word::Plain(key.trim_end_matches(' ')), rest)
    };
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return Err(Unsure);
    }
    if text.len() - rest.len() > LONGEST_KEY {
        return Err(Unsure);
    }
    let rest = rest.trim_start_matches(' ');
    Ok(Some((key, if rest.starts_with('#') { "" } else { rest })))
}

/// A word that is the whole value.
fn word(text: &str) -> Result<Word<'_>, Unsure> {
    if let Some((word, after)) = quoted(text)? {
        let after = after.trim_start_matches(' ');
        let has_space = text.len() > word.len() + 2 + after.len();
        return if after.is_empty() || (after.starts_with('#') && has_space) {
            Ok(Word::Quoted(word))
        } else {
            Err(Unsure)
        };
    }
    let text = comment(text).and_then(|at| text.get(..at)).unwrap_or(text).trim_end_matches(' ');
    if !begins_plainly(text) || colon(text).is_some() || text.ends_with(':') {
        return Err(Unsure);
    }
    Ok(Word::Plain(text))
}

fn is_null(plain: &str) -> bool {
    matches!(plain, "~" | "null" | "Null" | "NULL")
}

/// Surely text, and no number, truth or nothing in disguise.
fn is_text(plain: &str) -> bool {
    let begins =
        plain.starts_with(|c: char| c.is_ascii_alphabetic() || "/_$(".contains(c)) || plain.starts_with("./");
    begins && !(plain.len() <= 8 && is_other(plain))
}

/// Truth, nothing or a number, in one of YAML's many words for it.
fn is_other(plain: &str) -> bool {
    let words: &[&str] = match plain.as_bytes().first().map(u8::to_ascii_lowercase) {
        Some(b't') => &["true"],
        Some(b'f') => &["false"],
        Some(b'n') => &["null", "no", "n", "nan"],
        Some(b'y') => &["yes", "y"],
        Some(b'o') => &["on", "off"],
        Some(b'i') => &["inf", "infinity"],
        _ => &[],
    };
    words.iter().any(|word| plain.eq_ignore_ascii_case(word))
}

fn number(plain: &str) -> Option<u32> {
    let is_simple =
        plain.bytes().all(|byte| byte.is_ascii_digit()) && plain.len() <= 9 && !plain.starts_with('0');
    if is_simple { plain.parse().ok() } else { None }
}

enum What<'a> {
    /// What begins at the reader's line, with this indentation.
    Block(usize),
    Word(Word<'a>),
    Nothing,
}

struct Node<'a, 'r> {
    reader: &'r mut Reader<'a>,
    what: What<'a>,
}

impl<'a> Node<'a, '_> {
    fn text(&self) -> Result<&'a str, Unsure> {
        match self.what {
            What::Word(Word::Quoted(text)) => Ok(text),
            What::Word(Word::Plain(text)) if is_text(text) => Ok(text),
            _ => Err(Unsure),
        }
    }

    fn number(&self) -> Result<u32, Unsure> {
        match self.what {
            What::Word(Word::Plain(text)) => number(text).ok_or(Unsure),
            _ => Err(Unsure),
        }
    }

    fn is_list(&self) -> bool {
        self.reader.line().is_some_and(|line| line.text.starts_with("- "))
    }
}

impl<'a> Deserializer<'a> for Node<'a, '_> {
    type Error = Unsure;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        match self.what {
            What::Block(_) if self.is_list() => self.deserialize_seq(visitor),
            What::Block(_) => self.deserialize_map(visitor),
            What::Word(Word::Plain("true")) => visitor.visit_bool(true),
            What::Word(Word::Plain("false")) => visitor.visit_bool(false),
            What::Word(Word::Plain(text)) if number(text).is_some() => visitor.visit_u32(self.number()?),
            What::Word(_) => visitor.visit_borrowed_str(self.text()?),
            What::Nothing => Err(Unsure),
        }
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        match self.what {
            What::Nothing => visitor.visit_none(),
            What::Word(Word::Plain(text)) if is_null(text) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        match self.what {
            What::Word(Word::Plain("true")) => visitor.visit_bool(true),
            What::Word(Word::Plain("false")) => visitor.visit_bool(false),
            _ => Err(Unsure),
        }
    }

    fn deserialize_u32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        visitor.visit_u32(self.number()?)
    }

    fn deserialize_str<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unsure> {
        visitor.visit_enum(BorrowedStrDeserializer::<Unsure>::new(self.text()?))
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unsure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unsure> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        let What::Block(indent) = self.what else { return Err(Unsure) };
        if self.is_list() {
            return Err(Unsure);
        }
        within(self.reader, |reader| visitor.visit_map(Entries { reader, indent, value: What::Nothing }))
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        let What::Block(indent) = self.what else { return Err(Unsure) };
        if !self.is_list() {
            return Err(Unsure);
        }
        within(self.reader, |reader| visitor.visit_seq(Items { reader, indent }))
    }

    forward_to_deserialize_any! {
        <W: Visitor<'a>>
        i8 i16 i32 i64 i128 u8 u16 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
        ignored_any
    }
}

/// One level deeper, as far as anybody goes.
fn within<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, Unsure>,
) -> Result<T, Unsure> {
    reader.depth += 1;
    if reader.depth > DEEPEST {
        return Err(Unsure);
    }
    let value = read(reader)?;
    reader.depth -= 1;
    Ok(value)
}

/// The entries of a mapping whose keys stand at this indentation.
struct Entries<'a, 'r> {
    reader: &'r mut Reader<'a>,
    indent: usize,
    value: What<'a>,
}

impl<'a> MapAccess<'a> for Entries<'a, '_> {
    type Error = Unsure;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Unsure> {
        let Some(line) = self.reader.line().filter(|line| line.indent >= self.indent) else {
            return Ok(None);
        };
        if line.indent > self.indent || line.text.starts_with("- ") {
            return Err(Unsure);
        }
        let (key, rest) = match self.reader.key.take() {
            Some(known) => known,
            None => key_of(line.text)?.ok_or(Unsure)?,
        };
        self.reader.at += 1;
        self.value = if rest.is_empty() {
            match self.reader.line() {
                Some(next) if next.indent > self.indent => What::Block(next.indent),
                // A list may stand right below its key.
                Some(next) if next.indent == self.indent && next.text.starts_with("- ") => {
                    What::Block(self.indent)
                }
                _ => What::Nothing,
            }
        } else {
            self.reader.ends_at(self.indent)?;
            What::Word(word(rest)?)
        };
        let (Word::Quoted(key) | Word::Plain(key)) = key;
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Unsure> {
        let what = std::mem::replace(&mut self.value, What::Nothing);
        seed.deserialize(Node { reader: &mut *self.reader, what })
    }
}

/// The items of a list whose dashes stand at this indentation.
struct Items<'a, 'r> {
    reader: &'r mut Reader<'a>,
    indent: usize,
}

impl<'a> SeqAccess<'a> for Items<'a, '_> {
    type Error = Unsure;

    fn next_element_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, Unsure> {
        let Some(line) = self.reader.line().filter(|line| line.indent >= self.indent) else {
            return Ok(None);
        };
        if line.indent > self.indent {
            return Err(Unsure);
        }
        // Right below its key, a list ends where the next key begins.
        let Some(rest) = line.text.strip_prefix("- ") else { return Ok(None) };
        let text = rest.trim_start_matches(' ');
        self.reader.key = key_of(text)?;
        let what = if self.reader.key.is_some() {
            // A mapping that begins behind the dash: its other keys stand below the first.
            let indent = self.indent + line.text.len() - text.len();
            if let Some(place) = self.reader.lines.get_mut(self.reader.at) {
                *place = Line { indent, text };
            }
            What::Block(indent)
        } else {
            self.reader.at += 1;
            self.reader.ends_at(self.indent)?;
            What::Word(word(text)?)
        };
        seed.deserialize(Node { reader: &mut *self.reader, what }).map(Some)
    }
}

#[cfg(test)]
mod tests;
