//! Relations between globs: whether one certainly covers the other, and whether both may match the same file.

use shell_effects::glob::{Glob, GlobKind};

/// Characters with a meaning in a glob.
const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// The part of a glob before its first special character.
fn head(glob: &str) -> &str {
    glob.find(SPECIAL).and_then(|at| glob.get(..at)).unwrap_or(glob)
}

pub fn is_literal(glob: &str) -> bool {
    !glob.contains(SPECIAL)
}

/// The alternatives of a glob with one list in braces. Any other glob is returned as it is.
pub fn alternatives(glob: &str) -> Vec<String> {
    if let Some((head, rest)) = glob.split_once('{')
        && let Some((list, tail)) = rest.split_once('}')
        && is_literal(list)
        && is_literal(head)
        && is_literal(tail)
    {
        return list.split(',').map(|one| format!("{head}{one}{tail}")).collect();
    }
    vec![glob.to_owned()]
}

/// Whether `outer` matches everything that `inner` matches. `false` if that is uncertain.
pub fn covers(outer: &str, inner: &str) -> bool {
    let outers = alternatives(outer);
    alternatives(inner).iter().all(|inner| outers.iter().any(|outer| covers_one(outer, inner)))
}

fn covers_one(outer: &str, inner: &str) -> bool {
    if outer == inner {
        return true;
    }
    match outer.strip_suffix('*').filter(|head| is_literal(head)) {
        Some(start) => head(inner).starts_with(start),
        None => outer
            .strip_prefix('*')
            .is_some_and(|end| is_literal(end) && is_literal(inner) && inner.ends_with(end)),
    }
}

/// Like `covers_one`, for commands. With `is_prefix`, a glob matches any text after the end of a word.
pub fn covers_command(outer: &str, is_prefix: bool, inner: &str, inner_is_prefix: bool) -> bool {
    if is_prefix && is_literal(outer) {
        let start = head(inner);
        return inner == outer || start.strip_prefix(outer).is_some_and(|rest| rest.starts_with(' '));
    }
    // Only a star covers the words that may follow an inner prefix.
    covers(outer, inner) && (!inner_is_prefix || outer.ends_with('*'))
}

/// Whether an exception can concern a file that a pattern covers. The caller knows whether the exception names a directory: then
/// it concerns all files below it.
pub fn may_overlap(pattern: &str, exception: &str, exception_is_directory: bool) -> bool {
    let is_elsewhere = |one: &str| one.starts_with(['/', '~']);
    if is_elsewhere(pattern) || is_elsewhere(exception) {
        return true;
    }
    let pattern = Extent { glob: pattern, holds_files: may_be_directory(pattern) };
    pattern.may_overlap(Extent { glob: exception, holds_files: exception_is_directory })
}

/// A glob of paths from the root, and whether the path may be a directory with files in it.
#[derive(Clone, Copy)]
pub struct Extent<'a> {
    pub glob: &'a str,
    pub holds_files: bool,
}

impl Extent<'_> {
    /// Whether both can match the same file.
    #[must_use]
    pub fn may_overlap(self, exception: Extent<'_>) -> bool {
        let (outer, inner) = (parts(self.glob), parts(exception.glob));
        let (outer_holds, inner_holds) = (self.holds_files, exception.holds_files);
        let any_overlaps = |name: &str, parts: &[&str]| parts.iter().any(|part| names_overlap(part, name));
        match (outer.as_slice(), inner.as_slice()) {
            (parts, [name]) => any_overlaps(name, parts) || outer_holds || (parts.len() == 1 && inner_holds),
            ([name], parts) => any_overlaps(name, parts) || inner_holds,
            (outer, inner) => {
                // From there on any number of directories may follow.
                let is_fixed = |(one, other): &(&&str, &&str)| **one != "**" && **other != "**";
                let mut fixed = outer.iter().zip(inner).take_while(is_fixed);
                let is_same = fixed.all(|(one, other)| names_overlap(one, other));
                let goes_deeper = outer.contains(&"**") || inner.contains(&"**");
                is_same
                    && (goes_deeper
                        || outer.len() == inner.len()
                        || if outer.len() < inner.len() { outer_holds } else { inner_holds })
            }
        }
    }
}

fn parts(pattern: &str) -> Vec<&str> {
    pattern.trim_start_matches("./").trim_end_matches('/').split('/').collect()
}

/// Whether a pattern may name a directory: `*.txt` and `notes.md` are files.
pub fn may_be_directory(pattern: &str) -> bool {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let end = last.rfind(SPECIAL).map_or(last, |at| last.get(at + 1..).unwrap_or_default());
    // `.github` has no extension.
    let extension = end.rsplit_once('.').filter(|(name, _)| !name.is_empty() || end.len() < last.len());
    extension.is_none_or(|(_, extension)| extension.is_empty())
}

/// Whether a name can match both.
fn names_overlap(one: &str, other: &str) -> bool {
    alternatives(one).iter().any(|one| alternatives(other).iter().any(|other| globs_overlap(one, other)))
}

fn globs_overlap(one: &str, other: &str) -> bool {
    let matches = |glob: &str, text: &str| {
        Glob::new(glob, GlobKind::Path).ok().and_then(|glob| glob.matches(text)).unwrap_or(true)
    };
    match (is_literal(one), is_literal(other)) {
        (true, _) => matches(other, one),
        (false, true) => matches(one, other),
        (false, false) => {
            let head =
                |glob: &str| glob.find(SPECIAL).and_then(|at| glob.get(..at)).unwrap_or(glob).to_owned();
            let tail =
                |glob: &str| glob.rfind(SPECIAL).and_then(|at| glob.get(at + 1..)).unwrap_or(glob).to_owned();
            let (heads, tails) = ((head(one), head(other)), (tail(one), tail(other)));
            (heads.0.starts_with(&heads.1) || heads.1.starts_with(&heads.0))
                && (tails.0.ends_with(&tails.1) || tails.1.ends_with(&tails.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file_pattern::{FilePattern, Location};
    use shell_effects::glob::{Glob, GlobKind};

    #[test]
    fn a_glob_covers_what_is_certain() {
        for (outer, inner) in
            [("*", "a"), ("*", "a*"), ("a*", "ab"), ("a*", "ab*c"), ("*r", "coder"), ("{a,b}", "a")]
        {
            assert!(covers(outer, inner), "{outer} {inner}");
        }
        for (outer, inner) in
            [("a", "a*"), ("a*", "*"), ("ab*", "a*"), ("*r", "*er"), ("a?", "ab"), ("{a,b}", "c")]
        {
            assert!(!covers(outer, inner), "{outer} {inner}");
        }
        assert!(covers_command("git push", true, "git push --force", false));
        assert!(covers_command("git *", false, "git push", true));
        assert!(!covers_command("git push", true, "git pushy", false));
        assert!(!covers_command("git push", false, "git push", true));
        assert!(!covers_command("git", true, "git*", false));
        assert!(!covers_command("git", true, "git*", true), "git* matches gitk");
    }

    proptest! {
        #[test]
        fn what_is_covered_matches_nothing_more(
            outer in "[ab*?]{1,4}", inner in "[ab*?]{1,4}", text in "[ab]{0,5}",
        ) {
            let matches = |glob: &str| Glob::new(glob, GlobKind::Name).unwrap().matches(&text).unwrap();
            if covers(&outer, &inner) && matches(&inner) {
                prop_assert!(matches(&outer), "{} {} {}", outer, inner, text);
            }
        }

        #[test]
        fn a_command_that_is_covered_matches_nothing_more(
            outer in "[ab *]{1,4}", inner in "[ab *]{1,4}", text in "[ab ]{0,6}", modes in any::<(bool, bool)>(),
        ) {
            let matches = |glob: &str, is_prefix: bool| {
                let is = |glob: &str| Glob::new(glob, GlobKind::Name).unwrap().matches(&text).unwrap();
                is(glob) || (is_prefix && is(&format!("{glob} *")))
            };
            if covers_command(&outer, modes.0, &inner, modes.1) && matches(&inner, modes.1) {
                prop_assert!(matches(&outer, modes.0), "{:?} {:?} {:?} {:?}", outer, inner, text, modes);
            }
        }
    }

    #[test]
    fn an_exception_is_compared_with_what_a_pattern_can_cover() {
        for (pattern, exception, expected) in [
            ("*.txt", "zzz", false),
            ("*.txt", "zzz.md", false),
            ("*.txt", "zzz.txt", true),
            ("*.txt", "keep*", true),
            ("*.txt", "*.md", false),
            ("*.txt", "{a,b}.md", false),
            ("*.txt", "{a,b}.txt", true),
            ("*.txt", "docs/keep.md", false),
            ("*.txt", "docs/keep.txt", true),
            ("gen", "keep.md", true),
            ("src/gen/", "README.md", true),
            ("src/a.rs", "b.rs", false),
            ("src/a.rs", "src", true),
            ("src/gen/", "docs/x.md", false),
            ("src/gen/", "src/gen/x.md", true),
            ("src/*/a.rs", "src/b/a.rs", true),
            ("src/*/a.rs", "src/b/c.rs", false),
            ("a/**", "b/c", false),
            ("a/**", "a/c", true),
            ("a/**/c", "a/b/d", true),
            ("a/b/**", "a/c/**", false),
            ("a/b/**", "a/**/c", true),
            ("**/b/c", "a/d", true),
            ("~/.ssh/", "x.md", true),
            ("//usr/", "x.md", true),
            (".env*", "!.env.example", true),
        ] {
            let exception = exception.trim_start_matches('!');
            assert_eq!(may_overlap(pattern, exception, false), expected, "{pattern} {exception}");
        }
        assert!(may_overlap("*.txt", "zzz", true), "a directory has files of all names");
    }

    proptest! {
        #[test]
        fn what_never_meets_covers_no_file_at_once(
            pattern in "[ab*]{1,2}(\\.a|/[ab*]{1,2}|/\\*\\*(/[ab])?)?",
            exception in "[ab*]{1,2}(\\.a|/[ab*]{1,2}|/\\*\\*(/[ab])?)?",
            path in "[ab]{1,2}(\\.a)?(/[ab]{1,2}(\\.a)?)?",
        ) {
            let location = Location { absolute: format!("/p/{path}"), relative: Some(path.clone()), ..Location::default() };
            let covers = |pattern: &str| FilePattern::new(pattern, None).unwrap().covers(&location);
            // A name with an extension counts as a file.
            let is_usual = !path.contains(".a/");
            if is_usual && covers(&pattern) && covers(&exception) {
                prop_assert!(may_overlap(&pattern, &exception, true), "{} {} {}", pattern, exception, path);
            }
        }
    }
}
