//! A trail of a gigabyte, and a folder of thousands of empty files: at most 32 MB to read or continue them.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::common::workflow::MARKERS;
use crate::common::{Test, binary};
use crate::support::{alone, figure, wait_with_peak};

const STEP: &str = "steps/01-01.json";
const BYTES: usize = 1 << 30;

/// What a file of the trail holds by default.
const FILE_BYTES: usize = 16 << 20;

/// Short records of `des run`, in as many files as conclaude would make.
fn write_trail(test: &Test) -> u64 {
    let folder = test.root().join(".conclaude/audit");
    std::fs::create_dir_all(&folder).unwrap();
    let (mut seq, mut prev) = (0, "0".repeat(64));
    let mut line = String::new();
    let mut written = 0;
    while written < BYTES {
        let path = folder.join(format!("audit-{:010}.jsonl", seq + 1));
        let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
        let end = written + FILE_BYTES;
        while written < end {
            seq += 1;
            line.clear();
            write!(line, r#"{{"seq":{seq},"time":"2026-01-01T00:00:00Z","event":"des run","session":"s","agent":"agent-{}","step":"{STEP}","phase":"GREEN","decision":"PASS","evidence":{{"command":"cargo test --test it -- module_{}","exit_code":0,"duration_ms":1200}},"prev":"{prev}""#, seq % 50, seq % 500).unwrap();
            let mut hash = Sha256::new();
            hash.update(line.as_bytes());
            hash.update(b"}");
            prev.clear();
            for byte in hash.finalize() {
                write!(prev, "{byte:02x}").unwrap();
            }
            writeln!(line, ",\"hash\":\"{prev}\"}}").unwrap();
            file.write_all(line.as_bytes()).unwrap();
            written += line.len();
        }
    }
    seq
}

/// With 80 MB of address space. The program takes 12 MB of it, and the allocator asks for pieces of 32 MB and uses little of them.
fn limited(test: &Test, arguments: &[&str]) -> Command {
    let mut command = test.program("sh");
    command.args(["-c", "ulimit -v 81920; exec \"$@\"", "sh"]).arg(binary()).args(arguments);
    command.current_dir(test.root());
    command
}

fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let done = run();
    (done, started.elapsed())
}

#[test]
fn a_gigabyte_of_trail_is_read_and_continued_in_32_mb() {
    let _alone = alone();
    let test = Test::stop().config("des: {scope: off, phases: [GREEN], evidence: [GREEN]}");
    let records = write_trail(&test);
    let reads: [&[&str]; 6] = [
        &["audit", "verify"],
        &["audit", "stats"],
        &["audit", "show"],
        &["audit", "show", "--json", "-n", "10"],
        &["audit", "show", "--last-session", "-n", "1"],
        &["des", "status"],
    ];
    let mut whole = Duration::ZERO;
    for arguments in reads {
        let mut command = limited(&test, arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let ((status, peak), time) = timed(|| wait_with_peak(&mut child));
        if arguments == ["audit", "verify"] {
            whole = time;
        }
        assert!(status.success(), "{arguments:?}: {status}");
        assert!(peak > 0.0 && peak < 32.0, "{arguments:?}: {peak:.1} MB");
        let seconds = time.as_secs_f64();
        figure(&format!(
            "`{}` of {records} records, 1 GB: {seconds:.1} s, {peak:.1} MB",
            arguments.join(" ")
        ));
    }
    let mut des = limited(&test, &["des", "new", STEP, "--project-id", "p"]);
    assert!(des.stdin(Stdio::null()).output().unwrap().status.success());
    let call = |test: Test, event: &str| {
        let command = limited(&test, &[event]);
        timed(|| test.run_as(command).status(0).again())
    };
    let (test, called) = call(test.call_agent(MARKERS), "PreToolUse");
    let test = test.agent_files(MARKERS);
    let mut des = limited(&test, &["des", "run", STEP, "GREEN", "--", "true"]);
    assert!(des.stdin(Stdio::null()).output().unwrap().status.success());
    let (_test, stopped) = call(test.stops(), "SubagentStop");
    // They do not read all of it.
    assert!(called * 4 < whole && stopped * 4 < whole, "{called:?}, {stopped:?}: all of it takes {whole:?}");
    figure(&format!(
        "after 1 GB of trail a gated call takes {} ms, its stop {} ms",
        called.as_millis(),
        stopped.as_millis()
    ));
}

#[test]
fn three_thousand_empty_files_cost_a_record_nothing() {
    let _alone = alone();
    let config = "subagentStop: {commands: {coder: [{run: 'true'}]}}";
    let mut test = Test::stop().config(config).run().silent().again();
    let folder = test.root().join(".conclaude/audit");
    for number in 2..3_002 {
        std::fs::write(folder.join(format!("audit-{number:010}.jsonl")), "").unwrap();
    }
    for has_end in [true, false] {
        if !has_end {
            std::fs::remove_dir_all(test.root().join(".state-home")).unwrap();
        }
        let command = limited(&test, &["SubagentStop"]);
        let (done, time) = timed(|| test.run_as(command).silent());
        assert!(time < Duration::from_secs(20), "{time:?}");
        let end = if has_end { "with" } else { "without" };
        figure(&format!("a record after 3,000 empty files, {end} its end outside: {} ms", time.as_millis()));
        test = done.again();
    }
}
