use std::fs;

use super::chain::{GENESIS, Link, hash_of};
use super::*;
use crate::files;

struct Place {
    _folder: tempfile::TempDir,
    trail: Trail,
}

fn place(max: u64) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    fs::create_dir(&root).unwrap();
    let mut trail = Trail::of(&root, Some(max));
    trail.head = Some(folder.path().join("head/head.json"));
    Place { _folder: folder, trail }
}

fn record(n: u64) -> Record {
    Record {
        event: "SubagentStop".into(),
        decision: "allowed".into(),
        agent: Some(format!("agent-{n}")),
        ..Record::default()
    }
}

fn with_records(n: u64, max: u64) -> Place {
    let place = place(max);
    for i in 1..=n {
        place.trail.append(&record(i)).unwrap();
    }
    place
}

impl Place {
    fn file(&self) -> PathBuf {
        self.trail.files().unwrap().pop().unwrap()
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

#[test]
fn records_are_numbered_and_chained() {
    let place = with_records(3, 1 << 20);
    let text = fs::read_to_string(place.file()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    let links: Vec<Link<'_>> = lines.iter().map(|line| Link::read(line).unwrap()).collect();
    assert_eq!(links[0].prev, GENESIS);
    assert_eq!(links[1].prev, links[0].hash);
    assert_eq!(links.iter().map(|link| link.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(verify(&place.trail).unwrap(), Verdict { good: 3, problem: None, notes: vec![] });
}

#[test]
fn an_empty_trail_is_in_order() {
    assert_eq!(verify(&place(1000).trail).unwrap().problem, None);
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
    let place = with_records(5, 1 << 20);
    fs::remove_file(place.file()).unwrap();
    assert!(
        verify(&place.trail)
            .unwrap()
            .problem
            .unwrap()
            .contains("record 5 was written, the trail ends with 0")
    );
}

#[test]
fn what_was_cut_off_stays_missing_after_the_next_record() {
    let place = with_records(5, 1 << 20);
    place.tamper(|lines| lines.truncate(2));
    place.trail.append(&record(6)).unwrap();
    assert!(verify(&place.trail).unwrap().problem.unwrap().contains("records 3 to 5 were removed"));
    let place = with_records(5, 1 << 20);
    fs::remove_dir_all(&place.trail.folder).unwrap();
    place.trail.append(&record(6)).unwrap();
    assert!(verify(&place.trail).unwrap().problem.unwrap().contains("records 1 to 5 were removed"));
}

#[cfg(unix)]
#[test]
fn a_fifo_among_the_records_does_not_hang_the_next_one() {
    let place = with_records(1, 1 << 20);
    let fifo = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(place.trail.folder.join(name)).status().unwrap();
        assert!(made.success());
    };
    fifo("pending-1.jsonl");
    place.trail.append(&record(2)).unwrap();
    assert_eq!(verify(&place.trail).unwrap().good, 2);
    assert!(place.trail.folder.join("pending-1.unreadable").exists(), "it is quarantined");
    fifo("audit-0000000009.jsonl");
    assert!(verify(&place.trail).is_err() && records(&place.trail, &Filter::default()).is_err());
}

#[test]
fn garbage_without_an_end_loses_no_record() {
    let place = with_records(2, 64 << 20);
    let mut text = fs::read_to_string(place.file()).unwrap();
    text.push_str(&"x".repeat(3 << 20));
    fs::write(place.file(), text).unwrap();
    for n in 3..=5 {
        place.trail.append(&record(n)).unwrap();
    }
    assert_eq!(records(&place.trail, &Filter::default()).unwrap().len(), 5);
}

#[test]
fn a_truncated_tail_costs_nothing_but_itself() {
    let place = with_records(2, 1 << 20);
    let mut text = fs::read_to_string(place.file()).unwrap();
    text.push_str("{\"seq\":3,\"time\":\"20");
    fs::write(place.file(), text).unwrap();
    let verdict = verify(&place.trail).unwrap();
    assert_eq!((verdict.good, verdict.problem), (2, None));
    assert!(verdict.notes[0].contains("the last line is truncated"));
    place.trail.append(&record(3)).unwrap();
    let verdict = verify(&place.trail).unwrap();
    assert_eq!((verdict.good, verdict.problem), (3, None));
    assert!(
        fs::read_to_string(place.trail.folder.join("truncated.txt"))
            .unwrap()
            .contains("{\"seq\":3,\"time\":\"20\n")
    );
}

#[test]
fn the_chain_goes_on_across_files() {
    let place = with_records(20, 1_024);
    assert!(place.trail.files().unwrap().len() > 3);
    assert_eq!(verify(&place.trail).unwrap(), Verdict { good: 20, problem: None, notes: vec![] });
    let first = place.trail.files().unwrap().remove(1);
    fs::remove_file(first).unwrap();
    assert!(verify(&place.trail).unwrap().problem.unwrap().contains("were removed"));
}

#[test]
fn queued_records_are_written_by_the_next_one() {
    let place = with_records(1, 1 << 20);
    let lock = files::lock(&place.trail.folder.join("lock"), Duration::from_secs(50)).unwrap().unwrap();
    place.trail.append(&record(2)).unwrap();
    assert_eq!(verify(&place.trail).unwrap().good, 1, "queued");
    drop(lock);
    place.trail.append(&record(3)).unwrap();
    assert_eq!(verify(&place.trail).unwrap(), Verdict { good: 3, problem: None, notes: vec![] });
    let agents: Vec<String> = records(&place.trail, &Filter::default())
        .unwrap()
        .iter()
        .map(|record| record["agent"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(agents, ["agent-1", "agent-2", "agent-3"]);
}

#[test]
fn a_queued_record_is_written_once_though_its_writer_was_killed() {
    let place = with_records(1, 1 << 20);
    // Between fork and exec, a child of another test may hold a lock that was released here.
    let lock = files::lock(&place.trail.folder.join("lock"), Duration::from_secs(50)).unwrap().unwrap();
    place.trail.append(&record(2)).unwrap();
    drop(lock);
    let waiting: Vec<_> = fs::read_dir(&place.trail.folder).unwrap().flatten().map(|e| e.path()).collect();
    let waiting = waiting.iter().find(|path| path.to_string_lossy().contains("pending-")).unwrap();
    let text = fs::read_to_string(waiting).unwrap();
    place.trail.append(&record(3)).unwrap();
    // Killed after it wrote and before it removed the file: the file is still there.
    fs::write(waiting, text).unwrap();
    place.trail.append(&record(4)).unwrap();
    assert_eq!(verify(&place.trail).unwrap().good, 4);
    assert!(!waiting.exists());
}

#[test]
fn a_damaged_trail_loses_no_further_record() {
    let place = with_records(3, 1 << 20);
    fs::write(place.file(), "garbage\n").unwrap();
    place.trail.append(&record(4)).unwrap();
    assert_eq!(records(&place.trail, &Filter::default()).unwrap().len(), 1);
    assert!(
        verify(&place.trail).unwrap().problem.unwrap().contains("not a record, where record 1 should be")
    );
}

#[test]
fn concurrent_writers_lose_nothing() {
    let place = place(4_096);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let trail = &place.trail;
            scope.spawn(move || (0..25).for_each(|n| trail.append(&record(writer * 100 + n)).unwrap()));
        }
    });
    place.trail.append(&record(0)).unwrap();
    assert_eq!(verify(&place.trail).unwrap(), Verdict { good: 201, problem: None, notes: vec![] });
}

#[test]
fn long_texts_do_not_make_endless_lines() {
    let place = place(1 << 20);
    let evidence = Some(Value::String("x".repeat(3 << 20)));
    place.trail.append(&Record { evidence, ..record(1) }).unwrap();
    let findings = (0..1_000).map(|_| Value::String("y".repeat(3_000))).collect();
    place.trail.append(&Record { findings, ..record(2) }).unwrap();
    assert!(fs::metadata(place.file()).unwrap().len() < 20_000);
    assert_eq!(verify(&place.trail).unwrap().good, 2);
}

#[test]
fn filters_and_counts() {
    let place = with_records(2, 1 << 20);
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
            duration_ms: 7,
        }],
        ..record(3)
    };
    place.trail.append(&blocked).unwrap();
    let n = |filter: Filter| records(&place.trail, &filter).unwrap().len();
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
    let all = records(&place.trail, &Filter::default()).unwrap();
    let stats = Stats::of(all.iter());
    assert_eq!(stats.agents["agent-3"]["blocked"], 1);
    assert_eq!(stats.commands["lint"], (1, 1, 7, 7));
    assert_eq!(stats.findings["FAILED_PHASE"], 1);
}

#[test]
fn the_chain_goes_on_after_records_of_every_length_and_after_a_truncated_one() {
    let root = tempfile::tempdir().unwrap();
    let trail = Trail { head: None, ..Trail::of(root.path(), None) };
    // Shorter than what is usually read of the end, as long, longer, and a truncated line after each.
    for (number, length) in [10, 3_000, 4_000, 4_000, 4_000, 10].into_iter().enumerate() {
        let findings = vec![Value::from("x".repeat(length)); if number == 3 { 60 } else { 3 }];
        trail
            .append(&Record { event: "e".into(), decision: "d".into(), findings, ..Record::default() })
            .unwrap();
        let file = trail.files().unwrap().pop().unwrap();
        let mut open = fs::File::options().append(true).open(file).unwrap();
        io::Write::write_all(&mut open, "{\"half\": ".repeat(number * 300).as_bytes()).unwrap();
    }
    trail.append(&Record::default()).unwrap();
    let verdict = verify(&trail).unwrap();
    assert_eq!((verdict.good, verdict.problem), (7, None));
}

#[test]
fn what_a_killed_process_was_queueing_is_removed_after_a_while() {
    let place = with_records(1, 1 << 20);
    let [old, new] = [".pending-old", ".pending-new"].map(|name| place.trail.folder.join(name));
    fs::write(&old, "{").unwrap();
    fs::write(&new, "{").unwrap();
    let long_ago = std::time::SystemTime::now() - Duration::from_hours(48);
    let times = fs::FileTimes::new().set_modified(long_ago);
    fs::File::options().write(true).open(&old).unwrap().set_times(times).unwrap();
    place.trail.append(&record(2)).unwrap();
    assert!(!old.exists() && new.exists());
    assert_eq!(verify(&place.trail).unwrap(), Verdict { good: 2, problem: None, notes: vec![] });
}

#[test]
fn the_last_record_may_be_longer_than_what_is_first_read_of_the_end() {
    for (texts, length) in [(1, 1_000), (1, 3_000), (30, 3_000), (150, 3_000)] {
        let place = with_records(2, 4 << 20);
        let findings = vec![Value::from("x".repeat(length)); texts];
        place.trail.append(&Record { findings, ..record(3) }).unwrap();
        place.trail.append(&record(4)).unwrap();
        let verdict = verify(&place.trail).unwrap();
        assert_eq!(verdict, Verdict { good: 4, problem: None, notes: vec![] }, "{texts} of {length}");
    }
}

#[test]
fn a_queued_record_gets_its_place_in_the_chain_from_the_chain_alone() {
    let place = with_records(1, 1 << 20);
    let lines = [
        r#"{"time":"t","event":"e","decision":"d","prev":"zz","queued":"1"}"#,
        r#"{"seq":99,"time":"t","event":"e","decision":"d","prev":"zz","hash":"yy","queued":"2"}"#,
    ];
    for (number, line) in lines.iter().chain(&["{}", r#"{"seq":1}"#]).enumerate() {
        fs::write(place.trail.folder.join(format!("pending-{number}.jsonl")), format!("{line}\n")).unwrap();
    }
    place.trail.append(&record(2)).unwrap();
    assert_eq!(verify(&place.trail).unwrap(), Verdict { good: 4, problem: None, notes: vec![] });
    let paths = fs::read_dir(&place.trail.folder).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(paths.filter(|path| path.extension().is_some_and(|end| end == "unreadable")).count(), 2);
}

#[cfg(unix)]
#[test]
fn removing_the_lock_makes_no_record_overwrite_another() {
    let place = with_records(1, 1 << 20);
    let mut tail = place.trail.repair(&place.file()).unwrap();
    place.trail.append(&record(2)).unwrap();
    io::Write::write_all(&mut tail.file, b"late\n").unwrap();
    let text = fs::read_to_string(place.file()).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert!(text.contains("agent-2") && text.ends_with("late\n"));
}

fn agents(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["agent"].as_str().unwrap()).collect()
}

#[test]
fn records_after_a_position_are_read_without_those_before_it_and_across_files() {
    let place = with_records(6, 1_024);
    let last = place.trail.last();
    let position = last.position.unwrap();
    assert_eq!((last.seq, position.seq), (6, 6));
    let since = |filter: &Filter| genuine_since(&place.trail, &position, filter).unwrap();
    assert_eq!(since(&Filter::default()), Vec::<Value>::new());
    for n in 7..=14 {
        place.trail.append(&record(n)).unwrap();
    }
    assert!(place.trail.files().unwrap().len() > 2);
    let names: Vec<String> = (7..=14).map(|n| format!("agent-{n}")).collect();
    assert_eq!(agents(&since(&Filter::default())), names);
    assert_eq!(since(&Filter { agent: Some("agent-9".into()), ..Filter::default() }).len(), 1);
    // What comes before is not looked at.
    fs::remove_file(place.trail.files().unwrap().remove(0)).unwrap();
    assert_eq!(agents(&since(&Filter::default())), names);
}

#[test]
fn a_forged_record_after_a_position_does_not_count() {
    let place = with_records(2, 1 << 20);
    let position = place.trail.last().position.unwrap();
    place.trail.append(&record(3)).unwrap();
    place.tamper(|lines| {
        let body = format!(r#"{{"seq":4,"event":"e","agent":"forged","prev":"{GENESIS}"}}"#);
        let open = body.strip_suffix('}').unwrap();
        lines.push(format!(r#"{open},"hash":"{}"}}"#, hash_of(&body)));
        lines.push(lines[2].replace("agent-3", "changed"));
    });
    let found = genuine_since(&place.trail, &position, &Filter::default()).unwrap();
    assert_eq!(agents(&found), ["agent-3"]);
}

#[test]
fn a_position_that_is_gone_or_was_edited_is_an_error() {
    let reason = |change: fn(&Place)| {
        let place = with_records(3, 1 << 20);
        let position = place.trail.last().position.unwrap();
        change(&place);
        genuine_since(&place.trail, &position, &Filter::default()).unwrap_err().to_string()
    };
    let edited = "record 3 is not where it was in audit-0000000001.jsonl";
    assert_eq!(reason(|place| drop(place.tamper(|lines| lines[2] = lines[2].replace('3', "9")))), edited);
    assert_eq!(reason(|place| drop(place.tamper(|lines| drop(lines.remove(0))))), edited);
    assert_eq!(reason(|place| drop(place.tamper(|lines| lines.truncate(1)))), edited);
    let gone = reason(|place| fs::remove_file(place.file()).unwrap());
    assert_eq!(gone, "audit-0000000001.jsonl is gone");
}

#[test]
fn a_damaged_or_cut_trail_has_no_position() {
    let place = with_records(3, 1 << 20);
    place.tamper(|lines| lines.truncate(2));
    assert_eq!(place.trail.last(), Last { seq: 3, position: None }, "the copy outside knows more");
    let place = with_records(3, 1 << 20);
    place.tamper(|lines| lines.push("garbage".into()));
    assert_eq!(place.trail.last(), Last { seq: 3, position: None });
    let place = self::place(1_024);
    assert_eq!(place.trail.last(), Last { seq: 0, position: None });
}

#[test]
fn a_reader_goes_on_across_files_and_starts_again_with_a_new_trail() {
    let place = with_records(1, 400);
    let mut reader = Reader::new(&place.trail);
    let mut read = || -> Vec<u64> {
        let found = reader.next(&Filter::default()).unwrap();
        found.iter().map(|entry| entry.record["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!((read(), read()), (vec![1], vec![]));
    for n in 2..=4 {
        place.trail.append(&record(n)).unwrap();
    }
    assert!(place.trail.files().unwrap().len() > 1);
    assert_eq!((read(), read()), (vec![2, 3, 4], vec![]));
    // What is still being written is not read yet.
    let mut bytes = fs::read(place.file()).unwrap();
    let whole = bytes.len();
    bytes.extend(b"{\"seq\":");
    fs::write(place.file(), &bytes).unwrap();
    assert_eq!(read(), Vec::<u64>::new());
    fs::write(place.file(), &bytes[..whole]).unwrap();
    place.trail.reset().unwrap();
    assert_eq!((read(), read()), (vec![1], vec![]));
    // The new one is longer than the old one was: that is no sign that it is the same.
    place.trail.reset().unwrap();
    place.trail.append(&record(2)).unwrap();
    assert_eq!((read(), reader.doubtful), (vec![1, 2], 0));
}
