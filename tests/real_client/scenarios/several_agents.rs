//! Several agents: side by side, and one inside another.

use serde_json::Value;

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, agent, says, uses};

/// Both stops wait for each other, so they do run at the same time. The payload on stdin says whose it is.
const TOGETHER: &str = r#"
subagentStop:
  commands:
    coder:
      - run: |
          who=$(grep -o '[A-Z]*-ENDED')
          touch "here-$who"
          for i in $(seq 300); do [ -e here-ONE-ENDED ] && [ -e here-TWO-ENDED ] && break; sleep 0.1; done
          [ -e here-ONE-ENDED ] && [ -e here-TWO-ENDED ] && echo "begin of $who"
        showStdout: true
      - run: 'echo "end of $(grep -o "[A-Z]*-ENDED")"'
        showStdout: true
"#;

pub(super) fn parallel(client: &Client) {
    let project = Project::new().agents(&["coder"]).config(TOGETHER).installed();
    let seen = client.play(
        &project,
        Script::main([
            uses([agent("coder", "FIRST-PART: do it."), agent("coder", "SECOND-PART: do it.")]),
            says("Both are done."),
        ])
        .agent("FIRST-PART", [says("ONE-ENDED")])
        .agent("SECOND-PART", [says("TWO-ENDED")]),
    );
    let (one, two) = (seen.agent_id("FIRST-PART"), seen.agent_id("SECOND-PART"));
    // One message with each result: about one agent, whose words came from its own stop, in the order of the commands.
    let answers = seen.hooks("PostToolUse");
    assert_eq!(answers.len(), 2, "one answer to each call");
    for (id, own, other) in [(one, "ONE-ENDED", "TWO-ENDED"), (two, "TWO-ENDED", "ONE-ENDED")] {
        let said = |answer: &&Value| answer["stdout"].as_str().is_some_and(|text| text.contains(&id));
        let answer = answers.iter().copied().find(said).expect("an answer about each agent");
        let answer: Value = serde_json::from_str(answer["stdout"].as_str().unwrap()).unwrap();
        let message = answer["systemMessage"].as_str().unwrap();
        let place = |word: &str| message.find(&format!("{word} of {own}"));
        assert!(place("begin").is_some() && place("begin") < place("end"), "in order: {message}");
        assert!(!message.contains(other), "its own alone: {message}");
        for text in [seen.shown(), seen.sent(MAIN, 1)] {
            text.has_once(&format!("SubagentStop of coder · \"A part\" ({id})"));
            text.has_once(&format!("begin of {own}")).has_once(&format!("end of {own}"));
        }
    }
}

pub(super) fn nested(client: &Client) {
    let config = "subagentStop: {commands: {coder: [{run: 'echo \"linted for: $CONCLAUDE_SUBAGENT_NAME\"', showStdout: true}]}}";
    let project = Project::new().agents(&["lead", "coder"]).config(config).installed();
    let seen = client.play(
        &project,
        Script::main([uses([agent("lead", "LEAD-PART: have it done.")]), says("All is done.")])
            .agent("LEAD-PART", [uses([agent("coder", "CODER-PART: do it.")]), says("The coder did it.")])
            .agent("CODER-PART", [says("The code is written.")]),
    );
    seen.sent("LEAD-PART", 1).has("The code is written.").lacks("linted for");
    seen.sent(MAIN, 1).has("The coder did it.").has_once("linted for: coder");
    seen.shown().has("PostToolUse").has_once("linted for: coder");
    assert_eq!(project.pending(), 0, "what was shown is not pending any more");
}
