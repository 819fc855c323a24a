//! The processes of a command. They are started by the built binary, since a timeout may take any child that the process
//! got meanwhile for one of the command's.

use std::process::Command;

use serde_json::{Value, json};

use crate::common::wait::{endless, gone, running};
use crate::common::{Test, binary};

/// A hook that runs these commands and shows both streams of each.
fn hook(mut commands: Value) -> Test {
    for command in commands.as_array_mut().unwrap() {
        let settings = command.as_object_mut().unwrap();
        for stream in ["showStdout", "showStderr"] {
            settings.insert(stream.into(), true.into());
        }
    }
    Test::stop().config(&json!({"subagentStop": {"commands": {"*": commands}}}).to_string())
}

/// What the hook shows of its commands.
#[track_caller]
fn shown(test: Test) -> String {
    let done = test.run();
    let message = done.message().replace(done.root().to_str().unwrap(), "[ROOT]");
    message.split_once('\n').unwrap().1.to_owned()
}

/// What one script prints to stdout.
#[track_caller]
fn printed(script: &str) -> String {
    let shown = shown(hook(json!([{"run": script}])));
    let lines: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    lines.join("\n")
}

#[test]
fn exit_codes_and_both_streams_are_kept() {
    insta::assert_snapshot!(shown(hook(json!([{"run": "echo out; echo err >&2; exit 3"}]))), @r"
    ⚠ `echo out; echo err >&2; exit 3` exited with code 3
      stdout:
        out
      stderr:
        err
    ");
}

#[test]
fn many_lines_are_one_script() {
    assert_eq!(printed("x=1\ncd /tmp\necho $x $PWD\n"), "1 /tmp");
}

#[test]
fn stdin_is_the_payload_however_large_and_need_not_be_read() {
    let commands = json!([{"run": "wc -c | tr -d ' '"}, {"run": "true"}, {"run": "exec <&-; echo closed"}]);
    let test = hook(commands).payload("prompt", "x".repeat(3 << 20));
    let length = test.input().len();
    assert_eq!(shown(test), format!("✓ wc -c | tr -d ' '\n  {length}\n✓ exec <&-; echo closed\n  closed"));
}

#[test]
fn variables_are_added_and_removed() {
    let script = "echo \"$CONCLAUDE_SESSION_ID ${CONCLAUDE_AGENT_TRANSCRIPT_PATH-removed} ${PATH:+path}\"";
    let test = hook(json!([{"run": script}])).env("CONCLAUDE_SESSION_ID", "inherited");
    let test =
        test.env("CONCLAUDE_AGENT_TRANSCRIPT_PATH", "inherited").payload("agent_transcript_path", "/a\0b");
    assert!(shown(test).ends_with("\n  session-1 removed path"));
}

#[test]
fn a_signal_is_not_reported_as_an_exit_code() {
    insta::assert_snapshot!(shown(hook(json!([{"run": "kill -9 $$"}]))), @"⚠ `kill -9 $$` was killed by signal 9");
}

#[test]
fn what_cannot_be_started_is_a_status() {
    let commands = json!([
        {"run": "true", "shell": "/no/such/shell"},
        {"run": "true", "shell": "no-such-shell"},
        {"run": "true", "shell": "/etc/passwd"},
        {"run": "echo a\0b"},
    ]);
    insta::assert_snapshot!(shown(hook(commands)), @r"
    ⚠ `true` could not be started: /no/such/shell in [ROOT]: No such file or directory (os error 2)
    ⚠ `true` could not be started: no-such-shell in [ROOT]: No such file or directory (os error 2)
    ⚠ `true` could not be started: /etc/passwd in [ROOT]: Permission denied (os error 13)
    ⚠ `echo a\0b` could not be started: /bin/sh in [ROOT]: nul byte found in provided data
    ");
}

#[test]
fn a_working_directory_that_is_gone_is_a_status() {
    let test = hook(json!([{"run": "rm -r \"$PWD\""}, {"run": "true"}]));
    let worktree = ".claude/worktrees/agent-a1";
    let cwd = test.root().join(worktree).display().to_string();
    let test = test.file(&format!("{worktree}/file"), "").payload("cwd", cwd);
    insta::assert_snapshot!(shown(test), @"⚠ `true` could not be started: /bin/sh in [ROOT]/.claude/worktrees/agent-a1: No such file or directory (os error 2)");
}

#[test]
fn a_bare_name_of_a_shell_is_looked_for_on_the_path() {
    assert_eq!(shown(hook(json!([{"run": "echo found", "shell": "sh"}]))), "✓ echo found\n  found");
}

fn with_timeout(script: &str) -> Test {
    hook(json!([{"run": script, "timeout": 1, "onTimeout": "warn"}]))
}

#[test]
fn a_timeout_terminates_the_group() {
    let sleep = endless();
    let shown = shown(with_timeout(&format!("sleep {sleep} & sleep {sleep}; echo not reached")));
    assert_eq!(
        shown,
        format!("⚠ `sleep {sleep} & sleep {sleep}; echo not reached` timed out after 1 s and was terminated")
    );
    gone(&sleep);
}

#[test]
fn a_timeout_kills_what_ignores_it() {
    let sleep = endless();
    let script = format!("trap '' TERM; while :; do sleep {sleep}; done");
    assert_eq!(shown(with_timeout(&script)), format!("⚠ `{script}` timed out after 1 s and was terminated"));
    gone(&sleep);
}

#[test]
fn a_timeout_finds_what_left_the_group_and_what_was_orphaned() {
    let sleep = endless();
    // A session of its own whose parent is gone, once with our id in its environment and once without.
    let script =
        format!("(setsid sleep {sleep} &) ; (env -i setsid sleep {sleep} &) ; kill -STOP $$; sleep {sleep}");
    let shown = shown(with_timeout(&script));
    assert!(shown.ends_with("…` timed out after 1 s and was terminated"), "{shown}");
    gone(&sleep);
}

#[test]
fn children_left_behind_live_on_and_do_not_hold_us() {
    let sleep = endless();
    let script = format!("echo before; sleep {sleep} & echo after");
    let shown = shown(hook(json!([{"run": script}, {"run": "sleep 60", "timeout": 1, "onTimeout": "warn"}])));
    assert_eq!(
        shown,
        format!("✓ {script}\n  before\n  after\n⚠ `sleep 60` timed out after 1 s and was terminated")
    );
    let left = running(&sleep);
    assert_eq!(
        left.len(),
        1,
        "it is alive, so nobody waited for it; nor does the timeout of a later command touch it"
    );
    assert!(Command::new("kill").args(left).status().unwrap().success());
}

#[test]
fn a_flood_on_both_streams_is_counted_to_the_last_byte() {
    let flood = |bytes: u32, byte: char| format!("head -c {bytes} /dev/zero | tr '\\0' {byte}");
    let script = format!("{}; {} >&2", flood(104_857_600, 'x'), flood(20_971_520, 'y'));
    let test = hook(json!([{"run": ". ./flood.sh"}])).file("flood.sh", script);
    let shown = shown(test);
    let count = |byte: char| {
        let visible =
            shown.lines().filter(|line| line.trim().chars().all(|c| c == byte)).map(|line| line.trim().len());
        visible.sum::<usize>()
    };
    let left_out: Vec<usize> = shown
        .lines()
        .filter_map(|line| line.trim().strip_prefix("… ")?.split(' ').next()?.parse().ok())
        .collect();
    assert_eq!(left_out.len(), 2, "{shown}");
    assert_eq!((count('x') + left_out[0], count('y') + left_out[1]), (104_857_600, 20_971_520));
}

#[test]
fn a_child_that_never_stops_printing_does_not_hold_us() {
    let shown = shown(hook(json!([{"run": format!("yes {} & echo done", endless())}])));
    assert!(shown.starts_with("✓ yes"), "{shown}");
}

#[test]
fn a_command_has_a_group_of_its_own_and_no_signal_is_blocked_or_ignored() {
    // In this process SIGPIPE is ignored, as in every Rust program.
    let text = printed("exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
    let masks: Vec<u64> = text
        .lines()
        .map(|line| u64::from_str_radix(line.split_whitespace().next_back().unwrap(), 16).unwrap())
        .collect();
    let pipe = 1 << (libc::SIGPIPE - 1);
    assert_eq!((masks[0], masks[1] & pipe), (0, 0), "blocked and ignored: {text}");
    let text = printed("cut -d' ' -f5 /proc/$$/stat; echo $$");
    let (group, shell) = text.split_once('\n').unwrap();
    assert_eq!(group, shell);
}

#[test]
fn our_own_signal_mask_is_as_before_when_a_command_has_run() {
    let mask = |name: &str| json!({"run": format!("grep SigBlk /proc/$PPID/status > {name}")});
    let done = hook(json!([mask("first"), {"run": "true", "shell": "/no/such/shell"}, mask("last")])).run();
    assert_eq!(done.read("first"), "SigBlk:\t0000000000000000\n");
    assert_eq!(done.read("last"), done.read("first"));
}

#[test]
fn a_timeout_finds_what_a_nested_conclaude_left_behind() {
    let sleep = endless();
    let inner = json!({"subagentStop": {"commands": {"*": [{"run": format!("setsid sleep {sleep} &")}]}}});
    // The inner hook has ended, and its child has come to the outer one, when the time is over.
    let script =
        format!("cd inner && CLAUDE_PROJECT_DIR=$PWD {} SubagentStop && sleep 300", binary().display());
    let shown = shown(with_timeout(&script).file("inner/.conclaude.yaml", inner.to_string()));
    let first = shown.lines().next().unwrap();
    assert!(first.ends_with("…` timed out after 1 s and was terminated"), "{shown}");
    gone(&sleep);
}

#[test]
fn a_mark_names_all_the_commands_that_it_is_inside_of() {
    let inner = json!({"subagentStop": {"commands": {"*": [{"run": "echo $CONCLAUDE_COMMAND_ID > mark"}]}}});
    let script = format!(
        "echo $CONCLAUDE_COMMAND_ID > mark; cd inner && CLAUDE_PROJECT_DIR=$PWD {} SubagentStop",
        binary().display()
    );
    let test = hook(json!([{"run": script}])).file("inner/.conclaude.yaml", inner.to_string());
    let done = test.env("CONCLAUDE_COMMAND_ID", "").run();
    let (outer, nested) = (done.read("mark"), done.read("inner/mark"));
    let (first, last) = nested.trim_end().rsplit_once('/').unwrap();
    assert_eq!(first, outer.trim_end());
    assert!(!last.is_empty() && !outer.contains('/'), "{outer} {nested}");
}
