//! What each event is answered with.

use super::*;

#[test]
fn a_failure_that_blocks_is_answered_as_each_event_takes_it() {
    let mut answers: std::collections::BTreeMap<String, Vec<&str>> = std::collections::BTreeMap::new();
    for event in ALL {
        let section = event.row().section;
        let config = format!("{section}: {{commands: [{{run: 'echo why; exit 3', onFailure: block}}]}}");
        let done = real(*event).config(&config).run();
        let answer = match done.stderr.contains("cannot be blocked") {
            true => format!("a config error, exit {}", done.code.unwrap()),
            false => {
                let why = r"✗ `echo why; exit 3` exited with code 3\n  why";
                let is_empty = done.stdout.is_empty();
                let said = if is_empty { format!("{:?}", done.stderr) } else { done.stdout.clone() };
                let said = said.trim_end().replace(why, "[WHY]").replace(event.name(), "[EVENT]");
                let is_on_stderr = is_empty || done.snapshot().ends_with("----- stderr: the same");
                format!(
                    "exit {}: {said}{}",
                    done.code.unwrap(),
                    if is_on_stderr { ", on stderr" } else { "" }
                )
            }
        };
        answers.entry(answer).or_default().push(event.name());
    }
    let shown = answers.into_iter().map(|(answer, events)| format!("{}\n  {answer}", events.join(" ")));
    assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
    SessionStart SubagentStart SessionEnd PermissionDenied Setup StopFailure Notification PostCompact PostModelSwitch InstructionsLoaded CwdChanged FileChanged DirectoryAdded WorktreeRemove MessageDisplay
      a config error, exit 1
    PostToolBatch
      exit 0: {"hookSpecificOutput":{"hookEventName":"[EVENT]","additionalContext":"conclaude: after this tool call:\n[WHY]\nFix what is marked ✗."}}
    PermissionRequest
      exit 0: {"hookSpecificOutput":{"hookEventName":"[EVENT]","decision":{"behavior":"deny","message":"conclaude denies this permission:\n[WHY]"}}}
    WorktreeCreate
      exit 2: "conclaude: the worktree is not created:\n[WHY]\n", on stderr
    PreCompact
      exit 2: {"decision":"block","reason":"conclaude blocks the compaction:\n[WHY]"}, on stderr
    PreModelSwitch
      exit 2: {"decision":"block","reason":"conclaude blocks the switch to another model:\n[WHY]"}, on stderr
    ElicitationResult
      exit 2: {"decision":"block","reason":"conclaude blocks this answer:\n[WHY]"}, on stderr
    ConfigChange
      exit 2: {"decision":"block","reason":"conclaude blocks this change of the settings:\n[WHY]"}, on stderr
    UserPromptSubmit
      exit 2: {"decision":"block","reason":"conclaude blocks this prompt:\n[WHY]"}, on stderr
    UserPromptExpansion
      exit 2: {"decision":"block","reason":"conclaude blocks this slash command:\n[WHY]"}, on stderr
    TaskCreated
      exit 2: {"decision":"block","reason":"conclaude blocks this task:\n[WHY]"}, on stderr
    Elicitation
      exit 2: {"decision":"block","reason":"conclaude declines this question:\n[WHY]"}, on stderr
    PostToolUse PostToolUseFailure
      exit 2: {"decision":"block","reason":"conclaude: after this tool call:\n[WHY]\nFix what is marked ✗."}, on stderr
    SubagentStop
      exit 2: {"decision":"block","reason":"conclaude: coder (ae7af48d32583d25f) may not stop yet (block 1 of 3):\n[WHY]\nFix what is marked ✗, then give your complete report again: your caller sees only your last message."}, on stderr
    TaskCompleted
      exit 2: {"decision":"block","reason":"conclaude: this task may not be completed yet (block 1 of 3):\n[WHY]\nFix what is marked ✗, then complete it again."}, on stderr
    Stop TeammateIdle
      exit 2: {"decision":"block","reason":"conclaude: you may not stop yet (block 1 of 3):\n[WHY]\nFix what is marked ✗, then finish again."}, on stderr
    PreToolUse
      exit 2: {"hookSpecificOutput":{"hookEventName":"[EVENT]","permissionDecision":"deny","permissionDecisionReason":"conclaude denies this tool:\n[WHY]"}}, on stderr
    "#);
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
      |                                                  ^^^^ Claude reads no context at Notification

    warning: setup: `x` never runs: it has `files`
     --> [ROOT]/.conclaude.yaml:2:29
      |
    2 | setup: {commands: [{run: x, files: ['*']}]}
      |                             ^^^^^ Setup is about no files
      |
      = help: remove `files`

    warning: fileChanged: `*.ts` is not watched
     --> [ROOT]/.conclaude.yaml:3:26
      |
    3 | fileChanged: {commands: {'*.ts': [{run: x}]}}
      |                          ^^^^^^ Claude Code watches files and folders by name, and no pattern without one
      |
      = help: name the files, or start with a folder: `src/**/*.rs`

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
fn a_worktree_that_no_command_may_make_is_refused_with_the_reason() {
    let config = "worktreeCreate: {commands: [{run: 'echo /tmp', agent: nobody}]}";
    let test = Test::event("WorktreeCreate").payload("name", "x").without("agent_id").without("agent_type");
    let answer = test.config(config).run();
    assert_snapshot!(answer.snapshot(), @"
    exit 2
    ----- stderr
    conclaude: the worktree is not created:
    ✗ NO_WORKTREE: no command of `worktreeCreate` is for this event → `conclaude explain` says why each does not run
    ");
    let test = Test::event("WorktreeCreate").payload("name", "x").flag("--if-trusted");
    let answer = test.config("worktreeCreate: {commands: [{run: 'echo /tmp'}]}").run();
    assert_snapshot!(answer.snapshot(), @"
    exit 2
    ----- stderr
    conclaude: the worktree is not created:
    ✗ NO_WORKTREE: no command of `worktreeCreate` may run: [ROOT]/.conclaude.yaml is not trusted → look at it with `conclaude trust`
    ⚠ `echo /tmp` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
}
