//! Whether a file can be covered by two patterns of files at once, as far as the contrary is not certain.

use super::coverage::{alternatives, is_literal};
use shell_effects::glob::{Glob, Kind};

/// What ends a part of a glob that is compared as it is.
const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// Whether an exception can be about a file that a pattern covers. Whether the exception names a directory is for the caller to say: as
/// one, it is about all that is in it.
pub(super) fn may_overlap(pattern: &str, exception: &str, exception_is_directory: bool) -> bool {
    let is_elsewhere = |one: &str| one.starts_with(['/', '~']);
    if is_elsewhere(pattern) || is_elsewhere(exception) {
        return true;
    }
    let (outer, inner) = (parts(pattern), parts(exception));
    let (outer_holds, inner_holds) = (may_be_directory(pattern), exception_is_directory);
    let any_overlaps = |name: &str, parts: &[&str]| parts.iter().any(|part| names_overlap(part, name));
    match (outer.as_slice(), inner.as_slice()) {
        (parts, [name]) => any_overlaps(name, parts) || outer_holds || (parts.len() == 1 && inner_holds),
        ([name], parts) => any_overlaps(name, parts) || inner_holds,
        (outer, inner) => {
            let is_same = outer.iter().zip(inner).all(|(one, other)| names_overlap(one, other));
            let goes_deeper = outer.contains(&"**") || inner.contains(&"**");
            goes_deeper
                || is_same
                    && (outer.len() == inner.len()
                        || if outer.len() < inner.len() { outer_holds } else { inner_holds })
        }
    }
}

fn parts(pattern: &str) -> Vec<&str> {
    pattern.trim_start_matches("./").trim_end_matches('/').split('/').collect()
}

/// Whether what a pattern names may be a directory: `*.txt` and `notes.md` are files.
pub(super) fn may_be_directory(pattern: &str) -> bool {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let end = last.rfind(SPECIAL).map_or(last, |at| last.get(at + 1..).unwrap_or_default());
    // `.github` is all name.
    let extension = end.rsplit_once('.').filter(|(name, _)| !name.is_empty() || end.len() < last.len());
    extension.is_none_or(|(_, extension)| extension.is_empty())
}

/// Whether a name can match both.
fn names_overlap(one: &str, other: &str) -> bool {
    alternatives(one).iter().any(|one| alternatives(other).iter().any(|other| globs_overlap(one, other)))
}

fn globs_overlap(one: &str, other: &str) -> bool {
    let matches = |glob: &str, text: &str| {
        Glob::new(glob, Kind::Path).ok().and_then(|glob| glob.matches(text)).unwrap_or(true)
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
    use conclaude_core::file_pattern::{FilePattern, Location};

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
            ("a/**", "b/c", true),
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
            pattern in "[ab*]{1,2}(\\.a|/[ab*]{1,2})?", exception in "[ab*]{1,2}(\\.a|/[ab*]{1,2})?", path in "[ab]{1,2}(\\.a)?(/[ab]{1,2}(\\.a)?)?",
        ) {
            let location = Location { absolute: format!("/p/{path}"), relative: Some(path.clone()), ..Location::default() };
            let covers = |pattern: &str| FilePattern::new(pattern, None).unwrap().covers(&location);
            // A name with an extension is taken for that of a file.
            let is_usual = !path.contains(".a/");
            if is_usual && covers(&pattern) && covers(&exception) {
                prop_assert!(may_overlap(&pattern, &exception, true), "{} {} {}", pattern, exception, path);
            }
        }
    }
}
