//! Sentences and cells of tables are short.

use regex_lite::Regex;

use crate::pages::{Page, pages, prose, root};

/// The longest sentence in words, and the widest cell in characters.
struct Limits {
    words: usize,
    cell: usize,
}

fn limits(page: &str) -> Limits {
    let is_guide = ["README.md", "docs/tutorial.md", "docs/troubleshooting.md"].contains(&page)
        || page.starts_with("docs/how-to/");
    if is_guide { Limits { words: 30, cell: 120 } } else { Limits { words: 40, cell: 220 } }
}

/// Text as it is read: links without their targets, code as one word.
fn read(text: &str) -> String {
    let links = Regex::new(r"!?\[([^\]]*)\]\([^)]*\)").unwrap();
    let code = Regex::new(r"`+[^`]*`+").unwrap();
    let attributes = Regex::new(r"\{[#.:][^}]*\}").unwrap();
    let text = links.replace_all(text, "$1");
    let text = code.replace_all(&text, "code");
    attributes.replace_all(&text, "").into_owned()
}

/// The paragraphs, items of lists, headings and cells of a page, each with the line where it starts.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let item = Regex::new(r"^\s*([-*+]|\d+\.|!!!|\?\?\?)\s").unwrap();
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (number, line) in prose(text).into_iter().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with('|') {
            let row = trimmed.trim_matches('|').replace(r"\|", "/");
            found.extend(row.split('|').map(|cell| (number + 1, cell.trim().to_owned())));
            is_open = false;
        } else if trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with("---") {
            is_open = false;
        } else if is_open && !item.is_match(&line) {
            let last = &mut found.last_mut().unwrap().1;
            last.push(' ');
            last.push_str(trimmed);
        } else {
            found.push((number + 1, trimmed.to_owned()));
            is_open = true;
        }
    }
    found
}

fn sentences(paragraph: &str) -> Vec<String> {
    let end = Regex::new(r"([.!?]\)?)\s+").unwrap();
    let text = end.replace_all(paragraph, "$1\n");
    text.lines().map(str::to_owned).collect()
}

/// What is read in the repository, beside the site.
fn documents() -> Vec<Page> {
    let names = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "crates/checks/tests/differential/README.md",
        "plugin/README.md",
        "plugin/commands/step.md",
        "plugin/skills/rules/SKILL.md",
        "tests/other_clients/README.md",
        "tests/real_client/README.md",
        "tests/stress/README.md",
    ];
    let document = |name: &str| Page {
        name: name.to_owned(),
        text: std::fs::read_to_string(root().join(name)).unwrap(),
    };
    names.into_iter().map(document).collect()
}

#[test]
fn sentences_and_cells_are_short() {
    let mut long = Vec::new();
    for page in pages().into_iter().chain(documents()) {
        let limits = limits(&page.name);
        for (line, paragraph) in paragraphs(&page.text) {
            for sentence in sentences(&read(&paragraph)) {
                let words =
                    sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
                let count = words.count();
                if count > limits.words {
                    long.push(format!("{}:{line}: {count} words: {sentence}", page.name));
                }
            }
        }
        let link = Regex::new(r"\]\([^)]*\)").unwrap();
        for (number, line) in prose(&page.text).into_iter().enumerate() {
            if line.starts_with('|') {
                let row = link.replace_all(&line, "]").replace(r"\|", "/");
                let cells = row.split('|').map(|cell| cell.trim().chars().count());
                let widest = cells.max().unwrap_or_default();
                if widest > limits.cell {
                    long.push(format!("{}:{}: a cell of {widest} characters", page.name, number + 1));
                }
            }
        }
    }
    assert!(long.is_empty(), "{} are too long:\n{}", long.len(), long.join("\n"));
}

#[test]
fn guides_are_not_long() {
    let lines = |name: &str| std::fs::read_to_string(root().join(name)).unwrap().lines().count();
    assert!(lines("README.md") <= 150, "README.md has {} lines", lines("README.md"));
    let long: Vec<String> = pages()
        .into_iter()
        .filter(|page| page.name.starts_with("docs/how-to/") && page.text.lines().count() > 120)
        .map(|page| page.name)
        .collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn every_how_to_says_when_what_how_to_test_it_and_what_can_go_wrong() {
    let mut missing = Vec::new();
    for page in pages().into_iter().filter(|page| page.name.starts_with("docs/how-to/")) {
        let config = "```yaml title=\".conclaude.yaml\"";
        let expected =
            ["Use this ", "## The config", config, "## What you see", "## Test it", "## What can go wrong"];
        let lines: Vec<&str> = page.text.lines().collect();
        let lacks = expected.into_iter().filter(|part| !lines.iter().any(|line| line.starts_with(part)));
        missing.extend(lacks.map(|part| format!("{}: {part}", page.name)));
    }
    assert_eq!(missing, Vec::<String>::new());
}
