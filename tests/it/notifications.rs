//! Desktop notifications over a private D-Bus.

use insta::assert_snapshot;

use crate::common::desktop::{Desktop, Notification};
use crate::common::{Test, run_in, scratch};

fn arrived(test: Test) -> Vec<Notification> {
    let desktop = Desktop::start();
    let test =
        test.env("DBUS_SESSION_BUS_ADDRESS", desktop.address()).env("CONCLAUDE_NOTIFY_WAIT_MS", "10000");
    test.run().status(0);
    desktop.arrived()
}

fn titles(test: Test) -> Vec<String> {
    arrived(test).into_iter().map(|notification| notification.title).collect()
}

// Scenario: SubagentStart notifications respect showSystemEvents flag
#[test]
fn system_events_can_be_switched_off() {
    let config = "notifications: {enabled: true, hooks: ['*'], showSystemEvents: false}";
    assert_eq!(titles(Test::start().config(config)), Vec::<String>::new());
}

// Scenario: Wildcard hooks config includes SubagentStart
#[test]
fn the_wildcard_includes_every_event() {
    let config = "notifications: {enabled: true, hooks: ['*'], showSuccess: true}";
    assert_eq!(titles(Test::start().config(config)), ["conclaude: SubagentStart"]);
    assert_eq!(titles(Test::event("Stop").config(config)), ["conclaude: Stop"]);
}

// Scenario: SubagentStart not in hooks list suppresses notifications
#[test]
fn an_event_that_is_not_listed_is_not_notified() {
    let config = "notifications: {enabled: true, hooks: [Stop, PreToolUse]}";
    assert_eq!(titles(Test::start().config(config)), Vec::<String>::new());
}

#[test]
fn a_stop_reports_how_its_commands_went() {
    let config = "notifications: {enabled: true, hooks: [SubagentStop]}\nsubagentStop: {commands: {'*': [{run: 'true'}, {run: 'false'}]}}";
    let arrived = arrived(Test::stop().config(config));
    assert_eq!(
        arrived,
        [Notification {
            title: "conclaude: SubagentStop".into(),
            body: "coder (a1b2c3): 1 of 2 commands failed".into()
        }]
    );
}

#[test]
fn failures_obey_show_errors_where_system_events_are_off() {
    let config = |errors: bool| {
        format!(
            "notifications: {{enabled: true, hooks: ['*'], showSystemEvents: false, showErrors: {errors}}}\nsubagentStop: {{commands: {{'*': [{{run: 'false'}}]}}}}"
        )
    };
    assert_eq!(titles(Test::stop().config(&config(true))), ["conclaude: SubagentStop"]);
    assert_eq!(titles(Test::stop().config(&config(false))), Vec::<String>::new());
}

#[test]
fn a_failure_of_the_hook_itself_obeys_show_errors() {
    let config = "notifications: {enabled: true, hooks: ['*'], showSystemEvents: false, showErrors: true}\nsubagentStop: {commands: {'[a': [{run: 'true'}]}}";
    let desktop = Desktop::start();
    let test = Test::stop().config(config).env("DBUS_SESSION_BUS_ADDRESS", desktop.address());
    let done = test.env("CONCLAUDE_NOTIFY_WAIT_MS", "10000").run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: invalid pattern `[a`: `[` without a `]` after it
     --> [ROOT]/.conclaude.yaml:2:27
      |
    2 | subagentStop: {commands: {'[a': [{run: 'true'}]}}
      |                           ^^^^ not a valid pattern
      |
      = help: patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character
    ");
    let bodies: Vec<String> =
        desktop.arrived().into_iter().map(|arrived| done.steady(&arrived.body)).collect();
    assert_snapshot!(bodies.join("\n"), @"
    coder (a1b2c3): invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: invalid pattern `[a`: `[` without a `]` after it
     --> [ROOT]/.conclaude.yaml:2:27
      |
    2 | subagentStop: {commands: {'[a': [{run: 'true'}]}}
      |                           ^^^^ not a valid pattern
      |
      = help: patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character
    ");
}

#[test]
fn a_tool_that_is_listed_is_notified_too_and_a_denied_one_is_a_failure() {
    use crate::common::workflow::{MARKERS, done};
    let config = |flag: &str| format!("notifications: {{enabled: true, hooks: [PreToolUse], {flag}: true}}");
    let tool = Test::event("PreToolUse").payload("tool_name", "Bash");
    assert_eq!(titles(tool.config(&config("showSuccess"))), ["conclaude: PreToolUse"]);
    let tool = Test::event("PreToolUse").payload("tool_name", "Bash");
    assert_eq!(titles(tool.config(&config("showErrors"))), Vec::<String>::new());
    let desktop = Desktop::start();
    let denied = Test::stop().config(&config("showErrors")).step(&done()).call_agent(MARKERS);
    let denied =
        denied.env("DBUS_SESSION_BUS_ADDRESS", desktop.address()).env("CONCLAUDE_NOTIFY_WAIT_MS", "10000");
    denied.run().denied();
    assert_eq!(desktop.arrived().len(), 1);
}

#[test]
fn a_notification_of_a_denied_tool_has_the_reason() {
    let config = "extends: [\"pack:git-safety\"]\nnotifications: {enabled: true, hooks: [PreToolUse], showErrors: true}";
    let desktop = Desktop::start();
    let test = Test::bash(config, "git push --force");
    let test =
        test.env("DBUS_SESSION_BUS_ADDRESS", desktop.address()).env("CONCLAUDE_NOTIFY_WAIT_MS", "10000");
    test.run().denied();
    let arrived = desktop.arrived();
    let bodies: Vec<&str> = arrived.iter().map(|one| one.body.as_str()).collect();
    assert_eq!(
        bodies,
        [
            "Force push rewrites the remote's history. Push without `--force`, or ask the user. (pack:git-safety force-push)"
        ]
    );
}

#[test]
fn a_phantom_stop_notifies_nobody() {
    let config = "notifications: {enabled: true, hooks: ['*']}";
    assert_eq!(titles(Test::stop().config(config).agent("")), Vec::<String>::new());
}

/// A stop that is notified, at a bus with this address.
fn at_bus(address: &str) -> Test {
    let test = Test::stop().config("notifications: {enabled: true, hooks: ['*']}");
    let test = test.env("CONCLAUDE_LOG", "debug").env("CONCLAUDE_NOTIFY_WAIT_MS", "10000");
    if address.is_empty() { test } else { test.env("DBUS_SESSION_BUS_ADDRESS", address) }
}

/// Makes the call, expects nothing on stdout, and gives the line of the log about notifications.
fn logged(test: Test) -> String {
    let done = test.run().silent();
    let lines: Vec<&str> = done.stderr.lines().filter(|line| line.contains("notification")).collect();
    lines.join("\n")
}

#[test]
fn without_a_bus_there_is_a_debug_line_and_nothing_else() {
    let addresses = ["", "unix:path=/no/such/socket", "nonsense", "tcp:host=127.0.0.1,port=1"];
    assert_snapshot!(addresses.map(|address| logged(at_bus(address))).join("\n"), @"
    conclaude: debug: no notification: there is no session bus
    conclaude: debug: no notification: Failed to connect to address `unix:path=/no/such/socket`: No such file or directory (os error 2)
    conclaude: debug: no notification: address error: Invalid address. See https://dbus.freedesktop.org/doc/dbus-specification.html#addresses
    conclaude: debug: no notification: Failed to connect to address `tcp:host=127.0.0.1,port=1`: Connection refused (os error 111)
    ");
}

#[test]
fn a_bus_that_never_answers_does_not_hang_the_hook() {
    let folder = scratch();
    let path = folder.path().join("bus");
    // It accepts connections, in its backlog, and says nothing.
    let _silent = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let test = at_bus(&format!("unix:path={}", path.display())).without_env("CONCLAUDE_NOTIFY_WAIT_MS");
    let test = test.env("TEST_LIMIT_OF_CONCLAUDE", "0");
    assert_snapshot!(logged(test), @"conclaude: debug: no notification: no answer within 100 ms");
}

#[test]
fn a_bus_without_a_notification_server_is_not_a_failure() {
    let desktop = Desktop::without_server();
    assert_snapshot!(logged(at_bus(desktop.address())), @"conclaude: debug: no notification: org.freedesktop.DBus.Error.ServiceUnknown: The name org.freedesktop.Notifications was not provided by any .service files");
}

/// Nothing of the event went wrong, so nobody is notified, and the record says so.
#[test]
fn a_config_error_elsewhere_is_no_failure_of_the_event_in_its_record() {
    let notified = |run: &str| {
        let config = format!(
            "notifications: {{enabled: true, hooks: ['*'], showErrors: true, showSystemEvents: false}}\n\
             stop: {{commands: [{{run: '{run}'}}]}}\n"
        );
        let test =
            Test::event("Stop").config(&config).file(".conclaude.local.yaml", "preToolUse: {nothing: 1}\n");
        let test = test.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
        let outcome = test.run();
        let (_, stdout, _) = run_in(&outcome.root(), &["audit", "show", "--json"]);
        let record: serde_json::Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
        (record["decision"].as_str().unwrap().to_owned(), record.get("notification").cloned())
    };
    assert_eq!(notified("true"), ("allowed".into(), None));
    assert_eq!(notified("false"), ("blocked".into(), Some("failure".into())));
}
