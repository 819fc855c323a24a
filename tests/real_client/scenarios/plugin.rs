//! The plugin, alone and beside each kind of registration.

use std::path::Path;
use std::process::Command;

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, agent, says, uses};
use crate::session_result::SessionResult;

/// Blocks once.
const CONFIG: &str = "subagentStop: {commands: {coder: [{run: 'echo ran >> ran; test -e again || { touch again; exit 1; }', onFailure: block}]}}";

fn project() -> Project {
    let project = Project::new().agents(&["coder"]).config(CONFIG).committed();
    project.conclaude(&["trust", "--yes"]);
    project
}

fn script() -> Script {
    Script::main([uses([agent("coder", "THE-PART: do it.")]), says("It is done.")])
        .agent("THE-PART", [says("First."), says("The code is written.")])
}

fn runs_once(client: &Client, project: &Project) {
    blocks_once(&client.play_with_plugin(project, script()), project);
}

/// The subagent is blocked once and passes then: two runs, whichever registration has called.
fn blocks_once(seen: &SessionResult, project: &Project) {
    seen.sent("THE-PART", 1).has("may not stop yet (block 1 of 3)").lacks("block 2 of 3");
    seen.sent(MAIN, 1).has("The code is written.");
    assert_eq!(project.read("ran").as_deref(), Some("ran\nran\n"));
}

pub(super) fn alone(client: &Client) {
    runs_once(client, &project());
}

/// As a user installs it: by the client's own commands, from the marketplace in the repository's root.
pub(super) fn installed(client: &Client) {
    let project = project();
    let root = env!("CARGO_MANIFEST_DIR");
    for arguments in [&["marketplace", "add", root][..], &["install", "conclaude@conclaude"]] {
        let mut command = Command::new(client.path());
        command.arg("plugin").args(arguments).current_dir(project.root());
        command.env_clear().envs(project.environment());
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
    let doctor = project.conclaude(&["doctor"]);
    assert!(doctor.contains("the plugin conclaude@conclaude calls conclaude"), "{doctor}");
    blocks_once(&client.play(&project, script()), &project);
}

pub(super) fn beside_registrations(client: &Client) {
    for scope in ["--project", "--local", "--user"] {
        let project = project();
        project.conclaude(&["install", scope]);
        runs_once(client, &project);
    }
}

pub(super) fn beside_npm(client: &Client) {
    let project = project().file("node_modules/conclaude/package.json", "{}");
    let project = project.file("node_modules/@conclaude/cli-linux-x64/package.json", "{}");
    let program = project.path("node_modules/@conclaude/cli-linux-x64/conclaude");
    std::fs::hard_link(project.root().join("../bin/conclaude"), program).unwrap();
    project.conclaude(&["install"]);
    let settings = project.read(".claude/settings.json").unwrap();
    assert!(settings.contains("node_modules"), "{settings}");
    runs_once(client, &project);
}

pub(super) fn valid(client: &Client) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for arguments in [&["--profile", "directory", "plugin"][..], &["."]] {
        let project = Project::new();
        let mut command = Command::new(client.path());
        command.args(["plugin", "validate", "--strict"]).args(arguments).current_dir(root);
        let output = command.env_clear().envs(project.environment()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
