//! Signals, and machines on which something is missing or forbidden.

use super::*;
#[cfg(target_os = "linux")]
use crate::common::wait::{endless, gone, running, until};

#[cfg(target_os = "linux")]
#[test]
fn a_signal_terminates_the_command_with_its_children_and_exits_1() {
    let mut shown = Vec::new();
    for signal in ["TERM", "INT", "HUP"] {
        let sleep = endless();
        let script = format!("trap \"\" TERM; setsid sleep {sleep} & touch started; sleep {sleep}");
        let test = one(&format!("{{run: '{script}'}}\n      - {{run: touch second.txt}}"));
        let child = test.spawn();
        until("the start of the command", || {
            test.root().join("started").exists() && !running(&format!("sleep\0{sleep}")).is_empty()
        });
        let killed =
            std::process::Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
        assert!(killed.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let done = Outcome::new(test, output);
        shown.push(done.snapshot().replace(&sleep, "[SLEEP]").replace(&format!("SIG{signal}"), "[SIGNAL]"));
        gone(&format!("sleep\0{sleep}"));
        assert!(!done.has("second.txt"));
    }
    assert_snapshot!(same(&shown), @r#"
    exit 1
    ----- stderr
    conclaude: stopped by [SIGNAL] while `trap "" TERM; setsid sleep [SLEEP] & touch started; sleep [SLEEP]` ran; it was terminated with its children, 1 further command did not run
    "#);
}

#[cfg(target_os = "linux")]
#[test]
fn killed_itself_it_takes_the_shell_along() {
    let word = format!("shell-of-{}", std::process::id());
    let test = one(&format!("{{run: ': {word}; touch started; while :; do sleep 0.1; done'}}"));
    let mut child = test.spawn();
    until("the start of the command", || test.root().join("started").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    gone(&word);
}

/// The process that starts us may ignore SIGCHLD, which is inherited: the status of a command was then lost,
/// and the hook waited for it for ever.
#[cfg(target_os = "linux")]
#[test]
fn where_sigchld_is_ignored_the_status_of_a_command_is_still_known() {
    let test = one("{run: exit 3, onFailure: block}").payload("stop_hook_active", false);
    let mut command = test.program("env");
    command.arg("--ignore-signal=CHLD").arg(binary()).arg("SubagentStop");
    assert_snapshot!(test.run_as(command).blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `exit 3` exited with code 3
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_on_the_path_that_cannot_be_does_not_end_the_search_for_a_shell() {
    let path = format!("/{}:/etc/passwd:/usr/bin:/bin", "x".repeat(6_000));
    let done = one("{run: 'echo \"${BASH_VERSION:+bash}\"', shell: bash, showStdout: true}")
        .env("PATH", &path)
        .run();
    assert_snapshot!(done.message(), @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo "${BASH_VERSION:+bash}"
      bash
    "#);
}

/// Some sandboxes refuse a descriptor that becomes readable when a child has ended: no command could be started there.
#[cfg(target_os = "linux")]
#[test]
fn where_the_kernel_refuses_a_descriptor_for_the_child_commands_still_run() {
    use std::os::unix::process::CommandExt;
    let test = one("{run: exit 0, onFailure: block}").payload("stop_hook_active", false);
    let mut command = test.command();
    let instruction = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    // The number of the call decides.
    let mut filter = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ, 0, 1, libc::SYS_pidfd_open as u32),
        instruction(libc::BPF_RET, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        instruction(libc::BPF_RET, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    // SAFETY: between fork and exec two system calls are made, with a filter that outlives them.
    unsafe {
        command.pre_exec(move || {
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
            let refused = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0;
            if refused { Err(std::io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    assert_snapshot!(test.run_as(command).snapshot(), @r#"
    exit 0
    ----- stderr
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: info: pattern "coder": `exit 0` exited with code 0 in [DURATION]
    "#);
}
