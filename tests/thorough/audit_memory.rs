//! A trail of any length, and a folder of any number of files, in the memory of a small process. `tests/stress/long_trail.rs`
//! does the same with a gigabyte.

#![cfg(unix)]

use std::fmt::Write;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use sha2::{Digest, Sha256};

use crate::common::snapshot::{ProgramOutput, steady};
use crate::common::workflow::MARKERS;
use crate::common::{Test, binary, run_in};

const STEP: &str = "steps/01-01.json";
const RECORDS: usize = 30;

/// Records as long as they get, in one file: together more than the process may have.
fn long_trail(test: &Test) {
    let text = "x".repeat(400_000);
    let mut prev = "0".repeat(64);
    let mut trail = String::new();
    for seq in 1..=RECORDS {
        let body = format!(
            r#"{{"seq":{seq},"time":"2026-01-01T00:00:00Z","event":"des run","session":"s","agent":"a","step":"{STEP}","phase":"OLD","decision":"PASS","reason":"{text}","prev":"{prev}""#
        );
        let digest = Sha256::digest(format!("{body}}}"));
        prev = digest.iter().fold(String::new(), |mut hash, byte| {
            write!(hash, "{byte:02x}").unwrap();
            hash
        });
        writeln!(trail, "{body},\"hash\":\"{prev}\"}}").unwrap();
    }
    let folder = test.root().join(".conclaude/audit");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("audit-0000000001.jsonl"), trail).unwrap();
}

/// With 6 MB of data; the size of the program itself does not count.
fn limited(test: &Test, arguments: &[&str]) -> Command {
    let mut command = test.program("sh");
    command.args(["-c", "ulimit -d 6144; exec \"$@\"", "sh"]).arg(binary()).args(arguments);
    command
}

fn shows(test: &Test, arguments: &[&str]) -> String {
    let output = limited(test, arguments).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| steady(std::str::from_utf8(bytes).unwrap(), &test.root());
    ProgramOutput { code: output.status.code(), stdout: &text(&output.stdout), stderr: &text(&output.stderr) }
        .text()
}

#[test]
fn a_trail_longer_than_the_memory_is_read_and_continued() {
    let test = Test::stop().config("des: {scope: off, phases: [GREEN], evidence: [GREEN]}");
    long_trail(&test);
    assert_eq!(run_in(&test.root(), &["des", "new", STEP, "--project-id", "p"]).0, Some(0));
    assert_snapshot!(shows(&test, &["audit", "verify"]), @"
    exit 0
    ----- stdout
    warning: record 31 was written when there was no copy of the end outside the project: records before it may have been cut off or added
    ✓ 31 records in order
    ");
    assert_snapshot!(shows(&test, &["audit", "stats"]), @"
    exit 0
    ----- stdout
    AGENT  DECISION  COUNT
    -      TODO      1
    a      PASS      30
    ");
    let lines = limited(&test, &["audit", "show", "--json"]).output().unwrap().stdout;
    assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), RECORDS + 1);
    let shown = shows(&test, &["audit", "show", "-n", "1", "--last-session"]);
    let long = "x".repeat(400_000);
    assert_snapshot!(shown.replace(&long, "[400,000 x]"), @"
    exit 0
    ----- stdout
       30 [TIME] des run PASS agent=a step=steps/01-01.json phase=OLD
            [400,000 x]
    ");
    // A gated agent: the call, the run and the stop, each with its record.
    let call = |test: Test, event: &str| {
        let command = limited(&test, &[event]);
        test.run_as(command).status(0).again()
    };
    let test = call(test.call_agent(MARKERS), "PreToolUse").agent_files(MARKERS);
    assert!(limited(&test, &["des", "run", STEP, "GREEN", "--", "true"]).status().unwrap().success());
    let test = call(test.stops(), "SubagentStop");
    assert_snapshot!(shows(&test, &["des", "status"]), @"
    exit 0
    ----- stdout
    STEP              TASK   STATE  PHASES  LAST AGENT  BLOCKS
    steps/01-01.json  01-01  DONE   1/1     coder       0
    ");
}

#[test]
fn thousands_of_empty_files_cost_a_record_nothing() {
    let config = "subagentStop: {commands: {coder: [{run: 'true'}]}}";
    let test = Test::stop().config(config).run().silent().again();
    let folder = test.root().join(".conclaude/audit");
    for number in 2..3_000 {
        std::fs::write(folder.join(format!("audit-{number:010}.jsonl")), "").unwrap();
    }
    let command = limited(&test, &["SubagentStop"]);
    let test = test.run_as(command).silent().again();
    assert_snapshot!(shows(&test, &["audit", "verify"]), @"
    exit 0
    ----- stdout
    ✓ 2 records in order
    ");
}
