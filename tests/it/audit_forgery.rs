//! What an agent can write into the project's audit folder proves nothing: the end of the trail, what waits for it and where
//! the proofs are is kept outside the project.

use insta::assert_snapshot;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::workflow::MARKERS;
use crate::common::{Test, run_in};

const STEP: &str = "steps/01-01.json";
const FILE: &str = ".conclaude/audit/audit-0000000001.jsonl";

fn des(test: &Test, arguments: &[&str]) {
    let (code, _, stderr) = run_in(&test.root(), &[&["des"], arguments].concat());
    assert_eq!(code, Some(0), "{stderr}");
}

/// A gated agent at work on a step of one phase, which it claims to have done.
fn at_work() -> Test {
    let test = Test::stop().config("des: {scope: off, phases: [GREEN], evidence: [GREEN]}");
    des(&test, &["new", STEP, "--project-id", "p"]);
    test.call_agent(MARKERS).run().status(0).again().agent_files(MARKERS)
}

fn claims_green(test: Test) -> Test {
    let path = test.root().join(STEP);
    let mut step: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    step["state"]["status"] = "DONE".into();
    let phase = &mut step["tdd_cycle"]["phase_execution_log"][0];
    (phase["status"], phase["outcome"]) = ("EXECUTED".into(), "PASS".into());
    test.step(&step).stops()
}

/// A record of a run that never was, as the next of the trail: anybody can compute its hash.
fn append_forged(test: &Test) {
    let text = std::fs::read_to_string(test.root().join(FILE)).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let body = format!(
        r#"{{"seq":{},"time":"2999-01-01T00:00:00Z","event":"des run","step":"{STEP}","phase":"GREEN","decision":"PASS","evidence":{{"command":"true","exit_code":0}},"prev":{}"#,
        last["seq"].as_u64().unwrap() + 1,
        last["hash"],
    );
    let digest = Sha256::digest(format!("{body}}}"));
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(test.root().join(FILE), format!("{text}{body},\"hash\":\"{hash}\"}}\n")).unwrap();
}

/// The file outside the project that holds the end of the trail.
fn end(test: &Test) -> std::path::PathBuf {
    let entries = std::fs::read_dir(test.root().join(".state-home/conclaude")).unwrap().flatten();
    entries.map(|entry| entry.path()).find(|path| path.is_file()).unwrap()
}

#[test]
fn a_line_in_a_pending_file_of_the_project_is_reported_and_never_merged() {
    let line = format!(
        r#"{{"time":"2999-01-01T00:00:00Z","event":"des run","step":"{STEP}","phase":"GREEN","decision":"PASS","queued":"0"}}"#
    );
    let test = claims_green(at_work()).file(".conclaude/audit/pending-0.jsonl", line + "\n");
    let blocked = test.run();
    assert_snapshot!(blocked.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN: there is no record of a real run → run it: conclaude des run steps/01-01.json GREEN -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let test = blocked.again();
    assert_snapshot!(test.shows(&["audit", "verify"]), @"
    exit 0
    ----- stdout
    warning: pending-0.jsonl is not part of the trail and is never read: conclaude did not write it here, or an older version did
    ✓ 3 records in order
    ");
    let doctor = test.shows(&["doctor"]);
    assert_snapshot!(doctor.lines().filter(|line| line.contains("audit ")).collect::<String>(), @"⚠ audit        3 records, the chain is intact, but pending-0.jsonl is not part of the trail and is never read: conclaude did not write it here, or an older version did               → conclaude audit verify");
}

#[test]
fn a_record_with_a_computed_hash_beyond_our_end_is_named_and_proves_nothing() {
    let test = claims_green(at_work());
    append_forged(&test);
    assert_snapshot!(test.shows(&["audit", "verify"]), @"
    exit 1
    ----- stdout
    ✗ [ROOT]/.conclaude/audit/audit-0000000001.jsonl:3: record 3 was not written by conclaude: the last one it wrote is 2, says the copy of the end that is kept outside the project
      2 records before it in order
    ");
    let blocked = test.run();
    assert_snapshot!(blocked.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN: there is no record of a real run → run it: conclaude des run steps/01-01.json GREEN -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // The record of that stop does not make it one of ours.
    assert_snapshot!(blocked.again().shows(&["audit", "verify"]), @"
    exit 1
    ----- stdout
    ✗ [ROOT]/.conclaude/audit/audit-0000000001.jsonl:3: record 3 is not the one that was written: its hash differs from the copy kept outside the project
      2 records before it in order
    ");
}

#[test]
fn an_end_that_was_cut_with_its_copy_deleted_is_not_called_whole() {
    let test = claims_green(at_work()).run().again();
    std::fs::remove_file(end(&test)).unwrap();
    let text = std::fs::read_to_string(test.root().join(FILE)).unwrap();
    std::fs::write(test.root().join(FILE), text.lines().next().unwrap().to_owned() + "\n").unwrap();
    assert_snapshot!(test.shows(&["audit", "verify"]), @"
    exit 0
    ----- stdout
    warning: there is no copy of the end in [ROOT]/.state-home/conclaude/[HASH].json: records that were cut off or added at the end cannot be noticed
    ✓ 1 record in order
    ");
    // Nor after the next record, which makes another copy.
    let test = test.run().again();
    assert_snapshot!(test.shows(&["audit", "verify"]), @"
    exit 0
    ----- stdout
    warning: record 2 was written when there was no copy of the end outside the project: records before it may have been cut off or added
    ✓ 2 records in order
    ");
    assert_snapshot!(test.shows(&["audit", "verify", "--json"]), @r#"
    exit 0
    ----- stdout
    {
      "ok": true,
      "records": 2,
      "problem": null,
      "warnings": [
        "record 2 was written when there was no copy of the end outside the project: records before it may have been cut off or added"
      ],
      "notes": [],
      "end_compared": true
    }
    "#);
}

#[test]
fn a_reset_during_a_gated_call_voids_no_evidence() {
    let at_work_after = |is_reset_first: bool| {
        let test = at_work();
        let reset = || assert_eq!(run_in(&test.root(), &["audit", "reset"]).0, Some(0));
        if is_reset_first {
            reset();
        }
        des(&test, &["run", STEP, "GREEN", "--", "true"]);
        if !is_reset_first {
            reset();
        }
        test.stops().run().silent().again().shows(&["audit", "verify"])
    };
    assert_snapshot!(at_work_after(true), @"
    exit 0
    ----- stdout
    ✓ 4 records in order
    ");
    assert_snapshot!(at_work_after(false), @"
    exit 0
    ----- stdout
    ✓ 2 records in order
    ");
}

#[test]
fn a_run_from_before_the_call_is_no_proof_after_a_reset() {
    let test = Test::stop().config("des: {scope: off, phases: [GREEN], evidence: [GREEN]}");
    des(&test, &["new", STEP, "--project-id", "p"]);
    des(&test, &["run", STEP, "GREEN", "--", "true"]);
    des(&test, &["new", STEP, "--project-id", "p", "--force"]);
    let test = test.call_agent(MARKERS).run().status(0).again().agent_files(MARKERS);
    run_in(&test.root(), &["audit", "reset"]);
    let reason = claims_green(test).run().blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN: there is no record of a real run → run it: conclaude des run steps/01-01.json GREEN -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_run_whose_proof_cannot_be_kept_says_so_and_can_be_run_again() {
    let test = at_work();
    let runs = test.root().join(".state-home/conclaude/runs");
    std::fs::write(&runs, "in the way").unwrap();
    assert_snapshot!(test.shows(&["des", "run", STEP, "GREEN", "--", "true"]), @"
    exit 0
    ----- stderr
    conclaude: warning: the audit trail cannot be written: cannot keep what proves a phase in [ROOT]/.state-home/conclaude/runs/[HASH]/[HASH].json: File exists (os error 17)
    conclaude: GREEN is EXECUTED: PASS (exit code 0)
    ");
    let blocked = test.stops().run();
    assert_snapshot!(blocked.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN: there is no record of a real run: Not a directory (os error 20) → run it: conclaude des run steps/01-01.json GREEN -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    std::fs::remove_file(runs).unwrap();
    let test = blocked.again();
    des(&test, &["run", STEP, "GREEN", "--", "true"]);
    assert_eq!(test.run().message(), "conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
}
