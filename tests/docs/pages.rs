//! The Markdown files of the site, and the blocks of code in them.

use std::path::{Path, PathBuf};

pub(crate) struct Page {
    /// Such as `docs/how-to/rust.md`.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Whether files are written again instead of compared.
pub(crate) fn is_update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README and all pages below `docs`, by name.
pub(crate) fn pages() -> Vec<Page> {
    let mut files = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let page = |path: PathBuf| Page {
        name: path.strip_prefix(root()).unwrap().display().to_string(),
        text: std::fs::read_to_string(&path).unwrap(),
    };
    files.into_iter().map(page).collect()
}

/// Compares a file with what it should be, or writes it.
#[track_caller]
pub(crate) fn compare(name: &str, wanted: &str) {
    let path = root().join(name);
    let own = std::fs::read_to_string(&path).unwrap_or_default();
    if own == wanted {
        return;
    }
    if is_update() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, wanted).unwrap();
        return;
    }
    let line = own.lines().zip(wanted.lines()).position(|(own, wanted)| own != wanted);
    let line = line.unwrap_or_else(|| own.lines().count().min(wanted.lines().count()));
    panic!(
        "{name}:{} is out of date: UPDATE_DOCS=1 cargo test --test docs\n  is     {:?}\n  should {:?}",
        line + 1,
        own.lines().nth(line),
        wanted.lines().nth(line)
    );
}

/// A fenced block, with the comments directly before it.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The line of its first fence, from 1.
    pub(crate) line: usize,
    pub(crate) language: String,
    /// The file that it is, from `title="FILE"`.
    pub(crate) title: Option<String>,
    pub(crate) body: String,
    /// Shell lines that are run before it.
    pub(crate) setup: Vec<String>,
    /// Why it is not run.
    pub(crate) not_run: Option<String>,
}

impl Block {
    /// Whether it is run, or a file that is written.
    pub(crate) fn is_example(&self) -> bool {
        self.title.is_some() || ["sh", "console"].contains(&self.language.as_str())
    }
}

pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut next = Block::default();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let start = line.trim_start();
        if let Some(info) = start.strip_prefix("```") {
            let indent = line.len() - start.len();
            let mut body = String::new();
            for (_, line) in lines.by_ref() {
                if line.trim() == "```" {
                    break;
                }
                body.push_str(line.get(indent..).unwrap_or_default());
                body.push('\n');
            }
            let language = info.split_whitespace().next().unwrap_or_default().to_owned();
            let title = info.split("title=\"").nth(1).and_then(|rest| rest.split('"').next());
            let block = Block { line: number + 1, language, title: title.map(str::to_owned), body, ..next };
            found.push(block);
            next = Block::default();
        } else if start.starts_with("<!--") {
            let mut comment = start.to_owned();
            while !comment.contains("-->") {
                let Some((_, line)) = lines.next() else { break };
                comment.push('\n');
                comment.push_str(line);
            }
            let is_one = comment.matches("-->").count() == 1 && comment.trim_end().ends_with("-->");
            assert!(is_one, "a comment must end where it seems to: {comment}");
            let comment = comment.trim_start_matches("<!--").trim_end().trim_end_matches("-->").trim();
            if let Some(script) = comment.strip_prefix("setup:") {
                next.setup.push(script.trim().to_owned());
            } else if let Some(reason) = comment.strip_prefix("not run:") {
                next.not_run = Some(reason.trim().to_owned());
            }
        } else if !start.is_empty() {
            next = Block::default();
        }
    }
    found
}

/// The text without its fenced code and its comments, line for line.
pub(crate) fn prose(text: &str) -> Vec<String> {
    let (mut in_code, mut in_comment) = (false, false);
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            lines.push(String::new());
        } else if in_code {
        } else if in_comment || line.trim_start().starts_with("<!--") {
            in_comment = !line.contains("-->");
            lines.push(String::new());
        } else {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[test]
fn blocks_have_titles_setup_and_reasons() {
    let text = "a\n<!-- setup: touch a -->\n<!-- setup:\ntouch b\n-->\n```yaml title=\".conclaude.yaml\"\nx: 1\n```\nText.\n<!-- not run: it needs a network -->\n\n```sh\ncurl x\n```\n";
    let found = blocks(text);
    assert_eq!(found[0].title.as_deref(), Some(".conclaude.yaml"));
    assert_eq!(found[0].setup, ["touch a", "touch b"]);
    assert_eq!((found[0].line, &*found[0].body), (6, "x: 1\n"));
    assert_eq!(found[1].not_run.as_deref(), Some("it needs a network"));
    assert!(found[1].setup.is_empty());
}

/// Addresses that others link to: they stay.
#[test]
fn pages_keep_their_addresses() {
    let folders = [
        ("", "index install tutorial troubleshooting compare"),
        (
            "how-to/",
            "typescript python rust go monorepo tests-before-stop format-after-edit protect-secrets permissions notify steps \
             rehearse audit budget team ci",
        ),
        ("reference/", "config cli events environment findings exit-codes packs record"),
        ("explanation/", "how-blocking-works guards trust audit performance enforce steps seeing fleet"),
        ("clients/", "claude-code codex copilot qwen gemini"),
        ("migrate/", "plain-hooks conclaude-0.2 guards lefthook"),
    ];
    let promised = folders.iter().flat_map(|(folder, names)| {
        names.split_whitespace().map(move |name| format!("docs/{folder}{name}.md"))
    });
    let missing: Vec<String> = promised.filter(|page| !root().join(page).is_file()).collect();
    assert_eq!(missing, Vec::<String>::new());
}
