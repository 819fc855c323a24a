//! Gate 3: what an agent reads when its step is not done, and how it gets away.

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, Turn, agent, bash, says, uses};

const CODER: &str = "CODER-PART";

/// A call of the coder with the head that conclaude makes for the step.
fn call(project: &Project) -> Turn {
    let head = project.conclaude(&["des", "prompt", "steps/01-01.json", "--agent", "coder"]);
    uses([agent("coder", &format!("{head}\nCODER-PART: do the step."))])
}

/// The phase is done, with proof.
fn phase(name: &str) -> String {
    format!("conclaude des run steps/01-01.json {name} -- true")
}

pub(super) fn fixed(client: &Client) {
    let project = Project::new().agents(&["coder"]).step("").installed();
    let seen = client.play(
        &project,
        Script::main([call(&project), says("The step is done.")]).agent(
            CODER,
            [
                says("I am done, trust me."),
                uses([bash(&phase("BUILD"))]),
                says("I am done, half of it."),
                uses([bash(&phase("CHECK"))]),
                says("I am done, all of it."),
            ],
        ),
    );
    seen.sent(CODER, 0).has("DES-VALIDATION: required").has("src/**").has("BUILD");
    seen.sent(CODER, 1).has("may not stop yet (block 1 of 3)").has("✗ SILENT_COMPLETION");
    seen.sent(CODER, 3).has("may not stop yet (block 2 of 3)").has("✗ INCOMPLETE_PHASE").has("CHECK");
    assert_eq!(seen.turns(CODER), 5, "then it may stop");
    seen.sent(MAIN, 1).has("I am done, all of it.").lacks("✗").lacks("may not stop");
    seen.shown().lacks("✗").has_once("✓ coder · \"A part\": the step passed after 2 blocks");
    assert!(project.read("steps/01-01.json").unwrap().contains("\"DONE\""));
    project.conclaude(&["audit", "verify"]);
}

pub(super) fn limit(client: &Client) {
    let project = Project::new().agents(&["coder"]).step("maxBlocks: 2\n").installed();
    let seen = client.play(
        &project,
        Script::main([call(&project), says("It did not work.")]).agent(
            CODER,
            [says("I am done."), says("I am done, I said."), says("For the last time: I am done.")],
        ),
    );
    seen.sent(CODER, 1).has("block 1 of 2").has("✗ SILENT_COMPLETION");
    seen.sent(CODER, 2).has("block 2 of 2").has("✗ SILENT_COMPLETION");
    assert_eq!(seen.turns(CODER), 3, "it is not blocked a third time");
    for text in [seen.shown(), seen.sent(MAIN, 1)] {
        text.has_once("SILENT_COMPLETION").has_once(
            "This would have blocked, but the agent may stop: it was blocked 2 times already (maxBlocks).",
        );
    }
    assert!(project.conclaude(&["audit", "show"]).contains("allowed despite a failure"));
}

/// Claude Code sends no SubagentStop for an agent that runs out of turns: the gate is never asked.
pub(super) fn unfinished(client: &Client) {
    let short =
        "---\nname: coder\ndescription: Does the work of a coder\nmaxTurns: 1\n---\nYou are a coder.\n";
    let project = Project::new().file(".claude/agents/coder.md", short).step("").installed();
    let seen = client.play(
        &project,
        Script::main([call(&project), says("The coder gave up.")])
            .agent(CODER, [uses([bash(&phase("BUILD"))]), says("I am done.")]),
    );
    assert_eq!(seen.turns(CODER), 1, "the agent ran out of turns");
    assert!(seen.hooks("SubagentStop").is_empty());
    seen.shown().has("Stop says").has_once("⚠ UNFINISHED").has("steps/01-01.json");
    assert!(project.conclaude(&["audit", "show"]).contains("never stopped"));
}

pub(super) fn judge(client: &Client) {
    let config = "  judge: {prompt: 'JUDGE-PART: are there tests?', timeout: 60}\n";
    let project = Project::new().agents(&["coder"]).step(config).installed();
    let both = format!("{} && {}", phase("BUILD"), phase("CHECK"));
    let seen = client.play(
        &project,
        Script::main([call(&project), says("The step is done.")])
            .agent(
                CODER,
                [
                    uses([bash(&both)]),
                    says("I am done, without tests."),
                    uses([bash("mkdir -p src && echo test > src/test.txt")]),
                    says("I am done, with a test."),
                ],
            )
            .judge(
                "JUDGE-PART",
                &[r#"{"continue": false, "error": "no test for the error path"}"#, r#"{"continue": true}"#],
            ),
    );
    seen.sent("JUDGE-PART", 0).has("\"task_id\": \"01-01\"").has("I am done, without tests.");
    seen.sent(CODER, 2).has("block 1 of 3").has("✗ JUDGE_REFUSED: no test for the error path");
    seen.sent("JUDGE-PART", 1).has("I am done, with a test.");
    assert_eq!((seen.turns("JUDGE-PART"), seen.turns(CODER)), (2, 4), "asked twice, then it may stop");
    seen.sent(MAIN, 1).has("I am done, with a test.").lacks("JUDGE_REFUSED");
    seen.shown().lacks("JUDGE").has_once("the judge's review passed after 1 block");
}
