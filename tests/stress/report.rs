//! A report of a trail that took months.

use std::time::{Duration, Instant};

use crate::common::trail::long_trail;
use crate::common::{Test, conclaude_in};
use crate::support::figure;

#[test]
fn a_report_of_100_000_records_is_there_at_once() {
    let test = Test::stop();
    long_trail(&test.root(), 100_000);
    for format in ["html", "md", "json"] {
        let path = test.root().join(format!("report.{format}"));
        let started = Instant::now();
        let output = conclaude_in(&test.root()).args(["report", "-o"]).arg(&path).output().unwrap();
        let took = started.elapsed();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        figure(&format!("{format} in {} ms, {} bytes", took.as_millis(), path.metadata().unwrap().len()));
        // It is to be under two seconds, on a machine that has nothing else to do.
        assert!(took < Duration::from_secs(60), "{took:?}");
    }
}
