//! A scratch project with a home around it, where conclaude is installed as a user installs it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use crate::client::{API_KEY, VERSION};

/// A project, gone when dropped.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    env: Vec<(&'static str, OsString)>,
}

impl Project {
    /// A project with a README, and `conclaude` on the PATH of its user.
    pub(crate) fn new() -> Project {
        let folder = tempfile::Builder::new().prefix("conclaude-real-client-").tempdir().unwrap();
        let project = Project { folder, env: Vec::new() };
        for name in ["project", "home", "settings", "tmp", "bin"] {
            std::fs::create_dir(project.at(name)).unwrap();
        }
        let (built, program) = (env!("CARGO_BIN_EXE_conclaude"), project.at("bin/conclaude"));
        if std::fs::hard_link(built, &program).is_err() {
            crate::program::copy(built, &program);
        }
        // What the user has answered at the first start.
        let answered = json!({
            "hasCompletedOnboarding": true, "lastOnboardingVersion": VERSION, "theme": "dark", "autoUpdates": false,
            "customApiKeyResponses": {"approved": [&API_KEY[API_KEY.len() - 20..]], "rejected": []},
            "projects": {project.root().to_str().unwrap(): {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
        });
        std::fs::write(project.at("settings/.claude.json"), answered.to_string()).unwrap();
        project.file("README.md", "# A project\n")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The project's own folder.
    pub(crate) fn root(&self) -> PathBuf {
        self.at("project")
    }

    /// A path in the project, as a tool wants it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.root().join(name).to_str().unwrap().to_owned()
    }

    /// Sets a variable of the project's user.
    pub(crate) fn env(mut self, name: &'static str, value: &str) -> Project {
        self.env.push((name, value.into()));
        self
    }

    /// Writes a file of the project.
    pub(crate) fn file(self, name: &str, content: &str) -> Project {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// The content of a file of the project; nothing if it is not there.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root().join(name)).ok()
    }

    /// Whether a file of the project exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root().join(name).exists()
    }

    /// How many messages are pending in the outbox.
    pub(crate) fn pending(&self) -> usize {
        let sessions =
            std::fs::read_dir(self.root().join(".conclaude/outbox")).into_iter().flatten().flatten();
        let entries =
            sessions.flat_map(|session| std::fs::read_dir(session.path()).into_iter().flatten().flatten());
        entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json")).count()
    }

    /// Writes `.conclaude.yaml`.
    pub(crate) fn config(self, yaml: &str) -> Project {
        self.file(".conclaude.yaml", yaml)
    }

    /// Subagents that may use every tool.
    pub(crate) fn agents(mut self, names: &[&str]) -> Project {
        for name in names {
            let text = format!(
                "---\nname: {name}\ndescription: Does the work of a {name}\n---\nYou are a {name}.\n"
            );
            self = self.file(&format!(".claude/agents/{name}.md"), &text);
        }
        self
    }

    /// A step with the phases BUILD and CHECK, which may touch `src/`, and further lines of the config.
    pub(crate) fn step(self, config: &str) -> Project {
        self.config(&format!("des:\n  phases: [BUILD, CHECK]\n{config}")).default_step()
    }

    /// A step with the phases of the config.
    pub(crate) fn default_step(self) -> Project {
        let new = ["des", "new", "steps/01-01.json", "--task-id", "01-01", "--project-id", "greeting"];
        self.conclaude(&[&new[..], &["--allow", "src/**"]].concat());
        self
    }

    /// Registers conclaude with the client, and commits everything.
    pub(crate) fn installed(self) -> Project {
        self.conclaude(&["install"]);
        self.committed()
    }

    /// The same, where Claude Code enforces the rules.
    pub(crate) fn enforced(self) -> Project {
        self.conclaude(&["install"]);
        self.conclaude(&["install", "--enforce"]);
        self.committed()
    }

    /// The same project on a machine without these programs.
    pub(crate) fn without_programs(self, names: &[&str]) -> Project {
        let path = self.environment().into_iter().find(|(name, _)| *name == "PATH").unwrap().1;
        for folder in std::env::split_paths(&path) {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in
                entries.filter(|entry| !names.contains(&entry.file_name().to_str().unwrap_or_default()))
            {
                let _ = std::os::unix::fs::symlink(entry.path(), self.at("bin").join(entry.file_name()));
            }
        }
        let only = self.at("bin").to_str().unwrap().to_owned();
        self.env("PATH", &only)
    }

    /// The same project on the machine of a colleague, who does not have conclaude.
    pub(crate) fn without_conclaude(self) -> Project {
        std::fs::remove_file(self.at("bin/conclaude")).unwrap();
        self
    }

    /// Commits everything.
    pub(crate) fn committed(self) -> Project {
        for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "All of it"]] {
            succeeds(self.program("git").args(arguments));
        }
        self
    }

    /// Calls conclaude in the project, as a user does, and gives what it prints.
    pub(crate) fn conclaude(&self, arguments: &[&str]) -> String {
        let output = succeeds(self.program("conclaude").args(arguments));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A program in the environment of the project's user.
    pub(crate) fn program(&self, name: &str) -> Command {
        // Found here, not by the PATH of this process.
        let own = self.at("bin").join(name);
        let mut command = Command::new(if own.exists() { own } else { Path::new(name).into() });
        command.current_dir(self.root()).env_clear().envs(self.environment());
        command
    }

    /// The environment of the project's user: nothing of ours but the way to programs.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let folders = std::iter::once(self.at("bin")).chain(std::env::split_paths(&path));
        let mut all: Vec<(&str, OsString)> = vec![
            ("PATH", std::env::join_paths(folders).unwrap()),
            ("HOME", self.at("home").into()),
            ("CLAUDE_CONFIG_DIR", self.at("settings").into()),
            ("TMPDIR", self.at("tmp").into()),
        ];
        let plain = [
            ("LANG", "C.UTF-8"),
            ("SHELL", "/bin/sh"),
            ("USER", "user"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "user"),
            ("GIT_AUTHOR_EMAIL", "user@example.com"),
            ("GIT_COMMITTER_NAME", "user"),
            ("GIT_COMMITTER_EMAIL", "user@example.com"),
        ];
        all.extend(plain.map(|(name, value)| (name, value.into())));
        all.extend(self.env.iter().cloned());
        all
    }
}

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    output
}
