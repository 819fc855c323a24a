//! Budgets, counted from the transcripts that the client writes. Each answer of the model is 110 tokens.

use crate::client::Client;
use crate::project::Project;
use crate::script;
use crate::script::{MAIN, PROMPT, Script, bash, says, uses};

/// Six answers are 660 tokens: more than 80 % of 800 are used at the sixth call, and all after the eighth answer.
pub(super) fn session(client: &Client) {
    let project = Project::new().config("budget: {session: {tokens: 800}, then: block}\n").installed();
    let mut turns: Vec<_> = (1..=9).map(|number| uses([bash(&format!("touch done-{number}"))])).collect();
    turns.push(says("That is what is done."));
    let seen = client.play(&project, Script::main(turns));
    let near = "of the budget of this session is used";
    assert!(project.has("done-7") && !project.has("done-9"), "tools are denied when it is used up");
    seen.all_sent(MAIN).has(near).has("The budget of this session is used up").has("Use no more tools");
    let told: usize =
        seen.hooks("PreToolUse").iter().filter(|answer| answer["stdout"].to_string().contains(near)).count();
    assert_eq!(told, 1, "once");
    seen.result().has("That is what is done.");
    assert!(project.conclaude(&["budget"]).contains("of 800 tokens"));
    assert!(project.conclaude(&["audit", "show"]).contains("BUDGET_REACHED"));
}

fn agent_calls() -> Script {
    Script::main([uses([script::agent("coder", "Please play CODER-PART.")]), says("The agent has reported.")])
        .agent(
            "CODER-PART",
            [
                uses([bash("touch one")]),
                uses([bash("touch two")]),
                uses([bash("touch three")]),
                says("Two of three are done."),
            ],
        )
}

pub(super) fn agent(client: &Client) {
    let project = Project::new()
        .agents(&["coder"])
        .config("budget: {agent: {toolCalls: 2, minutes: 60}, then: block, at: 100%}\n")
        .installed();
    let seen = client.play(&project, agent_calls());
    assert!(project.has("two") && !project.has("three"), "two calls are two");
    seen.sent("CODER-PART", 2).has_once("100 % of the budget of the agent coder");
    seen.sent("CODER-PART", 3).has_once("is used up: 2 of 2 tool calls").has("Use no more tools");
    seen.sent(MAIN, 1).has("Two of three are done.");
    seen.shown().has("The tools of coder").has("are denied");
    seen.result().has("The agent has reported.");
}

pub(super) fn prompt(client: &Client) {
    let project = Project::new().config("budget: {session: {tokens: 100}, then: block}\n").installed();
    let seen = client.play_prompts(&project, &[PROMPT, "Go on."], Script::main([says("All is done.")]));
    assert_eq!(seen.turns(MAIN), 1, "the second prompt is not sent");
    seen.shown().has("The budget of this session is used up").has("conclaude budget raise --session");
}
