//! The blocks of a page run from top to bottom, in one scratch project with an empty home.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_lite::Regex;

use crate::common::{binary, scratch};
use crate::pages::{Block, Page, blocks, is_update, pages, root};

/// Where a page's examples run: a git project below a home, with conclaude on the PATH.
struct Project {
    folder: tempfile::TempDir,
}

/// For setup: `fake NAME SCRIPT` puts a program on the PATH.
const FAKE: &str = "fake() { printf '#!/bin/sh\\n%s\\n' \"$2\" > ~/bin/$1; chmod +x ~/bin/$1; }\n";

/// What paths of the scratch home are shown as.
const HOME: &str = "/home/me";

impl Project {
    fn new() -> Project {
        let project = Project { folder: scratch() };
        for folder in ["project", ".local/bin", "bin"] {
            std::fs::create_dir_all(project.home().join(folder)).unwrap();
        }
        let program = project.home().join(".local/bin/conclaude");
        if std::fs::hard_link(binary(), &program).is_err() {
            crate::common::program::copy(binary(), &program);
        }
        let (code, output) = project.run("git init -q -b main .");
        assert_eq!(code, 0, "{output}");
        project
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("me")
    }

    /// Runs lines of a shell in the project. Returns the exit code, and both streams in the order in which they were written.
    fn run(&self, script: &str) -> (i32, String) {
        let home = self.home();
        let path = format!("{0}/bin:{0}/.local/bin:/usr/local/bin:/usr/bin:/bin", home.display());
        let output = Command::new("timeout")
            .args(["120", "sh", "-e", "-c", &format!("exec 2>&1\n{script}")])
            .current_dir(home.join("project"))
            .env_clear()
            .env("HOME", &home)
            .env("PATH", path)
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .env("TEST_LIMIT_OF_CONCLAUDE", "600")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "me")
            .env("GIT_AUTHOR_EMAIL", "me@example.com")
            .env("GIT_COMMITTER_NAME", "me")
            .env("GIT_COMMITTER_EMAIL", "me@example.com")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).replace(&home.display().to_string(), HOME);
        (output.status.code().unwrap_or(-1), text)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.home().join("project").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// A command of a `console` block, and what it is to print.
struct Call {
    lines: Vec<String>,
    output: Vec<String>,
    code: i32,
}

impl Call {
    fn command(&self) -> String {
        self.lines.join("\n")
    }
}

/// `$ ` starts a command, `> ` continues it, `? 2` is its exit code, and the rest is its output.
fn calls(body: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for line in body.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            calls.push(Call { lines: vec![command.to_owned()], output: Vec::new(), code: 0 });
            continue;
        }
        let Some(call) = calls.last_mut() else { panic!("output before the first `$ `: {line}") };
        if call.output.is_empty()
            && let Some(more) = line.strip_prefix("> ")
        {
            call.lines.push(more.to_owned());
        } else if let Some(code) = line.strip_prefix("? ").and_then(|code| code.parse().ok()) {
            call.code = code;
        } else {
            call.output.push(line.trim_end().to_owned());
        }
    }
    calls
}

/// `[..]` in a line is anything, a line with `...` is any lines.
fn matches(wanted: &[String], found: &[String]) -> bool {
    match (wanted.split_first(), found.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first.trim() == "..." => {
            (0..=found.len()).any(|skipped| matches(rest, &found[skipped..]))
        }
        (Some((first, rest)), Some((line, others))) => line_matches(first, line) && matches(rest, others),
        _ => false,
    }
}

fn line_matches(wanted: &str, line: &str) -> bool {
    let parts: Vec<&str> = wanted.split("[..]").collect();
    let [start, middle @ .., end] = parts.as_slice() else { return wanted == line };
    let Some(mut rest) = line.strip_prefix(start) else { return false };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

/// What differs from run to run, for the output that is written into a page.
fn steady(line: &str) -> String {
    let varying = [
        (r"\b\d+(\.\d+)? m?s\b", "[..]"),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?", "[..]"),
        (r"\b[0-9a-f]{40,64}\b", "[..]"),
        (r"conclaude \d+\.\d+\.\d+", "conclaude [..]"),
    ];
    varying.iter().fold(line.to_owned(), |line, (pattern, shown)| {
        Regex::new(pattern).unwrap().replace_all(&line, *shown).into_owned()
    })
}

/// Runs a `console` block. Returns what it should be, if it is not.
fn console(project: &Project, block: &Block) -> Result<(), String> {
    let mut written = String::new();
    let mut is_right = true;
    for call in calls(&block.body) {
        let (code, output) = project.run(&call.command());
        let found: Vec<String> = output.lines().map(|line| line.trim_end().to_owned()).collect();
        let mut lines = call.lines.iter();
        let _ = writeln!(written, "$ {}", lines.next().unwrap());
        for line in lines {
            let _ = writeln!(written, "> {line}");
        }
        let is_same = code == call.code && matches(&call.output, &found);
        is_right &= is_same;
        let shown = if is_same { call.output } else { found.iter().map(|line| steady(line)).collect() };
        for line in shown {
            let _ = writeln!(written, "{line}");
        }
        if code != 0 {
            let _ = writeln!(written, "? {code}");
        }
    }
    if is_right { Ok(()) } else { Err(written) }
}

/// Runs one block. Returns what is wrong.
fn run(project: &Project, block: &Block) -> Result<(), String> {
    for script in &block.setup {
        let (code, output) = project.run(&format!("{FAKE}{script}"));
        if code != 0 {
            return Err(format!("setup ends with {code}:\n{output}"));
        }
    }
    if let Some(name) = &block.title {
        project.write(name, &block.body);
        if name == ".conclaude.yaml" {
            let (code, output) = project.run("conclaude validate .conclaude.yaml");
            if code != 0 {
                return Err(output);
            }
        }
        return Ok(());
    }
    match block.language.as_str() {
        "sh" => match project.run(&block.body) {
            (0, _) => Ok(()),
            (code, output) => Err(format!("ends with {code}:\n{output}")),
        },
        "console" => console(project, block),
        _ => Ok(()),
    }
}

/// Runs a page. Returns what is wrong, and the page with the output of its commands.
fn run_page(page: &Page) -> (Vec<String>, String) {
    let project = Project::new();
    let mut wrong = Vec::new();
    let mut text = page.text.clone();
    for block in blocks(&page.text) {
        let is_idle = !block.is_example() && block.setup.is_empty();
        if block.not_run.is_some() || is_idle {
            continue;
        }
        let Err(found) = run(&project, &block) else { continue };
        let is_updated = is_update() && block.language == "console" && found.starts_with("$ ");
        if is_updated && !page.text.contains(&format!("   {}", block.body)) {
            text = text.replacen(&format!("\n{}```", block.body), &format!("\n{found}```"), 1);
        } else {
            wrong.push(format!("{}:{}\n{found}", page.name, block.line));
        }
    }
    (wrong, text)
}

#[test]
fn every_example_runs() {
    let chosen = std::env::var("DOCS_PAGE").unwrap_or_default();
    let pages: Vec<Page> = pages().into_iter().filter(|page| page.name.contains(&chosen)).collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (found, text) = run_page(page);
                    wrong.lock().unwrap().extend(found);
                    if text != page.text {
                        std::fs::write(root().join(&page.name), text).unwrap();
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{} examples are wrong:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn at_most_one_example_in_six_is_not_run() {
    let pages = pages();
    let examples: Vec<(&str, Block)> = pages
        .iter()
        .flat_map(|page| blocks(&page.text).into_iter().map(|block| (&*page.name, block)))
        .filter(|(_, block)| block.is_example())
        .collect();
    let excused: Vec<String> = examples
        .iter()
        .filter_map(|(page, block)| Some(format!("{page}:{}: {}", block.line, block.not_run.as_ref()?)))
        .collect();
    assert!(excused.len() * 6 <= examples.len(), "{} of {}: {excused:#?}", excused.len(), examples.len());
}

#[test]
fn every_config_is_a_titled_file() {
    let mut untitled = Vec::new();
    for page in pages() {
        let is_section = ["docs/how-to/", "docs/tutorial", "README", "docs/index", "docs/install"];
        if !is_section.iter().any(|name| page.name.starts_with(name)) {
            continue;
        }
        let blocks = blocks(&page.text).into_iter();
        let lost = blocks.filter(|block| block.language == "yaml" && block.title.is_none());
        untitled.extend(lost.map(|block| format!("{}:{}", page.name, block.line)));
    }
    assert_eq!(untitled, Vec::<String>::new());
}

#[test]
fn placeholders_match_text_and_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (wanted, found, is_same) in [
        ("in [..] ms", "in 12 ms", true),
        ("in [..] ms", "in 12 s", false),
        ("a\n...\nd", "a\nb\nc\nd", true),
        ("a\n...", "a", true),
        ("a", "a\nb", false),
        ("[..]x[..]", "axb", true),
    ] {
        assert_eq!(matches(&lines(wanted), &lines(found)), is_same, "{wanted:?} {found:?}");
    }
}
