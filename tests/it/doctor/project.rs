//! The config, the trail and the state of a project.

use super::*;

#[test]
fn a_broken_config_is_named_with_the_subcommand_that_shows_where() {
    insta::assert_snapshot!(checks(&healthy().config("subagentStop: [\n"), "config"), @"
    exit 1
    problem: .conclaude.yaml is not valid: invalid config [ROOT]/.conclaude.yaml: 1 problem → conclaude validate
    ");
}

#[test]
fn what_is_allowed_but_cannot_work_is_a_warning() {
    let test = healthy().config("notifications: {enabled: true, hooks: [FileChanged]}\n");
    insta::assert_snapshot!(checks(&test, "config"), @"
    exit 0
    good: .conclaude.yaml is valid: notifications: on
    warning: notifications: `FileChanged` is registered only if it has commands: registering it only for notifications would change what Claude Code does, or slow it down → edit [ROOT]/.conclaude.yaml:1
    ");
}

#[test]
fn patterns_that_match_no_known_agent_are_named() {
    let yaml = "subagentStop: {commands: {codr: [{run: x}], \"Expl*\": [{run: x}], \"*\": [{run: x}], \"my:plugin\": [{run: x}], zzz: [{run: x}]}}\n";
    insta::assert_snapshot!(checks(&healthy().config(yaml), "patterns"), @r#"
    exit 0
    warning: subagentStop: "codr" matches no agent that is known here (.conclaude.yaml:1) → did you mean "coder"?
    warning: subagentStop: "zzz" matches no agent that is known here (.conclaude.yaml:1) → known are: coder; built in: general-purpose, Explore, Plan, claude, statusline-setup, output-style-setup, claude-code-guide
    "#);
}

/// What is said about commands where `npm` is the only package manager.
fn checks_with_npm(test: &Test) -> String {
    let root = test.root();
    program::script(root.join("bin/npm"), "#!/bin/sh\n");
    let mut command = doctor(&root, &root.join(".home"), "2.1.325");
    command.env("PATH", format!("{}:/usr/bin:/bin", root.join("bin").display()));
    checks_of(command, &root, "commands")
}

#[test]
fn a_hook_below_the_project_folder_that_is_missing_is_named() {
    for run in [
        "$CLAUDE_PROJECT_DIR/guard.sh",
        "\"$CLAUDE_PROJECT_DIR\"/guard.sh",
        "\"${CLAUDE_PROJECT_DIR}/guard.sh\"",
    ] {
        let config = format!("preToolUse: {{commands: {{Bash: [{{run: '{run}', protocol: hook}}]}}}}\n");
        let test = healthy().config(&config);
        let shown = checks(&test, "commands");
        assert!(shown.contains("/guard.sh`, which is not found"), "{run}: {shown}");
        program::script(test.root().join("guard.sh"), "#!/bin/sh\n");
        let shown = checks(&test, "commands");
        assert!(!shown.contains("which is not found"), "{run}: {shown}");
    }
}

/// Both were "not found": installing something does not help where a file is there.
#[test]
fn a_program_that_is_not_executable_has_its_own_text_and_advice() {
    let test = healthy().config("stop: {commands: [{run: ./check.sh}, {run: ./gone.sh}]}\n");
    let test = test.file("check.sh", "exit 0\n");
    insta::assert_snapshot!(checks(&test, "commands"), @"
    exit 0
    warning: `./check.sh` (.conclaude.yaml:1) starts `./check.sh`, which is not executable → chmod +x [ROOT]/check.sh
    warning: `./gone.sh` (.conclaude.yaml:1) starts `./gone.sh`, which is not found → change the command, or add that file
    ");
}

#[test]
fn a_program_that_a_command_starts_and_that_is_missing_is_named() {
    let config = "
stop:
  commands:
    - run: 'X=1 no-such-linter . && ./no/such/script; echo done | sort'
    - run: 'command -v no-such-tool && no-such-tool; f() { true; }; f'
    - {run: x, shell: no-such-shell}
subagentStop: {commands: {coder: [{run: no-such-linter .}, {run: 'timeout 5 no-such-other'}]}}
";
    insta::assert_snapshot!(checks(&healthy().config(config), "commands"), @"
    exit 0
    warning: `X=1 no-such-linter . && ./no/such/script; echo done | sort` (.conclaude.yaml:4) starts `no-such-linter`, which is not found → install no-such-linter, or change the command
    warning: `X=1 no-such-linter . && ./no/such/script; echo done | sort` (.conclaude.yaml:4) starts `./no/such/script`, which is not found → change the command, or add that file
    warning: `x` (.conclaude.yaml:6) runs in the shell `no-such-shell`, which is not found → install no-such-shell, or change `shell`
    warning: `no-such-linter .` (.conclaude.yaml:7) starts `no-such-linter`, which is not found → install no-such-linter, or change the command
    warning: `timeout 5 no-such-other` (.conclaude.yaml:7) starts `no-such-other`, which is not found → install no-such-other, or change the command
    ");
    let fine = "stop: {commands: [{run: 'sort x | uniq'}, {run: 'true'}, {run: print(1), shell: env}]}\n";
    insta::assert_snapshot!(checks(&healthy().config(fine), "commands"), @"
    exit 0
    good: the programs of the commands are found: sort, uniq
    ");
}

#[test]
fn a_program_behind_a_script_of_a_package_is_looked_for_where_packages_are() {
    let config = "subagentStop: {commands: {coder: [{run: npm run --silent lint}, {run: npm test}, {run: npm run nothing}, {run: 'npm run x --if-present'}]}}\n";
    let scripts = r#""lint": "xo && prettier --check .", "test": "npm run build && ava", "build": "tsc""#;
    let package = format!(r#"{{"scripts": {{{scripts}}}}}"#);
    let test = healthy().config(config).file("package.json", &package);
    insta::assert_snapshot!(checks_with_npm(&test), @"
    exit 0
    warning: `npm run --silent lint` (.conclaude.yaml:1) runs `xo && prettier --check .` in package.json, and `xo` is not found → npm install
    warning: `npm run --silent lint` (.conclaude.yaml:1) runs `xo && prettier --check .` in package.json, and `prettier` is not found → npm install
    warning: `npm test` (.conclaude.yaml:1) runs `tsc` in package.json, and `tsc` is not found → npm install
    warning: `npm test` (.conclaude.yaml:1) runs `npm run build && ava` in package.json, and `ava` is not found → npm install
    warning: `npm run nothing` (.conclaude.yaml:1) runs the script `nothing`, which package.json does not have → change the command, or add the script
    ");
    for name in ["xo", "prettier", "tsc"] {
        program::script(test.root().join("node_modules/.bin").join(name), "#!/bin/sh\n");
    }
    insta::assert_snapshot!(checks_with_npm(&test), @"
    exit 0
    warning: `npm test` (.conclaude.yaml:1) runs `npm run build && ava` in package.json, and `ava` is not found → install ava, or change the script
    warning: `npm run nothing` (.conclaude.yaml:1) runs the script `nothing`, which package.json does not have → change the command, or add the script
    ");
    let other = test.config("stop: {commands: [{run: pnpm-of-nobody lint}]}\n");
    insta::assert_snapshot!(checks_with_npm(&other), @"
    exit 0
    warning: `pnpm-of-nobody lint` (.conclaude.yaml:1) starts `pnpm-of-nobody`, which is not found → install pnpm-of-nobody, or change the command
    ");
}

#[test]
fn a_trail_that_was_tampered_with_is_named() {
    let test = healthy().run().again();
    let folder = test.root().join(".conclaude/audit");
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .find(|e| e.path().extension().is_some_and(|e| e == "jsonl"))
        .unwrap()
        .path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("coder", "other", 1)).unwrap();
    let shown = checks(&test, "audit").replace(file.file_name().unwrap().to_str().unwrap(), "[FILE]");
    insta::assert_snapshot!(shown, @"
    exit 1
    problem: [ROOT]/.conclaude/audit/[FILE]:1: record 1 was changed: its hash does not match its content → conclaude audit reset  # quarantines it and starts a new one
    ");
}

#[test]
fn a_state_folder_that_is_something_else_is_named() {
    let test = healthy();
    let state = test.root().join(".conclaude");
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::write(&state, "").unwrap();
    insta::assert_snapshot!(checks(&test, "state"), @"
    exit 1
    problem: [ROOT]/.conclaude is not a folder: blocks cannot be counted, and nothing is recorded → mv [ROOT]/.conclaude [ROOT]/.conclaude.aside
    ");
}

#[test]
fn registered_for_all_projects_it_says_whether_this_one_is_trusted() {
    let test = Test::stop().config(CONFIG).file(".claude/agents/coder.md", "---\nname: coder\n---\n");
    run_in(&test.root(), &["install", "--user"]);
    insta::assert_snapshot!(checks(&test, "trust"), @"
    exit 1
    problem: [ROOT]/.conclaude.yaml is not trusted: none of it is run or sent → conclaude trust
    ");
    insta::assert_snapshot!(checks(&test, "call"), @"
    exit 1
    good: `[BIN] SubagentStop --if-trusted` answers as it should, in [N] ms
    ");
    run_in(&test.root(), &["trust", "--yes"]);
    insta::assert_snapshot!(checks(&test, "trust"), @"
    exit 0
    good: you trust what the config runs and sends
    ");
    let test = test.config(&CONFIG.replace("ran", "other"));
    insta::assert_snapshot!(checks(&test, "trust"), @"
    exit 1
    problem: [ROOT]/.conclaude.yaml has changed since you trusted it: none of it is run or sent → conclaude trust
    ");
}

#[test]
fn in_a_clone_that_is_not_trusted_nothing_is_registered_before_it_is() {
    let test =
        Test::stop().config("stop: {commands: [{run: make}]}\ncwdChanged: {commands: [{run: make}]}\n");
    run_in(&test.root(), &["install", "--user"]);
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: CwdChanged is not registered → conclaude trust && conclaude install --local
    ");
    run_in(&test.root(), &["trust", "--yes"]);
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: CwdChanged is not registered → conclaude install --local
    ");
}

#[test]
fn a_judge_that_cannot_be_asked_is_named() {
    let test = healthy().config("des: {judge: {prompt: is it so}}\n");
    let root = test.root();
    let ask = |key: &str| {
        let mut doctor = doctor(&root, &root.join(".home"), "2.1.325");
        doctor.env("ANTHROPIC_API_KEY", key);
        checks_of(doctor, &root, "judge")
    };
    insta::assert_snapshot!(ask("key"), @"
    exit 0
    good: its key is set
    ");
    insta::assert_snapshot!(ask(" "), @"
    exit 0
    warning: ANTHROPIC_API_KEY is not set here; without it in Claude Code's environment the judge cannot be asked → export ANTHROPIC_API_KEY=…
    ");
}

/// Without `--no-install`, npx would download a stranger's package of that name.
#[test]
fn doctor_looks_behind_programs_that_start_others() {
    let commands = "stop:\n  - run: npx --no-install no-such-compiler --noEmit\n  - run: npx no-such-linter .\n  - run: uv run no-such-checker\n  - run: npx --no-install there\n  - run: npx -y wanted\n";
    let test = healthy().config(commands).file(".venv/pyvenv.cfg", "");
    for program in ["bin/npx", "bin/uv", "node_modules/.bin/there"] {
        program::script(test.root().join(program), "#!/bin/sh\n");
    }
    insta::assert_snapshot!(checks_with_npm(&test), @"
    exit 0
    warning: `npx --no-install no-such-compiler --noEmit` (.conclaude.yaml:2) starts `no-such-compiler` with npx, and it is not installed → install no-such-compiler in the project, or change the command
    warning: `npx no-such-linter .` (.conclaude.yaml:3) starts `no-such-linter` with npx, and it is not installed → install no-such-linter in the project, or change the command
    warning: `uv run no-such-checker` (.conclaude.yaml:4) starts `no-such-checker` with uv, and it is not installed → install no-such-checker in the project, or change the command
    ");
}
