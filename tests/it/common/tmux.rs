//! A program in a terminal of its own, which is looked at and typed into.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::environment::{binary, isolate, scratch, state_home};
use super::wait::LIMIT;

/// A terminal that lives as long as this value.
pub(crate) struct Tmux {
    root: PathBuf,
    /// Where its socket is, and what the script leaves.
    folder: tempfile::TempDir,
}

impl Tmux {
    /// Runs `conclaude` with these arguments in the project, in a terminal of 80 by 24.
    pub(crate) fn start(root: &Path, arguments: &str) -> Tmux {
        Tmux::start_in(root, "", arguments)
    }

    /// The same, after these commands of the shell.
    pub(crate) fn start_in(root: &Path, shell: &str, arguments: &str) -> Tmux {
        let tmux = Tmux { root: root.to_owned(), folder: scratch() };
        let here = tmux.folder.path().display();
        let script = format!(
            "{shell}cd '{}'; stty -a >{here}/before; echo 'the shell before'; sh -c 'echo $$ >{here}/pid; exec {} {arguments}'; code=$?; stty -a >{here}/after; echo \"exit $code\"; sleep 600",
            root.display(),
            binary().display()
        );
        let started = tmux.call(&["new-session", "-d", "-x", "80", "-y", "24", &script]);
        assert!(started.status.success(), "{started:?}");
        tmux
    }

    fn call(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        isolate(&mut tmux);
        tmux.args(["-u", "-f", "/dev/null"]).args(arguments).env_remove("TMUX");
        tmux.env("HOME", self.root.join(".home")).env("XDG_STATE_HOME", state_home(&self.root));
        tmux.env("TMUX_TMPDIR", self.folder.path()).env("LC_ALL", "C.UTF-8");
        tmux.output().expect("the tests of `conclaude watch` need `tmux`")
    }

    /// What is on the screen, without spaces at the ends of lines.
    pub(crate) fn screen(&self) -> String {
        let text = String::from_utf8(self.call(&["capture-pane", "-p"]).stdout).unwrap();
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    /// The same with its colours.
    pub(crate) fn escapes(&self) -> String {
        String::from_utf8(self.call(&["capture-pane", "-p", "-e"]).stdout).unwrap()
    }

    /// Waits until the screen is as it is to be, and gives it. It may be looked at while it is drawn, so everything
    /// that is expected of it belongs into `is`.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        let over = Instant::now() + LIMIT;
        loop {
            let screen = self.screen();
            if is(&screen) {
                return screen;
            }
            assert!(Instant::now() < over, "never on the screen: {what}\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the screen has this text.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until the screen has each of these texts.
    #[track_caller]
    pub(crate) fn shows_all(&self, texts: &[&str]) -> String {
        self.until(&format!("{texts:?}"), |screen| texts.iter().all(|text| screen.contains(text)))
    }

    pub(crate) fn keys(&self, keys: &[&str]) {
        assert!(self.call(&[&["send-keys"], keys].concat()).status.success());
    }

    pub(crate) fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        assert!(self.call(&["resize-window", "-x", &width, "-y", &height]).status.success());
    }

    /// Closes the terminal.
    pub(crate) fn close(&self) {
        self.call(&["kill-server"]);
    }

    /// The id of the program's process.
    pub(crate) fn pid(&self) -> i32 {
        self.read("pid").trim().parse().unwrap()
    }

    /// The settings of the terminal before and after the program.
    pub(crate) fn settings(&self) -> (String, String) {
        (self.read("before"), self.read("after"))
    }

    fn read(&self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.close();
    }
}
