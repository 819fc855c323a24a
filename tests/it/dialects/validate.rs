//! `validate` says what a client of `clients` cannot do, in one line for each rule.

use crate::common::{Test, run_in as run};

/// The warnings about a config, each in its line.
fn warnings(config: &str) -> String {
    let test = Test::stop().config(config);
    let (code, shown, stderr) = run(&test.root(), &["validate"]);
    assert_eq!(code, Some(0), "{shown}{stderr}");
    let lines = shown.lines().filter_map(|line| line.strip_prefix("warning: "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_section_of_an_event_that_a_client_lacks_never_applies() {
    let sections = "permissionRequest: {default: ask, allow: ['Bash(ls)']}\npostToolUseFailure: {commands: {'*': [{run: x}]}}\npreCompact: {commands: [{run: x}]}\ninterrupt: {commands: [{run: x}]}\n";
    insta::assert_snapshot!(warnings(&format!("clients: [claude, codex, copilot, qwen, gemini]\n{sections}")), @"
    gemini: permissionRequest never applies: Gemini CLI has no such event
    codex: postToolUseFailure never applies: Codex has no such event
    gemini: postToolUseFailure never applies: Gemini CLI has no such event
    gemini: preCompact never applies: PreCompress fires before every request, whether anything is compressed or not
    claude: interrupt never applies: only Codex has Interrupt
    copilot: interrupt never applies: only Codex has Interrupt
    qwen: interrupt never applies: only Codex has Interrupt
    gemini: interrupt never applies: only Codex has Interrupt
    ");
    assert_eq!(warnings("clients: [codex]\ninterrupt: {commands: [{run: x}]}\n"), "");
}

#[test]
fn a_block_that_a_client_does_not_act_on_is_named() {
    let config = "clients: [claude, codex, copilot, qwen]\npreCompact: {commands: [{run: x, onFailure: block}, {run: y}]}\nstop: {commands: [{run: x, onFailure: block}]}\n";
    insta::assert_snapshot!(warnings(config), @"
    codex: preCompact: `onFailure: block` has no effect: Codex ignores a block at this event
    copilot: preCompact: `onFailure: block` has no effect: Copilot ignores a block at this event
    qwen: preCompact: `onFailure: block` has no effect: Qwen Code ignores a block at this event
    ");
}

#[test]
fn where_nobody_can_be_asked_each_rule_that_asks_is_named() {
    let config = "clients: [claude, codex, copilot, qwen, gemini]\npreToolUse:\n  toolUsageValidation: [{tool: Bash, commandPattern: 'x*', action: ask}, {tool: Bash, commandPattern: 'y*', action: block}]\n  uneditableFiles: [{pattern: a, action: ask}]\n";
    insta::assert_snapshot!(warnings(config), @"
    codex: preToolUse.toolUsageValidation: `action: ask` is a denial: in Codex nobody can be asked
    gemini: preToolUse.toolUsageValidation: `action: ask` is a denial: in Gemini CLI nobody can be asked
    codex: preToolUse.uneditableFiles: `action: ask` is a denial: in Codex nobody can be asked
    gemini: preToolUse.uneditableFiles: `action: ask` is a denial: in Gemini CLI nobody can be asked
    ");
    let switched = "clients: [codex]\nextends: ['pack:git-safety']\npacks: {git-safety: {force-push: ask}}\n";
    assert!(warnings(switched).contains("`action: ask` is a denial"));
}

#[test]
fn context_that_a_client_does_not_read_and_boundaries_that_it_cannot_tell_are_named() {
    let config = "clients: [claude, codex, copilot, qwen, gemini]\nsubagentStart: {commands: {'*': [{run: x, context: true}]}}\ndes: {}\n";
    insta::assert_snapshot!(warnings(config), @"
    qwen: subagentStart: `context: true` has no effect: Qwen Code reads no context there
    gemini: subagentStart: `context: true` has no effect: Gemini CLI reads no context there
    qwen: `des`: Qwen Code cannot change tool input, so agents learn their boundaries only from denials
    ");
}

#[test]
fn nothing_is_said_of_clients_that_are_not_named() {
    assert_eq!(
        warnings(
            "permissionRequest: {default: ask, allow: ['Bash(ls)']}\npreToolUse: {uneditableFiles: [{pattern: a, action: ask}]}\n"
        ),
        ""
    );
}
