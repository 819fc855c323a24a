//! Step files below the folder that the session works in, in a project whose root is above it.

use insta::assert_snapshot;

use crate::common::Test;
use crate::common::workflow::{MARKERS, codes, done, todo};

/// A repository whose root is above the package that the session works in.
fn monorepo(step: &serde_json::Value) -> Test {
    let test = Test::stop().file("packages/web/steps/01-01.json", format!("{step:#}\n"));
    let test = test.file("packages/web/src/a.rs", "1").file("src/a.rs", "1").committed();
    let cwd = test.root().join("packages/web");
    test.payload("cwd", cwd.to_str().unwrap()).without_env("CLAUDE_PROJECT_DIR")
}

// Scenario: `cwd` is used for file path resolution
#[test]
fn seed_004_line_81_a_step_file_below_the_cwd_is_found_where_it_is_not_below_the_root() {
    let called = monorepo(&todo()).call_agent(MARKERS).run();
    let prompt = called.updated_input()["prompt"].as_str().unwrap().to_owned();
    assert!(prompt.contains("Its step file is `packages/web/steps/01-01.json`"), "{prompt}");
    assert_eq!(called.audit()[0]["step"], "packages/web/steps/01-01.json");
    let stopped = called.again().agent_files(MARKERS).stops().run();
    assert_eq!(codes(&stopped.blocked()), ["SILENT_COMPLETION"]);
    assert_eq!(stopped.audit().last().unwrap()["step"], "packages/web/steps/01-01.json");
    let finished = stopped.again().file("packages/web/steps/01-01.json", format!("{:#}\n", done()));
    assert_eq!(finished.run().code, Some(0));
}

#[test]
fn the_step_of_the_call_counts_wherever_the_session_is_at_the_stop() {
    let test = monorepo(&todo()).call_agent(MARKERS).run().again().agent_files(MARKERS);
    let root = test.root();
    // The session went back to the top, where the agent has put a step that is done.
    let test = test.file("steps/01-01.json", format!("{:#}\n", done())).stops();
    let stopped = test.payload("cwd", root.to_str().unwrap()).run();
    assert_eq!(codes(&stopped.blocked()), ["SILENT_COMPLETION", "SCOPE_VIOLATION"]);
}

#[test]
fn without_a_call_that_gate_1_saw_gates_2_and_3_look_there_too() {
    let stopped = monorepo(&todo()).agent_files(MARKERS).stops().run();
    assert_eq!(codes(&stopped.blocked()), ["SILENT_COMPLETION"]);
    let test = stopped.again();
    let (inside, outside) = (test.root().join("src/a.rs"), test.root().join("README.md"));
    let test = test.writes("Write", "file_path", inside.to_str().unwrap()).run().silent().again();
    let denied = test.writes("Write", "file_path", outside.to_str().unwrap()).run().denied();
    assert_eq!(codes(&denied), ["SCOPE_VIOLATION"]);
}

#[test]
fn the_root_comes_first() {
    let test = monorepo(&todo()).step(&todo());
    let called = test.call_agent(MARKERS).run();
    assert_eq!(called.audit()[0]["step"], "steps/01-01.json");
}

#[test]
fn seed_004_line_81_a_step_file_that_is_nowhere_is_said_to_be_missing_in_each_folder() {
    let prompt = MARKERS.replace("01-01.json", "gone.json");
    assert_snapshot!(monorepo(&todo()).call_agent(&prompt).run().denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_MISSING: steps/gone.json does not exist in [ROOT] or [ROOT]/packages/web → name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`
    ");
    let outside = MARKERS.replace("steps/01-01.json", "../../../x.json");
    let reason = monorepo(&todo()).call_agent(&outside).run().denied();
    assert_eq!(codes(&reason), ["STEP_FILE_OUTSIDE_PROJECT"]);
    // A folder outside of the project is not searched.
    let other = crate::common::scratch();
    std::fs::create_dir(other.path().join("steps")).unwrap();
    std::fs::write(other.path().join("steps/01-01.json"), todo().to_string()).unwrap();
    let test = Test::stop().payload("cwd", other.path().to_str().unwrap());
    assert_eq!(codes(&test.call_agent(MARKERS).run().denied()), ["STEP_FILE_MISSING"]);
}
