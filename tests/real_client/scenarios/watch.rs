//! `conclaude watch` in a terminal beside a session: what it shows while agents run, and when they are done.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::project::Project;
use crate::script::{Script, agent, bash, says, uses, write};

const CONFIG: &str = "\
preToolUse: {uneditableFiles: ['*.lock']}
subagentStop: {commands: {coder: [{run: test -e fixed, onFailure: block, message: It is not fixed}]}}
";

/// A screen that shows nothing for so long hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// A terminal in which `conclaude watch` runs.
struct Screen<'a>(&'a Project);

impl Screen<'_> {
    fn start(project: &Project) -> Screen<'_> {
        let screen = Screen(project);
        let started =
            screen.tmux(&["new-session", "-d", "-x", "100", "-y", "30", "conclaude watch"]).status();
        assert!(started.expect("the scenario needs `tmux`").success());
        screen
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut tmux = self.0.program("tmux");
        tmux.args(["-u", "-f", "/dev/null", "-L", "watch"]).args(arguments).env("TERM", "xterm-256color");
        tmux
    }

    fn text(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).output().unwrap().stdout).unwrap()
    }

    /// Waits until all of these are on the screen.
    fn shows(&self, texts: &[&str]) -> String {
        let started = Instant::now();
        loop {
            let text = self.text();
            if texts.iter().all(|one| text.contains(one)) {
                return text;
            }
            assert!(started.elapsed() < LIMIT, "{texts:?} are not on the screen:\n{text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).status();
    }
}

pub(super) fn watch(client: &Client) {
    let project = Project::new().agents(&["coder"]).config(CONFIG).installed();
    let script = Script::main([uses([agent("coder", "CODER-PART: do it.")]), says("The coder is done.")])
        .agent(
            "CODER-PART",
            [
                uses([bash("touch started; while [ ! -e go ]; do sleep 0.05; done")]),
                uses([write(&project.path("Cargo.lock"), "x")]),
                says("I am done."),
                uses([bash("touch fixed")]),
                says("I am done, and it is fixed."),
            ],
        );
    let screen = Screen::start(&project);
    screen.shows(&["Nothing to watch yet"]);
    let seen = std::thread::scope(|scope| {
        let session = scope.spawn(|| client.play(&project, script));
        screen.shows(&[
            "1 session, 1 agent, 2 at work",
            "● main thread · Agent A part",
            "● coder \"A part\" · Bash touch started; while [ ! -e go ]",
        ]);
        std::fs::write(project.root().join("go"), "").unwrap();
        session.join().unwrap()
    });
    assert_eq!(seen.turns("CODER-PART"), 5);
    screen.shows(&[
        "1 session, 1 agent, 0 at work",
        "○ main thread · session ended",
        "✓ coder \"A part\" · stopped · 1 block · 1 denial",
        "PreToolUse Write Cargo.lock denied: ",
        "SubagentStop blocked (1 of 3): It is not fixed: `test -e fixed`",
        "✓ `test -e fixed` passed",
    ]);
    screen.tmux(&["send-keys", "q"]).status().unwrap();
}
