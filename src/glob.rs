//! Globs: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `{foo,bar}`, `\` before a sign that means itself. All ways through a pattern are
//! followed at once, so the time grows with the lengths of pattern and text, whatever somebody thought of.

use std::fmt;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name: `*` is anything.
    Name,
    /// A path: `*`, `?` and classes stop at `/`; `**` as a whole part crosses it.
    Path,
}

/// Why a glob cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobError(&'static str);

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Braces within braces, as deep as anybody nests them.
const DEEPEST: usize = 10;

/// No honest pattern or text is longer.
const LONGEST_PATTERN: usize = 1_024;
const LONGEST_TEXT: usize = 4_096;

#[derive(Clone, Debug)]
enum Op {
    /// This letter.
    Letter(char),
    /// Any letter, perhaps also `/`.
    Any { slash: bool },
    /// One of these, or none of these.
    Class { ranges: Vec<(char, char)>, negated: bool, slash: bool },
    /// Go on at both places.
    Split(usize, usize),
    /// Go on there.
    Jump(usize),
    /// The text must end here.
    End,
}

/// A glob, ready to be compared.
#[derive(Clone, Debug)]
pub struct Glob {
    program: Vec<Op>,
}

impl Glob {
    /// Reads a glob.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn new(pattern: &str, kind: Kind) -> Result<Glob, GlobError> {
        let letters: Vec<char> = pattern.chars().collect();
        if letters.len() > LONGEST_PATTERN {
            return Err(GlobError("it is longer than 1,024 letters"));
        }
        let mut reader = Reader { letters: &letters, at: 0, kind, program: Vec::new(), opens: true };
        reader.sequence(0)?;
        if reader.at < letters.len() {
            return Err(GlobError("`}` without a `{` before it"));
        }
        reader.program.push(Op::End);
        Ok(Glob { program: reader.program })
    }

    /// Whether the whole text matches; none if it is too long to be compared.
    #[must_use]
    pub fn matches(&self, text: &str) -> Option<bool> {
        if text.len() > LONGEST_TEXT {
            return None;
        }
        let mut now = Places::new(self.program.len());
        let mut next = Places::new(self.program.len());
        now.add(&self.program, 0);
        for letter in text.chars() {
            for at in &now.list {
                let takes = match self.program.get(*at) {
                    Some(Op::Letter(own)) => *own == letter,
                    Some(Op::Any { slash }) => *slash || letter != '/',
                    Some(Op::Class { ranges, negated, slash }) => {
                        let inside = ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter));
                        inside != *negated && (*slash || letter != '/')
                    }
                    _ => false,
                };
                if takes {
                    next.add(&self.program, at + 1);
                }
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
            if now.list.is_empty() {
                return Some(false);
            }
        }
        Some(now.list.iter().any(|at| matches!(self.program.get(*at), Some(Op::End))))
    }
}

/// A set of places in a program.
struct Places {
    list: Vec<usize>,
    has: Vec<bool>,
}

impl Places {
    fn new(size: usize) -> Places {
        Places { list: Vec::new(), has: vec![false; size] }
    }

    fn clear(&mut self) {
        for at in self.list.drain(..) {
            if let Some(has) = self.has.get_mut(at) {
                *has = false;
            }
        }
    }

    /// Adds a place, and those that it leads to without a letter.
    fn add(&mut self, program: &[Op], at: usize) {
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            match self.has.get_mut(at) {
                Some(has) if !*has => *has = true,
                _ => continue,
            }
            self.list.push(at);
            match program.get(at) {
                Some(Op::Split(one, other)) => open.extend([*other, *one]),
                Some(Op::Jump(to)) => open.push(*to),
                _ => {}
            }
        }
    }
}

struct Reader<'a> {
    letters: &'a [char],
    at: usize,
    kind: Kind,
    program: Vec<Op>,
    /// The alternatives that are being read stand where a part of a path begins.
    opens: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek();
        self.at += usize::from(letter.is_some());
        letter
    }

    /// Reads until the end, or until what ends an alternative.
    fn sequence(&mut self, depth: usize) -> Result<(), GlobError> {
        while let Some(letter) = self.peek() {
            match letter {
                '}' => return Ok(()),
                ',' if depth > 0 => return Ok(()),
                _ => self.at += 1,
            }
            let slash = self.kind == Kind::Name;
            match letter {
                '?' => self.program.push(Op::Any { slash }),
                '*' => self.stars(depth),
                '[' => self.class()?,
                '{' => self.alternatives(depth + 1)?,
                '\\' => {
                    let meant = self.next().ok_or(GlobError("`\\` at the end, with nothing behind it"))?;
                    self.program.push(Op::Letter(meant));
                }
                other => self.program.push(Op::Letter(other)),
            }
        }
        Ok(())
    }

    /// One star or several; the first has been read.
    fn stars(&mut self, depth: usize) {
        let start = self.at - 1;
        while self.peek() == Some('*') {
            self.at += 1;
        }
        let before = start.checked_sub(1).and_then(|at| self.letters.get(at));
        let opens = match before {
            None | Some('/') => true,
            Some('{' | ',') => depth > 0 && self.opens,
            Some(_) => false,
        };
        let closes = match self.peek() {
            None | Some('/') => true,
            Some(',' | '}') => depth > 0,
            Some(_) => false,
        };
        let crosses = self.kind == Kind::Path && self.at - start == 2 && opens && closes;
        if crosses && self.peek() == Some('/') {
            // Folders, as many as there are, or none: (any* /)?
            self.at += 1;
            let split = self.program.len();
            self.program.push(Op::Split(split + 1, 0));
            self.repeat(true);
            self.program.push(Op::Letter('/'));
            let end = self.program.len();
            self.patch(split, Op::Split(split + 1, end));
        } else {
            self.repeat(crosses || self.kind == Kind::Name);
        }
    }

    fn repeat(&mut self, slash: bool) {
        let split = self.program.len();
        self.program.push(Op::Split(split + 1, split + 3));
        self.program.push(Op::Any { slash });
        self.program.push(Op::Jump(split));
    }

    fn patch(&mut self, at: usize, op: Op) {
        if let Some(place) = self.program.get_mut(at) {
            *place = op;
        }
    }

    /// A class; its `[` has been read.
    fn class(&mut self) -> Result<(), GlobError> {
        const OPEN: GlobError = GlobError("`[` without a `]` after it");
        let negated = matches!(self.peek(), Some('!' | '^'));
        self.at += usize::from(negated);
        let mut ranges: Vec<(char, char)> = Vec::new();
        // A dash behind a letter opens a range that the next letter ends, also where that letter ended another one.
        let mut is_open = false;
        loop {
            let letter = self.next().ok_or(OPEN)?;
            match ranges.last_mut() {
                Some(_) if letter == ']' => break,
                Some(_) if letter == '-' && !is_open => is_open = true,
                Some((from, to)) if is_open => {
                    if letter < *from {
                        return Err(GlobError("a range in `[…]` that runs backward"));
                    }
                    (*to, is_open) = (letter, false);
                }
                _ => ranges.push((letter, letter)),
            }
        }
        if is_open {
            ranges.push(('-', '-'));
        }
        self.program.push(Op::Class { ranges, negated, slash: self.kind == Kind::Name });
        Ok(())
    }

    /// Alternatives; their `{` has been read.
    fn alternatives(&mut self, depth: usize) -> Result<(), GlobError> {
        if depth > DEEPEST {
            return Err(GlobError("braces within braces, too deep"));
        }
        let before = self.at.checked_sub(2).and_then(|at| self.letters.get(at));
        let outer = self.opens;
        self.opens = match before {
            None | Some('/') => true,
            Some('{' | ',') => outer && depth > 1,
            Some(_) => false,
        };
        let mut jumps = Vec::new();
        loop {
            let split = self.program.len();
            self.program.push(Op::Split(split + 1, 0));
            self.sequence(depth)?;
            jumps.push(self.program.len());
            self.program.push(Op::Jump(0));
            let next = self.program.len();
            match self.next() {
                Some(',') => self.patch(split, Op::Split(split + 1, next)),
                Some(_) => {
                    // The last one: there is no other way.
                    self.patch(split, Op::Jump(split + 1));
                    break;
                }
                None => return Err(GlobError("`{` without a `}` after it")),
            }
        }
        self.opens = outer;
        let end = self.program.len();
        for jump in jumps {
            self.patch(jump, Op::Jump(end));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, kind: Kind, text: &str) -> bool {
        Glob::new(pattern, kind).unwrap().matches(text).unwrap()
    }

    #[test]
    fn letters_count_and_not_bytes() {
        assert!(matches("m?n", Kind::Name, "mün") && matches("[ä-ü]x", Kind::Name, "öx"));
        assert!(!matches("m??n", Kind::Name, "mün"));
    }

    #[test]
    fn two_stars_cross_folders_only_as_a_whole_part() {
        for (pattern, yes, no) in [
            ("**", &["a", "a/b", ""][..], &[][..]),
            ("a/**", &["a/b", "a/b/c", "a/"], &["a", "b/a/c"]),
            ("**/a", &["a", "x/a", "x/y/a"], &["xa", "a/x"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb", "a/b/c"]),
            ("a**b", &["ab", "axb"], &["a/b"]),
            ("***/b", &["x/b"], &["x/y/b"]),
            ("src/{a,b/**}/c", &["src/a/c", "src/b/x/y/c"], &["src/c"]),
            ("{src/**,tests/**}", &["src/a/b.rs", "tests/x"], &["docs/x", "src"]),
            ("{**/a,b}", &["x/y/a", "a", "b"], &["xa", "x/b"]),
            ("x{**/a,b}", &["xb", "xy/a"], &["x/y/a", "xyz/w/a"]),
            ("a[!b]c", &["axc"], &["a/c", "abc"]),
            ("a?c", &["abc"], &["a/c"]),
        ] {
            for text in yes {
                assert!(matches(pattern, Kind::Path, text), "{pattern} {text}");
            }
            for text in no {
                assert!(!matches(pattern, Kind::Path, text), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn what_is_broken_is_said() {
        for broken in [
            "[a",
            "[",
            "[!",
            "{a",
            "{a,{b}",
            "a}",
            "a{b}}",
            "[z-a]",
            "[a-a-*]",
            "\\",
            "a\\",
            "{{{{{{{{{{{a}}}}}}}}}}}",
        ] {
            assert!(Glob::new(broken, Kind::Name).is_err(), "{broken}");
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let stars = "*a".repeat(500);
        assert!(!matches(&stars, Kind::Name, &"a".repeat(4_000)[..499]));
        assert!(matches(&"{a,aa}".repeat(150), Kind::Name, &"a".repeat(200)));
        assert_eq!(Glob::new("*", Kind::Name).unwrap().matches(&"a".repeat(5_000)), None);
        assert!(Glob::new(&format!("[{}]", "b".repeat(2_000)), Kind::Name).is_err());
        let start = std::time::Instant::now();
        let class = format!("**/*[{}]", "b".repeat(1_000));
        assert!(!matches(&class, Kind::Path, &"a".repeat(4_096)));
        assert!(!matches(&"*?".repeat(512), Kind::Path, &format!("{}/", "a".repeat(4_095))));
        assert!(
            start.elapsed() < std::time::Duration::from_secs(20),
            "generous, for a debug build on a busy machine"
        );
    }

    /// The same by the crate that others use.
    fn by_globset(pattern: &str, kind: Kind, text: &str) -> Option<bool> {
        let glob = globset::GlobBuilder::new(pattern)
            .literal_separator(kind == Kind::Path)
            .empty_alternates(true)
            .build()
            .ok()?;
        Some(glob.compile_matcher().is_match(text))
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(crate::cases::cases(800, 20_000)))]

        #[test]
        fn names_match_as_they_do_for_others(pattern in r"([ab?\-!]|\*|\[[ab]|\]|\{[ab],?|\}|,|\\[ab*]){1,8}", text in "[abc,*]{0,6}") {
            proptest::prop_assume!(!pattern.contains("**"));
            let own = Glob::new(&pattern, Kind::Name).ok().map(|glob| glob.matches(&text).unwrap());
            proptest::prop_assert_eq!(own, by_globset(&pattern, Kind::Name, &text));
        }

        #[test]
        fn paths_match_as_they_do_for_others(
            pattern in r"((\*\*|[ab?]|\*|a\*b|b\*\*|\{a,b\}|\[ab\]b)/){0,3}([ab?]|\*|\*\*|a\*|\{a,bb\})",
            text in "[ab]{1,2}(/[ab]{1,2}){0,3}",
        ) {
            // Of folders' stars in a row others have ideas of their own.
            proptest::prop_assume!(!pattern.contains("**/**"));
            let own = Glob::new(&pattern, Kind::Path).ok().map(|glob| glob.matches(&text).unwrap());
            proptest::prop_assert_eq!(own, by_globset(&pattern, Kind::Path, &text));
        }
    }
}
