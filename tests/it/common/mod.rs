//! One fluent builder for tests that drive the built binary: a scratch project, a payload, a call, its answer.

#![allow(dead_code, reason = "each test file uses its own part of the builder")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};

pub mod desktop;
pub mod program;
pub mod workflow;

/// The call of one event in a scratch project.
pub struct Test {
    folder: tempfile::TempDir,
    event: String,
    flags: Vec<String>,
    payload: Map<String, Value>,
    stdin: Option<Vec<u8>>,
    env: Vec<(String, Option<String>)>,
}

impl Test {
    /// A SubagentStop of the agent `coder` in an empty project.
    pub fn stop() -> Self {
        Test::event("SubagentStop")
    }

    /// A SubagentStart of the agent `coder` in an empty project.
    pub fn start() -> Self {
        Test::event("SubagentStart")
    }

    /// Any event in an empty project.
    pub fn event(name: &str) -> Self {
        let test = Test {
            folder: tempfile::Builder::new().prefix("conclaude-test-").tempdir().unwrap(),
            event: String::new(),
            flags: Vec::new(),
            payload: Map::new(),
            stdin: None,
            env: Vec::new(),
        };
        let root = test.root();
        test.payload("session_id", "session-1")
            .payload("transcript_path", root.join("main.jsonl").display().to_string())
            .payload("cwd", root.display().to_string())
            .payload("agent_id", "a1b2c3")
            .payload("agent_type", "coder")
            .then(name)
            .env("CLAUDE_PROJECT_DIR", root.to_str().unwrap())
            .env("XDG_STATE_HOME", root.join(".state-home").to_str().unwrap())
            .env("HOME", root.join(".home").to_str().unwrap())
    }

    /// The same project, another event.
    pub fn then(mut self, name: &str) -> Self {
        self.event = name.to_owned();
        self.stdin = None;
        self.payload("hook_event_name", name)
    }

    /// Adds an argument behind the event.
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// The project's folder.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Writes `.conclaude.yaml`.
    pub fn config(self, yaml: &str) -> Self {
        self.file(".conclaude.yaml", yaml)
    }

    /// Writes a file.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Sets a field of the payload.
    pub fn payload(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.payload.insert(field.to_owned(), value.into());
        self
    }

    /// Takes a field of the payload away.
    pub fn without(mut self, field: &str) -> Self {
        self.payload.remove(field);
        self
    }

    /// The subagent's type.
    pub fn agent(self, name: &str) -> Self {
        self.payload("agent_type", name)
    }

    /// Anything at all on stdin.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), Some(value.to_owned())));
        self
    }

    /// Takes a variable away.
    pub fn without_env(mut self, name: &str) -> Self {
        self.env.push((name.to_owned(), None));
        self
    }

    /// The process, ready to be started.
    pub fn command(&self) -> Command {
        let mut command = conclaude();
        command.arg(&self.event).args(&self.flags).current_dir("/");
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What goes to stdin.
    pub fn input(&self) -> Vec<u8> {
        self.stdin.clone().unwrap_or_else(|| Value::Object(self.payload.clone()).to_string().into_bytes())
    }

    /// Starts the call, with its stdin written and closed.
    pub fn spawn(&self) -> Child {
        let mut child = self.command().spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = self.input();
        // A call that does not read its payload closes the pipe.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
        child
    }

    /// Makes the call.
    pub fn run(self) -> Outcome {
        let output = self.spawn().wait_with_output().unwrap();
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            test: self,
        }
    }
}

/// The built binary, or the one that `CONCLAUDE_STRESS_BINARY` names: figures of a debug build would be unfair.
pub fn binary() -> PathBuf {
    let chosen = std::env::var_os("CONCLAUDE_STRESS_BINARY").map(PathBuf::from);
    chosen.unwrap_or_else(|| env!("CARGO_BIN_EXE_conclaude").into())
}

/// The built binary, in an environment without a desktop or a log level.
pub fn conclaude() -> Command {
    let mut command = Command::new(binary());
    for name in [
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_CONFIG_DIR",
        "CONCLAUDE_LOG",
        "DBUS_SESSION_BUS_ADDRESS",
        "XDG_RUNTIME_DIR",
        "CONCLAUDE_NOTIFY_WAIT_MS",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ] {
        command.env_remove(name);
    }
    command
}

/// A verb in a folder, with a home of its own there: exit code, stdout and stderr, with `[ROOT]` for the folder
/// and `[BIN]` for the program.
pub fn run_in(root: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    run_in_home(root, &root.join(".home"), arguments)
}

/// The same, with another home.
pub fn run_in_home(root: &Path, home: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = conclaude()
        .args(arguments)
        .current_dir(root)
        .env("HOME", home)
        .env("XDG_STATE_HOME", root.join(".state-home"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let own = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
    let text = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap().replace(own.to_str().unwrap(), "[BIN]");
        text.replace(root.to_str().unwrap(), "[ROOT]")
    };
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// What a call came to.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    test: Test,
}

impl Outcome {
    /// The project again, for the next call.
    pub fn again(self) -> Test {
        self.test
    }

    /// The project's folder.
    pub fn root(&self) -> PathBuf {
        self.test.root()
    }

    #[track_caller]
    fn expect(self, condition: bool, what: &str) -> Self {
        assert!(
            condition,
            "expected {what}\n--- exit {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.code, self.stdout, self.stderr
        );
        self
    }

    /// Expects this exit code.
    #[track_caller]
    pub fn status(self, code: i32) -> Self {
        let is = self.code == Some(code);
        self.expect(is, &format!("exit {code}"))
    }

    /// Expects success with nothing on stdout.
    #[track_caller]
    pub fn silent(self) -> Self {
        let silent = self.code == Some(0) && self.stdout.is_empty();
        self.expect(silent, "exit 0 and an empty stdout")
    }

    /// Expects an error: exit 1, nothing on stdout, and exactly this on stderr.
    #[track_caller]
    pub fn error(self, text: &str) -> Self {
        let is =
            self.code == Some(1) && self.stdout.is_empty() && self.stderr == format!("conclaude: {text}\n");
        self.expect(is, &format!("the error {text:?}"))
    }

    /// Expects an error whose message contains this.
    #[track_caller]
    pub fn error_with(self, part: &str) -> Self {
        let is = self.code == Some(1) && self.stdout.is_empty() && self.stderr.contains(part);
        let starts = self.stderr.starts_with("conclaude: ");
        self.expect(is && starts, &format!("an error with {part:?}"))
    }

    /// Expects this on stderr.
    #[track_caller]
    pub fn stderr_has(self, part: &str) -> Self {
        let has = self.stderr.contains(part);
        self.expect(has, &format!("{part:?} on stderr"))
    }

    /// Expects that this is nowhere in the answer.
    #[track_caller]
    pub fn nowhere(self, part: &str) -> Self {
        let nowhere = !self.stdout.contains(part) && !self.stderr.contains(part);
        self.expect(nowhere, &format!("{part:?} nowhere"))
    }

    /// Expects exit 0 and one JSON object with nothing but a `systemMessage`, and gives the message.
    #[track_caller]
    pub fn message(&self) -> String {
        assert_eq!(self.code, Some(0), "stderr: {}", self.stderr);
        let json: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {:?}", self.stdout));
        let text = json["systemMessage"].as_str().unwrap().to_owned();
        assert_eq!(json, json!({ "systemMessage": text }));
        text
    }

    /// Expects a block, said on stdout and on stderr, and gives the reason.
    #[track_caller]
    pub fn blocked(&self) -> String {
        assert_eq!(self.code, Some(2), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        let json: Value = serde_json::from_str(&self.stdout).unwrap();
        let reason = json["reason"].as_str().unwrap().to_owned();
        assert_eq!(json, json!({ "decision": "block", "reason": reason }));
        assert_eq!(self.stderr, format!("{reason}\n"), "the reason, and nothing else");
        reason
    }

    /// The content of a file of the project.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Whether a file of the project exists.
    pub fn has(&self, name: &str) -> bool {
        self.root().join(name).exists()
    }
}

/// A capture of the real client.
pub fn capture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A line of a transcript in which the main thread calls an agent.
pub fn agent_call(tool: &str, id: &str, subagent_type: &str) -> String {
    json!({
        "type": "assistant",
        "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": tool, "input": {"subagent_type": subagent_type, "prompt": "do it"}},
        ]},
    })
    .to_string()
}
