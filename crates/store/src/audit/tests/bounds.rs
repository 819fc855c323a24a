//! The cost of a trail is bounded, whatever its length and its content are.

use super::super::append::{MAX_BATCH_BYTES, body_of, take_batch};
use super::super::lines::Lines;
use super::*;

#[test]
fn thousands_of_empty_files_and_of_queued_records_cost_little() {
    let project = with_records(1, 1 << 20);
    for number in 2..3_000 {
        fs::write(project.trail.file(number), "").unwrap();
    }
    for end in [true, false] {
        if !end {
            fs::remove_file(&project.outside().end).unwrap();
        }
        project.trail.append(&record(2)).unwrap();
    }
    assert_eq!(verify(&project.trail).unwrap().good, 3);
    assert_eq!(fs::read_to_string(project.trail.file(1)).unwrap().lines().count(), 3);
}

#[test]
fn queued_records_are_written_in_batches() {
    let project = with_records(1, 64 << 20);
    let findings = vec![Value::from("x".repeat(4_000)); 100];
    let lock = project.held();
    let body = body_of(&Record { findings, ..record(2) }).unwrap();
    (0..10).for_each(|_| project.trail.queue(&body).unwrap());
    drop(lock);
    let mut pending = project.pending().into_iter();
    let batch = take_batch(&mut pending).unwrap();
    let bytes: usize = batch.records.iter().map(|record| record.body.len()).sum();
    assert!(batch.records.len() > 1 && bytes < MAX_BATCH_BYTES);
    assert!(pending.next().is_some(), "the rest is left");
    project.trail.write_pending().unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(11));
    assert_eq!(project.pending(), Vec::<PathBuf>::new());
}

#[test]
fn a_line_longer_than_any_record_is_not_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let long = "x".repeat(3 << 20);
    fs::write(&path, format!("a\n{long}\nb\n{long}")).unwrap();
    let mut lines = Lines::open(&path, 0).unwrap();
    let mut found = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        found.push((line.text.into_owned(), line.is_whole, line.end));
    }
    let at = |n: u64| 2 + n;
    let [first, second] = [at(long.len() as u64 + 1), at(long.len() as u64 + 3)];
    let text = |text: &str| text.to_owned();
    let all = [
        (text("a"), true, 2),
        (text(""), true, first),
        (text("b"), true, second),
        (text(""), false, second + long.len() as u64),
    ];
    assert_eq!(found, all);
}

#[test]
fn counts_have_room_for_so_many_names() {
    let mut stats = Stats::default();
    for n in 0..20_000 {
        stats.add(&serde_json::json!({ "agent": format!("{n:0500}"), "decision": "d" }));
    }
    assert!(stats.agents.len() < 10_000);
    let counted: u64 = stats.agents.values().flat_map(|decisions| decisions.values()).sum();
    assert_eq!(counted, 20_000);
}
