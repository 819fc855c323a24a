//! `conclaude test`: cases beside the config, and what is printed of them.

mod broken_files;

use insta::assert_snapshot;

use crate::common::{Test, run_in};

const CONFIG: &str = r#"preToolUse:
  uneditableFiles: [".env*"]
subagentStop:
  commands:
    coder:
      - {run: npm run lint, message: Linting failed, onFailure: block}
      - {run: npm test, timeout: 60}
userPromptSubmit:
  contextRules: [{pattern: deploy, prompt: "@docs/deploy.md"}]
permissionRequest:
  allow: ["Bash(git status*)"]
  deny: ["Bash(rm *)"]
stop:
  commands: [{run: npx eslint, files: ["*.ts"]}]
"#;

const FILE: &str = ".conclaude.test.yaml";

fn project(cases: &str) -> Test {
    Test::stop().config(CONFIG).file("docs/deploy.md", "tag it\n").file(FILE, cases)
}

#[test]
fn cases_that_hold_pass() {
    let test = project(
        r#"cases:
  - name: env files are protected
    event: PreToolUse
    tool: Write
    input: {file_path: .env}
    expect: {denies: "uneditable"}
  - name: the coder is linted
    event: SubagentStop
    agent: coder
    results: {"npm run lint": 1}
    expect: {runs: ["npm run lint", "npm test"], blocks: "Linting failed"}
  - name: the tester is not
    event: subagentStop
    agent: tester
    expect: {runs: [], allows: true}
  - name: slow tests block once
    event: SubagentStop
    agent: coder
    results: {"npm test": timeout}
    expect: {blocks: "timed out after 60 s"}
  - name: docs are free
    event: PreToolUse
    tool: Bash
    input: {command: "echo x >> docs/a.md"}
    expect: {allows: true, denies: false}
  - name: a path in a variable is asked about
    event: PreToolUse
    input: {command: "echo x > $file"}
    expect: {asks: true}
  - name: deploying needs the list
    event: UserPromptSubmit
    payload: {prompt: please deploy it}
    expect: {context: "tag it"}
  - name: and nothing else does
    event: UserPromptSubmit
    expect: {context: false, shows: false}
  - name: status is allowed
    event: PermissionRequest
    input: {command: git status -s}
    expect: {allows: true}
  - name: rm is not
    event: PermissionRequest
    input: {command: git status; rm x}
    expect: {denies: "Bash(rm *)"}
  - name: what no rule knows is left to the user
    event: PermissionRequest
    input: {command: make}
    expect: {asks: true, allows: false}
  - name: changed files are linted
    event: Stop
    changed: [src/a.ts]
    results: {npx eslint: 2}
    expect: {runs: [npx eslint], blocks: true}
"#,
    );
    assert_snapshot!(test.shows(&["test"]), @"
    exit 0
    ----- stdout
    .conclaude.test.yaml
      ✓ env files are protected
      ✓ the coder is linted
      ✓ the tester is not
      ✓ slow tests block once
      ✓ docs are free
      ✓ a path in a variable is asked about
      ✓ deploying needs the list
      ✓ and nothing else does
      ✓ status is allowed
      ✓ rm is not
      ✓ what no rule knows is left to the user
      ✓ changed files are linted
    12 cases passed
    ");
    assert!(!test.root().join(".conclaude").exists(), "nothing is written");
}

#[test]
fn what_differs_is_shown_as_a_diff() {
    let test = project(
        r#"cases:
  - name: this one holds
    event: Stop
    expect: {allows: true}
  - name: env files are free
    event: PreToolUse
    tool: Write
    input: {file_path: .env}
    expect: {allows: true, runs: []}
  - name: docs are protected
    event: PreToolUse
    tool: Write
    input: {file_path: docs/a.md}
    expect: {denies: "docs"}
  - name: other words
    event: PreToolUse
    tool: Edit
    input: {file_path: .env.local}
    expect: {denies: "ask Anna"}
  - name: another order
    event: SubagentStop
    agent: coder
    results: {"npm run lnt": 1}
    expect: {runs: ["npm run build", "npm run lint"], shows: "x", context: true}
"#,
    );
    assert_snapshot!(test.shows(&["test"]), @"
    exit 1
    ----- stdout
    .conclaude.test.yaml
      ✓ this one holds
      ✗ env files are free (line 5)
          - allows: true
          + denies: Writing .env is not allowed: `uneditableFiles` has `.env*`. Do it another way, or ask the user. (.conclaude.yaml:2)
      ✗ docs are protected (line 10)
          - denies: docs
          + allows: true
      ✗ other words (line 15)
          - denies: ask Anna
          + denies: Writing .env.local is not allowed: `uneditableFiles` has `.env*`. Do it another way, or ask the user. (.conclaude.yaml:2)
      ✗ another order (line 20)
            runs:
          -   npm run build
              npm run lint
          +   npm test
          - context: true
          + context: nothing
          - shows: x
          + shows: nothing
          - results: `npm run lnt` is not a command that runs here
    4 of 5 cases failed
    ");
}

#[test]
fn tags_are_compared_and_shown_as_they_are_written() {
    let case = |expect: &str| {
        format!(
            "  - {{name: a, event: PreToolUse, tool: Write, input: {{file_path: x.lock}}, expect: {{denies: '{expect}'}}}}\n"
        )
    };
    let test = Test::stop()
        .config("preToolUse: {uneditableFiles: [{pattern: '*.lock', message: 'use <b>npm</b>'}]}")
        .file(".conclaude.test.yaml", format!("cases:\n{}{}", case("use <b>npm</b>"), case("use <i>")));
    assert_snapshot!(test.shows(&["test"]), @"
    exit 1
    ----- stdout
    .conclaude.test.yaml
      ✓ a
      ✗ a (line 3)
          - denies: use <i>
          + denies: use <b>npm</b> (.conclaude.yaml:1)
    1 of 2 cases failed
    ");
}

#[test]
fn results_are_written_as_junit() {
    let test = project(
        "cases:\n  - {name: \"good <&>\", event: Stop, expect: {allows: true}}\n  - {name: bad, event: Stop, expect: {blocks: true}}\n",
    );
    test.shows(&["test", "--junit", "results.xml"]);
    let xml = std::fs::read_to_string(test.root().join("results.xml")).unwrap();
    let time = regex_lite::Regex::new(r#"time="\d+\.\d{3}""#).unwrap();
    assert_snapshot!(time.replace_all(&xml, "time=[SECONDS]"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
      <testsuite name=".conclaude.test.yaml" tests="2" failures="1" time=[SECONDS]>
        <testcase classname=".conclaude.test.yaml" name="good &lt;&amp;&gt;" file=".conclaude.test.yaml" line="2" time=[SECONDS]/>
        <testcase classname=".conclaude.test.yaml" name="bad" file=".conclaude.test.yaml" line="3" time=[SECONDS]>
          <failure message="expected blocks: true, but allows: true">- blocks: true&#10;+ allows: true&#10;  `npx eslint` did not run: `files: [*.ts]` covers no changed file (none): give `changed: […]`</failure>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn your_own_config_does_not_change_a_test_of_the_project() {
    let cases = "cases: [{name: a, event: Stop, expect: {runs: [], allows: true}}]\n";
    let test = project(cases)
        .config("{}\n")
        .file(".home/.config/conclaude/config.yaml", "stop: {commands: [{run: mine}]}\n")
        .file(".conclaude.local.yaml", "stop: {commands: [{run: mine too}]}\n");
    let (code, stdout, _) = run_in(&test.root(), &["test"]);
    assert_eq!(code, Some(0), "{stdout}");
}

#[test]
fn several_files_are_tested_each_with_the_config_beside_it() {
    let cases = "cases: [{name: a, event: Stop, expect: {runs: [npm test]}}]\n";
    let test = Test::stop()
        .file("one/.conclaude.yaml", "stop: {commands: [{run: npm test}]}\n")
        .file("one/cases.yaml", cases)
        .file("two/.conclaude.yaml", "{}\n")
        .file("two/cases.yaml", cases);
    assert_snapshot!(test.shows(&["test", "one/cases.yaml", "two/cases.yaml"]), @"
    exit 1
    ----- stdout
    one/cases.yaml
      ✓ a
    two/cases.yaml
      ✗ a (line 1)
            runs:
          -   npm test
    1 of 2 cases failed
    ");
}

#[test]
fn the_first_cases_that_init_writes_pass() {
    let test = Test::stop();
    test.shows(&["init"]);
    assert_snapshot!(test.shows(&["test"]), @"
    exit 0
    ----- stdout
    .conclaude.test.yaml
      ✓ subagents do not change the rules
    1 case passed
    ");
    assert!(test.root().join(".conclaude/test.schema.json").is_file(), "for editors");
    let own = "cases: []\n";
    let test = test.file(FILE, own);
    test.shows(&["init", "--force"]);
    assert_eq!(std::fs::read_to_string(test.root().join(FILE)).unwrap(), own, "cases of the user stay");
}

#[test]
fn cases_may_share_what_they_have_in_common() {
    let test = project(
        "x-write: &write {event: PreToolUse, tool: Write}\ncases:\n  - <<: *write\n    name: env\n    input: {file_path: .env}\n    expect: {denies: true}\n",
    );
    let (code, stdout, stderr) = run_in(&test.root(), &["test"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
}

#[test]
fn what_commands_print_can_be_given_and_expected() {
    let config = "sessionStart: {commands: [{run: ./notes, context: true}]}\nstop: {commands: [{run: npm test}, {run: ./slow, timeout: 5}]}\n";
    let cases = r#"cases:
  - name: notes
    event: SessionStart
    results: {./notes: {stdout: "the API is frozen\n"}}
    expect: {context: the API is frozen, allows: true}
  - name: notes that fail are none
    event: SessionStart
    results: {./notes: {exit: 1, stdout: the API is frozen, stderr: no network}}
    expect: {context: false, shows: no network}
  - name: what failed is shown
    event: Stop
    results: {npm test: {exit: 1, stdout: "3 of 7 failed", stderr: null}, ./slow: {exit: timeout}}
    expect: {blocks: 3 of 7 failed}
  - name: something else
    event: SessionStart
    results: {./notes: {exit: 0, stdout: fine}}
    expect: {context: frozen}
"#;
    let test = project(cases).config(config);
    assert_snapshot!(test.shows(&["test"]), @"
    exit 1
    ----- stdout
    .conclaude.test.yaml
      ✓ notes
      ✓ notes that fail are none
      ✓ what failed is shown
      ✗ something else (line 14)
          - context: frozen
          + context: fine
    1 of 4 cases failed
    ");
    let test = project(
        "cases: [{name: a, event: Stop, results: {x: {exit: 300, out: x}, y: {stdout: 1}, z: []}, expect: {allows: true}}]\n",
    );
    assert_snapshot!(test.shows(&["test"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `exit`: the number 300
     --> .conclaude.test.yaml:1:52
      |
    1 | cases: [{name: a, event: Stop, results: {x: {exit: 300, out: x}, y: {stdout: 1}, z: []}, expect: {allows: true}}]
      |                                                    ^^^ expected a whole number from 0 to 255 or `timeout`

    error: unknown key `out` in `x`
     --> .conclaude.test.yaml:1:57
      |
    1 | cases: [{name: a, event: Stop, results: {x: {exit: 300, out: x}, y: {stdout: 1}, z: []}, expect: {allows: true}}]
      |                                                         ^^^ not a key of this section
      |
      = help: allowed here: `exit`, `stdout`, `stderr`

    error: invalid value for `stdout`: the number 1
     --> .conclaude.test.yaml:1:78
      |
    1 | cases: [{name: a, event: Stop, results: {x: {exit: 300, out: x}, y: {stdout: 1}, z: []}, expect: {allows: true}}]
      |                                                                              ^ expected text
      |
      = help: quote it to make it text: "1"

    error: invalid value for `z`: a list
     --> .conclaude.test.yaml:1:85
      |
    1 | cases: [{name: a, event: Stop, results: {x: {exit: 300, out: x}, y: {stdout: 1}, z: []}, expect: {allows: true}}]
      |                                                                                     ^^ expected a whole number from 0 to 255 or `timeout` or a mapping of keys to values

    error: .conclaude.test.yaml is not a file of cases: 4 problems
    "#);
}

#[test]
fn a_case_without_changed_files_says_the_same_in_a_clean_and_a_dirty_tree() {
    let test = project(
        r#"cases:
  - name: nothing is linted
    event: Stop
    expect: {runs: []}
  - name: it is linted
    event: Stop
    results: {npx eslint: 1}
    expect: {runs: [npx eslint], blocks: true}
"#,
    );
    let git = |arguments: &[&str]| {
        let done = test.program("git").args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"]);
    let clean = test.shows(&["test"]);
    std::fs::write(test.root().join("a.ts"), "x").unwrap();
    assert_eq!(test.shows(&["test"]), clean);
    assert_snapshot!(clean, @"
    exit 1
    ----- stdout
    .conclaude.test.yaml
      ✓ nothing is linted
      ✗ it is linted (line 5)
          - blocks: true
          + allows: true
            runs:
          -   npx eslint
          - results: `npx eslint` is not a command that runs here
            `npx eslint` did not run: `files: [*.ts]` covers no changed file (none): give `changed: […]`
    1 of 2 cases failed
    ");
}

#[test]
fn the_file_of_a_tool_counts_as_changed_without_being_named() {
    let config = "postToolUse: {commands: {Write: [{run: npx eslint, files: ['*.ts']}]}}";
    let cases = r#"cases:
  - name: a script is linted
    event: PostToolUse
    tool: Write
    input: {file_path: src/a.ts}
    expect: {runs: [npx eslint]}
  - name: a text is not
    event: PostToolUse
    tool: Write
    input: {file_path: a.md}
    expect: {runs: []}
"#;
    let test = Test::stop().config(config).file(FILE, cases);
    assert_snapshot!(test.shows(&["test"]), @"
    exit 0
    ----- stdout
    .conclaude.test.yaml
      ✓ a script is linted
      ✓ a text is not
    2 cases passed
    ");
}
