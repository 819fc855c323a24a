//! The targets of a Makefile and the recipes of a justfile that are really there.

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
        // A word behind the name is a parameter; one with a default or a star may be left out.
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
