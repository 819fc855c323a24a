//! The matcher of FileChanged. Claude Code splits it at `|` and watches each part below the folder in which it was started; a
//! folder includes its contents. It also compares the whole matcher, as a regular expression, with the last part of a changed
//! path.

use thiserror::Error;

/// Matches every watched path: one with a folder never equals the name of a file.
const ANY: &str = ".*";

/// No key has more alternatives.
const MAX_ALTERNATIVES: usize = 100;

/// An alternative of a pattern that Claude Code cannot watch.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not watched")]
pub struct UnwatchedPattern(String);

/// The paths to watch for each alternative of a file pattern.
pub fn paths(pattern: &str) -> Vec<Result<Vec<String>, UnwatchedPattern>> {
    let mut alternatives = Vec::new();
    expand(pattern.trim(), &mut alternatives);
    alternatives.into_iter().map(|one| path(&one).ok_or(UnwatchedPattern(one))).collect()
}

/// The matcher that watches these paths, if there are any.
pub fn matcher(paths: &[String]) -> Option<String> {
    let is_file = |path: &String| path.contains('.') && !path.contains('/');
    let has_plain_names = paths.iter().all(is_file);
    let mut all: Vec<&str> = paths.iter().map(String::as_str).collect();
    if all.is_empty() {
        return None;
    }
    if !has_plain_names {
        all.push(ANY);
    }
    Some(all.join("|"))
}

/// Whether Claude Code can evaluate a matcher: one part that is not a regular expression makes it match nothing.
pub fn is_sound(matcher: &str) -> bool {
    matcher.split('|').all(|one| one == ANY || one.chars().all(is_literal))
}

/// Whether a character has no meaning in globs and regular expressions. A dot also matches itself.
fn is_literal(c: char) -> bool {
    !matches!(c, '\\' | '|' | '?' | '*' | '+' | '(' | ')' | '[' | ']' | '{' | '}')
}

/// The text without braces: `{a,b}c` is `ac` and `bc`.
fn expand(pattern: &str, found: &mut Vec<String>) {
    let group = pattern.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    match group {
        Some((head, (list, tail))) if !list.contains('{') && found.len() < MAX_ALTERNATIVES => {
            list.split(',').for_each(|one| expand(&format!("{head}{one}{tail}"), found));
        }
        _ => found.push(pattern.to_owned()),
    }
}

/// The file or folder that a pattern names before its first wildcard. A pattern that starts with `/` may name a path of the
/// project or an absolute path, so both are watched.
fn path(pattern: &str) -> Option<Vec<String>> {
    let plain = pattern.trim_start_matches("./").trim_end_matches('/');
    let parts = plain.trim_start_matches('/').split('/');
    let known: Vec<&str> =
        parts.take_while(|part| !part.is_empty() && part.chars().all(is_literal)).collect();
    let is_home = known.first() == Some(&"~");
    let known = Some(known.join("/")).filter(|known| !known.is_empty() && !is_home)?;
    // The slash marks a folder, so that it is not taken for the name of a file.
    let is_folder = pattern.ends_with('/') || known.len() < plain.trim_start_matches('/').len();
    let relative = if is_folder && !known.contains('/') { format!("./{known}") } else { known.clone() };
    let mut paths = vec![relative];
    if plain.starts_with('/') {
        paths.push(format!("/{known}"));
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_watched_of_a_pattern() {
        let of = |pattern: &str| -> Vec<String> {
            paths(pattern)
                .into_iter()
                .map(|one| one.map_or_else(|no| format!("no {}", no.0), |paths| paths.join(" ")))
                .collect()
        };
        assert_eq!(of(".envrc"), [".envrc"]);
        assert_eq!(of("{.envrc,.env.{a,b}}"), ["no {.envrc,.env.{a,b}}"], "nested braces");
        assert_eq!(of("{.envrc,.env}"), [".envrc", ".env"]);
        assert_eq!(of("{a,b}/x.{c,d}"), ["a/x.c", "a/x.d", "b/x.c", "b/x.d"]);
        assert_eq!(of("src/**/*.rs"), ["./src"]);
        assert_eq!(of("a/b/*.rs"), ["a/b"]);
        assert_eq!(of("docs/"), ["./docs"]);
        assert_eq!(of("/etc/hosts"), ["etc/hosts /etc/hosts"]);
        assert_eq!(of("*.rs"), ["no *.rs"]);
        assert_eq!(of("{Makefile,*.rs}"), ["Makefile", "no *.rs"]);
        assert_eq!(of("~/.npmrc"), ["no ~/.npmrc"]);
        assert_eq!(of("app/(group)/page.tsx"), ["./app"]);
    }

    #[test]
    fn a_matcher_is_one_that_claude_code_can_evaluate() {
        let of = |paths: &[&str]| matcher(&paths.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[".envrc", "a.json"]).unwrap(), ".envrc|a.json");
        assert_eq!(of(&["src/a.json"]).unwrap(), "src/a.json|.*");
        assert_eq!(of(&["Makefile"]).unwrap(), "Makefile|.*", "it may be a folder");
        assert_eq!(of(&[]), None);
        assert!(is_sound("src/a.json|.*") && !is_sound(".envrc|*.rs") && !is_sound("{.envrc,.env}"));
    }
}
