//! No function is longer than a screen, and the path of an event is short. The code is formatted, so a function ends at the brace below its own start.

use std::path::Path;

const MAX_LINES: usize = 60;

/// The name of the function that starts in this line.
fn started(line: &str) -> Option<&str> {
    let mut item = super::source::without_visibility(line.trim_start()).1;
    for word in ["const ", "async ", "unsafe "] {
        item = item.strip_prefix(word).unwrap_or(item);
    }
    let name = item.strip_prefix("fn ")?;
    name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
}

/// The functions of a file, with their lines. One without a body, or with one in its first line, has none.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = started(line) else { continue };
        let same = |line: &str| !line.is_empty() && indentation(line) == indentation(lines[at]);
        let mut below = lines[at..].iter().enumerate().filter(|(_, line)| same(line));
        let end = below.find(|(_, line)| line.ends_with(['}', ';']));
        if let Some((last, _)) = end.filter(|(_, line)| line.trim() == "}") {
            found.push((name, last + 1));
        }
    }
    found
}

fn long_ones(folder: &Path, found: &mut Vec<String>) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // A table of cases is as long as it is.
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            seen += long_ones(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let functions = functions(&text);
            seen += functions.len();
            let long = functions.iter().filter(|(_, lines)| *lines > MAX_LINES);
            found.extend(long.map(|(name, lines)| format!("{}: {name} has {lines} lines", path.display())));
        }
    }
    seen
}

#[test]
fn no_function_is_longer_than_60_lines() {
    let mut long = Vec::new();
    let seen = ["src", "benches/src"].map(|folder| long_ones(&super::source(folder), &mut long));
    assert_eq!(long, Vec::<String>::new());
    assert!(seen[0] > 2_000 && seen[1] > 20, "{seen:?}");
}

/// The file that shows the path of one event is read first.
#[test]
fn the_path_of_an_event_fits_into_200_lines() {
    let lines = std::fs::read_to_string(super::source("src/hooks.rs")).unwrap().lines().count();
    assert!(lines < 200, "{lines}");
}

#[test]
fn a_function_ends_at_the_brace_below_its_start() {
    let text = "impl A {\n    pub(crate) const fn a(\n        &self,\n    ) -> B {\n        if x {\n        }\n\n        y\n    }\n\n    fn b() {}\n}\n\ntrait C {\n    fn c(&self);\n    fn d(\n        &self,\n    );\n}\n\nasync fn e() {\n    fn f() {\n    }\n}\n";
    assert_eq!(functions(text), [("a", 8), ("e", 4), ("f", 2)]);
}
