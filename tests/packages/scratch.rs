//! An empty folder and an empty home, and programs that run in them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What `scripts/package` has made of this program.
pub(crate) struct Packages {
    _folder: TempDir,
    pub(crate) out: PathBuf,
    pub(crate) binary: PathBuf,
}

impl Packages {
    /// Made once for all tests.
    pub(crate) fn made() -> &'static Packages {
        static MADE: OnceLock<Packages> = OnceLock::new();
        MADE.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let (out, binary) = (folder.path().join("out"), folder.path().join("bin/conclaude"));
            fs::create_dir(folder.path().join("bin")).unwrap();
            let given =
                std::env::var("CONCLAUDE_PACKAGE_BINARY").unwrap_or(env!("CARGO_BIN_EXE_conclaude").into());
            fs::copy(given, &binary).unwrap();
            // A debug build has a hundred megabytes of symbols.
            ProgramResult::of(Command::new("strip").arg(&binary)).ok();
            let mut script = Command::new(Path::new(ROOT).join("scripts/package"));
            let tools = Path::new(ROOT).join("target/package-tools/python/bin");
            script.env("PATH", format!("{}:{}", tools.display(), std::env::var("PATH").unwrap()));
            ProgramResult::of(script.arg("--binary").arg(&binary).arg("--out").arg(&out)).ok();
            Packages { _folder: folder, out, binary }
        })
    }

    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> ProgramResult {
        ProgramResult::of(Command::new(program).args(arguments).current_dir(&self.out))
    }
}

/// What a program answered.
#[derive(Debug)]
pub(crate) struct ProgramResult {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl ProgramResult {
    pub(crate) fn of(command: &mut Command) -> ProgramResult {
        ProgramResult::with_input(command, "")
    }

    pub(crate) fn with_input(command: &mut Command, input: &str) -> ProgramResult {
        let output = start(command, input).wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        ProgramResult { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self.stdout
    }

    pub(crate) fn is_block(&self) -> bool {
        self.code == Some(2) && self.stdout.contains(r#""decision":"block""#)
    }
}

pub(crate) fn start(command: &mut Command, input: &str) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    // A program that does not read it has ended.
    let _ = stdin.write_all(input.as_bytes());
    child
}

pub(crate) fn until(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The registry for npm and pnpm.
struct Registry {
    server: Child,
    url: String,
}

impl Registry {
    fn new() -> Registry {
        let mut command = Command::new("node");
        command.arg(Path::new(ROOT).join("tests/packages/registry.js")).arg(Packages::made().out.join("npm"));
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Registry { server, url: format!("http://127.0.0.1:{}/", port.trim()) }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub(crate) struct Scratch {
    _temporary: TempDir,
    pub(crate) folder: PathBuf,
    home: PathBuf,
    registry: Option<Registry>,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        let temporary = tempfile::tempdir().unwrap();
        let real = temporary.path().canonicalize().unwrap();
        let (folder, home) = (real.join("my project"), real.join("home"));
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(&home).unwrap();
        Scratch { _temporary: temporary, folder, home, registry: None }
    }

    pub(crate) fn with_registry() -> Scratch {
        let scratch = Scratch { registry: Some(Registry::new()), ..Scratch::new() };
        scratch.write("package.json", "{\"name\": \"mine\", \"private\": true}\n");
        scratch
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    pub(crate) fn home(&self, path: &str) -> String {
        self.home.join(path).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).unwrap();
    }

    pub(crate) fn program(&self, path: &str, text: &str) {
        let _ = fs::remove_file(self.path(path));
        self.write(path, text);
        fs::set_permissions(self.path(path), PermissionsExt::from_mode(0o755)).unwrap();
    }

    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> ProgramResult {
        self.run_in(&self.folder, program, arguments)
    }

    pub(crate) fn run_in(&self, folder: &Path, program: &str, arguments: &[&str]) -> ProgramResult {
        ProgramResult::of(&mut self.command(folder, program, arguments))
    }

    pub(crate) fn command(&self, folder: &Path, program: &str, arguments: &[&str]) -> Command {
        let tools = Path::new(ROOT).join("target/package-tools");
        let path = [
            self.home.join("prefix/bin"),
            self.home.join(".local/bin"),
            tools.join("python/bin"),
            tools.join("node_modules/.bin"),
        ];
        let path: Vec<String> = path.iter().map(|folder| folder.display().to_string()).collect();
        let mut command = Command::new("/usr/bin/env");
        command.arg("-C").arg(folder).arg(program).args(arguments).env_clear();
        command
            .env("HOME", &self.home)
            .env("PATH", format!("{}:{}", path.join(":"), std::env::var("PATH").unwrap()));
        if let Some(Registry { url, .. }) = &self.registry {
            command.env("npm_config_registry", url).env("npm_config_prefix", self.home.join("prefix"));
            command.env("npm_config_audit", "false").env("npm_config_update_notifier", "false");
        }
        command
    }

    pub(crate) fn settings(&self) -> String {
        fs::read_to_string(self.path(".claude/settings.json")).unwrap()
    }

    /// The line that is registered for an event.
    pub(crate) fn line(&self, file: &str, event: &str) -> String {
        self.line_of(&self.path(file), event)
    }

    pub(crate) fn line_of(&self, file: &Path, event: &str) -> String {
        let json: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let command = &json["hooks"][event][0]["hooks"][0]["command"];
        command.as_str().unwrap_or_else(|| panic!("{event} in {json:#}")).to_owned()
    }

    pub(crate) fn payload(&self, folder: &Path) -> String {
        json!({
            "session_id": "s1", "transcript_path": "/nowhere.jsonl", "cwd": folder, "hook_event_name": "SubagentStop",
            "agent_id": "a1", "agent_type": "coder", "stop_hook_active": false, "last_assistant_message": "done",
        })
        .to_string()
    }

    pub(crate) fn hook(&self, event: &str) -> ProgramResult {
        let path = format!("{}:{}:/usr/bin:/bin", self.home("prefix/bin"), self.home(".local/bin"));
        self.hook_in(event, &self.folder, &path)
    }

    /// What is registered for an event, called as Claude Code calls it.
    pub(crate) fn hook_in(&self, event: &str, folder: &Path, path: &str) -> ProgramResult {
        let line = self.line(".claude/settings.json", event);
        let payload = self.payload(folder).replace("SubagentStop", event);
        let mut shell = self.shell(&line, folder, path);
        ProgramResult::with_input(shell.env("CLAUDE_PROJECT_DIR", &self.folder), &payload)
    }

    pub(crate) fn line_in(&self, line: &str, folder: &Path, path: &str, input: &str) -> ProgramResult {
        ProgramResult::with_input(self.shell(line, folder, path).env("CLAUDE_PROJECT_DIR", folder), input)
    }

    fn shell(&self, line: &str, folder: &Path, path: &str) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", line]).current_dir(folder).env_clear().env("HOME", &self.home).env("PATH", path);
        shell
    }
}
