//! The clients under test: fetched once from npm, kept in a cache, configured for the scripted model, and started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::namespace::INSIDE;
use crate::project::Project;
use crate::wire::ToolCall;

/// Where clients are kept, if not in the user's cache.
const CACHE: &str = "CONCLAUDE_CLIENT_CACHE";

/// Made up. The server does not look, but the clients want one.
const API_KEY: &str = "made-up-for-the-tests-of-conclaude";

/// A client in a fixed version.
pub(crate) struct ClientKind {
    /// As conclaude names it.
    pub name: &'static str,
    package: &'static str,
    version: &'static str,
    /// The folder of its packages, the start of the name of that of this platform, and the program in there.
    program: (&'static str, &'static str, &'static str),
    /// It is a script.
    needs_node: bool,
    configure: fn(&Project, u16),
    /// Its arguments, before the prompt.
    arguments: &'static [&'static str],
    environment: fn(&Project, &Path, u16) -> Vec<(&'static str, String)>,
    /// Its tools: a shell command, a file that is written, an agent that is called, with what follows in turns of their own.
    pub shell: fn(&str) -> ToolCall,
    pub write: fn(&Project, &str) -> ToolCall,
    pub agent: fn(&str) -> Vec<ToolCall>,
    /// The tool by which an agent stops, where it is not a text.
    pub stop: Option<fn(&str) -> ToolCall>,
}

/// The Node that the scripts run in.
const NODE: (&str, &str) = ("node-linux-", "22.23.3");

const AGENT: &str = "---\nname: coder\ndescription: Does the work of a coder\n---\nYou are a coder.\n";

fn call(name: &'static str, input: Value) -> ToolCall {
    ToolCall { name, input, namespace: None }
}

pub(crate) const ALL: [ClientKind; 4] = [
    ClientKind {
        name: "codex",
        package: "@openai/codex",
        version: "0.169.0",
        program: ("@openai", "codex-linux-", "vendor/*/bin/codex"),
        needs_node: false,
        configure: |project, port| {
            let root = project.root();
            let config = format!(
                "model = \"gpt-5.5\"\nmodel_provider = \"mock\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\n\
                 [model_providers.mock]\nname = \"mock\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nwire_api = \"responses\"\n\
                 env_key = \"MOCK_KEY\"\nrequest_max_retries = 1\nstream_max_retries = 1\n\n[analytics]\nenabled = false\n\n\
                 [projects.{root:?}]\ntrust_level = \"trusted\"\n"
            );
            project.home_file(".codex/config.toml", &config);
            let agent = "name = \"coder\"\ndescription = \"Does the work of a coder\"\ndeveloper_instructions = \"You are a coder.\"\n";
            project.file(".codex/agents/coder.toml", agent);
        },
        arguments: &["exec", "--json", "--enable", "multi_agent_v2", "--dangerously-bypass-hook-trust", "--"],
        environment: |project, _, _| {
            let home = project.at("home/.codex").display().to_string();
            vec![("CODEX_HOME", home), ("MOCK_KEY", API_KEY.into())]
        },
        shell: |command| call("exec_command", json!({"cmd": command})),
        write: |_, file| {
            call(
                "apply_patch",
                format!("*** Begin Patch\n*** Add File: {file}\n+written\n*** End Patch\n").into(),
            )
        },
        agent: |prompt| {
            let input = json!({"message": prompt, "task_name": "coder_1", "agent_type": "coder", "fork_turns": "none"});
            let collaboration =
                |name, input| ToolCall { namespace: Some("collaboration"), ..call(name, input) };
            vec![
                collaboration("spawn_agent", input),
                collaboration("wait_agent", json!({"timeout_ms": 20_000})),
            ]
        },
        stop: None,
    },
    ClientKind {
        name: "copilot",
        package: "@github/copilot",
        version: "1.0.102",
        program: ("@github", "copilot-linux-", "copilot"),
        needs_node: false,
        configure: |project, _| project.file(".github/agents/coder.agent.md", AGENT),
        arguments: &["--output-format", "json", "--no-color", "--allow-all", "--trust-folder", "-p"],
        environment: |project, home, port| {
            vec![
                ("COPILOT_HOME", project.at("home/.copilot").display().to_string()),
                ("COPILOT_OFFLINE", "true".into()),
                ("COPILOT_PROVIDER_BASE_URL", format!("http://127.0.0.1:{port}/v1")),
                ("COPILOT_PROVIDER_API_KEY", API_KEY.into()),
                ("COPILOT_MODEL", "mock".into()),
                ("COPILOT_AUTO_UPDATE", "false".into()),
                // It unpacks itself there, once.
                ("XDG_CACHE_HOME", home.join("unpacked").display().to_string()),
            ]
        },
        shell: |command| call("bash", json!({"command": command, "description": "A command"})),
        write: |project, file| call("create", json!({"path": project.path(file), "file_text": "written\n"})),
        agent: |prompt| {
            vec![call(
                "task",
                json!({"agent_type": "coder", "name": "coder-1", "description": "A task", "prompt": prompt, "mode": "sync"}),
            )]
        },
        stop: None,
    },
    ClientKind {
        name: "qwen",
        package: "@qwen-code/qwen-code",
        version: "0.24.4",
        program: ("@qwen-code", "qwen-code", "cli.js"),
        needs_node: true,
        configure: |project, _| {
            let settings = json!({
                "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}},
                "model": {"name": "mock"}, "privacy": {"usageStatisticsEnabled": false},
                "general": {"disableAutoUpdate": true, "enableAutoUpdate": false}, "telemetry": {"enabled": false},
                // An agent of its own would look through the conversation after each answer.
                "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
            });
            project.home_file(".qwen/settings.json", &settings.to_string());
            project.file(".qwen/agents/coder.md", AGENT);
        },
        arguments: &["--yolo", "--output-format", "stream-json"],
        environment: |_, _, port| {
            vec![
                ("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1")),
                ("OPENAI_API_KEY", API_KEY.into()),
                ("OPENAI_MODEL", "mock".into()),
                ("QWEN_CODE_NO_RELAUNCH", "true".into()),
            ]
        },
        shell: |command| {
            call(
                "run_shell_command",
                json!({"command": command, "description": "A command", "is_background": false}),
            )
        },
        write: |project, file| {
            call("write_file", json!({"file_path": project.path(file), "content": "written\n"}))
        },
        agent: |prompt| {
            vec![call(
                "agent",
                json!({"subagent_type": "coder", "description": "A task", "prompt": prompt, "run_in_background": false}),
            )]
        },
        stop: None,
    },
    ClientKind {
        name: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        program: ("@google", "gemini-cli", "bundle/gemini.js"),
        needs_node: true,
        configure: |project, _| {
            let settings = json!({
                "security": {"auth": {"selectedType": "vertex-ai"}, "folderTrust": {"enabled": false}},
                "experimental": {"enableAgents": true}, "privacy": {"usageStatisticsEnabled": false},
                "general": {"enableAutoUpdate": false}, "telemetry": {"enabled": false},
            });
            project.home_file(".gemini/settings.json", &settings.to_string());
            project.home_file(".gemini/agents/coder.md", AGENT);
        },
        arguments: &[
            "--yolo",
            "--output-format",
            "stream-json",
            "--model",
            "gemini-2.5-flash",
            "--skip-trust",
            "-p",
        ],
        environment: |_, _, port| {
            vec![
                ("GOOGLE_GENAI_USE_VERTEXAI", "true".into()),
                ("GOOGLE_API_KEY", API_KEY.into()),
                ("GOOGLE_VERTEX_BASE_URL", format!("http://127.0.0.1:{port}")),
                ("GEMINI_CLI_NO_RELAUNCH", "true".into()),
            ]
        },
        shell: |command| call("run_shell_command", json!({"command": command, "description": "A command"})),
        write: |project, file| {
            call("write_file", json!({"file_path": project.path(file), "content": "written\n"}))
        },
        agent: |prompt| vec![call("invoke_agent", json!({"agent_name": "coder", "prompt": prompt}))],
        stop: Some(|report| call("complete_task", json!({"result": report}))),
    },
];

/// All clients, in the cache.
pub(crate) struct Client {
    cache: PathBuf,
}

impl Client {
    /// Fetches what is missing.
    pub(crate) fn fetch_all() -> Result<Client, String> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = set(CACHE)
            .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("conclaude-tests")))
            .or_else(|| set("HOME").map(|home| home.join(".cache/conclaude-tests")))
            .ok_or_else(|| format!("there is no folder for the clients: set {CACHE} or HOME"))?;
        let client = Client { cache };
        let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        if client.node().is_none() {
            client.install("node", &format!("{}{architecture}", NODE.0), NODE.1)?;
        }
        for kind in &ALL {
            if client.program(kind).is_none() {
                client.install(kind.name, kind.package, kind.version)?;
            }
            client
                .program(kind)
                .ok_or_else(|| format!("{} has no program for this machine", kind.package))?;
        }
        Ok(client)
    }

    /// Those that the program outside the namespace found.
    pub(crate) fn given() -> Result<Client, String> {
        let cache = std::env::var_os(INSIDE).map(PathBuf::from).filter(|path| path.is_dir());
        cache.map(|cache| Client { cache }).ok_or_else(|| format!("{INSIDE} names no folder of clients"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.cache
    }

    fn home(&self, name: &str, version: &str) -> PathBuf {
        self.cache.join(format!("{name}-{version}"))
    }

    fn node(&self) -> Option<PathBuf> {
        found(&self.home("node", NODE.1).join("node_modules"), NODE.0, "bin/node")
    }

    fn program(&self, kind: &ClientKind) -> Option<PathBuf> {
        let (folder, start, program) = kind.program;
        let packages = self.home(kind.name, kind.version).join("node_modules").join(folder);
        match program.split_once("/*/") {
            None => found(&packages, start, program),
            Some((before, after)) => found(&found(&packages, start, before)?, "", after),
        }
    }

    /// Installs beside the place first, so that a run that is cut off leaves no half of a client.
    fn install(&self, name: &str, package: &str, version: &str) -> Result<(), String> {
        println!("other_clients: fetching {package}@{version} into {}", self.cache.display());
        let cannot = |error: std::io::Error| format!("cannot write to {}: {error}", self.cache.display());
        std::fs::create_dir_all(&self.cache).map_err(cannot)?;
        let fresh = tempfile::Builder::new().prefix("fetching-").tempdir_in(&self.cache).map_err(cannot)?;
        let npm = Command::new("npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
            .arg(fresh.path())
            .arg(format!("{package}@{version}"))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("npm, which fetches {package}, cannot be started: {error}"))?;
        if !npm.status.success() {
            let said = String::from_utf8_lossy(&npm.stderr);
            return Err(format!("npm could not fetch {package}@{version}:\n{}", said.trim()));
        }
        std::fs::rename(fresh.keep(), self.home(name, version)).map_err(cannot)
    }

    /// The client, configured for the project and a model on this port, with this prompt.
    pub(crate) fn command(&self, kind: &ClientKind, project: &Project, port: u16, prompt: &str) -> Command {
        (kind.configure)(project, port);
        let program = self.program(kind).expect("it was fetched");
        let mut command = if kind.needs_node {
            let mut command = Command::new(self.node().expect("it was fetched"));
            command.arg(program);
            command
        } else {
            Command::new(program)
        };
        let home = self.home(kind.name, kind.version);
        command
            .args(kind.arguments)
            .arg(prompt)
            .current_dir(project.root())
            .env_clear()
            .envs(project.environment())
            .envs((kind.environment)(project, &home, port));
        command
    }
}

/// The shortest path `FOLDER/START…/REST` that exists: one with another C library has a longer name.
fn found(folder: &Path, start: &str, rest: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
    let mut paths: Vec<PathBuf> =
        named.map(|entry| entry.path().join(rest)).filter(|path| path.exists()).collect();
    paths.sort_by_key(|path| path.as_os_str().len());
    paths.into_iter().next()
}
