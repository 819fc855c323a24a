//! Gates 1 and 2: calls and writes that do not happen.

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, agent, bash, says, uses, write};

fn marked(step: &str, wanted: &str) -> String {
    format!(
        "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: {step} -->\n<!-- DES-AGENT: {wanted} -->\nCODER-PART: do it."
    )
}

pub(super) fn denied_call(client: &Client) {
    let project = Project::new().agents(&["coder", "tester"]).step("").installed();
    let seen = client.play(
        &project,
        Script::main([
            uses([agent("coder", &marked("steps/77-77.json", "coder"))]),
            uses([agent("tester", &marked("steps/01-01.json", "coder"))]),
            says("I do not know how."),
        ])
        .agent("CODER-PART", [says("Nobody should have called me.")]),
    );
    seen.sent(MAIN, 1).has("✗ STEP_FILE_MISSING").has("steps/77-77.json");
    seen.sent(MAIN, 2).has("✗ AGENT_MISMATCH").has("tester");
    assert_eq!(seen.turns("CODER-PART"), 0, "no agent was started");
    assert!(seen.hooks("SubagentStart").is_empty());
    seen.result().has("I do not know how.");
}

pub(super) fn denied_write(client: &Client) {
    let project = Project::new().agents(&["coder"]).step("").installed();
    let phase = |name| format!("conclaude des run steps/01-01.json {name} -- true");
    let seen = client.play(
        &project,
        Script::main([uses([agent("coder", &marked("steps/01-01.json", "coder"))]), says("All is done.")])
            .agent(
                "CODER-PART",
                [
                    uses([write(&project.path("docs/outside.md"), "outside\n")]),
                    uses([write(&project.path("src/inside.txt"), "inside\n")]),
                    uses([bash(&format!("{} && {}", phase("BUILD"), phase("CHECK")))]),
                    says("I am done, inside."),
                ],
            ),
    );
    seen.sent("CODER-PART", 1).has("✗ SCOPE_VIOLATION").has("docs/outside.md").has("src/**");
    assert!(!project.has("docs/outside.md"), "what was denied was not written");
    seen.sent("CODER-PART", 2).lacks("SCOPE_VIOLATION");
    assert_eq!(project.read("src/inside.txt").as_deref(), Some("inside\n"));
    assert_eq!(seen.turns("CODER-PART"), 4, "nothing that was not written keeps it from stopping");
    seen.sent(MAIN, 1).has("I am done, inside.").lacks("SCOPE_VIOLATION");
}
