//! The command lines that are registered.

use super::*;

#[test]
fn what_is_registered_does_not_change_with_the_commands_of_the_config() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let before = settings(&root);
    for yaml in ["subagentStop: {commands: {coder: [{run: x}]}}", "maxBlocks: 3"] {
        std::fs::write(root.join(".conclaude.yaml"), yaml).unwrap();
        insta::allow_duplicates! { insta::assert_snapshot!(transcript(&root, &["install"]), @"
        exit 0
        warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
        [ROOT]/.claude/settings.json already has everything that is needed
        "); }
        assert_eq!(settings(&root), before);
    }
}

/// The command lines that are registered, by event, with another program.
fn lines_with(root: &Path, program: &str) -> Vec<(String, String)> {
    let json: Value = serde_json::from_str(&shown(root).replace("[BIN]", program)).unwrap();
    let line = |groups: &Value| groups[0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    json["hooks"].as_object().unwrap().iter().map(|(event, groups)| (event.clone(), line(groups))).collect()
}

#[cfg(unix)]
#[test]
fn where_the_program_is_missing_only_the_start_of_a_session_says_so() {
    let test = Test::stop().config("maxBlocks: 3");
    let root = test.root();
    run(&root, &["install"]);
    for program in ["/nowhere/conclaude", "conclaude"] {
        let lines = lines_with(&root, program);
        assert_eq!(lines.len(), 8);
        let mut said = String::new();
        for (event, line) in lines {
            let mut shell = test.program("/bin/sh");
            let output = shell.args(["-c", &line]).env("PATH", "/usr/bin:/bin").output().unwrap();
            assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{line}");
            if !output.stdout.is_empty() {
                let json: Value = serde_json::from_slice(&output.stdout).unwrap();
                said += &format!("{event}: {}\n", json["systemMessage"].as_str().unwrap());
            }
        }
        insta::allow_duplicates! { insta::assert_snapshot!(said, @"SessionStart: conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: npm install -g conclaude, or uv tool install conclaude, or brew install conclaude/tap/conclaude"); }
    }
}

#[cfg(unix)]
#[test]
fn what_is_registered_passes_payload_answer_and_exit_code_on() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: exit 1, onFailure: block}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let own = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
    let lines = lines_with(&root, own.to_str().unwrap());
    let line = &lines.iter().find(|(event, _)| event == "SubagentStop").unwrap().1;
    let mut shell = test.program("/bin/sh");
    shell.args(["-c", line]);
    insta::assert_snapshot!(test.run_as(shell).blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `exit 1` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

/// The settings as an earlier version wrote them.
fn plain_form(root: &Path) -> String {
    let mut json: Value = serde_json::from_str(&settings(root)).unwrap();
    for (event, groups) in json["hooks"].as_object_mut().unwrap() {
        let hook = groups[0]["hooks"][0].as_object_mut().unwrap();
        hook.insert("command".into(), format!("{} {event}", env!("CARGO_BIN_EXE_conclaude")).into());
        hook.insert("timeout".into(), 60.into());
        hook.shift_remove("statusMessage");
    }
    format!("{json:#}\n")
}

#[test]
fn a_registration_of_an_earlier_version_is_reported_once_and_brought_up_to_date() {
    let test = Test::event("SessionStart").config("maxBlocks: 3");
    let root = test.root();
    run(&root, &["install"]);
    let now = settings(&root);
    std::fs::write(root.join(FILE), plain_form(&root)).unwrap();
    let answer = test.run();
    insta::assert_snapshot!(answer.steady(&answer.message()), @"
    conclaude: the registration with Claude Code is out of sync with the config:
    ⚠ [ROOT]/.claude/settings.json registers conclaude as an earlier version did: if the program is missing, each event is an error
    To fix it: conclaude install --project
    ");
    run(&root, &["install"]);
    assert_eq!(settings(&root), now);
    let _kept = answer.again().run().silent();
    // Nor does uninstalling leave anything of it.
    std::fs::write(root.join(FILE), plain_form(&root)).unwrap();
    run(&root, &["uninstall"]);
    assert!(!root.join(FILE).exists());
}
