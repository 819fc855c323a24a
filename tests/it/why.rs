//! `conclaude why`: a decision of the trail, its rules, and what today's config would decide.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::workflow;
use crate::common::{Test, binary, run_in};

mod commands;

const CONFIG: &str = "preToolUse:\n  uneditableFiles:\n    - \"*.lock\"\n";

fn denied() -> Test {
    let test = Test::event("PreToolUse").config(CONFIG).payload("tool_name", "Write");
    let answer = test.payload("tool_input", json!({"file_path": "Cargo.lock"})).run();
    answer.tool("deny");
    answer.again()
}

#[test]
fn a_denial_is_shown_with_its_rule_and_that_it_would_be_denied_again() {
    assert_snapshot!(denied().shows(&["why", "--all"]), @r#"
    exit 0
    ----- stdout
    1: PreToolUse denied
      time: [TIME]
      session: session-1
      agent: coder
      agent_id: a1b2c3
      tool: Write Cargo.lock

    Why
      ✗ Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`.
          preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:3 matched
          Cargo.lock

    Today
      the config would decide the same: denied
      all of it: conclaude explain PreToolUse --agent coder --tool Write --file Cargo.lock

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      writes Cargo.lock (which does not exist)

    Guards
      ✗ uneditableFiles "*.lock" in .conclaude.yaml:3 covers Cargo.lock
      · worktreeFence is for agents in a worktree of their own

    Commands, in this order
      none runs
    "#);
}

#[test]
fn without_all_it_is_twelve_lines_at_most_with_what_counts_first() {
    assert_snapshot!(denied().shows(&["why"]), @r#"
    exit 0
    ----- stdout
    1: PreToolUse Write Cargo.lock denied (agent coder)
      ✗ Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`.
        Do it another way, or ask the user.
        preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:3
    today: the config would decide the same: denied
    `conclaude why 1 --all` shows the rest
    "#);
    let commands: Vec<String> = (0..20)
        .map(|n| {
            format!(
                "{{run: 'seq 50; echo line {n}; exit {}', onFailure: {}}}",
                n % 2,
                if n == 19 { "block" } else { "warn" }
            )
        })
        .collect();
    let done = Test::stop()
        .config(&format!("subagentStop: {{commands: {{coder: [{}]}}}}\n", commands.join(", ")))
        .run();
    done.blocked();
    let test = done.again();
    let (_, shown, _) = run_in(&test.root(), &["why"]);
    assert_eq!(shown.lines().count(), 12, "{shown}");
    assert_snapshot!(shown, @r#"
    1: SubagentStop blocked (agent coder)
      ✗ `seq 50; echo line 19; exit 1` exited with code 1
        subagentStop.commands "coder" in .conclaude.yaml:1
          48
          49
          50
          line 19
      ⚠ `seq 50; echo line 1; exit 1` exited with code 1
        subagentStop.commands "coder" in .conclaude.yaml:1
      … 63 lines more
    today: the config would decide the same: blocked
    `conclaude why 1 --all` shows the rest
    "#);
    let (_, all, _) = run_in(&test.root(), &["why", "--all"]);
    assert!(all.lines().count() > 100, "{all}");
}

/// The command that `why` offers, run by a shell as a user would paste it.
fn pasted(test: &Test) -> (String, String) {
    let shown = run_in(&test.root(), &["why", "--all"]).1;
    let command = shown.lines().find_map(|line| line.strip_prefix("  all of it: ")).unwrap().to_owned();
    let script = command.replacen("conclaude", &format!("'{}'", binary().display()), 1) + " --json";
    let output = test.program("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    (command, explained["payload"]["tool_input"]["command"].as_str().unwrap().to_owned())
}

#[test]
fn what_is_offered_to_be_copied_explains_the_very_command() {
    let config = "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: '*', action: ask}]}";
    let asked = |command: &str| {
        let test = Test::event("PreToolUse").config(config).payload("tool_name", "Bash");
        let test = test.payload("permission_mode", "acceptEdits").without("agent_id").without("agent_type");
        let answer = test.payload("tool_input", json!({ "command": command })).run();
        answer.tool("ask");
        answer.again()
    };
    let commands = ["cat <in.txt", "cat <<'X'\n<b>\tit's\nX", "printf '\u{1b}[31m\u{200b}'"];
    let all = commands.map(|command| {
        let (offered, explained) = pasted(&asked(command));
        assert_eq!(explained, command);
        offered
    });
    assert_snapshot!(all.join("\n"), @r#"
    conclaude explain PreToolUse --tool Bash --permission-mode acceptEdits --command 'cat <in.txt'
    conclaude explain PreToolUse --tool Bash --permission-mode acceptEdits --input '{"command":"cat \u003c\u003c'\''X'\''\n\u003cb>\tit'\''s\nX"}'
    conclaude explain PreToolUse --tool Bash --permission-mode acceptEdits --input '{"command":"printf '\''\u001b[31m\u200b'\''"}'
    "#);
}

#[test]
fn a_rule_that_was_changed_since_decides_otherwise() {
    let test = denied().config("preToolUse:\n  uneditableFiles: [\"yarn.lock\"]\n");
    assert_snapshot!(test.shows(&["why", "--all", "1"]), @r#"
    exit 0
    ----- stdout
    1: PreToolUse denied
      time: [TIME]
      session: session-1
      agent: coder
      agent_id: a1b2c3
      tool: Write Cargo.lock

    Why
      ✗ Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`.
          preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:3 matched
          Cargo.lock

    Today
      the config would decide otherwise: allowed
      · preToolUse.uneditableFiles "*.lock" no longer matches
      all of it: conclaude explain PreToolUse --agent coder --tool Write --file Cargo.lock

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      writes Cargo.lock (which does not exist)

    Guards
      · uneditableFiles "yarn.lock" in .conclaude.yaml:2 does not cover Cargo.lock
      · worktreeFence is for agents in a worktree of their own

    Commands, in this order
      none runs
    "#);
}

#[test]
fn a_step_is_judged_by_another_subcommand_today() {
    let answer = Test::gated_stop(&workflow::todo()).run();
    answer.blocked();
    let shown = answer.again().shows(&["why", "--all"]);
    assert_snapshot!(shown, @"
    exit 0
    ----- stdout
    1: SubagentStop blocked
      time: [TIME]
      session: session-1
      agent: coder
      agent_id: a1b2c3
      step: steps/01-01.json

    Why
      · Gate 3 looked at the phases with their outcomes, skips and proofs, the
        limits, the state of the step, and the files that were changed, and found
        this
          the prompt has DES-VALIDATION: required, DES-STEP-FILE: steps/01-01.json,
          DES-AGENT: coder, DES-COMMAND: /nw:execute, DES-PROJECT-ID: greeting
      ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded
          phase_execution_log in steps/01-01.json:13
      ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository
          allowed_file_patterns in steps/01-01.json:8
      block 1 of 3 (maxBlocks)

    Today
      cannot be determined: a gate judges the step as it is: `conclaude des check
      steps/01-01.json` judges it as it is now
    ");
}

#[test]
fn a_record_of_an_older_version_says_what_is_missing() {
    let test =
        Test::stop().config("subagentStop: {commands: {coder: [{run: 'true'}]}}\n").run().status(0).again();
    // What 0.1 wrote, and its hash.
    let old = r#"{"seq":1,"time":"2026-01-01T10:00:00.000Z","event":"PreToolUse","session":"s","decision":"denied","findings":[{"code":"GUARD_DENIED","weight":"block","what":"writing x: `uneditableFiles` has `x` in .conclaude.yaml:3","fix":"f"}],"prev":"0000000000000000000000000000000000000000000000000000000000000000"}"#;
    let hash = conclaude_store::store::hash(old);
    let line = format!("{},\"hash\":\"{hash}\"}}\n", old.strip_suffix('}').unwrap());
    let test = test.file(".conclaude/audit/audit-0000000001.jsonl", line);
    std::fs::remove_dir_all(test.root().join(".state-home")).unwrap();
    assert_eq!(run_in(&test.root(), &["audit", "verify"]).0, Some(0));
    assert_snapshot!(test.shows(&["why", "--all", "1"]), @"
    exit 0
    ----- stdout
    1: PreToolUse denied
      time: [TIME]
      session: s

    Why
      · writing x: `uneditableFiles` has `x` in .conclaude.yaml:3
          its rule is not recorded: the record is one of an older version

    Today
      cannot be determined: the record has no tool call; it may be one of an older
      version
    ");
}

#[test]
fn a_record_that_is_not_there_is_an_error() {
    let test = Test::stop();
    let errors = [
        run_in(&test.root(), &["why"]).2,
        run_in(&denied().root(), &["why", "7"]).2,
        run_in(&test.root(), &["why", "x"]).2,
    ];
    assert_snapshot!(errors.concat(), @"
    conclaude: there are no records in [ROOT]/.conclaude/audit: `conclaude explain EVENT` shows what would happen
    conclaude: there is no record 7: the newest is 1, and `conclaude audit show` lists them
    error: invalid value 'x' for '[NUMBER]': invalid digit found in string

    For more information, try '--help'.
    ");
}

#[test]
fn json_has_the_record_and_today() {
    let (code, out, _) = run_in(&denied().root(), &["why", "--json"]);
    assert_eq!(code, Some(0));
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["record"]["findings"][0]["rule"]["line"], 3);
    assert_eq!(json["today"]["same"], true);
    assert_eq!(
        json["today"]["explain"],
        "conclaude explain PreToolUse --agent coder --tool Write --file Cargo.lock"
    );
}

#[test]
fn of_a_long_trail_only_the_end_is_read_for_the_newest_record() {
    let deny = |test: Test| {
        let answer = test.payload("tool_input", json!({"file_path": "Cargo.lock"})).run();
        answer.tool("deny");
        answer.again()
    };
    let test = Test::event("PreToolUse").config(CONFIG).payload("tool_name", "Write");
    let test = deny(deny(deny(test)));
    let newest = |test: &Test| {
        let (code, stdout, stderr) = run_in(&test.root(), &["why", "--json"]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        let shown: Value = serde_json::from_str(&stdout).unwrap();
        (shown["record"]["seq"].clone(), shown["tampered"].clone())
    };
    assert_eq!(newest(&test), (json!(3), Value::Null));
    // A file for each record.
    let file = |number: u32| test.root().join(format!(".conclaude/audit/audit-{number:010}.jsonl"));
    let (first, second, third) = (file(1), file(2), file(3));
    let all = std::fs::read_to_string(&first).unwrap();
    for (path, line) in [&first, &second, &third].into_iter().zip(all.split_inclusive('\n')) {
        std::fs::write(path, line).unwrap();
    }
    assert_eq!(newest(&test), (json!(3), Value::Null));
    // What cannot be read is not read.
    std::fs::remove_file(&first).unwrap();
    std::fs::create_dir(&first).unwrap();
    assert_eq!(newest(&test), (json!(3), Value::Null));
    // That it does not follow the one before it is seen.
    let lines = std::fs::read_to_string(&third).unwrap();
    std::fs::write(&second, lines.replace("\"seq\":3", "\"seq\":2")).unwrap();
    assert_eq!(newest(&test).1, "record 3 does not follow the one before it: one of them was replaced");
    std::fs::write(&third, lines.replace("denied", "allowed")).unwrap();
    assert_eq!(newest(&test).1, "record 3 was changed: its hash does not match its content");
}

#[test]
fn an_allowed_call_says_which_gate_looked_at_what() {
    let answer = Test::gated_stop(&workflow::done()).run();
    let answer = answer.status(0);
    let shown = answer.again().shows(&["why", "--all"]);
    let (_, why) = shown.split_once("Why\n").unwrap();
    let (why, _) = why.split_once("\n\n").unwrap();
    assert_snapshot!(why, @"
    · Gate 3 looked at the phases with their outcomes, skips and proofs, the
      limits, the state of the step, and the files that were changed, and found
      this
        the prompt has DES-VALIDATION: required, DES-STEP-FILE: steps/01-01.json,
        DES-AGENT: coder, DES-COMMAND: /nw:execute, DES-PROJECT-ID: greeting
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository
        allowed_file_patterns in steps/01-01.json:8
    ");
}

#[test]
fn what_the_config_says_of_a_failure_comes_first() {
    let config = "stop: {commands: [{run: 'exit 3', message: Linting failed}]}";
    let test = Test::event("Stop").without("agent_id").without("agent_type").config(config);
    let answer = test.run();
    answer.blocked();
    assert_eq!(answer.audit()[0]["commands"][0]["message"], "Linting failed");
    let test = answer.again();
    let lines = |arguments: &[&str]| {
        let shown = test.shows(arguments);
        let lines = shown.lines().map(str::trim).filter(|line| line.contains("Linting failed"));
        // The time of day comes first in the live view.
        let lines = lines.map(|line| {
            regex_lite::Regex::new(r"\d\d:\d\d:\d\d").unwrap().replace(line, "[TIME]").into_owned()
        });
        format!("# {}\n{}\n", arguments.join(" "), lines.collect::<Vec<_>>().join("\n"))
    };
    let all: [&[&str]; 4] =
        [&["why"], &["audit", "show"], &["watch", "--once"], &["report", "--format", "md"]];
    assert_snapshot!(all.map(lines).concat(), @"
    # why
    ✗ Linting failed: `exit 3` exited with code 3
    # audit show
    Linting failed: `exit 3` exited with code 3 ([DURATION])
    # watch --once
    ✗ [TIME] Stop blocked (1 of 3): Linting failed: `exit 3` exited with code 3  ([DURATION])
    ✗ Linting failed: `exit 3` exited with code 3  ([DURATION])
    # report --format md
    | 1 | [TIME] | `Stop` | `blocked` | main thread | `Linting failed: 'exit 3' exited with code 3` |
    ");
}

#[test]
fn a_prompt_that_a_slash_command_blocked_cannot_be_judged_again() {
    let config = "userPromptSubmit: {slashCommands: {commands: {deploy: [{run: exit 1, onFailure: block}]}}}";
    let test = Test::event("UserPromptSubmit").without("agent_id").without("agent_type").config(config);
    let test = test.payload("prompt", "/deploy now").run().again();
    let shown = test.shows(&["why", "--all"]);
    assert_snapshot!(shown.split("Today").nth(1).unwrap(), @"

    cannot be determined: the prompt, which patterns compare, is not recorded
    ");
}

#[test]
fn a_decision_is_shown_with_the_files_that_were_read_and_the_rules_that_did_not_match() {
    let test = Test::event("PreToolUse").config("preToolUse:\n  uneditableFiles: ['*.lock', '/dist/']\n");
    let local =
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git push*', action: block}]}\n";
    let test = test.file(".conclaude.local.yaml", local).payload("tool_name", "Write");
    let answer = test.payload("tool_input", json!({"file_path": "x/../Cargo.lock"})).run();
    answer.tool("deny");
    let test = answer.again();
    let shown = test.shows(&["why", "--all"]);
    assert_snapshot!(shown.split_once("Today\n").unwrap().1, @r#"
      the config would decide the same: denied
      all of it: conclaude explain PreToolUse --agent coder --tool Write --file x/../Cargo.lock

    Config
      project  .conclaude.yaml
      local    .conclaude.local.yaml

    What it does, as guards see it
      writes Cargo.lock (which does not exist)

    Guards
      ✗ uneditableFiles "*.lock" in .conclaude.yaml:2 covers Cargo.lock
      · uneditableFiles "/dist/" in .conclaude.yaml:2 does not cover Cargo.lock
      · toolUsageValidation "Bash git push*" in .conclaude.local.yaml:1 does not
        apply to Write
      · worktreeFence is for agents in a worktree of their own

    Commands, in this order
      none runs
    "#);
    let (_, json, _) = run_in(&test.root(), &["why", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let considered = &json["today"]["considered"];
    assert_eq!(considered["config"]["files"][1]["layer"], "local");
    assert_eq!(considered["guards"]["rules"][1]["compared"][0]["matches"], false);
}

#[test]
fn an_agent_that_never_stopped_is_shown_with_its_rule() {
    let test = Test::stop().step(&workflow::todo()).call_agent(workflow::MARKERS).run().again();
    let test = test.agent_files(workflow::MARKERS).then("Stop").payload("background_tasks", json!([]));
    assert_snapshot!(test.run().again().shows(&["why", "--all"]), @r#"
    exit 0
    ----- stdout
    2: Stop reported an agent that never stopped
      time: [TIME]
      session: session-1
      agent: coder
      agent_id: a1b2c3
      step: steps/01-01.json

    Why
      ⚠ UNFINISHED: coder (a1b2c3) was called for steps/01-01.json and never stopped
          built-in "a gated agent is judged when it stops"

    Today
      cannot be determined: a gate judges the step as it is: `conclaude des check
      steps/01-01.json` judges it as it is now
    "#);
}

#[test]
fn a_payload_that_nobody_understands_is_shown_with_its_rule() {
    let input =
        json!({"session_id": "session-1", "tool_name": "Task", "tool_input": {"prompt": workflow::MARKERS}});
    let done = Test::event("PreToolUse").step(&workflow::todo()).stdin(input.to_string()).run();
    done.denied();
    assert_snapshot!(done.again().shows(&["why", "--all"]), @r#"
    exit 0
    ----- stdout
    1: PreToolUse denied
      time: [TIME]
      session: session-1

    Why
      ✗ PAYLOAD_INVALID: a gate applies to this tool and cannot be evaluated:
        invalid payload: missing required field `hook_event_name`: expected a
        non-empty string
          built-in "a gate that cannot be evaluated never allows"

    Today
      cannot be determined: the payload, which could not be read, is not recorded
    "#);
}

/// What Claude should do was shown to the user who had been asked.
#[test]
fn a_question_is_shown_as_the_user_was_asked() {
    let config = "preToolUse: {uneditableFiles: ['/a/b.txt'], preventUpdateGitIgnored: true}";
    let asked = Test::bash(config, "rm -r $X").run();
    let reason = asked.tool("ask");
    let record = asked.audit().pop().unwrap();
    let (claude, user) = (&record["findings"][0]["fix"], &record["findings"][0]["user_fix"]);
    let (claude, user) = (claude.as_str().unwrap().to_owned(), user.as_str().unwrap().to_owned());
    assert!(reason.contains(&user) && !reason.contains(&claude), "{reason}\n{record}");
    let shown = asked.again().shows(&["why"]);
    assert!(shown.contains(&user) && !shown.contains(&claude), "{shown}");
}
