//! Running a command as proof: its output is shown as it comes and hashed on the way.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::phases;

/// How long output is waited for that a command printed before it ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What came of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; 127 if it could not be started, 128 and the signal's number if it was killed.
    pub code: i32,
    /// Whether it ended by itself, having been found and started.
    pub ran: bool,
    /// The hash of all that it printed, in the order in which it came.
    pub output_sha256: String,
    /// How much that was.
    pub output_bytes: u64,
}

impl Ran {
    /// Whether that is what the phase needs. A command that could not run proves nothing, also where failure is expected.
    #[must_use]
    pub fn passes(&self, expect_failure: bool) -> bool {
        self.ran && !matches!(self.code, 126 | 127) && (self.code != 0) == expect_failure
    }
}

/// Whether the phase expects its command to fail.
#[must_use]
pub fn expects_failure(phase: &str, said: Option<bool>) -> bool {
    said.unwrap_or_else(|| phases::expects_failure(phase))
}

struct Tally {
    hash: Sha256,
    bytes: u64,
}

/// Runs the command with our own stdin, showing what it prints.
#[must_use]
pub fn run(command: &[OsString]) -> Ran {
    let not_run = |code| Ran { code, ran: false, output_sha256: String::new(), output_bytes: 0 };
    let Some((program, arguments)) = command.split_first() else { return not_run(127) };
    let spawned = Command::new(program).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            let _ = writeln!(io::stderr(), "conclaude: cannot start {}: {error}", program.to_string_lossy());
            return not_run(if error.kind() == io::ErrorKind::PermissionDenied { 126 } else { 127 });
        }
    };
    let tally = Arc::new(Mutex::new(Tally { hash: Sha256::new(), bytes: 0 }));
    let (sender, ended) = mpsc::channel();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (for_stdout, for_stderr) = ((Arc::clone(&tally), sender.clone()), (Arc::clone(&tally), sender));
    std::thread::spawn(move || show(stdout, io::stdout(), &for_stdout.0, &for_stdout.1));
    std::thread::spawn(move || show(stderr, io::stderr(), &for_stderr.0, &for_stderr.1));
    let status = child.wait();
    // A child that was left behind may hold the pipes; it does not hold us.
    for _ in 0..2 {
        let _ = ended.recv_timeout(LAST_WORDS);
    }
    let tally = tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let output_sha256 = crate::store::hex(&tally.hash.clone().finalize());
    let (code, ran) = status.map_or((1, false), code_of);
    Ran { code, ran, output_sha256, output_bytes: tally.bytes }
}

fn show(from: Option<impl Read>, mut to: impl Write, tally: &Mutex<Tally>, ended: &mpsc::Sender<()>) {
    let Some(mut from) = from else { return };
    let mut buffer = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let chunk = buffer.get(..read).unwrap_or_default();
        // Whoever watches may have gone; the command is run all the same.
        let _ = to.write_all(chunk).and_then(|()| to.flush());
        let mut tally = tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        tally.hash.update(chunk);
        tally.bytes += chunk.len() as u64;
    }
    let _ = ended.send(());
}

fn code_of(status: ExitStatus) -> (i32, bool) {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return (128 + signal, false);
        }
    }
    (status.code().unwrap_or(1), true)
}
