//! `conclaude events --client`: what is possible in a client, from the same tables as its answers.

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::Test;
use crate::common::clients::{CLIENTS, call, capture, event_name};
use crate::common::environment::run_in;

fn events(client: &str) -> Value {
    let test = Test::event("Stop");
    let (code, stdout, stderr) = run_in(&test.root(), &["events", "--client", client, "--json"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{client}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn every_client_is_listed() {
    let test = Test::event("Stop");
    let shown = CLIENTS.map(|client| {
        let (code, stdout, stderr) = run_in(&test.root(), &["events", "--client", client]);
        format!("{client}: exit {code:?}\n{stdout}{stderr}")
    });
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn the_json_has_every_event_of_ours_once() {
    for client in CLIENTS.into_iter().chain(["claude"]) {
        let json = events(client);
        assert_eq!(json["client"], client);
        let named = |list: &str| -> Vec<String> {
            let list = json[list].as_array().unwrap().iter();
            list.map(|one| one["event"].as_str().unwrap().to_owned()).collect()
        };
        let mut all = named("events");
        all.extend(named("missing"));
        all.sort();
        let mut ours: Vec<String> = conclaude_core::event::names().map(str::to_owned).collect();
        ours.sort();
        assert_eq!(all, ours, "{client}");
        for one in json["events"].as_array().unwrap() {
            let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
            assert_eq!(keys.len(), 8, "{keys:?}");
            assert!(one["block"].is_null() || one["block"].is_string());
            assert!(one["context"].is_boolean() && one["shown"].is_boolean());
        }
    }
}

/// What the table says of context is what an answer has.
#[test]
fn context_is_given_where_the_table_says_so() {
    let config = "userPromptSubmit: {contextRules: [{pattern: delegate, prompt: CONTEXT}]}\nsubagentStart: {commands: {'*': [{run: 'echo CONTEXT', context: true}]}}\n";
    for client in CLIENTS {
        let json = events(client);
        for ours in ["UserPromptSubmit", "SubagentStart"] {
            let row = json["events"].as_array().unwrap().iter().find(|one| one["event"] == ours).unwrap();
            assert_eq!(
                row["client_event"],
                if (client, ours) == ("gemini", "SubagentStart") {
                    "BeforeTool"
                } else {
                    event_name(client, ours)
                }
            );
            let test = Test::event(ours).config(config);
            let event = row["client_event"].as_str().unwrap();
            let mut payload = capture(client, &format!("{event}.json"), &test);
            if ours == "UserPromptSubmit" {
                payload["prompt"] = "please delegate it".into();
            }
            let done = call(client, event, test, &payload).status(0);
            assert_eq!(
                done.stdout.contains("CONTEXT"),
                row["context"] == true,
                "{client} {ours}: {}",
                done.stdout
            );
        }
    }
}

#[test]
fn one_event_is_found_by_the_clients_name_or_ours() {
    let test = Test::event("Stop");
    let root = test.root();
    for (client, event, expected) in [
        ("gemini", "BeforeTool", "PreToolUse"),
        ("gemini", "Stop", "AfterAgent"),
        ("gemini", "PermissionRequest", "Gemini CLI has no such event"),
        ("codex", "Interrupt", "Only Codex has Interrupt"),
        ("codex", "preToolUse", "the tool is denied"),
    ] {
        let (code, stdout, stderr) = run_in(&root, &["events", event, "--client", client]);
        assert!(code == Some(0) && stdout.contains(expected), "{client} {event}: {stdout}{stderr}");
    }
    let (code, _, stderr) = run_in(&root, &["events", "Stopp", "--client", "codex"]);
    assert!(code == Some(1) && stderr.contains("`Stop`"), "{stderr}");
}

#[test]
fn an_unknown_client_of_a_subcommand_is_an_error_with_the_names() {
    let test = Test::event("Stop");
    let root = test.root();
    for arguments in [
        &["events", "--client", "codx"][..],
        &["explain", "Stop", "--client", "codx"],
        &["run", "Stop", "--client", "codx"],
        &["test", "--client", "codx"],
    ] {
        let (code, stdout, stderr) = run_in(&root, arguments);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("claude, codex, copilot, qwen, gemini")
                && stderr.contains("did you mean `codex`?"),
            "{arguments:?}: {stderr}"
        );
    }
}

/// The table of a page, from what the program prints.
fn table(client: &str) -> String {
    let yes = |is: &Value| if is == true { "yes" } else { "–" };
    let mut rows = vec![
        "| event | there | `onFailure: block` | context | shown | note |".to_owned(),
        "| --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    for one in events(client)["events"].as_array().unwrap() {
        let text = |name: &str| one[name].as_str();
        let event = text("event").unwrap();
        let there = match text("client_event").unwrap() {
            same if same == event => "=".to_owned(),
            other => format!("`{other}`"),
        };
        rows.push(format!(
            "| `{event}` | {there} | {} | {} | {} | {} |",
            text("block").unwrap_or("–"),
            yes(&one["context"]),
            yes(&one["shown"]),
            text("note").unwrap_or_default()
        ));
    }
    rows.join("\n")
}

#[test]
fn the_page_of_each_client_has_the_table_of_its_events() {
    let pages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients");
    for client in CLIENTS.into_iter().chain(["claude"]) {
        let name = if client == "claude" { "claude-code" } else { client };
        let page = std::fs::read_to_string(pages.join(name).with_extension("md")).unwrap();
        let table = table(client);
        assert!(page.contains(&table), "docs/clients/{name}.md should have this table:\n{table}");
        assert!(page.contains(&format!("conclaude events --client {client}")), "{name}");
    }
}
