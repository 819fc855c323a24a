//! `doctor` of other clients: one check for each that the config names or that has our registration.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::clients::{CLIENTS, call, capture, event_name};
use crate::common::{Outcome, Test, run_in as run};

const RULES: &str =
    "des: {enabled: false}\nstop: {commands: [{run: 'true'}]}\npreToolUse: {uneditableFiles: [x]}\n";

fn project(client: &str) -> Test {
    Test::stop().config(&format!("clients: [{client}]\n{RULES}"))
}

fn installed(client: &str) -> Test {
    let test = project(client);
    assert_eq!(run(&test.root(), &["install"]).0, Some(0));
    test
}

fn file(client: &str) -> &'static str {
    match client {
        "codex" => ".codex/hooks.json",
        "copilot" => ".github/hooks/conclaude.json",
        "qwen" => ".qwen/settings.json",
        _ => ".gemini/settings.json",
    }
}

/// What `doctor` says of a client: its status, and its checks.
fn doctor(root: &Path, client: &str) -> (Option<i32>, String) {
    let (code, shown, _) = run(root, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&shown).unwrap();
    let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["about"] == client);
    let line = |check: &Value| {
        let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
        format!("{}: {} → {}\n", text("status"), text("text"), text("fix"))
    };
    (code, checks.map(line).collect())
}

/// A change of the settings of a client.
fn change(root: &Path, client: &str, change: impl Fn(&mut Value)) {
    let path = root.join(file(client));
    let mut json: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut json);
    std::fs::write(path, json.to_string()).unwrap();
}

fn starts(client: &str, test: Test) -> Outcome {
    let payload = capture(client, "SessionStart.json", &test);
    call(client, "SessionStart", test, &payload)
}

#[test]
fn a_client_of_the_config_without_a_registration_is_a_problem() {
    for client in CLIENTS {
        let test = project(client);
        let (code, shown) = doctor(&test.root(), client);
        assert_eq!(code, Some(1));
        assert!(
            shown.starts_with("problem: conclaude is not registered with")
                && shown.ends_with(&format!("→ conclaude install --client {client}\n")),
            "{shown}"
        );
        // Claude Code is not among them.
        let (_, all, _) = run(&test.root(), &["doctor"]);
        assert!(!all.contains("Claude Code"), "{all}");
    }
}

#[test]
fn an_event_is_an_arrival_of_the_client_that_sent_it() {
    for client in CLIENTS {
        let done = starts(client, installed(client)).status(0);
        let (code, shown) = doctor(&done.root(), client);
        assert!(code == Some(0) && !shown.contains("no event has arrived"), "{shown}");
        let (_, all, _) = run(&done.root(), &["doctor"]);
        assert!(all.contains(&format!("\n  {client:<9}SessionStart      0 seconds ago")), "{all}");
        let other = CLIENTS.into_iter().find(|other| *other != client).unwrap();
        let done = starts(other, installed(client)).status(0);
        assert!(doctor(&done.root(), client).1.contains("warning: no event has arrived"), "{client} {other}");
    }
}

#[test]
fn what_is_out_of_sync_has_the_clients_names() {
    for client in CLIENTS {
        let test = installed(client);
        let root = test.root();
        let (stop, tool) = (event_name(client, "Stop"), event_name(client, "PreToolUse"));
        change(&root, client, |json| drop(json["hooks"].as_object_mut().unwrap().remove(stop)));
        change(&root, client, |json| json["hooks"][tool][0]["matcher"] = "^(zzz)$".into());
        change(&root, client, |json| json["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] = 1.into());
        let (code, shown) = doctor(&root, client);
        assert_eq!(code, Some(1));
        assert!(
            shown.contains(&format!(
                "problem: {stop} is not registered → conclaude install --client {client}"
            )),
            "{shown}"
        );
        assert!(
            shown.contains(&format!("problem: {tool} is registered for \"^(zzz)$\", but needed for")),
            "{shown}"
        );
        assert!(shown.contains("problem: SessionEnd has the timeout 1, but"), "{shown}");
    }
}

#[test]
fn a_line_without_the_client_or_with_another_is_a_problem() {
    for client in CLIENTS {
        let (event, other) = (event_name(client, "Stop"), if client == "codex" { "qwen" } else { "codex" });
        for (written, said) in [
            (String::new(), format!("calls conclaude without `--client {client}`")),
            (format!("--client {other} "), format!("calls conclaude with `--client {other}`")),
        ] {
            let test = installed(client);
            let path = test.root().join(file(client));
            let text = std::fs::read_to_string(&path).unwrap();
            let changed = text.replace(&format!("--client {client} {event}"), &format!("{written}{event}"));
            std::fs::write(&path, changed).unwrap();
            let (code, shown) = doctor(&test.root(), client);
            assert!(
                code == Some(1) && shown.contains(&format!("problem: {event} in")) && shown.contains(&said),
                "{shown}"
            );
        }
    }
    let test = Test::stop().config(RULES);
    run(&test.root(), &["install"]);
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("conclaude Stop\"", "conclaude --client codex Stop\"")).unwrap();
    assert!(
        doctor(&test.root(), "claude")
            .1
            .contains("problem: Stop in .claude/settings.json calls conclaude with `--client codex`")
    );
}

#[test]
fn registrations_that_are_too_many_are_warnings() {
    for client in CLIENTS {
        let test = installed(client);
        run(&test.root(), &["install", "--user", "--client", client]);
        let (_, shown) = doctor(&test.root(), client);
        assert!(shown.contains("warning: registered in") && shown.contains("runs twice"), "{shown}");
        let test = Test::stop().config(RULES);
        run(&test.root(), &["install", "--client", &format!("claude,{client}")]);
        let (_, shown) = doctor(&test.root(), client);
        assert!(shown.contains("warning: registered with") && shown.contains("not in `clients`"), "{shown}");
        // Nothing is said of those that nobody named.
        let test = Test::stop().config(RULES);
        run(&test.root(), &["install"]);
        assert_eq!(doctor(&test.root(), client).1, "");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_a_problem() {
    for client in CLIENTS {
        let test = project(client).file(file(client), "{,");
        let (code, shown) = doctor(&test.root(), client);
        assert!(
            code == Some(1) && shown.starts_with(&format!("problem: {} cannot be read: ", file(client))),
            "{shown}"
        );
    }
}

/// What Codex keeps of the hooks that the user reviewed.
fn reviewed(root: &Path) -> String {
    let path = root.join(".codex/hooks.json");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let snake_case = |event: &str| {
        let words = event.split_inclusive(|c: char| c.is_ascii_lowercase());
        let mut name = String::new();
        for c in words.flat_map(str::chars) {
            if c.is_ascii_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    };
    let entry = |event: &String| {
        format!(
            "[hooks.state.\"{}:{}:0:0\"]\ntrusted_hash = \"sha256:1\"\n",
            path.display(),
            snake_case(event)
        )
    };
    json["hooks"].as_object().unwrap().keys().map(entry).collect()
}

#[test]
fn codex_is_healthy_with_reviewed_hooks_or_with_an_arrival_alone() {
    let test = installed("codex");
    let root = test.root();
    let (code, shown) = doctor(&root, "codex");
    assert_eq!(code, Some(1));
    assert!(shown.starts_with("problem: the user has not reviewed SessionStart, "), "{shown}");
    let all = reviewed(&root);
    let test = test.file(".home/.codex/config.toml", &all);
    let (code, shown) = doctor(&root, "codex");
    assert!(code == Some(0) && shown.contains("warning: Codex does not trust this project"), "{shown}");
    let trusted = format!("{all}[projects.\"{}\"]\ntrust_level = \"trusted\"\n", root.display());
    let test = test.file(".home/.codex/config.toml", trusted);
    assert!(!doctor(&root, "codex").1.contains("trust"));
    let first = all.split_inclusive("\n").skip(2).collect::<String>();
    let test = test.file(".home/.codex/config.toml", first);
    assert!(doctor(&root, "codex").1.contains("has not reviewed SessionStart in"));
    let done = starts("codex", test).status(0);
    assert_eq!(doctor(&done.root(), "codex").0, Some(0));
    // Changed after that, it is to be reviewed again.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    let hooks = std::fs::File::options().append(true).open(root.join(".codex/hooks.json")).unwrap();
    hooks.set_modified(later).unwrap();
    assert_eq!(doctor(&done.root(), "codex").0, Some(1));
    let _test = done.again().file(".codex/config.toml", "[[hooks.Stop]]\n");
    assert!(
        doctor(&root, "codex")
            .1
            .contains("warning: hooks are both in .codex/hooks.json and in .codex/config.toml")
    );
}

#[test]
fn an_entry_with_which_copilot_ignores_claude_codes_settings_is_a_warning() {
    for (event, group) in [
        ("PreToolUse", json!({"matcher": "", "hooks": [{"type": "command", "command": "x"}]})),
        ("SubagentStart", json!({"matcher": "", "hooks": [{"type": "command", "command": "x"}]})),
        ("PreToolUse", json!({"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "x"}]})),
    ] {
        let test = installed("copilot")
            .file(".claude/settings.json", json!({"hooks": {event: [group]}}).to_string());
        let (_, shown) = doctor(&test.root(), "copilot");
        assert!(shown.contains("warning: Copilot ignores all of .claude/settings.json: "), "{shown}");
        assert!(shown.contains(event), "{shown}");
    }
}

#[test]
fn a_timeout_that_qwen_code_reads_as_milliseconds_is_said_in_seconds() {
    for (timeout, read) in [
        (3_600, Some("3.6 s")),
        (1_000, Some("1 s")),
        (99_999, Some("99.999 s")),
        (60, None),
        (100_000, None),
    ] {
        let test = installed("qwen");
        change(&test.root(), "qwen", |json| json["hooks"]["Stop"][0]["hooks"][0]["timeout"] = timeout.into());
        let (_, shown) = doctor(&test.root(), "qwen");
        let expected = read.map(|read| {
            format!("Stop in .qwen/settings.json has the timeout {timeout}, which Qwen Code reads as {read}")
        });
        match expected {
            Some(expected) => assert!(shown.contains(&format!("problem: {expected} →")), "{shown}"),
            None => assert!(!shown.contains("reads as"), "{shown}"),
        }
    }
}

#[test]
fn hooks_of_gemini_cli_that_are_switched_off_are_a_problem() {
    let off = json!({"enabled": false});
    let test = installed("gemini");
    change(&test.root(), "gemini", |json| json["hooksConfig"] = off.clone());
    let of_user =
        installed("gemini").file(".home/.gemini/settings.json", json!({"hooksConfig": off}).to_string());
    for test in [test, of_user] {
        let (code, shown) = doctor(&test.root(), "gemini");
        assert!(code == Some(1) && shown.contains("`hooksConfig.enabled` is false"), "{shown}");
    }
}
