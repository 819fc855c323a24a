//! Reads small parts of manifests: TOML tables with keys and lists of strings, the targets of a Makefile, and the recipes of a
//! justfile. A full TOML parser would be one more dependency.

/// The lines of a table, without its subtables.
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

pub(super) fn has_key(text: &str, name: &str, key: &str) -> bool {
    let is_key = |line: &&str| line.split_once('=').is_some_and(|(own, _)| own.trim() == key);
    table(text, name).unwrap_or_default().iter().any(is_key)
}

/// The strings of the list that a key of the table has.
pub(super) fn list(text: &str, name: &str, key: &str) -> Vec<String> {
    let lists = lists(text, name);
    lists.into_iter().find(|(own, _)| own == key).map(|(_, list)| list).unwrap_or_default()
}

/// All keys of the table that have lists, with the strings in them.
pub(super) fn lists(text: &str, name: &str) -> Vec<(String, Vec<String>)> {
    let lines = table(text, name).unwrap_or_default();
    let mut lines = lines.iter();
    let mut all = Vec::new();
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let Some(first) = value.trim_start().strip_prefix('[') else { continue };
        let mut found = Vec::new();
        let mut is_last = strings(first, &mut found);
        while !is_last {
            let Some(line) = lines.next() else { break };
            is_last = strings(line, &mut found);
        }
        all.push((key.trim().trim_matches('"').to_owned(), found));
    }
    all
}

/// Adds the strings of a line. Returns whether the list ends in it.
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

/// A target of a Makefile, or a recipe of a justfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipe<'a> {
    pub(super) name: &'a str,
    /// The others that run before it.
    pub(super) needs: Vec<&'a str>,
    pub(super) lines: Vec<&'a str>,
}

/// The start of a rule: its names, its dependencies, and a command on the same line.
struct RuleHead<'a> {
    names: Vec<&'a str>,
    needs: Vec<&'a str>,
    command: Option<&'a str>,
}

/// The targets that a Makefile defines.
pub(super) fn of_make(text: &str) -> Vec<Recipe<'_>> {
    recipes(text, |line| {
        let (names, rest) = line.split_once(':')?;
        // `X := y`, `X ::= y` and `X = a:b` are variables, `a: X = y` is one of a target.
        let is_variable = rest.trim_start_matches(':').starts_with('=') || names.contains('=');
        let (needs, command) = match rest.trim_start_matches(':').split_once(';') {
            Some((needs, command)) => (needs, Some(command)),
            None => (rest.trim_start_matches(':'), None),
        };
        if is_variable || needs.contains('=') {
            return None;
        }
        let needs = needs.split(['|', ' ', '\t']).filter(|name| is_name(name)).collect();
        Some(RuleHead { names: names.split_whitespace().collect(), needs, command })
    })
}

/// The recipes of a justfile that need no arguments.
pub(super) fn of_just(text: &str) -> Vec<Recipe<'_>> {
    recipes(text, |line| {
        let (head, rest) = line.split_once(':')?;
        let mut words = head.split_whitespace();
        let name = words.next()?.trim_start_matches('@');
        // A word after the name is a parameter. One with a default or a star is optional.
        let needs_argument = words.any(|word| !word.contains('=') && !word.starts_with('*'));
        if rest.starts_with('=') || needs_argument || line.starts_with('[') {
            return None;
        }
        let needs = rest.split_whitespace().filter(|name| is_name(name)).collect();
        Some(RuleHead { names: vec![name], needs, command: None })
    })
}

/// Rules and the indented lines after each.
fn recipes<'a>(text: &'a str, head: fn(&'a str) -> Option<RuleHead<'a>>) -> Vec<Recipe<'a>> {
    let mut found: Vec<Recipe<'a>> = Vec::new();
    // Where the recipes of the last rule start.
    let mut current = 0;
    for line in text.lines() {
        if line.starts_with(['\t', ' ']) {
            found.iter_mut().skip(current).for_each(|recipe| recipe.lines.push(line.trim()));
        } else if !line.starts_with('#') && !line.is_empty() {
            current = found.len();
            let Some(RuleHead { names, needs, command }) = head(line) else { continue };
            let names = names.into_iter().filter(|name| is_name(name));
            found.extend(names.map(|name| Recipe {
                name,
                needs: needs.clone(),
                lines: command.into_iter().map(str::trim).collect(),
            }));
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_targets_that_are_there_count() {
        let make = ".PHONY: lint check\nCC := gcc\nURL = http://x\nall lint: build | out\n\tcheck: not a rule\n%.o: %.c\n\tcc\ntest:: ; x\n$(BIN): y\n# check:\nunit: FLAGS = -x\ndoc:\n";
        let names = |recipes: Vec<Recipe<'_>>| {
            recipes.iter().map(|recipe| recipe.name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(of_make(make)), ["all", "lint", "test", "doc"]);
        let just = "set shell := [\"sh\"]\nx := 'a'\nalias t := test\n[private]\n@lint:\n  check:\ntest *args: lint\n  x\ndeploy target:\nfmt mode='all':\n";
        assert_eq!(names(of_just(just)), ["lint", "test", "fmt"]);
    }

    #[test]
    fn a_recipe_has_its_lines_and_what_it_needs() {
        let recipes = of_make("lint test: build | out ; x\n\ty\n\nother:\n\tz\n");
        let of = |name| Recipe { name, needs: vec!["build", "out"], lines: vec!["x", "y"] };
        let other = Recipe { name: "other", needs: vec![], lines: vec!["z"] };
        assert_eq!(recipes, [of("lint"), of("test"), other]);
    }
}
