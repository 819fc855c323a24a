//! The Markdown files: their tables can be read, and the files and sections that they name exist.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Markdown file outside of build folders and hidden ones, with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap_or_default());
            if entry.file_type().unwrap().is_dir() {
                let is_skipped =
                    name.starts_with('.') || ["target", "corpus", "node_modules"].contains(&&*name);
                if !is_skipped {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

/// The text without its fenced code, line for line.
fn prose(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push(line);
        }
    }
    lines
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

#[test]
fn no_cell_of_a_table_is_longer_than_220_characters() {
    let mut long = Vec::new();
    for (path, text) in documents() {
        for row in prose(&text).into_iter().filter(|line| line.starts_with('|')) {
            let row = row.replace(r"\|", "/");
            let cells = row.split('|').filter(|cell| cell.trim().chars().count() > 220);
            long.extend(cells.map(|cell| format!("{}:{cell}", shown(&path))));
        }
    }
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn every_source_path_that_is_named_exists() {
    let named = Regex::new(r"`((?:crates|src|tests|benches|fuzz|docs|scripts)(?:/[\w.-]+)*)/?`").unwrap();
    let mut missing = Vec::new();
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let paths: Vec<&str> =
            named.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
        assert!(!paths.is_empty(), "{document}");
        let gone = paths.into_iter().filter(|path| !root().join(path).exists());
        missing.extend(gone.map(|path| format!("{document}: {path}")));
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// What GitHub makes of a heading: lower case, hyphens for spaces, and nothing else but letters and digits.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept =
            title.chars().filter(|character| character.is_alphanumeric() || " -_".contains(*character));
        kept.map(|character| if character == ' ' { '-' } else { character }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let link = Regex::new(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)").unwrap();
    let mut broken = Vec::new();
    for (path, text) in documents() {
        for line in prose(&text) {
            for found in link.captures_iter(line) {
                let target = found.get(1).unwrap().as_str();
                if target.contains("://") {
                    continue;
                }
                let file = if target.is_empty() { path.clone() } else { path.parent().unwrap().join(target) };
                let is_right = match found.get(2) {
                    Some(anchor) => std::fs::read_to_string(&file)
                        .is_ok_and(|text| anchors(&text).iter().any(|own| own == anchor.as_str())),
                    None => file.exists(),
                };
                if !is_right {
                    broken.push(format!("{}: {}", shown(&path), found.get(0).unwrap().as_str()));
                }
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}
