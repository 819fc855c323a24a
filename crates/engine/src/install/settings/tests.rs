use serde_json::json;

use super::edit::pretty;
use super::read::is_ours;
use super::*;
use conclaude_core::event::EventKind;

fn wanted() -> Vec<Registration> {
    let registration = |event, matcher: Option<&str>| Registration {
        event,
        name: event.name().to_owned(),
        matcher: matcher.map(str::to_owned),
        command: format!("conclaude {}", event.name()),
        timeout: 60,
        status: None,
        flaw: None,
    };
    vec![registration(EventKind::SubagentStop, None), registration(EventKind::PostToolUse, Some("Agent"))]
}

fn ours(text: &str) -> usize {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}")).registered.len()
}

/// The registrations of an event.
fn registered(text: &str, event: EventKind) -> Vec<Registration> {
    read(text).unwrap().registered.into_iter().filter(|one| one.event == event).collect()
}

const FILES: [&str; 17] = [
    "{}\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\"model\": \"opus\", \"permissions\": {\"allow\": []}}",
    "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"other  Stop\" } ] }\n\t\t]\n\t},\n\t\"z\": 1.50,\n\t\"a\": \"\\u00fc\"\n}",
    "{\r\n  \"hooks\": {\r\n    \"SubagentStop\": [\r\n      {\"matcher\": \"coder\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\r\n    ]\r\n  }\r\n}\r\n",
    "{ \"hooks\": { \"SubagentStop\": [ {\"hooks\": [{\"type\":\"command\",\"command\":\"x\"}]} ], \"PostToolUse\": [ {\"hooks\": []} ] } }",
    "\n  {\n    \"enabledPlugins\": {},\n    \"statusLine\": {\"hooks\": \"not these\"}\n  }\n\n",
    "{\n    \"a\": 12345678901234567890123,\n    \"hooks\": {\n        \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"guard\"}]}]\n    }\n}\n",
    "\u{feff}{\n  \"model\": \"opus\"\n}",
    "// mine\n{\n  \"model\": \"opus\" // the best\n  // the end\n}\n// after",
    "{\n  // hooks that I had:\n  /* none */\n}\n",
    "{\n  \"hooks\": /* mine */ {\"SubagentStop\": /* as well */ []}}",
    "{\"a\": 1 /* one */}",
    "{\"a\": 1 // one\r\n}\r\n",
    "{\n  \"a\": 1, // one\n  \"b\": [1, 2,], /* two */ // b\n}\n",
    "{\n  \"hooks\": {\n    // mine\n    \"Stop\": [\n      // also mine\n    ], // last\n  },\n}\n",
    "{\n  \"hooks\": {\n    \"SubagentStop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}, // theirs\n    ],\n    \"PostToolUse\": [\n      // none yet\n    ]\n  }\n}\n",
];

#[test]
fn installing_adds_ours_twice_changes_nothing_and_uninstalling_restores_the_file() {
    for file in FILES {
        let installed = install(file, &wanted()).unwrap();
        assert_eq!(ours(&installed), 2, "{installed}");
        assert_eq!(install(&installed, &wanted()).unwrap(), installed, "installing twice");
        assert_eq!(uninstall(&installed).unwrap(), file, "uninstalling");
    }
}

#[test]
fn what_is_not_ours_stays_byte_for_byte() {
    for file in FILES {
        let installed = install(file, &wanted()).unwrap();
        // Without the added parts, the text is the original file.
        let (mut rest, mut at) = (String::new(), 0);
        for byte in installed.bytes() {
            if file.as_bytes().get(at) == Some(&byte) {
                at += 1;
            } else {
                rest.push(char::from(byte));
            }
        }
        assert_eq!(at, file.len(), "{file:?} is not whole in {installed:?}");
        assert!(installed.len() == file.len() + rest.len());
        // And whole values are where they were, not only their characters.
        for value in [
            "\"model\": \"opus\"",
            "\"z\": 1.50",
            "\"\\u00fc\"",
            "12345678901234567890123",
            "\"command\": \"other  Stop\"",
        ] {
            assert_eq!(file.matches(value).count(), installed.matches(value).count(), "{value}");
        }
    }
}

#[test]
fn a_file_keeps_its_line_endings_when_an_entry_is_replaced() {
    let first = install(FILES[4], &wanted()).unwrap();
    let mut later = wanted();
    later[0].timeout = 3600;
    let second = install(&first, &later).unwrap();
    assert_eq!(second.matches('\n').count(), second.matches("\r\n").count(), "{second:?}");
    assert_eq!(uninstall(&second).unwrap(), FILES[4]);
}

#[test]
fn a_second_entry_of_ours_goes() {
    let first = install(FILES[3], &wanted()).unwrap();
    let old: Vec<Registration> = wanted()
        .into_iter()
        .map(|one| Registration { command: one.command.replace("conclaude", "/old/conclaude"), ..one })
        .collect();
    // Written by hand, since we would not do it.
    let group = pretty(&old[0].value(), "\t");
    let doubled = first.replacen("\"SubagentStop\": [", &format!("\"SubagentStop\": [{group},"), 1);
    assert_eq!(registered(&doubled, EventKind::SubagentStop).len(), 2);
    let fixed = install(&doubled, &wanted()).unwrap();
    assert_eq!(registered(&fixed, EventKind::SubagentStop), wanted()[..1]);
}

#[test]
fn keys_are_found_however_they_are_written() {
    for key in ["\"\\u00fcber\"", "\"x\\/y\"", "\"a\\\"b\\\\\"", "\"hooks \"", "\"\""] {
        let file = format!("{{\n  \"hooks\": {{}},\n  {key} : 1\n}}\n");
        let installed = install(&file, &wanted()).unwrap();
        let gone = uninstall(&installed).unwrap();
        assert!(gone.contains(key) && !gone.contains("conclaude"), "{gone}");
    }
}

#[test]
fn an_entry_without_a_timeout_has_that_of_claude_code() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "conclaude Stop"}]}],
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "conclaude UserPromptSubmit"}]}]}}"#;
    let found = read(text).unwrap().registered;
    assert_eq!(found.iter().map(|one| one.timeout).collect::<Vec<_>>(), [600, 30]);
}

#[test]
fn entries_that_cannot_work_are_known_and_fixed_by_installing() {
    for (key, why) in [
        (r#""type": "command", "async": true"#, "ignore its answer"),
        (r#""type": "command", "if": "Bash""#, "ever calling"),
        (r#""type": "command", "args": []"#, "without a shell"),
        (r#""type": "prompt""#, "does not run it"),
    ] {
        let text = format!(
            r#"{{"hooks": {{"SubagentStop": [{{"hooks": [{{{key}, "command": "conclaude SubagentStop", "timeout": 60}}]}}]}}}}"#
        );
        let found = registered(&text, EventKind::SubagentStop);
        assert!(found[0].flaw.unwrap().contains(why), "{found:?}");
        let fixed = install(&text, &wanted()).unwrap();
        assert_eq!(registered(&fixed, EventKind::SubagentStop), wanted()[..1]);
    }
}

#[test]
fn lines_that_call_us_among_other_things_are_seen_and_left() {
    let commands = [
        "command -v conclaude >/dev/null && conclaude Stop",
        "exec conclaude Stop",
        "conclaude Stop || true",
        "CONCLAUDE_LOG=debug conclaude Stop",
        "log; /usr/bin/conclaude Stop",
    ];
    for command in commands {
        let text =
            json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}).to_string();
        assert_eq!(read(&text).unwrap().lookalikes, [command]);
        assert_eq!(uninstall(&text).unwrap(), text);
    }
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "my-guard --socket /run/conclaude.sock Stop"}, {"command": "conclaude Stop"}]}]}}"#;
    assert_eq!(read(text).unwrap().lookalikes, Vec::<String>::new());
}

#[test]
fn an_older_registration_is_replaced_in_its_position() {
    let first = install("{\n  \"x\": 1\n}\n", &wanted()).unwrap();
    let mut later = wanted();
    later[0].timeout = 3600;
    later[0].command = "/usr/local/bin/conclaude SubagentStop".into();
    let second = install(&first, &later).unwrap();
    assert!(second.contains("\"timeout\": 3600") && second.contains("/usr/local/bin/conclaude"), "{second}");
    assert_eq!(ours(&second), 2);
    assert_eq!(uninstall(&second).unwrap(), "{\n  \"x\": 1\n}\n");
}

#[test]
fn a_comment_stays_with_what_it_is_about() {
    let file = "{\n  \"model\": \"opus\", // the best\n  // the end\n}\n";
    let one = &wanted()[..1];
    insta::assert_snapshot!(install(file, one).unwrap(), @r#"
    {
      "model": "opus", // the best
      "hooks": {
        "SubagentStop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "conclaude SubagentStop",
                "timeout": 60
              }
            ]
          }
        ]
      },
      // the end
    }
    "#);
    let edited = install(file, one).unwrap().replace("  \"hooks\"", "  // by conclaude\n  \"hooks\"");
    insta::assert_snapshot!(uninstall(&edited).unwrap(), @r#"
    {
      "model": "opus", // the best
      // by conclaude
      // the end
    }
    "#);
}

#[test]
fn a_comment_of_the_users_around_our_entries_is_never_removed() {
    let file = "{\n  \"hooks\": { // about hooks\n    \"SubagentStop\": [ // about stops\n      {\"hooks\": [{\"command\": \"conclaude SubagentStop\"}]} // about ours\n    ]\n  }\n}\n";
    insta::assert_snapshot!(uninstall(file).unwrap(), @r#"
    {
      "hooks": { // about hooks
        "SubagentStop": [ // about stops
          // about ours
        ]
      }
    }
    "#);
    let on_one_line = "{\"hooks\": {\"Stop\": [ // a\n {\"hooks\": [{\"command\": \"conclaude Stop\"}]} ]}}";
    insta::assert_snapshot!(uninstall(on_one_line).unwrap(), @r#"
    {"hooks": {"Stop": [ // a
     ]}}
    "#);
}

#[test]
fn claude_code_ignores_a_file_with_comments_or_trailing_commas() {
    for (text, ignored) in [
        ("{}", None),
        ("\u{feff}{}", None),
        ("", None),
        ("{ // mine\n}", Some("it is not plain JSON: Comments are not allowed on line 1 column 3")),
        ("{\"a\": [1,]}", Some("it is not plain JSON: Trailing commas are not allowed on line 1 column 9")),
    ] {
        assert_eq!(read(text).unwrap().ignored.as_deref(), ignored, "{text}");
    }
}

#[test]
fn a_file_of_another_form_is_refused() {
    let refusals = [
        "// comment",
        "{'a': 1}",
        "{\"a\": 1",
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{\"hooks\": {\"Stop\": [], \"Stop\": []}}",
        "{\"hooks\": {\"SubagentStop\": {}}}",
        "{\"hooks\": {\"SubagentStop\": [{\"hooks\": [{\"command\": \"conclaude SubagentStop\"}, {\"command\": \"x\"}]}]}}",
    ]
    .map(|file| format!("{file}\n    {}\n", install(file, &wanted()).unwrap_err()));
    insta::assert_snapshot!(refusals.concat(), @r#"
    // comment
        the settings file is not a JSON object
    {'a': 1}
        the settings file is not JSON: Single-quoted strings are not allowed on line 1 column 2
    {"a": 1
        the settings file is not JSON: Unterminated object on line 1 column 1
    []
        the settings file is not a JSON object
    {"hooks": []}
        `hooks` is not a JSON object
    {"hooks": {}, "hooks": {}}
        the settings file has the duplicate key `hooks`: merge the two first
    {"hooks": {"Stop": [], "Stop": []}}
        `hooks` has the duplicate key `Stop`: merge the two first
    {"hooks": {"SubagentStop": {}}}
        `hooks.SubagentStop` is not a list
    {"hooks": {"SubagentStop": [{"hooks": [{"command": "conclaude SubagentStop"}, {"command": "x"}]}]}}
        `hooks.SubagentStop` has conclaude and another command in one group: separate them first
    "#);
}

/// It was refused, and so were `init` and `uninstall`.
#[test]
fn an_entry_without_a_list_of_hooks_is_left_as_it_is_and_named() {
    let file = r#"{"hooks": {"SubagentStop": [{"matcher": "coder", "command": "check.sh"}]}}"#;
    let made = install(file, &wanted()).unwrap();
    assert!(made.contains(r#"{"matcher": "coder", "command": "check.sh"}"#), "{made}");
    let settings = read(&made).unwrap();
    assert_eq!(settings.registered.len(), wanted().len());
    let dead: Vec<String> = settings.dead.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(dead.join("\n"), @r#"`hooks.SubagentStop` has an entry without a list `hooks`: Claude Code never calls it, nor any other hook of SubagentStop while it is there. Remove it, or write {"matcher":"coder","hooks":[{"type":"command","command":"check.sh"}]}"#);
    assert_eq!(read(&uninstall(&made).unwrap()).unwrap().registered, []);
    assert!(uninstall(&made).unwrap().contains("check.sh"));
}

#[test]
fn hostile_nesting_is_refused() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(install(&deep, &wanted()).is_err() && read(&deep).is_err());
}

#[test]
fn ours_is_known_however_it_is_spelt() {
    let is = |command: &str| is_ours(&json!({ "command": command }), "Stop");
    for yes in [
        "command -v conclaude >/dev/null || exit 0; exec conclaude Stop",
        "command -v /opt/conclaude >/dev/null || exit 0; exec /opt/conclaude Stop --if-trusted",
        "conclaude Stop",
        "conclaude Stop --if-trusted",
        "/opt/bin/conclaude Stop",
        "\"/my tools/conclaude\" Stop",
        "C:\\bin\\conclaude.exe Stop",
    ] {
        assert!(is(yes), "{yes}");
    }
    for no in [
        "conclaude SubagentStop",
        "conclaude --if-trusted",
        "my-conclaude Stop",
        "conclaude-wrapper Stop",
        "echo conclaude",
        "my-guard --socket /run/conclaude Stop",
        "logger turn-ended; /usr/local/bin/conclaude Stop",
        "exec conclaude Stop",
        "command -v other >/dev/null || exit 0; exec conclaude Stop",
        "conclaude Stop || true",
        "\"$HOME/bin/conclaude\" Stop",
        "conclaudeStop",
        "conclaude",
    ] {
        assert!(!is(no), "{no}");
    }
}
