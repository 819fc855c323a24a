//! A project with a gated step, as Claude Code plays it: the call, the agent's files, its stop.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Outcome, Test};

pub(crate) const PHASES: [&str; 14] = conclaude_checks::des::phases::TDD_14;

/// The markers of a prompt for `steps/01-01.json`.
pub(crate) const MARKERS: &str = "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n<!-- DES-AGENT: coder -->\n<!-- DES-COMMAND: /nw:execute -->\n<!-- DES-PROJECT-ID: greeting -->\n\nDo step 01-01.";

/// The codes of the findings in a message that are more than warnings, in order.
pub(crate) fn codes(message: &str) -> Vec<&str> {
    let findings = message.lines().filter_map(|line| line.strip_prefix("✗ "));
    findings.filter_map(|finding| finding.split([' ', ':']).next()).collect()
}

/// A step in which every phase has passed.
pub(crate) fn done() -> Value {
    let log: Vec<Value> = PHASES
        .iter()
        .enumerate()
        .map(|(index, name)| json!({"phase_name": name, "phase_index": index, "status": "EXECUTED", "outcome": "PASS"}))
        .collect();
    json!({
        "task_id": "01-01", "project_id": "greeting", "state": {"status": "DONE"},
        "task_specification": {"allowed_file_patterns": ["src/**"]},
        "tdd_cycle": {"phase_execution_log": log},
    })
}

/// The same with one phase changed.
pub(crate) fn with(phase: usize, change: Value) -> Value {
    let mut step = done();
    let entry = step["tdd_cycle"]["phase_execution_log"][phase].as_object_mut().unwrap();
    entry.extend(change.as_object().unwrap().clone());
    step
}

/// A step that is still to be done.
pub(crate) fn todo() -> Value {
    let mut step = done();
    for entry in step["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap() {
        entry["status"] = "NOT_EXECUTED".into();
        entry.as_object_mut().unwrap().remove("outcome");
    }
    step["state"]["status"] = "TODO".into();
    step
}

/// The files that hold what gates remember of calls in a project.
pub(crate) fn remembered_calls(root: &Path) -> Vec<PathBuf> {
    let sessions = std::fs::read_dir(root.join(".state-home/conclaude/sessions")).unwrap();
    let files = sessions.flat_map(|session| std::fs::read_dir(session.unwrap().path()).unwrap());
    let is_call = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("call-");
    files.map(|file| file.unwrap().path()).filter(is_call).collect()
}

impl Test {
    /// Writes the step file.
    pub(crate) fn step(self, step: &Value) -> Self {
        self.file("steps/01-01.json", format!("{step:#}\n"))
    }

    /// A call of the agent `coder` with this prompt, as the PreToolUse of Claude Code.
    pub(crate) fn call_agent(self, prompt: &str) -> Self {
        self.then("PreToolUse")
            .without("agent_id")
            .payload("tool_name", "Agent")
            .payload("tool_use_id", "toolu_1")
            .payload("tool_input", json!({"description": "d", "prompt": prompt, "subagent_type": "coder", "run_in_background": false}))
    }

    /// What Claude Code writes when the agent has started: its transcript and the file beside it.
    pub(crate) fn agent_files(self, prompt: &str) -> Self {
        let line = json!({"type": "user", "isSidechain": true, "agentId": "a1b2c3", "timestamp": "2026-01-01T10:00:00.000Z",
            "message": {"role": "user", "content": prompt}});
        let last = json!({"type": "assistant", "timestamp": "2026-01-01T10:05:00.000Z",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "done"}]}});
        self.meta().file("main/subagents/agent-a1b2c3.jsonl", format!("{line}\n{last}\n"))
    }

    /// The file beside the agent's transcript, which names its call.
    pub(crate) fn meta(self) -> Self {
        let meta = json!({"agentType": "coder", "toolUseId": "toolu_1", "spawnDepth": 1});
        self.file("main/subagents/agent-a1b2c3.meta.json", meta.to_string())
    }

    /// The agent wants to stop. Claude Code does not say by which call it was started.
    pub(crate) fn stops(self) -> Self {
        self.then("SubagentStop")
            .without("tool_use_id")
            .payload("agent_id", "a1b2c3")
            .payload("agent_type", "coder")
            .payload("stop_hook_active", false)
    }

    /// The agent starts, or goes on.
    pub(crate) fn starts(self) -> Self {
        self.then("SubagentStart").payload("agent_id", "a1b2c3").payload("agent_type", "coder")
    }

    /// The agent wants to use a tool that writes.
    pub(crate) fn writes(self, tool: &str, field: &str, path: &str) -> Self {
        self.then("PreToolUse")
            .payload("agent_id", "a1b2c3")
            .payload("tool_name", tool)
            .payload("tool_use_id", "toolu_9")
            .payload("tool_input", json!({ field: path, "content": "x" }))
    }

    /// A stop of a gated agent whose step file is this, found by its transcript alone.
    pub(crate) fn gated_stop(step: &Value) -> Self {
        Test::stop().step(step).agent_files(MARKERS).stops()
    }

    /// Makes the project a git repository with everything committed. Where Claude Code keeps its transcripts is not
    /// part of a project.
    pub(crate) fn committed(self) -> Self {
        let test = self.git(&["init", "-q"]).file(".gitignore", "/main/\n/main.jsonl\n/.state-home/\n");
        test.git(&["add", "-A"]).git(&["commit", "-q", "-m", "x"])
    }

    /// Calls git in the project.
    pub(crate) fn git(self, arguments: &[&str]) -> Self {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut git = self.program("git");
        let output = git.args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        self
    }
}

impl Outcome {
    /// Expects that the tool is denied, and gives the reason.
    #[track_caller]
    pub(crate) fn denied(&self) -> String {
        assert_eq!(self.code, Some(2), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        let json: Value = serde_json::from_str(&self.stdout).unwrap();
        let output = &json["hookSpecificOutput"];
        assert_eq!(
            (output["hookEventName"].as_str(), output["permissionDecision"].as_str()),
            (Some("PreToolUse"), Some("deny"))
        );
        let reason = output["permissionDecisionReason"].as_str().unwrap().to_owned();
        assert_eq!(self.stderr, format!("{reason}\n"), "the reason, and nothing else");
        self.steady(&reason)
    }

    /// Expects that the call is allowed, and gives the input that it gets instead.
    #[track_caller]
    pub(crate) fn updated_input(&self) -> Value {
        assert_eq!(self.code, Some(0), "stderr: {}", self.stderr);
        let json: Value = serde_json::from_str(&self.stdout).unwrap();
        assert!(json["hookSpecificOutput"].get("permissionDecision").is_none());
        json["hookSpecificOutput"]["updatedInput"].clone()
    }

    /// The records of the audit trail.
    pub(crate) fn audit(&self) -> Vec<Value> {
        let folder = self.root().join(".conclaude/audit");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
