//! What the user has set in the settings is kept, merged, and there again to the byte.

use super::*;

/// Installs into settings with this text, uninstalls, and gives the settings in between.
#[track_caller]
fn there_and_back(before: &str) -> Value {
    let test = project(CONFIG);
    let root = test.root();
    write(&root, before);
    let (code, _, err) = run(&root, &["install", "--enforce"]);
    assert_eq!(code, Some(0), "{err}");
    let between = settings(&root);
    run(&root, &["uninstall", "--enforce"]);
    assert_eq!(text(&root), before);
    between
}

#[test]
fn everything_else_stays_to_the_byte() {
    for before in [
        "{}",
        "{ }\n",
        "{\n\t\"model\" : \"opus\",\n\t\"permissions\": { \"allow\": [ \"Bash(ls)\" ], \"deny\": [ ] }\n}",
        "{\"sandbox\":{\"filesystem\":{\"allowWrite\":[\"~/.npm\"],\"denyWrite\":[\"./mine\"]}}}\n",
        "{\r\n  \"env\": {\"A\": \"b\"}\r\n}\r\n",
    ] {
        there_and_back(before);
    }
}

#[test]
fn an_own_sandbox_keeps_its_hosts() {
    let own = "{\"sandbox\": {\"enabled\": true, \"network\": {\"allowedDomains\": [\"example.com\"]}}}\n";
    let settings = there_and_back(own);
    assert_eq!(settings["sandbox"]["network"]["allowedDomains"], json!(["example.com"]));
    assert_eq!(settings["sandbox"]["failIfUnavailable"], json!(true));
    // One that was off is not to ask about each host.
    let settings = there_and_back("{\"sandbox\": {\"network\": {\"allowedDomains\": [\"example.com\"]}}}\n");
    assert_eq!(settings["sandbox"]["network"]["allowedDomains"], json!(["example.com", "*"]));
}

#[test]
fn a_sandbox_that_the_project_shares_keeps_its_hosts_too() {
    let test = project(CONFIG).file(".claude/settings.json", "{\"sandbox\": {\"enabled\": true}}");
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    assert_eq!(settings(&root)["sandbox"]["network"], Value::Null);
    // Nor after installing again, when it is on because of us as well.
    run(&root, &["install", "--enforce"]);
    assert_eq!(settings(&root)["sandbox"]["network"], Value::Null);
}

#[test]
fn own_rules_are_merged_and_stay_when_ours_go() {
    let own = "{\"permissions\": {\"deny\": [\"Edit(./package.json)\"]}, \"sandbox\": {\"filesystem\": {\"denyWrite\": [\"./Cargo.lock\"]}}}\n";
    let settings = there_and_back(own);
    assert_eq!(settings["permissions"]["deny"][0], json!("Edit(./package.json)"));
    let denied = settings["sandbox"]["filesystem"]["denyWrite"].as_array().unwrap();
    assert_eq!(denied.iter().filter(|one| **one == json!("./Cargo.lock")).count(), 1);
}

#[test]
fn a_switch_that_the_user_has_set_stays_and_is_reported() {
    let test = project(CONFIG);
    let root = test.root();
    let own = "{\"sandbox\": {\"enabled\": false}}\n";
    write(&root, own);
    let (code, out, _) = run(&root, &["install", "--enforce"]);
    assert_eq!((code, &settings(&root)["sandbox"]["enabled"]), (Some(0), &json!(false)));
    assert!(
        out.contains("settings.local.json has sandbox.enabled: false, which is yours and stays"),
        "{out}"
    );
    run(&root, &["uninstall", "--enforce"]);
    assert_eq!(text(&root), own);
}

#[test]
fn what_the_user_changes_afterwards_stays() {
    let test = project(CONFIG);
    let root = test.root();
    write(&root, "{\"model\": \"opus\"}\n");
    run(&root, &["install", "--enforce"]);
    let changed = text(&root).replace("\"opus\"", "\"haiku\"").replace("\"*.x\"", "");
    write(&root, &changed.replace("\"deny\": [", "\"deny\": [\n      \"Bash(rm *)\","));
    let (_, out, _) = run(&root, &["uninstall", "--enforce"]);
    assert!(out.contains("the file as it was is kept in"), "{out}");
    let left = settings(&root);
    assert_eq!(left, json!({"model": "haiku", "permissions": {"deny": ["Bash(rm *)"]}}));
}

#[test]
fn comments_stay() {
    let test = project(CONFIG);
    let root = test.root();
    let own = "{\n  // my hosts\n  \"sandbox\": {\n    \"network\": {} // none\n  }\n}\n";
    write(&root, own);
    run(&root, &["install", "--enforce"]);
    assert!(text(&root).contains("// my hosts") && text(&root).contains("// none"));
    run(&root, &["uninstall", "--enforce"]);
    assert_eq!(text(&root), own);
}

#[test]
fn a_registration_in_the_same_file_and_the_rules_come_and_go_in_any_order() {
    let orders: [[&[&str]; 4]; 2] = [
        [
            &["install", "--local"],
            &["install", "--enforce"],
            &["uninstall", "--local"],
            &["uninstall", "--enforce"],
        ],
        [
            &["install", "--enforce"],
            &["install", "--local"],
            &["uninstall", "--enforce"],
            &["uninstall", "--local"],
        ],
    ];
    for order in orders {
        let test = project(CONFIG);
        let root = test.root();
        for arguments in order {
            assert_eq!(run(&root, arguments).0, Some(0), "{arguments:?}");
        }
        assert!(!root.join(FILE).exists(), "{order:?}: {}", text(&root));
    }
}

#[test]
fn no_exception_of_a_config_frees_what_the_user_denies() {
    let test = project(CONFIG).file(
        ".claude/settings.json",
        "{\"sandbox\": {\"filesystem\": {\"denyRead\": [\"./.env.example\"]}}}",
    );
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    assert_eq!(list(&root, "/sandbox/filesystem/allowRead"), Vec::<String>::new());
}
