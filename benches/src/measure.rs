//! Time and memory: every case once per round, in an order that changes.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Options;
use crate::cases::{Case, Place};
use crate::report;

/// The figures of a case.
pub struct Figures {
    pub name: &'static str,
    pub minimum: Duration,
    pub median: Duration,
    /// The largest resident set, in bytes.
    pub memory: u64,
}

/// The case as a process, with nothing of ours in its environment.
pub fn command(case: &Case, place: &Place) -> Command {
    let mut command = Command::new(&case.program);
    command
        .args(&case.arguments)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", place.state())
        .env("XDG_STATE_HOME", place.state())
        .env("CLAUDE_PROJECT_DIR", &case.project)
        .current_dir(&case.project)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if case.arguments.first().is_some_and(|first| first == "PreToolUse") {
        // The one that prepares a project has its answer looked at.
        command.stdout(Stdio::piped());
    }
    let file = std::env::temp_dir().join(format!("conclaude-bench-input-{}", std::process::id()));
    std::fs::File::create(&file).and_then(|mut f| f.write_all(&case.input)).expect("a file for stdin");
    command.stdin(std::fs::File::open(&file).expect("the file for stdin"));
    let _ = std::fs::remove_file(file);
    command
}

fn once(case: &Case, place: &Place) -> Duration {
    let mut command = command(case, place);
    command.stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let time = start.elapsed();
    assert!(status.success(), "{}: {status}", case.name);
    time
}

pub fn run(options: &Options, place: &Place) -> Result<(), String> {
    let all = place.cases();
    let wanted = |case: &&Case| options.only.as_ref().is_none_or(|only| case.name.contains(only.as_str()));
    let (first, rest) = all.split_at(2);
    let cases: Vec<&Case> = first.iter().chain(rest.iter().filter(wanted)).collect();
    let mut times: BTreeMap<usize, Vec<Duration>> = BTreeMap::new();
    let mut order: Vec<usize> = (0..cases.len()).collect();
    let mut chance = Chance(1);
    for round in 0..options.rounds + 3 {
        // A case leaves the processor's caches as it needs them: none may always come after the same one.
        for at in (1..order.len()).rev() {
            order.swap(at, chance.below(at + 1));
        }
        for index in order.iter().copied() {
            let time = once(cases[index], place);
            // The first rounds fill caches.
            if round >= 3 {
                times.entry(index).or_default().push(time);
            }
        }
        if round % 20 == 0 {
            eprint!("\r{} of {} rounds", round.min(options.rounds), options.rounds);
        }
    }
    eprint!("\r{:30}\r", "");
    let figures: Vec<Figures> = cases
        .iter()
        .enumerate()
        .map(|(index, case)| {
            let mut times = times.remove(&index).unwrap_or_default();
            times.sort_unstable();
            Figures {
                name: case.name,
                minimum: times.first().copied().unwrap_or_default(),
                median: times.get(times.len() / 2).copied().unwrap_or_default(),
                memory: memory(case, place),
            }
        })
        .collect();
    report::table(&figures);
    let size = std::fs::metadata(&options.binary).map(|metadata| metadata.len()).unwrap_or(0);
    println!("\nbinary: {:.2} MB", size as f64 / 1e6);
    let json = json!({
        "rounds": options.rounds,
        "binary_bytes": size,
        "cases": figures.iter().map(report::as_json).collect::<Vec<_>>(),
    });
    if let Some(old) = &options.compare {
        report::compare(old, &figures)?;
    }
    if let Some(folder) = options.json.parent() {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    std::fs::write(&options.json, format!("{json:#}\n"))
        .map_err(|error| format!("{:?}: {error}", options.json))?;
    println!("figures: {}", options.json.display());
    if options.limits { report::limits(&figures, size) } else { Ok(()) }
}

/// Numbers in no order, the same ones in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// The largest resident set of one call, as the kernel tells it: at most this, since it begins with what this process has.
fn memory(case: &Case, place: &Place) -> u64 {
    let child = command(case, place).stdout(Stdio::null()).spawn();
    let Ok(child) = child else { return 0 };
    let mut status = 0;
    // SAFETY: `usage` is a plain struct that the kernel fills, and the child is ours to wait for.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(child.id().cast_signed(), &raw mut status, 0, &raw mut usage);
        assert_eq!(status, 0, "{}", case.name);
        usage.ru_maxrss.unsigned_abs() * 1024
    }
}
