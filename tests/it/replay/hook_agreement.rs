//! What is decided is what the hook decides.

use super::*;

/// The same payload through the hook and through replay: each call with the config in which it is decided.
#[test]
fn replay_decides_as_the_hook_does() {
    let config =
        format!("{CONFIG}stop: {{infinite: true}}\n").replace("stop: {commands: [{run: touch ran}]}\n", "");
    let test = Test::stop().config(&config).file("secrets/key", "x").file("src/a.rs", "x");
    let root = test.root();
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let file = |tool: &'static str, name: &str| (tool, json!({"file_path": root.join(name), "content": "x"}));
    let calls = [
        (None, "default", file("Write", "Cargo.lock")),
        (CODER, "default", file("Edit", "a/../.env.local")),
        (CODER, "default", file("Read", "secrets/key")),
        (None, "default", file("Write", "src/a.rs")),
        (None, "default", bash("echo x > sub/Cargo.lock")),
        (None, "default", bash("cat src/a.rs | tee .env")),
        (None, "default", bash("git push --force && true")),
        (None, "default", bash("git stash")),
        (None, "bypassPermissions", bash("git stash")),
        (None, "default", bash("git status")),
        (None, "default", bash("eval \"$x\" > $y")),
        (CODER, "default", file("Write", ".conclaude.yaml")),
        (None, "default", file("Write", ".conclaude.yaml")),
        (
            None,
            "default",
            ("Agent", json!({"subagent_type": "coder", "prompt": "<!-- DES-VALIDATION: maybe -->"})),
        ),
    ];
    let mut transcripts = Transcripts::of(&root, "session-1");
    transcripts.meta("a1b2c3", "coder", "d");
    let (mut test, mut expected) = (test, Vec::new());
    for (number, (agent, mode, (tool, input))) in calls.into_iter().enumerate() {
        let id = format!("t{number}");
        let line = json!({"type": "user", "isMeta": true, "permissionMode": mode, "message": {"role": "user", "content": "x"}});
        transcripts.line(agent, line).calls(agent, &id, tool, input.clone());
        test = test.then("PreToolUse").payload("permission_mode", mode);
        test = test.payload("tool_name", tool).payload("tool_input", input).payload("tool_use_id", id);
        test = match agent {
            Some(id) => test.payload("agent_id", id).payload("agent_type", "coder"),
            None => test.without("agent_id").without("agent_type"),
        };
        let outcome = test.run();
        expected.push(decision(&outcome.stdout));
        test = outcome.again();
    }
    let (_, stdout, _) = run_in(&root, &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    let events = all["events"].as_array().unwrap().iter();
    let decided: Vec<&str> = events.map(|event| event["decision"].as_str().unwrap()).collect();
    let refused: Vec<&str> = expected.iter().map(String::as_str).filter(|word| *word != "allowed").collect();
    assert_eq!(decided, refused, "{expected:?}");
    assert_snapshot!(expected.join(" "), @"denied denied denied allowed denied denied denied asked denied allowed asked denied asked denied");
}

/// What a hook decided about a tool, in the words of replay.
fn decision(stdout: &str) -> String {
    let answer: Value = serde_json::from_str(stdout).unwrap_or_default();
    match answer["hookSpecificOutput"]["permissionDecision"].as_str() {
        Some("deny") => "denied".into(),
        Some("ask") => "asked".into(),
        None => "allowed".into(),
        Some(other) => other.into(),
    }
}

#[test]
fn permission_requests_are_answered_as_in_the_hook() {
    let test = Test::stop().config(CONFIG);
    let mut transcripts = Transcripts::of(&test.root(), "session-1");
    let calls = [
        ("Bash", json!({"command": "make all"})),
        ("Bash", json!({"command": "make all > out"})),
        ("Bash", json!({"command": "true; curl example.com"})),
        ("WebFetch", json!({"url": "https://example.com"})),
        ("Write", json!({"file_path": test.root().join("Cargo.lock"), "content": "x"})),
    ];
    let (mut test, mut expected) = (test.without("agent_id").without("agent_type"), Vec::new());
    for (number, (tool, input)) in calls.into_iter().enumerate() {
        let id = format!("t{number}");
        transcripts.calls(MAIN, &id, tool, input.clone());
        transcripts.line(MAIN, result(&id, "no", &json!({"toolDenialKind": "user-rejected"})));
        test = test.then("PermissionRequest").payload("tool_name", tool).payload("tool_input", input);
        let outcome = test.run();
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
        expected.push(match answer["hookSpecificOutput"]["decision"]["behavior"].as_str() {
            Some("allow") => "permitted",
            Some("deny") => "denied",
            _ => "left to the user",
        });
        test = outcome.again();
    }
    assert_eq!(expected, ["permitted", "left to the user", "denied", "denied", "denied"]);
    // What a guard denies is not asked about, so the last one does not come so far.
    let (_, stdout, _) = run_in(&test.root(), &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    let events = all["events"].as_array().unwrap().iter();
    let decided: Vec<String> = events
        .map(|event| format!("{} {}", event["event"].as_str().unwrap(), event["decision"].as_str().unwrap()))
        .collect();
    assert_eq!(
        decided,
        [
            "PermissionRequest permitted",
            "PermissionRequest denied",
            "PermissionRequest denied",
            "PreToolUse denied"
        ]
    );
    assert_eq!(all["permission_requests"], json!(4));
}

#[test]
fn a_hook_that_denied_a_permission_did_not_deny_the_call_before() {
    let test = Test::stop().config("{}");
    let mut transcripts = Transcripts::of(&test.root(), "session-1");
    let rejected = json!({"toolDenialKind": "permission-rule", "permissionDecision": {"source": "hook", "reasonCode": "hook:PermissionRequest"}});
    transcripts
        .calls(MAIN, "t1", "Bash", json!({"command": "curl example.com"}))
        .line(MAIN, result("t1", "denied", &rejected));
    let events = |test: &Test| {
        let (_, stdout, _) = run_in(&test.root(), &["replay", "--json"]);
        let all: Value = serde_json::from_str(&stdout).unwrap();
        let shown = |event: &Value| {
            let text = |field: &str| event[field].as_str().unwrap().to_owned();
            format!("{} {}, {}, {}", text("event"), text("decision"), text("happened"), event["differs"])
        };
        all["events"].as_array().unwrap().iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(events(&test), ["PermissionRequest allowed, denied by a hook, true"]);
    let test = test.config("permissionRequest: {deny: ['Bash(curl*)']}");
    assert_eq!(events(&test), ["PermissionRequest denied, denied by a hook, false"]);
}

#[test]
fn stops_and_prompts_are_decided_as_in_the_hook() {
    let config = "stop: {infinite: true, infiniteMessage: go on}\nmaxBlocks: 2\nuserPromptSubmit: {slashCommands: {commands: {ship: [{run: 'true'}]}}}";
    let test = Test::event("Stop").config(config).without("agent_id").without("agent_type");
    let test = test.payload("stop_hook_active", false).run().status(2).again().run().status(2).again();
    let test = test.run().status(0).again();
    let mut all = Transcripts::of(&test.root(), "session-1");
    let feedback = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "Stop hook feedback:\ngo on"}});
    let slash = "<command-message>ship</command-message>\n<command-name>/ship</command-name>\n<command-args>now</command-args>";
    all.prompt(MAIN, "one")
        .says(MAIN, "First.")
        .line(MAIN, feedback.clone())
        .says(MAIN, "Second.")
        .says(MAIN, "The same turn: nothing says that it stopped before this.")
        .line(MAIN, feedback.clone())
        .says(MAIN, "Third: it was blocked as often as it may be.")
        .prompt(MAIN, slash)
        .says(MAIN, "Shipped.")
        .prompt(MAIN, "<local-command-stdout>of a command of Claude Code</local-command-stdout>")
        .prompt(MAIN, "[Request interrupted by user]");
    assert_snapshot!(test.shows(&["replay"]), @r#"
    exit 0
    ----- stdout
    TIMES  LAST (UTC)           SESSION   AGENT  EVENT  WOULD BE  HAPPENED           WHAT  RULE
    2      2026-01-31T12:00:05  session-  main   Stop   blocked   blocked by a hook        stop.infinite in .conclaude.yaml:1

    0 tool calls (0 asked about), 2 prompts and 3 stops in 1 session (1 transcript, 0.0 MB in [DURATION])
    would be: 0 denied, 0 asked, 2 blocked, 0 permitted; 0 differ from what happened

    rules that matched
         2 blocked  stop.infinite in .conclaude.yaml:1
         1 matched  userPromptSubmit.slashCommands.commands "ship" in .conclaude.yaml:3

    commands that would have run (none was; how they would have ended is not known)
            1 time  true: userPromptSubmit.slashCommands.commands "ship" in .conclaude.yaml:3
    "#);
}

#[test]
fn a_stop_waits_for_agents_in_the_background() {
    let test = Test::stop().config("stop: {commands: [{run: 'true'}]}");
    let mut all = Transcripts::of(&test.root(), "session-1");
    let call = json!({"subagent_type": "coder", "description": "d", "prompt": "p"});
    let launched = "Async agent launched successfully. (internal)\nagentId: a1b2c3 (do not show)";
    all.prompt(MAIN, "one")
        .calls(MAIN, "t1", "Agent", call)
        .result(MAIN, "t1", launched, false)
        .says(MAIN, "It runs.")
        .prompt(MAIN, "<task-notification>\n<task-id>a1b2c3</task-id>\n</task-notification>")
        .says(MAIN, "It is done.");
    let (_, stdout, _) = run_in(&test.root(), &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&all["stops"], &all["commands"][0]["times"]), (&json!(2), &json!(1)), "{stdout}");
}

#[test]
fn commands_limited_to_files_run_for_what_was_written_since_the_prompt() {
    let test = Test::stop().config("stop: {commands: [{run: lint, files: ['src/**']}]}");
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    let file = |name: &str| json!({"file_path": root.join(name), "content": "x"});
    all.prompt(MAIN, "one")
        .calls(MAIN, "t1", "Write", file("src/gone-since.rs"))
        .result(MAIN, "t1", "ok", false)
        .says(MAIN, "Linted.")
        .prompt(MAIN, "two")
        .calls(MAIN, "t2", "Write", file("src/b.rs"))
        .result(MAIN, "t2", "failed", true)
        .says(MAIN, "Nothing was written.")
        .prompt(MAIN, "three")
        .calls(MAIN, "t3", "Bash", json!({"command": "echo x > src/c.rs"}))
        .result(MAIN, "t3", "ok", false)
        .says(MAIN, "Linted.");
    let (_, stdout, _) = run_in(&root, &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&all["stops"], &all["commands"][0]["times"]), (&json!(3), &json!(2)), "{stdout}");
}

#[test]
fn gates_are_replayed_as_far_as_the_prompt_says_and_the_rest_is_counted() {
    let test = Test::stop().config("des: {requiredSections: [GOAL]}");
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    let call = |prompt: &str| json!({"subagent_type": "coder", "description": "Do it", "prompt": prompt});
    let feedback = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "Stop hook feedback:\nCOMMIT is missing"}});
    let sound = format!("{MARKERS}\n## GOAL\n");
    all.prompt(MAIN, "go")
        .calls(MAIN, "t1", "Agent", call(MARKERS))
        .result(MAIN, "t1", "ok", false)
        .calls(MAIN, "call-a1b2c3", "Agent", call(&sound))
        .meta("a1b2c3", "coder", "Do it")
        .prompt(CODER, &sound)
        .calls(CODER, "c1", "Write", json!({"file_path": root.join("src/a.rs"), "content": "x"}))
        .result(CODER, "c1", "ok", false)
        .calls(CODER, "c2", "Bash", json!({"command": "ls"}))
        .result(CODER, "c2", "ok", false)
        .says(CODER, "Done.")
        .line(CODER, feedback)
        .says(CODER, "Done now.")
        .result(MAIN, "call-a1b2c3", "ok", false);
    assert_snapshot!(test.shows(&["replay"]), @"
    exit 0
    ----- stdout
    TIMES  LAST (UTC)           SESSION   AGENT  EVENT         WOULD BE           HAPPENED           WHAT                RULE
    1      2026-01-31T12:00:10  session-  coder  SubagentStop  not known: a gate  blocked by a hook
    1      2026-01-31T12:00:02  session-  main   PreToolUse    denied             ran *              Agent coder: Do it  des.requiredSections in .conclaude.yaml:1
    * differs from what would be decided now

    4 tool calls (0 asked about), 1 prompt and 2 stops in 1 session (2 transcripts, 0.0 MB in [DURATION])
    would be: 1 denied, 0 asked, 0 blocked, 0 permitted; 1 differs from what happened
    not decided by rules: 4 events of agents with a step, whose gates cannot be replayed

    rules that matched
          1 denied  des.requiredSections in .conclaude.yaml:1

    left out: 2 calls without the step file of that time (Gate 1); 1 writing call without the scope of that time (Gate 2); 2 stops without the step of that time (Gate 3) (--json says why)
    ");
}

/// A worktree for a whole session has the project's files, a package may have a config of its own.
#[test]
fn a_session_below_the_root_has_the_root_that_its_hooks_found() {
    let config = "preToolUse: {uneditableFiles: [src/*.gen], preventRootAdditions: true}\n";
    let test = Test::event("PreToolUse").config(config).payload("tool_name", "Write");
    let mut test = test.file(".claude/worktrees/feat/.conclaude.yaml", config).file("pk/b/README.md", "");
    test = test.file("pk/a/.conclaude.yaml", "preToolUse: {uneditableFiles: ['*.sub']}\n");
    let root = test.root();
    let folders = ["", ".claude/worktrees/feat", "pk/b"].map(|folder| root.join(folder));
    let mut expected = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        let mut transcripts = Transcripts::of(folder, &format!("session-{number}")).below(&root);
        for name in ["src/a.gen", "new.txt", "src/q.sub"] {
            let input = json!({"file_path": folder.join(name), "content": "x"});
            transcripts.calls(None, &format!("t{number}{name}"), "Write", input.clone());
            test = test.env("CLAUDE_PROJECT_DIR", folder.to_str().unwrap());
            let outcome = test.payload("cwd", folder.to_str().unwrap()).payload("tool_input", input).run();
            if decision(&outcome.stdout) == "denied" {
                expected.push(format!("{number} {name}"));
            }
            test = outcome.again();
        }
    }
    let mut others = Transcripts::of(&root.join("pk/a"), "session-7").below(&root);
    others.calls(None, "t7", "Write", json!({"file_path": root.join("pk/a/src/q.sub"), "content": "x"}));
    let mut gone = Transcripts::of(&root.join(".claude/worktrees/old"), "session-8").below(&root);
    let name = root.join(".claude/worktrees/old/src/a.gen");
    gone.calls(None, "t8", "Write", json!({"file_path": name, "content": "x"}));
    assert_snapshot!(expected.join(", "), @"0 src/a.gen, 0 new.txt, 1 src/a.gen, 1 new.txt");
    assert_snapshot!(test.without_env("CLAUDE_PROJECT_DIR").shows(&["replay"]), @r#"
    exit 0
    ----- stdout
    TIMES  LAST (UTC)           SESSION   AGENT  EVENT       WOULD BE  HAPPENED   WHAT             RULE
    2      2026-01-31T12:00:02  session-  main   PreToolUse  denied    no result  Write new.txt    preToolUse.preventRootAdditions in .conclaude.yaml:1
    3      2026-01-31T12:00:01  session-  main   PreToolUse  denied    no result  Write src/a.gen  preToolUse.uneditableFiles "src/*.gen" in .conclaude.yaml:1

    11 tool calls (0 asked about), 0 prompts and 0 stops in 5 sessions (5 transcripts, 0.0 MB in [DURATION])
    would be: 5 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    rules that matched
          3 denied  preToolUse.uneditableFiles "src/*.gen" in .conclaude.yaml:1
          2 denied  preToolUse.preventRootAdditions in .conclaude.yaml:1

    note: 1 session started in a folder with a config of its own, which was not used ([ROOT]/pk/a): `conclaude replay` there uses it
    note: 1 session started in a folder that is gone ([ROOT]/.claude/worktrees/old): its config and files of that time are not known
    note: looked up on today's disk: links, directories and globs of shell commands, whether a file existed
    "#);
}

#[test]
fn a_prompt_that_comes_while_claude_works_is_a_prompt() {
    let config = "userPromptSubmit: {contextRules: [{pattern: deploy, prompt: be careful}, {pattern: staging, prompt: x}]}
stop: {infinite: true, commands: [{run: lint, files: ['src/**']}]}
maxBlocks: 1";
    let test = Test::stop().config(config);
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    let call = json!({"subagent_type": "coder", "description": "d", "prompt": "p"});
    let launched = "Async agent launched successfully. (internal)\nagentId: a1b2c3 (do not show)";
    let blocks = json!([{"type": "text", "text": "on staging"}, {"type": "image", "source": {}}]);
    let notified = "<task-notification>\n<task-id>a1b2c3</task-id>\n</task-notification>";
    all.prompt(MAIN, "write it")
        .calls(MAIN, "t1", "Agent", call)
        .result(MAIN, "t1", launched, false)
        .calls(MAIN, "t2", "Write", json!({"file_path": root.join("src/a.rs"), "content": "x"}))
        .result(MAIN, "t2", "ok", false)
        .queued("prompt", &json!("please deploy it too"))
        .queued("prompt", &blocks)
        .queued("task-notification", &json!(notified))
        .queued("bash", &json!("deploy --now"))
        .line(MAIN, json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "deploy, says another agent", "origin": {"kind": "peer"}}}))
        .says(MAIN, "Done.");
    let (_, stdout, _) = run_in(&root, &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&all["prompts"], &all["stops"], &all["never_matched"]), (&json!(4), &json!(1), &json!([])));
    // What was written before it in the same turn, no stop has looked at.
    assert_eq!(all["commands"][0]["times"], 1, "{stdout}");
    let matched: Vec<String> = (all["rules"].as_array().unwrap().iter())
        .map(|rule| format!("{} {}", rule["rule"]["pattern"], rule["matched"]))
        .collect();
    assert_eq!(matched, [r#"null 1"#, r#""deploy" 1"#, r#""staging" 1"#, r#""*" 1"#], "{stdout}");
}
