//! `conclaude allow`: the user lets a call through that was denied or asked about.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::tmux::Tmux;
use crate::common::{Test, run_in};

const GIT: &str = "extends: [\"pack:git-safety\"]\n";

/// What the hook answers to a call.
fn answer(test: Test) -> (String, Test) {
    let outcome = test.run();
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    let said = &said["hookSpecificOutput"];
    let decision = said["permissionDecision"].as_str().or(said["decision"]["behavior"].as_str());
    let decision = decision.unwrap_or("free").to_owned();
    (decision, outcome.again())
}

#[track_caller]
fn expect(test: Test, expected: &str) -> Test {
    let (decision, test) = answer(test);
    assert_eq!(decision, expected);
    test
}

/// What `conclaude allow` shows on a terminal, up to its exit code.
fn allow(root: &Path, arguments: &str) -> String {
    let tmux = Tmux::start(root, &format!("allow {arguments}"));
    let asked =
        tmux.until("a question or the end", |screen| screen.contains("[y/N]") || screen.contains("exit "));
    if asked.contains("[y/N]") {
        tmux.keys(&["y", "Enter"]);
    }
    let screen = tmux.shows("exit ");
    screen.trim_end().lines().skip(1).collect::<Vec<_>>().join("\n")
}

fn denied() -> Test {
    expect(Test::bash(GIT, "git push --force"), "deny")
}

#[test]
fn the_next_such_call_is_let_through_once() {
    let test = denied();
    assert_snapshot!(allow(&test.root(), "1"), @"
    1: PreToolUse Bash git push --force denied
      · Force push rewrites the remote's history. Push without `--force`, or ask the
        user. (pack:git-safety force-push)
    Permit it once? [y/N] y
    permitted: the next such call of this session is allowed
    exit 0
    ");
    let test = expect(test, "free");
    let test = expect(test, "deny");
    assert_snapshot!(run_in(&test.root(), &["why", "2"]).1, @"
    2: allow Bash git push --force permitted
      · the user permits the call of record 1 once
    today: cannot be determined: `allow` is a subcommand, which decides nothing by the config
    `conclaude why 2 --all` shows the rest
    ");
    assert_snapshot!(run_in(&test.root(), &["why", "3"]).1, @r#"
    3: PreToolUse Bash git push --force allowed
      · record 1: the user allowed this call ([TIME]), which overrides a denial by preToolUse.toolUsageValidation "Bash git push -f,--force"
    today: the config would decide otherwise: denied (preToolUse.toolUsageValidation "Bash git push -f,--force" in pack:git-safety force-push matches now)
    `conclaude why 3 --all` shows the rest
    "#);
    assert!(
        run_in(&test.root(), &["audit", "show"])
            .1
            .contains("overrides a denial by preToolUse.toolUsageValidation")
    );
    assert_eq!(run_in(&test.root(), &["audit", "verify"]).0, Some(0));
}

#[test]
fn explain_decides_by_a_permit_as_the_hook_does_and_leaves_it() {
    fn explained(test: &Test) -> (Value, Value) {
        let (code, out, err) = run_in(&test.root(), &["explain", "--payload", "payload.json", "--json"]);
        assert_eq!(code, Some(0), "{err}");
        let explained: Value = serde_json::from_str(&out).unwrap();
        (explained["answers"][0]["decision"].clone(), explained["permits"].clone())
    }
    let test = denied();
    let payload = test.input();
    let test = test.file("payload.json", payload);
    assert_eq!(explained(&test), (json!("denied"), json!([])));
    allow(&test.root(), "1");
    let (decision, permits) = explained(&test);
    assert_eq!(decision, "allowed");
    assert!(permits[0].as_str().unwrap().contains("overrides a denial"), "{permits}");
    let text = run_in(&test.root(), &["explain", "--payload", "payload.json"]).1;
    assert!(text.contains("✓ record 1: the user allowed this call"), "{text}");
    let test = expect(test, "free");
    assert_eq!(explained(&test), (json!("denied"), json!([])));
    expect(test, "deny");
}

#[test]
fn nothing_but_the_same_call_in_the_same_session_is_let_through() {
    let test = denied();
    let root = test.root().display().to_string();
    let shown = allow(&test.root(), "1 --session");
    assert!(shown.contains("until this session ends") && shown.ends_with("exit 0"), "{shown}");
    let test = expect(test.payload("tool_input", json!({"command": "git push --force origin"})), "deny");
    let test =
        expect(test.payload("tool_input", json!({"command": "git push --force", "timeout": 5})), "deny");
    let test = test.payload("tool_input", json!({"command": "git push --force"}));
    let test = expect(test.payload("session_id", "session-2"), "deny").payload("session_id", "session-1");
    std::fs::create_dir(test.root().join("sub")).unwrap();
    let test = expect(test.payload("cwd", format!("{root}/sub")), "deny").payload("cwd", root);
    let test = expect(test.payload("tool_name", "Monitor"), "deny").payload("tool_name", "Bash");
    let test = expect(expect(test, "free"), "free");
    let ended = test.then("SessionEnd").payload("reason", "clear").run().again();
    expect(ended.then("PreToolUse"), "deny");
}

#[test]
fn a_question_is_answered_by_a_permit_also_where_nobody_can_be_asked() {
    let test = expect(Test::bash(GIT, "git commit --amend"), "ask");
    allow(&test.root(), "1 --once");
    let test = expect(expect(test, "free"), "ask");
    allow(&test.root(), "1 --session");
    expect(test.payload("permission_mode", "dontAsk"), "free");
}

#[test]
fn without_a_number_the_newest_is_shown_and_the_user_is_asked() {
    let test = denied();
    let test = expect(test.payload("tool_input", json!({"command": "git commit --amend"})), "ask");
    let test = expect(test.payload("tool_input", json!({"command": "ls"})), "free");
    for (key, decision) in [("Enter", "ask"), ("y", "free")] {
        let tmux = Tmux::start(&test.root(), "allow");
        let screen = tmux.shows("Permit it once? [y/N]");
        assert!(screen.contains("git commit --amend"), "{screen}");
        tmux.keys(&[key, "Enter"]);
        tmux.shows("exit ");
        assert_eq!(tmux.screen().contains("exit 0"), decision == "free");
    }
    let test = expect(test.payload("tool_input", json!({"command": "git commit --amend"})), "free");
    expect(test.payload("tool_input", json!({"command": "git push --force"})), "deny");
}

#[test]
fn neither_an_agent_nor_a_program_permits_anything() {
    let test = denied();
    assert_snapshot!(test.shows(&["allow", "1"]), @"
    exit 1
    ----- stderr
    conclaude: only a user at a terminal can decide this: run it in your own terminal
    ");
    for variable in ["CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=x", "AI_AGENT=claude-code", "COPILOT_CLI=1"] {
        let tmux = Tmux::start_in(&test.root(), &format!("export {variable}; "), "allow 1");
        let screen = tmux.shows("exit 1");
        assert!(screen.contains("an agent cannot permit its own calls"), "{screen}");
    }
    expect(test, "deny");
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_unsets_its_variables_permits_nothing() {
    let test = denied();
    let start = "sh() { CLAUDECODE=1 command sh -c 'unset CLAUDECODE; sh \"$@\"; exit $?' x \"$@\"; }; ";
    let tmux = Tmux::start_in(&test.root(), start, "allow 1");
    let screen = tmux.shows("exit 1");
    assert!(screen.contains("is an agent's"), "{screen}");
    expect(test, "deny");
}

/// A shell with the name of a client stands for it.
#[cfg(target_os = "linux")]
#[test]
fn what_a_client_started_permits_nothing_also_without_its_variables() {
    let test = denied();
    let start = "sh() { cp /bin/sh claude; ./claude -c 'env -i TERM=xterm PATH=\"$PATH\" HOME=\"$HOME\" sh \"$@\"; exit $?' x \"$@\"; }; ";
    let tmux = Tmux::start_in(&test.root(), start, "allow 1");
    let screen = tmux.shows("exit 1");
    assert!(screen.contains("started by Claude Code"), "{screen}");
    expect(test, "deny");
}

/// A chain of processes that is too long to be read may hide a client.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_permitted_below_a_hidden_process() {
    let test = denied();
    let start = "sh() { n=$((${n:-0} + 1)); export n; if [ $n -gt 70 ]; then command sh \"$@\"; else (sh \"$@\"; exit $?); fi; }; ";
    let tmux = Tmux::start_in(&test.root(), start, "allow 1");
    let screen = tmux.shows("exit 1");
    // The screen wraps the line.
    assert!(screen.replace('\n', "").contains("a process above this one is hidden"), "{screen}");
    expect(test, "deny");
}

#[test]
fn agents_may_not_call_it() {
    for command in [
        "conclaude allow 1",
        "/usr/bin/conclaude allow --session 3",
        "script -qc 'conclaude allow' x",
        "tmux new -d 'conclaude allow 17'",
        "tmux send-keys 'conclaude allow' Enter",
        "expect -c 'spawn conclaude allow 17'",
        "screen -dm conclaude allow 17",
        "screen -dmS x sh -c 'conclaude allow 17'",
        "env -i conclaude allow 17",
        "setsid -w env -i conclaude allow 17",
        "python3 -c \"import os; os.environ.clear(); os.execvp('conclaude', ['conclaude', 'allow'])\"",
        "python3 -c \"import pty; pty.spawn(['conclaude', 'allow', '17'])\"",
    ] {
        let main = expect(Test::bash(GIT, command), "ask");
        expect(main.payload("agent_id", "a1").payload("agent_type", "coder"), "deny");
    }
    for command in ["conclaude allow --help", "tmux new -d 'conclaude watch'", "rg 'conclaude allow' docs"] {
        expect(Test::bash(GIT, command), "free");
    }
}

#[test]
fn own_files_and_gates_are_not_permitted() {
    let write = |path: &str| {
        let test = Test::event("PreToolUse").config(GIT).payload("tool_name", "Write");
        test.payload("tool_input", json!({"file_path": path, "content": ""}))
    };
    let test = expect(write(".conclaude.yaml"), "deny");
    assert_snapshot!(allow(&test.root(), "1"), @"
    conclaude: the call of record 1 cannot be permitted: agents can never change con
    claude's own files and settings: change them yourself
    exit 1
    ");
    expect(test, "deny");
    let gated = Test::event("PreToolUse").call_agent("<!-- DES-VALIDATION: required -->").run();
    gated.denied();
    let shown = allow(&gated.root(), "1");
    assert!(shown.contains("not gates") && shown.ends_with("exit 1"), "{shown}");
}

#[test]
fn a_record_that_was_changed_or_is_something_else_is_refused() {
    let test = denied();
    let test = expect(test.payload("tool_input", json!({"command": "git push --force; rm -rf x"})), "deny");
    let folder = test.root().join(".conclaude/audit");
    let file = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
    let file =
        file.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "jsonl")).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let hash = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["tool"]["input_sha256"].as_str().unwrap().to_owned()
    };
    let hashes: Vec<String> = text.lines().map(hash).collect();
    std::fs::write(&file, text.replacen(&hashes[0], &hashes[1], 1)).unwrap();
    let shown = allow(&test.root(), "1");
    assert!(shown.contains("record 1 cannot be trusted") && shown.ends_with("exit 1"), "{shown}");
    let shown = allow(&test.root(), "9");
    assert!(shown.contains("there is no record 9"), "{shown}");
}

#[test]
fn the_permission_request_of_a_permitted_call_is_let_through_with_it() {
    let config = format!(
        "{GIT}permissionRequest: {{allow: [\"Bash(git push --force*)\"], deny: [\"Bash(git tag *)\"]}}\n"
    );
    let test = expect(Test::bash(&config, "git push --force"), "deny");
    allow(&test.root(), "1");
    let test = expect(test, "free");
    let test = expect(test.then("PermissionRequest"), "allow");
    let test = expect(test, "deny");
    // A rule for permissions denies at the request alone.
    let test = test.then("PreToolUse").payload("tool_input", json!({"command": "git tag x"}));
    let test = expect(test, "free");
    let test = expect(test.then("PermissionRequest"), "deny");
    let tmux = Tmux::start(&test.root(), "allow");
    tmux.shows("[y/N]");
    tmux.keys(&["y", "Enter"]);
    tmux.shows("exit 0");
    let test = expect(test.then("PreToolUse"), "free");
    expect(expect(test.then("PermissionRequest"), "free"), "deny");
}

#[test]
fn a_call_that_ran_leaves_nothing_for_a_later_request() {
    let config = format!("{GIT}permissionRequest: {{deny: [\"Bash(git push *)\"]}}\n");
    let test = expect(Test::bash(&config, "git push --force"), "deny");
    allow(&test.root(), "1");
    let test = expect(test, "free");
    let test = test.then("PostToolUse").payload("tool_response", json!({})).run().again();
    expect(test.then("PermissionRequest"), "deny");
}

#[test]
fn a_permit_is_kept_while_something_else_is_against_the_call() {
    let hook = "preToolUse: {commands: {Bash: [{run: 'test ! -e stop', onFailure: block}]}}\n";
    let test = expect(Test::bash(&format!("{GIT}{hook}"), "git push --force"), "deny");
    allow(&test.root(), "1");
    let test = expect(test.file("stop", ""), "deny");
    std::fs::remove_file(test.root().join("stop")).unwrap();
    expect(expect(test, "free"), "deny");
}

#[test]
fn an_input_that_a_hook_changes_is_not_what_was_permitted() {
    let answer = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"git push --force evil"}}}"#;
    let hook = "preToolUse: {commands: {Bash: [{run: 'test ! -e change || cat answer', protocol: hook}]}}\n";
    let test = Test::bash(&format!("{GIT}{hook}"), "git push --force").file("answer", answer);
    let test = expect(test, "deny");
    allow(&test.root(), "1 --session");
    let test = expect(test.file("change", ""), "deny");
    std::fs::remove_file(test.root().join("change")).unwrap();
    expect(test, "free");
}

#[test]
fn why_offers_it_on_a_terminal() {
    let test = denied();
    let tmux = Tmux::start(&test.root(), "why");
    let screen = tmux.shows("exit 0");
    assert!(screen.contains("`conclaude allow 1` permits this call once"), "{screen}");
    assert!(!run_in(&test.root(), &["why"]).1.contains("conclaude allow"));
}
