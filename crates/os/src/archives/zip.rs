//! Zip: the names are in the directory at the end, and again before each member.

use super::is_too_many;

const END: &[u8] = b"PK\x05\x06";

/// The names of all members. `None` for links, encrypted directories, and ambiguous names.
pub(super) fn names(bytes: &[u8]) -> Option<Vec<String>> {
    if !bytes.starts_with(b"PK\x03\x04") {
        return None;
    }
    let end = bytes.len().checked_sub(22)?;
    let record = bytes.get(end..)?;
    // Without a comment there is only one end.
    if !record.starts_with(END) || number(record, 4, 4)? != 0 || number(record, 20, 2)? != 0 {
        return None;
    }
    let count = number(record, 10, 2)?;
    let (size, start) = (number(record, 12, 4)?, number(record, 16, 4)?);
    if number(record, 8, 2)? != count || count == 0xffff || start.checked_add(size)? != end {
        return None;
    }
    let mut names = Vec::new();
    let mut at = start;
    for _ in 0..count {
        let entry = bytes.get(at..end)?;
        let (name, length) = member(entry, bytes)?;
        names.push(name);
        at = at.checked_add(length)?;
        if is_too_many(&names) {
            return None;
        }
    }
    if at == end && !names.is_empty() { Some(names) } else { None }
}

/// A name of the directory, and the length of its entry.
fn member(entry: &[u8], all: &[u8]) -> Option<(String, usize)> {
    if !entry.starts_with(b"PK\x01\x02") {
        return None;
    }
    let (name, extra, comment) = (number(entry, 28, 2)?, number(entry, 30, 2)?, number(entry, 32, 2)?);
    let text = entry.get(46..46 + name)?;
    let fields = entry.get(46 + name..46 + name + extra)?;
    // A mode of Unix is in the upper half: files and directories are plain.
    let kind = number(entry, 38, 4)? >> 28;
    let is_encrypted = number(entry, 8, 2)? & 0x2041 != 0;
    let local = all.get(number(entry, 42, 4)?..)?;
    let same_name = local.starts_with(b"PK\x03\x04")
        && number(local, 26, 2)? == name
        && local.get(30..30 + name)? == text
        && !has_other_name(local.get(30 + name..30 + name + number(local, 28, 2)?)?);
    if !matches!(kind, 0 | 4 | 8) || is_encrypted || !same_name || has_other_name(fields) {
        return None;
    }
    // Other characters are converted, from one of several character sets.
    if !text.is_ascii() {
        return None;
    }
    Some((String::from_utf8(text.to_vec()).ok()?, 46 + name + extra + comment))
}

/// Whether extra fields give the member another name, or its position in 64 bits.
fn has_other_name(mut fields: &[u8]) -> bool {
    while fields.len() >= 4 {
        let (Some(id), Some(length)) = (number(fields, 0, 2), number(fields, 2, 2)) else { return true };
        let Some(rest) = fields.get(4 + length..) else { return true };
        if matches!(id, 0x7075 | 0x0001) {
            return true;
        }
        fields = rest;
    }
    !fields.is_empty()
}

/// A number of some bytes, the lowest first.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::zip_archive;

    #[test]
    fn names_are_listed_where_every_program_reads_the_same() {
        let plain = zip_archive(&[("a.txt", 8), ("d/", 4), ("d/b", 0)], &[]);
        assert_eq!(names(&plain), Some(vec!["a.txt".to_owned(), "d/".to_owned(), "d/b".to_owned()]));
        assert_eq!(names(&zip_archive(&[("a", 0xa)], &[])), None, "a link");
        assert_eq!(names(&zip_archive(&[("ä", 8)], &[])), None, "a character that is converted");
        assert_eq!(names(&zip_archive(&[("a", 8)], b"\x75\x70\x00\x00")), None, "another name");
        assert_eq!(names(&zip_archive(&[("a", 8)], b"\x55\x54\x00\x00")), Some(vec!["a".to_owned()]));
        assert_eq!(names(&[plain.as_slice(), b"x"].concat()), None, "more after the end");
        assert_eq!(names(&[b"x", plain.as_slice()].concat()), None, "more before the start");
        let mut other = plain;
        other[30] = b'b';
        assert_eq!(names(&other), None, "another name before the member");
        assert_eq!(names(&[]), None);
    }
}
