//! The values of a JSON text by where they are in it. What nobody asks for is passed over: neither decoded nor validated, since most bytes
//! of transcripts and trails are such. A text that is cut off anywhere is noticed all the same.

use std::borrow::Cow;

/// It is no JSON, or not of the kind that was asked for.
#[derive(Debug)]
pub(crate) struct Broken;

/// The fields of an object or the values of a list, one after the other.
pub(crate) struct Parts<'a> {
    text: &'a str,
    at: usize,
    end: u8,
    is_first: bool,
}

impl<'a> Parts<'a> {
    pub(crate) fn of_object(text: &'a str) -> Result<Parts<'a>, Broken> {
        Parts::of(text, b'{', b'}')
    }

    pub(crate) fn of_list(text: &'a str) -> Result<Parts<'a>, Broken> {
        Parts::of(text, b'[', b']')
    }

    fn of(text: &'a str, start: u8, end: u8) -> Result<Parts<'a>, Broken> {
        let mut parts = Parts { text, at: 0, end, is_first: true };
        parts.take(start)?;
        Ok(parts)
    }

    /// The name of the next field and its value; none behind the last. Names are compared as they are written.
    pub(crate) fn field(&mut self) -> Result<Option<(&'a str, &'a str)>, Broken> {
        if !self.advance()? {
            return Ok(None);
        }
        let name = within(self.value()?).ok_or(Broken)?;
        self.take(b':')?;
        self.pass_blanks();
        Ok(Some((name, self.value()?)))
    }

    /// The next value; none behind the last.
    pub(crate) fn item(&mut self) -> Result<Option<&'a str>, Broken> {
        if self.advance()? { self.value().map(Some) } else { Ok(None) }
    }

    /// Behind the last part there is nothing else.
    pub(crate) fn finish(mut self) -> Result<(), Broken> {
        self.pass_blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(Broken) }
    }

    fn next_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn pass_blanks(&mut self) {
        while matches!(self.next_byte(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), Broken> {
        self.pass_blanks();
        if self.next_byte() != Some(byte) {
            return Err(Broken);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether there is another part.
    fn advance(&mut self) -> Result<bool, Broken> {
        self.pass_blanks();
        let is_first = std::mem::replace(&mut self.is_first, false);
        if self.next_byte() == Some(self.end) {
            self.at += 1;
            return Ok(false);
        }
        if !is_first {
            self.take(b',')?;
            self.pass_blanks();
        }
        Ok(true)
    }

    fn value(&mut self) -> Result<&'a str, Broken> {
        let start = self.at;
        self.at = after_value(self.text.as_bytes(), start).ok_or(Broken)?;
        self.text.get(start..self.at).ok_or(Broken)
    }
}

fn after_value(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => after_string(bytes, at),
        b'{' | b'[' => after_nested(bytes, at),
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let is_end = |byte: &u8| !matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E');
            let rest = bytes.get(at..)?;
            Some(at + rest.iter().position(is_end).unwrap_or(rest.len()))
        }
        _ => None,
    }
}

fn after_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let rest = bytes.get(at..)?;
        let found = memchr::memchr2(b'"', b'\\', rest)?;
        at += found + 1;
        if rest.get(found) == Some(&b'"') {
            return Some(at);
        }
        // What is escaped ends nothing.
        at += 1;
    }
}

/// Counted and not nested calls: others may have written it.
fn after_nested(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = after_string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return Some(at + 1),
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
}

/// What is between the quotes of a string, as it is written.
fn within(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

/// The text of a string; none for another value.
pub(crate) fn text(value: &str) -> Option<Cow<'_, str>> {
    let written = within(value)?;
    match memchr::memchr(b'\\', written.as_bytes()) {
        None => Some(Cow::Borrowed(written)),
        Some(_) => serde_json::from_str(value).ok().map(Cow::Owned),
    }
}

/// The fields of an object, found and not yet read. Of one that is there twice the last counts.
pub(crate) struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    pub(crate) fn of(text: &'a str) -> Result<Fields<'a>, Broken> {
        let mut parts = Parts::of_object(text)?;
        let mut fields = Vec::with_capacity(16);
        while let Some(field) = parts.field()? {
            fields.push(field);
        }
        parts.finish().map(|()| Fields(fields))
    }

    /// A value as it is written.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(found, _)| *found == name).map(|(_, value)| *value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(text)
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).and_then(|value| value.parse().ok())
    }

    pub(crate) fn object(&self, name: &str) -> Option<Fields<'a>> {
        self.get(name).and_then(|value| Fields::of(value).ok())
    }

    /// The objects of a list.
    pub(crate) fn objects(&self, name: &str) -> impl Iterator<Item = Fields<'a>> {
        let mut list = self.get(name).and_then(|value| Parts::of_list(value).ok());
        let items = std::iter::from_fn(move || list.as_mut()?.item().ok()?);
        items.filter_map(|value| Fields::of(value).ok())
    }
}

/// A value that is not `null`.
pub(crate) fn present(value: &str) -> Option<&str> {
    (value != "null").then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Result<Vec<(&str, &str)>, Broken> {
        let mut parts = Parts::of_object(text)?;
        let mut found = Vec::new();
        while let Some(field) = parts.field()? {
            found.push(field);
        }
        parts.finish().map(|()| found)
    }

    #[test]
    fn fields_are_found_whatever_is_in_those_before_them() {
        let text = r#" { "a" : "x\"}\\" , "b":[{"c":"]}"},[]],"d":-1.5e3, "":{} ,"e":null}"#;
        let expected =
            [("a", r#""x\"}\\""#), ("b", r#"[{"c":"]}"},[]]"#), ("d", "-1.5e3"), ("", "{}"), ("e", "null")];
        assert_eq!(fields(text).unwrap(), expected);
        assert_eq!(fields("{}").unwrap(), []);
        for end in 0..text.len() {
            assert!(fields(&text[..end]).is_err(), "{}", &text[..end]);
        }
    }

    #[test]
    fn what_is_no_object_is_broken() {
        for text in
            ["", "[]", "{} {}", "{,}", r#"{"a":1,}"#, r#"{"a" 1}"#, r#"{1:2}"#, r#"{"a":x}"#, r#"{"a":"\"#]
        {
            assert!(fields(text).is_err(), "{text}");
        }
        let deep = format!("{{\"a\":{}", "[".repeat(1_000_000));
        assert!(fields(&deep).is_err());
        let mut list = Parts::of_list("[1,\"a\",]").unwrap();
        assert_eq!((list.item().unwrap(), list.item().unwrap()), (Some("1"), Some("\"a\"")));
        assert!(list.item().is_err());
    }

    #[test]
    fn fields_are_read_when_they_are_asked_for() {
        let fields = Fields::of(r#"{"a":1,"b":[{"c":"x"},7,{"c":"\n"}],"a":2,"d":{"e":null}}"#).unwrap();
        assert_eq!(fields.number::<u64>("a"), Some(2), "the last counts");
        assert_eq!((fields.text("a"), fields.text("z"), fields.get("z")), (None, None, None));
        let texts: Vec<_> = fields.objects("b").filter_map(|object| object.text("c")).collect();
        assert_eq!(texts, ["x", "\n"]);
        assert_eq!(fields.objects("a").count(), 0);
        assert_eq!(fields.object("d").unwrap().get("e"), Some("null"));
        assert!(Fields::of("[1]").is_err());
    }

    #[test]
    fn texts_are_decoded_where_they_have_escapes() {
        assert!(matches!(text("\"a\u{e4}\""), Some(Cow::Borrowed("a\u{e4}"))));
        assert_eq!(text(r#""a\n\u00e4\ud83d\ude00""#).as_deref(), Some("a\n\u{e4}\u{1f600}"));
        for other in ["1", "null", "[\"a\"]", r#""\ud83d""#, r#""\x""#] {
            assert_eq!(text(other), None, "{other}");
        }
    }
}
