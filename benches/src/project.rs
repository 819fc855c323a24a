//! Scratch projects: a config, a step, transcripts, a git repository.

use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::case::Case;

pub const MARKERS: &str =
    "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n\nDo step 01-01.";

/// A folder for all projects, removed when dropped.
pub struct Scratch {
    folder: tempfile::TempDir,
    binary: PathBuf,
    pub empty_program: PathBuf,
    pub installed: Option<Installed>,
}

/// The program as `cargo install` builds it, and a program that does nothing and is linked in the same way.
pub struct Installed {
    pub binary: PathBuf,
    pub empty_program: PathBuf,
}

impl Scratch {
    pub fn new(binary: &Path, installed: Option<&Path>) -> Result<Scratch, String> {
        let folder =
            tempfile::Builder::new().prefix("conclaude-bench-").tempdir().map_err(|e| e.to_string())?;
        let built = build_empty_program(folder.path(), Linked::AsShipped)?;
        // Both are copies: the page cache holds what a linker wrote in smaller pieces, which cost a fifth of a start.
        let copy = |from: &Path, name: &str| {
            let to = folder.path().join(name);
            std::fs::copy(from, &to).map(|_| to).map_err(|error| format!("{}: {error}", from.display()))
        };
        let (empty_program, binary) = (copy(&built, "empty-program")?, copy(binary, "conclaude")?);
        let installed = match installed {
            Some(installed) => {
                let built = build_empty_program(folder.path(), Linked::AsInstalled)?;
                let empty_program = copy(&built, "empty-program-installed")?;
                Some(Installed { binary: copy(installed, "conclaude-installed")?, empty_program })
            }
            None => None,
        };
        Ok(Scratch { folder, binary, empty_program, installed })
    }

    /// A project with this config, and beside it a folder for what Claude Code writes during the session.
    pub fn project(&self, name: &str, config: &str) -> Project {
        let folder = self.folder.path().canonicalize().expect("a folder");
        let root = folder.join(name);
        let session = folder.join(format!("{name}-session"));
        std::fs::create_dir_all(root.join("steps")).expect("a folder");
        std::fs::create_dir_all(session.join("main/subagents")).expect("a folder");
        std::fs::write(root.join(".conclaude.yaml"), config).expect("a file");
        std::fs::write(session.join("main.jsonl"), "").expect("a file");
        let project = Project {
            root,
            session,
            state: folder.join(format!("{name}-state")),
            binary: self.binary.clone(),
        };
        // A stop without its transcript would be one that waits for it.
        project.transcript(4 << 10, "Do it.");
        project
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Linked {
    AsShipped,
    AsInstalled,
}

/// A program that does nothing, linked as conclaude is: the least that starting a process costs.
fn build_empty_program(folder: &Path, linked: Linked) -> Result<PathBuf, String> {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    std::fs::write(&source, "fn main() {}\n").map_err(|error| error.to_string())?;
    let musl = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let rustc = |arguments: &[&str]| {
        let mut command = Command::new("rustc");
        command.args(["-O", "-C", "panic=abort", "-C", "strip=symbols"]);
        command.args(arguments).arg("-o").arg(&program).arg(&source);
        command.output().is_ok_and(|output| output.status.success())
    };
    let is_built = match linked {
        Linked::AsShipped => rustc(&["--target", &musl, "-C", "relocation-model=static"]) || rustc(&[]),
        Linked::AsInstalled => rustc(&[]),
    };
    if is_built { Ok(program) } else { Err("rustc cannot build an empty program".into()) }
}

pub struct Project {
    root: PathBuf,
    session: PathBuf,
    state: PathBuf,
    binary: PathBuf,
}

impl Project {
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Another program in this project.
    pub fn program(&self, name: &'static str, program: &Path, arguments: &[&str]) -> Case {
        self.case(name, program, arguments, b"{}\n")
    }

    /// A hook event with these fields in its payload.
    pub fn event(&self, name: &'static str, event: &str, fields: &Value) -> Case {
        self.case(name, &self.binary, &[event], &self.payload(event, fields))
    }

    /// The same of another client, as it registers us.
    pub fn event_of(&self, client: &str, name: &'static str, event: &str, fields: &Value) -> Case {
        self.case(name, &self.binary, &["--client", client, event], &self.payload(event, fields))
    }

    /// The Agent call that Gate 1 looks at.
    pub fn agent_call(&self, name: &'static str) -> Case {
        let input = json!({"description": "d", "prompt": MARKERS, "subagent_type": "coder"});
        let call = json!({"tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": input});
        self.event(name, "PreToolUse", &call)
    }

    fn case(&self, name: &'static str, program: &Path, arguments: &[&str], input: &[u8]) -> Case {
        let file = name.replace(|c: char| !c.is_alphanumeric(), "-");
        let path = self.session.join(format!("{file}.json"));
        std::fs::write(&path, input).expect("a file");
        Case {
            name,
            program: program.to_owned(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            root: self.root.clone(),
            state: self.state.clone(),
            input: path,
            is_baseline: false,
            is_counted: false,
            is_slow: false,
        }
    }

    fn payload(&self, event: &str, fields: &Value) -> Vec<u8> {
        let mut payload = json!({
            "session_id": "00000000-0000-4000-8000-000000000000",
            "transcript_path": self.session.join("main.jsonl"),
            "cwd": self.root,
            "hook_event_name": event,
            "permission_mode": "acceptEdits",
        });
        let agent = json!({"agent_id": "a1b2c3", "agent_type": "coder"});
        let stop = json!({
            "agent_transcript_path": self.session.join("main/subagents/agent-a1b2c3.jsonl"),
            "stop_hook_active": true,
            "last_assistant_message": "It is done.",
        });
        let parts: Vec<&Value> = match event {
            "SubagentStart" => vec![&agent, fields],
            "SubagentStop" => vec![&agent, &stop, fields],
            _ => vec![fields],
        };
        for (name, value) in parts.into_iter().filter_map(Value::as_object).flatten() {
            payload[name] = value.clone();
        }
        format!("{payload}\n").into_bytes()
    }

    /// A step without phases.
    pub fn step(&self, status: &str) {
        self.write_step(
            &json!({"task_id": "01-01", "project_id": "p", "workflow_type": "configuration_setup",
            "state": {"status": status}, "task_specification": {"allowed_file_patterns": ["src/**"]}}),
        );
    }

    /// A step with one phase, not executed yet.
    pub fn step_with_phase(&self, phase: &str) {
        let entry = json!({"phase_name": phase, "phase_index": 0, "status": "NOT_EXECUTED"});
        self.write_step(&json!({"task_id": "01-01", "project_id": "p", "workflow_type": "tdd_cycle",
            "state": {"status": "TODO"}, "tdd_cycle": {"phase_execution_log": [entry]}}));
    }

    fn write_step(&self, step: &Value) {
        std::fs::write(self.root.join("steps/01-01.json"), format!("{step:#}\n")).expect("a file");
    }

    /// The agent's transcript, of about this many bytes.
    pub fn transcript(&self, size: usize, prompt: &str) {
        let meta = json!({"agentType": "coder", "toolUseId": "toolu_1", "spawnDepth": 1});
        let folder = self.session.join("main/subagents");
        std::fs::write(folder.join("agent-a1b2c3.meta.json"), meta.to_string()).expect("a file");
        let first =
            json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": prompt}});
        write_lines(&folder.join("agent-a1b2c3.jsonl"), &[(first.to_string(), size)]);
    }

    /// A main transcript of about this many bytes, with the agent's call near its end.
    pub fn main_transcript(&self, size: usize) {
        let call = json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": {"subagent_type": "coder", "prompt": "Do it."}}]}});
        write_lines(&self.session.join("main.jsonl"), &[(String::new(), size), (call.to_string(), 20 << 10)]);
    }

    /// Makes it a git repository in which this many files are committed.
    pub fn commit_files(&self, count: usize) {
        // Git reads a file again whose time is not before that of its index: none of these is that new.
        let earlier = SystemTime::now() - Duration::from_secs(3600);
        for n in 0..count {
            let path = self.root.join(format!("src/part-{}/file-{n}.rs", n % 20));
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(&path, format!("// {n}\n").repeat(50)).expect("a file");
            File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_modified(earlier))
                .expect("a time");
        }
        let rules = "/target/\nnode_modules/\n*.log\n*.py[co]\n.DS_Store\n!keep.log\n/build-*/out/**\n";
        std::fs::write(self.root.join(".gitignore"), rules).expect("a file");
        self.git(&["init", "--quiet"]);
        self.git(&["add", "."]);
        self.git(&[
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@localhost",
            "commit",
            "--quiet",
            "-m",
            "all",
        ]);
    }

    fn git(&self, arguments: &[&str]) {
        let output = self.program("git", Path::new("git"), arguments).command().output().expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The work of an agent: some files changed, one new.
    pub fn change_files(&self) {
        for n in 0..5 {
            std::fs::write(self.root.join(format!("src/part-{n}/file-{n}.rs")), "// changed\n")
                .expect("a file");
        }
        std::fs::write(self.root.join("src/new.rs"), "// new\n").expect("a file");
    }

    /// Runs conclaude to prepare the project.
    pub fn conclaude(&self, arguments: &[&str]) {
        self.expect_success(&self.program("preparation", &self.binary, arguments));
    }

    pub fn expect_success(&self, case: &Case) {
        let output = case.command().stderr(Stdio::piped()).output().expect("conclaude runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {:?}: {}: {said}", case.name, case.arguments, output.status);
    }

    /// Runs a stop once and looks whether the gate had nothing to say: a case that measures something else is none.
    pub fn expect_allowed(&self, case: &Case) {
        self.expect_success(case);
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.root.join(".conclaude/audit"))
            .expect("an audit trail")
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .collect();
        files.sort_unstable();
        let last = last_line(files.last().expect("a file"));
        assert!(last.contains(r#""decision":"allowed""#), "{}: {last}", case.name);
    }
}

/// The last line of a file, without reading all of it: the resident set of a child starts with that of its parent.
fn last_line(path: &Path) -> String {
    let mut file = File::open(path).expect("a file");
    let size = file.metadata().expect("a file").len();
    file.seek(SeekFrom::Start(size.saturating_sub(64 << 10))).expect("a position");
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).expect("the end of a file");
    String::from_utf8_lossy(&tail).lines().last().unwrap_or_default().to_owned()
}

/// Writes lines, each followed by messages of this number of bytes. Never all of it in memory, for the same reason.
fn write_lines(path: &Path, parts: &[(String, usize)]) {
    let message =
        json!({"type": "assistant", "timestamp": "2026-01-01T10:00:00.000Z", "message": {"role": "assistant",
        "content": [{"type": "text", "text": "Some words of an assistant. ".repeat(40)}]}})
        .to_string();
    let mut file = BufWriter::new(File::create(path).expect("a file"));
    for (line, size) in parts {
        if !line.is_empty() {
            writeln!(file, "{line}").expect("a line");
        }
        for _ in 0..size / (message.len() + 1) + 1 {
            writeln!(file, "{message}").expect("a line");
        }
    }
    file.flush().expect("a file");
}
