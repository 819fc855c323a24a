//! Gate 2 and the shell: what a command of a gated agent would write outside the scope is denied before it runs.

use crate::common::Test;
use crate::common::workflow::{MARKERS, codes, todo};
use insta::assert_snapshot;
use serde_json::json;

fn at_work() -> Test {
    Test::stop()
        .step(&todo())
        .file("src/x.rs", "")
        .file("src/deep/y.rs", "")
        .file("lib/z.rs", "")
        .file("a.lock", "")
        .call_agent(MARKERS)
        .run()
        .again()
        .agent_files(MARKERS)
}

fn runs(test: Test, command: &str) -> crate::common::Outcome {
    test.writes("Bash", "command", command).run()
}

#[test]
fn a_shell_write_outside_the_scope_is_denied_before_it_happens() {
    let done = runs(at_work(), "echo hi > README.md && sed -i s/a/b/ lib/z.rs src/x.rs");
    assert_snapshot!(done.denied(), @"
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ✗ SCOPE_VIOLATION: lib/z.rs is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    let record = done.audit().pop().unwrap();
    assert_eq!((record["decision"].as_str(), record["agent_id"].as_str()), (Some("denied"), Some("a1b2c3")));
}

#[test]
fn a_deletion_outside_the_scope_is_reported_as_one() {
    let done = runs(at_work(), "find lib -name '*.rs' -delete; rm README.md src/x.rs");
    assert_snapshot!(done.denied(), @"
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: it deletes lib/z.rs, which is outside the scope of steps/01-01.json → delete only in src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ✗ SCOPE_VIOLATION: it deletes README.md, which is outside the scope of steps/01-01.json → delete only in src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
}

#[test]
fn every_way_to_write_is_seen() {
    let mut test = at_work();
    let root = test.root().display().to_string();
    let absolute = format!("tee {root}/README.md < src/x.rs");
    for command in [
        "rm lib/z.rs",
        "rm -rf lib",
        "mv src/x.rs lib",
        "mv lib/z.rs src",
        "cp src/x.rs lib/",
        "cd lib && touch new.rs",
        "cd src; cd ..; touch new.rs",
        "cd src && touch ../new.rs",
        "bash -c 'echo > new.rs'",
        "for f in README.md; do echo > $f; done",
        "rm *.lock",
        "black lib/z.rs",
        "find . -name a.lock -delete",
        "git checkout -- lib/z.rs",
        "echo $(touch new.rs)",
        "cat > new.rs <<'EOF'\nfn main() {}\nEOF",
        absolute.as_str(),
        "echo > /etc/hosts",
        "echo > ~/x",
        "echo > src/../new.rs",
    ] {
        let done = runs(test, command);
        assert_eq!(codes(&done.denied()), ["SCOPE_VIOLATION"], "{command}");
        test = done.again();
    }
}

#[test]
fn what_stays_inside_the_scope_or_writes_nothing_is_allowed() {
    let mut test = at_work();
    for command in [
        "echo > src/new.rs",
        "rm -rf src/deep",
        "rm -rf src",
        "cd src && touch a.rs && cd deep && touch b.rs",
        "mkdir -p lib/new",
        "cat README.md lib/z.rs; grep -r x .",
        "cargo test 2>&1 | tail -n 5 > /dev/null",
        "git add -A && git commit -m 'rm -rf lib > README.md'",
        "echo 'echo > README.md'",
        "git checkout topic",
        "npm run build",
        "conclaude des run steps/01-01.json RED_UNIT -- cargo test",
        "echo '{}' > steps/01-01.json",
    ] {
        test = runs(test, command).silent().again();
    }
}

#[test]
fn what_cannot_be_decided_is_left_to_gate_3() {
    let mut test = at_work();
    for command in [
        "echo > $OUT",
        "python -c 'open(\"README.md\", \"w\")'",
        "git stash",
        "tar xf a.tar",
        "black . && npx eslint . --fix && prettier --write lib",
        "echo 'unclosed",
    ] {
        test = runs(test, command).silent().again();
    }
}

#[test]
fn a_shell_does_not_write_what_belongs_to_the_gates() {
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let mut test = Test::stop().step(&free).call_agent(MARKERS).run().again().agent_files(MARKERS);
    test = runs(test, "echo > anything.txt").silent().again();
    let mut shown = Vec::new();
    for command in [
        "echo 'des: {enabled: false}' > .conclaude.yaml",
        "rm -rf .conclaude",
        "cd .claude && rm -f settings.local.json",
        "ln -s .conclaude.yaml x && echo > x",
    ] {
        let done = runs(test, command);
        shown.push(done.denied());
        test = done.again();
    }
    assert_snapshot!(shown.join("\n"), @"
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: [ROOT]/.conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: [ROOT]/.conclaude belongs to the gates and is not for agents to delete → leave it as it is
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: [ROOT]/.claude/settings.local.json belongs to the gates and is not for agents to delete → leave it as it is
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: [ROOT]/.conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    ✗ SCOPE_VIOLATION: [ROOT]/x/.conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn the_main_thread_and_other_agents_are_free() {
    Test::event("PreToolUse").step(&todo()).writes("Bash", "command", "echo > README.md").run().silent();
    Test::stop()
        .step(&todo())
        .agent_files("no markers")
        .writes("Bash", "command", "rm README.md")
        .run()
        .silent();
}
