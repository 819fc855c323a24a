//! A panic anywhere, in any event, ends in the answer that is documented for it, and never in silence.

use crate::common::workflow::{MARKERS, todo};
use crate::common::{Outcome, Test, capture};
use conclaude::event;

/// Expects that the message asks for a report, and that nothing but it is said.
#[track_caller]
fn asks_for_a_report(done: &Outcome, event: &str) {
    assert!(done.stderr.starts_with("conclaude: internal error at src/hooks/"), "{event}: {}", done.stderr);
    assert!(done.stderr.contains("This is a bug in conclaude"), "{event}: {}", done.stderr);
    assert!(done.stderr.contains("please report it with this message"), "{event}: {}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1, "{event}: {}", done.stderr);
}

#[test]
fn in_every_event_it_is_exit_1_and_told_where_the_client_shows_it() {
    for event in event::ALL {
        let name = event.name();
        let payload = capture(&format!("{name}.json"));
        let text = String::from_utf8(payload.clone()).unwrap();
        let done = Test::event(name).stdin(payload).env("CONCLAUDE_TEST_PANIC", "event").run();
        asks_for_a_report(&done, name);
        let unknown = "It is blocked, since a gate could not be evaluated.";
        match name {
            // Whether a gate applies was not known yet.
            "SubagentStop" => assert!(done.blocked().ends_with(unknown)),
            "PreToolUse" if text.contains("DES-VALIDATION") => assert!(done.denied().ends_with(unknown)),
            _ => assert_eq!(done.code, Some(1), "{name}"),
        }
        if matches!(name, "SubagentStop" | "PreToolUse") {
            continue;
        }
        if conclaude::dialect::claude::abilities::is_shown(*event) {
            let told: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
            assert_eq!(told, serde_json::json!({ "systemMessage": done.stderr.trim_end() }), "{name}");
        } else {
            assert_eq!(done.stdout, "", "{name}");
        }
        assert!(!done.has(".conclaude"), "{name}: nothing is written");
    }
}

#[test]
fn in_the_plan_of_a_subagents_event_it_is_exit_1_once_no_stop_may_be_blocked_any_more() {
    let start = Test::start();
    let later = Test::stop().payload("stop_hook_active", true);
    for test in [start, later] {
        let done = test.env("CONCLAUDE_TEST_PANIC", "plan").run().status(1);
        asks_for_a_report(&done, "plan");
        assert_eq!(done.stdout, "");
    }
}

/// Nobody sees an exit 1 at that event: the stop of a gated agent went ahead in silence.
#[test]
fn before_the_gates_are_known_it_blocks_the_first_stop_and_denies_the_write_of_an_agent() {
    for point in ["event", "plan"] {
        let done = Test::gated_stop(&todo()).env("CONCLAUDE_TEST_PANIC", point).run();
        assert!(done.blocked().ends_with("It is blocked, since a gate could not be evaluated."), "{point}");
        let done = done.again().payload("stop_hook_active", true).run().status(1);
        asks_for_a_report(&done, point);
    }
    let write = Test::gated_stop(&todo()).writes("Write", "file_path", "README.md");
    let done = write.env("CONCLAUDE_TEST_PANIC", "event").run();
    assert!(done.denied().ends_with("It is blocked, since a gate could not be evaluated."));
    let outside = Test::stop().writes("Write", "file_path", "README.md").without("agent_id");
    outside.env("CONCLAUDE_TEST_PANIC", "event").run().status(1);
}

#[test]
fn in_a_gate_before_a_call_or_a_write_it_is_a_deny() {
    let call = Test::stop().step(&todo()).call_agent(MARKERS);
    let write = Test::gated_stop(&todo()).writes("Write", "file_path", "README.md");
    for test in [call, write] {
        let done = test.env("CONCLAUDE_TEST_PANIC", "gate").run();
        assert!(done.denied().ends_with("It is blocked, since a gate could not be evaluated."));
        asks_for_a_report(&done, "PreToolUse");
    }
}

#[test]
fn in_the_gate_at_a_stop_it_blocks_the_first_one_and_is_exit_1_after() {
    let done = Test::gated_stop(&todo()).env("CONCLAUDE_TEST_PANIC", "gate").run();
    assert!(done.blocked().ends_with("It is blocked, since a gate could not be evaluated."));
    asks_for_a_report(&done, "SubagentStop");
    let done = done.again().payload("stop_hook_active", true).run().status(1);
    asks_for_a_report(&done, "SubagentStop");
    // A gate that only warns has nothing to block.
    let warning = Test::gated_stop(&todo()).config("des: {onViolation: warn}");
    let done = warning.env("CONCLAUDE_TEST_PANIC", "gate").run().status(1);
    asks_for_a_report(&done, "SubagentStop");
}

#[test]
fn where_no_gate_applies_a_tool_is_not_held_up() {
    for test in [
        Test::stop().call_agent("no markers"),
        Test::stop().writes("Write", "file_path", "README.md"),
        Test::stop().writes("Bash", "command", "ls"),
    ] {
        test.env("CONCLAUDE_TEST_PANIC", "gate").run().silent();
    }
}
