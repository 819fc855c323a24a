//! A JSON scanner that decodes only requested values. Most bytes of transcripts and trails are never needed, so they are skipped
//! without decoding or validation. A truncated text is still an error.

use std::borrow::Cow;

use thiserror::Error;

/// The text is not JSON, or not of the expected kind.
#[derive(Debug, Error)]
#[error("not the expected JSON")]
pub struct JsonError;

/// A position in a text, before a value. Every byte is read once, even in nested values.
pub struct JsonScanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> JsonScanner<'a> {
    pub fn of(text: &'a str) -> JsonScanner<'a> {
        let mut scan = JsonScanner { text, at: 0 };
        scan.pass_blanks();
        scan
    }

    /// Reads an object. `take` gets the raw name of each field, and must read its value.
    pub fn object(
        &mut self,
        mut take: impl FnMut(&'a str, &mut JsonScanner<'a>) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.pass(b'{')?;
        let mut is_first = true;
        while self.advance(b'}', &mut is_first)? {
            let start = self.at + 1;
            if self.first() != Some(b'"') {
                return Err(JsonError);
            }
            self.value()?;
            let name = self.text.get(start..self.at - 1).ok_or(JsonError)?;
            self.pass_blanks();
            self.pass(b':')?;
            self.pass_blanks();
            take(name, self)?;
        }
        Ok(())
    }

    /// Reads a list. `take` must read each of its values.
    pub fn list(
        &mut self,
        mut take: impl FnMut(&mut JsonScanner<'a>) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.pass(b'[')?;
        let mut is_first = true;
        while self.advance(b']', &mut is_first)? {
            take(self)?;
        }
        Ok(())
    }

    /// Reads any value, and returns its raw text.
    pub fn value(&mut self) -> Result<&'a str, JsonError> {
        let start = self.at;
        self.at = after_value(self.text.as_bytes(), start).ok_or(JsonError)?;
        self.text.get(start..self.at).ok_or(JsonError)
    }

    /// Like `value`, with `None` for `null`.
    pub fn present(&mut self) -> Result<Option<&'a str>, JsonError> {
        let value = self.value()?;
        Ok(if value == "null" { None } else { Some(value) })
    }

    /// Reads `null`, if that is next.
    pub fn is_null(&mut self) -> Result<bool, JsonError> {
        let is_null = self.first() == Some(b'n');
        if is_null {
            self.value()?;
        }
        Ok(is_null)
    }

    /// The first byte of the next value.
    pub fn first(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Checks that nothing else follows.
    pub fn finish(mut self) -> Result<(), JsonError> {
        self.pass_blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(JsonError) }
    }

    fn pass_blanks(&mut self) {
        while matches!(self.first(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn pass(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.first() != Some(byte) {
            return Err(JsonError);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether there is another part before the end.
    fn advance(&mut self, end: u8, is_first: &mut bool) -> Result<bool, JsonError> {
        self.pass_blanks();
        if self.first() == Some(end) {
            self.at += 1;
            return Ok(false);
        }
        if !std::mem::replace(is_first, false) {
            self.pass(b',')?;
            self.pass_blanks();
        }
        Ok(true)
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
        // An escaped character ends nothing.
        at += 1;
    }
}

/// Nesting is counted instead of recursion, because the text is untrusted.
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

/// The text of a string; `None` for another value.
pub fn text(value: &str) -> Option<Cow<'_, str>> {
    let written = value.strip_prefix('"')?.strip_suffix('"')?;
    match memchr::memchr(b'\\', written.as_bytes()) {
        None => Some(Cow::Borrowed(written)),
        Some(_) => serde_json::from_str(value).ok().map(Cow::Owned),
    }
}

/// Whether this is one complete object. Its content may still be wrong.
pub fn is_whole_object(text: &str) -> bool {
    let mut scan = JsonScanner::of(text);
    scan.first() == Some(b'{') && scan.value().is_ok() && scan.finish().is_ok()
}

/// Whether a line has only complete objects.
pub fn is_whole_line(line: &[u8]) -> bool {
    objects_of_line(line).all(|object| std::str::from_utf8(object).is_ok_and(is_whole_object))
}

/// The objects of a line. It has two if two processes wrote at once.
pub fn objects_of_line(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    // In a string the quote would be escaped.
    let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    let may_have_two = has(b"}{\"") || has(b"} {\"");
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest.take()?;
        if !may_have_two {
            return Some(line);
        }
        let line = line.trim_ascii_start();
        let first = std::str::from_utf8(line).ok().and_then(|text| JsonScanner::of(text).value().ok());
        let after = first.and_then(|first| line.get(first.len()..)).map(<[u8]>::trim_ascii_start);
        let after = after.filter(|after| after.starts_with(b"{"));
        rest = after;
        line.get(..line.len() - after.map_or(0, <[u8]>::len))
    })
}

/// The fields of an object, found but not decoded. The last duplicate counts.
pub struct ObjectFields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> ObjectFields<'a> {
    pub fn of(text: &'a str) -> Result<ObjectFields<'a>, JsonError> {
        let mut scan = JsonScanner::of(text);
        let fields = ObjectFields::read(&mut scan)?;
        scan.finish().map(|()| fields)
    }

    fn read(scan: &mut JsonScanner<'a>) -> Result<ObjectFields<'a>, JsonError> {
        let mut fields = Vec::with_capacity(16);
        scan.object(|name, scan| {
            fields.push((name, scan.value()?));
            Ok(())
        })?;
        Ok(ObjectFields(fields))
    }

    /// The raw text of a value.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(found, _)| *found == name).map(|(_, value)| *value)
    }

    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(text)
    }

    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).and_then(|value| value.parse().ok())
    }

    pub fn object(&self, name: &str) -> Option<ObjectFields<'a>> {
        self.get(name).and_then(|value| ObjectFields::of(value).ok())
    }

    /// The objects of a list. Empty if the list has other values.
    pub fn objects(&self, name: &str) -> Vec<ObjectFields<'a>> {
        let mut found = Vec::new();
        let read = self.get(name).map(|value| {
            JsonScanner::of(value).list(|scan| {
                found.push(ObjectFields::read(scan)?);
                Ok(())
            })
        });
        if matches!(read, Some(Ok(()))) { found } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Result<Vec<(&str, &str)>, JsonError> {
        ObjectFields::of(text).map(|fields| fields.0)
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
    fn a_line_may_have_two_objects() {
        let objects = |line: &'static str| -> Vec<&str> {
            objects_of_line(line.as_bytes()).map(|object| std::str::from_utf8(object).unwrap()).collect()
        };
        assert_eq!(objects(r#"{"a":"}{"}{"b":{}}{"c":1}"#), [r#"{"a":"}{"}"#, r#"{"b":{}}"#, r#"{"c":1}"#]);
        assert_eq!(objects(r#"{"a":1} {"b":2}"#), [r#"{"a":1} "#, r#"{"b":2}"#], "with a blank between");
        for one in [
            "",
            "{}",
            r#"{"a":"}{"}"#,
            r#"{"a":"} {\" {"}"#,
            r#"{"a":"}{\""}"#,
            r#"{"a":"x}{"b":1}"#,
            "not json}{\"x",
        ] {
            assert_eq!(objects(one), [one]);
        }
        assert_eq!(objects(r#"{"a":1}{"b":"#), [r#"{"a":1}"#, r#"{"b":"#], "the second is cut off");
    }

    #[test]
    fn a_whole_object_has_its_end() {
        assert!(is_whole_object(r#" {"a":[{"b":"}"}]} "#));
        for part in ["", "{", r#"{"a":[}"#, r#"{"a":1"#, "[]", "{}{}", r#"{"a":"x}"#] {
            assert!(!is_whole_object(part), "{part}");
        }
    }

    #[test]
    fn a_last_line_with_two_objects_is_whole() {
        assert!(is_whole_line(br#"{"a":1}{"b":2}"#) && is_whole_line(br#"{"a":1} {"b":2} "#));
        for part in ["", "{", r#"{"a":1}{"b":"#, r#"{"a":1}{"b":2"#, "{}[]", r#"{"a":1}x{"b":2}"#] {
            assert!(!is_whole_line(part.as_bytes()), "{part}");
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
        let mut found = Vec::new();
        let read = JsonScanner::of("[1,\"a\",]").list(|scan| {
            found.push(scan.value()?);
            Ok(())
        });
        assert!(read.is_err());
        assert_eq!(found, ["1", "\"a\""]);
    }

    #[test]
    fn fields_are_read_when_they_are_asked_for() {
        let fields =
            ObjectFields::of(r#"{"a":1,"b":[{"c":"x"}, {"c":"\n"}],"a":2,"f":[{},7],"d":{"e":null}}"#)
                .unwrap();
        assert_eq!(fields.number::<u64>("a"), Some(2), "the last counts");
        assert_eq!((fields.text("a"), fields.text("z"), fields.get("z")), (None, None, None));
        let texts: Vec<_> = fields.objects("b").iter().filter_map(|object| object.text("c")).collect();
        assert_eq!(texts, ["x", "\n"]);
        assert_eq!((fields.objects("a").len(), fields.objects("f").len()), (0, 0));
        assert_eq!(fields.object("d").unwrap().get("e"), Some("null"));
        assert!(ObjectFields::of("[1]").is_err());
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
