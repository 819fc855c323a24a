//! Patterns of the files that code lists.

use super::OPENERS;
use super::tokens::Token;

/// Functions that list the files that a pattern matches.
const LISTING: &[&str] = &["glob", "iglob", "rglob", "globSync", "bsd_glob"];

/// Whether a pattern of code finds each file of a tree. Reading these is a search, as by `grep -r`.
pub(crate) fn is_whole_tree(pattern: &str) -> bool {
    matches!(pattern.trim_start_matches("./"), "**" | "**/*" | "**/*.*")
}

/// The patterns that such functions get, and those in `<*.c>` of Perl and `Dir['*.c']` of Ruby.
pub(super) fn patterns(items: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let Token::Text { text, .. } = item else { continue };
        if !text.contains(['*', '?', '[', '{']) {
            continue;
        }
        let before = items.get(at.saturating_sub(2)..at).unwrap_or_default();
        let (name, is_called) = match before {
            [.., Token::Name(name)] => (name.as_str(), false),
            [.., Token::Name(name), Token::Sign('(' | '[')] => (name.as_str(), true),
            _ => continue,
        };
        if LISTING.contains(&name) || is_called && matches!(name, "Dir" | "Glob") {
            let is_all = name == "rglob" && text == "*";
            found.push(if is_all { "**/*".to_owned() } else { text.clone() });
        }
    }
    if uses_files(items) { found } else { Vec::new() }
}

/// Words of code that it may expand like a shell: those in quotes, if it names such a function or `Dir[` of Ruby, and `<.x*>` of Perl.
/// Unlike `patterns`, this reads the bare text and may find too much.
#[must_use]
pub fn written_patterns(code: &str) -> Vec<String> {
    // `Dir[` is followed by a text.
    let without_open = |word| match str::rsplit_once(word, '[') {
        Some((before, after)) if !after.contains(']') => before.to_owned(),
        _ => word.to_owned(),
    };
    let is_pattern = |word: &String| {
        word.contains(['*', '?', '['])
            && word.chars().all(|c| c.is_alphanumeric() || "./_-~*?[]{}".contains(c))
    };
    let lower = code.to_ascii_lowercase();
    let expands = LISTING.iter().any(|name| lower.contains(name)) || code.contains("Dir[");
    let quoted = if expands { code } else { "" }.split(['"', '\'', ' ', ',', '(', ')', '\n']);
    let angled = code.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0));
    quoted.chain(angled).map(without_open).filter(is_pattern).collect()
}

/// Whether code does more than list files.
fn uses_files(items: &[Token]) -> bool {
    const USING: &[&str] = &[
        "ARGV",
        "Popen",
        "call",
        "check_output",
        "execFileSync",
        "execSync",
        "fileinput",
        "read",
        "read_bytes",
        "read_text",
        "run",
        "spawnSync",
        "system",
        "touch",
        "write_bytes",
        "write_text",
    ];
    items.iter().any(|item| {
        matches!(item, Token::Name(name) if name != "Path" && (USING.contains(&name.as_str()) || OPENERS.contains(&name.as_str())))
    })
}

/// Functions that go through a directory, and those that delete or move what they are given.
pub(super) const WALKING: &[&str] = &["iterdir", "listdir", "opendir", "readdir", "readdirSync", "scandir"];
pub(super) const DELETING: &[&str] = &["renameSync", "rmSync", "rmdirSync", "rmtree", "unlink", "unlinkSync"];
/// What gives the contents of the files that sqlite lists: `select data from fsdir('.')`.
pub(super) const SQL_READING: &[&str] = &["data", "readfile"];

/// Patterns of the files in the directories that code lists by one of the first functions, if it also uses one of the others.
pub(super) fn listed(items: &[Token], listing: &[&str], using: &[&str]) -> Vec<String> {
    // `remove` alone is also a method of lists.
    let is_owned = |part: &[Token]| {
        matches!(part, [Token::Name(owner), Token::Sign('.'), Token::Name(name)]
            if owner == "os" && matches!(name.as_str(), "remove" | "rename"))
    };
    let is_used =
        items.iter().any(|item| matches!(item, Token::Name(name) if using.contains(&name.as_str())))
            || using == DELETING && items.windows(3).any(is_owned);
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if !is_used || !matches!(item, Token::Name(name) if listing.contains(&name.as_str())) {
            continue;
        }
        if is_only_shown(items, at) {
            continue;
        }
        let near = items.get(at.saturating_sub(3)..items.len().min(at + 4)).unwrap_or_default();
        let directory = near.iter().rev().find_map(Token::text).unwrap_or(".").trim_end_matches('/');
        found.extend([format!("{directory}/*"), format!("{directory}/.*")]);
    }
    found
}

/// Whether the result of the function at this place is only printed or counted: `print(sorted(os.listdir(d)))`.
fn is_only_shown(items: &[Token], at: usize) -> bool {
    let mut before = items.get(..at).unwrap_or_default();
    if let [rest @ .., Token::Name(_), Token::Sign('.')] = before {
        before = rest;
    }
    while let [rest @ .., Token::Name(name), Token::Sign('(')] = before {
        if matches!(name.as_str(), "len" | "print") {
            // Another function may have that name.
            let is_other = |part: &[Token]| match part {
                [Token::Name(_), Token::Name(next)] => next == name,
                [Token::Name(called), next] => called == name && *next != Token::Sign('('),
                _ => false,
            };
            return !items.windows(2).any(is_other) && !matches!(rest, [.., Token::Sign('.')]);
        }
        if name != "sorted" {
            return false;
        }
        before = rest;
    }
    false
}
