//! `conclaude report`: what happened, from the audit trail and the transcripts.

use std::path::Path;

use regex_lite::Regex;
use serde_json::{Value, json};

use crate::common::transcripts::{Transcripts, make_old};
use crate::common::{Test, run_in, shown_in};

mod markdown;

const CONFIG: &str = "
subagentStop: {commands: {coder: [{run: 'test -e ok', message: Tests failed, onFailure: block}]}}
preToolUse: {uneditableFiles: ['*.lock']}
report: {prices: {'claude-test-*': {input: 3, output: 15, cacheRead: 0.3}}}
";

/// A session with two subagents: one is blocked once and stops, the other is lost. The main thread is denied a write.
fn session() -> Test {
    let test = Test::stop().config(CONFIG);
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    let (main, coder, lost) = (None, Some("a1b2c3"), Some("a9"));
    all.prompt(main, "Write a greeting.")
        .calls(main, "call-a1b2c3", "Agent", json!({"subagent_type": "coder", "description": "Write greeting", "prompt": "p"}))
        .meta("a1b2c3", "coder", "Write greeting")
        .prompt(coder, "p")
        .calls(coder, "t1", "Write", json!({"file_path": root.join("src/a.txt"), "content": "a"}))
        .result(coder, "t1", "File created", false)
        .calls(coder, "t2", "Write", json!({"file_path": root.join("Cargo.lock"), "content": "a"}))
        .result(coder, "t2", "PreToolUse:Write hook error: [conclaude PreToolUse]: no", true)
        .says(coder, "Done.")
        .failed_hook(coder, json!({"type": "hook_non_blocking_error", "hookName": "SubagentStop", "hookEvent": "SubagentStop", "stderr": "lint: not found", "exitCode": 127, "command": "lint", "durationMs": 12}))
        .failed_hook(coder, json!({"type": "hook_cancelled", "hookName": "PreToolUse:Write", "command": "slow", "durationMs": 2014, "timedOut": true}))
        .failed_hook(coder, json!({"type": "hook_success", "hookName": "Stop"}))
        .meta("a9", "tester", "Test it")
        .prompt(lost, "test")
        .calls(lost, "t3", "Bash", json!({"command": "npm test"}))
        .says(main, "All done.");
    make_old(&all.path(lost));
    let test = test.run().status(2).again().file("ok", "").run().status(0).again();
    let write = json!({"file_path": root.join("Cargo.lock"), "content": "x"});
    test.then("PreToolUse")
        .without("agent_id")
        .without("agent_type")
        .payload("tool_name", "Write")
        .payload("tool_input", write)
        .run()
        .status(2)
        .again()
}

/// Without what differs from run to run.
fn steady(text: &str) -> String {
    let time = Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC").unwrap();
    // The trail is of today, the transcripts are not.
    let duration =
        Regex::new(r"\| (\d+ ms|\d+\.\d s|\d+ min \d+ s|\d+ h \d+ min|\d+ d \d+ h)( \(in [^)]+\))? \|")
            .unwrap();
    let text = time.replace_all(text, "[TIME]");
    duration.replace_all(&text, "| [DURATION] |").into_owned()
}

fn data(root: &Path, arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = run_in(root, &[&["report", "--format", "json"], arguments].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&stdout).unwrap()
}

fn lane<'a>(data: &'a Value, id: &str) -> &'a Value {
    data["lanes"].as_array().unwrap().iter().find(|lane| lane["id"] == id).unwrap()
}

#[test]
fn tokens_cost_files_and_states_of_each_agent() {
    let test = session();
    let data = data(&test.root(), &[]);
    let coder = lane(&data, "a1b2c3");
    assert_eq!(
        coder["tokens"],
        json!({"input": 3000, "output": 300, "cache_read": 30, "cache_write": 3, "cache_write_1h": 0})
    );
    let cost = coder["cost"].as_f64().unwrap();
    let expected = (3000.0 * 3.0 + 300.0 * 15.0 + 30.0 * 0.3 + 3.0 * 3.0) / 1e6;
    assert!((cost - expected).abs() < 1e-12, "{cost}");
    assert_eq!(coder["files"], json!([["[ROOT]/src/a.txt", 1]]), "a denied write is none");
    assert_eq!(
        (&coder["state"], &coder["decisions"]),
        (&json!("stopped"), &json!({"allowed": 1, "blocked": 1}))
    );
    let lost = lane(&data, "a9");
    assert_eq!(lost["state"], "never_stopped");
    assert_eq!(lost["why"], "its last message calls a tool that never answered");
    let main = &data["lanes"][0];
    assert_eq!((&main["id"], &main["decisions"]), (&Value::Null, &json!({"denied": 1})));
    let problems: Vec<&str> =
        data["calls"].as_array().unwrap().iter().filter_map(|call| call[5].as_str()).collect();
    assert_eq!(problems, ["denied by a hook"]);
    assert_eq!(data["chain"]["ok"], true);
}

#[test]
fn an_answer_that_a_resumed_session_repeats_costs_once() {
    let test = session();
    let first = Transcripts::of(&test.root(), "session-1").path(None);
    let mut second = Transcripts::of(&test.root(), "session-2");
    second.raw(None, &std::fs::read_to_string(first).unwrap());
    let data = data(&test.root(), &[]);
    let outputs: Vec<u64> = data["lanes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lane| lane["tokens"]["output"].as_u64().unwrap())
        .collect();
    assert_eq!(outputs.iter().sum::<u64>(), 200 + 300 + 100, "{outputs:?}");
}

#[test]
fn a_session_or_a_time_limits_what_is_shown() {
    let test = session();
    Transcripts::of(&test.root(), "other").prompt(None, "x").says(None, "y");
    let sessions = |arguments: &[&str]| {
        let data = data(&test.root(), arguments);
        let ids: Vec<String> = data["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect();
        (ids, data["records"].as_array().unwrap().len())
    };
    assert_eq!(sessions(&[]), (vec!["session-1".into(), "other".into()], 3));
    assert_eq!(sessions(&["--session", "oth"]), (vec!["other".into()], 0));
    assert_eq!(sessions(&["--since", "1h"]), (vec!["session-1".into()], 3));
    insta::assert_snapshot!(test.shows(&["report", "--session", "none"]), @"
    exit 1
    ----- stderr
    conclaude: nothing to report: the audit trail of [ROOT] has no record of session none, and there is no transcript of it in [ROOT]/.home/.claude/projects; `conclaude doctor` checks whether events arrive
    ");
}

#[test]
fn what_cannot_be_read_is_counted_and_shown() {
    let test = session();
    let file = Transcripts::of(&test.root(), "session-1").path(None);
    let lines = std::fs::read_to_string(&file).unwrap().lines().count();
    let file = "[ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl";
    Transcripts::of(&test.root(), "session-1")
        .raw(None, "not json\n{\"type\":\"kind-of-tomorrow\"}\n")
        .raw(None, "{\"type\":\"user\",\"message\":{\"content\":\"x\"}}\n{\"type\":\"user\",\"mess");
    let data = data(&test.root(), &[]);
    assert_eq!(
        data["transcripts"]["problems"],
        json!([
            format!("1 line half-written at the end of a file, not read (first: {file}:{})", lines + 4),
            format!("1 line not JSON (first: {file}:{})", lines + 1),
            format!(
                "1 line of a kind that this version does not know: kind-of-tomorrow (first: {file}:{})",
                lines + 2
            ),
            format!("1 line without a time that can be read (first: {file}:{})", lines + 3),
        ])
    );
}

/// The end of an agent that cannot be read says not that it stopped, nor that it never did.
#[test]
fn an_agent_whose_last_line_is_not_understood_is_in_no_known_state() {
    let test = Test::stop();
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(None, "go").meta("a1", "coder", "one").meta("a2", "coder", "two").meta("a3", "coder", "three");
    for agent in ["a1", "a2", "a3"] {
        all.prompt(Some(agent), "task");
    }
    all.line(Some("a1"), json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "tool_use", "id": 7, "name": "Bash", "input": {}}]}}))
        .calls(Some("a2"), "t1", "Bash", json!({"command": "ls"}))
        .raw(Some("a2"), "{\"type\":\"user\",\"message\":{\"cont")
        .says(Some("a3"), "Done.");
    for agent in ["a1", "a2", "a3"] {
        make_old(&all.path(Some(agent)));
    }
    let data = data(&root, &[]);
    let states = ["a1", "a2", "a3"].map(|id| lane(&data, id)["state"].as_str().unwrap());
    assert_eq!(states, ["unknown", "unknown", "stopped"], "{data}");
    assert_eq!(data["transcripts"]["problems"].as_array().unwrap().len(), 2);
}

#[test]
fn a_name_that_says_not_what_to_write_is_refused() {
    let test = session();
    insta::assert_snapshot!(shown_in(&test.root(), &["report", "-o", "r.pdf"]), @"
    exit 1
    ----- stderr
    conclaude: r.pdf does not say what to write: name it .html, .md or .json, or add --format html, md or json (a browser prints the page as PDF)
    ");
    assert!(!test.root().join("r.pdf").exists());
    let (code, _, _) = run_in(&test.root(), &["report", "-o", "page.HTM"]);
    assert_eq!(code, Some(0));
    assert!(
        std::fs::read_to_string(test.root().join("page.HTM"))
            .unwrap()
            .to_lowercase()
            .starts_with("<!doctype html>")
    );
}

#[test]
fn a_broken_chain_is_the_first_thing_to_see() {
    let test = session();
    let folder = test.root().join(".conclaude/audit");
    let file = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|name| name == "jsonl"))
        .unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"blocked\"", "\"allowed\"", 1)).unwrap();
    let data = data(&test.root(), &[]);
    assert_eq!(data["chain"]["ok"], false);
    assert!(data["records"][0]["doubt"].is_string());
    assert!(test.shows(&["report", "--format", "md"]).contains("✗ **audit trail broken**"));
}

/// The page, and where its data is in it.
fn page(root: &Path) -> (String, Value) {
    let (code, page, stderr) = run_in(root, &["report"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    let data = serde_json::from_str(&page[start..end]).unwrap();
    (page, data)
}

#[test]
fn a_page_has_no_text_of_others_outside_its_data_and_loads_nothing() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}{{SCRIPT}}";
    let test = session();
    Transcripts::of(&test.root(), "session-1").meta("a1b2c3", hostile, hostile);
    let (page, data) = page(&test.root());
    assert_eq!(lane(&data, "a1b2c3")["name"], hostile);
    for forbidden in ["alert(1)</script>", "<img", "\u{202e}"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    let loads = Regex::new(r#"(src|href)\s*=|url\(|@import|https?://"#).unwrap();
    let start = page.find("id=\"data\">").unwrap();
    let end = start + page[start..].find("</script>").unwrap();
    let own = [&page[..start], &page[end..]].concat();
    assert_eq!(loads.find(&own).map(|found| found.as_str()), None);
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
}

#[test]
fn a_report_is_written_whole_and_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let test = session();
    let root = test.root();
    insta::assert_snapshot!(shown_in(&root, &["report", "-o", "report.md"]), @"
    exit 0
    ----- stdout
    wrote report.md: 3 records, 3 transcripts
    ");
    insta::assert_snapshot!(shown_in(&root, &["report", "-o", "no/such/folder.html"]), @r#"
    exit 1
    ----- stderr
    conclaude: cannot write no/such/folder.html: there is no folder no/such
    "#);
    let path = root.join("report.md");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("## conclaude report"));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn without_a_trail_and_transcripts_there_is_nothing_to_report() {
    let test = Test::stop();
    insta::assert_snapshot!(shown_in(&test.root(), &["report"]), @"
    exit 1
    ----- stderr
    conclaude: nothing to report: the audit trail of [ROOT] has no record, and there is no transcript of it in [ROOT]/.home/.claude/projects; `conclaude doctor` checks whether events arrive
    ");
}

#[test]
fn lines_that_are_no_records_are_counted() {
    use std::io::Write;
    let test = session();
    let folder = test.root().join(".conclaude/audit");
    let file = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|name| name == "jsonl")).unwrap();
    let mut file = std::fs::File::options().append(true).open(file).unwrap();
    file.write_all(b"not JSON\n[1]\n").unwrap();
    let data = data(&test.root(), &[]);
    assert_eq!(data["records"].as_array().unwrap().len(), 3);
    assert_eq!(data["left_out"], json!(["not a record, and not shown: 2 lines of the audit trail"]));
}

#[test]
fn a_command_that_only_warns_is_not_named_as_what_blocked() {
    let config = "subagentStop: {commands: {'*': [{run: exit 3}], coder: [{run: exit 4, onFailure: block}]}}";
    let done = Test::stop().config(config).run().status(2).again();
    let (_, report, _) = run_in(&done.root(), &["report", "--format", "md"]);
    let row = report.lines().find(|line| line.contains("blocked") && line.contains("exited")).unwrap();
    insta::assert_snapshot!(row, @"| 1 | [TIME] | `SubagentStop` | `blocked` | `coder` | `'exit 4' exited with code 4` |");
    let (_, watched, _) = run_in(&done.root(), &["watch", "--once"]);
    let blocked = watched.split_once("SubagentStop blocked").unwrap().1.lines().next().unwrap();
    insta::assert_snapshot!(blocked, @" (1 of 3): `exit 4` exited with code 4  ([DURATION])");
}

#[test]
fn an_agent_whose_last_stop_was_blocked_has_not_stopped() {
    let config = "subagentStop: {commands: {coder: [{run: exit 4, onFailure: block}]}}";
    let test = Test::stop().config(config).run().status(2).again();
    let state = |test: &Test| {
        let data = data(&test.root(), &[]);
        let lane = lane(&data, "a1b2c3");
        (lane["state"].clone(), lane["why"].clone())
    };
    assert_eq!(state(&test), (json!("running"), Value::Null));
    let test = test.config("subagentStop: {commands: {coder: [{run: 'true'}]}}").run().status(0).again();
    assert_eq!(state(&test), (json!("stopped"), Value::Null));
    // Long ago.
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let trail = std::fs::read_to_string(&path).unwrap();
    let first = trail.lines().next().unwrap();
    let time = serde_json::from_str::<Value>(first).unwrap()["time"].as_str().unwrap().to_owned();
    std::fs::write(&path, first.replace(&time, "2020-01-31T12:00:00.000Z") + "\n").unwrap();
    let why = "its last stop was blocked, and nothing follows";
    assert_eq!(state(&test), (json!("never_stopped"), json!(why)));
}

/// The newest sign counts, wherever it comes from, and in both views.
#[test]
fn the_trail_and_a_transcript_together_say_what_became_of_an_agent() {
    let config = "subagentStop: {commands: {coder: [{run: test -e ok, onFailure: block}]}}";
    let test = Test::stop().config(config);
    let root = test.root();
    let views = || {
        let (_, watched, _) = run_in(&root, &["watch", "--once"]);
        let row = watched.lines().find(|line| line.contains("coder")).unwrap().trim_end();
        let row = row.rsplit_once("  ").map_or(row, |(row, _)| row).trim().to_owned();
        (lane(&data(&root, &[]), "a1b2c3")["state"].as_str().unwrap().to_owned(), row)
    };
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(None, "go")
        .meta("a1b2c3", "coder", "Code")
        .prompt(Some("a1b2c3"), "p")
        .says(Some("a1b2c3"), "Done.");
    assert_eq!(views(), ("stopped".into(), "✓ coder \"Code\" · stopped".into()));
    let test = test.run().status(2).again();
    assert_eq!(views(), ("running".into(), "● coder \"Code\" · at work · 1 block".into()));
    let _project = test.file("ok", "").run().status(0);
    // It was resumed.
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(1);
    all.at(later).calls(Some("a1b2c3"), "t1", "Read", json!({"file_path": "ok"}));
    assert_eq!(views(), ("running".into(), "● coder \"Code\" · Read ok · 1 block".into()));
}

/// Guards record what they deny, and nobody records that an agent starts and stops.
#[test]
fn an_agent_that_only_guards_have_seen_is_not_said_to_have_never_stopped() {
    let test = Test::event("PreToolUse").config("preToolUse: {uneditableFiles: ['*.lock']}");
    let test =
        test.payload("agent_id", "a1b2c3").payload("agent_type", "coder").payload("tool_name", "Write");
    let test =
        test.payload("tool_input", json!({"file_path": "a.lock", "content": ""})).run().status(2).again();
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let trail = std::fs::read_to_string(&path).unwrap();
    let time = serde_json::from_str::<Value>(&trail).unwrap()["time"].as_str().unwrap().to_owned();
    std::fs::write(&path, trail.replace(&time, "2020-01-31T12:00:00.000Z")).unwrap();
    assert_eq!(lane(&data(&test.root(), &[]), "a1b2c3")["state"], "unknown");
    let report = test.shows(&["report", "--format", "md"]);
    assert!(!report.contains("never stopped"), "{report}");
}

/// It is the same in both views, and at once.
#[test]
fn an_agent_that_died_of_an_error_of_the_api_is_not_said_to_run() {
    // A session that conclaude remembers nothing of has no end that it could know.
    let config = "subagentStop: {commands: {'*': [{run: exit 3, onFailure: block}]}}";
    let test = Test::stop().config(config).run().status(2).again();
    let mut all = Transcripts::of(&test.root(), "session-1");
    all.at(jiff::Timestamp::now() - jiff::SignedDuration::from_secs(20));
    all.prompt(None, "go").meta("a1", "tester", "Test it").prompt(Some("a1"), "test");
    all.line(
        Some("a1"),
        json!({"type": "assistant", "isApiErrorMessage": true, "message": {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}}),
    );
    let root = test.root();
    let lane_now = |id: &str| lane(&data(&root, &[]), id).clone();
    let why = "its last message is an error of the API";
    let died = lane_now("a1");
    assert_eq!((&died["state"], &died["why"]), (&json!("never_stopped"), &json!(why)));
    assert!(test.shows(&["watch", "--once"]).contains(&format!("never stopped: {why}")));
    assert!(test.shows(&["report", "--format", "md"]).contains("| **never stopped** |"));
    // What the session's end or a notification says counts at once, too.
    all.meta("a2", "coder", "Code").prompt(Some("a2"), "code");
    all.meta("a3", "coder", "Code").prompt(Some("a3"), "code");
    all.prompt(
        None,
        "<task-notification>\n<task-id>a3</task-id>\n<status>killed</status>\n</task-notification>",
    );
    all.meta("a4", "coder", "Code").prompt(Some("a4"), "code").raw(Some("a4"), "{\"type\":\"assist");
    assert_eq!(lane_now("a2")["state"], "running");
    assert_eq!(lane_now("a3")["why"], "killed");
    let test = test.then("SessionEnd").without("agent_id").without("agent_type").payload("reason", "other");
    let _answer = test.run().status(0);
    let ended = lane_now("a2");
    assert_eq!(ended["state"], "never_stopped");
    assert_eq!(ended["why"], "the session ended; nothing follows its last prompt: stopped from outside");
    let cut = lane_now("a4");
    assert_eq!(cut["state"], "never_stopped");
    assert_eq!(cut["why"], "the session ended; its last line is half-written");
}

#[test]
fn a_prompt_that_comes_while_claude_works_is_counted() {
    let test = Test::stop();
    let mut all = Transcripts::of(&test.root(), "s1");
    all.prompt(None, "write it")
        .calls(None, "t1", "Bash", json!({"command": "make"}))
        .result(None, "t1", "ok", false);
    all.queued("prompt", &json!("please deploy it too")).says(None, "Done.");
    let report = data(&test.root(), &[]);
    assert_eq!(report["sessions"][0]["prompts"], 2, "{report}");
}
