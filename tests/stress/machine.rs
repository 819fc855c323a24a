//! A machine that is not what it should be: no room, nothing writable, no home, no shell, a clock that goes back.

use serde_json::{Value, json};

use crate::common::workflow::{MARKERS, done, todo};
use crate::common::{Test, binary, run_in, scratch};
use crate::support::{answer, figure, run_as_nobody};

const BLOCKING: &str = "subagentStop: {commands: {'*': [{run: 'exit 3', onFailure: block}]}}\n";
const WARNING: &str = "subagentStop: {commands: {'*': [{run: 'exit 3'}]}}\n";

/// The project moves to a small disk of its own, in a namespace of its own, where the call is then made.
const MOVE: &str = r#"
set -e
cp -a "$1" "$2/project"
mount -t tmpfs -o size=1m tmpfs "$1"
cp -a "$2/project/." "$1"
case $3 in
full) head -c 2097152 /dev/zero > "$1/filler" 2> /dev/null || true ;;
read-only) mount -o remount,ro "$1" ;;
esac
cd /
"#;

const DISKS: [(&str, &str); 2] =
    [("full", "No space left on device"), ("read-only", "Read-only file system")];

struct CallResult {
    code: Option<i32>,
    stdout: Value,
    stderr: String,
}

/// Makes the call with the project on such a disk.
fn on_disk(disk: &str, test: &Test, then: &str) -> CallResult {
    let aside = scratch();
    let mut command = test.program("unshare");
    command.args(["-rm", "sh", "-c", &format!("{MOVE}{then}"), "sh"]);
    command.arg(test.root()).arg(aside.path()).arg(disk).arg(binary()).args(test.command().get_args());
    let output = answer(command, &test.input());
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let stdout = if stdout.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"))
    };
    CallResult { code: output.status.code(), stdout, stderr }
}

/// Expects this exit code, and that stderr says what could not be written and why.
#[track_caller]
fn says(disk: &str, test: &Test, code: i32, words: &[&str]) -> CallResult {
    let done = on_disk(disk, test, "exec \"$4\" \"$5\"");
    assert_eq!(done.code, Some(code), "{disk}: {}\n{}", done.stdout, done.stderr);
    for word in words {
        assert!(done.stderr.contains(word), "{disk}: no {word:?} in {}", done.stderr);
    }
    done
}

const UNRECORDED: &str = "the audit trail cannot be written: ";

#[test]
fn decisions_about_commands_stand_on_a_bad_disk() {
    for (disk, why) in DISKS {
        let warned = says(disk, &Test::stop().config(WARNING), 0, &[UNRECORDED, why]);
        let message = warned.stdout["systemMessage"].as_str().unwrap();
        assert!(message.contains("`exit 3` exited with code 3") && message.contains(UNRECORDED), "{message}");
        let first = Test::stop().config(BLOCKING).payload("stop_hook_active", false);
        let blocked = says(disk, &first, 2, &["✗ `exit 3`", "blocks cannot be counted", UNRECORDED, why]);
        assert_eq!(blocked.stdout["decision"], "block");
        let again = first.payload("stop_hook_active", true);
        let allowed = says(disk, &again, 0, &[UNRECORDED, why]);
        let message = allowed.stdout["systemMessage"].as_str().unwrap();
        assert!(message.contains("blocks cannot be counted") && message.contains(why), "{message}");
        let required = format!("{WARNING}audit: {{required: true}}\n");
        says(disk, &Test::stop().config(&required), 1, &[UNRECORDED, why]);
        let long = "subagentStop: {commands: {'*': [{run: seq 1 100000, showStdout: true}]}}\n";
        let cut = says(disk, &Test::stop().config(long), 0, &[UNRECORDED]);
        assert!(
            cut.stdout["systemMessage"].as_str().unwrap().contains("it could not be saved: "),
            "{}",
            cut.stdout
        );
        figure(&format!(
            "a {disk} disk: 5 of 5 decisions about commands are right, and say what was not written"
        ));
    }
}

#[test]
fn the_gates_stand_on_a_bad_disk() {
    for (disk, why) in DISKS {
        let refused =
            says(disk, &Test::stop().step(&done()).call_agent(MARKERS), 2, &["STEP_DONE", UNRECORDED, why]);
        assert_eq!(refused.stdout["hookSpecificOutput"]["permissionDecision"], "deny");
        let allowed = says(disk, &Test::stop().step(&todo()).call_agent(MARKERS), 0, &[UNRECORDED, why]);
        assert!(allowed.stdout["hookSpecificOutput"]["updatedInput"]["prompt"].is_string());
        let message = allowed.stdout["systemMessage"].as_str().unwrap();
        assert!(message.contains("the call cannot be remembered, so its scope is not checked"), "{message}");
        let outside = Test::gated_stop(&todo()).writes("Write", "file_path", "README.md");
        says(disk, &outside, 2, &["SCOPE_VIOLATION", UNRECORDED, why]);
        let inside = Test::gated_stop(&todo()).writes("Write", "file_path", "src/a.rs");
        says(disk, &inside, 0, &[]);
        says(
            disk,
            &Test::gated_stop(&todo()),
            2,
            &["SILENT_COMPLETION", "blocks cannot be counted", UNRECORDED, why],
        );
        says(disk, &Test::gated_stop(&done()), 0, &[UNRECORDED, why]);
        figure(&format!(
            "a {disk} disk: 6 of 6 decisions of the gates are right, and say what was not written"
        ));
    }
}

#[test]
fn a_trail_that_ran_out_of_room_is_whole_when_there_is_room_again() {
    let test = Test::stop().config(WARNING);
    // Records fit into the page that the file has, until one fits in part only.
    let many = r#"
cat > /dev/shm/payload-$$
run() { "$4" "$5" < /dev/shm/payload-$$ > /dev/null 2>&1; }
rm "$1/filler"
run "$@"
head -c 2097152 /dev/zero > "$1/filler" 2> /dev/null || true
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do run "$@" || exit 9; done
full=$(cat "$1"/.conclaude/audit/audit-*.jsonl | wc -c)
rm "$1/filler"
run "$@"
run "$@"
rm /dev/shm/payload-$$
cd "$1"
"$4" audit verify > out.txt
echo "{\"code\": $?, \"full\": $full, \"lines\": $(cat .conclaude/audit/audit-*.jsonl | wc -l), \"said\": \"$(tr -d '\n"' < out.txt)\"}"
"#;
    let done = on_disk("full", &test, &format!("set +e\n{many}"));
    let (said, lines) = (done.stdout["said"].as_str().unwrap(), &done.stdout["lines"]);
    assert_eq!((done.code, done.stdout["code"].as_i64()), (Some(0), Some(0)), "{said}");
    assert!(said.ends_with(&format!("✓ {lines} records in order")), "{said}");
    figure(&format!(
        "a disk that filled up after {} bytes of trail and was cleared: {said}",
        done.stdout["full"]
    ));
}

#[test]
fn without_a_home() {
    let is_root = rustix::process::geteuid().is_root();
    let test = Test::stop().config(BLOCKING).without_env("XDG_STATE_HOME");
    // Who is not root has a home by the system's list of users: one that cannot be stands for none.
    let test = if is_root { test.without_env("HOME") } else { test.env("HOME", "relative/home") };
    // A config of somebody else would not be used.
    let owned = |test: Test| {
        let config = test.root().join(".conclaude.yaml");
        std::os::unix::fs::chown(config, if is_root { Some(65_534) } else { None }, None).unwrap();
        test
    };
    let test = owned(test);
    let output = run_as_nobody(&test);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let warned = run_as_nobody(&owned(test.config(WARNING)));
    let stderr = String::from_utf8(warned.stderr).unwrap();
    assert_eq!(warned.status.code(), Some(0), "{stderr}");
    if is_root {
        assert!(stderr.contains("cannot keep the end of the audit trail in "), "{stderr}");
    }
    figure("no HOME: blocked and warned as ever");
}

#[test]
fn in_a_folder_that_is_gone() {
    let test = Test::stop().config(BLOCKING).file("gone/x", "");
    let gone = test.root().join("gone");
    let test = test.payload("cwd", gone.to_str().unwrap());
    let mut command = test.program("sh");
    command.arg("-c").arg("cd \"$1\" && rm -r \"$1\" && exec \"$0\" SubagentStop").arg(binary()).arg(&gone);
    let output = answer(command, &test.input());
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    // The whole project may be gone too: then there are no rules.
    let all_gone = scratch().path().to_str().unwrap().to_owned();
    let test = Test::stop().env("CLAUDE_PROJECT_DIR", &all_gone);
    test.payload("cwd", all_gone).run().status(0);
    figure("a deleted working directory: blocked as ever");
}

#[test]
fn without_a_path() {
    // The usual shell is named by its path.
    let usual = Test::stop().config(BLOCKING).env("PATH", "/nonexistent").run();
    assert!(usual.blocked().contains("`exit 3` exited with code 3"));
    let named = "subagentStop: {commands: {'*': [{run: 'true', shell: sh, onFailure: block}]}}\n";
    let named = Test::stop().config(named).env("PATH", "/nonexistent").run();
    assert!(named.blocked().contains("could not be started: sh in "), "{}", named.stderr);
    // Without git the step file is judged anyway.
    let step = Test::gated_stop(&todo()).committed().env("PATH", "/nonexistent").run();
    assert!(step.blocked().contains("SILENT_COMPLETION"));
    figure("a PATH without sh and git: 3 of 3 decisions are right");
}

/// Gives a file, or all of a folder, a time that is still to come.
fn from_the_future(path: &std::path::Path) {
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3_600 * 24 * 365);
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap().flatten() {
            from_the_future(&entry.path());
        }
    }
    std::fs::File::open(path).unwrap().set_modified(later).unwrap();
}

#[test]
fn a_clock_that_goes_back() {
    // All that is remembered comes from a year ahead.
    let mut done = Test::stop().config(BLOCKING).run();
    assert!(done.blocked().contains("block 1 of 3"));
    for count in 2..=3 {
        from_the_future(&done.root().join(".conclaude"));
        done = done.again().run();
        assert!(done.blocked().contains(&format!("block {count} of 3")), "the count goes on");
    }
    let done = done.again().run();
    assert!(done.message().contains("blocked 3 times already"));
    // An ended session that lies ahead is not taken for an old one.
    let done = done.again().then("SessionEnd").run().silent();
    from_the_future(&done.root().join(".conclaude"));
    let done = done.again().payload("session_id", "another").run().silent();
    let done = done.again().payload("session_id", "session-1").then("SubagentStop").run();
    assert!(done.message().contains("blocked 3 times already"), "the count is still there");
    // A record from the future is followed by one of today, and the chain is intact.
    let done = Test::stop().config(WARNING).run().status(0);
    let trail = done.root().join(".conclaude/audit");
    std::fs::remove_dir_all(done.root().join(".state-home")).unwrap();
    let file = trail.join("audit-0000000001.jsonl");
    let line = std::fs::read_to_string(&file).unwrap();
    let mut record: Value = serde_json::from_str(&line).unwrap();
    record["time"] = "2999-01-01T00:00:00Z".into();
    record.as_object_mut().unwrap().remove("hash");
    let text = record.to_string();
    let hash = conclaude_store::store::hash(&text);
    std::fs::write(&file, format!("{},\"hash\":\"{hash}\"}}\n", text.strip_suffix('}').unwrap())).unwrap();
    let done = done.again().run().status(0);
    let (code, said, _) = run_in(&done.root(), &["audit", "verify"]);
    assert_eq!((code, said.lines().last()), (Some(0), Some("✓ 2 records in order")));
    // A message that was queued in the future is shown today.
    let done = Test::stop().config(WARNING).run().status(0);
    from_the_future(&done.root().join(".conclaude"));
    let shown = done.again().then("Stop").without("agent_id").payload("background_tasks", json!([])).run();
    assert!(shown.message().contains("`exit 3` exited with code 3"));
    figure("a clock that goes back by a year: counts, trail, sessions and messages are as they were");
}
