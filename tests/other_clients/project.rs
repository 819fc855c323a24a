//! A scratch project with a home around it, in which conclaude is registered with a client.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project, gone when dropped.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// A git repository with this config, and `conclaude` on the PATH of its user.
    pub(crate) fn new(config: &str) -> Project {
        let folder = tempfile::Builder::new().prefix("other-clients-").tempdir().unwrap();
        let project = Project { folder };
        for name in ["project", "home", "tmp", "bin"] {
            std::fs::create_dir(project.at(name)).unwrap();
        }
        let (built, program) = (env!("CARGO_BIN_EXE_conclaude"), project.at("bin/conclaude"));
        if std::fs::hard_link(built, &program).is_err() {
            crate::program::copy(built, &program);
        }
        project.file("README.md", "# A project\n");
        project.file(".conclaude.yaml", config);
        project.file("kept.txt", "kept\n");
        project.runs("git", &["init", "-q"]);
        project
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("project")
    }

    /// A path in the project, as a tool wants it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.root().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file of the project.
    pub(crate) fn file(&self, name: &str, content: &str) {
        write(&self.root().join(name), content);
    }

    /// Writes a file of the user.
    pub(crate) fn home_file(&self, name: &str, content: &str) {
        write(&self.at("home").join(name), content);
    }

    /// The content of a file of the project; nothing if it is not there.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root().join(name)).ok()
    }

    pub(crate) fn commit(&self) {
        self.runs("git", &["add", "-A"]);
        self.runs("git", &["commit", "-qm", "start"]);
    }

    pub(crate) fn runs(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.root()).env_clear().envs(self.environment());
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.at("bin")).chain(std::env::split_paths(&path));
        let mut all: Vec<(&str, OsString)> = vec![
            ("PATH", std::env::join_paths(folders).unwrap()),
            ("HOME", self.at("home").into()),
            ("TMPDIR", self.at("tmp").into()),
        ];
        let plain = [
            ("LANG", "C.UTF-8"),
            ("SHELL", "/bin/sh"),
            ("USER", "user"),
            ("TERM", "xterm-256color"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "user"),
            ("GIT_AUTHOR_EMAIL", "user@example.com"),
            ("GIT_COMMITTER_NAME", "user"),
            ("GIT_COMMITTER_EMAIL", "user@example.com"),
        ];
        all.extend(plain.map(|(name, value)| (name, value.into())));
        all
    }
}

fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}
