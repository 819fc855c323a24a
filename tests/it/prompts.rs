//! The section `userPromptSubmit`: a prompt in, what Claude and the user get out.

use serde_json::Value;

use crate::common::{Outcome, Test};

const CONFIG: &str = r#"userPromptSubmit:
  contextRules:
    - {pattern: "deploy(ment)?\\b", prompt: "Before you deploy:\n@docs/deploy.md", caseInsensitive: true}
    - {pattern: "sidebar|navigation", prompt: "The sidebar is in src/nav."}
    - {pattern: "off", prompt: "never", enabled: false}
  slashCommands:
    commands:
      "/deploy*":
        - run: 'echo "$CONCLAUDE_COMMAND_NAME: $CONCLAUDE_COMMAND_ARGS" >> ran'
      "review":
        - run: 'echo checklist of $CONCLAUDE_COMMAND_NAME'
          context: true
"#;

fn prompt(config: &str, text: &str) -> Test {
    let test = Test::event("UserPromptSubmit").without("agent_id").without("agent_type");
    test.config(config).file("docs/deploy.md", "1. run the tests\n2. tag it\n").payload("prompt", text)
}

#[track_caller]
fn context(answer: &Outcome) -> String {
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let json: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
    json["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_prompt_that_matches_gets_its_context_with_the_files() {
    insta::assert_snapshot!(prompt(CONFIG, "Deploy it, and look at the navigation").run().snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": "Before you deploy:
          1. run the tests
          2. tag it
          The sidebar is in src/nav."
      }
    }
    ----- stderr
    conclaude: info: Processing UserPromptSubmit hook: session_id=session-1
    "#);
    prompt(CONFIG, "deployed? it is off").run().silent();
    prompt(CONFIG, "Sidebar").run().silent();
}

#[test]
fn a_file_that_is_missing_or_outside_of_the_project_is_reported() {
    let config = r#"userPromptSubmit:
  contextRules:
    - {pattern: x, prompt: "one @missing.md two @/etc/passwd three @../other"}
"#;
    insta::assert_snapshot!(prompt(config, "x").run().snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": "one @missing.md two @/etc/passwd three @../other"
      },
      "systemMessage": "conclaude: ⚠ userPromptSubmit.contextRules \"x\" in .conclaude.yaml:3: @missing.md is not inserted: No such file or directory (os error 2)
        ⚠ userPromptSubmit.contextRules \"x\" in .conclaude.yaml:3: @/etc/passwd is not inserted: only files of the project are, by a path without `..`
        ⚠ userPromptSubmit.contextRules \"x\" in .conclaude.yaml:3: @../other is not inserted: only files of the project are, by a path without `..`"
    }
    ----- stderr
    conclaude: info: Processing UserPromptSubmit hook: session_id=session-1
    "#);
}

#[test]
fn what_a_background_agent_reports_is_no_prompt() {
    let text = "<task-notification>\n<task-id>a1</task-id>\nthe deployment is done\n</task-notification>";
    prompt(CONFIG, text).run().silent();
}

#[test]
fn a_slash_command_runs_its_commands_once() {
    let answer = prompt(CONFIG, "/deploy-all staging now").run();
    assert_eq!(answer.read("ran"), "deploy-all: staging now\n");
    assert_eq!(context(&prompt(CONFIG, "/review").run()), "checklist of review");
    let answer = prompt(CONFIG, "see /deploy-all").run();
    assert!(!answer.has("ran"));
    let answer = prompt(CONFIG, "/undeploy").run();
    assert!(!answer.has("ran"));
}

#[test]
fn a_slash_command_can_be_blocked() {
    let config =
        "userPromptSubmit: {slashCommands: {commands: {deploy: [{run: 'exit 1', onFailure: block}]}}}";
    insta::assert_snapshot!(prompt(config, "/deploy").run().blocked(), @"
    conclaude blocks this prompt:
    ✗ `exit 1` exited with code 1
    ");
    prompt(config, "/other").run().silent();
}

/// A text with names for what is only long, how much of it is left out, and where all of it is.
fn brief(text: &str) -> String {
    let filters = [("y{9,}", "[yyy]"), (r"… \d+ ", "… [N] "), (r"stdout-\w+", "stdout-[NAME]")];
    filters.iter().fold(text.to_owned(), |text, (pattern, name)| {
        regex_lite::Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned()
    })
}

#[test]
fn context_of_rules_and_commands_fits_into_one_answer() {
    let config = r#"userPromptSubmit:
  contextRules: [{pattern: x, prompt: "@long.md"}, {pattern: x, prompt: short}]
  commands: [{run: "cat long.md", context: true}]
"#;
    let answer = prompt(config, "x").file("long.md", "y".repeat(20_000)).run();
    let given = context(&answer);
    assert!(given.len() < 10_000, "{}", given.len());
    insta::assert_snapshot!(brief(&answer.steady(&given)), @"
    [yyy]
    … [N] characters left out …
    [yyy]
    short
    [yyy]
    … [N] bytes left out; all of it is in [ROOT]/.conclaude/state/[HASH]/output/stdout-[NAME].txt …
    [yyy]
    ");
}

#[test]
fn an_expression_that_is_none_is_an_error_of_the_config_with_its_line() {
    let config = "userPromptSubmit:\n  contextRules:\n    - {pattern: \"(a\", prompt: x}\n    - {pattern: b, promt: x}\n";
    let validated = Test::stop().config(config).shows(&["validate"]);
    insta::assert_snapshot!(validated, @r#"
    exit 1
    ----- stdout
    error: invalid value for `pattern`: the text "(a"
     --> [ROOT]/.conclaude.yaml:3:17
      |
    3 |     - {pattern: "(a", prompt: x}
      |                 ^^^^ expected a regular expression
      |
      = help: found open group without closing ')'

    error: missing field `prompt` in `contextRules`
     --> [ROOT]/.conclaude.yaml:4:8
      |
    4 |     - {pattern: b, promt: x}
      |        ^^^^^^^ `prompt` is required here

    error: unknown key `promt` in `contextRules`
     --> [ROOT]/.conclaude.yaml:4:20
      |
    4 |     - {pattern: b, promt: x}
      |                    ^^^^^ not a key of this section
      |
      = help: did you mean `prompt`?

    error: invalid config [ROOT]/.conclaude.yaml: 3 problems
    "#);
    let answer = prompt(config, "a").run();
    assert_eq!(answer.code, Some(0));
    let message = answer.system_message();
    let (title, problems) = message.split_once("\n\n").unwrap();
    assert_eq!(title, "conclaude: invalid config [ROOT]/.conclaude.yaml: 3 problems");
    let (_, listed) = validated.split_once("----- stdout\n").unwrap();
    assert_eq!(listed.rsplit_once("\n\n").unwrap().0, problems);
}

#[test]
fn an_untrusted_project_adds_nothing_to_prompts() {
    let answer = prompt(CONFIG, "/review the deployment").flag("--if-trusted").run();
    assert_eq!(context(&answer), "");
    insta::assert_snapshot!(answer.system_message(), @r#"conclaude: ⚠ `echo checklist of $CONCLAUDE_COMMAND_NAME` did not run, the context for "deploy(ment)?\b" was not given: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project"#);
    let start = answer.again().then("SessionStart").run();
    insta::assert_snapshot!(start.system_message(), @"conclaude: [ROOT]/.conclaude.yaml is not trusted. These parts are off: 2 commands and context for prompts. Look at the file, then run `conclaude trust` in the project");
    insta::assert_snapshot!(start.again().shows(&["trust", "--yes"]), @r#"
    exit 0
    ----- stdout
    [ROOT]/.conclaude.yaml runs:
      the slash command of "/deploy*":
        echo "$CONCLAUDE_COMMAND_NAME: $CONCLAUDE_COMMAND_ARGS" >> ran
      the slash command of "review":
        echo checklist of $CONCLAUDE_COMMAND_NAME
      context for prompts with "deploy(ment)?\b":
        Before you deploy:
        @docs/deploy.md
      context for prompts with "sidebar|navigation":
        The sidebar is in src/nav.
    trusted, until the file changes; scripts that it calls are not watched
    "#);
}

#[test]
fn rules_for_prompts_are_registered() {
    for config in [
        "des: {enabled: false}\nuserPromptSubmit: {contextRules: [{pattern: x, prompt: y}]}\n",
        "des: {enabled: false}\nuserPromptSubmit: {slashCommands: {commands: {x: [{run: y}]}}}\n",
    ] {
        let test = Test::stop().config(config);
        test.shows(&["install"]);
        let settings = std::fs::read_to_string(test.root().join(".claude/settings.json")).unwrap();
        assert!(settings.contains("\"UserPromptSubmit\""), "{config}");
    }
}

#[test]
fn what_is_pending_for_claude_comes_with_the_context() {
    let config = "subagentStop: {commands: [{run: exit 3}]}\nuserPromptSubmit: {commands: [{run: cat long, context: true}]}\n";
    let answer = Test::stop().config(config).file("long", "y".repeat(20_000)).run();
    let notification = "<task-notification>\n<task-id>a1b2c3</task-id>\n</task-notification>";
    let answer = answer.again().then("UserPromptSubmit").payload("prompt", notification).run();
    let given = context(&answer);
    assert!(given.len() < 10_000, "{}", given.len());
    insta::assert_snapshot!(brief(&answer.steady(&given)), @"
    [yyy]
    … [N] bytes left out; all of it is in [ROOT]/.conclaude/state/[HASH]/output/stdout-[NAME].txt …
    [yyy]
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `exit 3` exited with code 3
    ");
}

#[test]
fn a_file_that_may_not_be_read_is_not_inserted() {
    let config = "userPromptSubmit: {contextRules: [{pattern: deploy, prompt: 'See @conf/.env.'}]}\n";
    let guarded = format!("{config}preToolUse: {{unreadableFiles: [.env]}}\n");
    let answer = prompt(&guarded, "deploy it").file("conf/.env", "SECRET=1\n").run();
    assert!(!answer.stdout.contains("SECRET"), "{}", answer.stdout);
    let said =
        r#"@conf/.env is not inserted: preToolUse.unreadableFiles \".env\" in .conclaude.yaml:2 protects it"#;
    assert!(answer.stdout.contains(said), "{}", answer.stdout);
    let link =
        prompt(&guarded.replace("conf/.env", "conf/link"), "deploy it").file("conf/.env", "SECRET=1\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(".env", link.root().join("conf/link")).unwrap();
    assert!(!link.run().stdout.contains("SECRET"));
    let answer = prompt(config, "deploy it").file("conf/.env", "SECRET=1\n").run();
    assert!(answer.stdout.contains("SECRET"), "{}", answer.stdout);
}
