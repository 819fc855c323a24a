//! What the groups share: figures, chance, processes and their memory.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Test, binary, program, scratch};

/// Prints a figure of this run.
pub(crate) fn figure(text: &str) {
    println!("figure: {text}");
}

/// Tests that keep the whole machine busy, or measure it, take turns.
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What a debug build may take longer than a release build.
pub(crate) fn slowness() -> u32 {
    if std::env::var_os("CONCLAUDE_STRESS_BINARY").is_some() { 1 } else { 10 }
}

/// Numbers by chance, the same in every run: a failure can be looked at again.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn seeded(seed: u64) -> Self {
        Chance(seed | 1)
    }

    /// A number from 0 to `below`, without it.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16) % below.max(1)
    }
}

/// The value that this percentage does not exceed.
pub(crate) fn percentile(values: &[Duration], percent: usize) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort();
    sorted[((sorted.len() * percent).div_ceil(100)).clamp(1, sorted.len()) - 1]
}

/// Milliseconds with one decimal.
pub(crate) fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1_000.0)
}

/// The payload of this test with another agent's id.
pub(crate) fn payload_of(test: &Test, agent_id: &str) -> Vec<u8> {
    let mut payload: Value = serde_json::from_slice(&test.input()).unwrap();
    payload["agent_id"] = agent_id.into();
    payload.to_string().into_bytes()
}

/// Starts the call of this test with such a payload, which is small enough for a pipe; its answer goes nowhere.
pub(crate) fn spawn_quietly(test: &Test, payload: &[u8]) -> Child {
    let mut child = test.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // One that is killed early does not read.
    let _ = child.stdin.take().unwrap().write_all(payload);
    child
}

/// What a call came to, what it took and how long.
pub(crate) struct MeasuredCall {
    pub output: Output,
    /// The most memory that it held, as the kernel counted it (`VmHWM`), in MB.
    pub peak: f64,
    pub time: Duration,
}

impl MeasuredCall {
    pub(crate) fn stdout(&self) -> &str {
        std::str::from_utf8(&self.output.stdout).unwrap()
    }

    pub(crate) fn stderr(&self) -> &str {
        std::str::from_utf8(&self.output.stderr).unwrap()
    }

    /// Expects one of the two ends that no input may leave, and at most one JSON value on stdout.
    #[track_caller]
    pub(crate) fn sound(&self, what: &str) {
        let code = self.output.status.code();
        let (stdout, stderr) = (self.stdout(), self.stderr());
        assert!(matches!(code, Some(0 | 1)), "{what}: {code:?}, {:?}\n{stderr}", self.output.status);
        assert!(!stderr.contains("internal error"), "{what}: {stderr}");
        if !stdout.trim().is_empty() {
            serde_json::from_str::<Value>(stdout).unwrap_or_else(|error| panic!("{what}: {error}: {stdout}"));
        }
    }
}

/// Makes the call and looks at its memory every millisecond. The kernel's own high-water mark is read, so that only
/// what grew in the very last of them could be missed; `wait4` would count what the test itself holds.
pub(crate) fn watch(test: &Test) -> MeasuredCall {
    watch_with(test, |stdin, input| drop(stdin.write_all(&input)))
}

/// The same, with stdin written by someone else.
pub(crate) fn watch_with(
    test: &Test,
    write: impl FnOnce(&mut std::process::ChildStdin, Vec<u8>) + Send + 'static,
) -> MeasuredCall {
    let started = Instant::now();
    let mut child = test.command().spawn().unwrap();
    let (input, mut stdin) = (test.input(), child.stdin.take().unwrap());
    let writer = std::thread::spawn(move || write(&mut stdin, input));
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |pipe: &mut dyn Read| {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let from_stdout = std::thread::spawn(move || read(&mut stdout));
    let from_stderr = std::thread::spawn(move || read(&mut stderr));
    let (ended, peak) = wait_with_peak(&mut child);
    let time = started.elapsed();
    let output =
        Output { status: ended, stdout: from_stdout.join().unwrap(), stderr: from_stderr.join().unwrap() };
    writer.join().unwrap();
    MeasuredCall { output, peak, time }
}

/// Waits for a call, and measures the most memory that it held, in MB.
pub(crate) fn wait_with_peak(child: &mut Child) -> (ExitStatus, f64) {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let mut peak = 0;
    loop {
        // Before it is the program, its memory is this test's.
        if std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe.ends_with("conclaude")) {
            peak = peak.max(high_water(&process.join("status")));
        }
        if let Some(ended) = child.try_wait().unwrap() {
            return (ended, peak as f64 / 1_024.0);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn high_water(status: &std::path::Path) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kb| kb.trim().parse().ok()).unwrap_or(0)
}

/// The living processes with this word in their command line, other than the one that asks.
pub(crate) fn living(word: &str) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |pid: &u32| {
        let text = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let dead =
            std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "));
        *pid != std::process::id() && !dead && String::from_utf8_lossy(&text).contains(word)
    };
    numbers.filter(is_ours).collect()
}

/// A length for `sleep` that nobody else has: a name by which a process is found.
pub(crate) fn unique_sleep() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("300.{:07}{:04}", std::process::id() % 10_000_000, NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Waits for what must come, and fails after a minute.
#[track_caller]
pub(crate) fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process of ours.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).output();
    // It may have ended by itself a moment before.
    drop(sent.unwrap());
}

/// Makes the call as a user who owns nothing, since root may read everything. Who is not root is that user already.
pub(crate) fn run_as_nobody(test: &Test) -> Output {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let readable = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    };
    // The binary may lie where nobody else may look.
    let folder = scratch();
    readable(folder.path());
    readable(&test.root());
    let copy = folder.path().join("conclaude");
    program::copy(binary(), &copy);
    let mut command = test.program(&copy);
    command.args(test.command().get_args());
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    answer(command, &test.input())
}

/// What a program answers to a payload.
pub(crate) fn answer(mut command: Command, payload: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that does not read closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(payload);
    child.wait_with_output().unwrap()
}
