//! The audit trail under a crowd, and under a crowd that is being killed.

use conclaude_os::budget::Budget;
use std::collections::HashMap;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Test, run_in};
use crate::support::{Chance, alone, figure, living, payload_of, spawn_quietly, wait_for};

const CONFIG: &str = "subagentStop: {commands: {'*': [{run: ':'}]}}\n";

/// What `audit verify` says, and whether it is content.
fn verify(test: &Test) -> (bool, String) {
    let (code, stdout, _) = run_in(&test.root(), &["audit", "verify"]);
    (code == Some(0), stdout)
}

/// How often each agent is in the trail, and how many records there are.
fn records_by_agent(test: &Test) -> (HashMap<String, u32>, usize) {
    let folder = test.root().join(".conclaude/audit");
    let mut found = HashMap::new();
    let mut all = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if !entry.file_name().to_str().unwrap().starts_with("audit-") {
            continue;
        }
        for line in std::fs::read_to_string(entry.path()).unwrap().lines() {
            let record: Value = serde_json::from_str(line).expect("a whole record");
            *found.entry(record["agent_id"].as_str().unwrap().to_owned()).or_default() += 1;
            all += 1;
        }
    }
    (found, all)
}

fn pending(test: &Test) -> usize {
    // One folder for each project, and this is the only one.
    let projects =
        std::fs::read_dir(test.root().join(".state-home/conclaude/pending")).into_iter().flatten().flatten();
    let entries = projects.flat_map(|project| std::fs::read_dir(project.path()).unwrap().flatten());
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("pending-")).count()
}

#[test]
fn one_thousand_stops_at_once_make_one_chain() {
    let _alone = alone();
    // All commands wait at one gate, which opens when everybody is there.
    let word = format!("pending-{}", std::process::id());
    let test = Test::stop()
        .config(&format!("subagentStop: {{commands: {{'*': [{{run: ': {word}; read x < gate'}}]}}}}\n"));
    let gate = test.root().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let children: Vec<_> =
        (0..1_000).map(|n| spawn_quietly(&test, &payload_of(&test, &format!("a{n}")))).collect();
    wait_for("everybody is there", || living(&word).len() == 1_000);
    let started = Instant::now();
    let mut open = std::fs::File::options().write(true).open(&gate).unwrap();
    open.write_all(&[b'\n'; 1_000]).unwrap();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let (took, queued) = (started.elapsed(), pending(&test));
    // What is still pending is written by the next.
    let test = test.config(CONFIG).payload("agent_id", "last").run().status(0).again();
    let (found, all) = records_by_agent(&test);
    assert_eq!((found.len(), all), (1_001, 1_001), "every agent once");
    assert_eq!(verify(&test), (true, "✓ 1001 records in order\n".into()));
    figure(&format!(
        "1,000 stops at once: 1,000 records in one chain, {queued} of them pending first, {:.1} s",
        took.as_secs_f64()
    ));
}

/// What is known while the crowd runs.
#[derive(Default)]
struct Crowd {
    started: u32,
    /// Those that were killed, and those that are about to be.
    killed: u32,
    doomed: u32,
    survivors: Vec<u32>,
    /// How long the last survivors lived, so that kills come at every moment of a life.
    lives: Vec<Duration>,
}

const PROCESSES: u32 = 5_000;
const KILLS: u32 = PROCESSES * 6 / 10;
const AT_ONCE: usize = 100;

#[test]
fn five_thousand_processes_of_which_most_are_killed_lose_no_survivors_record() {
    let _alone = alone();
    let test = Test::stop().config(CONFIG).payload("agent_id", "first").run().status(0).again();
    let crowd = Mutex::new(Crowd::default());
    let started = Instant::now();
    let (queued, over) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Held for longer than anybody waits, the trail makes the crowd queue its records.
            let lock = test.root().join(".conclaude/audit.lock");
            while over.load(Ordering::SeqCst) < AT_ONCE {
                let held =
                    conclaude_os::files::lock(&lock, Duration::from_secs(60), &Budget::unlimited()).unwrap();
                std::thread::sleep(Duration::from_millis(1_200));
                queued.fetch_add(pending(&test), Ordering::SeqCst);
                drop(held);
                std::thread::sleep(Duration::from_millis(300));
            }
        });
        for worker in 0..AT_ONCE {
            let (test, crowd, over) = (&test, &crowd, &over);
            scope.spawn(move || {
                let mut chance = Chance::seeded(0x5eed + worker as u64 * 7_919);
                while one_life(test, crowd, &mut chance) {}
                over.fetch_add(1, Ordering::SeqCst);
            });
        }
    });
    let crowd = crowd.into_inner().unwrap();
    let test = test.payload("agent_id", "last").run().status(0).again();
    assert_eq!(pending(&test), 0, "all that was pending is written");
    let (found, all) = records_by_agent(&test);
    let lost: Vec<&u32> = crowd.survivors.iter().filter(|n| !found.contains_key(&format!("a{n}"))).collect();
    assert_eq!(lost, Vec::<&u32>::new(), "records of survivors");
    let twice: u32 = found.values().map(|times| times - 1).sum();
    // What killed processes left is quarantined and reported; the chain itself has no fault.
    let (good, said) = verify(&test);
    let truncated = said.lines().filter(|line| line.starts_with("note: ")).count();
    assert!(good, "{said}");
    assert!(said.ends_with(&format!("✓ {all} records in order\n")), "{said}");
    assert_eq!(said.lines().count(), truncated + 1, "{said}");
    figure(&format!(
        "{} processes, {} killed with SIGKILL, {} survivors: {all} records, none of a survivor lost or truncated, {twice} twice, \
         {} were pending first, {truncated} notes of truncated lines, {:.1} s",
        crowd.started,
        crowd.killed,
        crowd.survivors.len(),
        queued.into_inner(),
        started.elapsed().as_secs_f64()
    ));
    assert_eq!(twice, 0, "a pending record is written once");
}

/// Starts one process, kills it or does not, and says whether another is needed.
fn one_life(test: &Test, crowd: &Mutex<Crowd>, chance: &mut Chance) -> bool {
    let (number, moment) = {
        let mut crowd = crowd.lock().unwrap();
        if crowd.started >= PROCESSES && crowd.killed + crowd.doomed >= KILLS {
            return false;
        }
        crowd.started += 1;
        // One that ends before its kill comes is made up for by a later one.
        let is_doomed = u64::from(crowd.killed + crowd.doomed) * 10 < u64::from(crowd.started) * 6;
        crowd.doomed += u32::from(is_doomed);
        let moment = if is_doomed {
            let recent = crowd.lives.len().saturating_sub(100);
            let recent = &crowd.lives[recent..];
            let life = recent.get(usize::try_from(chance.below(100)).unwrap() % recent.len().max(1));
            let life = life.copied().unwrap_or(Duration::from_millis(20));
            Some(Duration::from_micros(chance.below(u64::try_from(life.as_micros()).unwrap())))
        } else {
            None
        };
        (crowd.started, moment)
    };
    let started = Instant::now();
    let mut child = spawn_quietly(test, &payload_of(test, &format!("a{number}")));
    if let Some(moment) = moment {
        std::thread::sleep(moment);
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    let mut crowd = crowd.lock().unwrap();
    crowd.doomed -= u32::from(moment.is_some());
    if status.signal() == Some(9) {
        crowd.killed += 1;
    } else {
        assert!(status.success(), "{status}");
        crowd.survivors.push(number);
        crowd.lives.push(started.elapsed());
    }
    true
}
