//! What a call came to, and what is expected of it.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use super::Test;
use super::snapshot::{ProgramOutput, steady};

pub(crate) struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    test: Test,
}

impl Outcome {
    pub(crate) fn new(test: Test, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Outcome { code: output.status.code(), stdout, stderr, test }
    }

    /// What the user is shown, beside all that the answer may have; nothing where nothing is.
    pub(crate) fn system_message(&self) -> String {
        let json: Value = serde_json::from_str(&self.stdout).unwrap();
        self.steady(json["systemMessage"].as_str().unwrap_or_default())
    }

    /// The whole answer, for a snapshot: exit code, stdout and stderr.
    pub(crate) fn snapshot(&self) -> String {
        let (stdout, stderr) = (self.steady(&self.stdout), self.steady(&self.stderr));
        ProgramOutput { code: self.code, stdout: &stdout, stderr: &stderr }.text()
    }

    /// A text of the answer without what differs from run to run.
    pub(crate) fn steady(&self, text: &str) -> String {
        steady(text, &self.root())
    }

    /// The project again, for the next call.
    pub(crate) fn again(self) -> Test {
        self.test
    }

    /// The project's folder.
    pub(crate) fn root(&self) -> PathBuf {
        self.test.root()
    }

    #[track_caller]
    fn expect(self, condition: bool, what: &str) -> Self {
        assert!(
            condition,
            "expected {what}\n--- exit {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.code, self.stdout, self.stderr
        );
        self
    }

    /// Expects this exit code.
    #[track_caller]
    pub(crate) fn status(self, code: i32) -> Self {
        let is = self.code == Some(code);
        self.expect(is, &format!("exit {code}"))
    }

    /// Expects success with nothing on stdout.
    #[track_caller]
    pub(crate) fn silent(self) -> Self {
        let silent = self.code == Some(0) && self.stdout.is_empty();
        self.expect(silent, "exit 0 and an empty stdout")
    }

    /// Expects this on stderr.
    #[track_caller]
    pub(crate) fn stderr_has(self, part: &str) -> Self {
        let has = self.stderr.contains(part);
        self.expect(has, &format!("{part:?} on stderr"))
    }

    /// Expects that this is nowhere in the answer.
    #[track_caller]
    pub(crate) fn nowhere(self, part: &str) -> Self {
        let nowhere = !self.stdout.contains(part) && !self.stderr.contains(part);
        self.expect(nowhere, &format!("{part:?} nowhere"))
    }

    /// Expects exit 0 and one JSON object with nothing but a `systemMessage`, and gives the message.
    #[track_caller]
    pub(crate) fn message(&self) -> String {
        assert_eq!(self.code, Some(0), "stderr: {}", self.stderr);
        let json: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {:?}", self.stdout));
        let text = json["systemMessage"].as_str().unwrap().to_owned();
        assert_eq!(json, json!({ "systemMessage": text }));
        self.steady(&text)
    }

    /// Expects a block, on stdout and on stderr, and gives the reason.
    #[track_caller]
    pub(crate) fn blocked(&self) -> String {
        assert_eq!(self.code, Some(2), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        let json: Value = serde_json::from_str(&self.stdout).unwrap();
        let reason = json["reason"].as_str().unwrap().to_owned();
        assert_eq!(json, json!({ "decision": "block", "reason": reason }));
        assert_eq!(self.stderr, format!("{reason}\n"), "the reason, and nothing else");
        self.steady(&reason)
    }

    /// Expects that a tool is denied (exit 2) or asked about (exit 0), and gives the reason.
    #[track_caller]
    pub(crate) fn tool(&self, decision: &str) -> String {
        let exit = if decision == "deny" { 2 } else { 0 };
        assert_eq!(self.code, Some(exit), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        let json: Value = serde_json::from_str(&self.stdout).unwrap();
        let reason = json["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned();
        let output = json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        });
        assert_eq!(json, json!({ "hookSpecificOutput": output }));
        self.steady(&reason)
    }

    /// The content of a file of the project.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Whether a file of the project exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root().join(name).exists()
    }
}
