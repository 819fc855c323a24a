//! The scope at a stop: what was changed, and by whom.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{worked, worked_with};
use crate::common::Test;
use crate::common::workflow::{MARKERS, done, todo};

#[test]
fn changes_inside_the_scope_pass() {
    worked(|test| test.file("src/a.rs", "2").file("src/new/b.rs", "2")).run().silent();
}

#[test]
fn changes_outside_the_scope_block_however_they_were_made() {
    let changes: [fn(Test) -> Test; 4] = [
        |test| test.file("README.md", "2"),
        |test| test.file("untracked.txt", "2"),
        |test| test.file("README.md", "2").git(&["add", "README.md"]),
        |test| test.file("README.md", "2").git(&["commit", "-qam", "y"]),
    ];
    assert_snapshot!(changes.map(|change| worked(change).run().blocked()).join("\n"), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: untracked.txt was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn git_settings_do_not_hide_a_change() {
    let reason =
        worked(|test| test.git(&["update-index", "--assume-unchanged", "README.md"]).file("README.md", "2"))
            .run()
            .blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn what_was_dirty_before_the_call_does_not_count() {
    let test = Test::stop()
        .step(&todo())
        .file("README.md", "1")
        .committed()
        .file("README.md", "mine")
        .file("note", "mine");
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS).step(&done()).stops();
    let done = test.run().silent();
    assert_snapshot!(done.again().file("note", "changed").run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: note was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn scope_can_warn_or_be_off() {
    let change = |test: Test| test.file("README.md", "2");
    let done = worked_with("des: {scope: warn}", change).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
    worked_with("des: {scope: off}", change).run().silent();
}

#[test]
fn without_git_or_a_baseline_scope_only_warns() {
    let done = Test::gated_stop(&done()).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ");
    let done = Test::gated_stop(&crate::common::workflow::done()).committed().run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: Gate 1 did not see this call, so there is no baseline → look yourself at what was changed: the scope was not checked
    ");
}

#[test]
fn while_others_work_in_the_same_tree_only_own_writes_block() {
    let other = json!({"type": "user", "message": {"role": "user", "content": "x"}}).to_string();
    let both = |test: Test| test.file("README.md", "2").file("main/subagents/agent-other.jsonl", &other);
    let done = worked(both).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: README.md was changed while others worked in the same tree → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
    let wrote = json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "x", "name": "Edit", "input": {"file_path": "README.md"}}]}});
    let prompt = json!({"type": "user", "message": {"role": "user", "content": MARKERS}});
    let own =
        |test: Test| both(test).file("main/subagents/agent-a1b2c3.jsonl", format!("{prompt}\n{wrote}\n"));
    assert_snapshot!(worked(own).run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_main_thread_at_work_meanwhile_makes_scope_fair_too() {
    let background = |main: Value| {
        let test = Test::stop().step(&todo()).file("README.md", "1").committed().call_agent(MARKERS);
        let input = json!({"prompt": MARKERS, "subagent_type": "coder"});
        let test = test.payload("tool_input", input).run().again();
        test.agent_files(MARKERS)
            .step(&done())
            .file("main.jsonl", format!("{main}\n"))
            .file("README.md", "2")
            .stops()
            .run()
    };
    let edit = |time: &str| {
        json!({"type": "assistant", "timestamp": time, "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "x", "name": "Edit", "input": {"file_path": "README.md"}}]}})
    };
    assert_snapshot!(background(edit("2999-01-01T00:00:00.000Z")).message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: README.md was changed while others worked in the same tree → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
    assert_snapshot!(background(edit("2000-01-01T00:00:00.000Z")).blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let mut read = edit("2999-01-01T00:00:00.000Z");
    read["message"]["content"][0]["name"] = "Read".into();
    assert_snapshot!(background(read).blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn an_agent_in_a_worktree_is_judged_there() {
    let test = Test::stop().step(&todo()).file("src/a.rs", "1").file("README.md", "1").committed();
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
    let test = test.git(&["worktree", "add", "-q", ".claude/worktrees/agent-a1b2c3", "-b", "agent"]);
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3");
    // The main tree may change as it likes; the step in the worktree is the one that counts.
    let test =
        test.file("README.md", "the user's").stops().payload("cwd", worktree.join("src").to_str().unwrap());
    let done = test.run();
    assert_snapshot!(done.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let step = format!("{:#}\n", crate::common::workflow::done());
    let test = done.again().file(".claude/worktrees/agent-a1b2c3/steps/01-01.json", step);
    let done = test.file(".claude/worktrees/agent-a1b2c3/src/a.rs", "2").run();
    assert_eq!(done.message(), "conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
    let done = done.again().file(".claude/worktrees/agent-a1b2c3/README.md", "2").run();
    assert_snapshot!(done.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 2 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert!(!done.has(".claude/worktrees/agent-a1b2c3/.conclaude"), "state stays at the root");
}

#[test]
fn a_resumed_agent_does_not_answer_for_what_happened_between_its_lives() {
    let stopped = worked(|test| test).run().silent();
    let edit = json!({"type": "assistant", "timestamp": "2999-01-01T00:00:00.000Z", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "x", "name": "Edit", "input": {"file_path": "README.md"}}]}});
    let test = stopped.again().file("main.jsonl", format!("{edit}\n")).file("README.md", "the user's");
    let test = test.starts().run().silent().again();
    assert_snapshot!(test.stops().run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: README.md was changed while others worked in the same tree → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
}

#[test]
fn what_configured_commands_write_is_not_the_agents_doing() {
    let config = "subagentStart: {commands: {'*': [{run: echo x > start.log}]}}\nsubagentStop: {commands: {'*': [{run: echo y > coverage.txt}]}}\n";
    let test = Test::stop().config(config).step(&todo()).file("src/a.rs", "1").committed();
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
    let test = test.starts().run().silent().again();
    let first = test.stops().run();
    assert_snapshot!(first.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let done = first.again().step(&done()).run();
    assert_eq!(done.message(), "conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
    let changed = done.again().file("start.log", "the agent's").run().blocked();
    assert_snapshot!(changed, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 2 of 3):
    ✗ SCOPE_VIOLATION: start.log was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[cfg(unix)]
#[test]
fn a_gate_starts_git_only_where_head_moved() {
    let config = "subagentStop: {commands: {'*': [{run: echo y > coverage.txt}]}}\n";
    let test = Test::stop().step(&todo()).file("src/a.rs", "1").committed().counting_git();
    let called = test.call_agent(MARKERS).run();
    assert_eq!(called.git_calls(), 0, "Gate 1");
    let worked = called.again().agent_files(MARKERS).step(&done()).file("src/a.rs", "2").stops();
    let stopped = worked.run().silent();
    assert_eq!(stopped.git_calls(), 0, "Gate 3");
    let with_command = stopped.again().config(config).run();
    assert_eq!(with_command.git_calls(), 0, "Gate 3 with a command: {}", with_command.stderr);
    let moved = with_command.again().git(&["add", "src"]).git(&["commit", "-qm", "y"]);
    // What the test itself started does not count.
    moved.forget_git_calls();
    assert_eq!(moved.run().git_calls(), 1, "a moved HEAD costs a diff");
    let outside = Test::stop().step(&todo()).counting_git().call_agent(MARKERS).run();
    assert_eq!(outside.git_calls(), 0, "no repository, no git");
}

#[test]
fn what_a_sparse_checkout_leaves_out_was_not_touched() {
    let test = Test::stop().step(&todo()).file("src/a.rs", "1").file("other/b", "1").committed();
    let test = test.git(&["sparse-checkout", "set", "--cone", "src", "steps"]);
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS).step(&done());
    test.stops().run().silent();
}
