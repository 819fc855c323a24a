//! The client under test: fetched once from npm, kept in a cache, and started with an environment of its own.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};
use serde_json::json;

use crate::mock::Mock;
use crate::namespace::INSIDE;
use crate::project::Project;
use crate::script::{PROMPT, Script};
use crate::session_result::SessionResult;

/// What was tested. To move to another version, see README.md.
pub(crate) const VERSION: &str = "2.1.325";

const PACKAGE: &str = "@anthropic-ai/claude-code";

/// Where clients are kept, if not in the user's cache.
const CACHE: &str = "CONCLAUDE_CLIENT_CACHE";

/// What the model may use without asking.
const TOOLS: &str = "Agent,Bash,Read,Write,Edit";

/// A session takes seconds. One that takes this long hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Made up. The mock does not look, but the client wants one.
pub(crate) const API_KEY: &str = "sk-ant-made-up-for-the-tests-of-conclaude";

/// A client that can be started.
pub(crate) struct Client {
    path: PathBuf,
}

impl Client {
    /// The client of the cache, put there first if it is missing.
    pub(crate) fn fetch() -> Result<Client, String> {
        let home = cache()?.join(VERSION);
        if let Some(path) = binary(&home) {
            return Ok(Client { path });
        }
        println!("real_client: fetching {PACKAGE}@{VERSION} into {}", home.display());
        install(&home)?;
        binary(&home).map(|path| Client { path }).ok_or_else(|| {
            format!("{PACKAGE}@{VERSION} has no client for this machine: nothing under {}", home.display())
        })
    }

    /// The client that the program outside the namespace found.
    pub(crate) fn given() -> Result<Client, String> {
        let path = std::env::var_os(INSIDE).map(PathBuf::from).filter(|path| path.is_file());
        path.map(|path| Client { path }).ok_or_else(|| format!("{INSIDE} does not name a client"))
    }

    /// The program.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Plays a session in the project, to its end.
    pub(crate) fn play(&self, project: &Project, script: Script) -> SessionResult {
        self.play_with(project, script, &["--permission-mode", "acceptEdits", "--allowedTools", TOOLS])
    }

    /// The same, where nothing that writes is allowed without asking. Nobody is there to answer.
    pub(crate) fn play_asking(&self, project: &Project, script: Script) -> SessionResult {
        self.play_with(project, script, &["--permission-mode", "default", "--allowedTools", "Read"])
    }

    /// The same as `play`, with the MCP servers of a file of the project, whose tools may be used.
    pub(crate) fn play_with_servers(
        &self,
        project: &Project,
        servers: &str,
        script: Script,
    ) -> SessionResult {
        let (servers, tools) = (project.path(servers), format!("{TOOLS},mcp__files"));
        let arguments =
            ["--permission-mode", "acceptEdits", "--allowedTools", &tools, "--mcp-config", &servers];
        self.play_with(project, script, &arguments)
    }

    /// The same as `play`, with settings on the command line.
    pub(crate) fn play_with_settings(
        &self,
        project: &Project,
        settings: &str,
        script: Script,
    ) -> SessionResult {
        let arguments = ["--permission-mode", "acceptEdits", "--allowedTools", TOOLS, "--settings", settings];
        self.play_with(project, script, &arguments)
    }

    /// The same as `play`, with the plugin of this repository.
    pub(crate) fn play_with_plugin(&self, project: &Project, script: Script) -> SessionResult {
        let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin");
        let arguments = ["--permission-mode", "acceptEdits", "--allowedTools", TOOLS, "--plugin-dir", plugin];
        self.play_with(project, script, &arguments)
    }

    /// What the client says when it ends with an error.
    pub(crate) fn play_failing(&self, project: &Project, script: Script) -> String {
        let mock = Mock::start(script);
        let mut command = self.command(project, &mock.url);
        command.args(["--permission-mode", "acceptEdits", "--allowedTools", TOOLS, "--", PROMPT]);
        let output = command.output().expect("the client can be started");
        assert!(!output.status.success(), "the client should not start");
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    /// The same as `play`, with these prompts of the user, one after the other.
    pub(crate) fn play_prompts(&self, project: &Project, prompts: &[&str], script: Script) -> SessionResult {
        let line = |prompt: &&str| {
            let content = json!([{"type": "text", "text": prompt}]);
            format!("{}\n", json!({"type": "user", "message": {"role": "user", "content": content}}))
        };
        let mock = Mock::start(script);
        let mut command = self.command(project, &mock.url);
        command.args(["--permission-mode", "acceptEdits", "--allowedTools", TOOLS]);
        command.args(["--input-format", "stream-json"]).stdin(Stdio::piped());
        played(command, &prompts.iter().map(line).collect::<String>(), &mock)
    }

    fn play_with(&self, project: &Project, script: Script, permissions: &[&str]) -> SessionResult {
        let mock = Mock::start(script);
        let mut command = self.command(project, &mock.url);
        command.args(permissions).args(["--", PROMPT]);
        played(command, "", &mock)
    }

    fn command(&self, project: &Project, url: &str) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(["-p", "--output-format", "stream-json", "--verbose", "--include-hook-events"])
            .args(["--model", "sonnet"])
            .current_dir(project.root())
            .env_clear()
            .envs(project.environment())
            .env("ANTHROPIC_API_KEY", API_KEY)
            .env("ANTHROPIC_BASE_URL", url)
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            // As root the client asks for a sign that the machine is not a real one.
            .env("IS_SANDBOX", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let with_us = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
        // SAFETY: the closure makes one system call and touches no memory.
        unsafe { command.pre_exec(with_us) };
        command
    }
}

/// What comes of the session, which is given this on stdin.
fn played(mut command: Command, input: &str, mock: &Mock) -> SessionResult {
    let mut child = command.spawn().expect("the client can be started");
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).expect("the client reads its stdin");
    }
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let exit = wait(&mut child);
    let seen = SessionResult::new(
        exit,
        &stdout.join().expect("a reader does not panic"),
        stderr.join().expect("a reader does not panic"),
        mock.asked(),
    );
    seen.check();
    seen
}

fn cache() -> Result<PathBuf, String> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(CACHE)
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("conclaude-tests")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/conclaude-tests")))
        .ok_or_else(|| format!("there is no folder for the client: set {CACHE} or HOME"))
}

/// npm picks the package of this platform beside the main one. It holds the whole client.
fn binary(home: &Path) -> Option<PathBuf> {
    let packages = std::fs::read_dir(home.join("node_modules/@anthropic-ai")).ok()?.flatten();
    let ours = packages.filter(|entry| entry.file_name().to_string_lossy().starts_with("claude-code-"));
    let mut found: Vec<PathBuf> =
        ours.map(|entry| entry.path().join("claude")).filter(|path| path.is_file()).collect();
    // `…-linux-x64` before `…-linux-x64-musl`, where npm cannot tell and takes both.
    found.sort_by_key(|path| path.as_os_str().len());
    found.into_iter().next()
}

/// Installs beside the place first, so that a run that is cut off leaves no half of a client.
fn install(home: &Path) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot write to {}: {error}", home.display());
    let parent = home.parent().unwrap_or(home);
    std::fs::create_dir_all(parent).map_err(cannot)?;
    let fresh = tempfile::Builder::new().prefix("fetching-").tempdir_in(parent).map_err(cannot)?;
    let npm = Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
        .arg(fresh.path())
        .arg(format!("{PACKAGE}@{VERSION}"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            format!(
                "the client is not in {}, and npm, which fetches it, cannot be started: {error}",
                home.display()
            )
        })?;
    if !npm.status.success() {
        let said = String::from_utf8_lossy(&npm.stderr);
        return Err(format!("npm could not fetch {PACKAGE}@{VERSION}:\n{}", said.trim()));
    }
    // Another run may have been quicker; its client is as good.
    match std::fs::rename(fresh.path(), home) {
        Err(error) if binary(home).is_none() => Err(cannot(error)),
        _ => Ok(()),
    }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    let mut pipe = pipe.expect("the pipe was asked for");
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The exit code; nothing if the client had to be killed.
fn wait(child: &mut Child) -> Option<i32> {
    let begin = Instant::now();
    let ended = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status.code(),
            None if begin.elapsed() > LIMIT => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    // Also after a good end: what the client left in its group would hold the pipes.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    ended
}
