//! Values of more than one word: lists in brackets, and scripts over several lines.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, SeqAccess};

use super::{Reader, Unsure, Word, begins_plainly, comment, has_colon, is_text, quoted};

/// The items of a list in brackets, separated by commas.
pub(super) struct Listed<'a>(Option<&'a str>);

impl<'a> Listed<'a> {
    /// What stands between the brackets; none if the value is no such list. In a simple line there is neither comment nor colon.
    pub(super) fn of(value: &'a str, is_simple: bool) -> Option<&'a str> {
        let inside = value.strip_prefix('[')?;
        if is_simple {
            return inside.strip_suffix(']');
        }
        let inside = comment(inside).and_then(|at| inside.get(..at)).unwrap_or(inside);
        inside.trim_ascii_end().strip_suffix(']').filter(|inside| !has_colon(inside))
    }

    pub(super) fn new(inside: &'a str) -> Listed<'a> {
        Listed(Some(inside).filter(|inside| !inside.trim_ascii().is_empty()))
    }
}

impl<'a> SeqAccess<'a> for Listed<'a> {
    type Error = Unsure;

    fn next_element_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, Unsure> {
        let Some(left) = self.0 else { return Ok(None) };
        let (item, left) = match left.split_once(',') {
            Some((item, left)) => (item, Some(left)),
            None => (left, None),
        };
        self.0 = left;
        let (Word::Quoted(word) | Word::Plain(word)) = listed_word(item.trim_ascii())?;
        seed.deserialize(BorrowedStrDeserializer::<Unsure>::new(word)).map(Some)
    }
}

/// A word that means the same in brackets as outside.
fn listed_word(item: &str) -> Result<Word<'_>, Unsure> {
    if let Some((word, after)) = quoted(item)? {
        return if after.is_empty() { Ok(Word::Quoted(word)) } else { Err(Unsure) };
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./*".contains(&byte);
    if begins_plainly(item) && is_text(item) && item.bytes().all(is_plain) {
        Ok(Word::Plain(item))
    } else {
        Err(Unsure)
    }
}

impl Reader<'_> {
    /// The script below a key at this indentation, if the value says that there is one: `|`, or `|-` without the last newline.
    pub(super) fn script(&mut self, value: &str, indent: usize) -> Result<Option<String>, Unsure> {
        let is_open = match value {
            "|" => true,
            "|-" => false,
            _ => return Ok(None),
        };
        let mut script = String::new();
        let mut margin = None;
        let mut blank = 0;
        while !self.rest.is_empty() {
            // Without a newline at the very end it has none either; that is left to others.
            let (line, rest) = self.rest.split_once('\n').ok_or(Unsure)?;
            let spaces = line.bytes().take_while(|byte| *byte == b' ').count();
            let text = line.get(spaces..).ok_or(Unsure)?;
            if !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
                return Err(Unsure);
            }
            if text.is_empty() {
                // Blank lines at the beginning, or with blanks that may be part of the script.
                if margin.is_none_or(|margin| spaces > margin) {
                    return Err(Unsure);
                }
                blank += 1;
            } else if spaces <= indent {
                break;
            } else {
                let margin = *margin.get_or_insert(spaces);
                if spaces < margin {
                    return Err(Unsure);
                }
                script.extend(std::iter::repeat_n('\n', std::mem::take(&mut blank)));
                script.push_str(line.get(margin..).ok_or(Unsure)?);
                script.push('\n');
            }
            self.rest = rest;
            self.lines += 1;
        }
        if margin.is_none() {
            return Err(Unsure);
        }
        if !is_open {
            script.pop();
        }
        Ok(Some(script))
    }
}
