//! Finding and checking the config: by events, by `validate`, by editors.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;

use crate::common::{Test, conclaude, scratch};

mod validate;

const BROKEN: &str =
    "subagentStop:\n  commands:\n    coder:\n      - runn: npm run lint\n        timeout: 9999\n";

#[test]
fn a_broken_config_is_exit_1_with_every_problem_and_no_side_effect() {
    let config = format!("subagentStart: {{commands: {{'*': [{{run: touch ran.txt}}]}}}}\n{BROKEN}");
    let done = Test::start().config(&config).run();
    assert!(!done.has("ran.txt") && !done.has(".conclaude/audit"));
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 3 problems

    error: unknown key `runn` in `coder`
     --> [ROOT]/.conclaude.yaml:5:9
      |
    5 |       - runn: npm run lint
      |         ^^^^ not a key of this section
      |
      = help: did you mean `run`?

    error: missing field `run` in `coder`
     --> [ROOT]/.conclaude.yaml:5:9
      |
    5 |       - runn: npm run lint
      |         ^^^^ `run` is required here

    error: invalid value for `timeout`: the number 9999
     --> [ROOT]/.conclaude.yaml:6:18
      |
    6 |         timeout: 9999
      |                  ^^^^ expected 1 to 3600 seconds, as a number or as `90s` or `5m`
    ");
}

#[test]
fn a_broken_config_is_shown_at_session_start() {
    let done = Test::event("SessionStart").config(BROKEN).run().status(1);
    assert_snapshot!(done.snapshot(), @r#"
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: invalid config [ROOT]/.conclaude.yaml: 3 problems

        error: unknown key `runn` in `coder`
         --> [ROOT]/.conclaude.yaml:4:9
          |
        4 |       - runn: npm run lint
          |         ^^^^ not a key of this section
          |
          = help: did you mean `run`?

        error: missing field `run` in `coder`
         --> [ROOT]/.conclaude.yaml:4:9
          |
        4 |       - runn: npm run lint
          |         ^^^^ `run` is required here

        error: invalid value for `timeout`: the number 9999
         --> [ROOT]/.conclaude.yaml:5:18
          |
        5 |         timeout: 9999
          |                  ^^^^ expected 1 to 3600 seconds, as a number or as `90s` or `5m`"
    }
    ----- stderr: the same
    "#);
    // And not again at every event after it.
    done.again().then("UserPromptSubmit").run().silent();
}

#[test]
fn session_start_checks_the_patterns_of_every_section() {
    let done =
        Test::event("SessionStart").config("subagentStart: {commands: {'[a': [{run: x}]}}").run().status(1);
    assert_snapshot!(done.snapshot(), @r#"
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

        error: invalid pattern `[a`: `[` without a `]` after it
         --> [ROOT]/.conclaude.yaml:1:28
          |
        1 | subagentStart: {commands: {'[a': [{run: x}]}}
          |                            ^^^^ not a valid pattern
          |
          = help: patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character"
    }
    ----- stderr: the same
    "#);
    Test::event("SessionStart").config("subagentStart: {commands: {'a*': [{run: x}]}}").run().silent();
}

#[test]
fn a_broken_pattern_of_the_events_own_section_is_reported() {
    let config = "subagentStop:\n  commands:\n    \"{a,b\":\n      - run: touch ran.txt\n    coder:\n      - run: touch ran.txt\n";
    let done = Test::stop().config(config).run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: invalid pattern `{a,b`: `{` without a `}` after it
     --> [ROOT]/.conclaude.yaml:3:5
      |
    3 |     "{a,b":
      |     ^^^^^^ not a valid pattern
      |
      = help: patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character
    "#);
    assert!(!done.has("ran.txt"));
}

#[test]
fn no_file_and_an_empty_file_are_a_quiet_success() {
    Test::stop().run().silent();
    for empty in ["", "\n", "# nothing\n", "---\n", "{}\n"] {
        Test::stop().config(empty).run().silent();
    }
}

#[test]
fn the_config_is_searched_upward_from_the_project_never_from_the_process() {
    let config = "subagentStop: {commands: {'*': [{run: touch ran.txt}]}}";
    // The process runs in another folder that has a config of its own.
    let elsewhere = scratch();
    std::fs::write(elsewhere.path().join(".conclaude.yaml"), "broken: [").unwrap();
    let test = Test::stop().config(config).file("packages/web/x", "");
    let project = test.root().join("packages/web");
    let test = test.env("CLAUDE_PROJECT_DIR", project.to_str().unwrap()).payload("cwd", "/");
    let mut child = test.command().current_dir(elsewhere.path()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &test.input()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(test.root().join("ran.txt").exists());
    // Without the project folder the payload's cwd is where the search starts.
    let test = Test::stop().config(config).without_env("CLAUDE_PROJECT_DIR").file("deep/x", "");
    let deep = test.root().join("deep");
    assert!(test.payload("cwd", deep.to_str().unwrap()).run().silent().has("ran.txt"));
}

#[test]
fn yml_is_read_where_there_is_no_yaml() {
    let test = Test::stop().file(".conclaude.yml", "subagentStop: {commands: {'*': [{run: touch ran.txt}]}}");
    assert!(test.run().silent().has("ran.txt"));
}

#[cfg(unix)]
#[test]
fn what_is_no_readable_file_is_refused_at_once() {
    let fifo = Test::stop();
    let made =
        std::process::Command::new("mkfifo").arg(fifo.root().join(".conclaude.yaml")).status().unwrap();
    assert!(made.success());
    assert_snapshot!(fifo.run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not a regular file
    ");
    assert_snapshot!(Test::stop().file(".conclaude.yaml/x", "").run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not a regular file
    ");
    let dangling = Test::stop();
    std::os::unix::fs::symlink(".conclaude.yaml", dangling.root().join(".conclaude.yaml")).unwrap();
    assert_snapshot!(dangling.run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: cannot read the config [ROOT]/.conclaude.yaml: Too many levels of symbolic links (os error 40)
    ");
}

#[test]
fn of_thousands_of_problems_the_first_are_reported() {
    let many: String = (0..2_000).map(|n| format!("key{n}: 1\n")).collect();
    let done = Test::stop().config(&many).run();
    assert_eq!(done.code, Some(1));
    let lines: Vec<&str> = done.stderr.lines().collect();
    let ends = [&lines[..8], &["[…]"], &lines[lines.len() - 8..]].concat().join("\n");
    assert_snapshot!(done.steady(&ends), @"
    conclaude: invalid config [ROOT]/.conclaude.yaml: 2000 problems

    error: unknown key `key0` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | key0: 1
      | ^^^^ not a key of this section
      |
    […]
      --> [ROOT]/.conclaude.yaml:20:1
       |
    20 | key19: 1
       | ^^^^^ not a key of this section
       |
       = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `packs`, `report`, `enforce`, `clients`, `budget`, and events in camelCase, such as `subagentStop`

    … and 1980 further problems
    ");
}

#[test]
fn common_mistakes_in_yaml_get_their_own_help() {
    let mistakes = [
        "notifications: {hooks: [*]}\n",
        "notifications:\n  hooks:\n    - *\n",
        "notifications: {hooks: \"*\"}\n",
        "subagentStop: {commands: {a: npm test}}\n",
        "\u{feff}bogus: 1\n",
    ];
    assert_snapshot!(mistakes.map(|yaml| Test::stop().config(yaml).run().snapshot()).join("\n\n"), @r#"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: `*` must be quoted
     --> [ROOT]/.conclaude.yaml:1:25
      |
    1 | notifications: {hooks: [*]}
      |                         ^ while scanning an anchor or alias, did not find expected alphabetic or numeric character
      |
      = help: YAML reads a leading `*` as its own syntax: write "*"

    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: `*` must be quoted
     --> [ROOT]/.conclaude.yaml:3:7
      |
    3 |     - *
      |       ^ while scanning an anchor or alias, did not find expected alphabetic or numeric character
      |
      = help: YAML reads a leading `*` as its own syntax: write "*"

    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: invalid value for `hooks`: the text "*"
     --> [ROOT]/.conclaude.yaml:1:24
      |
    1 | notifications: {hooks: "*"}
      |                        ^^^ expected a list
      |
      = help: write it as a list: ["*"]

    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: invalid value for `a`: the text "npm test"
     --> [ROOT]/.conclaude.yaml:1:30
      |
    1 | subagentStop: {commands: {a: npm test}}
      |                              ^^^^^^^^ expected a list
      |
      = help: write it as a list: `- run: npm test`

    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `bogus` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | bogus: 1
      | ^^^^^ not a key of this section
      |
      = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `packs`, `report`, `enforce`, `clients`, `budget`, and events in camelCase, such as `subagentStop`
    "#);
}

#[test]
fn a_config_that_is_broken_writes_nothing() {
    let done = Test::stop().config("bogus: 1").file(".conclaude/state/last/x", "").run().status(1);
    assert!(!done.has(".conclaude/state/last/SubagentStop"));
}

#[test]
fn the_committed_schema_is_the_one_of_the_structs() {
    let output = conclaude().arg("schema").output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let committed = include_str!("../../conclaude.schema.json");
    assert!(printed == committed, "`conclaude schema` prints something else than the committed file");
}

#[test]
fn the_schema_knows_every_key_with_its_description() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../conclaude.schema.json")).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    let sections = conclaude_core::event::ALL.iter().map(|event| event.row().section);
    let keys: Vec<&str> = ["extends", "maxBlocks"]
        .into_iter()
        .chain(sections)
        .chain([
            "notifications",
            "des",
            "audit",
            "telemetry",
            "packs",
            "report",
            "enforce",
            "clients",
            "budget",
        ])
        .chain(["skillStart"])
        .collect();
    assert_eq!(properties.keys().collect::<Vec<_>>(), keys);
    for (name, definition) in schema["definitions"].as_object().unwrap() {
        for (key, property) in definition["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{name}.{key} has no description");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_config_that_cannot_be_read_is_reported_at_every_event() {
    let utf16: Vec<u8> = "stop: {}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    type Make<'a> = &'a dyn Fn(&Path);
    let files: [(&str, Make<'_>); 5] = [
        ("not UTF-8", &|path| std::fs::write(path, b"# \xff\n").unwrap()),
        ("UTF-16", &|path| std::fs::write(path, [&[0xff, 0xfe], utf16.as_slice()].concat()).unwrap()),
        ("too large", &|path| std::fs::write(path, "# x\n".repeat(300_000)).unwrap()),
        ("a folder", &|path| std::fs::create_dir(path).unwrap()),
        ("a dangling link", &|path| std::os::unix::fs::symlink("nowhere", path).unwrap()),
    ];
    let mut shown = String::new();
    for (what, make) in files {
        for (event, code) in [("Stop", 1), ("PostToolUse", 1), ("UserPromptSubmit", 0)] {
            let test = Test::event(event).without("agent_id").without("agent_type");
            let test =
                test.payload("tool_name", "Read").payload("tool_input", json!({})).payload("prompt", "x");
            make(&test.root().join(".conclaude.yaml"));
            let said = test.run().status(code).system_message();
            shown += &format!("{what} at {event}: {said}\n");
        }
    }
    assert_snapshot!(shown, @"
    not UTF-8 at Stop: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not UTF-8 at byte 2
    not UTF-8 at PostToolUse: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not UTF-8 at byte 2
    not UTF-8 at UserPromptSubmit: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not UTF-8 at byte 2
    UTF-16 at Stop: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not UTF-8 at byte 0
    UTF-16 at PostToolUse: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not UTF-8 at byte 0
    UTF-16 at UserPromptSubmit: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not UTF-8 at byte 0
    too large at Stop: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it has 1200000 bytes, at most 1048576 are read
    too large at PostToolUse: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it has 1200000 bytes, at most 1048576 are read
    too large at UserPromptSubmit: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it has 1200000 bytes, at most 1048576 are read
    a folder at Stop: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not a regular file
    a folder at PostToolUse: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not a regular file
    a folder at UserPromptSubmit: conclaude: cannot read the config [ROOT]/.conclaude.yaml: it is not a regular file
    a dangling link at Stop: conclaude: cannot read the config [ROOT]/.conclaude.yaml: No such file or directory (os error 2)
    a dangling link at PostToolUse: conclaude: cannot read the config [ROOT]/.conclaude.yaml: No such file or directory (os error 2)
    a dangling link at UserPromptSubmit: conclaude: cannot read the config [ROOT]/.conclaude.yaml: No such file or directory (os error 2)
    ");
}

#[test]
fn a_section_of_a_new_event_names_the_key_that_is_unknown() {
    assert_snapshot!(Test::stop().config("fancyNewEvent: {commands: {}, foo: 1}\n").shows(&["validate"]), @"
    exit 1
    ----- stdout
    error: unknown key `foo` in `fancyNewEvent`
     --> [ROOT]/.conclaude.yaml:1:31
      |
    1 | fancyNewEvent: {commands: {}, foo: 1}
      |                               ^^^ not a key of this section
      |
      = help: allowed here: `match`, `commands`

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    ");
}

#[test]
fn a_key_in_the_wrong_section_is_shown_where_it_belongs() {
    let config = "uneditableFiles: [a]\npostToolUse: {unreadableFiles: [a]}\nfancyNewEvent: {preventAdditions: [a]}\n\
                  preToolUse: {infinite: true}\nguards: {toolUsageValidation: []}\nhooks: {PreToolUse: []}\ncommands: []\n";
    assert_snapshot!(Test::stop().config(config).shows(&["validate"]), @"
    exit 1
    ----- stdout
    error: unknown key `uneditableFiles` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | uneditableFiles: [a]
      | ^^^^^^^^^^^^^^^ not a key of this section
      |
      = help: write it in `preToolUse`

    error: unknown key `unreadableFiles` in `postToolUse`
     --> [ROOT]/.conclaude.yaml:2:15
      |
    2 | postToolUse: {unreadableFiles: [a]}
      |               ^^^^^^^^^^^^^^^ not a key of this section
      |
      = help: write it in `preToolUse`

    error: unknown key `preventAdditions` in `fancyNewEvent`
     --> [ROOT]/.conclaude.yaml:3:17
      |
    3 | fancyNewEvent: {preventAdditions: [a]}
      |                 ^^^^^^^^^^^^^^^^ not a key of this section
      |
      = help: write it in `preToolUse`

    error: unknown key `infinite` in `preToolUse`
     --> [ROOT]/.conclaude.yaml:4:14
      |
    4 | preToolUse: {infinite: true}
      |              ^^^^^^^^ not a key of this section
      |
      = help: write it in `stop`

    error: unknown key `toolUsageValidation` in `guards`
     --> [ROOT]/.conclaude.yaml:5:10
      |
    5 | guards: {toolUsageValidation: []}
      |          ^^^^^^^^^^^^^^^^^^^ not a key of this section
      |
      = help: write it in `preToolUse`

    error: unknown key `hooks` in the config
     --> [ROOT]/.conclaude.yaml:6:1
      |
    6 | hooks: {PreToolUse: []}
      | ^^^^^ not a key of this section
      |
      = help: each event is a section: `preToolUse: {commands: {Bash: [{run: …}]}}`; `conclaude init --import` takes over what the settings of Claude Code have

    error: unknown key `commands` in the config
     --> [ROOT]/.conclaude.yaml:7:1
      |
    7 | commands: []
      | ^^^^^^^^ not a key of this section
      |
      = help: write it in the section of an event, such as `subagentStop`

    error: invalid config [ROOT]/.conclaude.yaml: 7 problems
    ");
}

#[test]
fn aliases_that_expand_to_too_much_are_no_matter_of_quotes() {
    let mut yaml = String::from("x-a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
    for (name, before) in [("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("f", "e")] {
        let list = vec![format!("*{before}"); 9].join(", ");
        yaml.push_str(&format!("x-{name}: &{name} [{list}]\n"));
    }
    assert_snapshot!(Test::stop().config(&yaml).shows(&["validate"]), @"
    exit 1
    ----- stdout
    error: the config is too large
     --> [ROOT]/.conclaude.yaml:5:10
      |
    5 | x-e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]
      |          ^^ aliases expand to too many values
      |
      = help: remove what is not needed

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    ");
}
