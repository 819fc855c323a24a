//! `files`: commands that are limited to what was changed.

use super::*;

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
        prompt_line("<command-name>/cost</command-name>"),
        prompt_line("<local-command-stdout>Total cost: $1</local-command-stdout>"),
        prompt_line("<bash-input>ls</bash-input>"),
        prompt_line("[Request interrupted by user]"),
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
    let warnings: Vec<&str> = once.stderr.lines().filter(|line| line.contains("warn: ")).collect();
    assert_snapshot!(warnings.join("\n"), @"conclaude: warn: CONCLAUDE_FILES has 284 of 600 files; `{files}` names all");
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

#[test]
fn what_was_written_and_cannot_be_read_is_checked_as_far_as_it_may_have_changed() {
    let config = "stop: {commands: [{run: 'echo {files} > got', files: ['*.ts']}, {run: 'echo x > other', files: ['*.go']}]}";
    let test =
        Test::event("Stop").config(config).file("a.ts", "x").payload("transcript_path", "/nowhere/x.jsonl");
    let done = test.run();
    assert_eq!(done.read("got"), "a.ts\n");
    assert!(!done.has("other"), "no file of the project is like that");
    insta::assert_snapshot!(done.stdout, @r#"{"systemMessage":"conclaude: what was written is not known (/nowhere/x.jsonl: No such file or directory (os error 2)): `files` are compared with all files of the project"}"#);
}

#[test]
fn names_of_files_are_never_run_as_code() {
    let name = "$(touch PWNED).ts";
    let mut errors = String::new();
    for run in
        [r#"echo "{files}""#, "echo '{files}'", "cat <<EOF\n{files}\nEOF", "x={files}", "eval ls {files}"]
    {
        let config = json!({"postToolUse": {"commands": [{"run": run, "files": ["*.ts"]}]}}).to_string();
        let done = writes(Test::event("PostToolUse").config(&config), name).run();
        assert!(!done.has("PWNED"), "{run}");
        let done = done.status(1);
        let lines: Vec<&str> = done.stderr.lines().collect();
        // What is wrong, the line with the mark, and what to do.
        errors += &format!("{}\n{}\n{}\n", lines[2], lines[6], lines[8]);
    }
    assert_snapshot!(errors, @"
    error: `{files}` is already quoted: write it without quotes, as words of a command
      |                                    ^^^^^^^^^^^^^^^^^^ it is in quotes, a here-document, a comment, backticks or an assignment
      = help: or use `$CONCLAUDE_FILES`, which has one file per line
    error: `{files}` is already quoted: write it without quotes, as words of a command
      |                                    ^^^^^^^^^^^^^^^^ it is in quotes, a here-document, a comment, backticks or an assignment
      = help: or use `$CONCLAUDE_FILES`, which has one file per line
    error: `{files}` is already quoted: write it without quotes, as words of a command
      |                                    ^^^^^^^^^^^^^^^^^^^^^^^^^ it is in quotes, a here-document, a comment, backticks or an assignment
      = help: or use `$CONCLAUDE_FILES`, which has one file per line
    error: `{files}` is already quoted: write it without quotes, as words of a command
      |                                    ^^^^^^^^^^^ it is in quotes, a here-document, a comment, backticks or an assignment
      = help: or use `$CONCLAUDE_FILES`, which has one file per line
    error: `{files}` is already quoted: write it without quotes, as words of a command
      |                                    ^^^^^^^^^^^^^^^^^ it is in quotes, a here-document, a comment, backticks or an assignment
      = help: or use `$CONCLAUDE_FILES`, which has one file per line
    ");
    let config = r#"postToolUse: {commands: [{run: 'echo "$(ls -- {files})" > got', files: ['*.ts']}]}"#;
    let done = writes(Test::event("PostToolUse").config(config).file(name, ""), name).run().silent();
    assert_eq!((done.read("got"), done.has("PWNED")), (format!("{name}\n"), false));
    assert_snapshot!(
        Test::event("Stop").config("stop:\n  commands:\n    - run: 'lint \"{files}\"'\n      files: ['*.ts']\n    - {run: 'print({files})', files: ['*.py'], shell: python3}\n").shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: `{files}` is already quoted: write it without quotes, as words of a command
     --> [ROOT]/.conclaude.yaml:3:12
      |
    3 |     - run: 'lint "{files}"'
      |            ^^^^^^^^^^^^^^^^ it is in quotes, a here-document, a comment, backticks or an assignment
      |
      = help: or use `$CONCLAUDE_FILES`, which has one file per line

    error: `{files}` is already quoted: write it without quotes, as words of a command
     --> [ROOT]/.conclaude.yaml:5:13
      |
    5 |     - {run: 'print({files})', files: ['*.py'], shell: python3}
      |             ^^^^^^^^^^^^^^^^ file names are quoted for a shell like sh, and `python3` is not one
      |
      = help: or use `$CONCLAUDE_FILES`, which has one file per line

    error: invalid config [ROOT]/.conclaude.yaml: 2 problems
    "#);
}

/// A PostToolUse of Bash in a project with two committed files and one that is not.
fn after_bash() -> Test {
    let config = "postToolUse: {commands: {Bash: [{run: 'echo {files} > got', files: ['*.ts']}]}}";
    let test =
        Test::event("PostToolUse").config(config).file("src/a.ts", "").file("src/b.ts", "").committed();
    test.file("src/new.ts", "").payload("tool_name", "Bash")
}

#[test]
fn what_shell_commands_write_is_known_by_what_they_do() {
    let mut test = after_bash();
    for (command, expected) in [
        ("sed -i s/a/b/ src/*.ts", "src/a.ts src/b.ts src/new.ts"),
        ("find src -name 'a*' -exec sed -i s/a/b/ {} +", "src/a.ts"),
        ("git checkout -- src/a.ts", "src/a.ts"),
        ("cd src && for f in [ab].ts; do sed -i s/a/b/ \"$f\"; done", "src/a.ts src/b.ts"),
        ("npx prettier --write src/a.ts", "src/a.ts"),
        ("mv x src/b.ts", "src/b.ts"),
        // Nothing says what it is.
        ("npx prettier --write src", "src/new.ts"),
        ("tar xf a.tar", "src/new.ts"),
        ("echo > $X", "src/new.ts"),
        // Nothing like that is written.
        ("cat src/*.ts; rm src/b.ts; make; grep -rn x src; sed -i s/a/b/ src/*.rs; touch src/a.rs", ""),
    ] {
        let input = json!({ "command": command });
        let done = test.file("got", "").payload("tool_input", input).run().silent();
        let got = done.read("got");
        let mut got: Vec<&str> = got.split_whitespace().collect();
        got.sort_unstable();
        assert_eq!(got.join(" "), expected, "{command}");
        test = done.again();
    }
}

#[test]
fn explain_says_that_it_is_not_known_what_was_written() {
    let shown = after_bash().shows(&["explain", "--all", "PostToolUse", "--command", "git stash"]);
    assert_snapshot!(shown, @r#"
    exit 0
    ----- stdout
    PostToolUse: Bash on the main thread → allowed if it succeeds
      command: git stash
      ▸ runs `echo 'src/new.ts' > got`: a failure warns (postToolUse.commands "Bash"
        in .conclaude.yaml:1)
      • what was written is not known (`git stash`): `files` are compared with what
        differs from the last commit
    ⚠ PostToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    Commands, in this order
      1. echo 'src/new.ts' > got
         postToolUse.commands "Bash" in .conclaude.yaml:1 matches Bash
         CONCLAUDE_FILES: src/new.ts
         in ., by /bin/sh; a failure warns; no timeout
      • what was written is not known (`git stash`): `files` are compared with what
        differs from the last commit

    Their environment
      CONCLAUDE_CONFIG_DIR=[ROOT]
      CONCLAUDE_CLIENT=claude
      CONCLAUDE_CLIENT_TOOL_NAME=Bash
      CONCLAUDE_COMMAND=git stash
      CONCLAUDE_SESSION_ID=explain
      CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/.claude/explain.jsonl
      CONCLAUDE_CWD=[ROOT]
      CONCLAUDE_HOOK_EVENT=PostToolUse
      CONCLAUDE_TOOL_USE_ID=toolu_sample
      CONCLAUDE_DURATION_MS=1
      CONCLAUDE_PERMISSION_MODE=default
      CONCLAUDE_TOOL_NAME=Bash
      CONCLAUDE_TOOL_INPUT={"command":"git stash"}
      CONCLAUDE_TOOL_OUTPUT={}

    Answer
      if it succeeds: allowed (exit 0)
      if `echo 'src/new.ts' > got` fails: allowed (exit 0)
        conclaude: ⚠ `echo {files} > got` exited with code 1
    "#);
}

#[test]
fn at_a_stop_patterns_of_shell_commands_are_what_they_name() {
    let config = "stop: {commands: [{run: 'echo {files} > got', files: ['*.ts']}]}";
    let test = main_stop(config).file("src/a.ts", "").file("src/b.js", "").file("other.ts", "");
    let call = json!({"type": "assistant", "cwd": test.root().join("src"), "message": {"content": [{"type": "tool_use", "id": "t1",
        "name": "Bash", "input": {"command": "for f in *.ts; do sed -i s/a/b/ \"$f\"; done"}}]}});
    let lines = [prompt_line("do it"), call.to_string()].join("\n") + "\n";
    let done = test.file("main.jsonl", lines).run().silent();
    assert_eq!(done.read("got"), "src/a.ts\n");
}

/// Each command that did not run looked for the changed files again, read the transcript and started git for that.
#[cfg(unix)]
#[test]
fn commands_that_cover_no_changed_file_cost_one_look_and_one_git() {
    let skipped = "{run: lint, files: ['*.none']}, ".repeat(30);
    let config = format!("postToolUse: {{commands: [{skipped} {{run: 'true'}}]}}\n");
    let test = Test::event("PostToolUse").config(&config).committed();
    let test = (0..25).fold(test, |test, at| test.file(&format!("src/{at:02}.rs"), "")).counting_git();
    let test = test.payload("tool_name", "Bash").payload("tool_input", json!({"command": "tar xf x.tar"}));
    let done = test.run();
    assert_eq!(done.git_calls(), 1);
    let record = done.audit().pop().unwrap();
    assert_eq!(record["skipped"].as_array().unwrap().len(), 30);
    assert_snapshot!(record["skipped"][29]["why"].as_str().unwrap(), @"`files: [*.none]` covers no changed file (src/00.rs, src/01.rs, src/02.rs, src/03.rs, src/04.rs, src/05.rs, src/06.rs, src/07.rs, src/08.rs, src/09.rs, src/10.rs, src/11.rs, src/12.rs, src/13.rs, src/14.rs, src/15.rs, src/16.rs, src/17.rs, src/18.rs, src/19.rs and 5 more)");
}

#[test]
fn a_prompt_that_comes_while_claude_works_does_not_hide_what_was_written_before_it() {
    let test = main_stop("stop: {commands: [{run: 'echo {files} > got', files: ['*.ts']}]}")
        .file("a.ts", "")
        .file("b.ts", "");
    let attachment = json!({"type": "queued_command", "prompt": "go on", "commandMode": "prompt", "origin": {"kind": "user"}});
    let queued = json!({"type": "attachment", "attachment": attachment, "userType": "user"}).to_string();
    let lines = [prompt_line("one"), write_line("b.ts"), prompt_line("two"), write_line("a.ts"), queued];
    assert_eq!(test.file("main.jsonl", lines.join("\n") + "\n").run().silent().read("got"), "a.ts\n");
}
