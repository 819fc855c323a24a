//! The client in records and in what shows them; `explain`, `test` and `run` for another client.

use serde_json::{Value, json};

use crate::common::clients::{call, capture};
use crate::common::environment::run_in;
use crate::common::{Outcome, Test};

const CONFIG: &str = "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'make*', action: block, message: NO}, {tool: Bash, commandPattern: 'ask*', action: ask, message: SURE}]}\nstop: {commands: [{run: 'echo $CONCLAUDE_CLIENT > seen'}]}\n";

/// A project in which Codex was denied a command.
fn denied() -> Outcome {
    let test = Test::event("PreToolUse").config(CONFIG);
    let mut payload = capture("codex", "PreToolUse.json", &test);
    payload["tool_name"] = "Bash".into();
    payload["tool_input"] = json!({"command": "make it"});
    call("codex", "PreToolUse", test, &payload).status(2)
}

fn shown(test: &Test, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run_in(&test.root(), arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {stdout}{stderr}");
    stdout
}

#[test]
fn what_shows_records_names_another_client() {
    let test = denied().again();
    let show = |arguments: &[&str]| shown(&test, arguments);
    let record: Value = serde_json::from_str(&show(&["audit", "show", "--json"])).unwrap();
    assert_eq!(record["client"], "codex");
    assert!(show(&["audit", "show"]).contains("client=codex"));
    let why = show(&["why"]);
    assert!(why.contains("(client codex)") && why.contains("would decide the same: denied"), "{why}");
    let all = show(&["why", "--all"]);
    assert!(all.contains("client: codex") && all.contains("--client codex"), "{all}");
    let written = |name: &str| {
        show(&["report", "--output", name]);
        std::fs::read_to_string(test.root().join(name)).unwrap()
    };
    let markdown = written("report.md");
    assert!(
        markdown.contains("`codex`") && markdown.contains("Claude Code's transcripts alone"),
        "{markdown}"
    );
    let report: Value = serde_json::from_str(&written("report.json")).unwrap();
    assert_eq!(report["sessions"][0]["client"], "codex");
    let page = written("report.html");
    assert!(page.contains(r#""client":"codex""#) && page.contains("session.client"));
}

#[test]
fn nothing_names_claude_code_where_there_is_no_other_client() {
    let test = Test::bash(CONFIG, "make it").run().status(2).again();
    let show = |arguments: &[&str]| shown(&test, arguments);
    assert!(!show(&["audit", "show"]).contains("client"));
    assert!(!show(&["why", "--all"]).contains("client"));
    show(&["report", "--output", "report.md"]);
    assert!(!std::fs::read_to_string(test.root().join("report.md")).unwrap().contains("client"));
}

#[test]
fn an_event_of_another_client_is_explained_in_its_form() {
    let test = Test::event("Stop").config(CONFIG);
    let answer = |client: &str, arguments: &[&str]| {
        let all = [&["explain"], arguments, &["--client", client, "--json"]].concat();
        let json: Value = serde_json::from_str(&shown(&test, &all)).unwrap();
        let first = &json["answers"][0];
        format!("{} {} {}", first["decision"].as_str().unwrap(), first["exit"], first["stdout"])
    };
    let denied = answer("gemini", &["BeforeTool", "--command", "make it"]);
    assert!(denied.starts_with(r#"denied 2 {"decision":"deny","reason":"#), "{denied}");
    let denied = answer("copilot", &["PreToolUse", "--command", "make it"]);
    assert!(
        denied.starts_with(r#"denied 0 {"hookSpecificOutput":{"hookEventName":"PreToolUse""#),
        "{denied}"
    );
    let unasked = answer("codex", &["PreToolUse", "--command", "ask it"]);
    assert!(unasked.starts_with("denied 2") && unasked.contains("In Codex nobody can be asked"), "{unasked}");
    assert!(answer("qwen", &["PreToolUse", "--command", "ask it"]).starts_with("asked 0"));
    // Its own names of tools and fields.
    let shell = r#"{"command": "make it"}"#;
    let denied = answer("qwen", &["PreToolUse", "--tool", "run_shell_command", "--input", shell]);
    assert!(denied.starts_with("denied 2"), "{denied}");
    let (code, _, stderr) =
        run_in(&test.root(), &["explain", "PermissionRequest", "--client", "gemini", "--tool", "Bash"]);
    assert!(code == Some(1) && stderr.contains("Gemini CLI has no such event"), "{stderr}");
}

#[test]
fn a_payload_is_explained_for_the_client_that_sent_it() {
    let test = denied().again();
    let mut payload = capture("gemini", "BeforeTool.json", &test);
    payload["tool_name"] = "run_shell_command".into();
    payload["tool_input"] = json!({"command": "make it"});
    let test = test.file("payload.json", payload.to_string());
    let text = shown(&test, &["explain", "--payload", "payload.json"]);
    assert!(
        text.contains("denied") && text.contains("Gemini CLI, which calls the event BeforeTool"),
        "{text}"
    );
}

#[test]
fn cases_may_be_of_another_client() {
    let cases = "cases:
  - {name: asked, event: PreToolUse, input: {command: ask it}, expect: {asks: SURE}}
  - {name: denied in Codex, client: codex, event: PreToolUse, input: {command: ask it}, expect: {denies: nobody can be asked}}
  - {name: own name, client: gemini, event: PreToolUse, tool: run_shell_command, input: {command: make it}, expect: {denies: 'NO'}}
  - {name: permission, client: copilot, event: PermissionRequest, input: {command: ls}, expect: {asks: true}}
";
    let test = Test::event("Stop").config(CONFIG).file(".conclaude.test.yaml", cases);
    assert!(shown(&test, &["test"]).contains("4 cases passed"));
    let (code, stdout, _) = run_in(&test.root(), &["test", "--client", "codex"]);
    assert!(code == Some(1) && stdout.contains("1 of 4 cases failed"), "{stdout}");
    let test = test.file(".conclaude.test.yaml", cases.replace("client: codex", "client: codx"));
    let (code, stdout, _) = run_in(&test.root(), &["test"]);
    assert!(code == Some(1) && stdout.contains("codex"), "{stdout}");
}

#[test]
fn commands_run_for_another_client() {
    let test = Test::event("Stop").config(CONFIG);
    shown(&test, &["run", "Stop", "--client", "qwen"]);
    assert_eq!(std::fs::read_to_string(test.root().join("seen")).unwrap(), "qwen\n");
}

#[test]
fn replay_says_whose_transcripts_it_reads() {
    let test = denied().again();
    let (_, stdout, stderr) = run_in(&test.root(), &["replay"]);
    assert!(format!("{stdout}{stderr}").contains("only those of Claude Code are read"), "{stdout}{stderr}");
    assert!(shown(&test, &["replay", "--help"]).contains("Only transcripts of Claude Code are read"));
}
