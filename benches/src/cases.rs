//! The cases, in the order of the table.

use std::path::Path;

use serde_json::json;

use crate::case::Case;
use crate::project::{MARKERS, Project, Scratch};
use crate::trail;

const FILES: usize = 500;

const MANY_FILES: usize = 100_000;

/// All cases; those with very many files, which take long to make, where they are wanted.
pub fn all(scratch: &Scratch, with_many_files: bool) -> Vec<Case> {
    let mut all = [
        baselines(scratch),
        events(scratch),
        patterns(scratch),
        shell(scratch),
        prompts(scratch),
        budgets(scratch),
        gates(scratch),
        enforced(scratch),
        if with_many_files { many_files(scratch) } else { Vec::new() },
        evidence(scratch),
        transcripts(scratch),
    ]
    .concat();
    let installed = installed(scratch, &all);
    all.extend(installed);
    all
}

/// The cases that are measured with the installed program too, and their names then.
pub const INSTALLED: [(&str, &str); 3] = [
    ("SubagentStop, no match", "installed: SubagentStop, no match"),
    ("PreToolUse, a shell command, four packs", "installed: PreToolUse, four packs"),
    ("PreToolUse, 64 KiB of shell", "installed: PreToolUse, 64 KiB of shell"),
];

fn installed(scratch: &Scratch, all: &[Case]) -> Vec<Case> {
    let Some(installed) = &scratch.installed else { return Vec::new() };
    let project = scratch.project("installed", "{}\n");
    let mut cases =
        vec![project.program("an empty dynamic program", &installed.empty_program, &[]).baseline()];
    for (shipped, name) in INSTALLED {
        let case = all.iter().find(|case| case.name == shipped).expect("a case of that name");
        cases.push(Case { name, program: installed.binary.clone(), is_counted: false, ..case.clone() });
    }
    cases
}

/// A config of about 60 lines for 20 patterns, where none is the agent's, followed by `more`.
fn config(patterns: usize, more: &str) -> String {
    let mut text = String::from("subagentStop:\n  commands:\n");
    for n in 0..patterns {
        text.push_str(&format!(
            "    agent-{n}-*:\n      - run: npm run lint-{n}\n        showStdout: true\n"
        ));
    }
    text + more
}

fn commands(count: usize) -> String {
    format!("    coder:\n{}", "      - run: 'true'\n".repeat(count))
}

fn baselines(scratch: &Scratch) -> Vec<Case> {
    let project = scratch.project("baseline", "{}\n");
    let status = ["status", "--porcelain=v2", "-z"];
    let repository = repository(scratch, "git-status", "");
    repository.change_files();
    vec![
        project.program("an empty static program", &scratch.empty_program, &[]).baseline(),
        project.program("sh -c true", Path::new("/bin/sh"), &["-c", "true"]).baseline(),
        repository.program("git status, 500 files", Path::new("git"), &status).baseline(),
    ]
}

fn events(scratch: &Scratch) -> Vec<Case> {
    let twenty = scratch.project("twenty", &config(20, ""));
    let one = scratch.project("one", &config(20, &commands(1)));
    let ten = scratch.project("ten", &config(20, &commands(10)));
    let gated = scratch.project("gated", &config(20, ""));
    gated.step("TODO");
    gated.transcript(200 << 10, MARKERS);
    gated.expect_success(&gated.agent_call("the call"));
    let write = json!({"tool_name": "Write", "tool_use_id": "toolu_9",
        "tool_input": {"file_path": "src/a.rs", "content": "x"}});
    let mut inside = write.clone();
    inside["agent_id"] = "a1b2c3".into();
    inside["agent_type"] = "coder".into();
    let none = json!({});
    vec![
        twenty.event("PreToolUse, outside a gate", "PreToolUse", &write).counted(),
        gated.event("PreToolUse, inside a gated agent", "PreToolUse", &inside).counted(),
        twenty.event("SubagentStart", "SubagentStart", &none).counted(),
        twenty.event("SubagentStop, no match", "SubagentStop", &none).counted(),
        one.event("SubagentStop, one command", "SubagentStop", &none).counted(),
        ten.event("SubagentStop, ten commands", "SubagentStop", &none),
    ]
}

/// Guards, and a Bash command that they have nothing against.
fn shell(scratch: &Scratch) -> Vec<Case> {
    let guards = "preToolUse:\n  uneditableFiles: ['*.lock', '.env*']\n  unreadableFiles: ['.env*', '~/.ssh/']\n  \
        toolUsageValidation: [{tool: Bash, commandPattern: 'git push --force*', action: block}]\n";
    let project = scratch.project("shell", guards);
    let packs =
        "extends: ['pack:secrets', 'pack:git-safety', 'pack:destructive-commands', 'pack:lockfiles']\n";
    let packs = scratch.project("packs", packs);
    let line = "cd src && npm run build 2>&1 | tail -n 20; for f in *.ts; do grep -n 'TODO' \"$f\" | head -5; done; \
        git diff --stat HEAD~1 -- src > /tmp/diff.txt && cat /tmp/diff.txt | wc -l; echo \"$(git rev-parse HEAD)\"\n";
    let long = line.repeat((64 << 10) / line.len());
    let bash = |command: &str| json!({"tool_name": "Bash", "tool_use_id": "toolu_9", "tool_input": {"command": command}});
    let mut of_gemini = bash(line);
    of_gemini["tool_name"] = "run_shell_command".into();
    of_gemini["timestamp"] = "2026-11-16T07:40:09.008Z".into();
    let patch = "*** Begin Patch\n*** Add File: src/a.rs\n+fn a() {}\n*** Update File: src/b.rs\n@@\n-x\n+y\n*** End Patch\n";
    let patch = json!({"tool_name": "apply_patch", "tool_use_id": "call_9", "turn_id": "t", "tool_input": {"command": patch}});
    vec![
        project.event_of("gemini", "a shell command of Gemini CLI", "BeforeTool", &of_gemini),
        project.event_of("codex", "a patch of Codex", "PreToolUse", &patch),
        project.event("PreToolUse, a shell command", "PreToolUse", &bash(line)).counted(),
        packs.event("PreToolUse, a shell command, four packs", "PreToolUse", &bash(line)).counted(),
        project.event("PreToolUse, 64 KiB of shell", "PreToolUse", &bash(&long)),
    ]
}

/// Rules with regular expressions that are not found in the prompt.
fn prompts(scratch: &Scratch) -> Vec<Case> {
    let prompt = json!({"prompt": "Please look at the failing tests of the parser, and fix what is broken there. ".repeat(10)});
    let counts = [("UserPromptSubmit, no expressions", 0), ("UserPromptSubmit, 20 expressions", 20)];
    counts
        .map(|(name, count)| {
            let rule = |n: usize| {
                format!("    - {{pattern: '(?i)\\b(deploy|release)-{n}\\s+\\w+', prompt: Read the guide first.}}\n")
            };
            let rules: String = (0..count).map(rule).collect();
            let config = if count == 0 { "{}\n".to_owned() } else { format!("userPromptSubmit:\n  contextRules:\n{rules}") };
            scratch.project(&format!("prompts-{count}"), &config).event(name, "UserPromptSubmit", &prompt)
        })
        .into()
}

/// A tool of the main thread, whose transcript has no new line.
fn budgets(scratch: &Scratch) -> Vec<Case> {
    let write = json!({"tool_name": "Write", "tool_use_id": "toolu_9",
        "tool_input": {"file_path": "src/a.rs", "content": "x"}});
    let budget =
        "budget: {session: {tokens: 500M, cost: 1000}, day: {tokens: 500M}, agent: {toolCalls: 200}}\n";
    let of = |name, folder, config: &str| {
        let project = scratch.project(folder, config);
        project.transcript(4 << 10, MARKERS);
        project.event(name, "PreToolUse", &write)
    };
    vec![of("PreToolUse, no budget", "no-budget", "{}\n"), of("PreToolUse, a budget", "budget", budget)]
}

fn patterns(scratch: &Scratch) -> Vec<Case> {
    let counts = [
        ("SubagentStop, no patterns", 0),
        ("SubagentStop, 100 patterns", 100),
        ("SubagentStop, 200 patterns", 200),
    ];
    counts
        .map(|(name, count)| {
            let project = scratch.project(&format!("patterns-{count}"), &config(count, ""));
            project.event(name, "SubagentStop", &json!({}))
        })
        .into()
}

fn gates(scratch: &Scratch) -> Vec<Case> {
    let before = repository(scratch, "gate-1", "");
    let gate_1 = before.agent_call("Gate 1, 500 files");
    before.expect_success(&gate_1);
    let mut cases = vec![gate_1];
    for (name, folder, more) in [
        ("Gate 3, 500 files", "gate-3", String::new()),
        ("Gate 3, 500 files, one command", "gate-3-command", commands(1)),
    ] {
        let project = repository(scratch, folder, &more);
        project.transcript(40 << 10, MARKERS);
        project.expect_success(&project.agent_call("the call"));
        project.change_files();
        project.step("DONE");
        let stop = project.event(name, "SubagentStop", &json!({"stop_hook_active": false}));
        project.expect_allowed(&stop);
        cases.push(stop);
    }
    cases
}

/// A command whose writes are not known, where the sandbox protects the files that patterns match: the project is walked for new ones.
fn enforced(scratch: &Scratch) -> Vec<Case> {
    let rules = "enforce: [sandbox, permissions]\npreToolUse:\n  uneditableFiles: ['*.lock', 'file-1?.rs', gen/]\n  \
        unreadableFiles: ['.env*', '!.env.example', '~/.ssh/']\n";
    let project = repository(scratch, "enforced", rules);
    project.conclaude(&["install", "--enforce"]);
    let call = |command: &str| {
        json!({"tool_name": "Bash", "tool_use_id": "toolu_9", "tool_input": {"command": command},
            "tool_response": {"stdout": "", "stderr": ""}})
    };
    let walk = project.event("PostToolUse, enforced, 500 files", "PostToolUse", &call("make"));
    project.expect_success(&walk);
    let known =
        project.event("PostToolUse, enforced, a command that reads", "PostToolUse", &call("cat src/a.rs"));
    vec![walk, known]
}

/// One repository for both: git changes nothing in it.
fn many_files(scratch: &Scratch) -> Vec<Case> {
    let project = scratch.project("gate-3-many", &config(20, ""));
    project.step("TODO");
    project.commit_files(MANY_FILES);
    project.transcript(40 << 10, MARKERS);
    project.expect_success(&project.agent_call("the call"));
    project.change_files();
    project.step("DONE");
    let stop = project.event("Gate 3, 100,000 files", "SubagentStop", &json!({"stop_hook_active": false}));
    project.expect_allowed(&stop);
    let status = ["status", "--porcelain=v2", "-z"];
    vec![project.program("git status, 100,000 files", Path::new("git"), &status).slow(), stop.slow()]
}

/// A repository with a step that is not done yet.
fn repository(scratch: &Scratch, name: &str, more: &str) -> Project {
    let project = scratch.project(name, &config(20, more));
    project.step("TODO");
    project.commit_files(FILES);
    project
}

/// The trail of earlier sessions is long; what proves the phase comes after the call.
fn evidence(scratch: &Scratch) -> Vec<Case> {
    let counts = [("Gate 3, evidence, 100 records", 100), ("Gate 3, evidence, 100,000 records", 100_000)];
    counts
        .map(|(name, records)| {
            let des = "des:\n  phases: [GREEN]\n  evidence: [GREEN]\n";
            let project = scratch.project(&format!("evidence-{records}"), &config(20, des));
            trail::write(project.root(), records);
            project.step_with_phase("GREEN");
            project.transcript(40 << 10, MARKERS);
            project.expect_success(&project.agent_call("the call"));
            project.conclaude(&["des", "run", "steps/01-01.json", "GREEN", "--", "true"]);
            let stop = project.event(name, "SubagentStop", &json!({"stop_hook_active": false}));
            project.expect_allowed(&stop);
            project.conclaude(&["audit", "verify"]);
            stop
        })
        .into()
}

fn transcripts(scratch: &Scratch) -> Vec<Case> {
    let (small, large) = (40 << 10, 50 << 20);
    let mut cases = Vec::new();
    for (name, size, prompt) in [
        ("Gate 3, 40 KB transcript, no markers", small, "Do it."),
        ("Gate 3, 50 MB transcript, no markers", large, "Do it."),
        ("Gate 3, 40 KB transcript, markers", small, MARKERS),
        ("Gate 3, 50 MB transcript, markers", large, MARKERS),
    ] {
        let project =
            scratch.project(&format!("transcript-{}", name.replace([',', ' '], "-")), &config(20, ""));
        project.step("DONE");
        project.transcript(size, prompt);
        cases.push(project.event(name, "SubagentStop", &json!({"stop_hook_active": false})));
    }
    let named = scratch.project("named", &config(20, ""));
    named.main_transcript(100 << 20);
    cases.push(named.event("agent name, 100 MB transcript", "SubagentStop", &json!({"agent_type": null})));
    cases
}
