//! Tar: headers of 512 bytes, each followed by its data.

use super::is_too_many;

const BLOCK: usize = 512;

/// The names of all members. None for links, devices, sparse files, and whatever else is not plain.
pub(super) fn names(bytes: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut long_name: Option<String> = None;
    let mut rest = bytes;
    loop {
        let (header, data) = rest.split_at_checked(BLOCK)?;
        if header.iter().all(|byte| *byte == 0) {
            // Some programs go on after one empty block.
            return if !names.is_empty() && data.iter().all(|byte| *byte == 0) { Some(names) } else { None };
        }
        let size = checked_size(header)?;
        let content = data.get(..size)?;
        rest = data.get(size.checked_next_multiple_of(BLOCK)?..)?;
        match header.get(156)? {
            b'L' => long_name = Some(text(content)?),
            b'x' => long_name = extended_name(content)?.or(long_name),
            // What `git archive` writes holds a comment for all.
            b'g' if extended_name(content)?.is_none() => {}
            kind @ (b'0' | 0 | b'5') => {
                let name = match long_name.take() {
                    Some(name) => name,
                    None => short_name(header)?,
                };
                let is_directory = *kind == b'5' && !name.ends_with('/');
                names.push(if is_directory { format!("{name}/") } else { name });
            }
            _ => return None,
        }
        if is_too_many(&names) {
            return None;
        }
    }
}

/// The size in a header whose checksum is right.
fn checked_size(header: &[u8]) -> Option<usize> {
    let is_sum = |at: usize| (148..156).contains(&at);
    let sum: usize = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if is_sum(at) { usize::from(b' ') } else { usize::from(*byte) })
        .sum();
    if number(header.get(148..156)?)? == sum { number(header.get(124..136)?) } else { None }
}

/// Octal digits, with blanks and NUL around them.
fn number(field: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(field).ok()?.trim_matches([' ', '\0']);
    if text.is_empty() { Some(0) } else { usize::from_str_radix(text, 8).ok() }
}

/// The name in a header: in two parts, if it is one of ustar.
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

/// A text up to a NUL, after which only NUL follow.
fn text(field: &[u8]) -> Option<String> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let (text, rest) = field.split_at_checked(end)?;
    if rest.iter().any(|byte| *byte != 0) {
        return None;
    }
    String::from_utf8(text.to_vec()).ok()
}

/// The path in records `LENGTH KEY=VALUE`. None if a record changes more than times, owners and names.
fn extended_name(mut records: &[u8]) -> Option<Option<String>> {
    let mut name = None;
    while !records.is_empty() {
        let blank = records.iter().position(|byte| *byte == b' ')?;
        let length: usize = std::str::from_utf8(records.get(..blank)?).ok()?.parse().ok()?;
        let record = std::str::from_utf8(records.get(blank + 1..length.checked_sub(1)?)?).ok()?;
        let (key, value) = record.split_once('=')?;
        match key {
            "path" => name = Some(value.to_owned()),
            "mtime" | "atime" | "ctime" | "uid" | "gid" | "uname" | "gname" | "comment" => {}
            key if key.starts_with("SCHILY.xattr.") || key.starts_with("LIBARCHIVE.") => {}
            _ => return None,
        }
        records = records.get(length..)?;
    }
    Some(name)
}
