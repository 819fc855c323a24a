//! Pathspecs: git's patterns for names of files. Their wildcards cross directories, and words before a name change its meaning.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::glob::escaped;

/// How pathspecs are read, because of options before the subcommand or of variables.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct PathspecRules {
    pub(super) ignores_case: bool,
    pub(super) is_literal: bool,
}

/// A pathspec without the words before it.
#[derive(Default)]
struct Pathspec<'p> {
    path: &'p str,
    from_top: bool,
    excludes: bool,
    ignores_case: bool,
    is_literal: bool,
    /// It depends on more than the name.
    is_any: bool,
}

impl<'p> Pathspec<'p> {
    fn read(text: &'p str, rules: PathspecRules) -> Pathspec<'p> {
        let mut spec = Pathspec {
            path: text,
            ignores_case: rules.ignores_case,
            is_literal: rules.is_literal,
            ..Pathspec::default()
        };
        if rules.is_literal {
            return spec;
        }
        let Some(rest) = text.strip_prefix(':') else { return spec };
        if let Some((words, path)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            spec.path = path;
            for word in words.split(',').map(str::trim) {
                match word {
                    "top" => spec.from_top = true,
                    "exclude" => spec.excludes = true,
                    "icase" => spec.ignores_case = true,
                    "literal" => spec.is_literal = true,
                    word => spec.is_any |= word.starts_with("attr"),
                }
            }
            return spec;
        }
        spec.path = rest.trim_start_matches(['/', '!', '^']);
        let signs = rest.get(..rest.len() - spec.path.len()).unwrap_or_default();
        spec.from_top = signs.contains('/');
        spec.excludes = signs.contains(['!', '^']);
        // A second colon ends the signs.
        spec.path = spec.path.strip_prefix(':').unwrap_or(spec.path);
        spec
    }
}

/// The files that a command names, as words. A pattern has more than one.
pub(super) fn files(analyzer: &Analyzer<'_>, paths: &[Field], rules: PathspecRules) -> Vec<Field> {
    let mut found = Vec::new();
    let mut only_excludes = !paths.is_empty();
    for path in paths {
        if path.kind != FieldKind::Literal {
            only_excludes = false;
            found.push(path.clone());
            continue;
        }
        let spec = Pathspec::read(&path.text, rules);
        if spec.excludes {
            continue;
        }
        only_excludes = false;
        let start = if spec.from_top { top_level(analyzer) } else { String::new() };
        let is_pattern = !spec.is_literal && (spec.ignores_case || spec.path.contains(['*', '?', '[', '\\']));
        if spec.is_any || spec.path.is_empty() || spec.path == "*" {
            found.push(Field::literal(if start.is_empty() { "." } else { start.as_str() }));
        } else if is_pattern {
            let start = escaped(&start);
            let patterns = patterns(spec.path, spec.ignores_case).into_iter();
            found.extend(patterns.map(|pattern| Field::new(format!("{start}{pattern}"), FieldKind::Glob)));
        } else {
            found.push(Field::literal(format!("{start}{}", spec.path)));
        }
    }
    if only_excludes {
        found.push(Field::literal("."));
    }
    found
}

/// The top level of the work tree, with a slash at its end.
fn top_level(analyzer: &Analyzer<'_>) -> String {
    let top = analyzer.printed_directory("git rev-parse --show-toplevel");
    top.map_or_else(String::new, |top| format!("{}/", top.text.trim_end_matches('/')))
}

/// Shell patterns for at least the files that a pattern of git matches.
fn patterns(pattern: &str, ignores_case: bool) -> Vec<String> {
    let pattern = if ignores_case { without_case(pattern) } else { pattern.to_owned() };
    let first = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let (before, _) = pattern.split_at(first);
    let (folder, start) = before.rsplit_once('/').map_or(("", before), |(folder, start)| (folder, start));
    let folder =
        if folder.is_empty() && !before.starts_with('/') { String::new() } else { format!("{folder}/") };
    let last = pattern.rsplit('/').next().unwrap_or_default();
    // A `*` may include directories.
    let end = match last.rsplit_once('*') {
        Some((_, end)) => format!("*{end}"),
        None => last.to_owned(),
    };
    if !pattern.contains('*') {
        return vec![pattern];
    }
    if start.is_empty() {
        return vec![format!("{folder}**/{end}")];
    }
    vec![pattern.clone(), format!("{folder}{start}*/**/{end}")]
}

fn without_case(pattern: &str) -> String {
    let mut out = String::new();
    for c in pattern.chars() {
        match c {
            c if c.is_ascii_alphabetic() => {
                out.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
            }
            // A set matches any character here.
            '[' | ']' => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wildcards_of_git_cross_directories() {
        for (pattern, expected) in [
            ("*.txt", "**/*.txt"),
            ("src/*.c", "src/**/*.c"),
            ("l*", "l* l*/**/*"),
            ("a/b*c/d", "a/b*c/d a/b*/**/d"),
            ("lock?d.txt", "lock?d.txt"),
            ("/x/*", "/x/**/*"),
        ] {
            assert_eq!(patterns(pattern, false).join(" "), expected, "{pattern}");
        }
        assert_eq!(patterns("a.B", true), ["[aA].[bB]"]);
    }
}
