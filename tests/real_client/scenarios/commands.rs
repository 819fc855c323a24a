//! Commands at the stop of subagents: whose run, and who learns of it.

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, agent, background_agent, says, uses};

/// A command for each of two agents. Only what is printed has the word in this form, not the script.
const COMMANDS: &str = r#"
subagentStop:
  commands:
    coder:
      - run: 'touch coder-ran; echo "linted for: $CONCLAUDE_SUBAGENT_NAME"'
        showStdout: true
    tester:
      - run: 'touch tester-ran; echo "tested for: $CONCLAUDE_SUBAGENT_NAME"'
        showStdout: true
"#;

pub fn foreground(client: &Client) {
    let project = Project::new().agents(&["coder", "tester"]).config(COMMANDS).installed();
    let seen = client.play(
        &project,
        Script::main([uses([agent("coder", "CODER-PART: do it.")]), says("All is done.")])
            .agent("CODER-PART", [says("The code is written.")]),
    );
    assert!(project.read("coder-ran").is_some(), "the coder's command ran");
    assert!(project.read("tester-ran").is_none(), "the tester's command did not run");
    seen.shown().has_once("linted for: coder").lacks("tested for");
    seen.sent(MAIN, 1).has("The code is written.").has_once("linted for: coder").lacks("tested for");
    seen.all_sent("CODER-PART").lacks("linted for");
    seen.result().has("All is done.");
}
