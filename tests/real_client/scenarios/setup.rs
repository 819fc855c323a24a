//! A config that is broken, and settings that come and go.

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, agent, bash, says, uses};

const CODER: &str = "CODER-PART";

/// The agent says in its step file that it could not do it.
const ADMIT: &str = r#"sed -i -e 's/"status": "TODO"/"status": "FAILED"/' -e 's/"failure_reason": null/"failure_reason": "it is too hard"/' steps/01-01.json"#;

pub fn broken_config(client: &Client) {
    // With the default phases, which are those of a broken config too.
    let project = Project::new().agents(&["coder"]).default_step().installed();
    let head = project.conclaude(&["des", "prompt", "steps/01-01.json", "--agent", "coder"]);
    let project = project.config("subagentStop:\n  comands: {}\n");
    let seen = client.play(
        &project,
        Script::main([
            uses([agent("coder", &head.replace("01-01.json", "77-77.json"))]),
            uses([agent("coder", &format!("{head}\nCODER-PART: do it."))]),
            says("It did not work."),
        ])
        .agent(CODER, [says("I am done, trust me."), uses([bash(ADMIT)]), says("I could not do it.")]),
    );
    let start = seen.hooks("SessionStart");
    assert!(
        start.iter().any(|hook| hook["stdout"].as_str().unwrap().contains("unknown key `comands`")),
        "told at once"
    );
    seen.shown().has("unknown key `comands`").has(".conclaude.yaml:2:3");
    seen.sent(MAIN, 1).has("✗ STEP_FILE_MISSING");
    seen.sent(CODER, 1).has("may not stop yet").has("✗ SILENT_COMPLETION");
    assert_eq!(seen.turns(CODER), 3, "an admitted failure may stop");
    seen.sent(MAIN, 2).has("I could not do it.").has("failed, and says so: it is too hard");
}

/// Written by a person, in a person's style.
const SETTINGS: &str = r#"{ "cleanupPeriodDays": 30,
   "hooks": {
      "Stop": [ { "hooks": [ {"type": "command", "command": "echo x >> other-hook-ran"} ] } ] },

  "includeCoAuthoredBy":   false
}"#;

pub fn uninstall(client: &Client) {
    const FILE: &str = ".claude/settings.json";
    let config = "subagentStop: {commands: {coder: [{run: 'echo \"linted for: $CONCLAUDE_SUBAGENT_NAME\"', showStdout: true}]}}";
    let project = Project::new().agents(&["coder"]).file(FILE, SETTINGS).config(config).installed();
    assert_ne!(project.read(FILE).as_deref(), Some(SETTINGS));
    let script = || {
        Script::main([uses([agent("coder", "CODER-PART: do it.")]), says("All is done.")])
            .agent(CODER, [says("The code is written.")])
    };
    let seen = client.play(&project, script());
    seen.shown().has_once("linted for: coder");
    assert_eq!(project.read("other-hook-ran").as_deref(), Some("x\n"), "the person's own hook still runs");

    project.conclaude(&["uninstall"]);
    assert_eq!(project.read(FILE).as_deref(), Some(SETTINGS), "byte for byte");
    let seen = client.play(&project, script());
    seen.shown().lacks("conclaude");
    seen.all_sent(MAIN).lacks("linted for");
    assert_eq!(project.read("other-hook-ran").as_deref(), Some("x\nx\n"), "and goes on to run");
}
