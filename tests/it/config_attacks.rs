use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::workflow::{MARKERS, todo};
use crate::common::{Outcome, Test, shown_in};

const USER: &str = ".home/.config/conclaude/config.yaml";
const LOCAL: &str = ".conclaude.local.yaml";

/// Makes one call of a tool, and gives the decision.
fn answer(test: Test, tool: &str, input: Value) -> (String, Outcome) {
    let done = test.payload("tool_name", tool).payload("tool_use_id", "toolu_1").payload("tool_input", input);
    let done = done.then("PreToolUse").run();
    let json: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
    let decision = json["hookSpecificOutput"]["permissionDecision"].as_str();
    let decision = decision.map_or_else(|| format!("exit {}", done.code.unwrap()), str::to_owned);
    (decision, done)
}

fn write(test: Test, path: &str) -> (String, Outcome) {
    answer(test, "Write", json!({"file_path": path, "content": "x"}))
}

fn bash(test: Test, command: &str) -> (String, Outcome) {
    answer(test, "Bash", json!({ "command": command }))
}

#[test]
fn what_the_config_extends_is_protected_like_the_config() {
    let mut test = Test::stop()
        .config("extends: [shared/base.yaml, link.yaml, missing.yaml, broken.yaml, no.yaml]\n")
        .file("shared/base.yaml", "extends: [../deep.yaml]\n")
        .file("deep.yaml", "")
        .file("target.yaml", "")
        .file("broken.yaml", "maxBlok: 1\nextends: [below.yaml]\n")
        .file("below.yaml", "maxBlocks: 1\n")
        .file("no.yaml", "maxBlocks: [\n  : }\n")
        .file(USER, "extends: [mine.yaml]\n")
        .file(".home/.config/conclaude/mine.yaml", "");
    #[cfg(unix)]
    std::os::unix::fs::symlink("target.yaml", test.root().join("link.yaml")).unwrap();
    for path in [
        "shared/base.yaml",
        "shared/../deep.yaml",
        "link.yaml",
        "target.yaml",
        "missing.yaml",
        "broken.yaml",
        "below.yaml",
        "no.yaml",
        LOCAL,
        USER,
        ".home/.config/conclaude/mine.yaml",
    ] {
        let (decision, done) = write(test, path);
        assert_eq!(decision, "deny", "{path}: {}", done.stderr);
        test = done.again();
    }
    for command in ["rm link.yaml", "rm -rf shared", "mv shared x", "echo > shared/base.yaml"] {
        let (decision, done) = bash(test, command);
        assert_eq!(decision, "deny", "{command}: {}", done.stderr);
        test = done.again();
    }
    // Rules might be in the files that cannot be read.
    let (decision, done) = write(test, "shared/other.yaml");
    assert_eq!(decision, "ask", "{}", done.stderr);
    let (decision, _) = write(done.again().without("agent_id"), "deep.yaml");
    assert_eq!(decision, "ask");
}

#[test]
fn no_gated_agent_writes_what_the_config_extends() {
    let mut test = Test::stop()
        .config("extends: [src/guards/rules.yaml]\n")
        .file("src/guards/rules.yaml", "maxBlocks: 2\n")
        .step(&todo())
        .call_agent(MARKERS)
        .run()
        .again()
        .agent_files(MARKERS);
    let done = test.writes("Write", "file_path", "src/guards/rules.yaml").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: src/guards/rules.yaml belongs to the gates and is not for agents to write → leave it as it is
    ");
    test = done.again();
    let mut denied = String::new();
    for command in ["echo > src/guards/rules.yaml", "rm -rf src/guards", "mv src/guards src/x"] {
        let done = test.writes("Bash", "command", command).run();
        denied += &format!("# {command}\n{}\n", done.denied());
        test = done.again();
    }
    assert_snapshot!(denied, @"
    # echo > src/guards/rules.yaml
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: [ROOT]/src/guards/rules.yaml belongs to the gates and is not for agents to write → leave it as it is
    # rm -rf src/guards
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: [ROOT]/src/guards/rules.yaml belongs to the gates and is not for agents to delete → leave it as it is
    # mv src/guards src/x
    conclaude denies this command:
    ✗ SCOPE_VIOLATION: [ROOT]/src/guards/rules.yaml belongs to the gates and is not for agents to delete → leave it as it is
    ");
    test.writes("Write", "file_path", "src/guards/code.rs").run().silent();
}

/// A repository whose config extends something outside of it, which would run a command.
fn outside(extends: &str) -> Test {
    let runs = "subagentStop: {commands: {coder: [{run: \"echo ran > ran\"}]}}\n";
    let test = Test::stop()
        .file("evil.yaml", runs)
        .file("other/.conclaude.yaml", runs)
        .file(".home/evil.yaml", runs)
        .file("project/.git/HEAD", "ref: refs/heads/main\n");
    let root = test.root();
    let extends = extends.replace("ROOT", root.to_str().unwrap());
    let test = test.file("project/.conclaude.yaml", format!("extends: [\"{extends}\"]\n"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../evil.yaml", root.join("project/link.yaml")).unwrap();
        std::os::unix::fs::symlink("..", root.join("project/up")).unwrap();
    }
    test.env("CLAUDE_PROJECT_DIR", root.join("project").to_str().unwrap())
}

#[test]
fn no_spelling_of_a_path_leads_out_of_the_project_without_trust() {
    let spellings = [
        "../evil.yaml",
        "../other/.conclaude.yaml",
        "./sub/../../evil.yaml",
        "ROOT/evil.yaml",
        "ROOT/project/../evil.yaml",
        "~/evil.yaml",
        "link.yaml",
        "up/evil.yaml",
    ];
    let mut shown = String::new();
    for extends in spellings {
        let done = outside(extends).run().status(1);
        assert!(!done.has("project/ran") && !done.has("ran"), "{extends}");
        let marked = done.stderr.lines().find_map(|line| line.split_once("^ ")).unwrap().1;
        shown += &format!("{extends}: {}\n", done.steady(marked));
    }
    assert_snapshot!(shown, @"
    ../evil.yaml: the config [ROOT]/project/../evil.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
    ../other/.conclaude.yaml: the config [ROOT]/project/../other/.conclaude.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
    ./sub/../../evil.yaml: cannot read the config [ROOT]/project/./sub/../../evil.yaml: No such file or directory (os error 2)
    ROOT/evil.yaml: the config [ROOT]/evil.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
    ROOT/project/../evil.yaml: the config [ROOT]/project/../evil.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
    ~/evil.yaml: the config [ROOT]/.home/evil.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
    link.yaml: the config [ROOT]/project/link.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
    up/evil.yaml: the config [ROOT]/project/up/evil.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
    ");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_an_error_and_never_waited_for() {
    let test = Test::stop()
        .config("extends: [pipe, folder, \"\\0\", huge.yaml, binary.yaml]\n")
        .file("folder/x", "")
        .file("huge.yaml", "#".repeat((1 << 20) + 1))
        .file("binary.yaml", [0xff, 0xfe, 0x00]);
    let made = std::process::Command::new("mkfifo").arg(test.root().join("pipe")).status().unwrap();
    assert!(made.success());
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @r#"
    exit 1
    ----- stdout
    error: `pipe` cannot be used
     --> [ROOT]/.conclaude.yaml:1:11
      |
    1 | extends: [pipe, folder, "\0", huge.yaml, binary.yaml]
      |           ^^^^ cannot read the config [ROOT]/pipe: it is not a regular file
      |
      = help: paths are relative to [ROOT]

    error: `folder` cannot be used
     --> [ROOT]/.conclaude.yaml:1:17
      |
    1 | extends: [pipe, folder, "\0", huge.yaml, binary.yaml]
      |                 ^^^^^^ cannot read the config [ROOT]/folder: it is not a regular file
      |
      = help: paths are relative to [ROOT]

    error: `\u{0}` cannot be used
     --> [ROOT]/.conclaude.yaml:1:25
      |
    1 | extends: [pipe, folder, "\0", huge.yaml, binary.yaml]
      |                         ^^^^ cannot read the config [ROOT]/\u{0}: file name contained an unexpected NUL byte
      |
      = help: paths are relative to [ROOT]

    error: `huge.yaml` cannot be used
     --> [ROOT]/.conclaude.yaml:1:31
      |
    1 | extends: [pipe, folder, "\0", huge.yaml, binary.yaml]
      |                               ^^^^^^^^^ cannot read the config [ROOT]/huge.yaml: it has 1048577 bytes, at most 1048576 are read
      |
      = help: paths are relative to [ROOT]

    error: `binary.yaml` cannot be used
     --> [ROOT]/.conclaude.yaml:1:42
      |
    1 | extends: [pipe, folder, "\0", huge.yaml, binary.yaml]
      |                                          ^^^^^^^^^^^ cannot read the config [ROOT]/binary.yaml: it is not UTF-8 at byte 0
      |
      = help: paths are relative to [ROOT]

    error: invalid config [ROOT]/.conclaude.yaml: 5 problems
    "#);
}

#[test]
fn a_circle_of_links_and_names_ends() {
    let test = Test::stop()
        .config("extends: [a.yaml]\nmaxBlocks: 2\n")
        .file("a.yaml", "extends: [sub/b.yaml, ./a.yaml]\n")
        .file("sub/b.yaml", "extends: [../sub/../a.yaml, ../.conclaude.yaml]\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("self.yaml", test.root().join("self.yaml")).unwrap();
    let shown = shown_in(&test.root(), &["validate"]);
    assert_eq!(shown.matches("a circle").count(), 3, "{shown}");
}

#[test]
fn no_anchor_or_merge_key_weakens_a_guard_of_the_user() {
    let user = "preToolUse:\n  uneditableFiles: [\"*.pem\"]\n  preventRootAdditions: true\n  toolUsageValidation: [{tool: Bash, commandPattern: \"npm publish*\", action: block}]\n";
    let weakened = [
        "x-off: &off {preventRootAdditions: false, uneditableFiles: [\"!*.pem\"], toolUsageValidation: [{tool: Bash, action: allow}]}\npreToolUse: {<<: *off}\n",
        "preToolUse: {preventRootAdditions: {enabled: false, overridable: true}, uneditableFiles: [{pattern: \"!*.pem\", overridable: true}], toolUsageValidation: [{tool: \"*\", action: allow, overridable: true}]}\n",
        "preToolUse: {preventRootAdditions: null, uneditableFiles: null, toolUsageValidation: null}\n",
        "preToolUse: {uneditableFiles: [{pattern: \"*.pem\", overridable: true}, \"!*.pem\"], toolUsageValidation: [{tool: Bash, commandPattern: \"npm publish*\", action: block, overridable: true}]}\n",
        "preToolUse: null\n",
    ];
    for config in weakened {
        for file in [".conclaude.yaml", LOCAL] {
            let test = Test::stop().file(USER, user).file(file, config).without("agent_id");
            let (decision, done) = write(test, "a.pem");
            assert_eq!(decision, "deny", "{config}: {}", done.stderr);
            let (decision, done) = write(done.again(), "new.txt");
            assert_eq!(decision, "deny", "{config}: {}", done.stderr);
            let (decision, done) = bash(done.again(), "npm publish");
            assert_eq!(decision, "deny", "{config}: {}", done.stderr);
        }
    }
}

#[test]
fn a_project_cannot_make_a_guard_of_the_user_overridable_by_way_of_its_files() {
    // The user's file is named as if it were the project's own: it is read in both layers, and the outer one holds.
    let test = Test::stop().file(USER, "preToolUse: {uneditableFiles: [\"*.pem\"]}\n").without("agent_id");
    let config = format!("extends: [{USER}]\npreToolUse: {{uneditableFiles: [\"!*.pem\"]}}\n");
    let (decision, done) = write(test.config(&config), "a.pem");
    assert_eq!(decision, "deny", "{}", done.stderr);
}

#[test]
fn too_many_rules_of_a_project_do_not_push_out_those_of_the_user() {
    let many: String = (0..9_000).map(|at| format!("    - \"f{at}\"\n")).collect();
    let test = Test::stop()
        .file(USER, "preToolUse: {uneditableFiles: [\"*.pem\"]}\n")
        .config(&format!("preToolUse:\n  uneditableFiles:\n{many}"))
        .without("agent_id");
    let (decision, done) = write(test, "a.pem");
    assert_eq!(decision, "deny", "{}", done.stderr);
}

#[test]
fn a_name_in_other_case_is_the_same_file_where_names_have_no_case() {
    let test = Test::stop().config("extends: [shared/base.yaml]\n").file("shared/base.yaml", "");
    let (decision, done) = write(test, "Shared/BASE.yaml");
    assert_eq!(decision, "deny", "{}", done.stderr);
}

#[test]
fn guards_that_are_missing_are_reported_before_the_tool_is_used() {
    let test = Test::stop().config("extends: [guards.yaml]\n").file(USER, "maxBlok: 1\n").without("agent_id");
    let (_, done) = write(test, "a.txt");
    assert_snapshot!(done.tool("ask"), @"Rules in .conclaude.yaml:1 cannot be used, and might forbid writing a.txt: `guards.yaml` cannot be used. Fix the config: `conclaude validate` shows every problem. (built-in: rules that cannot be used are asked about)");
}
