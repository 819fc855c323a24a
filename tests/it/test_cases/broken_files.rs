//! Files of cases and configs that cannot be used.

use super::*;

#[test]
fn a_file_without_cases_or_a_case_without_an_expectation_is_an_error() {
    let empty = "cases:\n  - {name: a, event: Stop, expect: {shows: null}}\n";
    assert_snapshot!(project(empty).shows(&["test"]), @"
    exit 1
    ----- stdout
    error: `expect` is empty
     --> .conclaude.test.yaml:2:36
      |
    2 |   - {name: a, event: Stop, expect: {shows: null}}
      |                                    ^^^^^^^^^^^^^ expected at least one key
      |
      = help: allowed here: `allows`, `denies`, `asks`, `blocks`, `runs`, `context`, `shows`

    error: .conclaude.test.yaml is not a file of cases: 1 problem
    ");
    assert_snapshot!(project("cases: []\n").shows(&["test"]), @"
    exit 1
    ----- stdout
    error: `cases` is an empty list
     --> .conclaude.test.yaml:1:8
      |
    1 | cases: []
      |        ^^ expected at least one entry
      |
      = help: list at least one, or remove the key for the default

    error: .conclaude.test.yaml is not a file of cases: 1 problem
    ");
}

#[test]
fn a_file_that_is_none_is_reported_with_every_line() {
    let test = project(
        "cases:\n  - {name: a, event: PreTolUse, expect: {denied: true}}\n  - {name: b, event: Stop, expect: {}}\n  - {event: Stop, results: {x: 256}, expect: {runs: x, blocks: 5}}\n  - {name: c, event: Stop, input: [], payload: {any: [1]}, expects: {}}\n",
    );
    assert_snapshot!(test.shows(&["test"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `event`: the text "PreTolUse"
     --> .conclaude.test.yaml:2:22
      |
    2 |   - {name: a, event: PreTolUse, expect: {denied: true}}
      |                      ^^^^^^^^^ expected one of 66 known names
      |
      = help: did you mean `PreToolUse`?

    error: unknown key `denied` in `expect`
     --> .conclaude.test.yaml:2:42
      |
    2 |   - {name: a, event: PreTolUse, expect: {denied: true}}
      |                                          ^^^^^^ not a key of this section
      |
      = help: did you mean `denies`?

    error: `expect` is empty
     --> .conclaude.test.yaml:3:36
      |
    3 |   - {name: b, event: Stop, expect: {}}
      |                                    ^^ expected at least one key
      |
      = help: allowed here: `allows`, `denies`, `asks`, `blocks`, `runs`, `context`, `shows`

    error: missing field `name` in `cases`
     --> .conclaude.test.yaml:4:6
      |
    4 |   - {event: Stop, results: {x: 256}, expect: {runs: x, blocks: 5}}
      |      ^^^^^ `name` is required here

    error: invalid value for `x`: the number 256
     --> .conclaude.test.yaml:4:32
      |
    4 |   - {event: Stop, results: {x: 256}, expect: {runs: x, blocks: 5}}
      |                                ^^^ expected a whole number from 0 to 255 or `timeout` or a mapping of keys to values

    error: invalid value for `runs`: the text "x"
     --> .conclaude.test.yaml:4:53
      |
    4 |   - {event: Stop, results: {x: 256}, expect: {runs: x, blocks: 5}}
      |                                                     ^ expected a list
      |
      = help: write it as a list: ["x"]

    error: invalid value for `blocks`: the number 5
     --> .conclaude.test.yaml:4:64
      |
    4 |   - {event: Stop, results: {x: 256}, expect: {runs: x, blocks: 5}}
      |                                                                ^ expected `true` or `false` or text that is not blank

    error: missing field `expect` in `cases`
     --> .conclaude.test.yaml:5:6
      |
    5 |   - {name: c, event: Stop, input: [], payload: {any: [1]}, expects: {}}
      |      ^^^^ `expect` is required here

    error: invalid value for `input`: a list
     --> .conclaude.test.yaml:5:35
      |
    5 |   - {name: c, event: Stop, input: [], payload: {any: [1]}, expects: {}}
      |                                   ^^ expected a mapping of keys to values
      |
      = help: remove the `-` before the keys

    error: unknown key `expects` in `cases`
     --> .conclaude.test.yaml:5:60
      |
    5 |   - {name: c, event: Stop, input: [], payload: {any: [1]}, expects: {}}
      |                                                            ^^^^^^^ not a key of this section
      |
      = help: did you mean `expect`?

    error: `expects` is empty
     --> .conclaude.test.yaml:5:69
      |
    5 |   - {name: c, event: Stop, input: [], payload: {any: [1]}, expects: {}}
      |                                                                     ^^ expected at least one key
      |
      = help: allowed here: `allows`, `denies`, `asks`, `blocks`, `runs`, `context`, `shows`

    error: .conclaude.test.yaml is not a file of cases: 11 problems
    "#);
    assert_snapshot!(project("- a").shows(&["test"]), @"
    exit 1
    ----- stdout
    error: invalid value for the file: a list
     --> .conclaude.test.yaml:1:1
      |
    1 | - a
      | ^^^ expected a mapping with `cases`
      |
      = help: remove the `-` before the keys

    error: .conclaude.test.yaml is not a file of cases: 1 problem
    ");
    assert_snapshot!(Test::stop().config(CONFIG).shows(&["test"]), @"
    exit 1
    ----- stderr
    conclaude: there is no .conclaude.test.yaml in [ROOT]: `conclaude init` writes a first one, `conclaude test --help` shows a case
    ");
}

#[test]
fn a_broken_config_fails_every_case() {
    let test =
        project("cases: [{name: a, event: Stop, expect: {allows: true}}]\n").config("stop: {comands: []}\n");
    assert_snapshot!(test.shows(&["test"]), @"
    exit 1
    ----- stdout
    error: unknown key `comands` in `stop`
     --> [ROOT]/.conclaude.yaml:1:8
      |
    1 | stop: {comands: []}
      |        ^^^^^^^ not a key of this section
      |
      = help: did you mean `commands`?

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    ");
}

#[test]
fn a_broken_file_is_an_error_in_the_junit_file_too() {
    let test = project("cases:\n  - {name: a, event: Stop, expct: {}}\n");
    test.shows(&["test", "--junit", "results.xml"]);
    let xml = std::fs::read_to_string(test.root().join("results.xml")).unwrap();
    assert_snapshot!(xml, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
      <testsuite name=".conclaude.test.yaml" tests="1" failures="0" errors="1">
        <testcase classname=".conclaude.test.yaml" name=".conclaude.test.yaml" file=".conclaude.test.yaml">
          <error message="it cannot be used">error: missing field `expect` in `cases`&#10; --&gt; .conclaude.test.yaml:2:6&#10;  |&#10;2 |   - {name: a, event: Stop, expct: {}}&#10;  |      ^^^^ `expect` is required here&#10;&#10;error: unknown key `expct` in `cases`&#10; --&gt; .conclaude.test.yaml:2:28&#10;  |&#10;2 |   - {name: a, event: Stop, expct: {}}&#10;  |                            ^^^^^ not a key of this section&#10;  |&#10;  = help: did you mean `expect`?&#10;&#10;error: `expct` is empty&#10; --&gt; .conclaude.test.yaml:2:35&#10;  |&#10;2 |   - {name: a, event: Stop, expct: {}}&#10;  |                                   ^^ expected at least one key&#10;  |&#10;  = help: allowed here: `allows`, `denies`, `asks`, `blocks`, `runs`, `context`, `shows`</error>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn what_cannot_happen_at_an_event_is_an_error_and_a_long_expectation_is_marked_on_every_line() {
    let test = project(
        "cases:\n  - {name: a, event: Stop, expect: {denies: true}}\n  - {name: b, event: PreToolUse, tool: Read, input: {file_path: a}, expect: {blocks: x}}\n  - {name: c, event: SessionEnd, expect: {blocks: false, denies: false}}\n  - name: d\n    event: PreToolUse\n    tool: Read\n    input: {file_path: a}\n    expect: {denies: \"one\\ntwo\"}\n",
    );
    assert_snapshot!(test.shows(&["test"]), @"
    exit 1
    ----- stdout
    .conclaude.test.yaml
      ✗ a (line 2)
          `denies` cannot happen at Stop: write `blocks` or `allows`
      ✗ b (line 3)
          `blocks` cannot happen at PreToolUse: write `denies`, `asks` or `allows`
      ✓ c
      ✗ d (line 5)
          - denies: one
          -         two
          + allows: true
    3 of 4 cases failed
    ");
}
