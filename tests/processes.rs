//! One command and its processes, by the library's own interface. A binary of its own, since a time-out takes whatever child the
//! process got meanwhile for one of the command's.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use conclaude::process::*;

fn no_file(_: &'static str) -> io::Result<(File, PathBuf)> {
    Err(io::Error::other("no file in this test"))
}

fn spec(script: &str) -> CommandSpec<'_> {
    CommandSpec {
        script,
        shell: DEFAULT_SHELL,
        cwd: Path::new("/"),
        env: &[],
        stdin: b"",
        timeout: None,
        stdout: Keep::Shown(4_000),
        stderr: Keep::Shown(4_000),
    }
}

fn run_spec(spec: &CommandSpec<'_>) -> Finished {
    // A hook runs one command at a time. With several, a time-out could take another's child, between its fork and the
    // moment when it carries its mark, for one of its own.
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    run(spec, &mut no_file)
}

fn out(finished: &Finished) -> String {
    finished.stdout.excerpt(None).unwrap_or_default()
}

/// Whether any process has this word in its command line.
fn is_running(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let own = entry.file_name().to_string_lossy() == std::process::id().to_string();
        let text = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let dead = std::fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| stat.contains(") Z "));
        !own && !dead && String::from_utf8_lossy(&text).contains(word)
    })
}

fn unique(seconds: u32) -> String {
    // `sleep` takes fractions: a length that no other test has is a name.
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{seconds}.{:05}{}", std::process::id() % 100_000, NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn exit_codes_and_both_streams_are_kept() {
    let finished = run_spec(&spec("echo out; echo err >&2; exit 3"));
    assert_eq!(finished.status, Status::Exited(3));
    assert_eq!(out(&finished), "out");
    assert_eq!(finished.stderr.excerpt(None).as_deref(), Some("err"));
}

#[test]
fn many_lines_are_one_script() {
    assert_eq!(out(&run_spec(&spec("x=1\ncd /tmp\necho $x $PWD\n"))), "1 /tmp");
}

#[test]
fn stdin_is_the_payload_however_large_and_need_not_be_read() {
    let payload = vec![b'x'; 3 << 20];
    let with_stdin = |script| run_spec(&CommandSpec { stdin: &payload, ..spec(script) });
    assert_eq!(out(&with_stdin("wc -c | tr -d ' '")), payload.len().to_string());
    assert_eq!(with_stdin("true").status, Status::Exited(0));
    assert_eq!(out(&with_stdin("exec <&-; echo closed")), "closed");
}

#[test]
fn variables_are_added_and_taken_away() {
    let env = [("CONCLAUDE_X", Some("1".to_owned())), ("PATH_NOT_SET", None)];
    let finished = run_spec(&CommandSpec { env: &env, ..spec("echo \"$CONCLAUDE_X ${PATH:+path}\"") });
    assert_eq!(out(&finished), "1 path");
}

#[test]
fn a_signal_is_told_from_an_exit_code() {
    assert_eq!(run_spec(&spec("kill -9 $$")).status, Status::Killed(9));
}

#[test]
fn what_cannot_be_started_is_a_status() {
    let finished = run_spec(&CommandSpec { shell: "/no/such/shell", ..spec("true") });
    assert!(matches!(&finished.status, Status::NotStarted(reason) if reason.contains("/no/such/shell")));
    let finished = run_spec(&CommandSpec { cwd: Path::new("/no/such/folder"), ..spec("true") });
    assert!(matches!(&finished.status, Status::NotStarted(reason) if reason.contains("/no/such/folder")));
}

#[test]
fn a_time_out_terminates_the_group() {
    let sleep = unique(300);
    let script = format!("sleep {sleep} & sleep {sleep}; echo not reached");
    let finished = run_spec(&CommandSpec { timeout: Some(Duration::from_secs(1)), ..spec(&script) });
    assert_eq!(finished.status, Status::TimedOut(Duration::from_secs(1)));
    assert_eq!(out(&finished), "");
    assert!(!is_running(&sleep));
}

#[test]
fn a_time_out_kills_what_ignores_it() {
    let sleep = unique(300);
    let script = format!("trap '' TERM; echo before; while :; do sleep {sleep}; done");
    let started = Instant::now();
    let finished = run_spec(&CommandSpec { timeout: Some(Duration::from_secs(1)), ..spec(&script) });
    assert_eq!(finished.status, Status::TimedOut(Duration::from_secs(1)));
    assert_eq!(out(&finished), "before");
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(!is_running(&sleep));
}

#[cfg(target_os = "linux")]
#[test]
fn a_time_out_finds_what_left_the_group_and_what_was_orphaned() {
    let sleep = unique(300);
    // A session of its own whose parent is gone, once with our mark in its environment and once without.
    let script =
        format!("(setsid sleep {sleep} &) ; (env -i setsid sleep {sleep} &) ; kill -STOP $$; sleep {sleep}");
    let finished = run_spec(&CommandSpec { timeout: Some(Duration::from_secs(1)), ..spec(&script) });
    assert_eq!(finished.status, Status::TimedOut(Duration::from_secs(1)));
    assert!(!is_running(&sleep));
}

#[test]
fn children_left_behind_live_on_and_do_not_hold_us() {
    let sleep = unique(30);
    let started = Instant::now();
    let finished = run_spec(&spec(&format!("echo before; sleep {sleep} & echo after")));
    assert_eq!(finished.status, Status::Exited(0));
    assert_eq!(out(&finished), "before\nafter");
    assert!(started.elapsed() < Duration::from_secs(20), "the child kept the pipe, and us");
    assert!(is_running(&sleep));
    // Nor does the time-out of a later command touch it.
    let later = run_spec(&CommandSpec { timeout: Some(Duration::from_secs(1)), ..spec("sleep 60") });
    assert_eq!(later.status, Status::TimedOut(Duration::from_secs(1)));
    assert!(is_running(&sleep));
    run_spec(&spec(&format!("pkill -f 'sleep {sleep}'")));
}

#[test]
fn a_flood_on_both_streams_is_counted_in_bounded_memory() {
    let script = "head -c 104857600 /dev/zero | tr '\\0' 'x'; head -c 20971520 /dev/zero >&2";
    let finished = run_spec(&spec(script));
    assert_eq!(finished.status, Status::Exited(0));
    assert_eq!((finished.stdout.bytes, finished.stderr.bytes), (104_857_600, 20_971_520));
    assert!(out(&finished).len() < 8_000);
}

#[test]
fn a_child_that_never_stops_printing_does_not_hold_us() {
    let word = unique(7);
    let finished = run_spec(&spec(&format!("yes {word} & echo done")));
    assert_eq!(finished.status, Status::Exited(0));
}

#[test]
fn a_bare_name_of_a_shell_is_looked_for_on_the_path() {
    assert_eq!(out(&run_spec(&CommandSpec { shell: "sh", ..spec("echo found") })), "found");
    let finished = run_spec(&CommandSpec { shell: "no-such-shell", ..spec("true") });
    assert!(
        matches!(&finished.status, Status::NotStarted(reason) if reason.contains("No such file")),
        "{finished:?}"
    );
    let finished = run_spec(&CommandSpec { shell: "/etc/passwd", ..spec("true") });
    assert!(
        matches!(&finished.status, Status::NotStarted(reason) if reason.contains("Permission denied")),
        "{finished:?}"
    );
    let finished = run_spec(&spec("echo a\0b"));
    assert!(matches!(&finished.status, Status::NotStarted(reason) if reason.contains("nul")), "{finished:?}");
}

#[test]
fn a_command_has_a_group_of_its_own_and_no_signal_is_kept_from_it() {
    // In this process SIGPIPE is ignored, as in every program of Rust.
    let shown = out(&run_spec(&spec("exec grep -E '^Sig(Blk|Ign)' /proc/self/status")));
    let masks: Vec<u64> = shown
        .lines()
        .map(|line| u64::from_str_radix(line.split('\t').next_back().unwrap(), 16).unwrap())
        .collect();
    let pipe = 1 << (libc::SIGPIPE - 1);
    assert_eq!((masks[0], masks[1] & pipe), (0, 0), "blocked and ignored: {shown}");
    let shown = out(&run_spec(&spec("cut -d' ' -f5 /proc/$$/stat; echo $$")));
    assert_eq!(shown.lines().next(), shown.lines().next_back(), "the group and the shell");
}

#[test]
fn the_signals_of_a_process_are_as_before_when_a_command_has_run() {
    let mask = || {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        status.lines().find(|line| line.starts_with("SigBlk")).unwrap().to_owned()
    };
    let before = mask();
    run_spec(&spec("true"));
    run_spec(&CommandSpec { shell: "/no/such/shell", ..spec("true") });
    assert_eq!(mask(), before);
}
