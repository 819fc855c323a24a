//! A report of a trail that took months.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::trail::long_trail;
use crate::common::{Test, conclaude_in};
use crate::support::{alone, figure, wait_with_peak};

#[test]
fn a_report_of_a_long_trail_needs_little_memory() {
    let _alone = alone();
    for (records, most) in [(100_000, 64.0), (1_000_000, 256.0)] {
        let test = Test::stop();
        long_trail(&test.root(), records);
        for format in ["html", "md", "json"] {
            let path = test.root().join(format!("report.{format}"));
            let mut command = conclaude_in(&test.root());
            command.args(["report", "-o"]).arg(&path).stdout(Stdio::null());
            let (status, peak) = wait_with_peak(&mut command.spawn().unwrap());
            assert!(status.success(), "{format}: {status}");
            figure(&format!("{format} of {records} records in {peak:.0} MB"));
            assert!(peak > 0.0 && peak < most, "{format} of {records} records: {peak:.0} MB");
        }
    }
}

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
