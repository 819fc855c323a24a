//! The patterns without braces that a valid glob stands for.

use super::program::end_of_class;

/// All of them in their order, unless they are more than `limit`.
pub(super) fn of(pattern: &str, limit: usize) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        match first_braces(&pattern) {
            None => done.push(pattern),
            Some((start, parts, end)) => {
                let (head, tail) = (pattern.get(..start)?, pattern.get(end..)?);
                open.extend(parts.into_iter().rev().map(|part| format!("{head}{part}{tail}")));
            }
        }
        if open.len() + done.len() > limit {
            return None;
        }
    }
    Some(done)
}

/// The position of the first `{`, its alternatives, and the position after its `}`.
fn first_braces(pattern: &str) -> Option<(usize, Vec<&str>, usize)> {
    let bytes = pattern.as_bytes();
    let (mut depth, mut start, mut from) = (0, 0, 0);
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => at = end_of_class(pattern, at + 1) - 1,
            b'{' if depth == 0 => (depth, start, from) = (1, at, at + 1),
            b'{' => depth += 1,
            b',' if depth == 1 => {
                parts.push(pattern.get(from..at)?);
                from = at + 1;
            }
            b'}' if depth == 1 => {
                parts.push(pattern.get(from..at)?);
                return Some((start, parts, at + 1));
            }
            b'}' => depth -= usize::from(depth > 0),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn braces_stand_for_several_patterns() {
        for (pattern, expected) in [
            ("a", vec!["a"]),
            ("a{b,c}d", vec!["abd", "acd"]),
            ("{a,b{c,d}}/{e,}", vec!["a/e", "a/", "bc/e", "bc/", "bd/e", "bd/"]),
            ("{a,b{c,d}}x{1,2}", vec!["ax1", "ax2", "bcx1", "bcx2", "bdx1", "bdx2"]),
            ("[{,}]", vec!["[{,}]"]),
            ("[{,]x{1,2}", vec!["[{,]x1", "[{,]x2"]),
            ("\\{a,b\\}", vec!["\\{a,b\\}"]),
            ("é{ö,ü}", vec!["éö", "éü"]),
        ] {
            assert_eq!(of(pattern, 16).unwrap(), expected, "{pattern}");
        }
        assert_eq!(of("{a,b}{a,b}{a,b}{a,b}{a,b}", 16), None);
    }
}
