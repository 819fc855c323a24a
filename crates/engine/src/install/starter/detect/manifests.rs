//! The little that is read of manifests: whether a TOML table is there, lists of strings in it, the targets of a Makefile and the
//! recipes of a justfile. A reader for all of TOML would be a dependency for nothing else.

/// The lines of a table, without those of its own tables.
fn table<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let header = format!("[{name}]");
    let mut lines = text.lines().map(|line| without_comment(line).trim());
    lines.find(|line| *line == header)?;
    Some(lines.take_while(|line| !is_header(line)).collect())
}

/// A line that starts a table; the end of a list looks similar.
fn is_header(line: &str) -> bool {
    let name = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    name.is_some_and(|name| !name.is_empty() && !name.contains([',', '"', '\'']))
}

pub(super) fn has_table(text: &str, name: &str) -> bool {
    table(text, name).is_some()
}

/// The strings of the list that a key of the table has.
pub(super) fn list(text: &str, name: &str, key: &str) -> Vec<String> {
    let lines = table(text, name).unwrap_or_default();
    let value_of = |line: &str| {
        Some(
            line.strip_prefix(key)?
                .trim_start()
                .strip_prefix('=')?
                .trim_start()
                .strip_prefix('[')?
                .to_owned(),
        )
    };
    let Some((at, first)) = lines.iter().enumerate().find_map(|(at, line)| Some((at, value_of(line)?)))
    else {
        return Vec::new();
    };
    let rest = lines.iter().skip(at + 1).map(|line| (*line).to_owned());
    let mut found = Vec::new();
    for line in std::iter::once(first).chain(rest) {
        let is_last = strings(&line, &mut found);
        if is_last {
            break;
        }
    }
    found
}

/// Adds the strings of a line; whether the list ends in it.
fn strings(line: &str, found: &mut Vec<String>) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', ']']) {
        let (mark, after) = rest.split_at(at).1.split_at(1);
        if mark == "]" {
            return true;
        }
        let Some((text, next)) = after.split_once(mark) else { return true };
        found.push(text.to_owned());
        rest = next;
    }
    false
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return line.get(..at).unwrap_or(line),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    line
}

/// The targets that a Makefile defines.
pub(super) fn of_make(text: &str) -> Vec<&str> {
    let rules = text.lines().filter(|line| !line.starts_with(['\t', '#', ' ']));
    let heads = rules.filter_map(|line| {
        let (names, rest) = line.split_once(':')?;
        // `X := y`, `X ::= y` and `X = a:b` are variables, `a: X = y` is one of a target.
        let is_variable = rest.trim_start_matches(':').starts_with('=') || names.contains('=');
        let of_target = rest.split(';').next().is_some_and(|needs| needs.contains('='));
        if is_variable || of_target { None } else { Some(names) }
    });
    heads.flat_map(str::split_whitespace).filter(|name| is_name(name)).collect()
}

/// The recipes of a justfile that need no arguments.
pub(super) fn of_just(text: &str) -> Vec<&str> {
    let rules = text.lines().filter(|line| !line.starts_with(['\t', '#', ' ', '[']));
    let heads = rules.filter_map(|line| {
        let (head, rest) = line.split_once(':')?;
        let mut words = head.split_whitespace();
        let name = words.next()?.trim_start_matches('@');
        // A word after the name is a parameter. One with a default or a star is optional.
        let needs_argument = words.any(|word| !word.contains('=') && !word.starts_with('*'));
        if rest.starts_with('=') || needs_argument { None } else { Some(name) }
    });
    heads.filter(|name| is_name(name)).collect()
}

fn is_name(name: &str) -> bool {
    !name.starts_with('.') && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_targets_that_are_there_count() {
        let make = ".PHONY: lint check\nCC := gcc\nURL = http://x\nall lint: build | out\n\tcheck: not a rule\n%.o: %.c\n\tcc\ntest:: ; x\n$(BIN): y\n# check:\nunit: FLAGS = -x\ndoc:\n";
        assert_eq!(of_make(make), ["all", "lint", "test", "doc"]);
        let just = "set shell := [\"sh\"]\nx := 'a'\nalias t := test\n[private]\n@lint:\n  check:\ntest *args: lint\n  x\ndeploy target:\nfmt mode='all':\n";
        assert_eq!(of_just(just), ["lint", "test", "fmt"]);
    }
}
