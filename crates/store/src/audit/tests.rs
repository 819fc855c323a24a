use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use serde_json::Value;

use super::chain::{ChainLink, GENESIS, hash_of};
use super::trail::ExternalPaths;
use super::*;
use conclaude_os::files;

mod anchor;
mod bounds;

struct Project {
    _folder: tempfile::TempDir,
    trail: Trail,
}

fn project(max: u64) -> Project {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    fs::create_dir(&root).unwrap();
    let mut trail = Trail::of(&root, Some(max));
    trail.outside = Some(ExternalPaths::of(&root, &folder.path().join("outside")));
    Project { _folder: folder, trail }
}

fn record(n: u64) -> Record {
    Record {
        event: "SubagentStop".into(),
        decision: "allowed".into(),
        agent: Some(format!("agent-{n}")),
        ..Record::default()
    }
}

fn with_records(n: u64, max: u64) -> Project {
    let project = project(max);
    for i in 1..=n {
        project.trail.append(&record(i)).unwrap();
    }
    project
}

impl Project {
    fn file(&self) -> PathBuf {
        self.trail.file(self.trail.files().unwrap().pop().unwrap())
    }

    fn outside(&self) -> &ExternalPaths {
        self.trail.outside.as_ref().unwrap()
    }

    /// The trail, held by another process.
    fn held(&self) -> fs::File {
        // Between fork and exec, a child of another test may hold a lock that was released here.
        files::lock(&self.trail.lock, Duration::from_secs(50), &Budget::unlimited()).unwrap().unwrap()
    }

    fn pending(&self) -> Vec<PathBuf> {
        self.trail.pending()
    }

    /// Changes the lines of the last file.
    fn tamper(&self, change: impl FnOnce(&mut Vec<String>)) -> String {
        let path = self.file();
        let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
        change(&mut lines);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        verify(&self.trail).unwrap().problem.unwrap_or_default()
    }
}

fn in_order(good: u64) -> Verdict {
    Verdict { good, problem: None, warnings: vec![], notes: vec![], compared: true }
}

fn records(trail: &Trail, filter: &Filter) -> io::Result<Vec<Value>> {
    let mut found = Vec::new();
    Reader::new(trail).each(filter, |entry| {
        found.push(entry.record.clone());
        Ok(())
    })?;
    Ok(found)
}

#[test]
fn records_are_numbered_and_chained() {
    let project = with_records(3, 1 << 20);
    let text = fs::read_to_string(project.file()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    let links: Vec<ChainLink<'_>> = lines.iter().map(|line| ChainLink::read(line).unwrap()).collect();
    assert_eq!(links[0].prev, GENESIS);
    assert_eq!(links[1].prev, links[0].hash);
    assert_eq!(links.iter().map(|link| link.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(verify(&project.trail).unwrap(), in_order(3));
}

#[test]
fn an_empty_trail_is_in_order() {
    assert_eq!(verify(&project(1000).trail).unwrap().problem, None);
}

#[test]
fn a_changed_record_is_named() {
    let problem = with_records(5, 1 << 20).tamper(|lines| lines[2] = lines[2].replace("agent-3", "agent-9"));
    assert!(problem.contains(":3: record 3 was changed"), "{problem}");
}

#[test]
fn a_removed_record_is_named() {
    let problem = with_records(5, 1 << 20).tamper(|lines| drop(lines.remove(1)));
    assert!(problem.contains(":2: record 2 was removed"), "{problem}");
    let problem = with_records(5, 1 << 20).tamper(|lines| drop(lines.remove(0)));
    assert!(problem.contains("record 1 was removed"), "{problem}");
}

#[test]
fn an_inserted_record_is_named() {
    let problem = with_records(5, 1 << 20).tamper(|lines| lines.insert(3, lines[1].clone()));
    assert!(problem.contains(":4: record 2 was inserted or moved"), "{problem}");
}

#[test]
fn reordered_records_are_named() {
    let problem = with_records(5, 1 << 20).tamper(|lines| lines.swap(1, 2));
    assert!(
        problem.contains(":2: record 2 was removed") || problem.contains("order was changed"),
        "{problem}"
    );
}

#[test]
fn a_replaced_record_with_a_hash_of_its_own_is_named() {
    let problem = with_records(5, 1 << 20).tamper(|lines| {
        let (body, _) = lines[1].rsplit_once(",\"hash\":").unwrap();
        let body = format!("{}}}", body.replace("agent-2", "agent-7"));
        lines[1] = format!("{},\"hash\":\"{}\"}}", body.strip_suffix('}').unwrap(), hash_of(&body));
    });
    assert!(problem.contains(":3: record 3 does not follow"), "{problem}");
}

#[test]
fn a_cut_tail_is_found_by_the_copy_outside() {
    let problem = with_records(5, 1 << 20).tamper(|lines| lines.truncate(3));
    assert_eq!(problem, "the end is cut off: record 5 was written, the trail ends with 3");
    let project = with_records(5, 1 << 20);
    fs::remove_file(project.file()).unwrap();
    assert!(
        verify(&project.trail)
            .unwrap()
            .problem
            .unwrap()
            .contains("record 5 was written, the trail ends with 0")
    );
}

#[test]
fn what_was_cut_off_stays_missing_after_the_next_record() {
    let project = with_records(5, 1 << 20);
    project.tamper(|lines| lines.truncate(2));
    project.trail.append(&record(6)).unwrap();
    assert!(verify(&project.trail).unwrap().problem.unwrap().contains("records 3 to 5 were removed"));
    let project = with_records(5, 1 << 20);
    fs::remove_dir_all(&project.trail.folder).unwrap();
    project.trail.append(&record(6)).unwrap();
    assert!(verify(&project.trail).unwrap().problem.unwrap().contains("records 1 to 5 were removed"));
}

#[cfg(unix)]
#[test]
fn a_fifo_among_the_records_does_not_hang_the_next_one() {
    let project = with_records(1, 1 << 20);
    let fifo = |path: PathBuf| {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    let pending = &project.outside().pending;
    fs::create_dir_all(pending).unwrap();
    fifo(pending.join("pending-1.jsonl"));
    project.trail.append(&record(2)).unwrap();
    assert_eq!(verify(&project.trail).unwrap().good, 2);
    assert!(pending.join("pending-1.unreadable").exists(), "it is quarantined");
    fifo(project.trail.file(9));
    assert!(verify(&project.trail).is_err() && records(&project.trail, &Filter::default()).is_err());
}

#[test]
fn garbage_without_an_end_loses_no_record() {
    let project = with_records(2, 64 << 20);
    let mut text = fs::read_to_string(project.file()).unwrap();
    text.push_str(&"x".repeat(3 << 20));
    fs::write(project.file(), text).unwrap();
    for n in 3..=5 {
        project.trail.append(&record(n)).unwrap();
    }
    assert_eq!(records(&project.trail, &Filter::default()).unwrap().len(), 5);
}

#[test]
fn a_truncated_tail_costs_nothing_but_itself() {
    let project = with_records(2, 1 << 20);
    let mut text = fs::read_to_string(project.file()).unwrap();
    text.push_str("{\"seq\":3,\"time\":\"20");
    fs::write(project.file(), text).unwrap();
    let verdict = verify(&project.trail).unwrap();
    assert_eq!((verdict.good, verdict.problem), (2, None));
    assert!(verdict.notes[0].contains("the last line is truncated"));
    project.trail.append(&record(3)).unwrap();
    let verdict = verify(&project.trail).unwrap();
    assert_eq!((verdict.good, verdict.problem), (3, None));
    assert!(
        fs::read_to_string(project.trail.folder.join("truncated.txt"))
            .unwrap()
            .contains("{\"seq\":3,\"time\":\"20\n")
    );
}

#[test]
fn the_chain_goes_on_across_files() {
    let project = with_records(20, 1_024);
    assert!(project.trail.files().unwrap().len() > 3);
    assert_eq!(verify(&project.trail).unwrap(), in_order(20));
    let second = project.trail.files().unwrap()[1];
    fs::remove_file(project.trail.file(second)).unwrap();
    assert!(verify(&project.trail).unwrap().problem.unwrap().contains("were removed"));
}

#[test]
fn queued_records_are_written_by_the_next_one() {
    let project = with_records(1, 1 << 20);
    let lock = project.held();
    project.trail.append(&record(2)).unwrap();
    assert_eq!(verify(&project.trail).unwrap().good, 1, "queued");
    drop(lock);
    project.trail.append(&record(3)).unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(3));
    let agents: Vec<String> = records(&project.trail, &Filter::default())
        .unwrap()
        .iter()
        .map(|record| record["agent"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(agents, ["agent-1", "agent-2", "agent-3"]);
}

#[test]
fn a_queued_record_is_written_once_though_its_writer_was_killed() {
    let project = with_records(1, 1 << 20);
    let lock = project.held();
    project.trail.append(&record(2)).unwrap();
    drop(lock);
    let waiting = &project.pending()[0];
    let text = fs::read_to_string(waiting).unwrap();
    project.trail.append(&record(3)).unwrap();
    // Killed after it wrote and before it removed the file: the file is still there.
    fs::write(waiting, text).unwrap();
    project.trail.append(&record(4)).unwrap();
    assert_eq!(verify(&project.trail).unwrap().good, 4);
    assert!(!waiting.exists());
}

#[test]
fn a_damaged_trail_loses_no_further_record() {
    let project = with_records(3, 1 << 20);
    fs::write(project.file(), "garbage\n").unwrap();
    project.trail.append(&record(4)).unwrap();
    assert_eq!(records(&project.trail, &Filter::default()).unwrap().len(), 1);
    assert!(
        verify(&project.trail).unwrap().problem.unwrap().contains("not a record, where record 1 should be")
    );
}

#[test]
fn concurrent_writers_lose_nothing() {
    let project = project(4_096);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let trail = &project.trail;
            scope.spawn(move || (0..25).for_each(|n| trail.append(&record(writer * 100 + n)).unwrap()));
        }
    });
    project.trail.append(&record(0)).unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(201));
}

#[test]
fn long_texts_do_not_make_endless_lines() {
    let project = project(1 << 20);
    let evidence = Some(Value::String("x".repeat(3 << 20)));
    project.trail.append(&Record { evidence, ..record(1) }).unwrap();
    let findings = (0..1_000).map(|_| Value::String("y".repeat(3_000))).collect();
    project.trail.append(&Record { findings, ..record(2) }).unwrap();
    assert!(fs::metadata(project.file()).unwrap().len() < 20_000);
    assert_eq!(verify(&project.trail).unwrap().good, 2);
}

#[test]
fn filters_and_counts() {
    let project = with_records(2, 1 << 20);
    let blocked = Record {
        session: Some("abcdef".into()),
        agent_id: Some("a9".into()),
        step: Some("steps/01.json".into()),
        decision: "blocked".into(),
        findings: vec![serde_json::json!({"code": "FAILED_PHASE"})],
        commands: vec![CommandRecord {
            pattern: "*".into(),
            run: "lint".into(),
            status: "x".into(),
            exit_code: Some(1),
            started: "2026-03-10T12:00:00Z".into(),
            duration_ms: 7,
            ..CommandRecord::default()
        }],
        ..record(3)
    };
    project.trail.append(&blocked).unwrap();
    let n = |filter: Filter| records(&project.trail, &filter).unwrap().len();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(n(Filter { agent: some("agent-1"), ..Filter::default() }), 1);
    assert_eq!(n(Filter { agent: some("a9"), ..Filter::default() }), 1);
    assert_eq!(n(Filter { session: some("abc"), ..Filter::default() }), 1);
    assert_eq!(n(Filter { step: some("01"), ..Filter::default() }), 1);
    assert_eq!(n(Filter { event: some("subagentstop"), ..Filter::default() }), 3);
    assert_eq!(n(Filter { decision: some("blocked"), ..Filter::default() }), 1);
    let now = jiff::Timestamp::now();
    assert_eq!(n(Filter { since: Some(now - jiff::SignedDuration::from_hours(1)), ..Filter::default() }), 3);
    assert_eq!(n(Filter { since: Some(now + jiff::SignedDuration::from_hours(1)), ..Filter::default() }), 0);
    let mut stats = Stats::default();
    records(&project.trail, &Filter::default()).unwrap().iter().for_each(|record| stats.add(record));
    assert_eq!(stats.agents["agent-3"]["blocked"], 1);
    let lint = CommandStats { runs: 1, failures: 1, total_ms: 7, max_ms: 7 };
    assert_eq!(stats.commands["lint"], lint);
    assert_eq!(stats.findings["FAILED_PHASE"], 1);
}

#[test]
fn the_chain_goes_on_after_records_of_every_length_and_after_a_truncated_one() {
    let root = tempfile::tempdir().unwrap();
    let trail = Trail { outside: None, ..Trail::of(root.path(), None) };
    // Shorter than what is usually read of the end, as long, longer, and a truncated line after each.
    for (number, length) in [10, 3_000, 4_000, 4_000, 4_000, 10].into_iter().enumerate() {
        let findings = vec![Value::from("x".repeat(length)); if number == 3 { 60 } else { 3 }];
        trail
            .append(&Record { event: "e".into(), decision: "d".into(), findings, ..Record::default() })
            .unwrap();
        let file = trail.file(trail.files().unwrap().pop().unwrap());
        let mut open = fs::File::options().append(true).open(file).unwrap();
        io::Write::write_all(&mut open, "{\"half\": ".repeat(number * 300).as_bytes()).unwrap();
    }
    trail.append(&Record::default()).unwrap();
    let verdict = verify(&trail).unwrap();
    assert_eq!((verdict.good, verdict.problem), (7, None));
}

#[test]
fn what_a_killed_process_was_queueing_is_removed_after_a_while() {
    let project = with_records(1, 1 << 20);
    let pending = &project.outside().pending;
    fs::create_dir_all(pending).unwrap();
    let [old, new] = [".pending-old", ".pending-new"].map(|name| pending.join(name));
    fs::write(&old, "{").unwrap();
    fs::write(&new, "{").unwrap();
    let long_ago = std::time::SystemTime::now() - Duration::from_hours(48);
    let times = fs::FileTimes::new().set_modified(long_ago);
    fs::File::options().write(true).open(&old).unwrap().set_times(times).unwrap();
    project.trail.append(&record(2)).unwrap();
    assert!(!old.exists() && new.exists());
    assert_eq!(verify(&project.trail).unwrap(), in_order(2));
}

#[test]
fn the_last_record_may_be_longer_than_what_is_first_read_of_the_end() {
    for (texts, length) in [(1, 1_000), (1, 3_000), (30, 3_000), (150, 3_000)] {
        let project = with_records(2, 4 << 20);
        let findings = vec![Value::from("x".repeat(length)); texts];
        project.trail.append(&Record { findings, ..record(3) }).unwrap();
        project.trail.append(&record(4)).unwrap();
        let verdict = verify(&project.trail).unwrap();
        assert_eq!(verdict, in_order(4), "{texts} of {length}");
    }
}

#[test]
fn a_queued_record_gets_its_position_in_the_chain_from_the_chain_alone() {
    let project = with_records(1, 1 << 20);
    let pending = &project.outside().pending;
    fs::create_dir_all(pending).unwrap();
    let lines = [
        r#"{"time":"t","event":"e","decision":"d","prev":"zz","queued":"1"}"#,
        r#"{"seq":99,"time":"t","event":"e","decision":"d","prev":"zz","hash":"yy","queued":"2"}"#,
    ];
    for (number, line) in lines.iter().chain(&["{}", r#"{"seq":1}"#]).enumerate() {
        fs::write(pending.join(format!("pending-{number}.jsonl")), format!("{line}\n")).unwrap();
    }
    project.trail.append(&record(2)).unwrap();
    assert_eq!(verify(&project.trail).unwrap(), in_order(4));
    let paths = fs::read_dir(pending).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(paths.filter(|path| path.extension().is_some_and(|end| end == "unreadable")).count(), 2);
}

#[cfg(unix)]
#[test]
fn removing_the_lock_makes_no_record_overwrite_another() {
    let project = with_records(1, 1 << 20);
    let mut tail = project.trail.tail(&project.file()).unwrap().unwrap();
    project.trail.append(&record(2)).unwrap();
    io::Write::write_all(&mut tail.file, b"late\n").unwrap();
    let text = fs::read_to_string(project.file()).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert!(text.contains("agent-2") && text.ends_with("late\n"));
}

#[test]
fn a_reader_goes_on_across_files_and_starts_again_with_a_new_trail() {
    let project = with_records(1, 400);
    let mut reader = Reader::new(&project.trail);
    let mut read = || -> Vec<u64> {
        let mut found = Vec::new();
        let seq = |entry: &TrailEntry| {
            found.push(entry.record["seq"].as_u64().unwrap());
            Ok(())
        };
        reader.each(&Filter::default(), seq).unwrap();
        found
    };
    assert_eq!((read(), read()), (vec![1], vec![]));
    for n in 2..=4 {
        project.trail.append(&record(n)).unwrap();
    }
    assert!(project.trail.files().unwrap().len() > 1);
    assert_eq!((read(), read()), (vec![2, 3, 4], vec![]));
    // What is still being written is not read yet.
    let mut bytes = fs::read(project.file()).unwrap();
    let whole = bytes.len();
    bytes.extend(b"{\"seq\":");
    fs::write(project.file(), &bytes).unwrap();
    assert_eq!(read(), Vec::<u64>::new());
    fs::write(project.file(), &bytes[..whole]).unwrap();
    project.trail.reset(None).unwrap();
    assert_eq!((read(), read()), (vec![5], vec![]));
    // The new one is longer than the old one was: that does not show that it is the same.
    project.trail.reset(None).unwrap();
    project.trail.append(&record(2)).unwrap();
    assert_eq!((read(), reader.doubtful), (vec![6, 7], 0));
}
