use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde_json::json;

use super::super::rows::{RowId, TimelineRow, plain};
use super::super::words::Clock;
use super::*;
use conclaude_core::dialect::claude::transcript;

mod threads;

fn time(seconds: i64) -> Timestamp {
    let start: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    start + SignedDuration::from_secs(seconds)
}

fn clock(seconds: i64) -> Clock {
    Clock { now: time(seconds), zone: TimeZone::UTC }
}

fn model() -> Model {
    Model::new(Limits::RECENT, None, PriceTable::default())
}

fn record(seconds: i64, fields: Value) -> Value {
    let mut record = json!({"seq": 7, "time": time(seconds).to_string(), "session": "s1"});
    record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    record
}

/// A line of a transcript as Claude Code writes it.
fn say(model: &mut Model, agent: Option<&str>, seconds: i64, mut line: Value) {
    line["timestamp"] = json!(time(seconds).to_string());
    let line = line.to_string();
    match transcript::TranscriptLine::read(line.as_bytes()) {
        transcript::TranscriptLine::Entry(entry) => assert!(model.entry("s1", agent, &entry)),
        other => panic!("{other:?}"),
    }
}

fn take(model: &mut Model, record: &Value, doubt: Option<&str>) {
    model.record(&record.to_string(), record, doubt);
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn call(id: &str, tool: &str, input: Value) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
    json!({"type": "assistant", "message": {"role": "assistant", "stop_reason": "tool_use", "content": [block]}})
}

fn result(id: &str, text: &str, is_error: bool) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
    json!({"type": "user", "message": {"role": "user", "content": [block]}})
}

fn answer(text: &str) -> Value {
    let block = json!({"type": "text", "text": text});
    json!({"type": "assistant", "message": {"role": "assistant", "stop_reason": "end_turn", "content": [block]}})
}

fn shown(model: &Model, seconds: i64) -> String {
    model.rows(&clock(seconds), "").iter().map(plain).collect::<Vec<_>>().join("\n")
}

fn coder(model: &mut Model) {
    let meta = Meta {
        tool_use_id: Some("toolu_1".into()),
        agent_type: Some("coder".into()),
        description: Some("Write greeting".into()),
        spawn_depth: Some(1),
    };
    model.meta("s1", "a1", &meta, time(3));
}

/// A session with a gated agent that was denied a file and blocked once.
pub(in super::super) fn example() -> (Model, Clock) {
    let mut model = model();
    say(&mut model, None, 0, prompt("Execute step 01-01 of the project greeting."));
    say(&mut model, None, 1, call("toolu_1", "Agent", json!({"description": "Write greeting"})));
    let gate = json!({"event": "PreToolUse", "agent": "coder", "step": "steps/01-01.json", "decision": "allowed",
        "tool": {"name": "Agent", "use_id": "toolu_1"}, "started": time(2).to_string()});
    take(&mut model, &record(2, gate), None);
    coder(&mut model);
    say(&mut model, Some("a1"), 3, prompt("Do step 01-01."));
    say(&mut model, Some("a1"), 4, call("toolu_2", "Write", json!({"file_path": "Cargo.lock"})));
    let denied = json!({"event": "PreToolUse", "agent": "coder", "agent_id": "a1", "decision": "denied",
        "tool": {"name": "Write", "use_id": "toolu_2", "file": "Cargo.lock"}, "findings": [
            {"code": "GUARD_DENIED", "what": "Lock files are generated.", "fix": "Leave it.", "verdict": "block",
             "rule": {"key": "preToolUse.uneditableFiles", "pattern": "*.lock", "file": ".conclaude.yaml", "line": 7}, "matched": "Cargo.lock"}]});
    take(&mut model, &record(5, denied), None);
    say(&mut model, Some("a1"), 5, result("toolu_2", "PreToolUse:Write hook error: no", true));
    let phase = json!({"event": "des run", "agent": "coder", "step": "steps/01-01.json", "phase": "RED", "decision": "PASS",
        "evidence": {"command": "npm test", "exit_code": 1, "duration_ms": 2300}});
    take(&mut model, &record(9, phase), None);
    say(&mut model, Some("a1"), 10, answer("Done."));
    let blocked = json!({"event": "SubagentStop", "agent": "coder", "agent_id": "a1", "step": "steps/01-01.json", "decision": "blocked",
        "started": time(11).to_string(), "blocks": {"count": 1, "max": 3}, "commands": [
            {"run": "npm run lint", "status": "exited with code 1", "exit_code": 1, "duration_ms": 1234, "verdict": "block",
             "rule": {"key": "subagentStop.commands", "pattern": "coder", "file": ".conclaude.yaml", "line": 4}, "matched": "coder", "started": time(11).to_string()},
            {"run": "npm test", "status": "exited with code 0", "exit_code": 0, "duration_ms": 61_000, "verdict": "pass", "started": time(12).to_string()}]});
    take(&mut model, &record(13, blocked), None);
    say(&mut model, Some("a1"), 14, call("toolu_3", "Bash", json!({"command": "npm run fix"})));
    let phases =
        [("RED", "EXECUTED", Some("PASS")), ("GREEN", "IN_PROGRESS", None), ("COMMIT", "NOT_EXECUTED", None)];
    let phases = phases.map(|(name, status, outcome)| PhaseState {
        name: name.into(),
        status: status.into(),
        outcome: outcome.map(str::to_owned),
    });
    let step = StepState {
        status: "IN_PROGRESS".into(),
        phases: phases.into(),
        finished: 1,
        current: Some("GREEN".into()),
    };
    let key = StepKey { project: 0, agent: Some("a1".into()), step: "steps/01-01.json".into() };
    model.set_step(key, Some(step));
    (model, clock(20))
}

#[test]
fn a_session_with_its_threads_steps_commands_blocks_and_denials() {
    let (model, _) = example();
    insta::assert_snapshot!(shown(&model, 20), @r#"
    ● session s1 · Execute step 01-01 of the project greeting.  (2026-01-31 12:00)
      ● main thread · Agent Write greeting  (19 s)
        · 12:00:00 prompt: Execute step 01-01 of the project greeting.
        ✓ 12:00:02 PreToolUse Agent of coder step 01-01 allowed  (0 ms)
      ● coder "Write greeting" · step 01-01 1/3 GREEN · Bash npm run fix · 1 block · 1 denial  (6 s)
        ✗ 12:00:05 PreToolUse Write Cargo.lock denied: Lock files are generated. (.conclaude.yaml:7)
        ✓ 12:00:09 des run RED PASS: `npm test` exited with code 1  (2.3 s)
        ✗ 12:00:13 SubagentStop blocked (1 of 3): `npm run lint` exited with code 1  (2.0 s)
          ✗ `npm run lint` exited with code 1  (1.2 s)
          ✓ `npm test` passed  (1 m 01 s)
    "#);
}

#[test]
fn a_record_shows_all_that_led_to_it() {
    let (model, clock) = example();
    let rows = model.rows(&clock, "");
    let details = |text: &str| {
        let row = rows.iter().find(|row| row.text.contains(text)).unwrap();
        let details = model.details(&row.id, &clock);
        details.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(details("denied:"), @r#"
    time: 2026-01-31 12:00:05
    event: PreToolUse
    decision: denied
    tool: Write Cargo.lock
    found: Lock files are generated.
    fix: Leave it.
    rule: preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:7
    matched: Cargo.lock
    agent: coder
    agent id: a1
    session: s1
    record: 7; `conclaude why 7` explains it
    "#);
    insta::assert_snapshot!(details("`npm run lint` exited"), @"
    time: 2026-01-31 12:00:13
    took: 2.0 s
    event: SubagentStop
    decision: blocked
    blocks: 1 of 3
    command: `npm run lint` exited with code 1 (1.2 s)
    command: `npm test` passed (1 m 01 s)
    step: steps/01-01.json
    agent: coder
    agent id: a1
    session: s1
    record: 7; `conclaude why 7` explains it
    ");
    insta::assert_snapshot!(details("coder \"Write"), @r#"
    thread: coder "Write greeting"
    state: Bash npm run fix 6 s
    agent id: a1
    started: 2026-01-31 12:00:03
    last sign: 2026-01-31 12:00:14
    tool calls: 2
    blocks: 1
    denials: 1
    step file: steps/01-01.json
    step: IN_PROGRESS, 1 of 3 phases
    phase: RED EXECUTED: PASS
    phase: GREEN IN_PROGRESS
    phase: COMMIT NOT_EXECUTED
    prompt: Do step 01-01.
    call: 12:00:04 Write Cargo.lock (1.0 s, denied by a hook)
    "#);
    insta::assert_snapshot!(details("session s1"), @"
    session: s1
    started: 2026-01-31 12:00:00
    last sign: 2026-01-31 12:00:14
    agents: 1
    prompt: Execute step 01-01 of the project greeting.
    ");
}

#[test]
fn blocks_of_other_hooks_are_lines_and_our_own_are_records() {
    let mut model = model();
    let block = |command: &str| {
        let error = json!({"command": command, "blockingError": "COMMIT is missing"});
        json!({"type": "attachment", "attachment": {"type": "hook_blocking_error", "hookEvent": "SubagentStop", "blockingError": error}})
    };
    say(&mut model, Some("a1"), 1, block("/usr/bin/conclaude SubagentStop"));
    assert_eq!(model.rows(&clock(2), "blocked").len(), 0);
    say(&mut model, Some("a1"), 2, block("handler SubagentStop"));
    let shown = shown(&model, 3);
    assert!(shown.contains("✗ 12:00:02 SubagentStop blocked by another hook: COMMIT is missing"), "{shown}");
}

#[test]
fn a_denial_is_one_line_whoever_says_it_first() {
    let mut model = model();
    let denied = record(
        5,
        json!({"event": "PreToolUse", "agent_id": "a1", "decision": "denied", "tool": {"name": "Write", "use_id": "t1", "file": "x"}}),
    );
    say(&mut model, Some("a1"), 4, call("t1", "Write", json!({"file_path": "x"})));
    say(&mut model, Some("a1"), 6, result("t1", "PreToolUse:Write hook error: no", true));
    assert!(
        shown(&model, 9).contains("✗ 12:00:06 Write x denied by a hook: PreToolUse:Write hook error: no")
    );
    take(&mut model, &denied, None);
    let rows = shown(&model, 9);
    assert!(rows.contains("PreToolUse Write x denied") && !rows.contains("by a hook"), "{rows}");
    say(&mut model, Some("a1"), 7, call("t1", "Write", json!({"file_path": "x"})));
    say(&mut model, Some("a1"), 8, result("t1", "PreToolUse:Write hook error: no", true));
    assert_eq!(shown(&model, 9), rows.replace("(9 s)", "(5 s)"));
}

#[test]
fn hooks_that_failed_silently_errors_and_interruptions_are_lines() {
    let mut model = model();
    say(&mut model, None, 1, prompt("Do it."));
    say(
        &mut model,
        None,
        2,
        json!({"type": "attachment", "attachment": {"type": "hook_non_blocking_error", "hookName": "Stop", "exitCode": 127, "command": "nothing", "stderr": "sh: nothing: not found", "durationMs": 12}}),
    );
    say(
        &mut model,
        None,
        3,
        json!({"type": "attachment", "attachment": {"type": "hook_cancelled", "hookName": "PreToolUse:Bash", "timedOut": true}}),
    );
    say(
        &mut model,
        None,
        4,
        json!({"type": "assistant", "isApiErrorMessage": true, "message": {"content": [{"type": "text", "text": "API Error: 529"}]}}),
    );
    say(&mut model, None, 5, prompt("[Request interrupted by user]"));
    say(&mut model, None, 6, prompt("<local-command-stdout>x</local-command-stdout>"));
    insta::assert_snapshot!(shown(&model, 9), @"
    ● session s1 · Do it.  (2026-01-31 12:00)
      ○ main thread · idle  (4 s)
        · 12:00:01 prompt: Do it.
        ⚠ 12:00:02 hook Stop exited with code 127, which blocks nothing  (12 ms)
        ⚠ 12:00:03 hook PreToolUse:Bash timed out
        ✗ 12:00:04 error of the API: API Error: 529
        ⚠ 12:00:05 interrupted by the user
    ");
}

#[test]
fn text_of_others_is_cleaned_wherever_it_comes_from() {
    let hostile = "x\u{1b}[8m\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}2J\u{202e}\u{200b}<task-notification>\r\ny";
    let mut model = Model::new(Limits::RECENT, None, PriceTable::default());
    let meta =
        Meta { agent_type: Some(hostile.into()), description: Some(hostile.into()), ..Meta::default() };
    model.meta("s1", hostile, &meta, time(0));
    for agent in [None, Some(hostile)] {
        say(&mut model, agent, 1, prompt(hostile));
        say(&mut model, agent, 2, call("t", hostile, json!({"description": hostile})));
        say(&mut model, agent, 3, result("t", &format!("PreToolUse:{hostile} hook error: {hostile}"), true));
        say(&mut model, agent, 4, call("u", hostile, json!({"description": hostile})));
        say(
            &mut model,
            agent,
            5,
            json!({"type": "attachment", "attachment": {"type": "hook_non_blocking_error", "hookName": hostile, "stderr": hostile}}),
        );
    }
    let texts = json!({"event": hostile, "decision": hostile, "reason": hostile, "step": hostile, "phase": hostile, "agent": hostile, "agent_id": hostile,
        "tool": {"name": hostile, "file": hostile}, "findings": [{"code": hostile, "what": hostile, "fix": hostile, "verdict": "block", "matched": hostile, "rule": {"key": hostile, "pattern": hostile, "file": hostile}}],
        "commands": [{"run": hostile, "status": hostile, "verdict": hostile, "started": hostile, "matched": hostile}],
        "skipped": [{"what": hostile, "why": hostile}], "judge": {"error": hostile}, "evidence": hostile, "config_error": {"message": hostile}});
    take(&mut model, &record(6, texts.clone()), Some(hostile));
    let mut other = texts;
    other["session"] = json!(hostile);
    take(&mut model, &record(7, other), None);
    let text = || Some(hostile.to_owned());
    model.add_running(vec![RunningCommand {
        session: Some("s1".into()),
        agent_id: text(),
        agent: text(),
        event: hostile.into(),
        step: text(),
        phase: text(),
        command: hostile.into(),
        started: time(8).to_string(),
    }]);
    let clock = clock(9);
    let rows = model.rows(&clock, "");
    assert!(rows.len() > 10, "{rows:?}");
    for row in &rows {
        let details = model.details(&row.id, &clock);
        assert!(!details.is_empty(), "{row:?}");
        let details = details.iter().map(|(name, value)| format!("{name}{}", value.replace('\n', "")));
        for text in details.chain([plain(row)]) {
            let bad = |c: char| conclaude_core::text::is_invisible(c);
            assert!(!text.contains(bad), "{text:?}");
        }
    }
}

#[test]
fn memory_is_bounded_and_the_newest_stays() {
    let mut model = Model::new(
        Limits { sessions: 3, threads: 4, lines: 5, all_lines: 1_000, calls: 2 },
        None,
        PriceTable::default(),
    );
    for n in 0..1_000 {
        let long = "x".repeat(10_000);
        let fields = json!({"session": format!("s{}", n / 100), "agent_id": format!("a{}", n / 10), "event": "SubagentStop", "decision": "blocked", "reason": long});
        take(&mut model, &record(n, fields), None);
    }
    let rows = model.rows(&clock(1_000), "");
    let sessions: Vec<&str> = rows.iter().filter(|row| row.depth == 0).map(|row| row.text.as_str()).collect();
    assert_eq!(sessions, ["session s7", "session s8", "session s9"]);
    let lines: Vec<&TimelineRow> = rows.iter().filter(|row| matches!(row.id, RowId::Line(_))).collect();
    assert_eq!(lines.len(), 3 * 4 * 5);
    assert!(lines.iter().all(|row| row.text.chars().count() <= MAX_TEXT + 1));
    assert_eq!(rows.iter().filter(|row| row.text.starts_with("5 earlier lines left out")).count(), 12);
    assert_eq!(model.records, 1_000);
    // A session that is older than a dropped one does not take its place.
    take(&mut model, &record(1, json!({"session": "old", "event": "Stop", "decision": "allowed"})), None);
    assert_eq!(model.rows(&clock(1_000), "").len(), rows.len());
}

#[test]
fn all_sessions_are_listed_and_old_ones_lose_their_lines() {
    let mut model = Model::new(Limits { all_lines: 100, ..Limits::ALL }, None, PriceTable::default());
    for n in 0..1_000 {
        let fields = json!({"session": format!("s{:03}", n / 10), "event": "Stop", "decision": "allowed"});
        take(&mut model, &record(n, fields), None);
    }
    let rows = model.rows(&clock(1_000), "");
    assert_eq!(rows.iter().filter(|row| row.depth == 0).count(), 100);
    let lines = rows.iter().filter(|row| matches!(row.id, RowId::Line(_))).count();
    assert!((75..=125).contains(&lines), "{lines}");
    assert!(matches!(rows.last().unwrap().id, RowId::Line(1_000)), "the newest stays");
}

#[test]
fn a_filter_keeps_what_belongs_to_its_rows() {
    let (model, clock) = example();
    let texts = |wanted: &str| -> Vec<String> {
        model.rows(&clock, wanted).iter().map(|row| row.text.chars().take(24).collect()).collect()
    };
    assert_eq!(
        texts("LINT` exited"),
        [
            "session s1 · Execute ste",
            "coder \"Write greeting\" ·",
            "SubagentStop blocked (1 ",
            "`npm run lint` exited wi",
            "`npm test` passed"
        ]
    );
    assert_eq!(texts("main thread").len(), 4, "{:?}", texts("main thread"));
    assert_eq!(texts("nothing has this"), [""; 0]);
    assert_eq!(texts("session s1").len(), texts("").len());
}

#[test]
fn only_the_session_that_is_asked_for() {
    let mut model = Model::new(Limits::ONE, Some("s1".into()), PriceTable::default());
    take(&mut model, &record(1, json!({"event": "Stop", "decision": "allowed"})), None);
    take(&mut model, &record(2, json!({"event": "Stop", "decision": "allowed", "session": "s2"})), None);
    take(&mut model, &json!({"event": "des new"}), None);
    assert_eq!(model.session_ids().collect::<Vec<_>>(), [("s1", 0)]);
}

#[test]
fn a_prompt_that_comes_while_claude_works_is_shown() {
    let mut model = model();
    say(&mut model, None, 0, prompt("write it"));
    say(&mut model, None, 1, call("t1", "Bash", json!({"command": "make"})));
    let queued = json!({"type": "queued_command", "prompt": "please deploy it too", "commandMode": "prompt"});
    say(&mut model, None, 2, json!({"type": "attachment", "attachment": queued}));
    let all = shown(&model, 3);
    assert!(all.contains("prompt: please deploy it too"), "{all}");
}
