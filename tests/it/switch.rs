//! `CONCLAUDE=0` switches every event off, for one session.

use crate::common::Test;

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: touch ran; exit 1, onFailure: block}]}}\n";

#[test]
fn switched_off_no_event_does_anything_and_the_start_of_the_session_says_so() {
    for value in ["0", "off", "False"] {
        let test =
            Test::event("SessionStart").config(CONFIG).payload("source", "startup").env("CONCLAUDE", value);
        let answer = test.run().status(0);
        assert_eq!(
            answer.message(),
            format!(
                "conclaude: switched off for this session by CONCLAUDE={value}: no command runs, and nothing is gated or recorded"
            )
        );
        let answer = answer.again().then("SubagentStop").run().silent();
        assert!(!answer.has("ran") && !answer.has(".conclaude"));
        let mut test = answer.again();
        for event in ["SubagentStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionEnd"]
        {
            test = test.then(event).run().silent().again();
        }
    }
}

#[test]
fn it_is_said_once_in_a_session() {
    for source in ["compact", "clear"] {
        let test = Test::event("SessionStart").config(CONFIG).env("CONCLAUDE", "0");
        test.payload("source", source).run().silent();
    }
}

#[test]
fn any_other_value_switches_nothing_off() {
    let blocked = ["1", "", "on", "no idea"]
        .map(|value| Test::stop().config(CONFIG).env("CONCLAUDE", value).run().blocked());
    insta::assert_snapshot!(crate::common::snapshot::same(&blocked), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `touch ran; exit 1` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_payload_that_cannot_be_read_is_no_error_while_it_is_off() {
    for event in ["SubagentStop", "PreToolUse", "Stop"] {
        Test::event(event).config("broken: [").stdin("no JSON").env("CONCLAUDE", "0").run().silent();
    }
}

#[test]
fn registered_for_all_projects_it_is_switched_off_too() {
    let test = Test::event("SessionStart").config(CONFIG).flag("--if-trusted").env("CONCLAUDE", "0");
    insta::assert_snapshot!(test.run().message(), @"conclaude: switched off for this session by CONCLAUDE=0: no command runs, and nothing is gated or recorded");
}
