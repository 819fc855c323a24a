//! Commands on every event, with the payload that Claude Code really sends.

use conclaude::event::{ALL, EventKind, Subject};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, capture};

/// The event with its real payload, in a project of its own. A gate has nothing to say here.
fn real(event: EventKind) -> Test {
    Test::event(event.name()).stdin(real_payload(event).to_string())
}

fn real_payload(event: EventKind) -> Value {
    let text = String::from_utf8(capture(&format!("{event}.json"))).unwrap();
    serde_json::from_str(&text.replace("DES-VALIDATION", "x")).unwrap()
}

/// What the patterns of the event's section are compared with, in its real payload.
fn compared(event: EventKind) -> Option<String> {
    let field = match event.row().subject {
        Subject::Agent => "agent_type",
        Subject::Field(field) | Subject::File(field) => field,
        Subject::Nothing => return None,
    };
    Some(real_payload(event)[field].as_str().unwrap_or_else(|| panic!("{event}: {field}")).to_owned())
}

#[test]
fn every_event_runs_the_commands_that_its_payload_selects() {
    for event in ALL.iter().copied() {
        let run = |file: &str| json!([{ "run": format!("tee {file}") }]);
        let (commands, expected) = match compared(event) {
            Some(value) => {
                let prefix = match event.row().subject {
                    Subject::File(_) => ".env*".to_owned(),
                    _ => value.chars().take(3).chain(['*']).collect(),
                };
                (
                    json!({ value: run("same"), prefix: run("prefix"), "zzz": run("other") }),
                    ["same", "prefix"],
                )
            }
            None => {
                (json!({ "*": run("same"), "{*,x}": run("prefix"), "zzz": run("other") }), ["same", "prefix"])
            }
        };
        let config = json!({ event.row().section: { "commands": commands } }).to_string();
        let done = real(event).config(&config).run();
        for file in expected {
            assert!(done.has(file), "{event}: {config}\n{}", done.stderr);
            let stdin: Value = serde_json::from_str(&done.read(file)).unwrap();
            assert_eq!(stdin, real_payload(event), "{event}: the payload is its stdin");
        }
        assert!(!done.has("other"), "{event}: {config}");
        assert_eq!(done.code, Some(0), "{event}: {}", done.stderr);
    }
}

#[test]
fn a_plain_list_of_commands_is_that_of_all() {
    for event in ALL {
        let config = format!("{}: {{commands: [{{run: touch ran}}]}}", event.row().section);
        assert!(real(*event).config(&config).run().has("ran"), "{event}");
    }
}

#[test]
fn a_failure_that_blocks_is_answered_as_each_event_takes_it() {
    let mut shown = String::new();
    for event in ALL {
        let section = event.row().section;
        let config = format!("{section}: {{commands: [{{run: 'echo why; exit 3', onFailure: block}}]}}");
        let done = real(*event).config(&config).run();
        match done.stderr.contains("cannot be blocked") {
            true => shown.push_str(&format!("{event}: a config error, exit {}\n", done.code.unwrap())),
            false => shown.push_str(&format!("{event}: {}\n", done.snapshot().replace('\n', "\n    "))),
        }
    }
    assert_snapshot!(shown, @r#"
    SessionStart: a config error, exit 1
    PreToolUse: exit 2
        ----- stdout
        {
          "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "conclaude denies this tool:
              ✗ `echo why; exit 3` exited with code 3
                why"
          }
        }
        ----- stderr: the same
    PostToolUse: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: after this tool call:
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗."
        }
        ----- stderr: the same
    UserPromptSubmit: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this prompt:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    SubagentStart: a config error, exit 1
    SubagentStop: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: coder (ae7af48d32583d25f) may not stop yet (block 1 of 3):
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗, then give your complete report again: your caller sees only your last message."
        }
        ----- stderr: the same
    Stop: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: you may not stop yet (block 1 of 3):
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗, then finish again."
        }
        ----- stderr: the same
    SessionEnd: a config error, exit 1
    PostToolUseFailure: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: after this tool call:
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗."
        }
        ----- stderr: the same
    PostToolBatch: exit 0
        ----- stdout
        {
          "hookSpecificOutput": {
            "hookEventName": "PostToolBatch",
            "additionalContext": "conclaude: after this tool call:
              ✗ `echo why; exit 3` exited with code 3
                why
              Fix what is marked ✗."
          }
        }
    PermissionRequest: exit 0
        ----- stdout
        {
          "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {
              "behavior": "deny",
              "message": "conclaude denies this permission:
                ✗ `echo why; exit 3` exited with code 3
                  why"
            }
          }
        }
    PermissionDenied: a config error, exit 1
    UserPromptExpansion: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this slash command:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    Setup: a config error, exit 1
    StopFailure: a config error, exit 1
    Notification: a config error, exit 1
    PreCompact: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks the compaction:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    PostCompact: a config error, exit 1
    PreModelSwitch: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks the switch to another model:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    PostModelSwitch: a config error, exit 1
    TaskCreated: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this task:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    TaskCompleted: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: this task may not be completed yet (block 1 of 3):
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗, then complete it again."
        }
        ----- stderr: the same
    TeammateIdle: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: you may not stop yet (block 1 of 3):
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗, then finish again."
        }
        ----- stderr: the same
    Elicitation: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude declines this question:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    ElicitationResult: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this answer:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    ConfigChange: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this change of the settings:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    InstructionsLoaded: a config error, exit 1
    CwdChanged: a config error, exit 1
    FileChanged: a config error, exit 1
    DirectoryAdded: a config error, exit 1
    WorktreeCreate: exit 2
        ----- stderr
        conclaude: the worktree is not created:
        ✗ `echo why; exit 3` exited with code 3
          why
    WorktreeRemove: a config error, exit 1
    MessageDisplay: a config error, exit 1
    "#);
}

#[test]
fn an_event_that_only_a_newer_client_has_runs_its_commands() {
    let test = || Test::event("GoalReached").config("goalReached: {commands: [{run: 'cat > got'}]}");
    let done = test().payload("goal", "ship it").run().silent();
    assert_eq!(serde_json::from_str::<Value>(&done.read("got")).unwrap()["goal"], "ship it");
    assert_snapshot!(test().shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: goalReached: this version of conclaude knows no event GoalReached
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | goalReached: {commands: [{run: 'cat > got'}]}
      | ^^^^^^^^^^^ its commands run if Claude Code has it

    valid: [ROOT]/.conclaude.yaml
      goalReached: 1 pattern, 1 command
    ");
    assert_snapshot!(Test::event("SubagentStpo").run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: unknown event or command `SubagentStpo`; did you mean `SubagentStop`?
    ");
    let near = Test::event("Stop").config("subagentStopp: {commands: [{run: x}]}");
    assert_snapshot!(near.shows(&["validate"]), @"
    exit 1
    ----- stdout
    error: unknown key `subagentStopp` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | subagentStopp: {commands: [{run: x}]}
      | ^^^^^^^^^^^^^ not a key of this section
      |
      = help: did you mean `subagentStop`?

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    ");
    let blocks = Test::event("Stop").config("goalReached: {commands: [{run: x, onFailure: block}]}");
    assert_snapshot!(blocks.shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `onFailure`: the text "block"
     --> [ROOT]/.conclaude.yaml:1:46
      |
    1 | goalReached: {commands: [{run: x, onFailure: block}]}
      |                                              ^^^^^ expected `warn`
      |
      = help: this event cannot be blocked, use `warn`; events that can: `preToolUse`, `postToolUse`, `userPromptSubmit`, `subagentStop`, `stop`, `postToolUseFailure`, `postToolBatch`, `permissionRequest`, `userPromptExpansion`, `preCompact`, `preModelSwitch`, `taskCreated`, `taskCompleted`, `teammateIdle`, `elicitation`, `elicitationResult`, `configChange`, `worktreeCreate`

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    "#);
}

/// What the command of the event finds in its environment.
fn environment_of(event: EventKind) -> Vec<(String, String)> {
    let config = format!("{}: {{commands: [{{run: 'env -0 > env'}}]}}", event.row().section);
    let done = real(event).env("CONCLAUDE_TRIGGER", "of an outer hook").config(&config).run();
    let variables = done.read("env");
    let ours = variables.split('\0').filter_map(|line| line.strip_prefix("CONCLAUDE_")?.split_once('='));
    ours.map(|(name, value)| (name.to_owned(), value.to_owned()))
        .filter(|(name, _)| name != "COMMAND_ID")
        .collect()
}

#[test]
fn commands_get_the_fields_of_every_payload_and_the_list_names_them() {
    for event in ALL.iter().copied() {
        let env = environment_of(event);
        let has = |name: &str| env.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
        for (field, value) in real_payload(event).as_object().unwrap() {
            let name = match field.as_str() {
                "hook_event_name" => "HOOK_EVENT".to_owned(),
                "prompt" => "USER_PROMPT".to_owned(),
                "agent_type" => "SUBAGENT_TYPE".to_owned(),
                other => other.to_uppercase(),
            };
            let expected = match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
                _ => None,
            };
            assert_eq!(has(&name).map(str::to_owned), expected, "{event}: {name}");
        }
        if real_payload(event)["trigger"].is_null() {
            assert_eq!(has("TRIGGER"), None, "{event}: that of an outer hook is removed");
        }
        let (_, listed, _) =
            crate::common::run_in(&Test::event("Stop").root(), &["events", event.name(), "--json"]);
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let listed: Vec<&str> =
            listed["variables"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        for (name, _) in &env {
            assert!(listed.contains(&format!("CONCLAUDE_{name}").as_str()), "{event}: {name} is not listed");
        }
    }
}

#[test]
fn a_tool_s_file_and_command_are_variables() {
    let env = |payload: &str, event: EventKind| {
        let config = format!(
            "{}: {{commands: [{{run: 'echo \"$CONCLAUDE_FILE_PATH|$CONCLAUDE_COMMAND\" > got'}}]}}",
            event.row().section
        );
        Test::event(event.name())
            .stdin(capture(&format!("variants/{payload}")))
            .config(&config)
            .run()
            .read("got")
    };
    assert_eq!(env("PostToolUse.Write.json", EventKind::PostToolUse), "/home/user/project/greeting.txt|\n");
    assert_eq!(env("PreToolUse.Bash.json", EventKind::PreToolUse), "|cat greeting.txt\n");
}

#[test]
fn events_lists_what_each_can_do() {
    let test = Test::event("Stop");
    assert_snapshot!(test.shows(&["events"]), @"
    exit 0
    ----- stdout
    EVENT                SECTION              PATTERNS COMPARE                 ONFAILURE: BLOCK
    SessionStart         sessionStart         source                           -
    PreToolUse           preToolUse           tool_name                        the tool is denied
    PostToolUse          postToolUse          tool_name                        Claude reads why
    UserPromptSubmit     userPromptSubmit     -                                the prompt is rejected
    SubagentStart        subagentStart        the agent's name                 -
    SubagentStop         subagentStop         the agent's name                 the agent goes on, up to maxBlocks
    Stop                 stop                 -                                the agent goes on, up to maxBlocks
    SessionEnd           sessionEnd           reason                           -
    PostToolUseFailure   postToolUseFailure   tool_name                        Claude reads why
    PostToolBatch        postToolBatch        -                                Claude reads why
    PermissionRequest    permissionRequest    tool_name                        the permission is denied
    PermissionDenied     permissionDenied     tool_name                        -
    UserPromptExpansion  userPromptExpansion  command_name                     the prompt is rejected
    Setup                setup                trigger                          -
    StopFailure          stopFailure          error                            -
    Notification         notification         notification_type                -
    PreCompact           preCompact           trigger                          it does not happen
    PostCompact          postCompact          trigger                          -
    PreModelSwitch       preModelSwitch       to_model                         it does not happen
    PostModelSwitch      postModelSwitch      to_model                         -
    TaskCreated          taskCreated          task_subject                     it does not happen
    TaskCompleted        taskCompleted        task_subject                     the task stays open, up to maxBlocks
    TeammateIdle         teammateIdle         teammate_name                    the agent goes on, up to maxBlocks
    Elicitation          elicitation          mcp_server_name                  it is declined
    ElicitationResult    elicitationResult    mcp_server_name                  it is declined
    ConfigChange         configChange         source                           it does not happen
    InstructionsLoaded   instructionsLoaded   memory_type                      -
    CwdChanged           cwdChanged           new_cwd                          -
    FileChanged          fileChanged          file_path, by gitignore's rules  -
    DirectoryAdded       directoryAdded       source                           -
    WorktreeCreate       worktreeCreate       -                                the worktree is not created
    WorktreeRemove       worktreeRemove       -                                -
    MessageDisplay       messageDisplay       -                                -

    `conclaude events EVENT` lists the variables of its commands
    ");
    assert_snapshot!(test.shows(&["events", "PostToolUse"]), @"
    exit 0
    ----- stdout
    PostToolUse
      section           postToolUse
      patterns compare  tool_name
      onFailure: block  Claude reads why
      context: true     yes
      registered        with gates, or any commands: it shows what other events cannot
      variables
        CONCLAUDE_TOOL_NAME
        CONCLAUDE_TOOL_USE_ID
        CONCLAUDE_DURATION_MS
        CONCLAUDE_FILE_PATH
        CONCLAUDE_COMMAND
        CONCLAUDE_AGENT_ID
        CONCLAUDE_SUBAGENT_NAME
        CONCLAUDE_SUBAGENT_TYPE
        CONCLAUDE_AGENT_TRANSCRIPT_PATH
        CONCLAUDE_AGENT_NAME
        CONCLAUDE_SKILL_NAME
        CONCLAUDE_SESSION_ID
        CONCLAUDE_TRANSCRIPT_PATH
        CONCLAUDE_CWD
        CONCLAUDE_HOOK_EVENT
        CONCLAUDE_PROMPT_ID
        CONCLAUDE_PERMISSION_MODE
        CONCLAUDE_CONFIG_DIR
        CONCLAUDE_FILES (with `files`)
    ");
    assert_snapshot!(test.shows(&["events", "worktreeCreate", "--json"]), @r#"
    exit 0
    ----- stdout
    {
      "event": "WorktreeCreate",
      "section": "worktreeCreate",
      "compares": null,
      "block": "the worktree is not created",
      "context": false,
      "registered": "only with commands: that changes what Claude Code does, or costs a process with every word",
      "variables": [
        "CONCLAUDE_SESSION_ID",
        "CONCLAUDE_TRANSCRIPT_PATH",
        "CONCLAUDE_CWD",
        "CONCLAUDE_HOOK_EVENT",
        "CONCLAUDE_PROMPT_ID",
        "CONCLAUDE_PERMISSION_MODE",
        "CONCLAUDE_CONFIG_DIR",
        "CONCLAUDE_NAME",
        "CONCLAUDE_WORKTREE_NAME"
      ]
    }
    "#);
    assert_snapshot!(test.shows(&["events", "Stopp"]), @"
    exit 1
    ----- stderr
    conclaude: unknown event `Stopp`; did you mean `Stop`?
    ");
}

#[test]
fn agent_limits_a_command_to_a_subagent_or_to_the_main_thread() {
    let config = "postToolUse:\n  commands:\n    \"*\":\n      - {run: touch coder, agent: 'c*'}\n      - {run: touch main, agent: main}\n      - {run: touch both}\n";
    let call = || Test::event("PostToolUse").payload("tool_name", "Read").config(config);
    let inside = call().run().silent();
    assert!(inside.has("coder") && inside.has("both") && !inside.has("main"));
    let main = call().without("agent_id").without("agent_type").run().silent();
    assert!(main.has("main") && main.has("both") && !main.has("coder"));
    let stop = Test::stop().config(
        "subagentStop: {commands: [{run: touch main, agent: main}, {run: touch coder, agent: coder}]}",
    );
    let stop = stop.run().silent();
    assert!(stop.has("coder") && !stop.has("main"));
}

/// A tool on the main thread that writes this file.
fn writes(test: Test, file: &str) -> Test {
    let path = test.root().join(file).display().to_string();
    test.without("agent_id")
        .without("agent_type")
        .payload("tool_name", "Write")
        .payload("tool_input", json!({ "file_path": path }))
}

#[test]
fn files_limits_a_command_to_what_a_tool_writes() {
    let config = "postToolUse: {commands: [{run: 'printf \"%s\\n\" {files} > got; echo \"$CONCLAUDE_FILES\" >> got', files: ['src/**', '!*.md']}]}";
    let test = |file: &str| writes(Test::event("PostToolUse").config(config), file).run().silent();
    assert_eq!(test("src/a b's.ts").read("got"), "src/a b's.ts\nsrc/a b's.ts\n");
    assert!(!test("src/README.md").has("got"), "excluded");
    assert!(!test("lib/a.ts").has("got"), "elsewhere");
    let read = writes(Test::event("PostToolUse").config(config), "src/a.ts").payload("tool_name", "Read");
    assert!(!read.run().silent().has("got"), "reading changes nothing");
    let bash = writes(Test::event("PostToolUse").config(config), "")
        .payload("tool_name", "Bash")
        .payload("tool_input", json!({"command": "sed -i s/a/b/ src/x.ts && cat src/y.ts | tee src/z.ts"}));
    assert_eq!(bash.run().silent().read("got"), "src/x.ts\nsrc/z.ts\nsrc/x.ts\nsrc/z.ts\n");
}

#[test]
fn files_are_named_from_the_folder_of_the_command() {
    let config = "postToolUse: {commands: [{run: 'echo {files} > got', files: ['*.ts'], cwd: packages/a}]}";
    let test = |file: &str| {
        let test = Test::event("PostToolUse").config(config).file("packages/a/package.json", "{}");
        writes(test, file).run().silent().read("packages/a/got")
    };
    assert_eq!(test("packages/a/x.ts"), "x.ts\n");
    assert_eq!(test("packages/b/-x.ts"), "../../packages/b/-x.ts\n");
}

#[test]
fn files_at_a_batch_are_those_of_all_its_tools() {
    let config = "postToolBatch: {commands: [{run: 'echo {files} > got', files: ['*.txt']}]}";
    let calls = ["a.txt", "b.rs", "c.txt", "a.txt"]
        .map(|file| json!({"tool_name": "Write", "tool_input": {"file_path": file}}));
    let done = Test::event("PostToolBatch").config(config).payload("tool_calls", json!(calls)).run().silent();
    assert_eq!(done.read("got"), "a.txt c.txt\n");
}

/// A line of a transcript in which a tool writes a file.
fn write_line(file: &str) -> String {
    let call = json!({"type": "tool_use", "id": file, "name": "Write", "input": {"file_path": file}});
    json!({"type": "assistant", "message": {"role": "assistant", "content": [call]}}).to_string()
}

fn prompt_line(text: &str) -> String {
    json!({"type": "user", "message": {"role": "user", "content": text}}).to_string()
}

#[test]
fn files_at_a_stop_are_what_the_agent_wrote_and_is_still_there() {
    let lines = [prompt_line("do it"), write_line("src/a.ts"), write_line("src/gone.ts"), write_line("b.md")];
    let config =
        "subagentStop: {commands: [{run: 'echo {files} > got', files: ['*.ts']}]}\ndes: {enabled: false}";
    let test = Test::stop().config(config).file("main/subagents/agent-a1b2c3.jsonl", lines.join("\n") + "\n");
    assert_eq!(test.file("src/a.ts", "").file("b.md", "").run().silent().read("got"), "src/a.ts\n");
}

#[test]
fn files_at_the_main_thread_s_stop_are_those_since_the_last_prompt() {
    let feedback = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "Stop hook feedback:\nno"}});
    let result = json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "new.ts"}]}});
    let lines = [
        prompt_line("first"),
        write_line("old.ts"),
        prompt_line("second"),
        write_line("new.ts"),
        result.to_string(),
        prompt_line("<task-notification>\n<task-id>a1</task-id>"),
        feedback.to_string(),
        json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "This session is being continued"}}).to_string(),
        write_line("newer.ts"),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "cd src && echo x > shell.ts; cat old.ts"}},
        ]}})
        .to_string(),
    ];
    let config = "stop: {commands: [{run: 'echo {files} > got', files: ['*.ts']}]}";
    let test = ["old.ts", "new.ts", "newer.ts", "src/shell.ts"]
        .iter()
        .fold(main_stop(config), |test, file| test.file(file, ""));
    let done = test.file("main.jsonl", lines.join("\n") + "\n").run().silent();
    assert_eq!(done.read("got"), "new.ts newer.ts src/shell.ts\n");
}

#[test]
fn files_that_are_too_many_for_one_script_are_given_to_several() {
    let name = |at: usize| format!("{}{at:04}.ts", "n".repeat(100));
    let calls: Vec<Value> =
        (0..600).map(|at| json!({"tool_name": "Write", "tool_input": {"file_path": name(at)}})).collect();
    let test = |config: &str| {
        Test::event("PostToolBatch").config(config).payload("tool_calls", json!(calls)).run().silent()
    };
    let run = "printf '%s\\n' {files} >> got; echo \"$CONCLAUDE_FILES\" >> listed; echo x >> runs";
    let config =
        |run: &str| json!({"postToolBatch": {"commands": [{"run": run, "files": ["*.ts"]}]}}).to_string();
    let done = test(&config(run));
    let all: String = (0..600).map(|at| name(at) + "\n").collect();
    assert_eq!((done.read("got"), done.read("listed")), (all.clone(), all));
    assert_eq!(done.read("runs"), "x\nx\nx\n");
    let once = test(&config("echo \"$CONCLAUDE_FILES\" >> listed"));
    let listed = once.read("listed");
    assert!(listed.lines().eq((0..listed.lines().count()).map(name)), "whole names");
    assert!(
        once.stderr.contains("CONCLAUDE_FILES has 284 of 600 files; `{files}` names all"),
        "{}",
        once.stderr
    );
}

#[test]
fn a_check_with_files_is_known_by_its_text_in_the_config() {
    let config =
        "stop: {commands: [{run: 'echo {files} > got; test -e fixed', files: ['*.ts'], message: 'fix it'}]}";
    let test = main_stop(config).file("a.ts", "").file("b.ts", "");
    let first = [prompt_line("do it"), write_line("a.ts")].join("\n") + "\n";
    let done = test.file("main.jsonl", first.as_str()).run();
    assert_snapshot!(done.blocked(), @"
    conclaude: you may not stop yet (block 1 of 3):
    ✗ fix it
      `echo {files} > got; test -e fixed` exited with code 1
    Fix what is marked ✗, then finish again.
    ");
    let more = first + &write_line("b.ts") + "\n";
    let done = done.again().file("main.jsonl", more.as_str()).file("fixed", "").run();
    assert_snapshot!(done.message(), @"conclaude: ✓ main thread: `echo {files} > got; test -e fixed` passed after 1 block");
    assert_eq!(done.read("got"), "a.ts b.ts\n");
}

/// A stop of the main thread.
fn main_stop(config: &str) -> Test {
    Test::event("Stop")
        .config(config)
        .without("agent_id")
        .without("agent_type")
        .payload("stop_hook_active", false)
        .payload("background_tasks", json!([]))
}

#[test]
fn a_stop_of_the_main_thread_is_blocked_up_to_the_limit_and_again_after_the_next_prompt() {
    let config = "maxBlocks: 2\nstop: {commands: [{run: 'echo no; test -e fixed'}]}";
    let done = main_stop(config).run();
    assert_snapshot!(done.blocked(), @"
    conclaude: you may not stop yet (block 1 of 2):
    ✗ `echo no; test -e fixed` exited with code 1
      no
    Fix what is marked ✗, then finish again.
    ");
    let done = done.again().payload("stop_hook_active", true).run();
    assert_snapshot!(done.blocked().lines().next().unwrap(), @"conclaude: you may not stop yet (block 2 of 2):");
    let done = done.again().run();
    assert_snapshot!(done.message(), @"
    conclaude: ✗ `echo no; test -e fixed` exited with code 1
      no
    This would have blocked, but the agent may stop: it was blocked 2 times already (maxBlocks).
    ");
    let notified =
        done.again().then("UserPromptSubmit").payload("prompt", "<task-notification>\n<task-id>a</task-id>");
    let done = notified.run().again().then("Stop").run();
    assert_eq!(done.code, Some(0), "a notification is no prompt of the user");
    let asked = done.again().then("UserPromptSubmit").payload("prompt", "go on").run();
    let done = asked.again().then("Stop").run();
    assert_snapshot!(done.blocked().lines().next().unwrap(), @"conclaude: you may not stop yet (block 1 of 2):");
    let done = done.again().file("fixed", "").run();
    assert_snapshot!(done.message(), @"conclaude: ✓ main thread: `echo no; test -e fixed` passed after 1 block");
    assert_snapshot!(done.again().run().snapshot(), @r#"
    exit 0
    ----- stderr
    conclaude: info: Processing Stop hook: session_id=session-1
    conclaude: info: pattern "*": `echo no; test -e fixed` exited with code 0 in [DURATION]
    "#);
}

#[test]
fn a_stop_that_times_out_is_blocked_once_for_a_prompt() {
    let config = "stop: {commands: [{run: sleep 60, timeout: 1}]}";
    let done = main_stop(config).run();
    assert_snapshot!(done.blocked(), @"
    conclaude: you may not stop yet (block 1 of 3):
    ✗ `sleep 60` timed out after 1 s and was terminated
    Fix what is marked ✗, then finish again.
    ");
    assert_snapshot!(done.again().payload("stop_hook_active", true).run().message(), @"
    conclaude: ⚠ `sleep 60` timed out after 1 s and was terminated
      (it only warns now: an agent is blocked by timeouts once)
    ⚠ main thread: stopped after 1 block
    ");
}

#[test]
fn the_checks_of_a_stop_wait_for_background_agents() {
    let task = |kind: &str| json!([{"id": "a1", "type": kind, "status": "running", "agent_type": "coder"}]);
    let config = "stop: {commands: [{run: touch ran}], infinite: true}";
    let done = main_stop(config).payload("background_tasks", task("subagent")).run();
    assert_snapshot!(done.message(), @"conclaude: the checks of `stop` wait for 1 background agent (coder), and run at the stop after that");
    assert!(!done.has("ran"));
    assert!(
        done.again().payload("background_tasks", task("shell")).run().has("ran"),
        "a server may run for ever"
    );
    main_stop("maxBlocks: 3").payload("background_tasks", task("subagent")).run().silent();
}

#[test]
fn infinite_makes_claude_go_on_as_often_as_blocks_are_allowed() {
    let done = main_stop("maxBlocks: 1\nstop: {infinite: true, infiniteMessage: 'take the next item'}").run();
    assert_snapshot!(done.blocked(), @"
    take the next item
    (conclaude: `stop.infinite`, 1 of 1 for this prompt)
    ");
    assert_eq!(done.audit().pop().unwrap()["decision"], "blocked", "every refusal is recorded");
    let done = done.again().payload("stop_hook_active", true).run();
    assert_snapshot!(done.message(), @"conclaude: `stop.infinite` made Claude go on 1 time (maxBlocks): it may stop now");
    let done = done.again().run();
    assert_eq!(
        (done.code, done.stdout.contains("block")),
        (Some(0), false),
        "until the next prompt: {}",
        done.stdout
    );
}

#[test]
fn a_worktree_is_the_path_that_a_command_prints_and_nothing_else() {
    let create = |run: &str| {
        let config = json!({"worktreeCreate": {"commands": [{"run": run}]}}).to_string();
        Test::event("WorktreeCreate").payload("name", "wt").config(&config).run()
    };
    let done = create("echo Preparing; echo \"/tmp/$CONCLAUDE_NAME\"; echo noise >&2");
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "/tmp/wt\n"));
    let done = create("true");
    assert_snapshot!(done.snapshot(), @"
    exit 2
    ----- stderr
    conclaude: the worktree is not created:
    ✗ NO_WORKTREE: no command of `worktreeCreate` has printed a path → the last line that one prints must be the path of the worktree that it made
    ");
    let record = done.audit().pop().unwrap();
    assert_eq!(
        (&record["decision"], &record["findings"][0]["code"]),
        (&json!("blocked"), &json!("NO_WORKTREE"))
    );
    assert_snapshot!(create("echo 'no room' >&2; exit 1").snapshot(), @"
    exit 2
    ----- stderr
    conclaude: the worktree is not created:
    ✗ `echo 'no room' >&2; exit 1` exited with code 1
      no room
    ");
}

#[test]
fn what_a_command_prints_is_context_where_claude_can_be_given_some() {
    let config =
        "userPromptSubmit: {commands: [{run: 'echo branch main', context: true}, {run: echo unseen}]}";
    let test = Test::event("UserPromptSubmit").payload("prompt", "hi").config(config);
    assert_snapshot!(test.run().snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": "branch main"
      }
    }
    ----- stderr
    conclaude: info: Processing UserPromptSubmit hook: session_id=session-1, agent_id=a1b2c3
    conclaude: info: pattern "*": `echo branch main` exited with code 0 in [DURATION]
    conclaude: info: pattern "*": `echo unseen` exited with code 0 in [DURATION]
    "#);
    let config = "notification: {commands: [{run: echo x, context: true}]}\nsetup: {commands: [{run: x, files: ['*']}]}\nfileChanged: {commands: {'*.ts': [{run: x}]}}\npostToolUse: {commands: [{run: 'eslint {files}'}]}\nmessageDisplay: {commands: {x: [{run: x}]}}";
    assert_snapshot!(Test::event("Stop").config(config).shows(&["validate"]), @r#"
    exit 0
    ----- stdout
    warning: notification: `context` has no effect
     --> [ROOT]/.conclaude.yaml:1:50
      |
    1 | notification: {commands: [{run: echo x, context: true}]}
      |                                                  ^^^^ Claude is given nothing at Notification

    warning: setup: `x` never runs: it has `files`
     --> [ROOT]/.conclaude.yaml:2:29
      |
    2 | setup: {commands: [{run: x, files: ['*']}]}
      |                             ^^^^^ Setup is about no files
      |
      = help: remove `files`

    warning: fileChanged: Claude Code watches files by name
     --> [ROOT]/.conclaude.yaml:3:26
      |
    3 | fileChanged: {commands: {'*.ts': [{run: x}]}}
      |                          ^^^^^^ none is called `*.ts`
      |
      = help: list the names

    warning: postToolUse: `eslint {files}` has `{files}` but no `files`
     --> [ROOT]/.conclaude.yaml:4:32
      |
    4 | postToolUse: {commands: [{run: 'eslint {files}'}]}
      |                                ^^^^^^^^^^^^^^^^ so it stays as it is
      |
      = help: add `files: ["*"]`

    warning: messageDisplay: `x` can never match
     --> [ROOT]/.conclaude.yaml:5:29
      |
    5 | messageDisplay: {commands: {x: [{run: x}]}}
      |                             ^ MessageDisplay has nothing to compare
      |
      = help: use `*`, or a plain list

    valid: [ROOT]/.conclaude.yaml
      notification: 1 pattern, 1 command
      setup: 1 pattern, 1 command
      fileChanged: 1 pattern, 1 command
      postToolUse: 1 pattern, 1 command
      messageDisplay: 1 pattern, 1 command
    "#);
}

#[test]
fn a_failure_at_an_event_that_nobody_sees_is_shown_at_the_next_stop() {
    let config = "notification: {commands: [{run: 'echo broken; exit 1'}]}";
    let done = Test::event("Notification").payload("notification_type", "x").config(config).run().silent();
    let stop = done.again().then("Stop").without("agent_id").without("agent_type").run();
    assert_snapshot!(stop.message(), @"
    conclaude: ⚠ `echo broken; exit 1` exited with code 1
      broken
    ");
}
