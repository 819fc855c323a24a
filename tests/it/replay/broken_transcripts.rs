//! Transcripts and lines that cannot be read or understood.

use super::*;

#[test]
fn what_cannot_be_replayed_says_why() {
    let test = Test::stop().config(CONFIG).file("empty/x", "");
    for arguments in [
        &["replay"][..],
        &["replay", "no-such-session"],
        &["replay", "empty"],
        &["replay", "--since", "yesterday"],
        &["replay", "--config", "missing.yaml"],
    ] {
        let (code, stdout, _) = run_in(&test.root(), arguments);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{arguments:?}");
    }
    assert_snapshot!(test.shows(&["replay"]), @"
    exit 1
    ----- stderr
    conclaude: there is no transcript of [ROOT] in [ROOT]/.home/.claude/projects, and only those of Claude Code are read; name a session, a file or a folder
    ");
    assert_snapshot!(test.shows(&["replay", "no-such-session"]), @"
    exit 1
    ----- stderr
    conclaude: no-such-session is neither a file, nor a folder with transcripts, nor the start of a session's id
    ");
    let test = session("preToolUse: {uneditableFile: ['x']}");
    assert_snapshot!(test.shows(&["replay"]), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `uneditableFile` in `preToolUse`
     --> [ROOT]/.conclaude.yaml:1:14
      |
    1 | preToolUse: {uneditableFile: ['x']}
      |              ^^^^^^^^^^^^^^ not a key of this section
      |
      = help: did you mean `uneditableFiles`?
    ");
}

#[test]
fn broken_lines_of_transcripts_are_counted_and_reported() {
    let test = Test::stop().config(CONFIG);
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(MAIN, "go")
        .raw(MAIN, "not json\n{\"type\":\"from-the-future\",\"x\":1}\n[1]\n\n")
        .line(MAIN, json!({"type": "assistant", "message": {"id": 5, "content": [{"type": "tool_use", "id": "t0", "name": "Bash", "input": "no object"}]}}))
        .line(MAIN, json!({"type": "user", "isSidechain": true, "message": {"content": "of an agent of an older version"}}))
        .raw(MAIN, &format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "x".repeat(33 << 20)))
        .calls(MAIN, "t1", "Write", json!({"file_path": root.join("Cargo.lock"), "content": "x"}))
        .raw(MAIN, "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_res");
    assert_snapshot!(test.shows(&["replay"]), @r#"
    exit 0
    ----- stdout
    TIMES  LAST (UTC)           SESSION   AGENT  EVENT       WOULD BE  HAPPENED   WHAT              RULE
    1      2026-01-31T12:00:04  session-  main   PreToolUse  denied    no result  Write Cargo.lock  preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2

    2 tool calls (0 asked about), 1 prompt and 0 stops in 1 session (1 transcript, 34.6 MB in [DURATION])
    would be: 1 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    rules that matched
          1 denied  preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2

    warning: an event could not be judged: the input of a call of Bash is not an object
    note: looked up on today's disk: links, directories and globs of shell commands
    left out: 5 lines not read (session-1.jsonl:8: over 32 MB, skipped; 4 other kinds); 1 event that could not be judged; 1 line of subagents in a main transcript (--json says why)
    "#);
}

/// Lines that another version may write, and no finding is made of them.
#[test]
fn lines_that_are_not_understood_are_counted_and_never_become_a_stop_or_a_call() {
    let test = Test::stop().config("stop: {infinite: true}\npreToolUse: {uneditableFiles: ['*.lock']}");
    let root = test.root();
    let assistant = |id: &str, reason: &str, content: Value| json!({"type": "assistant", "message": {"id": id, "stop_reason": reason, "content": content}});
    let lock = json!({"file_path": root.join("a.lock"), "content": "x"});
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(MAIN, "go")
        .line(MAIN, json!({"type": "user", "message": null}))
        .line(MAIN, json!({"type": "user", "message": {"role": "user", "content": 5}}))
        .line(MAIN, json!({"type": "user"}))
        .line(MAIN, assistant("m1", "end_turn", json!({"type": "text", "text": "x"})))
        .line(MAIN, assistant("m2", "end_turn", json!([{"type": "new_block"}])))
        .line(
            MAIN,
            assistant("m3", "end_turn", json!([{"type": "tool_use", "id": 7, "name": "Write", "input": lock}])),
        )
        .line(
            MAIN,
            assistant("m4", "end_turn", json!([{"type": "tool_use", "id": "t", "name": null, "input": {}}])),
        )
        .line(MAIN, json!({"type": "assistant", "message": {"id": "m5", "stop_reason": null, "content": [{"type": "text", "text": "I write it."}]}}))
        .raw(MAIN, "{\"type\":\"assistant\",\"message\":{\"id\":\"m5\",\n")
        .line(MAIN, json!({"type": "system", "subtype": "from_the_future"}))
        .raw(MAIN, "{\"attachment\":{\"type\":\"from_the_future\"},\"type\":\"attachment\"}\n");
    assert_snapshot!(test.shows(&["replay"]), @"
    exit 0
    ----- stdout
    0 tool calls (0 asked about), 1 prompt and 0 stops in 1 session (1 transcript, 0.0 MB in [DURATION])
    would be: 0 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    left out: 10 lines not read (session-1.jsonl:7: with a `tool_use` without an id, a name and an input; 7 other kinds) (--json says why)
    ");
    let (_, stdout, _) = run_in(&root, &["replay", "--json"]);
    let read: Value = serde_json::from_str(&stdout).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&read["read"]["not_read"][0]).unwrap(), @r#"
    {
      "what": "not JSON",
      "lines": 1,
      "first": "[ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:10"
    }
    "#);
}

#[test]
fn a_file_that_is_no_transcript_is_no_session() {
    let test = session("{}").file("x.txt", "some\ntext\n").file("empty.jsonl", "");
    let copy = test.root().join("copy.jsonl");
    let line = json!({"type": "user", "sessionId": "5e551017-1", "cwd": test.root(), "timestamp": "2026-01-31T12:00:00Z", "message": {"content": "go"}});
    std::fs::write(&copy, format!("{line}\n")).unwrap();
    let parts = |arguments: &[&str]| {
        let shown = test.shows(arguments);
        let is_kept = |line: &&str| {
            ["exit", "warning", "left out", "0 tool"].iter().any(|start| line.starts_with(start))
        };
        shown.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(parts(&["replay", "x.txt", "empty.jsonl", "copy.jsonl"]), @"
    exit 0
    0 tool calls (0 asked about), 1 prompt and 0 stops in 1 session (3 transcripts, 0.0 MB in [DURATION])
    warning: empty.jsonl is empty
    warning: x.txt is not a transcript: none of its lines can be read
    left out: 2 lines not read (x.txt:1: not JSON) (--json says why)
    ");
}

#[test]
fn a_file_is_shown_by_the_id_of_its_session() {
    let test = Test::stop().config("stop: {infinite: true}");
    let line = |text: Value| {
        let line =
            json!({"sessionId": "5e551017-1", "cwd": test.root(), "timestamp": "2026-01-31T12:00:00Z"});
        let mut line = line.as_object().unwrap().clone();
        line.extend(text.as_object().unwrap().clone());
        format!("{}\n", Value::Object(line))
    };
    let text = [
        line(json!({"type": "user", "message": {"content": "go"}})),
        line(
            json!({"type": "assistant", "message": {"id": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "x"}]}}),
        ),
    ];
    std::fs::write(test.root().join("copy.jsonl"), text.concat()).unwrap();
    let (_, stdout, _) = run_in(&test.root(), &["replay", "copy.jsonl", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(all["events"][0]["session"], "5e551017-1", "{stdout}");
}

#[cfg(unix)]
#[test]
fn a_transcript_that_cannot_be_read_is_an_error_beside_the_others() {
    let test = session("{}");
    let path = test.root().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let shown = test.shows(&["replay", "session-1", "pipe.jsonl"]);
    let parts: Vec<&str> = shown
        .lines()
        .filter(|line| ["exit", "warning", "9 tool"].iter().any(|start| line.starts_with(start)))
        .collect();
    assert_snapshot!(parts.join("\n"), @"
    exit 0
    9 tool calls (2 asked about), 1 prompt and 2 stops in 1 session (3 transcripts, 0.0 MB in [DURATION])
    warning: pipe.jsonl cannot be read: it is not a regular file
    ");
}

#[cfg(unix)]
#[test]
fn links_to_transcripts_are_followed_and_others_are_counted() {
    use std::os::unix::fs::symlink;
    let test = Test::stop().config(CONFIG).file("linked/x", "").file("none/x", "");
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(MAIN, "go").calls(MAIN, "t1", "Write", json!({"file_path": root.join("Cargo.lock")}));
    symlink(all.path(MAIN), root.join("linked/one.jsonl")).unwrap();
    for folder in ["linked", "none"] {
        symlink(&root, root.join(folder).join("circle")).unwrap();
        symlink("gone", root.join(folder).join("dangling.jsonl")).unwrap();
    }
    assert_snapshot!(test.shows(&["replay", "linked"]), @r#"
    exit 0
    ----- stdout
    TIMES  LAST (UTC)           SESSION  AGENT  EVENT       WOULD BE  HAPPENED   WHAT              RULE
    1      2026-01-31T12:00:02  one      main   PreToolUse  denied    no result  Write Cargo.lock  preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2

    1 tool call (0 asked about), 1 prompt and 0 stops in 1 session (1 transcript, 0.0 MB in [DURATION])
    would be: 1 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    rules that matched
          1 denied  preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2

    note: looked up on today's disk: links, directories and globs of shell commands
    left out: 2 links (--json says why)
    "#);
    assert_snapshot!(test.shows(&["replay", "none"]), @"
    exit 1
    ----- stderr
    conclaude: there is no transcript (*.jsonl) in none; 2 links to a folder or to nothing not followed
    ");
    assert_snapshot!(test.shows(&["replay", "--since", "2030-01-01"]), @"
    exit 0
    ----- stdout
    0 tool calls (0 asked about), 0 prompts and 0 stops in 0 sessions (0 transcripts, 0.0 MB in [DURATION])
    would be: 0 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    left out: 1 transcript older than --since (--json says why)
    ");
    assert_snapshot!(test.shows(&["report", "--since", "2030-01-01"]), @"
    exit 1
    ----- stderr
    conclaude: nothing to report: the audit trail of [ROOT] has no record since [TIME], and no transcript of it has a line of that time in [ROOT]/.home/.claude/projects; `conclaude doctor` checks whether events arrive
    ");
}

#[cfg(unix)]
#[test]
fn transcripts_are_found_however_deep_they_are_and_what_is_left_out_is_reported() {
    let test = Test::stop().config("preToolUse: {uneditableFiles: ['*.lock']}");
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(MAIN, "go").meta("a1b2c3", "coder", "Write it").prompt(CODER, "p");
    all.calls(CODER, "c1", "Write", json!({"file_path": root.join("Cargo.lock")}));
    let backup = root.join("backups/2026/11/laptop/home/me");
    std::fs::create_dir_all(&backup).unwrap();
    std::fs::rename(root.join(".home/.claude"), backup.join(".claude")).unwrap();
    let shown = test.shows(&["replay", "backups"]);
    assert!(
        shown.contains("1 tool call (0 asked about), 1 prompt and 0 stops in 1 session (2 transcripts"),
        "{shown}"
    );
    // A path that no system call takes.
    let long = || ["x".repeat(200).as_str(); 11].join("/");
    for half in ["backups", "other"] {
        std::fs::create_dir_all(root.join(half).join(long())).unwrap();
    }
    std::fs::rename(root.join("other"), root.join("backups").join(long()).join("other")).unwrap();
    std::fs::write(root.join("backups/empty.jsonl"), "").unwrap();
    let (code, stdout, _) = run_in(&root, &["replay", "backups", "--json", "--exit-code"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &all["tool_calls"], &all["not_readable"]), (Some(1), &json!(1), &json!(1)), "{stdout}");
    assert_eq!(all["not_replayed"]["empty_transcripts"], 1);
    let texts = |of: &str| {
        all[of].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let problems = texts("problems");
    assert!(problems[0].contains("cannot be read: File name too long"), "{problems:?}");
    assert!(texts("notes").contains(&"1 empty transcript not read".to_owned()), "{stdout}");
}
