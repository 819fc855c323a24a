//! A quick reader for the YAML that people write: mappings and lists in lines of their own, plain and quoted words, comments, lists
//! of words in brackets, scripts over several lines.
//! Whatever else stands in a file, and whatever is wrong with it, is left to the full reader: this one only ever says "I know
//! what that means", and then it means the same.

use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

mod values;

use values::Listed;

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
    let mut reader = Reader { line: None, rest: text, lines: 0, depth: 0, key: None };
    reader.advance().ok()?;
    let indent = reader.line?.indent;
    let value = T::deserialize(Node { reader: &mut reader, what: What::Block(indent) }).ok()?;
    reader.line.is_none().then_some(value)
}

/// The letters that a line is looked at for: its end, colons, comments, and whatever is not plain ASCII.
#[expect(clippy::indexing_slicing, reason = "an index out of bounds would not compile")]
const MEANS_SOMETHING: [bool; 256] = {
    let mut means = [true; 256];
    let mut plain = b' ';
    while plain <= b'~' {
        means[plain as usize] = matches!(plain, b':' | b'#');
        plain += 1;
    }
    means
};

/// A line that says something, without the blanks around it.
#[derive(Clone, Copy)]
struct Line<'a> {
    indent: usize,
    text: &'a str,
    /// Where the first colon with a blank or nothing behind it stands.
    colon: Option<usize>,
    /// There is no other such colon, and no comment.
    is_simple: bool,
}

impl<'a> Line<'a> {
    /// The line without its first letters, none of which is a colon.
    fn after(self, letters: usize) -> Option<Line<'a>> {
        let colon = self.colon.and_then(|at| at.checked_sub(letters));
        Some(Line { indent: self.indent + letters, text: self.text.get(letters..)?, colon, ..self })
    }
}

struct Reader<'a> {
    /// The line that is looked at, none at the end.
    line: Option<Line<'a>>,
    /// All that stands below it.
    rest: &'a str,
    lines: usize,
    depth: usize,
    /// The key of this line, where it was looked at already.
    key: Option<(Word<'a>, &'a str)>,
}

impl<'a> Reader<'a> {
    /// Goes on to the next line that says something.
    fn advance(&mut self) -> Result<(), Unsure> {
        self.line = None;
        while self.line.is_none() && !self.rest.is_empty() {
            self.line = self.take_line()?;
        }
        self.lines += 1;
        if self.lines <= MOST_LINES { Ok(()) } else { Err(Unsure) }
    }

    /// Takes a line, looking at each letter once; none if it says nothing.
    fn take_line(&mut self) -> Result<Option<Line<'a>>, Unsure> {
        let indent = self.rest.bytes().take_while(|byte| *byte == b' ').count();
        let line = self.rest.get(indent..).ok_or(Unsure)?;
        let (mut colon, mut is_simple) = (None, true);
        let mut letters = line.bytes();
        while letters.any(|byte| MEANS_SOMETHING.get(usize::from(byte)) == Some(&true)) {
            let at = line.len() - letters.len() - 1;
            match line.as_bytes().get(at..).unwrap_or_default() {
                [b'\n', ..] => break,
                [b':'] | [b':', b' ' | b'\n', ..] if colon.is_none() => colon = Some(at),
                [b':' | b'#', ..] => is_simple = false,
                _ => return Err(Unsure),
            }
        }
        let end = line.len() - letters.len();
        let (text, rest) = line.split_at_checked(end).ok_or(Unsure)?;
        let text = text.trim_ascii_end();
        self.rest = rest;
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        if indent == 0 && (text.starts_with("---") || text.starts_with("...") || text.starts_with('%')) {
            return Err(Unsure);
        }
        Ok(Some(Line { indent, text, colon, is_simple }))
    }

    /// Nothing may go on below this: words over several lines are unusual.
    fn ends_at(&self, indent: usize) -> Result<(), Unsure> {
        if self.line.is_some_and(|line| line.indent > indent) { Err(Unsure) } else { Ok(()) }
    }
}

#[derive(Clone, Copy)]
enum Word<'a> {
    Quoted(&'a str),
    Plain(&'a str),
}

/// What a quoted word is, and what follows it on the line.
fn quoted(text: &str) -> Result<Option<(&str, &str)>, Unsure> {
    let quote = match text.as_bytes().first() {
        Some(b'"') => '"',
        Some(b'\'') => '\'',
        _ => return Ok(None),
    };
    let (word, after) = text.get(1..).and_then(|rest| rest.split_once(quote)).ok_or(Unsure)?;
    // Escapes are left to others.
    let is_simple = !word.contains('\\') || quote == '\'';
    if is_simple && !after.starts_with(quote) { Ok(Some((word, after))) } else { Err(Unsure) }
}

/// Whether there is a colon with a blank or nothing behind it.
fn has_colon(text: &str) -> bool {
    text.ends_with(':') || text.as_bytes().windows(2).any(|pair| pair == b": ")
}

/// The first sign of a comment with a blank before it.
fn comment(text: &str) -> Option<usize> {
    text.as_bytes().windows(2).position(|pair| pair == b" #")
}

/// A word may begin so without meaning something else.
fn begins_plainly(text: &str) -> bool {
    let first = text.as_bytes().first();
    first.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"/._$(<=+^;\\~".contains(byte))
}

/// The key of a line and what follows it; none if the line is no entry of a mapping.
fn key_of(line: Line<'_>) -> Result<Option<(Word<'_>, &str)>, Unsure> {
    let text = line.text;
    let (key, rest) = if let Some((word, after)) = quoted(text)? {
        let Some(rest) = after.trim_ascii_start().strip_prefix(':') else { return Ok(None) };
        (Word::Quoted(word), rest)
    } else {
        if !begins_plainly(text) {
            return Err(Unsure);
        }
        let Some(at) = line.colon else { return Ok(None) };
        let (key, rest) = (text.get(..at).ok_or(Unsure)?.trim_ascii_end(), text.get(at + 1..).ok_or(Unsure)?);
        if (!line.is_simple && comment(key).is_some()) || !is_text(key) {
            return Err(Unsure);
        }
        (Word::Plain(key), rest)
    };
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return Err(Unsure);
    }
    if text.len() - rest.len() > LONGEST_KEY {
        return Err(Unsure);
    }
    let rest = rest.trim_ascii_start();
    Ok(Some((key, if rest.starts_with('#') { "" } else { rest })))
}

/// A word that is the whole value. In a simple line it has neither comment nor colon.
fn word(text: &str, is_simple: bool) -> Result<Word<'_>, Unsure> {
    if let Some((word, after)) = quoted(text)? {
        let after = after.trim_ascii_start();
        let has_space = text.len() > word.len() + 2 + after.len();
        return if after.is_empty() || (after.starts_with('#') && has_space) {
            Ok(Word::Quoted(word))
        } else {
            Err(Unsure)
        };
    }
    let text = if is_simple {
        text
    } else {
        comment(text).and_then(|at| text.get(..at)).unwrap_or(text).trim_ascii_end()
    };
    if !begins_plainly(text) || (!is_simple && has_colon(text)) {
        return Err(Unsure);
    }
    Ok(Word::Plain(text))
}

fn is_null(plain: &str) -> bool {
    matches!(plain, "~" | "null" | "Null" | "NULL")
}

/// Surely text, and no number, truth or nothing in disguise.
fn is_text(plain: &str) -> bool {
    let begins = match plain.as_bytes().first() {
        Some(b'.') => plain.starts_with("./"),
        Some(b'/' | b'_' | b'$' | b'(') => true,
        other => other.is_some_and(u8::is_ascii_alphabetic),
    };
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
    /// What stands between brackets.
    List(&'a str),
    Script(String),
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
        self.reader.line.is_some_and(|line| line.text.starts_with("- "))
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
            What::List(inside) => visitor.visit_seq(Listed::new(inside)),
            What::Script(script) => visitor.visit_string(script),
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
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unsure> {
        match self.what {
            What::Script(script) => visitor.visit_string(script),
            _ => visitor.visit_borrowed_str(self.text()?),
        }
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
        if let What::List(inside) = self.what {
            return visitor.visit_seq(Listed::new(inside));
        }
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
        let Some(line) = self.reader.line.filter(|line| line.indent >= self.indent) else {
            return Ok(None);
        };
        if line.indent > self.indent || line.text.starts_with("- ") {
            return Err(Unsure);
        }
        let (key, rest) = match self.reader.key.take() {
            Some(known) => known,
            None => key_of(line)?.ok_or(Unsure)?,
        };
        let script = self.reader.script(rest, self.indent)?;
        self.reader.advance()?;
        self.value = if let Some(script) = script {
            What::Script(script)
        } else if rest.is_empty() {
            match self.reader.line {
                Some(next) if next.indent > self.indent => What::Block(next.indent),
                // A list may stand right below its key.
                Some(next) if next.indent == self.indent && next.text.starts_with("- ") => {
                    What::Block(self.indent)
                }
                _ => What::Nothing,
            }
        } else {
            self.reader.ends_at(self.indent)?;
            match Listed::of(rest, line.is_simple) {
                Some(inside) => What::List(inside),
                None => What::Word(word(rest, line.is_simple)?),
            }
        };
        let (Word::Quoted(key) | Word::Plain(key)) = key;
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Unsure> {
        let what = std::mem::replace(&mut self.value, What::Nothing);
        seed.deserialize(Node { reader: &mut *self.reader, what })
    }

    /// A guess: memory that is set aside and never touched costs nothing, and copying what has outgrown its place does.
    fn size_hint(&self) -> Option<usize> {
        Some(self.reader.rest.len() / 40)
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
        let Some(line) = self.reader.line.filter(|line| line.indent >= self.indent) else {
            return Ok(None);
        };
        if line.indent > self.indent {
            return Err(Unsure);
        }
        // Right below its key, a list ends where the next key begins.
        let Some(rest) = line.text.strip_prefix("- ") else { return Ok(None) };
        let item = line.after(line.text.len() - rest.trim_ascii_start().len()).ok_or(Unsure)?;
        self.reader.key = key_of(item)?;
        let what = if self.reader.key.is_some() {
            // A mapping that begins behind the dash: its other keys stand below the first.
            self.reader.line = Some(item);
            What::Block(item.indent)
        } else {
            self.reader.advance()?;
            self.reader.ends_at(self.indent)?;
            What::Word(word(item.text, item.is_simple)?)
        };
        seed.deserialize(Node { reader: &mut *self.reader, what }).map(Some)
    }

    /// Of commands there is usually one.
    fn size_hint(&self) -> Option<usize> {
        Some(1)
    }
}

#[cfg(test)]
mod tests;
