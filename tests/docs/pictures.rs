//! `docs/assets/*.svg`, from what the program prints.

use std::path::Path;

use regex_lite::Regex;
use serde_json::json;

use crate::common::tmux::Tmux;
use crate::common::transcripts::Transcripts;
use crate::common::{Test, conclaude, conclaude_in};
use crate::pages::compare;

/// Text with escapes as a picture.
fn picture(name: &str, text: &str) {
    // The bright colours, which can be read on black, and no reversed rows, whose background would be drawn beside its text.
    let bright = Regex::new(r"\x1b\[((?:\d+;)*)3([1-7])m").unwrap().replace_all(text, "\x1b[${1}9${2}m");
    let codes = Regex::new(r"\x1b\[([\d;]*)m").unwrap();
    let text = codes.replace_all(&bright, |found: &regex_lite::Captures| {
        let kept: Vec<&str> = found[1].split(';').filter(|code| !["7", "27"].contains(code)).collect();
        let kept =
            kept.iter().map(|code| if *code == "2" { "90" } else { code }).collect::<Vec<_>>().join(";");
        if kept.is_empty() && !found[1].is_empty() { String::new() } else { format!("\x1b[{kept}m") }
    });
    let term = anstyle_svg::Term::new().palette(anstyle_svg::WIN10_CONSOLE).min_width_px(760);
    let svg = term.render_svg(&text);
    compare(&format!("docs/assets/{name}.svg"), &svg);
}

/// A command line, as it is typed.
fn typed(line: &str) -> String {
    format!("\x1b[1;34m$\x1b[0m \x1b[1m{line}\x1b[0m\n")
}

/// Lines that fit into the picture. What is left of one starts where the values of `doctor` do.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut rest = line.to_owned();
        while rest.chars().count() > 110 {
            let end = rest.char_indices().nth(110).map_or(rest.len(), |(at, _)| at);
            let at = rest[..end].rfind(' ').unwrap_or(end);
            lines.push(rest[..at].to_owned());
            rest = format!("{:15}{}", "", rest[at..].trim_start());
        }
        lines.push(rest);
    }
    lines.join("\n") + "\n"
}

const LINT: &str =
    "#!/bin/sh\necho \"src/greeting.js:3:7  error  'unused' is assigned a value but never used\"\nexit 1\n";

#[test]
fn picture_of_a_block() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: npm run --silent lint, message: Linting failed, onFailure: block}\n";
    let test = Test::stop().config(config).payload("agent_id", "ae7af48d32583d25f").file(
        "main/subagents/agent-ae7af48d32583d25f.meta.json",
        r#"{"toolUseId":"toolu_1","agentType":"coder","description":"Write greeting"}"#,
    );
    crate::common::program::script(test.root().join("bin/npm"), LINT);
    let path = format!("{}:/usr/bin:/bin", test.root().join("bin").display());
    let done = test.env("PATH", &path).run().status(2);
    let marked = done.stderr.replace('✗', "\x1b[31m✗\x1b[0m");
    let text = format!(
        "{}{}{}2\n",
        typed("conclaude SubagentStop < payload.json"),
        wrapped(&marked),
        typed("echo $?")
    );
    picture("block", &text);
}

#[test]
fn picture_of_an_explanation() {
    let test = Test::stop().config("extends: [\"pack:git-safety\"]\n");
    let line = "git add -A && git push --force origin main";
    let installed = conclaude_in(&test.root()).arg("install").output().unwrap();
    assert!(installed.status.success(), "{installed:?}");
    let output = conclaude_in(&test.root())
        .args(["explain", "PreToolUse", "--command", line])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    picture(
        "explain",
        &format!("{}{text}", typed(&format!("conclaude explain PreToolUse --command '{line}'"))),
    );
}

fn run(folder: &Path, home: &Path, path: &str, arguments: &[&str]) -> String {
    let output = conclaude()
        .args(arguments)
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", home)
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn picture_of_doctor() {
    let test = Test::stop().file("my-project/package.json", r#"{"scripts": {"lint": "eslint ."}}"#);
    let home = test.root();
    let project = home.join("my-project");
    for program in ["bin/npm", "my-project/node_modules/.bin/eslint"] {
        crate::common::program::script(home.join(program), "#!/bin/sh\n");
    }
    crate::common::program::script(home.join("bin/claude"), "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_conclaude"), home.join("bin/conclaude")).unwrap();
    let path = format!("{}:/usr/bin:/bin", home.join("bin").display());
    run(&project, &home, &path, &["init", "--yes"]);
    let text = run(&project, &home, &path, &["doctor"]);
    let own = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
    let text = text.replace(own.to_str().unwrap(), "/home/me/.local/bin/conclaude");
    let text = text.replace(home.to_str().unwrap(), "/home/me");
    let text = Regex::new(r"\d+ ms").unwrap().replace_all(&text, "3 ms").into_owned();
    let version = format!("conclaude {} in", env!("CARGO_PKG_VERSION"));
    let text = text.replace(&version, "conclaude in");
    let checks = text.split("\nWhat it answered").next().unwrap();
    picture("doctor", &format!("{}{}", typed("conclaude doctor"), wrapped(checks)));
}

#[test]
fn picture_of_watch() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: 'sleep 1; echo \"greet.js:3 unused variable\"; exit 1', message: Linting failed, onFailure: block}\n";
    let test = Test::stop().config(config);
    let mut transcripts = Transcripts::of(&test.root(), "session-1");
    let mut say = |agent: Option<&str>, text: &str| {
        let now = jiff::Timestamp::now().to_string();
        let line = json!({"type": "user", "timestamp": now, "cwd": test.root(), "message": {"role": "user", "content": text}});
        transcripts.raw(agent, &format!("{line}\n"));
        transcripts.path(agent)
    };
    say(None, "Add a greeting, and test it.");
    let path = say(Some("a1b2c3"), "Write the greeting.");
    let meta = json!({"agentType": "coder", "description": "Write greeting", "toolUseId": "toolu_1", "spawnDepth": 1});
    std::fs::write(path.with_file_name("agent-a1b2c3.meta.json"), meta.to_string()).unwrap();
    let tmux = Tmux::start(&test.root(), "watch");
    tmux.shows("Add a greeting");
    let test = test.run().status(2).again();
    tmux.shows("SubagentStop blocked (1 of 3)");
    let text = tmux.escapes();
    drop(test);
    // What differs from run to run has the same width each time.
    let project = test_name(&text);
    let text = text.replace(&project, &format!("{:<1$}", "greeting", project.chars().count()));
    let same_width = |pattern: &str, shown: &str, text: String| {
        let found = Regex::new(pattern).unwrap();
        let filled = |found: &regex_lite::Captures| format!("{shown:>0$}", found[0].chars().count());
        found.replace_all(&text, filled).into_owned()
    };
    let text = same_width(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-01-31 12:00", text);
    let text = same_width(r"\d\d:\d\d:\d\d", "12:00:00", text);
    let text = same_width(r" +\d+\.\d s\b", "1.0 s", text);
    let text = same_width(r" +\d+ m?s\b", "2 s", text);
    let lines: Vec<&str> = text.lines().collect();
    let (top, foot) = lines.split_at(lines.len() - 1);
    let filled = top.iter().rposition(|line| line.chars().any(char::is_alphanumeric)).unwrap();
    picture("watch", &format!("{}\n\n{}\n", top[..=filled].join("\n"), foot.join("")));
}

/// The name of the scratch project, as the first line shows it.
fn test_name(screen: &str) -> String {
    Regex::new(r"conclaude-t[\w-]+…?").unwrap().find(screen).unwrap().as_str().to_owned()
}
