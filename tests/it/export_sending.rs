//! Sending to a collector that is down, slow, busy or picky: nothing is lost, and nothing is sent twice after a success.

mod answers;
mod background;
mod headers;
mod tls;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use insta::assert_snapshot;

use crate::common::collector::{ClosedPort, Collector, FINE, Reply, Request};
use crate::common::{Test, conclaude_in};

/// Every event is recorded.
const CONFIG: &str = "stop: {commands: [{run: 'true'}]}\n";

/// A project with this number of records.
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

#[test]
fn each_record_is_sent_once() {
    let (test, collector) = (with_records(2), Collector::new());
    export(&test, &collector.url, &[]);
    assert_eq!(logged(&collector.received()), [[1, 2]]);
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 0 records as traces; 0 records as metrics
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
fn a_trail_that_was_moved_away_before_the_collector_was_ever_up_is_sent_all_the_same() {
    let test = with_records(2);
    let collector = Collector::answering(|number, _| match number {
        0..=2 => Reply::Says("401 Unauthorized", "", ""),
        _ => FINE,
    });
    export(&test, &collector.url, &[]);
    test.shows(&["audit", "reset"]);
    let test = test.run().silent().again();
    collector.received();
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 4 records as logs; 4 records as traces; 4 records as metrics
    ");
    // The reset is a record, too.
    assert_eq!(logged(&collector.received()).concat(), [1, 2, 3, 4]);
}

/// Kills the exporting process at this request, which is accepted, and exports again; everything that was sent.
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
    assert_eq!(paths, ["/v1/logs", "/v1/logs", "/v1/traces", "/v1/metrics"]);
    assert_eq!(requests[0].ids(), requests[1].ids());
}

#[test]
fn what_was_accepted_before_a_kill_is_not_sent_again() {
    let requests = killed_at(1);
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/logs", "/v1/traces", "/v1/traces", "/v1/metrics"]);
    assert_eq!(requests[1].ids(), requests[2].ids());
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
    sent to http://127.0.0.1:[PORT]: 1 record as logs; 1 record as traces; 1 record as metrics
    ----- stderr
    conclaude: warning: logs: the position up to which it was sent is no longer in the trail, so all of it is sent
    conclaude: warning: traces: the position up to which it was sent is no longer in the trail, so all of it is sent
    conclaude: warning: metrics: the position up to which it was sent is no longer in the trail, so all of it is sent
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
    sent to http://127.0.0.1:[PORT]: 0 records as logs; 0 records as traces; 0 records as metrics
    ");
    export(&test, &collector.url, &[]);
    assert!(collector.received().is_empty(), "they count as done");
}

#[test]
fn follow_sends_new_records_until_it_is_stopped() {
    let (test, collector) = (with_records(1), Collector::new());
    let mut following = conclaude_in(&test.root());
    following.args(["audit", "export", "--otlp", &collector.url, "--follow"]);
    let mut following = following.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!((collector.next().numbers(), collector.next().numbers()), (vec![1], vec![1]));
    assert_eq!(collector.next().path, "/v1/metrics");
    assert_snapshot!(export(&test, &collector.url, &[]), @"
    exit 1
    ----- stderr
    conclaude: another process is sending to http://127.0.0.1:[PORT]: try again later
    ");
    let test = test.run().silent().again();
    assert_eq!((collector.next().numbers(), collector.next().numbers()), (vec![2], vec![2]));
    let pid = rustix::process::Pid::from_child(&following);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(following.wait().unwrap().code(), Some(0));
    drop(test);
}
