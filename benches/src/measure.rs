//! Time and memory: every case once per round, in an order that changes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::figures::Figures;

/// The first rounds fill caches and do not count.
const WARM_UP: usize = 3;

pub fn measure(cases: &[Case], rounds: usize) -> Vec<Figures> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); cases.len()];
    let mut order: Vec<usize> = (0..cases.len()).collect();
    let mut random = Random(1);
    for round in 0..rounds + WARM_UP {
        // A case leaves the processor's caches as it needs them: none may always come after the same one.
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        for index in order.iter().copied() {
            if cases[index].is_slow && round % 10 != 0 {
                continue;
            }
            let time = time(&cases[index]);
            if round >= WARM_UP {
                times[index].push(time);
            }
        }
        if round % 20 == 0 {
            eprint!("\r{} of {rounds} rounds", round.min(rounds));
        }
    }
    eprint!("\r{:30}\r", "");
    cases.iter().zip(times).map(|(case, times)| figures(case, times)).collect()
}

fn figures(case: &Case, mut times: Vec<Duration>) -> Figures {
    times.sort_unstable();
    Figures {
        name: case.name,
        minimum: times.first().copied().unwrap_or_default(),
        median: times.get(times.len() / 2).copied().unwrap_or_default(),
        memory: memory(case),
    }
}

fn time(case: &Case) -> Duration {
    let mut command = case.command();
    let start = Instant::now();
    let output =
        command.stderr(Stdio::piped()).output().unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let time = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}: {said}", case.name, output.status);
    time
}

/// The largest resident set of one call, from the kernel: an upper bound, since it starts with that of this process.
fn memory(case: &Case) -> u64 {
    let Ok(child) = case.command().stdout(Stdio::null()).spawn() else { return 0 };
    let mut status = 0;
    // SAFETY: `usage` is a plain struct that the kernel fills, and the child is ours to wait for.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(child.id().cast_signed(), &raw mut status, 0, &raw mut usage);
        assert_eq!(status, 0, "{}", case.name);
        usage.ru_maxrss.unsigned_abs() * 1024
    }
}

/// A linear congruential generator: the same order in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}
