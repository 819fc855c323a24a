//! What the event is, by options or as a payload.

use super::*;

#[test]
fn a_payload_may_come_on_stdin_and_name_a_folder_that_is_elsewhere() {
    let test = project();
    let mut command = conclaude_in(&test.root());
    command
        .args(["explain", "--payload", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let payload = crate::common::capture("variants/PreToolUse.Write.json");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &payload).unwrap();
    let shown = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert_snapshot!(crate::common::snapshot::steady(&shown, &test.root()), @r#"
    PreToolUse: Write of the agent coder → allowed
      file_path: /home/user/project/greeting.txt
      content: hello
      no rule forbids it, and no command runs
    ⚠ its folder "/home/user/project" is not here: [ROOT] is
      taken instead
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs
    `--all` shows the config files, every rule that was compared, and every answer
    "#);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_write() {
    let test = project().file("unnamed.json", "{\"hook_event_name\":5}");
    let test = test.file("write.json", "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\"}");
    let refused = |arguments: &[&str]| {
        let (code, out, err) = run_in(&test.root(), &[&["explain"], arguments].concat());
        assert_eq!((code, out.as_str()), (Some(1), ""), "{arguments:?}");
        err
    };
    let all = [
        refused(&["PreToolUs", "--file", "x"]),
        refused(&["Zzz zzz"]),
        refused(&["Nope"]),
        refused(&["Stop", "--payload", "write.json"]),
        refused(&["--payload", "write.json", "--permission-mode", "plan"]),
        refused(&[]),
        refused(&["PreToolUse"]),
        refused(&["Stop", "--agent", "coder"]),
        refused(&["Stop", "--command", "ls"]),
        refused(&["SessionStart", "--file", "x"]),
        refused(&["PreToolUse", "--tool", "WebFetch", "--file", "x"]),
        refused(&["PreToolUse", "--tool", "Write", "--command", "ls"]),
        refused(&["PreToolUse", "--tool", "write", "--file", "x"]),
        refused(&["PreToolUse", "--input", "[1]"]),
        refused(&["PreToolUse", "--input", "{"]),
        refused(&["PreToolUse", "--input", "{}"]),
        refused(&["--payload", "missing.json"]),
        refused(&["--payload", "unnamed.json"]),
        refused(&["--payload", "src/main.rs"]),
    ];
    assert_snapshot!(all.concat(), @"
    conclaude: unknown event `PreToolUs`; did you mean `PreToolUse`?
    conclaude: unknown event `Zzz zzz`; `conclaude events` lists them
    conclaude: unknown event `Nope`: this version does not know it, and the config has no section `nope`; `conclaude events` lists them
    conclaude: Stop was named, but the `hook_event_name` of the payload is PreToolUse: leave the event out, or take a payload of Stop
    error: the argument '--payload <FILE>' cannot be used with '--permission-mode <MODE>'

    Usage: conclaude explain --payload <FILE> [EVENT]

    For more information, try '--help'.
    conclaude: name an event, such as `conclaude explain PreToolUse --file .env`
    conclaude: PreToolUse needs a tool: add --command CMD, --file PATH or --tool NAME
    conclaude: Stop comes from the main thread: --agent has no meaning there; SubagentStop is the stop of an agent
    conclaude: Stop has no tool: --tool and --command have no meaning there; PreToolUse and PostToolUse have one
    conclaude: SessionStart is not about a file: --file has no meaning there
    conclaude: WebFetch has no file: use --command, or --input
    conclaude: --command is the command of Bash, Monitor or PowerShell, and the tool is Write: use --input
    conclaude: Claude Code has no tool `write`; did you mean `Write`?
    conclaude: --input is JSON, but not an object: {…} is expected
    conclaude: --input is not JSON: EOF while parsing an object at line 1 column 1
    conclaude: --input needs --tool NAME
    conclaude: missing.json: No such file or directory (os error 2)
    conclaude: the payload has no `hook_event_name` that is a text: name the event
    conclaude: the payload src/main.rs is not JSON: EOF while parsing a value at line 1 column 0
    ");
}

#[test]
fn an_unknown_tool_or_agent_gets_a_suggestion() {
    assert_snapshot!(explained(&project(), &["PreToolUse", "--tool", "Wriet", "--agent", "codr"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Wriet of the agent codr → allowed
      no rule forbids it, and no command runs
    ⚠ no tool Wriet is known; did you mean Write?
    ⚠ no agent codr is known here; did you mean coder?
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      it touches no file that its input names

    Guards
      · each of 3 uneditableFiles in .conclaude.yaml:4-6 is not compared: nothing is
        written or deleted
          "*.lock", "src/gen/", "!src/gen/keep.md"
      · unreadableFiles ".env*" in .conclaude.yaml:7 is not compared: nothing is
        read
      · preventRootAdditions in .conclaude.yaml:8 is not compared: no file is
        written
      · each of 2 toolUsageValidation in .conclaude.yaml:10-11 does not apply to
        Wriet
          "Bash git push --force*", "Bash git *"
      · worktreeFence is not compared: no file is written

    Gates
      none applies: no prompt with DES markers is known for this agent (a real
      payload, with --payload, names its transcript)

    Commands, in this order
      none runs
      · ./audit-shell
         preToolUse.commands "Bash" in .conclaude.yaml:13 does not match Wriet

    Answer
      allowed (exit 0)
    "#);
}

#[test]
fn an_event_happens_in_the_folder_that_is_named() {
    let test = Test::stop()
        .config("preToolUse: {uneditableFiles: ['/part/*.lock']}")
        .file("part/a.lock", "")
        .file("text", "");
    let answered = |test: &Test, arguments: &[&str]| {
        let shown = explained(test, arguments);
        shown.split_once("\nAnswer\n").unwrap().1.to_owned()
    };
    let event = ["PreToolUse", "--file", "a.lock"];
    assert_snapshot!(answered(&test, &event), @"  allowed (exit 0)");
    assert_snapshot!(answered(&test, &[&event[..], &["--cwd", "part"]].concat()), @"
    denied (exit 2)
      Writing part/a.lock is not allowed: `uneditableFiles` has `/part/*.lock`. Do
      it another way, or ask the user. (.conclaude.yaml:1)
    ");
    let test = test.file("payload.json", json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/nowhere", "tool_name": "Write", "tool_input": {"file_path": "a.lock"}}).to_string());
    assert_snapshot!(answered(&test, &["--payload", "payload.json", "--cwd", "part"]), @"
    denied (exit 2)
      Writing part/a.lock is not allowed: `uneditableFiles` has `/part/*.lock`. Do
      it another way, or ask the user. (.conclaude.yaml:1)
    ");
    let errors = [&["--cwd", "none"], &["--cwd", "text"]]
        .map(|wrong: &[&str; 2]| run_in(&test.root(), &[&["explain"], &event[..], &wrong[..]].concat()).2);
    assert_snapshot!(errors.concat(), @"
    conclaude: --cwd none: No such file or directory (os error 2)
    conclaude: --cwd text is not a folder
    ");
}

#[test]
fn a_section_of_an_event_that_this_version_does_not_know_names_it() {
    let test = Test::stop().config("futureEvent: {commands: [{run: 'true'}, {run: 'false'}]}\n");
    let first = |name: &str| test.shows(&["explain", "--all", name]).lines().nth(2).unwrap().to_owned();
    assert_eq!(
        (first("futureEvent"), first("FutureEvent")),
        (
            "FutureEvent on the main thread → allowed if all succeed".into(),
            "FutureEvent on the main thread → allowed if all succeed".into()
        )
    );
}

#[test]
fn rules_in_one_line_of_the_config_have_one_line() {
    let test = Test::stop().config("preToolUse: {uneditableFiles: ['*.a', '*.b']}\n");
    let shown = test.shows(&["explain", "--all", "PreToolUse", "--file", "x"]);
    assert!(shown.contains("each of 2 uneditableFiles in .conclaude.yaml:1 does"), "{shown}");
}

#[test]
fn a_tool_that_is_denied_by_its_command_is_not_called_unknown() {
    let test = Test::stop().config(
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: \"npm publish*\", action: block}]}\n",
    );
    assert_snapshot!(explained(&test, &["PreToolUse", "--tool", "Monitor", "--command", "npm publish"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Monitor on the main thread → denied
      command: npm publish
      ✗ toolUsageValidation "Bash npm publish*" in .conclaude.yaml:1 matches npm
        publish, and blocks it
          Do it another way, or ask the user.
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      runs `npm publish`
      ? the effects of `npm` are unknown

    Guards
      ✗ toolUsageValidation "Bash npm publish*" in .conclaude.yaml:1 matches npm
        publish, and blocks it
      · worktreeFence is not compared: no file is written

    Gates
      none applies: on the main thread only calls of agents have one

    Commands, in this order
      none runs

    Answer
      denied (exit 2)
        Running `npm publish` is not allowed: `toolUsageValidation` has `Bash npm
        publish*`. Do it another way, or ask the user. (.conclaude.yaml:1)
    "#);
    let unknown = explained(&test, &["PreToolUse", "--tool", "Frobnicate"]);
    assert_snapshot!(unknown.lines().skip(3).take(2).collect::<Vec<_>>().join("\n"), @"
      no rule forbids it, and no command runs
    ⚠ no tool Frobnicate is known: its name is compared, and files that its input
    ");
}

/// Looking at the stop of an agent that nobody started noted that one had arrived.
#[test]
fn explaining_the_stop_of_no_agent_writes_nothing() {
    let test =
        Test::stop().payload("agent_id", "hook-agent-1").file(".conclaude/state/last/SessionStart", "");
    let payload = test.input();
    let test = test.file("stop.json", payload);
    assert_snapshot!(explained(&test, &["SubagentStop", "--payload", "stop.json"]), @"
    exit 0
    ----- stdout
    SubagentStop on the main thread
    ⚠ no agent coder is known here: there is no file for it in .claude/agents
    ⚠ SubagentStop is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs
    Nothing happens: this is the stop of an agent that nobody started.
    ");
    let arrived = std::fs::read_dir(test.root().join(".conclaude/state/last")).unwrap();
    let arrived: Vec<_> = arrived.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(arrived, ["SessionStart"]);
}
