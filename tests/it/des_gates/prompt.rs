//! Where the prompt of an agent is found.

use insta::assert_snapshot;
use serde_json::json;

use crate::common::workflow::{MARKERS, codes, todo};
use crate::common::{Test, agent_call, capture};

#[test]
fn what_gate_1_remembered_outranks_the_transcript() {
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again();
    // The agent's transcript says something else, or is gone.
    let done = test.agent_files("Just do it.").stops().run();
    assert_snapshot!(done.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let test = done.again();
    std::fs::remove_file(test.root().join("main/subagents/agent-a1b2c3.jsonl")).unwrap();
    assert_snapshot!(test.run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 2 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_transcript_may_have_any_of_its_forms() {
    let forms = [
        json!({"role": "user", "content": MARKERS, "timestamp": "t"}),
        json!({"role": "user", "content": [{"type": "text", "text": MARKERS}]}),
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": MARKERS}]}}),
    ];
    let odd = [
        json!({"role": "user", "content": MARKERS, "timestamp": 17}).to_string(),
        format!(
            "{}\n{}",
            json!({"role": "system", "content": "x"}),
            json!({"role": "user", "content": MARKERS})
        ),
        format!(
            "{}\n{}",
            json!({"type": "note", "message": "text"}),
            json!({"role": "user", "content": MARKERS})
        ),
        format!("garbage\n{}", json!({"role": "user", "content": MARKERS})),
    ];
    for text in odd {
        let test = Test::stop().step(&todo()).file("main/subagents/agent-a1b2c3.jsonl", &text);
        assert_eq!(codes(&test.stops().run().blocked()), ["SILENT_COMPLETION"], "{text}");
    }
    for form in forms {
        let test = Test::stop()
            .step(&todo())
            .file("main/subagents/agent-a1b2c3.jsonl", format!("{form}\n{{truncated"));
        assert_eq!(codes(&test.stops().run().blocked()), ["SILENT_COMPLETION"], "{form}");
    }
    let test = Test::stop()
        .step(&todo())
        .file("main/subagents/agent-a1b2c3.jsonl", capture("transcript-subagent.jsonl"));
    assert_snapshot!(test.stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn what_is_quoted_later_never_counts() {
    let lines = [
        json!({"type": "user", "message": {"role": "user", "content": "Read the docs."}}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": MARKERS}}),
        json!({"type": "user", "message": {"role": "user", "content": MARKERS}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let test = Test::stop().step(&todo()).file("main/subagents/agent-a1b2c3.jsonl", text);
    test.stops().run().silent();
    let only_assistant = format!("{}\n", lines[1]);
    Test::stop()
        .step(&todo())
        .file("main/subagents/agent-a1b2c3.jsonl", only_assistant)
        .stops()
        .run()
        .silent();
}

#[test]
fn without_its_own_transcript_the_call_in_the_main_one_counts() {
    let call = agent_call("Agent", "toolu_1", "coder").replace("do it", &MARKERS.replace('\n', "\\n"));
    let other = agent_call("Agent", "toolu_2", "coder");
    let test = Test::stop().step(&todo()).meta().file("main.jsonl", format!("{call}\n{other}\n"));
    assert_snapshot!(test.stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // Without an id only the most recent call counts, and only if it is one of this agent.
    let older =
        |calls: String| Test::stop().step(&todo()).file("main.jsonl", calls).stops().without("agent_id");
    assert_snapshot!(older(format!("{other}\n{call}\n")).run().blocked(), @"
    Validation failed: coder may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    older(format!("{call}\n{other}\n")).run().silent();
    older(call).payload("agent_type", "tester").run().silent();
}

#[test]
fn a_transcript_that_comes_late_is_waited_for() {
    let test = Test::stop().step(&todo()).file("main.jsonl", "{}\n").meta().stops();
    // The hook marks its arrival there, and looks for the prompt next.
    let test = test.file(".conclaude/state/last/.keep", "");
    let child = test.spawn();
    let arrived = test.root().join(".conclaude/state/last/SubagentStop");
    crate::common::wait::until("the start of the hook", || arrived.exists());
    let line = json!({"type": "user", "message": {"role": "user", "content": MARKERS}});
    std::fs::write(test.root().join("main/subagents/agent-a1b2c3.jsonl"), format!("{line}\n")).unwrap();
    assert_eq!(codes(&test.outcome_of(child).blocked()), ["SILENT_COMPLETION"]);
}

#[cfg(unix)]
#[test]
fn a_transcript_that_never_comes_does_not_hold_the_hook() {
    let test = Test::stop().step(&todo());
    // A main transcript that cannot be read, as if that were not enough.
    assert!(test.program("mkfifo").arg(test.root().join("main.jsonl")).status().unwrap().success());
    test.stops().env("TEST_LIMIT_OF_CONCLAUDE", "1").run().silent();
}
