//! Sending to a collector that is down, slow, busy or picky: nothing is lost, and nothing is sent twice after a success.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};

use insta::assert_snapshot;

use crate::common::collector::{Collector, FINE, Reply, Request};
use crate::common::{Test, conclaude_in};

/// Every event is recorded.
const CONFIG: &str = "stop: {commands: [{run: 'true'}]}\n";

/// A project with so many records.
fn with_records(count: usize) -> Test {
    let mut test = Test::event("Stop").config(CONFIG);
    for _ in 0..count {
        test = test.run().silent().again();
    }
    test
}

fn export(test: &Test, url: &str, more: &[&str]) -> String {
    let shown = test.shows(&[&["audit", "export", "--otlp", url, "--retry-for", "0"], more].concat());
    shown.replace(url, "[URL]")
}

/// The numbers of the records that came as logs.
fn logged(requests: &[Request]) -> Vec<Vec<i64>> {
    requests.iter().filter(|request| request.path == "/v1/logs").map(Request::numbers).collect()
}

/// Nobody listens there.
fn closed() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

#[test]
fn each_record_is_sent_once() {
    let (test, collector) = (with_records(2), Collector::new());
    export(&test, &collector.url, &[]);
    assert_eq!(logged(&collector.received()), [[1, 2]]);
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 0 records as traces
    ");
    assert!(collector.received().is_empty());
    let test = test.run().silent().again();
    export(&test, &format!("{}/v1/logs", collector.url), &[]);
    assert_eq!(logged(&collector.received()), [[3]], "the same endpoint, with a path");
    let other = Collector::new();
    export(&test, &other.url, &[]);
    assert_eq!(logged(&other.received()), [[1, 2, 3]], "another endpoint has none yet");
}

#[test]
fn a_collector_that_is_down_loses_nothing() {
    let test = with_records(1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    assert_snapshot!(export(&test, &url, &[]), @"
    exit 1
    ----- stderr
    conclaude: logs: cannot reach http://127.0.0.1:[PORT]/v1/logs: curl exited with code 7: curl: (7) [WHY]
    ");
    let test = test.run().silent().again();
    let address = url.strip_prefix("http://").unwrap();
    let collector = Collector::on(TcpListener::bind(address).unwrap(), |_, _| FINE);
    assert_snapshot!(export(&test, &url, &[]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 2 records as logs; 2 records as traces
    ");
    assert_eq!(logged(&collector.received()), [[1, 2]]);
}

#[test]
fn a_trail_that_was_moved_away_before_the_collector_was_ever_up_is_sent_all_the_same() {
    let test = with_records(2);
    let collector = Collector::answering(|number, _| match number {
        0 | 1 => Reply::Says("401 Unauthorized", "", ""),
        _ => FINE,
    });
    export(&test, &collector.url, &[]);
    test.shows(&["audit", "reset"]);
    let test = test.run().silent().again();
    collector.received();
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 4 records as logs; 4 records as traces
    ");
    // The reset is a record, too.
    assert_eq!(logged(&collector.received()).concat(), [1, 2, 3, 4]);
}

/// Kills whoever exports at this request, which is accepted, and exports again; everything that was sent.
fn killed_at(request: usize) -> Vec<Request> {
    let test = with_records(2);
    let victim = Arc::new(AtomicU32::new(0));
    let killer = Arc::clone(&victim);
    let collector = Collector::answering(move |number, _| {
        if number == request {
            while killer.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            let pid = killer.load(Ordering::SeqCst).cast_signed();
            rustix::process::kill_process(
                rustix::process::Pid::from_raw(pid).unwrap(),
                rustix::process::Signal::KILL,
            )
            .unwrap();
        }
        FINE
    });
    let mut killed = conclaude_in(&test.root());
    killed.args(["audit", "export", "--otlp", &collector.url]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut killed = killed.spawn().unwrap();
    victim.store(killed.id(), Ordering::SeqCst);
    assert_eq!(killed.wait().unwrap().code(), None);
    export(&test, &collector.url, &[]);
    collector.received()
}

#[test]
fn whoever_is_killed_before_it_notes_a_success_sends_the_same_spans_again() {
    let requests = killed_at(0);
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/logs", "/v1/logs", "/v1/traces"]);
    assert_eq!(requests[0].ids(), requests[1].ids());
}

#[test]
fn what_was_accepted_before_a_kill_is_not_sent_again() {
    let requests = killed_at(1);
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/logs", "/v1/traces", "/v1/traces"]);
    assert_eq!(requests[1].ids(), requests[2].ids());
}

/// What curl says of TLS is for those who call it: what to change is said by us.
#[test]
fn a_failure_of_tls_says_what_to_do() {
    let curl = "#!/bin/sh\necho \"curl: ($CODE) $SAID\" >&2\necho 'More details here' >&2\nexit $CODE\n";
    let test = with_records(1).file("bin/curl", curl);
    let folder = test.root().join("bin");
    std::fs::set_permissions(folder.join("curl"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let failures = [
        ("60", "SSL certificate problem: self-signed certificate"),
        ("35", "wrong version number"),
        ("1", "Protocol \"https\" not supported"),
    ];
    let shown = failures.map(|(code, said)| {
        let mut command = conclaude_in(&test.root());
        command.env("PATH", &path).env("CODE", code).env("SAID", said);
        let output =
            command.args(["audit", "export", "--otlp", "https://otel.example.com"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "once, since it would fail again");
        String::from_utf8(output.stderr).unwrap()
    });
    assert_snapshot!(shown.concat(), @r#"
    conclaude: logs: cannot reach https://otel.example.com/v1/logs: curl exited with code 60: curl: (60) SSL certificate problem: self-signed certificate; where the certificate is of an authority of your own, CURL_CA_BUNDLE=FILE names that
    conclaude: logs: cannot reach https://otel.example.com/v1/logs: curl exited with code 35: curl: (35) wrong version number; is there a server with TLS? Without it the URL starts with http://
    conclaude: logs: cannot reach https://otel.example.com/v1/logs: curl exited with code 1: curl: (1) Protocol "https" not supported; this curl does not support the protocol of the URL
    "#);
}

#[test]
fn a_collector_that_never_answers_is_given_up() {
    let collector = Collector::answering(|_, _| Reply::Nothing);
    let test = with_records(1);
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 1
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs: no answer within 1 s
    ");
    assert_eq!(collector.received().len(), 1);
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Collector::new();
    let location: &'static str = format!("location: {}/v1/logs\r\n", elsewhere.url).leak();
    let collector = Collector::answering(move |_, _| Reply::Says("307 Temporary Redirect", location, ""));
    let shown = export(&with_records(1), &collector.url, &[]).replace(&elsewhere.url, "[ELSEWHERE]");
    assert_snapshot!(shown, @"
    exit 1
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs answered 307; redirects are not followed: if http://127.0.0.1:[PORT]/v1/logs is right, use that
    conclaude: traces: http://127.0.0.1:[PORT]/v1/traces answered 307; redirects are not followed: if http://127.0.0.1:[PORT]/v1/logs is right, use that
    ");
    assert!(elsewhere.received().is_empty());
}

#[test]
fn a_busy_collector_is_asked_again_when_it_said() {
    let busy = || Reply::Says("503 Service Unavailable", "retry-after: 0\r\n", "");
    let collector = Collector::answering(move |number, _| if number < 2 { busy() } else { FINE });
    let test = with_records(1);
    let shown = test.shows(&["audit", "export", "--otlp", &collector.url]);
    assert_snapshot!(shown, @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 1 record as logs; 1 record as traces
    ");
    assert_eq!(logged(&collector.received()), [[1], [1], [1]]);
}

/// Logs and traces may go to different places behind one endpoint.
#[test]
fn a_signal_that_is_refused_keeps_no_other_from_being_sent() {
    let collector = Collector::answering(|_, request| match request.path.as_str() {
        "/v1/logs" => Reply::Says("503 Service Unavailable", "retry-after: 3600\r\n", "no logs today"),
        _ => FINE,
    });
    let test = with_records(2);
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 1
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 2 records as traces
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs answered 503: no logs today; it asks to be called again in [DURATION]
    ");
    let paths = |requests: Vec<Request>| requests.into_iter().map(|request| request.path).collect::<Vec<_>>();
    assert_eq!(paths(collector.received()), ["/v1/logs", "/v1/traces"]);
    let test = test.run().silent().again();
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 1
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 1 record as traces
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs asked to be called again in [DURATION]
    ");
    assert_eq!(paths(collector.received()), ["/v1/traces"], "each has its own position and its own time");
}

#[test]
fn a_collector_that_asks_for_an_hour_gets_it_also_from_the_next_process() {
    let collector = Collector::answering(|_, _| {
        Reply::Says("429 Too Many Requests", "retry-after: 3600\r\n", "slow down")
    });
    let test = with_records(1);
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 1
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs answered 429: slow down; it asks to be called again in [DURATION]
    conclaude: traces: http://127.0.0.1:[PORT]/v1/traces answered 429: slow down; it asks to be called again in [DURATION]
    ");
    assert_eq!(collector.received().len(), 2, "each signal asks once");
    let again = export(&test, &collector.url, &[]);
    assert!(again.starts_with("exit 1") && again.contains("asked to be called again in"), "{again}");
    assert!(collector.received().is_empty());
}

#[test]
fn what_a_collector_refuses_is_reported_and_not_tried_again() {
    let collector = Collector::answering(|number, _| match number {
        0 => Reply::Says("400 Bad Request", "", "{\"message\": \"no \\u001b[2Jsuch tenant\"}"),
        _ => FINE,
    });
    let test = with_records(1);
    let shown = test.shows(&["audit", "export", "--otlp", &collector.url]);
    assert_snapshot!(shown, @r#"
    exit 1
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 1 record as traces
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs answered 400: {"message": "no \u001b[2Jsuch tenant"}; nothing of it counts as sent (--since leaves older records out)
    "#);
    let paths: Vec<String> = collector.received().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/logs", "/v1/traces"], "the other signal has a chance of its own");
    export(&test, &collector.url, &[]);
    assert_eq!(logged(&collector.received()), [[1]], "it does not count as sent");
}

#[test]
fn what_a_collector_rejects_of_a_request_is_reported_and_not_sent_again() {
    let partial = r#"{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}"#;
    let collector = Collector::answering(move |number, _| match number {
        0 => Reply::Says("200 OK", "", partial),
        _ => FINE,
    });
    let test = with_records(2);
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 1
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 2 records as logs, 1 rejected; 2 records as traces
    ----- stderr
    conclaude: warning: http://127.0.0.1:[PORT]/v1/logs: 1 rejected: too old
    ");
    collector.received();
    export(&test, &collector.url, &[]);
    assert!(collector.received().is_empty());
}

#[test]
fn a_request_that_is_too_large_is_sent_in_parts() {
    let collector = Collector::answering(|_, request| match request.numbers().len() {
        0..=2 => FINE,
        _ => Reply::Says("413 Content Too Large", "", ""),
    });
    let test = with_records(5);
    export(&test, &collector.url, &[]);
    assert_eq!(logged(&collector.received()), [vec![1, 2, 3, 4, 5], vec![1, 2], vec![3, 4], vec![5]]);
}

#[test]
fn a_trail_in_many_files_that_was_moved_away_is_sent_to_its_end() {
    let test = with_records(1);
    let collector = Collector::new();
    export(&test, &collector.url, &[]);
    let long = format!(
        "stop: {{commands: [{{run: 'true {}'}}]}}\naudit: {{maxFileBytes: 4096}}\n",
        "x".repeat(1_000)
    );
    let mut test = test.config(&long);
    for _ in 0..8 {
        test = test.run().silent().again();
    }
    let files = std::fs::read_dir(test.root().join(".conclaude/audit")).unwrap().count();
    assert!(files > 1, "{files}");
    test.shows(&["audit", "reset"]);
    let test = test.run().silent().again();
    collector.received();
    export(&test, &collector.url, &[]);
    // The reset is a record, too.
    assert_eq!(logged(&collector.received()).concat(), (2..=11).collect::<Vec<_>>());
}

#[test]
fn half_a_line_at_the_end_is_sent_when_it_is_whole() {
    let (test, collector) = (with_records(2), Collector::new());
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    export(&test, &collector.url, &[]);
    assert_eq!(logged(&collector.received()), [[1]]);
    std::fs::write(&path, text).unwrap();
    export(&test, &collector.url, &[]);
    assert_eq!(logged(&collector.received()), [[2]]);
}

#[test]
fn a_position_that_is_gone_is_reported_and_all_is_sent() {
    let (test, collector) = (with_records(1), Collector::new());
    export(&test, &collector.url, &[]);
    let first = collector.received();
    std::fs::remove_dir_all(test.root().join(".conclaude/audit")).unwrap();
    let test = test.run().silent().again();
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 1 record as logs; 1 record as traces
    ----- stderr
    conclaude: warning: logs: the position up to which it was sent is not in the trail any more, so all of it is sent
    conclaude: warning: traces: the position up to which it was sent is not in the trail any more, so all of it is sent
    ");
    assert_eq!((logged(&first), logged(&collector.received())), (vec![vec![1]], vec![vec![2]]));
}

#[test]
fn older_records_can_be_left_out() {
    let (test, collector) = (with_records(1), Collector::new());
    let later = "2099-01-01T00:00:00Z";
    assert_snapshot!(export(&test, &collector.url, &["--since", later]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 0 records as traces
    ");
    export(&test, &collector.url, &[]);
    assert!(collector.received().is_empty(), "they count as done");
}

#[test]
fn headers_come_from_the_environment_and_are_never_shown() {
    let collector = Collector::answering(|_, _| Reply::Says("401 Unauthorized", "", ""));
    let headers = "{Authorization: 'Bearer ${COLLECTOR_TOKEN}', x-team: blue}";
    let config = format!("telemetry: {{endpoint: '{}', headers: {headers}}}\n{CONFIG}", collector.url);
    let test = with_records(1).config(&config);
    let root = test.root();
    let call = |token: Option<&str>, url: &[&str]| {
        let mut command = conclaude_in(&root);
        command.args(["audit", "export", "--otlp"]).args(url).env("OTEL_EXPORTER_OTLP_HEADERS", "x-other=1");
        token.map(|token| command.env("COLLECTOR_TOKEN", token));
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text)
            .unwrap()
            .replace(&collector.url, "[URL]")
            .replace(root.to_str().unwrap(), "[ROOT]")
    };
    assert_snapshot!(call(Some("very-secret"), &[]), @"conclaude: [ROOT]/.conclaude.yaml is not trusted, and names the endpoint [URL]: `conclaude trust` shows what you agree to");
    assert_snapshot!(call(Some("very-secret"), &[&collector.url]), @"
    conclaude: warning: [ROOT]/.conclaude.yaml is not trusted: none of its `telemetry.headers` are sent
    conclaude: logs: [URL]/v1/logs answered 401; check the `headers`
    conclaude: traces: [URL]/v1/traces answered 401; check the `headers`
    ");
    let head = collector.next().head;
    assert!(head.contains("x-other: 1\r\n") && !head.contains("secret"), "the user named it: {head}");
    collector.received();
    test.shows(&["trust", "--yes"]);
    assert_snapshot!(call(None, &[]), @"conclaude: telemetry.headers: Authorization: the environment variable COLLECTOR_TOKEN is not set");
    assert!(collector.received().is_empty());
    assert_snapshot!(call(Some("very-secret"), &[]), @"
    conclaude: logs: [URL]/v1/logs answered 401; check the `headers`
    conclaude: traces: [URL]/v1/traces answered 401; check the `headers`
    ");
    let head = collector.next().head;
    assert!(
        head.contains("Authorization: Bearer very-secret\r\n") && head.contains("x-team: blue\r\n"),
        "{head}"
    );
    assert!(!head.contains("x-other"), "{head}");
    let other = Collector::new();
    call(Some("very-secret"), &[&other.url]);
    let head = other.next().head;
    assert!(
        head.contains("x-other: 1\r\n") && !head.contains("secret"),
        "only its own endpoint gets a header: {head}"
    );
}

#[test]
fn a_token_that_is_written_in_the_config_is_shown_nowhere() {
    let collector = Collector::answering(|_, _| Reply::Says("401 Unauthorized", "", ""));
    let headers = "{Authorization: very-secret, x-team: '${TEAM}'}";
    let config = format!("telemetry: {{endpoint: '{}', headers: {headers}}}\n{CONFIG}", collector.url);
    let test = Test::event("Stop").config(&config).env("CONCLAUDE_LOG", "debug");
    let test = test.run().nowhere("very-secret").again();
    test.shows(&["trust", "--yes"]);
    let shown = test.shows(&["config", "show"]);
    assert!(
        shown.contains("Authorization: \"(not shown)\"") && shown.contains("x-team: \"${TEAM}\""),
        "{shown}"
    );
    for arguments in [
        &["config", "show", "--json", "--origin"][..],
        &["audit", "show", "--json"],
        &["audit", "export", "--otlp", "--retry-for", "0"],
        &["doctor"],
        &["trust"],
        &["validate"],
    ] {
        let shown = test.shows(arguments);
        assert!(!shown.contains("very-secret"), "{arguments:?}: {shown}");
    }
}

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
    let url = closed();
    let test = Test::event("Stop").config(&format!("telemetry: {{endpoint: '{url}'}}\n{CONFIG}"));
    test.shows(&["trust", "--yes"]);
    // By hand, since nobody could wait for what a hook starts.
    let by_hand = ["audit", "export", "--otlp", "--retry-for", "0"];
    test.shows(&["des", "new", "steps/01.json"]);
    assert!(test.shows(&by_hand).starts_with("exit 1"));
    let test = test.run().silent().again();
    let collector =
        Collector::on(TcpListener::bind(url.strip_prefix("http://").unwrap()).unwrap(), |_, _| FINE);
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
    assert_eq!(paths, ["/v1/logs", "/v1/traces"]);
}

#[test]
fn follow_sends_new_records_until_it_is_stopped() {
    let (test, collector) = (with_records(1), Collector::new());
    let mut following = conclaude_in(&test.root());
    following.args(["audit", "export", "--otlp", &collector.url, "--follow"]);
    let mut following = following.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!((collector.next().numbers(), collector.next().numbers()), (vec![1], vec![1]));
    let busy = test.shows(&["audit", "export", "--otlp", &collector.url, "--retry-for", "0"]);
    assert!(busy.contains("another process is sending to"), "{busy}");
    let test = test.run().silent().again();
    assert_eq!((collector.next().numbers(), collector.next().numbers()), (vec![2], vec![2]));
    let pid = rustix::process::Pid::from_child(&following);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(following.wait().unwrap().code(), Some(0));
    drop(test);
}
