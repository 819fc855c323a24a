//! The files of the gates themselves: config, state, settings, step files.

use insta::assert_snapshot;
use serde_json::json;

use super::{at_work, at_work_with, worked};
use crate::common::Test;
use crate::common::snapshot::same;
use crate::common::workflow::{MARKERS, PHASES, todo};

#[test]
fn the_step_file_is_always_allowed_and_the_gates_own_files_never_are() {
    at_work().writes("Edit", "file_path", "steps/01-01.json").run().silent();
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let unlimited = || Test::stop().step(&free).call_agent(MARKERS).run().again().agent_files(MARKERS);
    unlimited().writes("Write", "file_path", "anything.txt").run().silent();
    unlimited().writes("Write", "file_path", "/tmp/elsewhere.txt").run().silent();
    let own = [
        ".conclaude.yaml",
        ".conclaude.yml",
        ".conclaude/audit/x",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ];
    let denied = |test: Test, path| test.writes("Write", "file_path", path).run().denied();
    for path in own {
        assert_eq!(denied(at_work(), path), denied(unlimited(), path));
    }
    assert_snapshot!(own.map(|path| denied(unlimited(), path)).join("\n"), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude.yml belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude/audit/x belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .claude/settings.json belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .claude/settings.local.json belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn an_agent_cannot_change_the_rules_that_it_is_judged_by() {
    let mut wider = todo();
    wider["task_specification"]["allowed_file_patterns"] = json!(["**"]);
    let done = at_work().step(&wider).writes("Write", "file_path", "README.md").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    let mut wider = crate::common::workflow::done();
    wider["task_specification"]["allowed_file_patterns"] = json!(["**"]);
    let reason = worked(|test| test.step(&wider).file("README.md", "2")).run().blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ RULES_CHANGED: steps/01-01.json has changed since the agent was called: allowed_file_patterns → restore it; if the user wants the change, the agent must be called again
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let escape = json!({"workflow_type": "configuration_setup", "state": {"status": "DONE"}});
    let reason = worked(|test| test.step(&escape)).run().blocked();
    let (missing, others): (Vec<&str>, Vec<&str>) =
        reason.lines().partition(|line| line.starts_with("✗ MISSING_PHASE "));
    assert_eq!(missing.len(), PHASES.len());
    assert_snapshot!(others.join("\n"), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ RULES_CHANGED: steps/01-01.json has changed since the agent was called: allowed_file_patterns, workflow_type → restore it; if the user wants the change, the agent must be called again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_gates_cannot_be_switched_off_from_inside() {
    // By the config, once a call was let in.
    let off = at_work().config("des: {enabled: false}").stops();
    assert_snapshot!(off.run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ⚠ RULES_CHANGED: the config has changed since the agent was called: des.enabled → the agent need not do anything: the config at the call counts; the user should know who changed it
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // By deleting what names the call, once the agent was seen.
    let test = at_work().writes("Write", "file_path", "src/a.rs").run().silent().again();
    for name in ["main/subagents/agent-a1b2c3.meta.json", "main/subagents/agent-a1b2c3.jsonl"] {
        std::fs::remove_file(test.root().join(name)).unwrap();
    }
    let done = test.writes("Write", "file_path", "README.md").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    assert_snapshot!(done.again().stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_first_tool_of_an_agent_keeps_its_call_also_where_it_names_no_file() {
    let test = at_work().writes("Bash", "command", "./work").run().silent().again();
    for name in ["main/subagents/agent-a1b2c3.meta.json", "main/subagents/agent-a1b2c3.jsonl"] {
        std::fs::remove_file(test.root().join(name)).unwrap();
    }
    assert_snapshot!(test.stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_gates_own_files_are_protected_whatever_the_scope() {
    let mut shown = Vec::new();
    for config in ["des: {scope: off}", "des: {scope: warn}", "des: {onViolation: warn}"] {
        let test = at_work_with(config).writes("Write", "file_path", ".conclaude.yaml");
        shown.push(test.run().denied());
    }
    assert_snapshot!(same(&shown), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    ");
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let unlimited = || Test::stop().step(&free).call_agent(MARKERS).run().again().agent_files(MARKERS);
    let test = unlimited();
    let settings = test.root().join(".home/.claude/settings.json").display().to_string();
    assert_snapshot!(test.writes("Write", "file_path", &settings).run().denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: [ROOT]/.home/.claude/settings.json belongs to the gates and is not for agents to write → leave it as it is
    ");
    let test = unlimited();
    let head = test.root().join(".state-home/conclaude/x.json").display().to_string();
    assert_snapshot!(test.writes("Write", "file_path", &head).run().denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: [ROOT]/.state-home/conclaude/x.json belongs to the gates and is not for agents to write → leave it as it is
    ");
    // From a worktree, the files of the project around it.
    let test = unlimited().file(".claude/worktrees/agent-a1b2c3/x", "");
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3").display().to_string();
    let config = test.root().join(".conclaude.yaml").display().to_string();
    assert_snapshot!(test.payload("cwd", worktree)
            .writes("Write", "file_path", &config)
            .run()
            .denied(), @"
    conclaude denies this write:
    ✗ .conclaude.yaml is outside of this agent's worktree. Write below [ROOT]/.claude/worktrees/agent-a1b2c3 instead. (preToolUse.worktreeFence)
    ✗ SCOPE_VIOLATION: [ROOT]/.conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn the_settings_of_another_config_folder_are_protected_and_case_does_not_count() {
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let unlimited = || Test::stop().step(&free).call_agent(MARKERS).run().again().agent_files(MARKERS);
    let written = |path: &str| {
        let test = unlimited();
        let root = test.root().display().to_string();
        let test = test.env("CLAUDE_CONFIG_DIR", &format!("{root}/claude-home"));
        test.writes("Write", "file_path", &path.replace("[ROOT]", &root)).run()
    };
    for path in [
        "[ROOT]/claude-home/settings.json",
        "claude-home/Settings.Local.json",
        "[ROOT]/.home/.claude/settings.json",
        ".CONCLAUDE.yaml",
        ".conclaude.YML",
        ".Conclaude/state/x",
        ".claude/Settings.json",
        ".CLAUDE/settings.local.JSON",
        // What other file systems take for the same name.
        ".claude/\u{17f}ettings.json",
        ".concl\u{200c}aude.yaml",
        "[ROOT]/.STATE-HOME/Conclaude/x.json",
    ] {
        let denied = written(path).denied();
        assert!(
            denied.ends_with("belongs to the gates and is not for agents to write → leave it as it is"),
            "{path}: {denied}"
        );
    }
    for path in ["claude-home/agents/coder.md", "claude-home/settings/x.json", ".claude/settings.yaml"] {
        written(path).silent();
    }
}

#[cfg(unix)]
#[test]
fn a_config_behind_a_link_is_protected_under_both_names() {
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let mut shown = Vec::new();
    for name in [".conclaude.yaml", "cfg/c.yaml"] {
        let test = Test::stop().step(&free).file("cfg/c.yaml", "");
        std::os::unix::fs::symlink("cfg/c.yaml", test.root().join(".conclaude.yaml")).unwrap();
        let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
        let denied = test.writes("Write", "file_path", name).run().denied();
        shown.push(denied.replace(name, "[NAME]"));
    }
    assert_snapshot!(same(&shown), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: [NAME] belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn files_of_the_gates_that_someone_else_changed_are_reported_and_do_not_block() {
    let done = worked(|test| test.file(".claude/settings.local.json", "{}")).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: .claude/settings.local.json was changed meanwhile, which belongs to the gates → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
}
