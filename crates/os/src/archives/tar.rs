//! Tar: headers of 512 bytes, each followed by its data.

use super::is_too_many;

const BLOCK: usize = 512;

/// How files of other formats start. Some programs test for these first.
const OTHER_FORMATS: &[&[u8]] = &[
    b"PK", b"BZh", b"0707", b"Rar!", b"7z", b"!<arch>", b"#mtree", b"WARC/", b"xar!", b"LZIP", b"LRZI", b"MZ",
];

/// Whether bytes start with a header of tar with a valid checksum.
pub(super) fn is_header(bytes: &[u8]) -> bool {
    bytes.get(..BLOCK).is_some_and(|header| checked_size(header).is_some())
}

/// The names of all members. `None` for links, devices, sparse files, and other special members.
pub(super) fn names(bytes: &[u8]) -> Option<Vec<String>> {
    if OTHER_FORMATS.iter().any(|start| bytes.starts_with(start)) {
        return None;
    }
    let mut names = Vec::new();
    // Programs disagree about several headers before one member.
    let mut has_extension = false;
    let mut long_name: Option<String> = None;
    let mut rest = bytes;
    loop {
        let (header, data) = rest.split_at_checked(BLOCK)?;
        if header.iter().all(|byte| *byte == 0) {
            // Some programs continue after one empty block.
            let is_end = !has_extension && !names.is_empty() && data.iter().all(|byte| *byte == 0);
            return if is_end { Some(names) } else { None };
        }
        if !matches!(header.get(257..263)?, b"ustar\0" | b"ustar ") {
            return None;
        }
        let size = checked_size(header)?;
        let content = data.get(..size)?;
        rest = data.get(size.checked_next_multiple_of(BLOCK)?..)?;
        let kind = header.get(156)?;
        if matches!(kind, b'L' | b'x' | b'g') {
            if has_extension {
                return None;
            }
            has_extension = true;
        }
        match kind {
            b'L' => long_name = Some(text(content)?),
            b'x' => long_name = extended_name(content)?,
            // `git archive` writes a global comment.
            b'g' if extended_name(content)?.is_none() => {}
            kind @ (b'0' | 0 | b'5') => {
                let name = match long_name.take() {
                    Some(name) => name,
                    None => short_name(header)?,
                };
                has_extension = false;
                names.push(member_name(name, *kind == b'5', size)?);
            }
            _ => return None,
        }
        if is_too_many(&names) {
            return None;
        }
    }
}

/// The name of a file or a directory, which has a `/` at its end. `None` for a directory with content.
fn member_name(name: String, is_of_directory: bool, size: usize) -> Option<String> {
    let is_directory = is_of_directory || name.ends_with('/');
    if is_directory && size != 0 {
        return None;
    }
    Some(if is_directory { format!("{}/", name.trim_end_matches('/')) } else { name })
}

/// The size in a header with a valid checksum.
fn checked_size(header: &[u8]) -> Option<usize> {
    let is_sum = |at: usize| (148..156).contains(&at);
    let sum: usize = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if is_sum(at) { usize::from(b' ') } else { usize::from(*byte) })
        .sum();
    if number(header.get(148..156)?)? == sum { number(header.get(124..136)?) } else { None }
}

/// Octal digits, with blanks before them, and blanks or NUL after them. A sign starts a number in base 64.
fn number(field: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(field).ok()?.trim_start_matches(' ').trim_end_matches([' ', '\0']);
    if text.bytes().all(|byte| matches!(byte, b'0'..=b'7')) {
        usize::from_str_radix(text, 8).ok()
    } else {
        None
    }
}

/// The name in a header. A header of the format ustar has it in two parts.
fn short_name(header: &[u8]) -> Option<String> {
    let name = text(header.get(..100)?)?;
    let prefix = text(header.get(345..500)?)?;
    // The old format of GNU has other fields there.
    if header.get(257..263)? == b"ustar\0" && !prefix.is_empty() {
        Some(format!("{prefix}/{name}"))
    } else {
        Some(name)
    }
}

/// A text up to a NUL. Only more NUL may follow.
fn text(field: &[u8]) -> Option<String> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let (text, rest) = field.split_at_checked(end)?;
    if rest.iter().any(|byte| *byte != 0) {
        return None;
    }
    String::from_utf8(text.to_vec()).ok()
}

/// The path in records `LENGTH KEY=VALUE`. `None` if a record changes more than times, owners and names.
fn extended_name(mut records: &[u8]) -> Option<Option<String>> {
    let mut name = None;
    while !records.is_empty() {
        let blank = records.iter().position(|byte| *byte == b' ')?;
        let digits = records.get(..blank)?;
        if !digits.iter().all(u8::is_ascii_digit) || digits.starts_with(b"0") {
            return None;
        }
        let length: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let end = length.checked_sub(1)?;
        if records.get(end) != Some(&b'\n') {
            return None;
        }
        let record = std::str::from_utf8(records.get(blank + 1..end)?).ok()?;
        let (key, value) = record.split_once('=')?;
        match key {
            "path" if name.is_none() => name = Some(value.to_owned()),
            "mtime" | "atime" | "ctime" | "uid" | "gid" | "uname" | "gname" | "comment" => {}
            key if key.starts_with("SCHILY.xattr.") || key.starts_with("LIBARCHIVE.") => {}
            _ => return None,
        }
        records = records.get(length..)?;
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with data after it.
    fn member(kind: u8, name: &[u8], data: &[u8]) -> Vec<u8> {
        sized(kind, name, &format!("{:011o}", data.len()), data)
    }

    fn sized(kind: u8, name: &[u8], size: &str, data: &[u8]) -> Vec<u8> {
        let mut header = [0; BLOCK];
        header[..name.len()].copy_from_slice(name);
        header[124..124 + size.len()].copy_from_slice(size.as_bytes());
        header[148..156].fill(b' ');
        header[156] = kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: usize = header.iter().map(|byte| usize::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let mut bytes = [header.as_slice(), data].concat();
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    fn listed(members: &[Vec<u8>]) -> Option<String> {
        names(&[members.concat(), vec![0; 2 * BLOCK]].concat()).map(|names| names.join(" "))
    }

    #[test]
    fn names_are_listed_where_every_program_reads_the_same() {
        let plain = || member(b'0', b"a", b"x");
        let path = || member(b'x', b"x", b"15 path=long/a\n");
        let time = || member(b'x', b"x", b"11 mtime=1\n");
        let long = || member(b'L', b"././@LongLink", b"safe\0");
        assert_eq!(listed(&[plain()]).as_deref(), Some("a"));
        assert_eq!(listed(&[path(), plain(), time(), plain()]).as_deref(), Some("long/a a"));
        assert_eq!(listed(&[long(), plain()]).as_deref(), Some("safe"));
        assert_eq!(listed(&[path(), long(), plain()]), None, "two names");
        assert_eq!(listed(&[long(), path(), plain()]), None, "two names");
        assert_eq!(listed(&[path(), time(), plain()]), None, "the second may replace the first");
        assert_eq!(listed(&[plain(), path()]), None, "a name of nothing");
        assert_eq!(listed(&[member(b'x', b"x", b"+15 path=long/a\n"), plain()]), None);
        assert_eq!(listed(&[member(b'x', b"x", b"9 path=a\n9 path=b\n"), plain()]), None);
        assert_eq!(listed(&[sized(b'0', b"a", "+1", b"x")]), None, "base 64");
        assert_eq!(listed(&[sized(b'0', b"a", "", b"")]), None);
        assert_eq!(listed(&[member(b'5', b"d", b"x")]), None, "a directory with data");
        assert_eq!(listed(&[member(b'0', b"PK\x03\x04x", b"x"), plain()]), None, "another format");
        assert_eq!(listed(&[member(b'0', b"BZh91AY&SY", b"x")]), None, "another format");
        assert_eq!(listed(&[member(b'0', b"\xff", b"x")]), None);
    }
}
