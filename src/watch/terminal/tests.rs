//! In tmux, since the terminal is that of a process: each test starts this program again, in a window of its own.

#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::*;

/// Says to a test that it is the one that takes a terminal.
const TAKES: &str = "CONCLAUDE_TEST_TAKES_TERMINAL";

fn takes_terminal() -> bool {
    conclaude_os::environment::is_set(TAKES)
}

/// Runs a test again in a terminal, and gives what `stty -a` says before and after it, and the screen.
fn in_a_terminal(test: &str) -> (String, String, String) {
    let folder = tempfile::Builder::new().prefix("conclaude-test-").tempdir_in("/tmp").unwrap();
    let program = std::env::current_exe().unwrap();
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let script = format!(
        "stty -a >before; echo shell; {TAKES}=1 '{}' --exact {name} --nocapture >out 2>err </dev/tty >/dev/tty; stty -a >after; touch done; sleep 600",
        program.display()
    );
    let tmux = |arguments: &[&str]| {
        let mut tmux = Command::new("tmux");
        tmux.args(["-f", "/dev/null"]).args(arguments).current_dir(folder.path());
        let output = tmux.env("TMUX_TMPDIR", folder.path()).env_remove("TMUX").output();
        output.expect("the tests of `conclaude watch` need `tmux`")
    };
    assert!(tmux(&["new-session", "-d", "-x", "80", "-y", "24", &script]).status.success());
    let shown = || String::from_utf8_lossy(&tmux(&["capture-pane", "-p"]).stdout).into_owned();
    let over = Instant::now() + Duration::from_mins(5);
    // The program has ended before all that it printed is on the screen.
    let screen = loop {
        let screen = shown();
        if folder.path().join("done").exists() && screen.contains(" measured") {
            break screen;
        }
        assert!(Instant::now() < over, "it does not end:\n{screen}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let errors = read(&folder.path().join("err"));
    tmux(&["kill-server"]);
    (read(&folder.path().join("before")), read(&folder.path().join("after")), format!("{screen}{errors}"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn report(info: &PanicHookInfo<'_>) {
    let _ = std::fs::write("reported", info.to_string());
}

/// Takes the terminal, and says so on its screen.
fn take() -> TerminalSession {
    let mut taken = TerminalSession::take(report).unwrap();
    taken
        .screen
        .draw(|frame| {
            let area = frame.area();
            frame.buffer_mut().set_string(area.x, area.y, "taken over", ratatui::style::Style::new());
        })
        .unwrap();
    assert!(ratatui::crossterm::terminal::is_raw_mode_enabled().unwrap());
    taken
}

#[test]
fn a_panic_leaves_the_terminal_as_it_was() {
    if takes_terminal() {
        let _taken = take();
        panic!("as a bug would");
    }
    let (before, after, screen) = in_a_terminal("a_panic_leaves_the_terminal_as_it_was");
    assert_eq!(before, after);
    assert!(before.contains(" icanon") && before.contains(" echo"), "{before}");
    assert!(screen.starts_with("shell\n") && !screen.contains("taken over"), "{screen}");
    assert!(screen.contains("test result: FAILED"), "{screen}");
}

#[test]
fn whoever_returns_leaves_the_terminal_as_it_was() {
    if takes_terminal() {
        drop(take());
        return restore();
    }
    let (before, after, screen) = in_a_terminal("whoever_returns_leaves_the_terminal_as_it_was");
    assert_eq!(before, after);
    assert!(screen.starts_with("shell\n") && screen.contains("test result: ok"), "{screen}");
}
