//! Runs a command as evidence. Its output is shown and hashed as it arrives.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use conclaude_core::config::DEFAULT_SHELL;
use conclaude_os::process::{self, JoinedOutput, Sink, Status, Stream};

#[derive(Clone, Debug)]
pub struct EvidenceRun {
    /// Its exit code; 127 if it could not be started, 128 and the signal's number if it was killed.
    pub code: i32,
    /// Whether it was started and ended by itself.
    pub ran: bool,
    /// The hash of its whole output, in order of arrival.
    pub output_sha256: String,
    pub output_bytes: u64,
    /// The end of its output.
    pub output: JoinedOutput,
    /// Why it could not be started.
    pub problem: Option<String>,
}

impl EvidenceRun {
    /// Whether the result is what the phase requires. A command that could not run proves nothing, even if a failure is expected.
    #[must_use]
    pub fn passes(&self, expect_failure: bool) -> bool {
        self.ran && !matches!(self.code, 126 | 127) && (self.code != 0) == expect_failure
    }
}

/// The config's own command: a script that runs at the top of the work tree, wherever the agent is.
#[must_use]
pub fn script(script: &str, work: &Path) -> Command {
    let mut command = Command::new(DEFAULT_SHELL);
    command.arg("-c").arg(script).current_dir(work);
    command
}

/// Runs the command with our own stdin and shows its output.
#[must_use]
pub fn run(command: Command) -> EvidenceRun {
    let not_run = |code, problem| EvidenceRun {
        code,
        ran: false,
        output_sha256: String::new(),
        output_bytes: 0,
        output: JoinedOutput::default(),
        problem: Some(problem),
    };
    let program = command.get_program().to_owned();
    let mut hasher = OutputHasher { hash: Sha256::new(), bytes: 0, end: JoinedOutput::default() };
    let status = match process::run_attached(command, &mut hasher) {
        Ok(status) => status,
        Err(error) => {
            let code = if error.kind() == io::ErrorKind::PermissionDenied { 126 } else { 127 };
            return not_run(code, format!("cannot start {}: {error}", program.to_string_lossy()));
        }
    };
    let (code, ran) = match status {
        Status::Exited(code) => (code, true),
        Status::Killed(signal) => (128 + signal, false),
        Status::TimedOut(_) | Status::NotStarted(_) | Status::Interrupted(_) => (1, false),
    };
    EvidenceRun {
        code,
        ran,
        output_sha256: conclaude_core::text::hex(&hasher.hash.finalize()),
        output_bytes: hasher.bytes,
        output: hasher.end,
        problem: None,
    }
}

/// Shows the output on our own streams and hashes it, in order of arrival.
struct OutputHasher {
    hash: Sha256,
    bytes: u64,
    end: JoinedOutput,
}

impl Sink for OutputHasher {
    #[expect(clippy::disallowed_methods, reason = "the user watches a program, and sees what it prints")]
    fn chunk(&mut self, stream: Stream, bytes: &[u8]) {
        let mut to: Box<dyn Write> = match stream {
            Stream::Stdout => Box::new(io::stdout()),
            Stream::Stderr => Box::new(io::stderr()),
        };
        // A closed stream does not stop the command.
        let _ = to.write_all(bytes).and_then(|()| to.flush());
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.end.push(stream, bytes);
    }
}
