//! The cases: a command line, what it reads, and the project around it.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// One thing to measure.
pub struct Case {
    pub name: &'static str,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub project: PathBuf,
    pub input: Vec<u8>,
    /// Instructions are counted for it too.
    pub counted: bool,
}

/// Scratch projects, gone when dropped.
pub struct Place {
    folder: tempfile::TempDir,
    binary: PathBuf,
    empty: PathBuf,
}

const MARKERS: &str =
    "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: steps/01-01.json -->\n\nDo step 01-01.";

impl Place {
    pub fn new(binary: &Path) -> Result<Place, String> {
        let folder =
            tempfile::Builder::new().prefix("conclaude-bench-").tempdir().map_err(|e| e.to_string())?;
        let empty = empty_program(folder.path())?;
        Ok(Place { folder, binary: binary.to_owned(), empty })
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// A project with this config.
    fn project(&self, name: &str, config: &str) -> Project {
        let root = self.folder.path().canonicalize().expect("a folder").join(name);
        std::fs::create_dir_all(root.join("steps")).expect("a folder");
        std::fs::create_dir_all(root.join("main/subagents")).expect("a folder");
        std::fs::write(root.join(".conclaude.yaml"), config).expect("a file");
        Project { root }
    }

    fn case(&self, name: &'static str, event: &str, project: &Project, fields: Value) -> Case {
        Case {
            name,
            program: self.binary.clone(),
            arguments: vec![event.to_owned()],
            project: project.root.clone(),
            input: project.payload(event, fields),
            counted: false,
        }
    }

    /// All cases, in the order of the table.
    pub fn cases(&self) -> Vec<Case> {
        let plain = |name, program: &Path, arguments: &[&str]| Case {
            name,
            program: program.to_owned(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            project: self.folder.path().to_owned(),
            input: b"{}\n".to_vec(),
            counted: false,
        };
        let twenty = self.project("twenty", &patterns(20, ""));
        let thousand = self.project("thousand", &patterns(1_000, ""));
        let one = self.project("one", &patterns(20, "    coder:\n      - run: 'true'\n"));
        let ten = self
            .project("ten", &patterns(20, &format!("    coder:\n{}", "      - run: 'true'\n".repeat(10))));
        let counted = |case: Case| Case { counted: true, ..case };
        let write = json!({"tool_name": "Write", "tool_use_id": "toolu_9", "tool_input": {"file_path": "src/a.rs", "content": "x"}});
        let mut inside = write.clone();
        inside["agent_id"] = "a1b2c3".into();
        inside["agent_type"] = "coder".into();
        let gated = self.gated("gated", 200);
        let mut cases = vec![
            plain("an empty static program", &self.empty, &[]),
            plain("sh -c true", Path::new("/bin/sh"), &["-c", "true"]),
            counted(self.case("PreToolUse, outside a gate", "PreToolUse", &twenty, write)),
            counted(self.case("PreToolUse, inside a gated agent", "PreToolUse", &gated, inside)),
            counted(self.case("SubagentStart", "SubagentStart", &twenty, json!({}))),
            counted(self.case("SubagentStop, no match", "SubagentStop", &twenty, json!({}))),
            counted(self.case("SubagentStop, one command", "SubagentStop", &one, json!({}))),
            self.case("SubagentStop, ten commands", "SubagentStop", &ten, json!({})),
            self.case("SubagentStop, 1,000 patterns", "SubagentStop", &thousand, json!({})),
        ];
        let small = 40 << 10;
        let large = 50 << 20;
        for (name, size, markers) in [
            ("Gate 3, 40 KB transcript, no markers", small, false),
            ("Gate 3, 50 MB transcript, no markers", large, false),
            ("Gate 3, 40 KB transcript, markers", small, true),
            ("Gate 3, 50 MB transcript, markers", large, true),
        ] {
            let folder = format!("transcript-{size}-{markers}");
            let project = self.stopping(&folder, size, markers);
            cases.push(self.case(name, "SubagentStop", &project, json!({"stop_hook_active": false})));
        }
        let named = self.project("named", &patterns(20, ""));
        named.transcript("a1b2c3", 4 << 10, "Do it.");
        named.main_transcript(100 << 20);
        cases.push(self.case(
            "name look-up, 100 MB transcript",
            "SubagentStop",
            &named,
            json!({"agent_type": null}),
        ));
        cases
    }

    /// A project in which Gate 1 has let an agent in.
    fn gated(&self, name: &str, lines: usize) -> Project {
        let project = self.project(name, &patterns(20, ""));
        project.step(false);
        project.transcript("a1b2c3", lines << 10, MARKERS);
        let call = json!({"tool_name": "Agent", "tool_use_id": "toolu_1",
            "tool_input": {"description": "d", "prompt": MARKERS, "subagent_type": "coder"}});
        let status = crate::measure::command(&self.case(name_of(name), "PreToolUse", &project, call), self)
            .output()
            .expect("conclaude runs");
        assert!(status.status.success(), "Gate 1 lets the agent in: {status:?}");
        project
    }

    /// A project in which an agent with a transcript of this size stops.
    fn stopping(&self, name: &str, size: usize, markers: bool) -> Project {
        let project = self.project(name, &patterns(20, ""));
        project.step(true);
        project.transcript("a1b2c3", size, if markers { MARKERS } else { "Do it." });
        project
    }
}

fn name_of(_: &str) -> &'static str {
    "the call"
}

/// About 60 lines for 20 patterns, none of which is the agent's, and what comes beside them.
fn patterns(count: usize, more: &str) -> String {
    let mut text = String::from("subagentStop:\n  commands:\n");
    for n in 0..count {
        text.push_str(&format!(
            "    agent-{n}-*:\n      - run: npm run lint-{n}\n        showStdout: true\n"
        ));
    }
    text + more
}

struct Project {
    root: PathBuf,
}

impl Project {
    fn payload(&self, event: &str, fields: Value) -> Vec<u8> {
        let mut payload = json!({
            "session_id": "00000000-0000-4000-8000-000000000000",
            "transcript_path": self.root.join("main.jsonl"),
            "cwd": self.root,
            "hook_event_name": event,
            "permission_mode": "acceptEdits",
        });
        let about = json!({"agent_id": "a1b2c3", "agent_type": "coder"});
        let stop = json!({
            "agent_transcript_path": self.root.join("main/subagents/agent-a1b2c3.jsonl"),
            "stop_hook_active": true,
            "last_assistant_message": "It is done.",
        });
        let parts: Vec<&Value> = match event {
            "SubagentStart" => vec![&about, &fields],
            "SubagentStop" => vec![&about, &stop, &fields],
            _ => vec![&fields],
        };
        for (name, value) in parts.into_iter().filter_map(Value::as_object).flatten() {
            payload[name] = value.clone();
        }
        format!("{payload}\n").into_bytes()
    }

    /// A step without phases, which are another matter than transcripts.
    fn step(&self, done: bool) {
        let status = if done { "DONE" } else { "TODO" };
        let step = json!({"task_id": "01-01", "project_id": "p", "workflow_type": "configuration_setup",
            "state": {"status": status}, "task_specification": {"allowed_file_patterns": ["src/**"]}});
        std::fs::write(self.root.join("steps/01-01.json"), format!("{step:#}\n")).expect("a file");
    }

    /// The transcript of an agent, of about this many bytes.
    fn transcript(&self, agent: &str, size: usize, prompt: &str) {
        let meta = json!({"agentType": "coder", "toolUseId": "toolu_1", "spawnDepth": 1});
        let folder = self.root.join("main/subagents");
        std::fs::write(folder.join(format!("agent-{agent}.meta.json")), meta.to_string()).expect("a file");
        let first =
            json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": prompt}});
        write_lines(&folder.join(format!("agent-{agent}.jsonl")), &[(first.to_string(), size)]);
        std::fs::write(self.root.join("main.jsonl"), "").expect("a file");
    }

    /// A main transcript of about this many bytes, with the agent's call near its end.
    fn main_transcript(&self, size: usize) {
        let call = json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": {"subagent_type": "coder", "prompt": "Do it."}}]}});
        write_lines(&self.root.join("main.jsonl"), &[(String::new(), size), (call.to_string(), 20 << 10)]);
    }
}

/// Writes lines, each followed by messages of so many bytes. Never all of it in memory: what a child is said to have used
/// begins with what its parent has.
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

/// A program that does nothing, linked as conclaude is: what starting a process costs at least.
fn empty_program(folder: &Path) -> Result<PathBuf, String> {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    std::fs::write(&source, "fn main() {}\n").map_err(|error| error.to_string())?;
    let musl = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let rustc = |arguments: &[&str]| {
        let mut command = Command::new("rustc");
        command.args(["-O", "-C", "panic=abort", "-C", "strip=symbols", "-C", "relocation-model=static"]);
        command.args(arguments).arg("-o").arg(&program).arg(&source);
        command.output().is_ok_and(|output| output.status.success())
    };
    if rustc(&["--target", &musl]) || rustc(&["-C", "target-feature=+crt-static"]) || rustc(&[]) {
        Ok(program)
    } else {
        Err("rustc cannot build an empty program".into())
    }
}
