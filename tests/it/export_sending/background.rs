//! What hooks send, by another process.

use std::io::Write;
use std::sync::mpsc;

use super::*;

#[test]
fn a_hook_answers_first_and_its_record_is_sent_by_another_process() {
    let (go, wait) = mpsc::channel::<()>();
    let collector = Collector::answering(move |_, _| {
        // Nothing is answered before the hook has ended.
        let _ = wait.recv();
        FINE
    });
    let test = Test::event("Stop").config(&format!("telemetry: {{endpoint: '{}'}}\n{CONFIG}", collector.url));
    let test = test.run().silent().again();
    drop(go);
    assert_eq!((collector.next().numbers(), collector.next().numbers()), (vec![1], vec![1]));
    assert_eq!(collector.next().path, "/v1/metrics");
    // What comes while it is at work is sent too, by itself or by the next one.
    let _project = test.run().silent();
    assert_eq!((collector.next().numbers(), collector.next().numbers()), (vec![2], vec![2]));
}

#[test]
fn a_project_that_nobody_trusts_sends_nothing() {
    let collector = Collector::new();
    let config = format!(
        "telemetry: {{endpoint: '{}'}}\npreToolUse: {{uneditableFiles: ['*.lock']}}\n",
        collector.url
    );
    let test = Test::event("PreToolUse")
        .config(&config)
        .flag("--if-trusted")
        .payload("tool_name", "Write")
        .payload("tool_input", serde_json::json!({"file_path": "x.lock", "content": ""}));
    let test = test.run().status(2).again();
    let state = test.root().join(".state-home/conclaude/exports");
    assert!(!state.exists(), "nobody was started");
    test.shows(&["trust", "--yes"]);
    let _project = test.run().status(2);
    assert_eq!((collector.next().numbers(), collector.next().numbers()), (vec![1, 2], vec![1, 2]));
}

#[test]
fn a_collector_that_was_down_a_moment_ago_is_left_alone_by_hooks() {
    let closed = ClosedPort::new();
    let test = Test::event("Stop").config(&format!("telemetry: {{endpoint: '{}'}}\n{CONFIG}", closed.url));
    test.shows(&["trust", "--yes"]);
    // By hand, since nobody could wait for what a hook starts.
    let by_hand = ["audit", "export", "--otlp", "--retry-for", "0"];
    test.shows(&["des", "new", "steps/01.json"]);
    assert!(test.shows(&by_hand).starts_with("exit 1"));
    // After the first failure the moment is short: a busy machine may take longer.
    let folder = test.root().join(".state-home/conclaude/exports");
    let states =
        std::fs::read_dir(folder).unwrap().flat_map(|of| std::fs::read_dir(of.unwrap().path()).unwrap());
    let state = states
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "json"));
    let state = state.unwrap();
    let text = std::fs::read_to_string(&state).unwrap();
    assert_eq!(
        text.matches("\"attempts\":1,").count() + text.matches("\"attempts\":1}").count(),
        3,
        "{text}"
    );
    std::fs::write(&state, text.replace("\"attempts\":1", "\"attempts\":9")).unwrap();
    let test = test.run().silent().again();
    let collector = closed.open();
    assert!(test.shows(&by_hand).starts_with("exit 0"), "nobody else is at it");
    assert_eq!(logged(&collector.received()), [[1, 2]]);
    let _project = test.run().silent();
    assert_eq!(collector.next().numbers(), [3], "it works again");
}

/// One signal does not wait for the other, which would be sent a record at a time as long as there are new ones.
#[test]
fn what_is_recorded_meanwhile_is_sent_with_the_next_call() {
    let test = with_records(1);
    let root = test.root();
    let payload = serde_json::json!({
        "session_id": "s", "transcript_path": root.join("t.jsonl"), "cwd": root, "hook_event_name": "Stop", "stop_hook_active": false,
    });
    let collector = Collector::answering(move |_, request| {
        if request.path == "/v1/logs" {
            let mut hook = conclaude_in(&root);
            hook.arg("Stop").stdin(Stdio::piped()).stderr(Stdio::null());
            let mut hook = hook.spawn().unwrap();
            hook.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
            hook.wait().unwrap();
        }
        FINE
    });
    export(&test, &collector.url, &[]);
    let paths: Vec<String> = collector.received().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/logs", "/v1/traces", "/v1/metrics"]);
}

/// In a container with a fresh home nobody has trusted anything, and the last step sends what is left.
#[test]
fn export_sends_where_hooks_do_and_nowhere_else() {
    let collector = Collector::new();
    let test = with_records(1).config(&format!("telemetry: {{endpoint: '{}'}}\n{CONFIG}", collector.url));
    let by_hand = ["audit", "export", "--otlp", "--retry-for", "0"];
    assert!(test.shows(&by_hand).contains("is not trusted, and names the endpoint"), "nothing is registered");
    test.shows(&["install", "--user"]);
    assert!(test.shows(&by_hand).contains("is not trusted, and names the endpoint"), "trust is asked for");
    let telemetry =
        |test: &Test| test.shows(&["doctor"]).lines().filter(|line| line.contains(" telemetry ")).count();
    assert_eq!(telemetry(&test), 0, "nothing is said to be sent");
    test.shows(&["uninstall", "--user"]);
    test.shows(&["install"]);
    assert_snapshot!(test.shows(&by_hand), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 1 record as logs; 1 record as traces; 1 record as metrics
    ");
    assert_eq!(logged(&collector.received()), [[1]]);
    assert_eq!(telemetry(&test), 1);
}

#[test]
fn what_the_environment_lacked_is_looked_for_again_in_the_next_session() {
    let collector = Collector::new();
    let headers = "{authorization: 'Bearer ${COLLECTOR_TOKEN}'}";
    let config = format!("telemetry: {{endpoint: '{}', headers: {headers}}}\n{CONFIG}", collector.url);
    let test = with_records(1).config(&config);
    // As a hook starts it.
    assert!(
        test.shows(&["audit", "export", "--otlp", "--background"]).contains("COLLECTOR_TOKEN is not set")
    );
    let test = test.then("SessionStart").env("COLLECTOR_TOKEN", "x");
    let _project = test.run().status(0);
    assert_eq!(collector.next().numbers(), [1]);
}
