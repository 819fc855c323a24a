//! Commands on every event, with the payload that Claude Code really sends.

mod answers;
mod files;
mod main_stop;

use conclaude_core::event::{ALL, EventKind, Subject};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, capture, run_in};

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
                // Whole, as JSON.
                Value::Object(_) if field == "tool_input" => Some(value.to_string()),
                Value::String(text) => Some(text.clone()),
                Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
                _ => None,
            };
            assert_eq!(has(&name).map(str::to_owned), expected, "{event}: {name}");
        }
        if real_payload(event)["trigger"].is_null() {
            assert_eq!(has("TRIGGER"), None, "{event}: that of an outer hook is removed");
        }
        let (_, listed, _) = run_in(&Test::event("Stop").root(), &["events", event.name(), "--json"]);
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
    SubagentStop         subagentStop         the agent's name                 the agent continues, up to maxBlocks
    Stop                 stop                 -                                the agent continues, up to maxBlocks
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
    TeammateIdle         teammateIdle         teammate_name                    the agent continues, up to maxBlocks
    Elicitation          elicitation          mcp_server_name                  it is declined
    ElicitationResult    elicitationResult    mcp_server_name                  it is declined
    ConfigChange         configChange         source                           it does not happen
    InstructionsLoaded   instructionsLoaded   load_reason                      -
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
      registered        with commands, `enforce: [sandbox]`, `budget` with `then: ask`, notifications, gates or commands of events that show nothing themselves
      variables
        CONCLAUDE_TOOL_NAME
        CONCLAUDE_TOOL_USE_ID
        CONCLAUDE_DURATION_MS
        CONCLAUDE_CLIENT_TOOL_NAME
        CONCLAUDE_FILE_PATH
        CONCLAUDE_COMMAND
        CONCLAUDE_TOOL_INPUT
        CONCLAUDE_TOOL_TIMESTAMP
        CONCLAUDE_TOOL_OUTPUT
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
        CONCLAUDE_COMMAND_ID
        CONCLAUDE_CLIENT
        CONCLAUDE_FILES (with `files`)
    ");
    let registered = |event: &str| {
        let (_, out, _) = run_in(&test.root(), &["events", event]);
        out.lines().find(|line| line.contains("registered")).unwrap_or_default().to_owned()
    };
    let events = [
        "PreToolUse",
        "PermissionRequest",
        "UserPromptSubmit",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "MessageDisplay",
    ];
    assert_snapshot!(events.map(registered).join("\n"), @"
    registered        with commands, guards, `budget`, notifications or gates
    registered        with commands, `allow`, `deny`, `default` or notifications
    registered        with commands, `contextRules`, `slashCommands`, commands of `stop`, `budget`, notifications, gates or commands of events that show nothing themselves
    registered        with commands, `infinite`, `budget`, notifications, gates or commands of events that show nothing themselves
    registered        with commands, `budget`, notifications or gates
    registered        with commands or notifications
    registered        only with commands: that changes what Claude Code does, or costs a process with every word
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
        "CONCLAUDE_COMMAND_ID",
        "CONCLAUDE_CLIENT",
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

#[test]
fn commands_get_the_tool_s_input_and_output_as_json_and_the_time() {
    let config = r#"postToolUse: {commands: [{run: 'printf "%s\n" "$CONCLAUDE_TOOL_INPUT" "$CONCLAUDE_TOOL_OUTPUT" > got; date -d "$CONCLAUDE_TOOL_TIMESTAMP" > when'}]}"#;
    let test = Test::event("PostToolUse").config(config).payload("tool_name", "Bash");
    let test =
        test.payload("tool_input", json!({"command": "a 'b'"})).payload("tool_response", json!(["x\n", 1]));
    let done = test.run().silent();
    assert_eq!(done.read("got"), "{\"command\":\"a 'b'\"}\n[\"x\\n\",1]\n");
    assert!(done.has("when"));
    let shown = Test::stop().shows(&["events", "PostToolUse"]);
    for name in ["TOOL_INPUT", "TOOL_OUTPUT", "TOOL_TIMESTAMP", "COMMAND_ID"] {
        assert!(shown.contains(&format!("CONCLAUDE_{name}\n")), "{shown}");
    }
    assert!(Test::stop().shows(&["events", "PreToolUse"]).contains("CONCLAUDE_DES_STEP_FILE"));
}

#[test]
fn the_folder_of_the_config_is_known_where_only_a_local_one_is_there() {
    let test = Test::event("Notification").file(
        ".conclaude.local.yaml",
        "notification: {commands: [{run: 'echo \"$CONCLAUDE_CONFIG_DIR\" > got'}]}",
    );
    let root = test.root();
    assert_eq!(test.run().silent().read("got"), format!("{}\n", root.display()));
}

#[test]
fn a_variable_that_no_event_has_is_a_warning_with_a_suggestion() {
    let config =
        "stop: {commands: [{run: 'echo $CONCLAUDE_SESION_ID ${CONCLAUDE_TOOL_NAME} $CONCLAUDE_CWD'}]}";
    assert_snapshot!(Test::stop().config(config).shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: stop: `$CONCLAUDE_SESION_ID` is not set
     --> [ROOT]/.conclaude.yaml:1:25
      |
    1 | stop: {commands: [{run: 'echo $CONCLAUDE_SESION_ID ${CONCLAUDE_TOOL_NAME} $CONCLAUDE_CWD'}]}
      |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ no event has it
      |
      = help: did you mean `$CONCLAUDE_SESSION_ID`?

    warning: stop: `$CONCLAUDE_TOOL_NAME` is not set
     --> [ROOT]/.conclaude.yaml:1:25
      |
    1 | stop: {commands: [{run: 'echo $CONCLAUDE_SESION_ID ${CONCLAUDE_TOOL_NAME} $CONCLAUDE_CWD'}]}
      |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ PreToolUse and others have it, Stop does not
      |
      = help: `conclaude events Stop` lists what Stop has

    valid: [ROOT]/.conclaude.yaml
      stop: 1 pattern, 1 command
    ");
}

/// A model writes the subject: a long one switched the rule off, and nothing was recorded.
#[test]
fn a_long_subject_of_a_task_is_compared() {
    let config = "taskCompleted: {commands: {'*deploy*': [{run: 'exit 1', onFailure: block}]}}\n";
    let subject = |middle: &str| format!("{0}{middle}{0}", "words ".repeat(100));
    let task = |middle: &str| {
        let test = Test::event("TaskCompleted").without("agent_id").config(config);
        test.payload("task_id", "1").payload("task_subject", subject(middle)).run()
    };
    assert_snapshot!(task("deploy").blocked(), @"
    conclaude: this task may not be completed yet (block 1 of 3):
    ✗ `exit 1` exited with code 1
    Fix what is marked ✗, then complete it again.
    ");
    task("build").silent();
}
