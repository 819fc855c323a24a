//! One fluent builder for tests that drive the built binary: a scratch project, a payload, a call, its answer.

#![allow(dead_code, unused_imports, reason = "each test file uses its own part of the builder")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};

pub(crate) mod clients;
pub(crate) mod collector;
pub(crate) mod des;
pub(crate) mod desktop;
pub(crate) mod environment;
#[cfg(unix)]
pub(crate) mod git;
pub(crate) mod hook_answers;
pub(crate) mod outcome;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod snapshot;
#[cfg(unix)]
pub(crate) mod tmux;
pub(crate) mod trail;
pub(crate) mod transcripts;
pub(crate) mod wait;
pub(crate) mod workflow;

pub(crate) use environment::{binary, conclaude, conclaude_in, run_in, run_in_home, scratch, shown_in};
pub(crate) use outcome::Outcome;

/// The call of one event in a scratch project.
pub(crate) struct Test {
    folder: tempfile::TempDir,
    event: String,
    flags: Vec<String>,
    payload: Map<String, Value>,
    stdin: Option<Vec<u8>>,
    env: Vec<(String, Option<String>)>,
}

impl Test {
    /// A SubagentStop of the agent `coder` in an empty project.
    pub(crate) fn stop() -> Self {
        Test::event("SubagentStop")
    }

    /// A SubagentStart of the agent `coder` in an empty project.
    pub(crate) fn start() -> Self {
        Test::event("SubagentStart")
    }

    /// Any event in an empty project.
    pub(crate) fn event(name: &str) -> Self {
        let test = Test {
            folder: scratch(),
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
            .env("XDG_STATE_HOME", environment::state_home(&root).to_str().unwrap())
            .env("HOME", root.join(".home").to_str().unwrap())
    }

    /// A call of Bash on the main thread, with this config.
    pub(crate) fn bash(config: &str, command: &str) -> Self {
        Test::event("PreToolUse")
            .without("agent_id")
            .without("agent_type")
            .config(config)
            .payload("tool_name", "Bash")
            .payload("tool_input", json!({ "command": command }))
            .payload("tool_use_id", "toolu_1")
    }

    /// The same project, another event.
    pub(crate) fn then(mut self, name: &str) -> Self {
        self.event = name.to_owned();
        self.stdin = None;
        self.payload("hook_event_name", name)
    }

    /// Adds an argument after the event.
    pub(crate) fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// The project's folder.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Writes `.conclaude.yaml`.
    pub(crate) fn config(self, yaml: &str) -> Self {
        self.file(".conclaude.yaml", yaml)
    }

    /// Writes a file.
    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Sets a field of the payload.
    pub(crate) fn payload(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.payload.insert(field.to_owned(), value.into());
        self
    }

    /// Removes a field of the payload.
    pub(crate) fn without(mut self, field: &str) -> Self {
        self.payload.remove(field);
        self
    }

    /// The subagent's type.
    pub(crate) fn agent(self, name: &str) -> Self {
        self.payload("agent_type", name)
    }

    /// Anything at all on stdin.
    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), Some(value.to_owned())));
        self
    }

    /// Removes a variable.
    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.env.push((name.to_owned(), None));
        self
    }

    /// The process, ready to be started.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.program(binary());
        // Elsewhere, since no answer may depend on it.
        command.arg(&self.event).args(&self.flags).current_dir("/");
        command
    }

    /// Another program in the project, in the environment of the call: a shell that limits it, say.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        environment::isolate(&mut command);
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(self.root()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What goes to stdin.
    pub(crate) fn input(&self) -> Vec<u8> {
        self.stdin.clone().unwrap_or_else(|| Value::Object(self.payload.clone()).to_string().into_bytes())
    }

    /// Starts the call, with its stdin written and closed.
    pub(crate) fn spawn(&self) -> Child {
        self.spawn_as(self.command())
    }

    fn spawn_as(&self, mut command: Command) -> Child {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = self.input();
        // A call that does not read its payload closes the pipe.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
        child
    }

    /// Makes the call.
    pub(crate) fn run(self) -> Outcome {
        let command = self.command();
        self.run_as(command)
    }

    /// Makes the call by another command, based on `command` or `program`.
    pub(crate) fn run_as(self, command: Command) -> Outcome {
        let child = self.spawn_as(command);
        self.outcome_of(child)
    }

    /// What becomes of a call that was started.
    pub(crate) fn outcome_of(self, child: Child) -> Outcome {
        Outcome::new(self, child.wait_with_output().unwrap())
    }

    /// What a subcommand in the project shows, for a snapshot.
    pub(crate) fn shows(&self, arguments: &[&str]) -> String {
        shown_in(&self.root(), arguments)
    }
}

/// Makes the call with 64 MB of address space.
pub(crate) fn in_little_memory(test: Test) -> Outcome {
    let mut command = test.program("sh");
    command.args(["-c", "ulimit -v 65536; exec \"$0\" SubagentStop"]).arg(binary());
    test.run_as(command)
}

/// A script that leaves a child behind. It holds the pipes, and goes with the project of the test: nothing outlives it.
/// A process that waited for it finds a file `late`.
pub(crate) const LEAVES_A_CHILD: &str =
    "for i in $(seq 3000); do [ -e .conclaude.yaml ] || exit; sleep 0.1; done && touch late & echo after";

/// A capture of Claude Code.
pub(crate) fn capture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A line of a transcript in which the main thread calls an agent.
pub(crate) fn agent_call(tool: &str, id: &str, subagent_type: &str) -> String {
    json!({
        "type": "assistant",
        "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": tool, "input": {"subagent_type": subagent_type, "prompt": "do it"}},
        ]},
    })
    .to_string()
}
