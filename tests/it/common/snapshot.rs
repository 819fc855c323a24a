//! Answers as texts that can be compared as a whole: what differs from run to run is replaced here, and only here.

use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::Value;

/// What differs from run to run, and what stands for it.
static FILTERS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let filters = [
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]"),
        (r"\b\d{8}T\d{6,9}Z", "[TIME]"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( UTC)?", "[TIME]"),
        (r"\b[0-9a-f]{64}\b", "[HASH]"),
        (r"\b(crates/[\w-]+/)?src/[\w/]+\.rs:\d+(:\d+)?", "[SOURCE]"),
        (concat!(r"\bconclaude ", env!("CARGO_PKG_VERSION"), r"\b"), "conclaude [VERSION]"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]"),
        // The folder of a project is named after its path.
        (r"\bprojects/-[\w-]+/", "projects/[PROJECT]/"),
        (r"\bin \d+(\.\d+)? m?s\b", "in [DURATION]"),
        (r"\(\d+(\.\d+)? m?s\)", "([DURATION])"),
    ];
    filters.map(|(pattern, name)| (Regex::new(pattern).unwrap(), name)).into()
});

/// The text with names for the folder, the program and all that differs from run to run.
pub(crate) fn steady(text: &str, root: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
    let text = text.replace(program.to_str().unwrap(), "[BIN]").replace(root.to_str().unwrap(), "[ROOT]");
    FILTERS.iter().fold(text, |text, (filter, name)| filter.replace_all(&text, *name).into_owned())
}

/// What a call answered.
pub(crate) struct ProgramOutput<'a> {
    pub code: Option<i32>,
    pub stdout: &'a str,
    pub stderr: &'a str,
}

impl ProgramOutput<'_> {
    /// Exit code, stdout and stderr, each where there is one. JSON is pretty-printed, and a reason that stderr
    /// repeats, as it must, is not shown twice.
    pub(crate) fn text(&self) -> String {
        let json: Option<Value> = serde_json::from_str(self.stdout).ok().filter(Value::is_object);
        let reason = json.as_ref().and_then(reason_of);
        let stdout = json.as_ref().map_or_else(|| self.stdout.to_owned(), pretty);
        let mut text = self.code.map_or("killed".to_owned(), |code| format!("exit {code}"));
        if !stdout.is_empty() {
            text.push_str(&format!("\n----- stdout\n{}", stdout.trim_end()));
        }
        if reason.is_some_and(|reason| self.stderr == format!("{reason}\n")) {
            text.push_str("\n----- stderr: the same");
        } else if !self.stderr.is_empty() {
            text.push_str(&format!("\n----- stderr\n{}", self.stderr.trim_end()));
        }
        text
    }
}

/// The one text that all of these are.
#[track_caller]
pub(crate) fn same(texts: &[String]) -> String {
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "not the same:\n{}", texts.join("\n---\n"));
    texts[0].clone()
}

/// Why something was blocked, denied or failed.
fn reason_of(answer: &Value) -> Option<&str> {
    let reasons = [
        &answer["reason"],
        &answer["hookSpecificOutput"]["permissionDecisionReason"],
        &answer["systemMessage"],
    ];
    reasons.into_iter().find_map(Value::as_str)
}

/// JSON, with the lines of a text below each other.
pub(crate) fn pretty(json: &Value) -> String {
    let line = |line: &str| {
        let indent = line.len() - line.trim_start().len() + 2;
        line.replace("\\n", &format!("\n{}", " ".repeat(indent)))
    };
    let text = format!("{json:#}").lines().map(line).collect::<Vec<_>>().join("\n");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
