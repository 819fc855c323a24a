//! The config is made of several files: the user's, the project's, the local one, and what each extends.

use insta::assert_snapshot;

use crate::common::{Outcome, Test, run_in, shown_in};

const USER: &str = ".home/.config/conclaude/config.yaml";
const LOCAL: &str = ".conclaude.local.yaml";

fn runs(script: &str) -> String {
    format!("subagentStop:\n  commands:\n    coder:\n      - run: {script}\n")
}

fn ran(answer: &Outcome) -> String {
    answer.read("ran").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_commands_of_all_layers_run_the_users_first() {
    let test = Test::stop()
        .file(USER, runs("echo user >> ran"))
        .file("base.yaml", runs("echo base >> ran"))
        .config(&format!("extends: [base.yaml]\n{}", runs("echo project >> ran")))
        .file(LOCAL, runs("echo local >> ran"));
    assert_eq!(ran(&test.run().silent()), "user base project local");
}

#[test]
fn a_project_without_a_config_has_that_of_its_user() {
    let answer = Test::stop().file(USER, runs("echo user >> ran")).run().silent();
    assert_eq!(ran(&answer), "user");
    let folder = answer.root().join(".home/xdg");
    std::fs::create_dir_all(folder.join("conclaude")).unwrap();
    std::fs::write(folder.join("conclaude/config.yaml"), runs("echo xdg >> ran")).unwrap();
    let answer = answer.again().env("XDG_CONFIG_HOME", folder.to_str().unwrap()).run().silent();
    assert_eq!(ran(&answer), "user xdg");
}

#[test]
fn config_show_prints_the_result_and_where_each_value_came_from() {
    let test = Test::stop()
        .file(USER, "maxBlocks: 5\nnotifications: {enabled: true, hooks: [Stop]}\n")
        .file("shared/base.yaml", "des:\n  requiredSections: [Goal]\n  scope: warn\n")
        .config(&format!(
            "extends:\n  - shared/base.yaml\nmaxBlocks: 2\ndes: {{requiredSections: [Risks]}}\n{}",
            runs("|\n          set -e\n          npm test\n        message: \"no: not yet\"")
        ))
        .file(LOCAL, "notifications: {enabled: false}\n");
    assert_snapshot!(shown_in(&test.root(), &["config", "show", "--origin"]), @r#"
    exit 0
    ----- stdout
    # user     [ROOT]/.home/.config/conclaude/config.yaml
    # project  [ROOT]/shared/base.yaml
    # project  [ROOT]/.conclaude.yaml
    # local    [ROOT]/.conclaude.local.yaml
    maxBlocks: 2  # .conclaude.yaml:3
    notifications:
      enabled: false  # .conclaude.local.yaml:1
      hooks:
        - Stop  # .home/.config/conclaude/config.yaml:2
    des:
      requiredSections:
        - Goal  # shared/base.yaml:2
        - Risks  # .conclaude.yaml:4
      scope: warn  # shared/base.yaml:3
    subagentStop:
      commands:
        coder:
          - run: |  # .conclaude.yaml:9
              set -e
              npm test
            message: "no: not yet"  # .conclaude.yaml:11
    "#);
    assert_snapshot!(shown_in(&test.root(), &["config", "show"]), @r#"
    exit 0
    ----- stdout
    # user     [ROOT]/.home/.config/conclaude/config.yaml
    # project  [ROOT]/shared/base.yaml
    # project  [ROOT]/.conclaude.yaml
    # local    [ROOT]/.conclaude.local.yaml
    maxBlocks: 2
    notifications:
      enabled: false
      hooks:
        - Stop
    des:
      requiredSections:
        - Goal
        - Risks
      scope: warn
    subagentStop:
      commands:
        coder:
          - run: |
              set -e
              npm test
            message: "no: not yet"
    "#);
    let (_, json, _) = run_in(&test.root(), &["config", "show", "--json", "--origin"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["config"]["des"]["requiredSections"], serde_json::json!(["Goal", "Risks"]));
    assert_snapshot!(json["origins"]["/subagentStop/commands/coder/0/message"], @r#"{"layer":"project","path":"[ROOT]/.conclaude.yaml","line":11}"#);
    assert_snapshot!(json["files"][0], @r#"{"layer":"user","path":"[ROOT]/.home/.config/conclaude/config.yaml"}"#);
}

#[test]
fn without_a_file_config_show_says_so() {
    assert_snapshot!(shown_in(&Test::stop().root(), &["config", "show"]), @"
    exit 0
    ----- stdout
    # no values: the defaults apply
    ");
}

#[test]
fn validate_names_each_file_and_each_error_names_its_own() {
    let test = Test::stop().file(USER, "maxBlocks: 5\n").config(&runs("x")).file(LOCAL, "maxBlocks: 3\n");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 0
    ----- stdout
    valid: [ROOT]/.home/.config/conclaude/config.yaml
    valid: [ROOT]/.conclaude.yaml
    valid: [ROOT]/.conclaude.local.yaml
      subagentStop: 1 pattern, 1 command
    ");
    let test = test.file(USER, "maxBlocks: 50\n").file(LOCAL, "maxBlok: 3\n");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 1
    ----- stdout
    error: invalid value for `maxBlocks`: the number 50
     --> [ROOT]/.home/.config/conclaude/config.yaml:1:12
      |
    1 | maxBlocks: 50
      |            ^^ expected a whole number from 1 to 7

    error: invalid config [ROOT]/.home/.config/conclaude/config.yaml: 1 problem
    error: unknown key `maxBlok` in the config
     --> [ROOT]/.conclaude.local.yaml:1:1
      |
    1 | maxBlok: 3
      | ^^^^^^^ not a key of this section
      |
      = help: did you mean `maxBlocks`?

    error: invalid config [ROOT]/.conclaude.local.yaml: 1 problem
    ");
}

#[test]
fn a_broken_file_does_not_switch_off_the_others() {
    let test = Test::stop().file(USER, runs("echo user >> ran")).config("maxBlok: 3\n");
    let answer = test.run();
    assert_snapshot!(answer.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `maxBlok` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | maxBlok: 3
      | ^^^^^^^ not a key of this section
      |
      = help: did you mean `maxBlocks`?
    ");
    assert_eq!(ran(&answer), "user");
    let answer =
        answer.again().file(USER, "maxBlok: 3\n").config(&runs("echo project >> ran")).run().status(1);
    assert_eq!(ran(&answer), "user project");
}

#[test]
fn what_cannot_be_extended_is_an_error_at_its_line() {
    let test = Test::stop()
        .config(
            "maxBlocks: 3\nextends:\n  - missing.yaml\n  - circle.yaml\n  - pack:nothing\n  - good.yaml\n",
        )
        .file("circle.yaml", "extends: [.conclaude.yaml]\n")
        .file("good.yaml", "maxBlocks: 4\n");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 1
    ----- stdout
    error: `.conclaude.yaml` extends this file
     --> [ROOT]/circle.yaml:1:11
      |
    1 | extends: [.conclaude.yaml]
      |           ^^^^^^^^^^^^^^^ a circle
      |
      = help: a file cannot extend itself, also not by way of others

    error: invalid config [ROOT]/circle.yaml: 1 problem
    error: `missing.yaml` cannot be used
     --> [ROOT]/.conclaude.yaml:3:5
      |
    3 |   - missing.yaml
      |     ^^^^^^^^^^^^ cannot read the config [ROOT]/missing.yaml: No such file or directory (os error 2)
      |
      = help: paths are relative to [ROOT]

    error: there is no pack `nothing`
     --> [ROOT]/.conclaude.yaml:5:5
      |
    5 |   - pack:nothing
      |     ^^^^^^^^^^^^ unknown pack
      |
      = help: the packs are secrets, git-safety, destructive-commands, lockfiles

    error: invalid config [ROOT]/.conclaude.yaml: 2 problems
    ");
    let test = (0..9).fold(test.config("extends: [deep0.yaml]\n"), |test, at| {
        test.file(&format!("deep{at}.yaml"), format!("extends: [deep{}.yaml]\n", at + 1))
    });
    assert_snapshot!(shown_in(&test.file("deep9.yaml", "").root(), &["validate"]), @"
    exit 1
    ----- stdout
    error: `deep8.yaml` is one file too many
     --> [ROOT]/deep7.yaml:1:11
      |
    1 | extends: [deep8.yaml]
      |           ^^^^^^^^^^ not read
      |
      = help: at most 32 files contribute, 8 deep

    error: invalid config [ROOT]/deep7.yaml: 1 problem
    ");
}

#[test]
fn extended_twice_counts_once() {
    let test = Test::stop()
        .config("extends: [a.yaml, b.yaml]\n")
        .file("a.yaml", "extends: [base.yaml]\n")
        .file("b.yaml", "extends: [base.yaml]\n")
        .file("base.yaml", runs("echo base >> ran"));
    assert_eq!(ran(&test.run().silent()), "base");
}

#[test]
fn what_a_project_extends_outside_of_it_needs_trust() {
    let test = Test::stop()
        .file("outside.yaml", runs("echo outside >> ran"))
        .file("project/.git/HEAD", "ref: refs/heads/main\n")
        .file("project/.conclaude.yaml", "extends: [../outside.yaml]\n");
    let project = test.root().join("project");
    let test = test.env("CLAUDE_PROJECT_DIR", project.to_str().unwrap());
    let answer = test.run().status(1);
    assert_snapshot!(answer.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/project/.conclaude.yaml: 1 problem

    error: `../outside.yaml` cannot be used
     --> [ROOT]/project/.conclaude.yaml:1:11
      |
    1 | extends: [../outside.yaml]
      |           ^^^^^^^^^^^^^^^ the config [ROOT]/project/../outside.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
      |
      = help: paths are relative to [ROOT]/project
    ");
    let trusted = crate::common::conclaude_in(&project)
        .args(["trust", "--yes"])
        .env("XDG_STATE_HOME", answer.root().join(".state-home"))
        .output()
        .unwrap();
    assert_snapshot!(answer.steady(&String::from_utf8(trusted.stdout).unwrap()), @r#"
    [ROOT]/outside.yaml runs:
      subagentStop of "coder":
        echo outside >> ran
    [ROOT]/project/.conclaude.yaml runs:
      nothing: no commands, no judge, no telemetry
    trusted, until one of the files changes; scripts that it calls are not watched
    "#);
    assert!(answer.again().run().silent().has("project/ran"));
}

#[test]
fn trust_covers_every_file_but_the_users_own() {
    let test = Test::stop()
        .file(USER, runs("echo user >> ran"))
        .file("base.yaml", runs("echo base >> ran"))
        .config(&format!("extends: [base.yaml]\n{}", runs("echo project >> ran")))
        .file(LOCAL, runs("echo local >> ran"))
        .flag("--if-trusted");
    let answer = test.run();
    assert_snapshot!(answer.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo base >> ran` did not run, `echo project >> ran` did not run, `echo local >> ran` did not run: [ROOT]/base.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
    assert_eq!(ran(&answer), "user");
    assert_snapshot!(shown_in(&answer.root(), &["trust", "--yes"]), @r#"
    exit 0
    ----- stdout
    [ROOT]/base.yaml runs:
      subagentStop of "coder":
        echo base >> ran
    [ROOT]/.conclaude.yaml runs:
      subagentStop of "coder":
        echo project >> ran
    [ROOT]/.conclaude.local.yaml runs:
      subagentStop of "coder":
        echo local >> ran
    trusted, until one of the files changes; scripts that it calls are not watched
    "#);
    let answer = answer.again().payload("agent_id", "a2").run().silent();
    assert_eq!(ran(&answer), "user user base project local");
    let answer = answer.again().file("base.yaml", runs("echo other >> ran")).payload("agent_id", "a3").run();
    assert_snapshot!(answer.message(), @"
    conclaude: SubagentStop of coder (a3)
    ⚠ `echo other >> ran` did not run: [ROOT]/base.yaml has changed since you trusted it. Look at the file, then run `conclaude trust` in the project
    ");
    assert_eq!(ran(&answer), "user user base project local user project local");
    assert_snapshot!(answer.again().then("SessionStart").run().message(), @"conclaude: [ROOT]/base.yaml has changed since you trusted it, so what it would run stays off: 1 command. Look at the file, then run `conclaude trust` in the project");
}

#[test]
fn doctor_names_all_files() {
    let test = Test::stop().file(USER, "maxBlocks: 5\n").config(&runs("x"));
    let shown = shown_in(&test.root(), &["doctor"]);
    let line = shown.lines().find(|line| line.contains(" config ")).unwrap_or_else(|| panic!("{shown}"));
    assert_snapshot!(line.trim(), @"✓ config       .home/.config/conclaude/config.yaml, .conclaude.yaml are valid: subagentStop: 1 pattern, 1 command");
}

#[test]
fn a_local_config_that_git_does_not_ignore_is_a_warning() {
    let test = Test::stop().config("maxBlocks: 3\n").file(LOCAL, "maxBlocks: 2\n").git(&["init", "-q"]);
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 0
    ----- stdout
    warning: .conclaude.local.yaml is yours, and git does not ignore it: `echo .conclaude.local.yaml >> [ROOT]/.git/info/exclude`
    valid: [ROOT]/.conclaude.yaml
    valid: [ROOT]/.conclaude.local.yaml
      no rules configured
      = help: add `subagentStop:` with commands, or uncomment what `conclaude init` wrote; prompts with markers are gated without any rule
    ");
    let warns = |test: &Test| shown_in(&test.root(), &["validate"]).contains("warning");
    let mut test = test;
    // However git comes to ignore it, and only as long as it does.
    for (file, text, expected) in [
        (".git/info/exclude", "*.log\n/.conclaude.local.yaml\n", false),
        (".gitignore", "!.conclaude.local.yaml\n", true),
        (".gitignore", "*.local.yaml\n", false),
        (".git/info/exclude", "", false),
    ] {
        test = test.file(file, text);
        assert_eq!(warns(&test), expected, "{file} {text}");
    }
    let test = test.git(&["add", "-f", LOCAL]);
    let shown = shown_in(&test.root(), &["doctor"]);
    let line = shown.lines().find(|line| line.contains("tracks it")).unwrap_or_else(|| panic!("{shown}"));
    assert_snapshot!(line.trim(), @"⚠ config       .conclaude.local.yaml is yours, and git tracks it for everybody");
}

/// What is in the list of files that git ignores in this clone.
fn excluded(root: &std::path::Path) -> String {
    std::fs::read_to_string(root.join(".git/info/exclude")).unwrap()
}

#[test]
fn who_registers_for_themselves_has_git_ignore_the_local_config() {
    let test = Test::stop().config("maxBlocks: 3\n").git(&["init", "-q"]).file(".gitignore", "target\n");
    let test = test.file(".git/info/exclude", "# mine\n*.log");
    let root = test.root();
    assert!(
        shown_in(&root, &["install", "--local", "--dry-run"]).contains("would add .conclaude.local.yaml to")
    );
    assert_eq!(excluded(&root), "# mine\n*.log");
    assert_snapshot!(shown_in(&root, &["install", "--local"]), @"
    exit 0
    ----- stdout
    registered conclaude in [ROOT]/.claude/settings.local.json
    git ignores .conclaude.local.yaml here: added it to [ROOT]/.git/info/exclude
    ");
    assert_eq!(excluded(&root), "# mine\n*.log\n.conclaude.local.yaml\n");
    let again = shown_in(&root, &["install", "--local"]);
    assert!(!again.contains("exclude") && excluded(&root).matches("local").count() == 1, "{again}");
    assert_eq!(std::fs::read_to_string(root.join(".gitignore")).unwrap(), "target\n", "shared with others");
    let test = test.file(LOCAL, "maxBlocks: 2\n");
    assert!(!shown_in(&test.root(), &["validate"]).contains("warning"));
}

#[test]
fn in_a_linked_worktree_the_list_is_that_of_the_repository() {
    let test = Test::stop().file("main/README", "x").git(&["init", "-q", "main"]);
    let test = test.git(&["-C", "main", "add", "."]).git(&["-C", "main", "commit", "-qm", "x"]);
    let test = test.git(&["-C", "main", "worktree", "add", "-q", "../linked"]);
    let root = test.root();
    std::fs::write(root.join("linked/.conclaude.local.yaml"), "maxBlocks: 2\n").unwrap();
    std::fs::create_dir_all(root.join("linked/.claude")).unwrap();
    let shown = crate::common::run_in_home(&root.join("linked"), &root.join(".home"), &["init", "--local"]);
    assert_eq!(shown.0, Some(0), "{}", shown.2);
    assert!(excluded(&root.join("main")).ends_with("\n.conclaude.local.yaml\n"), "{}", shown.1);
    let status = test
        .program("git")
        .args(["status", "--porcelain"])
        .current_dir(root.join("linked"))
        .output()
        .unwrap();
    assert!(!String::from_utf8(status.stdout).unwrap().contains("local.yaml"));
}

#[test]
fn an_inner_layer_cannot_keep_commands_of_an_outer_one_from_running() {
    let commands = |who: &str| {
        format!(
            "  commands:\n    \"*\": [{{run: echo {who}-any >> ran}}]\n    coder: [{{run: echo {who}-coder >> ran}}]\n"
        )
    };
    let config = |mode: &str, who: &str| format!("subagentStop:\n{mode}{}", commands(who));
    let first = "  match: first\n";
    let test = Test::stop().file(USER, config("", "user")).config(&config(first, "project"));
    let answer = test.run().silent();
    assert_eq!(ran(&answer), "user-any project-any user-coder project-coder");
    assert_snapshot!(shown_in(&answer.root(), &["validate"]), @"
    exit 0
    ----- stdout
    warning: subagentStop: `match: first` has no effect
     --> [ROOT]/.conclaude.yaml:2:10
      |
    2 |   match: first
      |          ^^^^^ an outer file has commands there, and all of them run
      |
      = help: remove it

    valid: [ROOT]/.home/.config/conclaude/config.yaml
    valid: [ROOT]/.conclaude.yaml
      subagentStop: 2 patterns, 4 commands
    ");
    // Of one's own files the first may be all.
    let test = Test::stop().file("base.yaml", config("", "base"));
    let test = test.config("extends: [base.yaml]\nsubagentStop: {match: first}\n");
    assert_eq!(ran(&test.run().silent()), "base-any");
    let test = Test::stop().file(USER, config(first, "user")).config(&config(first, "project"));
    assert_eq!(ran(&test.run().silent()), "user-any project-any");
}

#[test]
fn no_gated_agent_writes_the_local_config_or_the_users() {
    let shown = [LOCAL, USER].map(|path| {
        let step = crate::common::workflow::todo();
        let test = Test::stop().step(&step).agent_files(crate::common::workflow::MARKERS);
        let file = test.root().join(path).display().to_string();
        test.writes("Write", "file_path", &file).run().denied().replace(path, "[FILE]")
    });
    assert_snapshot!(crate::common::snapshot::same(&shown), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: [ROOT]/[FILE] belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn a_guard_of_the_user_is_not_weakened_by_a_project_unless_it_says_so() {
    let writes = |test: Test, file: &str| {
        let path = test.root().join(file).display().to_string();
        test.then("PreToolUse")
            .without("agent_id")
            .payload("tool_name", "Write")
            .payload("tool_use_id", "toolu_1")
            .payload("tool_input", serde_json::json!({"file_path": path, "content": "x"}))
            .run()
    };
    let test = Test::stop()
        .file(USER, "preToolUse:\n  uneditableFiles:\n    - \"*.lock\"\n    - {pattern: \"*.md\", overridable: true}\n")
        .config("preToolUse: {uneditableFiles: [\"!*.lock\", \"!*.md\", \"*.txt\"]}\n")
        .file(LOCAL, "preToolUse: {uneditableFiles: [\"!*.txt\"]}\n");
    let denied = writes(test, "a.lock");
    assert_snapshot!(denied.denied(), @"
    conclaude denies this tool:
    ✗ GUARD_DENIED: writing a.lock: `uneditableFiles` has `*.lock` in .home/.config/conclaude/config.yaml:3 → it may not be changed; do it another way, or ask the user
    ");
    let allowed = writes(denied.again(), "a.md").silent();
    assert_snapshot!(writes(allowed.again(), "a.txt").denied(), @"
    conclaude denies this tool:
    ✗ GUARD_DENIED: writing a.txt: `uneditableFiles` has `*.txt` in .conclaude.yaml:1 → it may not be changed; do it another way, or ask the user
    ");
}

#[test]
fn a_rule_for_tools_is_relaxed_only_where_it_says_so() {
    let rule = |pattern: &str, action: &str, more: &str| {
        format!("    - {{tool: Bash, commandPattern: \"{pattern}\", action: {action}{more}}}\n")
    };
    let config = |rules: &[String]| format!("preToolUse:\n  toolUsageValidation:\n{}", rules.concat());
    let mut test = Test::stop()
        .file(USER, config(&[rule("make a*", "block", ""), rule("make b*", "block", ", overridable: true")]))
        .config(&config(&[rule("make *", "allow", ""), rule("make c", "block", "")]))
        .file(LOCAL, config(&[rule("make d", "ask", "")]))
        .then("PreToolUse")
        .without("agent_id")
        .payload("tool_name", "Bash");
    let mut answers = Vec::new();
    for command in ["make a", "make b", "make c", "make d"] {
        let answer = test.payload("tool_input", serde_json::json!({ "command": command })).run();
        let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
        let decision = json["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("free");
        answers.push(format!("{command}: {decision}"));
        test = answer.again();
    }
    // `make c` is allowed by an earlier rule of its own layer.
    assert_eq!(answers, ["make a: deny", "make b: free", "make c: free", "make d: ask"]);
}
