//! Guards of `preToolUse`: a tool call in, the answer out.

use serde_json::{Value, json};

use crate::common::Test;

mod own_files;
mod worktree;

const CONFIG: &str = r#"preToolUse:
  uneditableFiles:
    - "*.lock"
    - {pattern: "src/gen/", message: "run make gen instead", agent: coder}
  unreadableFiles: [".env*"]
  toolUsageValidation:
    - {tool: Bash, commandPattern: "git push --force*", action: block, message: "push normally"}
    - {tool: Bash, commandPattern: "terraform apply", matchMode: prefix, action: ask}
"#;

fn tool(config: &str, name: &str, input: Value) -> Test {
    let test = Test::event("PreToolUse").without("agent_id").without("agent_type");
    test.config(config).payload("tool_name", name).payload("tool_input", input)
}

fn bash(command: &str) -> Test {
    tool(CONFIG, "Bash", json!({ "command": command }))
}

#[test]
fn a_write_of_a_protected_file_is_denied_with_the_rule_and_its_line() {
    let answer = tool(CONFIG, "Write", json!({"file_path": "sub/../Cargo.lock", "content": ""})).run();
    insta::assert_snapshot!(answer.tool("deny"), @"Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`. Do it another way, or ask the user. (.conclaude.yaml:3)");
}

#[test]
fn a_shell_command_is_denied_for_what_it_does() {
    insta::assert_snapshot!(bash("cd sub && cat ../.env | head").run().tool("deny"), @"Reading .env is not allowed: `unreadableFiles` has `.env*`. Do it another way, or ask the user. (.conclaude.yaml:5)");
    insta::assert_snapshot!(bash("true; git push  --force origin").run().tool("deny"), @"push normally (.conclaude.yaml:7, about `git push --force origin`)");
    bash("git commit -m 'cat .env > Cargo.lock'").run().silent();
}

#[test]
fn a_protected_file_is_not_hidden_by_more_than_is_remembered() {
    let many = |count: usize, text: &str| -> String {
        (0..count).map(|number| text.replace('#', &number.to_string())).collect()
    };
    insta::assert_snapshot!(bash(&format!("f=x:.env; {}IFS=:; cat $f", many(63, "v#=1; "))).run().tool("deny"), @"Reading .env is not allowed: `unreadableFiles` has `.env*`. Do it another way, or ask the user. (.conclaude.yaml:5)");
    insta::assert_snapshot!(bash(&format!("f=x:.env; {}IFS=:; cat $f", many(300, "v#=1; "))).run().tool("ask"), @"Reading `x:.env`: the file is unknown before it runs. Allow it if that is not a protected file. (built-in: what cannot be decided is asked)");
    insta::assert_snapshot!(bash(&format!("{}alias x='cat .env'; x", many(64, "alias a#=b; "))).run().tool("ask"), @"The effect of this command is unknown: it defines too many aliases. Allow it if you know what it does. (built-in: what cannot be decided is asked)");
    let files = format!("{}echo 'cat .env' > x; sh x", many(64, "echo a > f#; "));
    insta::assert_snapshot!(bash(&files).run().tool("ask"), @"The commands that sh runs are unknown before they run. Allow it if you know what they do. (built-in: what cannot be decided is asked)");
}

#[test]
fn a_branch_does_not_hide_what_another_one_does() {
    for command in [
        "if a; then alias x='cat .env'; fi; x",
        "x=.env; y=; while false; do y=$y.; x=1; done; cat $x",
        "echo 'cat .env' > x; false && echo ok > x; sh x",
        "f() { cat .env; }; if a; then f() { ls; }; fi; f",
        "bash <(echo 'cat .env') <(true)",
        "false && mkdir x; cd x; cat .env",
    ] {
        let denied = bash(command).run().tool("deny");
        assert!(
            denied.contains("Reading .env is not allowed: `unreadableFiles` has `.env*`."),
            "{command}: {denied}"
        );
    }
}

#[test]
fn files_that_another_command_lists_are_asked_about_as_the_command_is_written() {
    let asked = bash("git ls-files | xargs sed -i s/a/b/").file("Cargo.lock", "x\n").run();
    insta::assert_snapshot!(asked.tool("ask"), @"
    ? `git ls-files | xargs sed -i s/a/b/` may change files of conclaude's own config, state or registration: git cannot list what it changes. Allow it only if you want conclaude's rules, registration or records to change. (built-in: conclaude's own files)
    ? `git ls-files | xargs sed -i s/a/b/` may change protected files of the work tree, such as Cargo.lock. Allow it if these files may change. (built-in: what cannot be decided is asked)
    ");
    bash("git ls-files | grep '\\.rs$' | xargs sed -i s/a/b/").file("Cargo.lock", "x\n").run().silent();
    bash("cd \"$(git rev-parse --show-toplevel)\" && cat README.md").file(".git/HEAD", "x\n").run().silent();
}

#[test]
fn a_command_rule_is_not_bypassed_by_an_option_before_the_subcommand() {
    insta::assert_snapshot!(bash("/usr/bin/git -C . -c a=b push --force").run().tool("deny"), @"push normally (.conclaude.yaml:7)");
    insta::assert_snapshot!(bash("git push $FLAGS").run().tool("ask"), @"The value of `$FLAGS` is unknown before it runs, and a rule could forbid it: push normally. Allow it if you know the value. (.conclaude.yaml:7)");
    bash("git push origin \"$BRANCH\" && git commit -m \"$MESSAGE\"").run().silent();
}

#[test]
fn a_rule_for_options_knows_how_they_are_written() {
    let config = r#"preToolUse:
  toolUsageValidation:
    - {tool: Bash, commandPattern: "git push", matchMode: prefix, options: ["-f", "--force"], action: block}
    - {tool: Bash, commandPattern: "psql *drop table*", caseInsensitive: true, action: block}
"#;
    let bash = |command: &str| tool(config, "Bash", json!({ "command": command }));
    insta::assert_snapshot!(bash("git -C . push -uf origin x").run().tool("deny"), @"Running `git -C . push -uf origin x` is not allowed: `toolUsageValidation` has `Bash git push -f,--force`. Do it another way, or ask the user. (.conclaude.yaml:3)");
    bash("git push origin fix -o -f -- --force").run().silent();
    bash("echo 'Drop Table x' | psql").run().tool("deny");
    let broken = config.replace("\"-f\"", "\"f\"");
    insta::assert_snapshot!(Test::stop().config(&broken).shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `options`: the text "f"
     --> [ROOT]/.conclaude.yaml:3:77
      |
    3 |     - {tool: Bash, commandPattern: "git push", matchMode: prefix, options: ["f", "--force"], action: block}
      |                                                                             ^^^ expected an option, such as `-f` or `--force`

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    "#);
}

#[test]
fn a_long_command_is_compared_like_a_short_one() {
    let text = "echo some text of a file\n".repeat(2_000);
    bash(&format!("cat > notes.txt <<'EOF'\n{text}EOF")).run().silent();
    let reason = bash(&format!("cat > notes.txt <<'EOF'\n{text}EOF\ngit push --force")).run().tool("deny");
    insta::assert_snapshot!(reason, @"push normally (.conclaude.yaml:7, about `git push --force`)");
}

#[test]
fn what_only_the_user_can_decide_is_asked() {
    insta::assert_snapshot!(bash("terraform apply -auto-approve").run().tool("ask"), @"Running `terraform apply -auto-approve` needs a confirmation: `toolUsageValidation` has `Bash terraform apply`. (.conclaude.yaml:8)");
}

#[test]
fn where_nobody_can_be_asked_it_is_denied() {
    for mode in ["dontAsk", "bypassPermissions"] {
        let reason = bash("terraform apply").payload("permission_mode", mode).run().tool("deny");
        assert!(
            reason.ends_with("In this permission mode nobody can be asked, so it is denied."),
            "{reason}"
        );
    }
}

#[test]
fn a_rule_for_one_agent_leaves_the_others_alone() {
    let write = || tool(CONFIG, "Edit", json!({"file_path": "src/gen/a.rs"}));
    write().run().silent();
    write().payload("agent_id", "a1").payload("agent_type", "tester").run().silent();
    let reason = write().payload("agent_id", "a1").payload("agent_type", "coder").run().tool("deny");
    insta::assert_snapshot!(reason, @"run make gen instead (.conclaude.yaml:4)");
}

#[test]
fn additions_are_prevented_and_changes_are_not() {
    let config = "preToolUse: {preventRootAdditions: true, preventAdditions: [docs/]}\n";
    let write = |path: &str| {
        tool(config, "Write", json!({ "file_path": path }))
            .file("README.md", "x")
            .file("docs/a.md", "x")
            .file("src/a.rs", "x")
    };
    write("README.md").run().silent();
    write("docs/a.md").run().silent();
    write("src/new.rs").run().silent();
    insta::assert_snapshot!(write("new.txt").run().tool("deny"), @"new.txt would be new in the project's root. Create it in a directory below the root. (.conclaude.yaml:1)");
    insta::assert_snapshot!(write("docs/b.md").run().tool("deny"), @"Adding docs/b.md is not allowed: `preventAdditions` has `docs/`. Change a file that exists instead. (.conclaude.yaml:1)");
}

#[test]
fn a_broken_guard_is_an_error_of_the_config_with_its_line() {
    let config =
        "preToolUse:\n  uneditableFiles: [\"[a\"]\n  toolUsageValidation: [{tool: Bash, action: deni}]\n";
    insta::assert_snapshot!(Test::stop().config(config).shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `uneditableFiles`: the text "[a"
     --> [ROOT]/.conclaude.yaml:2:21
      |
    2 |   uneditableFiles: ["[a"]
      |                     ^^^^ expected a pattern of files, as in .gitignore or a mapping with `pattern`
      |
      = help: `[` without a `]` after it; patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character

    error: invalid value for `action`: the text "deni"
     --> [ROOT]/.conclaude.yaml:3:46
      |
    3 |   toolUsageValidation: [{tool: Bash, action: deni}]
      |                                              ^^^^ expected one of `allow`, `block`, `ask`, `deny`
      |
      = help: did you mean `deny`?

    error: invalid config [ROOT]/.conclaude.yaml: 2 problems
    "#);
}

#[test]
fn a_decision_of_a_guard_is_recorded() {
    let answer = bash("cat .env").run();
    answer.tool("deny");
    let shown = answer.again().shows(&["audit", "show"]);
    insta::assert_snapshot!(shown, @"
    exit 0
    ----- stdout
        1 [TIME] PreToolUse Bash `cat .env` denied
            GUARD_DENIED: Reading .env is not allowed: `unreadableFiles` has `.env*`. (.conclaude.yaml:5)
    ");
}

#[test]
fn a_call_whose_file_or_command_cannot_be_read_is_asked_about() {
    let decided = |config: &str, name: &str, input: Value| {
        let stdout = tool(config, name, input).run().stdout;
        let json: Value = serde_json::from_str(&stdout).unwrap_or_default();
        json["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
    };
    insta::assert_snapshot!(tool(CONFIG, "Write", json!({"file_path": 7})).run().tool("ask"), @"The `file_path` of Write is missing or cannot be read, so its effect is unknown. Allow it only if you know what it does. (built-in: what cannot be decided is asked)");
    for (name, input) in [
        ("Bash", json!({"command": 7})),
        ("Bash", json!({"command": ["cat", ".env"]})),
        ("Bash", json!({})),
        ("Bash", json!({"command": "cat a\u{0}x"})),
        ("Read", json!({"file_path": "a\u{0}x"})),
        ("Edit", json!({"file_path": null})),
        ("Grep", json!({"path": [".env"], "pattern": "x"})),
    ] {
        assert_eq!(decided(CONFIG, name, input.clone()), "ask", "{name} {input}");
        // Without a guard nothing is undecidable.
        assert_eq!(decided("{}\n", name, input.clone()), "none", "{name} {input}");
    }
    assert_eq!(decided(CONFIG, "Grep", json!({"pattern": "x"})), "none");
    assert_eq!(decided(CONFIG, "mcp__a__b", json!({"file_path": 7})), "none");
    assert_eq!(decided("preToolUse: {unreadableFiles: [a]}\n", "Write", json!({"file_path": 7})), "none");
    let denied = tool(CONFIG, "Bash", json!({"command": 7})).payload("permission_mode", "dontAsk");
    denied.run().tool("deny");
}

#[test]
fn a_file_in_a_new_directory_is_not_in_the_root_but_making_the_directory_adds_it() {
    let config = "preToolUse: {preventRootAdditions: true}\n";
    let run = |name: &str, input: Value| tool(config, name, input).file("src/a.rs", "x").run();
    insta::assert_snapshot!(run("Bash", json!({"command": "mkdir -p newdir/x"})).tool("deny"), @"newdir/x would be new in the project's root. Create it in a directory below the root. (.conclaude.yaml:1)");
    run("Bash", json!({"command": "mkdir newdir"})).tool("deny");
    run("Bash", json!({"command": "echo x > new.txt"})).tool("deny");
    run("Write", json!({"file_path": "newdir/new.txt"})).silent();
    run("Edit", json!({"file_path": "newdir/deep/new.txt"})).silent();
    run("Bash", json!({"command": "echo x > newdir/new.txt"})).silent();
    run("Write", json!({"file_path": "src/new/new.txt"})).silent();
    run("Bash", json!({"command": "mkdir -p src/new/x"})).silent();
}

#[test]
fn a_formatter_with_a_directory_is_free_and_with_a_file_writes_it() {
    let config = "preToolUse: {uneditableFiles: [\"src/gen/\"]}\n";
    let run = |config: &str, command: &str| {
        let test = tool(config, "Bash", json!({ "command": command })).file("src/gen/a.js", "x");
        test.payload("agent_id", "a1").payload("agent_type", "coder").run()
    };
    run("{}\n", "black . && npx eslint . --fix && ruff format . && gofmt -w .").silent();
    run(config, "prettier --write src && isort .").silent();
    insta::assert_snapshot!(run(config, "prettier --write src/gen/a.js").tool("deny"), @"Writing src/gen/a.js is not allowed: `uneditableFiles` has `src/gen/`. Do it another way, or ask the user. (.conclaude.yaml:1)");
    run("{}\n", "prettier --write .conclaude.yaml").tool("deny");
}

#[test]
fn a_search_in_one_file_by_its_glob_reads_it() {
    let run = |input: Value| tool(CONFIG, "Grep", input).file("sub/.env", "x").run();
    insta::assert_snapshot!(run(json!({"pattern": "x", "glob": ".env"})).tool("deny"), @"Reading .env is not allowed: `unreadableFiles` has `.env*`. Do it another way, or ask the user. (.conclaude.yaml:5)");
    run(json!({"pattern": "x", "path": "sub", "glob": ".env"})).tool("deny");
    run(json!({"pattern": "x", "glob": "*.rs"})).silent();
    run(json!({"pattern": "x", "path": "sub", "glob": "a.rs"})).silent();
}

#[test]
fn a_directory_may_be_copied_and_a_protected_file_is_not_read_from_the_copy() {
    for copying in [
        "cp -r . /tmp/copy",
        "rsync -a ./ /tmp/copy/",
        "tar czf /tmp/copy.tgz .",
        "zip -r /tmp/copy.zip .",
        "grep -r TOKEN .",
    ] {
        bash(copying).file(".env", "TOKEN=1").run().silent();
    }
    insta::assert_snapshot!(bash("cp -r . /tmp/copy && cat /tmp/copy/.env").run().tool("deny"), @"Reading /tmp/copy/.env is not allowed: `unreadableFiles` has `.env*`. Do it another way, or ask the user. (.conclaude.yaml:5)");
    tool(CONFIG, "Read", json!({"file_path": "/tmp/copy/.env"})).run().tool("deny");
    bash("cp .env /tmp/copy").run().tool("deny");
}

#[test]
fn a_rule_for_what_is_outside_leaves_the_projects_own_files_alone() {
    let test = Test::event("PreToolUse").without("agent_id").without("agent_type");
    let root = test.root();
    let above = root.parent().unwrap().display().to_string();
    let config = format!("preToolUse: {{uneditableFiles: [{{pattern: '{above}/', outside: true}}]}}\n");
    let test = test.config(&config).payload("tool_name", "Write");
    let answer = test.payload("tool_input", json!({"file_path": "src/main.c"})).run().silent();
    let beside = root.parent().unwrap().join("other/main.c").display().to_string();
    let answer = answer.again().payload("tool_input", json!({"file_path": beside})).run();
    assert!(answer.tool("deny").contains("other/main.c"));
    // Without it an absolute pattern covers the project, too: somebody may want that.
    let test = answer.again().config(&config.replace(", outside: true", ""));
    test.payload("tool_input", json!({"file_path": "src/main.c"})).run().tool("deny");
}

#[test]
fn a_variable_that_nobody_sets_hides_no_file() {
    let config =
        "preToolUse: {unreadableFiles: ['.env', 'conf/secret.txt'], uneditableFiles: ['sub/gen2.txt']}\n";
    for command in [
        "cat ./$x.env",
        "cp ./$x.env out",
        "cat conf/$x/secret.txt",
        "echo x > sub/$x/gen2.txt",
        "sed -i s/a/b/ sub/${x}gen2.txt",
    ] {
        let test = Test::bash(config, command).file(".env", "x").file("conf/secret.txt", "x");
        test.file("sub/gen2.txt", "x").run().tool("deny");
    }
    Test::bash(config, "mkcert -cert-file sub/gen2.txt -key-file k x.test").run().tool("ask");
    Test::bash(config, "mkcert -cert-file sub/gen.txt -key-file k x.test").run().silent();
}

/// In a replay the file may be gone since.
#[test]
fn an_edit_that_replaces_text_adds_no_file() {
    let test = Test::event("PreToolUse").config("preToolUse: {preventRootAdditions: true}\n");
    let test = test.payload("tool_name", "Edit");
    let input = |old: &str| json!({"file_path": "gone.md", "old_string": old, "new_string": "b"});
    let test = test.payload("tool_input", input("a")).run().silent().again();
    test.payload("tool_input", input("")).run().tool("deny");
}

/// "Writing gen/a is not allowed: … Do it another way, or ask the user." was a question to the user.
#[test]
fn a_question_about_a_file_speaks_to_the_user() {
    let config = "preToolUse:\n  uneditableFiles: [{pattern: gen/, action: ask}]\n  unreadableFiles: [{pattern: priv/, action: ask}]\n  preventAdditions: [{pattern: new/, action: ask}]\n";
    let asked = |command: &str| Test::bash(config, command).file("priv/a", "").run().tool("ask");
    insta::assert_snapshot!(asked("echo x > gen/a"), @"Writing gen/a needs a confirmation: `uneditableFiles` has `gen/`. (.conclaude.yaml:2)");
    insta::assert_snapshot!(asked("cat priv/a"), @"Reading priv/a needs a confirmation: `unreadableFiles` has `priv/`. (.conclaude.yaml:3)");
    insta::assert_snapshot!(asked("touch new/a"), @"Adding new/a needs a confirmation: `preventAdditions` has `new/`. (.conclaude.yaml:4)");
    let asked = |command: &str| {
        let config = "extends: [pack:secrets, pack:git-safety]\n";
        Test::bash(config, command).file(".env", "A=1\n").run().tool("ask")
    };
    for command in [". ./.env", "git push $F"] {
        let text = asked(command);
        assert!(!text.contains("the user"), "{command}: {text}");
    }
    insta::assert_snapshot!(asked(". ./.env"), @"This file holds secrets. (pack:secrets env, about .env)");
}

#[test]
fn audit_show_lists_denials_before_questions() {
    let config = "preToolUse:\n  uneditableFiles: [{pattern: asked, action: ask}, denied]\n";
    let done = Test::bash(config, "touch asked denied").run().status(2);
    let shown = done.again().shows(&["audit", "show"]);
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
    assert!(at("GUARD_DENIED") < at("GUARD_ASKS"), "{shown}");
}

#[test]
fn what_is_over_a_limit_is_asked_about() {
    let config = "preToolUse: {unreadableFiles: ['*.pem']}\n";
    let test = tool(config, "Bash", json!({}));
    let root = test.root();
    std::fs::create_dir_all(root.join("many")).unwrap();
    for number in 0..10_100 {
        std::fs::write(root.join(format!("many/{number}.pem")), "").unwrap();
        std::fs::write(root.join(format!("many/{number}.txt")), "").unwrap();
    }
    let mut test = test.file("secret.pem", "").file("qN1.txt", "").file(".conclaude.yaml", config);
    let many_names = format!("python3 -c \"{}x='secret.pem';foo(x)\"", "a=0;".repeat(6_000));
    let patterns: String = (0..80).map(|number| format!("glob.glob('qN{number}*');")).collect();
    let many_patterns = format!("python3 -c \"import glob,os;{patterns}os.remove(glob.glob('.conc*')[0])\"");
    for command in ["frob many/*.pem", "frob many/1*.pem", "cat many/*.pem", &many_names, &many_patterns] {
        let done = test.payload("tool_input", json!({ "command": command })).run();
        done.tool("ask");
        test = done.again();
    }
    let done = test.payload("tool_input", json!({"command": "frob many/1*.txt"})).run();
    done.silent();
}

#[test]
fn a_program_that_the_command_puts_on_its_path_is_read_as_a_script() {
    let run = |name: &str, code: &str, call: &str| {
        let command =
            format!("mkdir -p b; printf '{code}' > b/{name}; chmod +x b/{name}; PATH=$PWD/b:$PATH; {call}");
        bash(&command).file(".env", "A=1\n").run()
    };
    run("git", "cat .env\\n", "git status").tool("deny");
    run("git-x", "#!/bin/sh\\ncat .env\\n", "git x").tool("deny");
    run("git", "ls\\n", "git status").silent();
}
