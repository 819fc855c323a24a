//! Collectors that are down, slow, busy or picky.

use super::*;

#[test]
fn a_collector_that_is_down_loses_nothing() {
    let test = with_records(1);
    let closed = ClosedPort::new();
    let url = closed.url.clone();
    assert_snapshot!(export(&test, &url, &[]), @"
    exit 1
    ----- stderr
    conclaude: logs: cannot reach http://127.0.0.1:[PORT]/v1/logs: Connection refused (os error 111)
    ");
    let test = test.run().silent().again();
    let collector = closed.open();
    assert_snapshot!(export(&test, &url, &[]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 2 records as logs; 2 records as traces; 2 records as metrics
    ");
    assert_eq!(logged(&collector.received()), [[1, 2]]);
}

#[test]
fn a_collector_that_never_answers_is_given_up() {
    let collector = Collector::answering(|_, _| Reply::Nothing);
    let test = with_records(1);
    let mut export = conclaude_in(&test.root());
    export.args(["audit", "export", "--otlp", &collector.url, "--retry-for", "0"]);
    let output = export.env("TEST_LIMIT_OF_CONCLAUDE", "0").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap().replace(&collector.url, "[URL]");
    assert_snapshot!(said, @"conclaude: logs: [URL]/v1/logs: no answer within 1 s");
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
    conclaude: metrics: http://127.0.0.1:[PORT]/v1/metrics answered 307; redirects are not followed: if http://127.0.0.1:[PORT]/v1/logs is right, use that
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
    sent to http://127.0.0.1:[PORT]: 1 record as logs; 1 record as traces; 1 record as metrics
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
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 2 records as traces; 2 records as metrics
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs answered 503: no logs today; it asks to be called again in [DURATION]
    ");
    let paths = |requests: Vec<Request>| requests.into_iter().map(|request| request.path).collect::<Vec<_>>();
    assert_eq!(paths(collector.received()), ["/v1/logs", "/v1/traces", "/v1/metrics"]);
    let test = test.run().silent().again();
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 1
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 1 record as traces; 1 record as metrics
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs asked to be called again in [DURATION]
    ");
    assert_eq!(
        paths(collector.received()),
        ["/v1/traces", "/v1/metrics"],
        "each has its own position and its own time"
    );
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
    conclaude: metrics: http://127.0.0.1:[PORT]/v1/metrics answered 429: slow down; it asks to be called again in [DURATION]
    ");
    assert_eq!(collector.received().len(), 3, "each signal asks once");
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 1
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs asked to be called again in [DURATION]
    conclaude: traces: http://127.0.0.1:[PORT]/v1/traces asked to be called again in [DURATION]
    conclaude: metrics: http://127.0.0.1:[PORT]/v1/metrics asked to be called again in [DURATION]
    ");
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
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 1 record as traces; 1 record as metrics
    ----- stderr
    conclaude: logs: http://127.0.0.1:[PORT]/v1/logs answered 400: {"message": "no \u001b[2Jsuch tenant"}; none of it counts as sent (--since leaves older records out)
    "#);
    let paths: Vec<String> = collector.received().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/logs", "/v1/traces", "/v1/metrics"], "the other signal has a chance of its own");
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
    sent to http://127.0.0.1:[PORT]: 2 records as logs, 1 rejected; 2 records as traces; 2 records as metrics
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
