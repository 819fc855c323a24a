//! `conclaude run`: the commands of the config by hand and in CI.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::common::{Test, conclaude_in, run_in};

fn git(test: &Test, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let done = test.program("git").args(identity).args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with this config, in which `src/old.ts` and the like are committed.
fn repository(config: &str) -> Test {
    let test = Test::event("Stop").config(config).file("src/old.ts", "old\n").file("src/edited.ts", "a\n");
    let test = test.file(".gitignore", "/build\n/.conclaude\n/.*-home\n");
    git(&test, &["init", "-q"]);
    git(&test, &["add", "-A"]);
    git(&test, &["commit", "-q", "-m", "all"]);
    test
}

const CONFIG: &str = "
stop:
  commands:
    - {run: 'echo fine', show: failure}
    - {run: 'echo line 7 is odd; exit 3', message: Linting failed}
    - {run: 'echo {files}', files: ['*.rs']}
subagentStop:
  commands:
    '*':
      - {run: 'echo hint >&2; exit 1'}
      - {run: 'echo for main', agent: coder}
    coder:
      - {run: 'echo for $CONCLAUDE_SUBAGENT_NAME; cat', show: always}
";

#[test]
fn brackets_in_what_a_command_printed_stay_in_a_pipe() {
    let test = repository(r"stop: {commands: [{run: 'printf ''\033[31mexpected <b>x</b>\n''; exit 1'}]}");
    assert_snapshot!(test.shows(&["run", "stop"]), @r"
    exit 1
    ----- stdout
    ✗ `printf '\033[31mexpected <b>x</b>\n'; exit 1` exited with code 1 ([DURATION])
      expected <b>x</b>
    1 command: 1 failed
    ");
}

#[test]
fn a_line_for_each_command_and_the_output_of_failures() {
    let test = repository(CONFIG);
    assert_snapshot!(test.shows(&["run"]), @r#"
    exit 1
    ----- stdout
    stop
    ✓ `echo fine` ([DURATION])
    ✗ `echo line 7 is odd; exit 3` exited with code 3 ([DURATION])
      Linting failed
      line 7 is odd
    - `echo {files}` skipped: its `files` match nothing that has changed
    subagentStop
    ⚠ `echo hint >&2; exit 1` exited with code 1 ([DURATION])
      hint
    ✓ `echo for main` ([DURATION])
    ✓ `echo for $CONCLAUDE_SUBAGENT_NAME; cat` ([DURATION])
      for coder
      {"session_id":"conclaude-run","transcript_path":"[ROOT]/conclaude-run.jsonl","cwd":"[ROOT]","hook_event_name":"SubagentStop","permission_mode":"default","stop_hook_active":false,"background_tasks":[],"agent_id":"conclaude-run","agent_type":"unknown"}
    6 commands: 3 passed, 1 failed, 1 failed and would only warn, 1 skipped
    "#);
    assert_snapshot!(test.shows(&["run", "subagentStop"]), @r#"
    exit 0
    ----- stdout
    ⚠ `echo hint >&2; exit 1` exited with code 1 ([DURATION])
      hint
    ✓ `echo for main` ([DURATION])
    ✓ `echo for $CONCLAUDE_SUBAGENT_NAME; cat` ([DURATION])
      for coder
      {"session_id":"conclaude-run","transcript_path":"[ROOT]/conclaude-run.jsonl","cwd":"[ROOT]","hook_event_name":"SubagentStop","permission_mode":"default","stop_hook_active":false,"background_tasks":[],"agent_id":"conclaude-run","agent_type":"unknown"}
    3 commands: 2 passed, 1 failed and would only warn
    "#);
    assert_snapshot!(test.shows(&["run", "SubagentStop", "--strict"]).lines().next().unwrap(), @"exit 1");
    assert_snapshot!(test.shows(&["run", "--agent", "coder"]), @r#"
    exit 0
    ----- stdout
    ⚠ `echo hint >&2; exit 1` exited with code 1 ([DURATION])
      hint
    ✓ `echo for main` ([DURATION])
    ✓ `echo for $CONCLAUDE_SUBAGENT_NAME; cat` ([DURATION])
      for coder
      {"session_id":"conclaude-run","transcript_path":"[ROOT]/conclaude-run.jsonl","cwd":"[ROOT]","hook_event_name":"SubagentStop","permission_mode":"default","stop_hook_active":false,"background_tasks":[],"agent_id":"conclaude-run","agent_type":"coder"}
    3 commands: 2 passed, 1 failed and would only warn
    "#);
}

#[test]
fn the_files_are_those_that_have_changed_in_git() {
    let config =
        "postToolUse: {commands: {Write: [{run: 'echo {files} > got', files: ['*.ts', '!gen/**']}]}}";
    let test =
        repository(config).file("src/edited.ts", "b\n").file("src/new one.ts", "").file("gen/x.ts", "");
    let test = test.file("build/x.ts", "").file("staged.ts", "");
    git(&test, &["add", "staged.ts"]);
    git(&test, &["rm", "-q", "--cached", "src/old.ts"]);
    std::fs::remove_file(test.root().join("src/old.ts")).unwrap();
    let got = |arguments: &[&str]| {
        let (code, stdout, stderr) = run_in(&test.root(), arguments);
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        let file = test.root().join("got");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        text
    };
    assert_eq!(got(&["run", "postToolUse"]), "src/edited.ts src/new one.ts staged.ts\n");
    git(&test, &["add", "-A"]);
    git(&test, &["commit", "-q", "-m", "more"]);
    assert_eq!(got(&["run", "PostToolUse"]), "", "nothing has changed");
    assert_eq!(got(&["run", "PostToolUse", "--all-files"]), "src/edited.ts src/new one.ts staged.ts\n");
    assert_eq!(got(&["run", "PostToolUse", "--files", "src/", "*.md"]), "src/edited.ts src/new one.ts\n");
    assert_snapshot!(test.shows(&["run", "PostToolUse", "--files", "nothing.*"]), @"
    exit 1
    ----- stderr
    conclaude: no file of [ROOT] matches nothing.*; patterns are those of .gitignore, and ignored files do not count
    ");
}

#[test]
fn the_commands_of_every_event_can_be_run() {
    for event in conclaude_core::event::ALL {
        let config = format!("{}: {{commands: [{{run: 'cat > got'}}]}}", event.row().section);
        let test = Test::event("Stop").config(&config);
        let (code, stdout, stderr) = run_in(&test.root(), &["run", event.name()]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{event}: {stdout}");
        let got = std::fs::read(test.root().join("got")).unwrap();
        let payload: serde_json::Value = serde_json::from_slice(&got).unwrap();
        assert_eq!(payload["hook_event_name"], event.name());
    }
}

#[test]
fn a_project_without_git_needs_the_names_of_the_files() {
    let test = Test::event("Stop")
        .config("stop: {commands: [{run: 'echo {files}', files: ['*.ts'], show: always}]}");
    let test = test.file("a.ts", "");
    assert_snapshot!(test.shows(&["run"]), @"
    exit 1
    ----- stderr
    conclaude: [ROOT] is not in a git repository, so it is not known what has changed: use --files or --all-files
    ");
    assert_snapshot!(test.shows(&["run", "--all-files"]), @"
    exit 0
    ----- stdout
    stop
    ✓ `echo {files}` ([DURATION])
      a.ts
    1 command: 1 passed
    ");
}

#[test]
fn what_cannot_be_run_is_said() {
    let test = Test::event("Stop");
    assert_snapshot!(test.shows(&["run"]), @"
    exit 1
    ----- stderr
    conclaude: no config: neither .conclaude.yaml nor .conclaude.yml here nor in a folder above; `conclaude init` writes one
    ");
    let test = test.config("stop: {commands: [{run: true}]}");
    assert_snapshot!(test.shows(&["run"]), @r#"
    exit 1
    ----- stderr
    error: invalid value for `run`: `true`
     --> [ROOT]/.conclaude.yaml:1:25
      |
    1 | stop: {commands: [{run: true}]}
      |                         ^^^^ expected text that is not blank
      |
      = help: quote it to make it text: "true"

    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem
    "#);
    let test = test.config("stop: {commands: [{run: touch ran}]}");
    assert_snapshot!(test.shows(&["run", "Stpo"]), @"
    exit 1
    ----- stderr
    conclaude: unknown event `Stpo`; did you mean `Stop`?
    ");
    assert_snapshot!(test.shows(&["run", "SessionStart", "--agent", "coder"]), @"
    exit 1
    ----- stderr
    conclaude: SessionStart never comes from a subagent: leave --agent out, or name another event
    ");
    assert_snapshot!(test.shows(&["run", "SessionStart"]), @"
    exit 0
    ----- stdout
    nothing to run: no command is configured for this; `conclaude validate` lists what is
    ");
    assert_snapshot!(test.shows(&["run", "--all-files", "--files", "x"]), @"
    exit 1
    ----- stderr
    error: the argument '--all-files' cannot be used with '--files <GLOB>...'

    Usage: conclaude run --all-files [EVENT]

    For more information, try '--help'.
    ");
    // Registered by the user for all projects, only what the user trusts runs.
    run_in(&test.root(), &["install", "--user"]);
    assert_snapshot!(test.shows(&["run"]), @"
    exit 1
    ----- stderr
    conclaude: [ROOT]/.conclaude.yaml is not trusted, so nothing is run. Look at the file, then run `conclaude trust` in the project
    ");
    assert!(!test.root().join("ran").exists());
    run_in(&test.root(), &["trust", "--yes"]);
    assert_eq!(run_in(&test.root(), &["run"]).0, Some(0));
    assert!(test.root().join("ran").exists());
}

#[test]
fn git_is_asked_for_files_only_where_the_config_is_trusted() {
    let test = Test::event("Stop").config("stop: {commands: [{run: 'true', files: ['*']}]}");
    run_in(&test.root(), &["install", "--user"]);
    assert_snapshot!(test.shows(&["run"]), @"
    exit 1
    ----- stderr
    conclaude: [ROOT]/.conclaude.yaml is not trusted, so nothing is run. Look at the file, then run `conclaude trust` in the project
    ");
    run_in(&test.root(), &["trust", "--yes"]);
    assert_snapshot!(test.shows(&["run"]), @"
    exit 1
    ----- stderr
    conclaude: [ROOT] is not in a git repository, so it is not known what has changed: use --files or --all-files
    ");
}

#[test]
fn a_timeout_is_a_failure_that_blocks_and_a_folder_outside_is_refused() {
    let config =
        "stop: {commands: [{run: sleep 60, timeout: 1}, {run: touch ran, cwd: link, onFailure: warn}]}";
    let test = Test::event("Stop").config(config);
    #[cfg(unix)]
    std::os::unix::fs::symlink("/tmp", test.root().join("link")).unwrap();
    assert_snapshot!(test.shows(&["run"]), @"
    exit 1
    ----- stdout
    stop
    ✗ `sleep 60` timed out after 1 s and was terminated ([DURATION])
    ⚠ `touch ran` could not be started: its `cwd` link leads out of [ROOT], to /tmp ([DURATION])
    2 commands: 1 failed, 1 failed and would only warn
    ");
}

#[test]
fn the_same_command_at_both_stops_runs_once_and_fails_as_at_the_stricter() {
    let config = "
stop:
  commands:
    - {run: 'echo x >> count; exit 1', onFailure: warn}
    - {run: 'echo $CONCLAUDE_EVENT'}
subagentStop:
  commands:
    '*':
      - {run: 'echo x >> count; exit 1', onFailure: block}
      - {run: 'echo $CONCLAUDE_EVENT'}
      - {run: 'echo x >> count; exit 1', timeout: 600}
";
    let test = repository(config);
    assert_snapshot!(test.shows(&["run"]), @"
    exit 1
    ----- stdout
    stop
    ✗ `echo x >> count; exit 1` exited with code 1 ([DURATION])
    ✓ `echo $CONCLAUDE_EVENT` ([DURATION])
    subagentStop
    - `echo x >> count; exit 1` skipped: it ran at `stop`, above
    ✓ `echo $CONCLAUDE_EVENT` ([DURATION])
    ⚠ `echo x >> count; exit 1` exited with code 1 ([DURATION])
    5 commands: 2 passed, 1 failed, 1 failed and would only warn, 1 skipped
    ");
    assert_eq!(std::fs::read_to_string(test.root().join("count")).unwrap(), "x\nx\n");
}

#[test]
fn without_a_name_the_commands_of_all_agents_run_each_once() {
    let config = "
subagentStop:
  match: first
  commands:
    coder:
      - {run: 'echo $CONCLAUDE_SUBAGENT_NAME', show: always}
      - {run: 'echo lint >> count'}
    '{tester,qa}':
      - {run: 'echo $CONCLAUDE_AGENT_NAME', show: always}
      - {run: 'echo lint >> count'}
      - {run: 'echo for one', agent: tester}
";
    let test = repository(config);
    assert_snapshot!(test.shows(&["run"]), @"
    exit 0
    ----- stdout
    subagentStop
    ✓ `echo $CONCLAUDE_SUBAGENT_NAME` ([DURATION])
      coder
    ✓ `echo lint >> count` ([DURATION])
    ✓ `echo $CONCLAUDE_AGENT_NAME` ([DURATION])
      tester
    - `echo lint >> count` skipped: it ran at `subagentStop`, above
    ✓ `echo for one` ([DURATION])
    5 commands: 4 passed, 1 skipped
    ");
    assert_eq!(std::fs::read_to_string(test.root().join("count")).unwrap(), "lint\n");
}

#[test]
fn right_after_init_run_runs_what_was_written() {
    let test = Test::event("Stop").file("Makefile", "lint:\n\t@echo linted\ntest:\n\t@exit 3\n");
    run_in(&test.root(), &["init", "--yes"]);
    let shown = test.shows(&["run"]);
    assert!(shown.starts_with("exit 1") && shown.contains("✗ `make test`"), "{shown}");
}

#[test]
fn nothing_to_run_is_a_failure_where_that_is_asked_for() {
    let test = repository("maxBlocks: 3\n");
    assert_snapshot!(test.shows(&["run"]), @"
    exit 0
    ----- stdout
    nothing to run: no command is configured for this; `conclaude validate` lists what is
    ");
    assert_snapshot!(test.shows(&["run", "--strict"]), @"
    exit 1
    ----- stdout
    nothing to run: no command is configured for this; `conclaude validate` lists what is
    ");
}

#[test]
fn commands_that_are_all_skipped_are_a_failure_where_that_is_asked_for() {
    let test = repository("stop: {commands: [{run: 'touch ran', files: ['*.no-such-suffix']}]}\n");
    let (plain, strict) = (test.shows(&["run"]), test.shows(&["run", "--strict"]));
    assert!(plain.starts_with("exit 0") && strict.starts_with("exit 1"), "{plain}\n{strict}");
    assert!(!test.root().join("ran").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_commands_with_all_that_they_started() {
    use std::io::{BufRead, BufReader};
    let script = "exec 3> alive; (sleep 300; echo late >&3) & echo here >&3; trap '' TERM; wait";
    let test = Test::event("Stop")
        .config(&format!("stop: {{commands: [{{run: \"{script}\"}}, {{run: 'touch next'}}]}}"));
    let alive = test.root().join("alive");
    assert!(test.program("mkfifo").arg(&alive).status().unwrap().success());
    let mut command = conclaude_in(&test.root());
    let child = command.arg("run").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = BufReader::new(std::fs::File::open(&alive).unwrap());
    let mut line = String::new();
    pipe.read_line(&mut line).unwrap();
    assert!(test.program("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    // Each of them held the pipe open as long as it lived.
    pipe.read_line(&mut line).unwrap();
    assert_eq!(line, "here\n", "nobody lived to the end of its sleep");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "conclaude: interrupted by SIGINT\n");
    assert!(!test.root().join("next").exists(), "the next one is not started");
}

#[test]
fn an_event_behind_the_files_and_the_main_thread_are_understood() {
    let config = "
stop: {commands: [{run: 'echo {files}', files: ['*.ts'], show: always}, {run: 'echo main', agent: main}]}
subagentStop: {commands: {'*': [{run: 'echo agent'}]}}
";
    let test = repository(config);
    assert_snapshot!(test.shows(&["run", "--files", "src/old*", "none/**", "Stop"]), @"
    exit 0
    ----- stdout
    warning: --files `none/**` matches no file
    ✓ `echo {files}` ([DURATION])
      src/old.ts
    ✓ `echo main` ([DURATION])
    2 commands: 2 passed
    ");
    assert_snapshot!(test.shows(&["run", "--agent", "main"]), @"
    exit 0
    ----- stdout
    - `echo {files}` skipped: its `files` match nothing that has changed
    ✓ `echo main` ([DURATION])
    2 commands: 1 passed, 1 skipped
    ");
    assert_snapshot!(test.shows(&["run", "--agent", "main", "SubagentStop"]), @"
    exit 1
    ----- stderr
    conclaude: SubagentStop never comes from the main thread: leave `--agent main` out, or name another event
    ");
    assert_snapshot!(test.shows(&["run", "--agent", " "]), @"
    exit 1
    ----- stderr
    conclaude: --agent needs the name of a subagent, or `main` for the main thread
    ");
}

#[test]
fn a_command_of_a_tool_is_given_one_that_its_pattern_names() {
    let config = "postToolUse: {commands: {'{Write,Edit}': [{run: 'echo $CONCLAUDE_TOOL_NAME', show: always}], '*': [{run: 'echo any $CONCLAUDE_TOOL_NAME', show: always}]}}";
    assert_snapshot!(repository(config).shows(&["run", "postToolUse"]), @"
    exit 0
    ----- stdout
    ✓ `echo any $CONCLAUDE_TOOL_NAME` ([DURATION])
      any unknown
    ✓ `echo $CONCLAUDE_TOOL_NAME` ([DURATION])
      Write
    2 commands: 2 passed
    ");
}

#[test]
fn files_of_submodules_and_of_repositories_inside_count() {
    let test = repository("stop: {commands: [{run: 'echo {files}', files: ['*.ts'], show: always}]}");
    let test = test.file("module/clean.ts", "").file("nested/a.ts", "");
    for inner in ["module", "nested"] {
        git(&test, &["init", "-q", inner]);
    }
    git(&test, &["-C", "module", "add", "-A"]);
    git(&test, &["-C", "module", "commit", "-q", "-m", "all"]);
    git(&test, &["-c", "advice.addEmbeddedRepo=false", "add", "module"]);
    git(&test, &["commit", "-q", "-m", "a module"]);
    let test = test.file("module/untracked.ts", "");
    let printed = |arguments: &[&str]| {
        let shown = test.shows(&[&["run", "stop"], arguments].concat());
        shown.lines().nth(3).unwrap_or_default().trim().to_owned()
    };
    assert_eq!(printed(&[]), "module/untracked.ts nested/a.ts");
    assert_eq!(
        printed(&["--all-files"]),
        "module/clean.ts module/untracked.ts nested/a.ts src/edited.ts src/old.ts"
    );
    assert_eq!(printed(&["--files", "module/untracked.ts"]), "module/untracked.ts");
}
