//! One thing to measure, as a process.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[derive(Clone)]
pub struct Case {
    pub name: &'static str,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// The working directory and the project.
    pub root: PathBuf,
    /// Becomes HOME.
    pub state: PathBuf,
    /// The file that becomes stdin.
    pub input: PathBuf,
    /// What others are compared with: measured in every run.
    pub is_baseline: bool,
    /// Instructions are counted for it too.
    pub is_counted: bool,
    /// It takes so long that it is measured in one of ten rounds.
    pub is_slow: bool,
}

impl Case {
    /// The process, with nothing of ours in its environment.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.state)
            .env("XDG_STATE_HOME", &self.state)
            .env("CLAUDE_PROJECT_DIR", &self.root)
            .current_dir(&self.root)
            .stdin(File::open(&self.input).expect("the file for stdin"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    pub fn baseline(self) -> Case {
        Case { is_baseline: true, ..self }
    }

    pub fn counted(self) -> Case {
        Case { is_counted: true, ..self }
    }

    pub fn slow(self) -> Case {
        Case { is_slow: true, ..self }
    }
}
