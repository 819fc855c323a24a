//! The anchor outside the project shows records that somebody else wrote, changed or removed.

use super::*;

/// A run of a phase, as `des run` records it.
fn run(phase: &str) -> Record {
    Record { event: "des run".into(), step: Some("s".into()), phase: Some(phase.into()), ..record(0) }
}

/// A line that follows this one, as anybody can compute it.
fn forged(last: &str) -> String {
    let link = ChainLink::read(last).unwrap();
    let body = format!(
        r#"{{"seq":{},"event":"des run","step":"s","phase":"forged","prev":"{}"}}"#,
        link.seq + 1,
        link.hash
    );
    format!(r#"{},"hash":"{}"}}"#, body.strip_suffix('}').unwrap(), hash_of(&body))
}

#[test]
fn a_run_is_found_in_any_file_and_after_a_reset() {
    let project = with_records(3, 1_024);
    project.trail.append(&run("RED")).unwrap();
    let seq = |phase: &str| Some(project.trail.last_run("s", phase).unwrap()?["seq"].as_u64().unwrap());
    assert_eq!((seq("RED"), seq("GREEN")), (Some(4), None));
    (5..=14).for_each(|n| project.trail.append(&record(n)).unwrap());
    assert!(project.trail.files().unwrap().len() > 2);
    project.trail.reset(None).unwrap();
    assert_eq!(project.trail.last_number(), 15);
    project.trail.append(&run("GREEN")).unwrap();
    project.trail.reset(None).unwrap();
    assert_eq!((seq("RED"), seq("GREEN")), (Some(4), Some(16)));
    assert_eq!(verify(&project.trail).unwrap(), in_order(1));
    // A queued one counts when it is written.
    let lock = project.held();
    project.trail.append(&run("COMMIT")).unwrap();
    assert_eq!(seq("COMMIT"), None);
    drop(lock);
    project.trail.write_pending().unwrap();
    assert_eq!(seq("COMMIT"), Some(18));
}

#[test]
fn a_run_that_was_edited_or_removed_is_none() {
    let gone = |change: fn(&Project)| {
        let project = with_records(1, 1 << 20);
        project.trail.append(&run("RED")).unwrap();
        change(&project);
        project.trail.last_run("s", "RED").unwrap_err().to_string()
    };
    let changed = "record 2 of the audit trail was changed or removed: `conclaude audit verify` says more";
    assert_eq!(
        gone(|project| drop(project.tamper(|lines| lines[1] = lines[1].replace("allowed", "altered")))),
        changed
    );
    assert_eq!(gone(|project| drop(project.tamper(|lines| drop(lines.remove(0))))), changed);
    assert_eq!(gone(|project| drop(project.tamper(|lines| lines.truncate(1)))), changed);
    assert_eq!(gone(|project| fs::remove_file(project.file()).unwrap()), changed);
}

#[test]
fn a_record_that_somebody_else_appended_is_named_before_and_after_the_next_one() {
    let project = with_records(3, 1 << 20);
    let problem = project.tamper(|lines| lines.extend([forged(&lines[2])]));
    let file = project.file().display().to_string();
    let beyond = "record 4 was not written by conclaude: the last one it wrote is 3, says the copy of the end that is kept outside the project";
    assert_eq!(problem, format!("{file}:4: {beyond}"));
    let mut doubts = Vec::new();
    let note = |entry: &TrailEntry| {
        doubts.extend(entry.doubt.clone());
        Ok(())
    };
    Reader::new(&project.trail).each(&Filter::default(), note).unwrap();
    assert_eq!(doubts, [beyond]);
    // The chain continues at our last record, and not at the forged ones.
    project.tamper(|lines| lines.extend([forged(&lines[3])]));
    (4..=6).for_each(|n| project.trail.append(&record(n)).unwrap());
    let verdict = verify(&project.trail).unwrap();
    let inserted =
        "record 4 follows record 3 here: the records 4 to 5 before it were not written by conclaude";
    assert_eq!((verdict.good, verdict.problem.unwrap()), (3, format!("{file}:6: {inserted}")));
    let mut reader = Reader::new(&project.trail);
    reader.each(&Filter::default(), |_| Ok(())).unwrap();
    assert_eq!((reader.total, reader.doubtful), (8, 1));
    assert_eq!(project.trail.last_run("s", "forged").unwrap(), None);
}

#[test]
fn an_end_that_is_not_kept_is_reported_for_good() {
    let project = with_records(5, 1 << 20);
    fs::remove_file(&project.outside().end).unwrap();
    project.tamper(|lines| lines.truncate(3));
    let verdict = verify(&project.trail).unwrap();
    assert_eq!((verdict.good, verdict.problem, verdict.compared), (3, None, false));
    assert!(verdict.warnings[0].contains("cannot be noticed"), "{:?}", verdict.warnings);
    for n in 4..=5 {
        project.trail.append(&record(n)).unwrap();
        let verdict = verify(&project.trail).unwrap();
        assert_eq!((verdict.good, verdict.problem, verdict.compared), (n, None, true));
        let warning = "record 4 was written when there was no copy of the end outside the project: records before it may have been cut off or added";
        assert_eq!(verdict.warnings, [warning]);
    }
}

#[test]
fn a_writer_that_was_killed_leaves_a_trail_in_order() {
    use crate::audit::chain::{Anchor, RecordPosition};
    let project = with_records(2, 1 << 20);
    let end = project.trail.read_anchor().unwrap();
    // Killed before it wrote the record: the anchor already has the new end.
    let next = RecordPosition { seq: 3, hash: "f".repeat(64), file: end.last.file.clone() };
    project.trail.keep_anchor(&Anchor { last: end.last.clone(), next: Some(next) }).unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(2));
    project.trail.append(&record(3)).unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(3));
    // Killed after it wrote the record, and before it updated the anchor.
    let next = project.trail.read_anchor().unwrap().last;
    project.trail.keep_anchor(&Anchor { last: end.last, next: Some(next) }).unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(3));
    project.trail.append(&record(4)).unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(4));
}

#[test]
fn a_trail_of_an_older_version_is_in_order_and_goes_on() {
    let project = with_records(3, 1 << 20);
    let old = |seq: u64| {
        let line = fs::read_to_string(project.file())
            .unwrap()
            .lines()
            .nth(usize::try_from(seq).unwrap() - 1)
            .unwrap()
            .to_owned();
        let hash = ChainLink::read(&line).unwrap().hash.to_owned();
        fs::write(&project.outside().end, format!("{{\"seq\":{seq},\"hash\":\"{hash}\"}}\n")).unwrap();
    };
    old(3);
    assert_eq!(verify(&project.trail).unwrap(), in_order(3));
    // An older version wrote the record first: a process that was killed left an outdated anchor.
    old(2);
    let verdict = verify(&project.trail).unwrap();
    assert_eq!((verdict.good, verdict.problem), (3, None));
    assert_eq!(verdict.warnings.len(), 1);
    assert_eq!(project.trail.last_number(), 3);
    project.trail.append(&record(4)).unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(4));
}

#[test]
fn an_end_that_cannot_be_kept_any_more_is_an_error_and_writes_nothing() {
    let project = with_records(2, 1 << 20);
    let end = &project.outside().end;
    // A folder in place of the anchor can be neither read nor replaced.
    let text = fs::read_to_string(end).unwrap();
    fs::remove_file(end).unwrap();
    fs::create_dir(end).unwrap();
    project.trail.append(&record(3)).unwrap();
    assert_eq!(
        verify(&project.trail).unwrap().good,
        3,
        "without an end nothing is compared, and nothing lost"
    );
    fs::remove_dir(end).unwrap();
    fs::write(end, text).unwrap();
    assert!(
        verify(&project.trail).unwrap().problem.unwrap().contains("record 3 was not written by conclaude")
    );
}
