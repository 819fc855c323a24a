//! Which paths guards compare: in worktrees, submodules, directories that a pattern of the shell names, and our own folder.

use serde_json::{Value, json};

use crate::common::{Test, scratch};

const ANCHORED: &str = r#"preToolUse:
  uneditableFiles: ["src/gen/**"]
  unreadableFiles: ["conf/secret.yml"]
  preventRootAdditions: true
  preventAdditions: ["docs/api/"]
  toolUsageValidation:
    - {tool: "*", pattern: "/deploy/", action: block}
    - {tool: "Edit(./infra/**)", action: block}
"#;

/// Writes and reads files that rules of `ANCHORED` are about, one each, and one that none is about.
const COMMAND: &str = "echo > src/gen/a; cat conf/secret.yml; mkdir -p newer/x; touch infra/x; touch new docs/api/new deploy/x src/free";

fn bash(test: Test, command: &str) -> Test {
    tool(test, "Bash", json!({ "command": command }))
}

fn tool(test: Test, name: &str, input: Value) -> Test {
    test.then("PreToolUse").payload("tool_name", name).payload("tool_input", input)
}

fn project(config: &str) -> Test {
    let test = Test::event("PreToolUse").config(config).file("src/gen/a", "").file("conf/secret.yml", "");
    test.file("docs/api/old", "").file("deploy/old", "").file("infra/old", "").committed()
}

#[test]
fn rules_that_are_anchored_at_the_root_hold_in_the_worktree_of_an_agent() {
    let test =
        project(ANCHORED).git(&["worktree", "add", "-q", ".claude/worktrees/agent-a1b2c3", "-b", "agent"]);
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3").display().to_string();
    let answer = bash(test.payload("cwd", worktree.clone()), COMMAND).run();
    insta::assert_snapshot!(answer.tool("deny"), @"
    ✗ Writing .claude/worktrees/agent-a1b2c3/src/gen/a is not allowed: `uneditableFiles` has `src/gen/**`. Do it another way, or ask the user. (.conclaude.yaml:2)
    ✗ Reading .claude/worktrees/agent-a1b2c3/conf/secret.yml is not allowed: `unreadableFiles` has `conf/secret.yml`. Do it another way, or ask the user. (.conclaude.yaml:3)
    ✗ .claude/worktrees/agent-a1b2c3/newer/x would be new in the project's root. Create it in a directory below the root. (.conclaude.yaml:4)
    ✗ .claude/worktrees/agent-a1b2c3/new would be new in the project's root. Create it in a directory below the root. (.conclaude.yaml:4)
    ✗ Adding .claude/worktrees/agent-a1b2c3/docs/api/new is not allowed: `preventAdditions` has `docs/api/`. Change a file that exists instead. (.conclaude.yaml:5)
    ✗ Running `touch infra/x` on .claude/worktrees/agent-a1b2c3/infra/x is not allowed: `toolUsageValidation` has `Edit(./infra/**)`. Do it another way, or ask the user. (.conclaude.yaml:8)
    ✗ Running `touch new docs/api/new deploy/x src/free` on .claude/worktrees/agent-a1b2c3/deploy/x is not allowed: `toolUsageValidation` has `* /deploy/`. Do it another way, or ask the user. (.conclaude.yaml:7)
    ");
    let write = |test: Test, file: &str| {
        tool(test, "Write", json!({"file_path": format!("{worktree}/{file}"), "content": ""})).run()
    };
    let answer = write(answer.again(), "src/gen/new");
    insta::assert_snapshot!(answer.tool("deny"), @"Writing .claude/worktrees/agent-a1b2c3/src/gen/new is not allowed: `uneditableFiles` has `src/gen/**`. Do it another way, or ask the user. (.conclaude.yaml:2)");
    let answer = write(answer.again(), "src/free").silent();
    // From outside of the worktree, its files are the same.
    let root = answer.root().display().to_string();
    let main = answer.again().payload("cwd", root).without("agent_id").without("agent_type");
    insta::assert_snapshot!(write(main, "src/gen/a").tool("deny"), @"Writing .claude/worktrees/agent-a1b2c3/src/gen/a is not allowed: `uneditableFiles` has `src/gen/**`. Do it another way, or ask the user. (.conclaude.yaml:2)");
}

#[test]
fn rules_that_are_anchored_at_the_root_hold_in_a_worktree_elsewhere() {
    let test = Test::event("PreToolUse").git(&["init", "-q", "main"]).file("main/src/gen/a", "");
    let test =
        test.file("main/conf/secret.yml", "").file("main/docs/api/old", "").file("main/.gitignore", "out/\n");
    let test = test.git(&["-C", "main", "add", "."]).git(&["-C", "main", "commit", "-qm", "x"]);
    let test = test.git(&["-C", "main", "worktree", "add", "-q", "../linked"]);
    let config = ANCHORED.replace("preToolUse:", "preToolUse:\n  preventUpdateGitIgnored: true");
    let test = test.file("main/.conclaude.yaml", config);
    let (main, linked) = (test.root().join("main"), test.root().join("linked/docs"));
    let test = test.env("CLAUDE_PROJECT_DIR", main.to_str().unwrap());
    let test = test.payload("cwd", linked.display().to_string());
    let answer = bash(test, &format!("cd .. && {COMMAND} out/x")).run();
    insta::assert_snapshot!(answer.tool("deny"), @"
    ✗ Writing [ROOT]/linked/src/gen/a is not allowed: `uneditableFiles` has `src/gen/**`. Do it another way, or ask the user. (.conclaude.yaml:3)
    ✗ Reading [ROOT]/linked/conf/secret.yml is not allowed: `unreadableFiles` has `conf/secret.yml`. Do it another way, or ask the user. (.conclaude.yaml:4)
    ✗ [ROOT]/linked/newer/x would be new in the project's root. Create it in a directory below the root. (.conclaude.yaml:5)
    ✗ [ROOT]/linked/new would be new in the project's root. Create it in a directory below the root. (.conclaude.yaml:5)
    ✗ Adding [ROOT]/linked/docs/api/new is not allowed: `preventAdditions` has `docs/api/`. Change a file that exists instead. (.conclaude.yaml:6)
    ✗ [ROOT]/linked/out/x is ignored by git and probably generated. Change its source instead. (.conclaude.yaml:2)
    ✗ Running `touch infra/x` on [ROOT]/linked/infra/x is not allowed: `toolUsageValidation` has `Edit(./infra/**)`. Do it another way, or ask the user. (.conclaude.yaml:9)
    ✗ Running `touch new docs/api/new deploy/x src/free out/x` on [ROOT]/linked/deploy/x is not allowed: `toolUsageValidation` has `* /deploy/`. Do it another way, or ask the user. (.conclaude.yaml:8)
    ");
    // A repository of somebody else is not one of them.
    let test = answer.again().git(&["init", "-q", "other"]).file("other/src/gen/a", "");
    let other = test.root().join("other").display().to_string();
    bash(test.payload("cwd", other), COMMAND).run().silent();
}

#[test]
fn permissions_for_paths_from_the_root_hold_in_a_worktree() {
    let config =
        "permissionRequest: {default: ask, allow: [\"Edit(/src/**)\"], deny: [\"Edit(/secret/**)\"]}\n";
    let test =
        project(config).git(&["worktree", "add", "-q", ".claude/worktrees/agent-a1b2c3", "-b", "agent"]);
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3").display().to_string();
    let test = test.then("PermissionRequest").payload("cwd", worktree.clone()).payload("tool_name", "Edit");
    let asks = |test: Test, file: &str| {
        let input = json!({"file_path": format!("{worktree}/{file}"), "old_string": "a", "new_string": "b"});
        test.payload("tool_input", input).run()
    };
    let behaviour = |answer: &crate::common::Outcome| {
        let json: Value = serde_json::from_str(&answer.stdout).unwrap();
        json["hookSpecificOutput"]["decision"]["behavior"].clone()
    };
    let answer = asks(test, "src/a");
    assert_eq!(behaviour(&answer), "allow");
    let answer = asks(answer.again(), "secret/a");
    assert_eq!(behaviour(&answer), "deny");
    asks(answer.again(), "other/a").silent();
}

#[test]
fn what_a_submodule_ignores_is_ignored() {
    let test = project("preToolUse: {preventUpdateGitIgnored: true}\n");
    let test = test.git(&["init", "-q", "lib"]).file("lib/.gitignore", "out/\n").file("lib/a", "");
    let answer = bash(test, "touch lib/out/x lib/a lib/b").run();
    insta::assert_snapshot!(answer.tool("deny"), @"lib/out/x is ignored by git and probably generated. Change its source instead. (.conclaude.yaml:1)");
}

#[test]
fn a_pattern_of_the_shell_does_not_delete_what_our_config_extends() {
    let test = Test::event("PreToolUse")
        .config("extends: [shared/g.yaml]\n")
        .file("shared/g.yaml", "preToolUse: {}\n");
    let answer = bash(test.file("docs/a", ""), "rm -rf *").run();
    insta::assert_snapshot!(answer.tool("deny"), @"shared contains files of conclaude's own config, state or registration. Leave it as it is, and report what you would have changed. (built-in: conclaude's own files)");
    bash(answer.again(), "rm -rf d*").run().silent();
}

#[test]
fn directories_with_files_of_ours_are_found_by_where_those_are() {
    let test = Test::event("PreToolUse").config("extends: [shared/g.yaml]\n").file("shared/g.yaml", "{}\n");
    let test = test.file(".claude/settings.team.json", "{}\n").file("packages/web/.conclaude.yaml", "{}\n");
    let mut test = test.file("build/deep/x", "").file("linked/x", "");
    std::os::unix::fs::symlink(test.root().join(".conclaude.yaml"), test.root().join("linked/y")).unwrap();
    for directory in [".claude", "shared", "packages", "linked", "$PWD"] {
        let answer = bash(test, &format!("rm -rf {directory}")).run();
        answer.tool("deny");
        test = answer.again();
    }
    bash(test, "rm -rf build node_modules; mv build/deep build/x").run().silent();
}

/// A clone in a temporary directory could not be deleted: the packs protect its `.git` and its `.env`.
#[test]
fn a_repository_in_a_temporary_directory_can_be_deleted() {
    let folder = scratch();
    std::fs::create_dir_all(folder.path().join("clone/.git")).unwrap();
    for file in ["clone/.git/HEAD", "clone/.env", "clone/Cargo.lock"] {
        std::fs::write(folder.path().join(file), "x\n").unwrap();
    }
    let clone = folder.path().join("clone").display().to_string();
    let packs = "extends: ['pack:git-safety', 'pack:secrets', 'pack:lockfiles']\n";
    let project = |config: &str| {
        Test::event("PreToolUse").config(config).file("inner/.git/HEAD", "x\n").file("Cargo.toml", "")
    };
    bash(project(packs), &format!("rm -rf {clone}")).run().silent();
    let own = format!("{packs}preToolUse: {{uneditableFiles: ['*.lock']}}\n");
    assert!(bash(project(&own), &format!("rm -rf {clone}")).run().tool("deny").contains("Cargo.lock"));
    bash(project(packs), "rm -rf inner").run().tool("deny");
    bash(project(packs), &format!("rm -rf {clone}/.git")).run().tool("deny");
    bash(project(packs), &format!("mv inner {clone}; rm -rf {clone}")).run().tool("deny");
}

#[test]
fn our_own_folder_is_not_what_patterns_of_the_user_are_about() {
    let config = "preToolUse: {uneditableFiles: [\"*.lock\"], unreadableFiles: [\"*.jsonl\"]}\n";
    let test = Test::event("PreToolUse").config(config).without("agent_id").without("agent_type");
    let test = test.file(".conclaude/audit.lock", "").file(".conclaude/audit/1.jsonl", "");
    let answer = bash(test, "cat .conclaude/audit/1.jsonl").run().silent();
    let answer = bash(answer.again(), "rm -rf .conclaude").run();
    insta::assert_snapshot!(answer.tool("ask"), @".conclaude belongs to conclaude's own config, state or registration. Allow it only if you want conclaude's rules, registration or records to change. (built-in: conclaude's own files)");
    let config = config.replace("*.jsonl", ".conclaude/audit/");
    let answer = bash(answer.again().config(&config), "cat .conclaude/audit/1.jsonl").run();
    insta::assert_snapshot!(answer.tool("deny"), @"Reading .conclaude/audit/1.jsonl is not allowed: `unreadableFiles` has `.conclaude/audit/`. Do it another way, or ask the user. (.conclaude.yaml:1)");
}

#[test]
fn commands_for_the_whole_work_tree_are_about_what_git_touches() {
    let config = "preToolUse: {uneditableFiles: [\".env\", \"*.lock\", \"*.key\"]}\n";
    let test = project(config).without("agent_id").without("agent_type");
    let test = test
        .file(".gitignore", ".env\n/main*\n/.state-home/\n")
        .git(&["add", "-A"])
        .git(&["commit", "-qm", "y"]);
    let test = test.file(".env", "").file(".conclaude/audit.lock", "").file("new.key", "");
    let asked = "git stash -u; git stash -a; git clean -fd; git clean -fdx; git clean -fX";
    let answer =
        bash(test, &format!("git stash; git reset --hard; git checkout .; git restore .; {asked}")).run();
    insta::assert_snapshot!(answer.tool("ask"), @"
    ? `git stash -u` removes .conclaude/audit.lock, which belongs to conclaude's own config, state or registration. Allow it only if you want conclaude's rules, registration or records to change. (built-in: conclaude's own files)
    ? `git stash -a` removes .conclaude/audit.lock, which belongs to conclaude's own config, state or registration. Allow it only if you want conclaude's rules, registration or records to change. (built-in: conclaude's own files)
    ? `git clean -fd` removes .conclaude/audit.lock, which belongs to conclaude's own config, state or registration. Allow it only if you want conclaude's rules, registration or records to change. (built-in: conclaude's own files)
    ? `git clean -fdx` removes .conclaude/audit.lock, which belongs to conclaude's own config, state or registration. Allow it only if you want conclaude's rules, registration or records to change. (built-in: conclaude's own files)
    ? `git stash -u` may change protected files of the work tree, such as new.key. Allow it if these files may change. (built-in: what cannot be decided is asked)
    ? `git stash -a` may change protected files of the work tree, such as new.key. Allow it if these files may change. (built-in: what cannot be decided is asked)
    ? `git clean -fd` may change protected files of the work tree, such as new.key. Allow it if these files may change. (built-in: what cannot be decided is asked)
    ? `git clean -fdx` may change protected files of the work tree, such as new.key. Allow it if these files may change. (built-in: what cannot be decided is asked)
    ? `git clean -fX` may change protected files of the work tree, such as .env. Allow it if these files may change. (built-in: what cannot be decided is asked)
    ");
    let test = answer.again().git(&["add", "-f", "new.key"]).git(&["commit", "-qm", "z"]);
    // What is as it was committed stays as it is.
    let test = bash(test, "git stash; git clean -fd").run().silent().again().file("new.key", "changed\n");
    insta::assert_snapshot!(bash(test, "git stash; git clean -fd").run().tool("ask"), @"`git stash` may change protected files of the work tree, such as new.key. Allow it if these files may change. (built-in: what cannot be decided is asked)");
}

#[test]
fn what_cannot_be_named_is_not_asked_for() {
    let config = "preToolUse: {uneditableFiles: [\"*.lock\"], toolUsageValidation: [{tool: Bash, commandPattern: \"npm publish*\", action: block}]}\n";
    let test = Test::event("PreToolUse").config(config);
    let answer = bash(test, "tar xzf a.tgz; git apply x.patch; echo > $X").run();
    insta::assert_snapshot!(answer.tool("ask"), @"
    ? Writing `the files in a.tgz`: the file is unknown before it runs. Allow it if it has no protected files. (built-in: what cannot be decided is asked)
    ? Writing `the files of the patch`: the file is unknown before it runs. Allow it if none of them is protected. (built-in: what cannot be decided is asked)
    ? Writing `$X`: the file is unknown before it runs. Allow it if that is not a protected file. (built-in: what cannot be decided is asked)
    ");
    let answer = bash(answer.again(), "npm publish\r\n").run();
    insta::assert_snapshot!(answer.tool("deny"), @"Running `npm publish` is not allowed: `toolUsageValidation` has `Bash npm publish*`. Do it another way, or ask the user. (.conclaude.yaml:1)");
}

/// What leads out of an agent's worktree: branches and worktrees of others, settings of git, and code that joins `..`.
#[test]
fn an_agent_does_not_leave_its_worktree_by_git_or_by_code() {
    let test = project("preToolUse: {}\n").git(&[
        "worktree",
        "add",
        "-q",
        ".claude/worktrees/agent-a1b2c3",
        "-b",
        "agent",
    ]);
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3").display().to_string();
    let root = test.root().display().to_string();
    let named = format!("python3 -c \"open('{root}/src/gen/a', 'w')\"");
    let mut test = test.payload("cwd", worktree);
    for (command, expected) in [
        ("git -C ../../.. update-ref HEAD HEAD~1", "deny"),
        ("git update-ref refs/heads/main HEAD", "ask"),
        ("git symbolic-ref refs/heads/main refs/heads/x", "ask"),
        ("git worktree remove agent-2", "ask"),
        ("git worktree repair ../agent-2", "deny"),
        ("git -c core.worktree=../../.. reset --hard", "deny"),
        ("GIT_COMMON_DIR=../../../.git git checkout x", "deny"),
        ("echo 'gitdir: ../../../.git' > .git", "deny"),
        ("black ../../../src", "deny"),
        ("python3 -c \"import os; open(os.path.join('..', '..', '..', 'a'), 'w')\"", "ask"),
        ("perl -e 'open F, \">../../../src/gen/a\"'", "ask"),
        (named.as_str(), "ask"),
        ("git update-ref HEAD HEAD~1", "pass"),
        ("git symbolic-ref HEAD", "pass"),
        ("black src", "pass"),
        ("git worktree list", "pass"),
        ("python3 -c \"print(open('../../../src/gen/a').read())\"", "pass"),
    ] {
        let answer = bash(test, command).run();
        let is = |word: &str| answer.stdout.contains(&format!("\"permissionDecision\":\"{word}\""));
        let found = if is("deny") {
            "deny"
        } else if is("ask") {
            "ask"
        } else {
            "pass"
        };
        assert_eq!(found, expected, "{command}: {}", answer.stdout);
        test = answer.again();
    }
}
