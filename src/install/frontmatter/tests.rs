use super::*;

fn wanted() -> Vec<Registration> {
    vec![
        Registration {
            event: Event::PreToolUse,
            matcher: Some("Write|Edit".into()),
            command: "conclaude PreToolUse".into(),
            timeout: 60,
            flaw: None,
        },
        Registration {
            event: Event::SubagentStop,
            matcher: None,
            command: "'/my tools/conclaude' SubagentStop".into(),
            timeout: 90,
            flaw: None,
        },
    ]
}

const FILES: [&str; 6] = [
    "---\nname: coder\ndescription: writes\n---\nYou are a coder.\n",
    "---\r\nname: \"a: b\" # the name\r\n# a comment\r\ntools: Read\r\n\r\n---\r\nbody\r\n---\r\n",
    "---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: lint  # theirs\n  # at the end\nname: x\ncolor: red\n---\n",
    "---\nname: x\nhooks:\n    \"PreToolUse\":\n    - matcher: Bash\n      hooks:\n      - {type: command, command: guard}\n\n    - hooks: [{type: command, command: \"echo '#'\"}]\n    'PostToolUse':\n    - hooks:\n      - type: command\n        command: after\n---\nbody without end",
    "\u{feff}---\nname: x\ndescription: Use this: when it is: so\n---\n",
    "---\nname: x\n---",
];

#[test]
fn installing_adds_ours_twice_changes_nothing_and_uninstalling_restores_the_file() {
    for file in FILES {
        let installed = install(file, &wanted()).unwrap_or_else(|error| panic!("{error}: {file}"));
        let mut found = registered(&installed).unwrap();
        found.sort_by_key(|one| one.timeout);
        assert_eq!(found, wanted(), "{installed}");
        assert_eq!(install(&installed, &wanted()).unwrap(), installed, "installing twice: {installed}");
        assert_eq!(uninstall(&installed).unwrap(), file, "uninstalling");
        let newlines = |text: &str| text.matches("\r\n").count() == text.matches('\n').count();
        assert_eq!(newlines(file), newlines(&installed), "line endings: {installed:?}");
    }
}

#[test]
fn every_line_of_the_file_is_still_there_in_its_order() {
    for file in FILES {
        let installed = install(file, &wanted()).unwrap();
        let mut lines = installed.lines();
        for line in file.lines() {
            assert!(lines.any(|other| other == line), "{line:?} is gone from {installed}");
        }
    }
}

#[test]
fn an_older_registration_is_replaced() {
    let first = install(FILES[2], &wanted()).unwrap();
    let mut later = wanted();
    later[1].timeout = 900;
    let second = install(&first, &later).unwrap();
    assert!(second.contains("timeout: 900") && !second.contains("timeout: 90\n"), "{second}");
    assert_eq!(uninstall(&second).unwrap(), FILES[2]);
}

#[test]
fn a_comment_below_ours_belongs_to_what_follows_it() {
    let first = install(FILES[0], &wanted()).unwrap();
    let own =
        "    # their lint: do not remove\n    - hooks:\n        - type: command\n          command: lint\n";
    let theirs = first.replace("timeout: 90\n", &format!("timeout: 90\n{own}"));
    assert!(uninstall(&theirs).unwrap().contains(own), "{}", uninstall(&theirs).unwrap());
    let mut later = wanted();
    later[1].timeout = 900;
    assert!(install(&theirs, &later).unwrap().contains(own));
}

#[test]
fn names_are_quoted() {
    insta::assert_snapshot!(install(FILES[0], &wanted()).unwrap(), @r#"
    ---
    name: coder
    description: writes
    hooks:
      "PreToolUse":
        - matcher: "Write|Edit"
          hooks:
            - type: "command"
              command: "conclaude PreToolUse"
              timeout: 60
      "Stop":
        - hooks:
            - type: "command"
              command: "'/my tools/conclaude' SubagentStop"
              timeout: 90
    ---
    You are a coder.
    "#);
}

#[test]
fn a_file_of_another_form_is_refused() {
    for (file, why) in [
        ("You are a coder.\n", "no frontmatter"),
        ("---\nname: x\n", "does not end"),
        ("---\nname: x\nhooks: {}\n---\n", "on one line"),
        ("---\nname: x\nhooks:\n---\n", "are empty"),
        ("---\nname: x\nhooks:\n  Stop: []\n---\n", "on one line"),
        ("---\nname: x\nhooks:\n\tStop:\n---\n", ""),
        ("---\nname: x\nhooks:\n  Stop:\n    - hooks: [\n---\n", "cannot be read"),
    ] {
        let refusal = install(file, &wanted()).unwrap_err();
        assert!(refusal.0.contains(why), "{file}: {refusal}");
    }
    let mixed = "---\nhooks:\n  Stop:\n    - hooks:\n        - {type: command, command: conclaude SubagentStop}\n        - {type: command, command: other}\n---\n";
    let installed = install(mixed, &wanted()).unwrap();
    assert_eq!(uninstall(&installed).unwrap(), mixed, "an entry with another command is not ours");
}

#[test]
fn the_name_is_read_whatever_stands_beside_it() {
    assert_eq!(name(FILES[0]).as_deref(), Some("coder"));
    assert_eq!(name(FILES[1]).as_deref(), Some("a: b"));
    assert_eq!(name(FILES[4]).as_deref(), Some("x"));
    assert_eq!(name("no frontmatter"), None);
}
