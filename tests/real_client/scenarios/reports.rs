//! Events that only report something: files that change, and instructions that are read.

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, bash, says, uses};

/// Claude Code reports a change some time after it: the session goes on until the command has run, or for a minute.
fn until(file: &str) -> String {
    format!("for i in $(seq 300); do [ -s {file} ] && break; sleep 0.2; done")
}

/// Of all files that change, the one that a pattern names.
pub(super) fn file_changed(client: &Client) {
    let config = r#"
fileChanged:
  commands:
    "first/*.md": [{run: "echo x >> ready"}]
    "local.cfg": [{run: "echo \"$CONCLAUDE_EVENT $CONCLAUDE_FILE_PATH\" >> changed"}]
    "docs/*.md": [{run: "echo \"$CONCLAUDE_FILE_PATH\" >> documented"}]
"#;
    let project = Project::new()
        .file("first/0.md", "x\n")
        .file("local.cfg", "old\n")
        .file("docs/old.md", "x\n")
        .config(config)
        .installed();
    // A file that appears before the client watches is not reported, then or later: new ones are made until one is.
    let watched = "for i in $(seq 60); do [ -s ready ] && break; echo x > first/$i.md; sleep 1; done";
    let writes = format!("echo new > local.cfg; touch other; {}", until("changed"));
    let seen = client.play(
        &project,
        Script::main([
            uses([bash(watched)]),
            uses([bash(&writes)]),
            uses([bash(&format!("echo y > docs/new.md; {}", until("documented")))]),
            says("All is done."),
        ]),
    );
    assert_eq!(seen.turns(MAIN), 4);
    assert_eq!(project.read("changed"), Some(format!("change {}\n", project.path("local.cfg"))));
    assert_eq!(project.read("documented"), Some(format!("{}\n", project.path("docs/new.md"))));
}

pub(super) fn instructions_loaded(client: &Client) {
    let config = r#"
instructionsLoaded:
  commands:
    session_start: [{run: "echo \"$CONCLAUDE_MEMORY_TYPE $CONCLAUDE_FILE_PATH\" >> loaded"}]
    nested_traversal: [{run: "echo nested >> loaded"}]
"#;
    let project = Project::new().file("CLAUDE.md", "Be kind.\n").config(config).installed();
    let seen = client.play(&project, Script::main([uses([bash(&until("loaded"))]), says("I read it.")]));
    assert_eq!(seen.turns(MAIN), 2);
    assert_eq!(project.read("loaded"), Some(format!("Project {}\n", project.path("CLAUDE.md"))));
}
