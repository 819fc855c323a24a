use super::*;

const MINUTE: Duration = Duration::from_mins(1);

fn sh(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script);
    command
}

#[test]
fn the_whole_output_and_the_status_of_a_program() {
    let found = output(sh("cat; echo err >&2; exit 3"), b"input", MINUTE, 1_000).unwrap();
    let expected = Output { status: Status::Exited(3), stdout: b"input".into(), stderr: b"err\n".into() };
    assert_eq!(found, expected);
    assert_eq!(output(sh("kill -9 $$"), b"", MINUTE, 1_000).unwrap().status, Status::Killed(9));
    let missing = output(Command::new("no-such-program"), b"", MINUTE, 1_000).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}

#[test]
fn large_input_and_output_pass_through_both_pipes_at_once() {
    let input: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let found = output(Command::new("cat"), &input, MINUTE, 4_000_000).unwrap();
    assert!(found.status.is_success() && found.stdout == input);
    // Input that nobody reads does not matter.
    assert!(output(sh("exec <&-; true"), &input, MINUTE, 1_000).unwrap().status.is_success());
}

/// Whether a process with this word in its command line lives. Zombies do not count: nobody may reap orphans in a container.
#[cfg(target_os = "linux")]
fn is_running(word: &str) -> bool {
    std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_dead =
            std::fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| stat.contains(") Z "));
        !is_dead && String::from_utf8_lossy(&line).contains(word)
    })
}

#[cfg(target_os = "linux")]
#[test]
fn at_its_limit_a_program_is_terminated_with_its_group() {
    // A name to find it by.
    let sleep = format!("sleep 3000.{:07}", std::process::id());
    let script = format!("trap '' TERM; (trap '' TERM; {sleep}) & wait; {sleep}");
    let error = output(sh(&script), b"", Duration::from_secs(1), 1_000).unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::TimedOut, "no answer within 1 s".into()));
    // On a busy machine a killed process takes a moment to disappear.
    let over = Instant::now() + 5 * MINUTE;
    while is_running(&sleep) || is_running(&sleep.replace(' ', "\0")) {
        assert!(Instant::now() < over, "a process of the group lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_program_that_prints_too_much_is_terminated() {
    let error = output(sh("yes"), b"", MINUTE, 100_000).unwrap_err();
    assert_eq!(error.to_string(), "more than 100000 bytes of output");
    let error = output(sh("yes >&2"), b"", MINUTE, 100_000).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn a_child_that_keeps_the_pipes_does_not_hold_whoever_wants_the_output() {
    let found = output(sh("sleep 300 & echo $!"), b"", MINUTE, 1_000).unwrap();
    assert_eq!(found.status, Status::Exited(0));
    let left = String::from_utf8(found.stdout).unwrap();
    assert!(Command::new("kill").arg(left.trim()).status().unwrap().success(), "it lives on: {left}");
}
