//! What conclaude 0.2 has registered with Claude Code.

use insta::assert_snapshot;

use crate::common::{Outcome, Test, run_in, shown_in};

const FILE: &str = ".claude/settings.json";

const BLOCKING: &str = "subagentStop: {commands: {coder: [{run: exit 1, onFailure: block}]}}\n";

/// An agent's file as version 0.2 has left it.
const AGENT: &str = "---\nname: coder\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: \"conclaude Hooks Stop --agent coder\"\n---\nYou are a coder.\n";

fn registered(events: &[&str]) -> String {
    let groups = events.iter().map(|event| {
        format!(
            r#""{event}":[{{"matcher":"","hooks":[{{"type":"command","command":"conclaude Hooks {event}"}}]}}]"#
        )
    });
    format!(r#"{{"model":"opus","hooks":{{{}}}}}"#, groups.collect::<Vec<_>>().join(","))
}

/// Calls `conclaude Hooks …` with the payload of the test.
fn call(test: Test, arguments: &[&str]) -> Outcome {
    let mut command = test.program(crate::common::binary());
    command.arg("Hooks").args(arguments);
    test.run_as(command)
}

#[test]
fn its_command_line_handles_the_event_whatever_arguments_it_has() {
    for arguments in [
        &["SubagentStop"][..],
        &["SubagentStop", "--agent", "another"],
        &["SubagentStop", "--agent=coder", "--verbose", "x"],
        // In the file of an agent, Claude Code delivers a Stop as the agent's own.
        &["Stop", "--agent", "coder"],
        &["Stop"],
    ] {
        insta::allow_duplicates! { assert_snapshot!(call(Test::stop().config(BLOCKING), arguments).blocked(), @"
        conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
        ✗ `exit 1` exited with code 1
        Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
        "); }
    }
    let stop = Test::event("Stop").without("agent_id").without("agent_type");
    assert!(call(stop.config("stop: {commands: [{run: touch ran}]}"), &["Stop"]).status(0).has("ran"));
    let next = Test::event("SomethingNew").config("somethingNew: {commands: [{run: touch ran}]}");
    assert!(call(next, &["SomethingNew"]).status(0).has("ran"));
}

#[test]
fn a_hook_of_an_agents_file_does_not_run_twice_what_the_settings_register() {
    let test = Test::stop().config(BLOCKING).file(FILE, "");
    let root = test.root();
    run_in(&root, &["install"]);
    let test = test.env("CLAUDE_PROJECT_DIR", root.to_str().unwrap());
    let answer = call(test, &["Stop", "--agent", "coder"]).status(0).silent();
    // The settings' own is what blocks.
    assert_snapshot!(call(answer.again(), &["SubagentStop"]).blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `exit 1` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn without_an_event_it_is_an_error_that_blocks_nothing() {
    assert_snapshot!(call(Test::stop(), &["valdate"]).status(1).snapshot(), @"
    exit 1
    ----- stderr
    conclaude: unknown event `valdate`; `conclaude events` lists them; a newer Claude Code may have others, whose commands run too
    ");
    assert_snapshot!(call(Test::stop(), &[]).status(1).snapshot(), @"
    exit 1
    ----- stderr
    conclaude: `conclaude Hooks` names no event: it is called as `conclaude Hooks Stop`, as conclaude 0.2 was; `conclaude install` registers the events as `conclaude Stop`
    ");
    let (_, help, _) = run_in(&Test::stop().root(), &["--help"]);
    assert!(help.contains("conclaude <Event>") && !help.contains("  Hooks"), "{help}");
}

#[test]
fn install_replaces_it_and_uninstall_removes_it() {
    let events = ["SubagentStop", "Stop", "PostCompact"];
    let test = Test::stop().config("maxBlocks: 3\n").file(FILE, registered(&events));
    let root = test.root();
    assert_snapshot!(shown_in(&root, &["install"]), @"
    exit 0
    ----- stdout
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude.[TIME]
    ");
    let settings = std::fs::read_to_string(root.join(FILE)).unwrap();
    assert!(!settings.contains("Hooks") && settings.contains("exec "), "{settings}");
    assert_snapshot!(shown_in(&root, &["install"]), @"
    exit 0
    ----- stdout
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    [ROOT]/.claude/settings.json already has everything that is needed
    ");
    std::fs::write(root.join(FILE), registered(&events)).unwrap();
    assert_eq!(run_in(&root, &["uninstall"]).0, Some(0));
    assert_snapshot!(std::fs::read_to_string(root.join(FILE)).unwrap(), @r#"{"model":"opus"}"#);
}

#[test]
fn import_replaces_it_and_never_takes_it_over_as_a_command() {
    let settings = registered(&["SubagentStop", "Stop"]);
    let settings = settings.replace("conclaude Hooks Stop", "conclaude Hooks Stop || true");
    let test = Test::stop().config("maxBlocks: 3\n").file(FILE, settings);
    let test = test.file(".claude/agents/coder.md", AGENT);
    let root = test.root();
    assert_snapshot!(shown_in(&root, &["init", "--import"]), @"
    exit 0
    ----- stdout
    [ROOT]/.conclaude.yaml is left unchanged
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    note: [ROOT]/.claude/agents/coder.md has a hook of conclaude 0.2 (`conclaude Hooks`): remove it there, it is not needed beside the settings
    warning: `conclaude Hooks Stop || true` calls conclaude as well, and is left unchanged: it may be called twice
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude.[TIME]
    next: uncomment what you want there, then `conclaude doctor` checks the installation
    ");
    assert_snapshot!(std::fs::read_to_string(root.join(".conclaude.yaml")).unwrap(), @"maxBlocks: 3");
    assert!(!std::fs::read_to_string(root.join(FILE)).unwrap().contains("Hooks SubagentStop"));
}

#[test]
fn doctor_names_it_and_the_agents_files_that_have_it() {
    let test = Test::stop().config("maxBlocks: 3\n").file(FILE, registered(&["SubagentStop"]));
    let test = test.file(".claude/agents/coder.md", AGENT);
    let other = "---\nname: tester\n---\nNever run `conclaude Hooks Stop`.\n";
    let test = test.file(".claude/agents/tester.md", other);
    let shown = shown_in(&test.root(), &["doctor"]);
    let about = |line: &&str| line.contains("earlier version") || line.contains("conclaude 0.2");
    assert_snapshot!(shown.lines().filter(about).collect::<Vec<_>>().join("\n"), @"
    ✗ settings     [ROOT]/.claude/settings.json registers conclaude as an earlier version did: if the program is missing, each event is an error
    ⚠ hooks        .claude/agents/coder.md has a hook of conclaude 0.2 (`conclaude Hooks`), which is not needed beside the settings
    ");
}
