//! A panic anywhere, in any event, leads to the answer that is documented for it, and never in silence.

use std::collections::BTreeMap;

use conclaude_core::event;
use insta::assert_snapshot;

use crate::common::snapshot::same;
use crate::common::workflow::{MARKERS, todo};
use crate::common::{Outcome, Test, capture};

/// Makes the call with a panic at this point of it.
fn panic_at(point: &str, test: Test) -> Outcome {
    test.env("CONCLAUDE_TEST_PANIC", point).run()
}

/// A write by an agent, outside of its scope.
fn write() -> Test {
    Test::gated_stop(&todo()).writes("Write", "file_path", "README.md")
}

#[test]
fn in_every_event_it_is_exit_1_and_shown_where_claude_code_shows_it() {
    let mut answers: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for event in event::ALL {
        let name = event.name();
        let done = panic_at("event", Test::event(name).stdin(capture(&format!("{name}.json"))));
        answers.entry(done.snapshot().replace(name, "[EVENT]")).or_default().push(name);
        let expected = event.is_shown() || matches!(name, "SubagentStop" | "PreToolUse");
        assert_eq!(!done.stdout.is_empty(), expected, "{name}");
        assert!(!done.has(".conclaude"), "{name}: nothing is written");
    }
    // Whether a gate applies was not known yet at a stop of an agent, and at a call with markers.
    let answers = answers.into_iter().map(|(answer, mut events)| {
        events.sort_unstable();
        format!("{}\n{answer}", events.join(" "))
    });
    assert_snapshot!(answers.collect::<Vec<_>>().join("\n\n"), @r#"
    ConfigChange CwdChanged DirectoryAdded Elicitation ElicitationResult FileChanged InstructionsLoaded MessageDisplay Notification PermissionDenied PermissionRequest PostCompact PostModelSwitch PreCompact PreModelSwitch SessionEnd Setup StopFailure SubagentStart TaskCompleted TaskCreated TeammateIdle WorktreeCreate WorktreeRemove
    exit 1
    ----- stderr
    conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message

    PostToolBatch PostToolUse PostToolUseFailure SessionStart Stop UserPromptExpansion UserPromptSubmit
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message"
    }
    ----- stderr: the same

    SubagentStop
    exit 2
    ----- stdout
    {
      "decision": "block",
      "reason": "conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated."
    }
    ----- stderr: the same

    PreToolUse
    exit 2
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "[EVENT]",
        "permissionDecision": "deny",
        "permissionDecisionReason": "conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated."
      }
    }
    ----- stderr: the same
    "#);
}

#[test]
fn in_the_plan_of_a_subagents_event_it_is_exit_1_once_no_stop_may_be_blocked_any_more() {
    let mut shown = Vec::new();
    for test in [Test::start(), Test::stop().payload("stop_hook_active", true)] {
        shown.push(panic_at("plan", test).snapshot());
    }
    assert_snapshot!(same(&shown), @"
    exit 1
    ----- stderr
    conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message
    ");
}

/// Nobody sees an exit 1 at that event: the stop of a gated agent went ahead in silence.
#[test]
fn before_the_gates_are_known_it_blocks_the_first_stop_and_denies_the_write_of_an_agent() {
    let first = ["event", "plan"].map(|point| panic_at(point, Test::gated_stop(&todo())));
    assert_snapshot!(same(&first.each_ref().map(Outcome::blocked)), @"conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated.");
    let second = first.map(|done| done.again().payload("stop_hook_active", true).run().snapshot());
    assert_snapshot!(same(&second), @"
    exit 1
    ----- stderr
    conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message
    ");
    assert_snapshot!(panic_at("event", write()).denied(), @"conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated.");
    panic_at("event", Test::stop().writes("Write", "file_path", "README.md").without("agent_id")).status(1);
}

#[test]
fn in_a_gate_before_a_call_or_a_write_it_is_a_deny() {
    let mut shown = Vec::new();
    for test in [Test::stop().step(&todo()).call_agent(MARKERS), write()] {
        shown.push(panic_at("gate", test).denied());
    }
    assert_snapshot!(same(&shown), @"conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated.");
}

#[test]
fn in_the_gate_at_a_stop_it_blocks_the_first_one_and_is_exit_1_after() {
    let done = panic_at("gate", Test::gated_stop(&todo()));
    assert_snapshot!(done.blocked(), @"conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated.");
    assert_snapshot!(done.again().payload("stop_hook_active", true).run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message
    ");
    // A gate that only warns has nothing to block.
    let warning = Test::gated_stop(&todo()).config("des: {onViolation: warn}");
    panic_at("gate", warning).status(1);
}

#[test]
fn where_no_gate_applies_a_tool_is_not_held_up() {
    for test in [
        Test::stop().call_agent("no markers"),
        Test::stop().writes("Write", "file_path", "README.md"),
        Test::stop().writes("Bash", "command", "ls"),
    ] {
        panic_at("gate", test).silent();
    }
}

/// The write went ahead, since only gates were asked for.
#[test]
fn where_guards_apply_a_tool_is_denied() {
    let config = "preToolUse: {uneditableFiles: [.env]}\n";
    let test = || Test::stop().config(config).writes("Write", "file_path", ".env").without("agent_id");
    // Also before it is known what else applies.
    let shown = ["agent", "plan"].map(|point| panic_at(point, test()).denied());
    assert_snapshot!(same(&shown), @"conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated.");
    let test = Test::event("WorktreeCreate").config("worktreeCreate: {commands: [{run: make worktree}]}\n");
    assert_snapshot!(panic_at("plan", test.payload("name", "w")).snapshot(), @"
    exit 2
    ----- stderr
    conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated.
    ");
}
