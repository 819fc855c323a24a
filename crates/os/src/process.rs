//! The only place that starts processes: commands of a hook, programs whose output we need, and a program that the
//! user watches. One loop watches them all and passes their output to a sink as it arrives.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub mod ancestors;
mod capture;
#[cfg(target_os = "linux")]
mod descendants;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod unix;
mod watch;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use capture::CapturedOutput;
use capture::{CapturedStreams, OutputCapture};
pub use capture::{ExcerptLimits, JoinedOutput, Retention, SpillOpener};
use watch::{Deadline, watch};

/// Limits the id, so that commands that call us recursively do not fill the environment.
const MAX_OUTER_ID: usize = 4_000;

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that we did not send.
    Killed(i32),
    /// It timed out and was terminated with all its children.
    TimedOut(Duration),
    NotStarted(String),
    /// We received this signal, and it was terminated with all its children.
    Interrupted(&'static str),
}

impl Status {
    #[must_use]
    pub fn is_success(&self) -> bool {
        *self == Status::Exited(0)
    }

    /// The exit code, if it had one.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        match self {
            Status::Exited(code) => Some(*code),
            _ => None,
        }
    }

    /// The status in words after "it".
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            // The codes of shells, which `npm run` and the like pass on.
            Status::Exited(126) => "exited with code 126 (a program cannot be executed)".to_owned(),
            Status::Exited(127) => "exited with code 127 (a program was not found)".to_owned(),
            Status::Exited(code) => format!("exited with code {code}"),
            Status::Killed(signal) => format!("was killed by signal {signal}"),
            Status::TimedOut(limit) => format!("timed out after {} s and was terminated", limit.as_secs()),
            Status::NotStarted(reason) => format!("could not be started: {reason}"),
            Status::Interrupted(signal) => format!("was terminated, since conclaude received {signal}"),
        }
    }
}

/// One of the two output streams of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Receives the output of a process as it arrives.
pub trait Sink {
    fn chunk(&mut self, stream: Stream, bytes: &[u8]);

    /// Whether it cannot accept more. Then the process is terminated.
    fn is_full(&self) -> bool {
        false
    }
}

/// The environment variable that identifies the processes of one command. If a command calls us again, ids are nested:
/// `outer/inner`.
const ID_VARIABLE: &str = "CONCLAUDE_COMMAND_ID";

/// The purpose of a process, and what happens to it when we stop.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProcessKind {
    /// A command of a hook, with its id, in its own process group. It is terminated with all its descendants, also when we
    /// receive a signal, and dies when we are killed.
    Command(String),
    /// A program whose output we need. It ends like a command, but nobody searches for processes that left its group. A signal
    /// to us keeps its default action until the first command has run.
    Tool,
    /// A program in our process group, so that it may read from the terminal and receives its Ctrl-C.
    Attached,
}

struct ChildSpec<'a> {
    command: Command,
    #[cfg_attr(windows, expect(dead_code, reason = "a job object holds processes of every kind"))]
    kind: ProcessKind,
    /// Its input, else our own stdin.
    stdin: Option<&'a [u8]>,
}

/// A shell script to run as a command of a hook.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec<'a> {
    pub script: &'a str,
    /// The program that runs it, with `-c`.
    pub shell: &'a str,
    pub cwd: &'a Path,
    /// Variables that are added to our own environment; `None` removes one.
    pub env: &'a [(String, Option<String>)],
    /// What it reads.
    pub stdin: &'a [u8],
    pub timeout: Option<Duration>,
    pub stdout: Retention,
    pub stderr: Retention,
}

impl CommandSpec<'_> {
    fn command(&self, id: &str) -> Command {
        let mut command = Command::new(self.shell);
        command.arg("-c").arg(self.script).current_dir(self.cwd);
        for (name, value) in self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env(ID_VARIABLE, id);
        command
    }
}

#[derive(Clone, Debug)]
pub struct FinishedCommand {
    pub status: Status,
    pub stdout: CapturedOutput,
    pub stderr: CapturedOutput,
    /// The end of both streams together.
    pub joined: JoinedOutput,
    pub duration: Duration,
}

impl FinishedCommand {
    /// A command that was not started, and why.
    pub fn not_started(why: String) -> FinishedCommand {
        let nothing = CapturedOutput::default();
        FinishedCommand {
            status: Status::NotStarted(why),
            stdout: nothing.clone(),
            stderr: nothing,
            joined: JoinedOutput::default(),
            duration: Duration::ZERO,
        }
    }
}

/// A finished program with all its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// How it ended: `Exited` or `Killed`.
    pub status: Status,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs the command and waits for it. It never fails: problems are part of the status.
#[must_use]
pub fn run<'a>(spec: &CommandSpec<'a>, spill: Option<SpillOpener<'a>>) -> FinishedCommand {
    let mut started = StartedCommand::start(CommandJob { spec: *spec, spill, marker: None });
    started.watch();
    started.finish()
}

/// A command that runs in parallel with others.
pub struct CommandJob<'a> {
    pub spec: CommandSpec<'a>,
    pub spill: Option<SpillOpener<'a>>,
    /// Dropped when the command has ended.
    pub marker: Option<Box<dyn Send + 'a>>,
}

/// Runs the commands in parallel and waits for all of them. The results are in the order of the jobs.
#[must_use]
pub fn run_all(jobs: Vec<CommandJob<'_>>) -> Vec<FinishedCommand> {
    // All are started before one is watched. So each knows the others when it is terminated, and all of them die with this
    // thread.
    let mut started: Vec<StartedCommand<'_>> = jobs.into_iter().map(StartedCommand::start).collect();
    let ids: Vec<u32> = started.iter().filter_map(StartedCommand::process_id).collect();
    for command in &mut started {
        command.has_neighbours(&ids);
    }
    if started.len() > 1 {
        std::thread::scope(|scope| {
            for command in &mut started {
                // If no thread can be created, the command is watched below.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || command.watch());
            }
        });
    }
    started
        .into_iter()
        .map(|mut command| {
            command.watch();
            command.finish()
        })
        .collect()
}

/// A started command, and its result once it was watched.
struct StartedCommand<'a> {
    process: Option<platform::ChildProcess<'a>>,
    status: Option<Status>,
    captures: OutputCapture<'a>,
    deadline: Option<Deadline>,
    started: Instant,
    duration: Duration,
    marker: Option<Box<dyn Send + 'a>>,
}

impl<'a> StartedCommand<'a> {
    fn start(job: CommandJob<'a>) -> Self {
        let CommandJob { spec, spill, marker } = job;
        let (id, started) = (next_id(), Instant::now());
        let child =
            ChildSpec { command: spec.command(&id), kind: ProcessKind::Command(id), stdin: Some(spec.stdin) };
        let deadline = spec.timeout.and_then(|limit| Deadline::after(limit, started));
        let (process, status) = match platform::ChildProcess::start(child) {
            Ok(process) => (Some(process), None),
            Err(error) => {
                let why = format!("{} in {}: {error}", spec.shell, spec.cwd.display());
                (None, Some(Status::NotStarted(why)))
            }
        };
        StartedCommand {
            process,
            status,
            captures: OutputCapture::new(spec.stdout, spec.stderr, spill),
            deadline,
            started,
            duration: Duration::ZERO,
            marker,
        }
    }

    fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(platform::ChildProcess::id)
    }

    fn has_neighbours(&mut self, ids: &[u32]) {
        if let Some(process) = &mut self.process {
            process.has_neighbours(ids);
        }
    }

    /// Waits until it has ended. A second call does nothing.
    fn watch(&mut self) {
        if let Some(mut process) = self.process.take() {
            self.status = Some(watch(&mut process, self.deadline, &mut self.captures));
            self.duration = self.started.elapsed();
        }
        self.marker = None;
    }

    fn finish(self) -> FinishedCommand {
        let CapturedStreams { stdout, stderr, joined } = self.captures.finish();
        let status = self.status.unwrap_or_else(|| Status::NotStarted("it was not watched".to_owned()));
        FinishedCommand { status, stdout, stderr, joined, duration: self.duration }
    }
}

/// The id of the next command. It starts with the id of the command that called us, if one did.
fn next_id() -> String {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let own = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
    let outer = crate::environment::text(ID_VARIABLE);
    match outer.filter(|outer| !outer.is_empty() && outer.len() < MAX_OUTER_ID) {
        Some(outer) => format!("{outer}/{own}"),
        None => own,
    }
}

/// Runs a program for its output. It is terminated with its process group at the timeout, or when it has printed more than
/// `max_bytes` in all.
///
/// # Errors
/// If it cannot be started, times out, or prints too much.
pub fn output(command: Command, stdin: &[u8], limit: Duration, max_bytes: usize) -> io::Result<Output> {
    let mut whole = OutputBuffer { stdout: Vec::new(), stderr: Vec::new(), max_bytes, is_full: false };
    let spec = ChildSpec { command, kind: ProcessKind::Tool, stdin: Some(stdin) };
    let status = run_to_end(spec, Some(limit), &mut whole)?;
    if whole.is_full {
        let reason = format!("more than {max_bytes} bytes of output");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    if let Status::TimedOut(limit) = status {
        let reason = format!("no answer within {} s", limit.as_secs_f32());
        return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
    }
    Ok(Output { status, stdout: whole.stdout, stderr: whole.stderr })
}

/// Starts a program that outlives us: in its own session, without our streams.
///
/// # Errors
/// When it cannot be started.
pub fn detach(mut command: Command) -> io::Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    platform::detach(&mut command);
    command.spawn().map(drop)
}

/// Runs a program in our process group and with our stdin, and passes its output to the sink as it arrives. Signals keep their
/// actions: what stops us from the terminal stops the program too.
///
/// # Errors
/// When it cannot be started.
pub fn run_attached(command: Command, sink: &mut dyn Sink) -> io::Result<Status> {
    run_to_end(ChildSpec { command, kind: ProcessKind::Attached, stdin: None }, None, sink)
}

fn run_to_end(spec: ChildSpec<'_>, limit: Option<Duration>, sink: &mut dyn Sink) -> io::Result<Status> {
    let deadline = limit.and_then(|limit| Deadline::after(limit, Instant::now()));
    let mut running = platform::ChildProcess::start(spec)?;
    Ok(watch(&mut running, deadline, sink))
}

/// Resets signals whose inherited or default action would harm us. Call this before anything else.
pub fn set_signal_actions() {
    #[cfg(unix)]
    {
        signals::reset_sigchld();
        signals::ignore_file_size_signal();
    }
}

/// The signal to stop, if one arrived while commands ran.
#[must_use]
pub fn stop_signal() -> Option<&'static str> {
    platform::stop_signal()
}

/// From now on a signal to stop is only recorded, for [`stop_signal`].
pub fn note_stop_signals() {
    #[cfg(unix)]
    let _ = signals::register();
}

/// A pipe that becomes readable with such a signal.
#[cfg(unix)]
pub fn stop_pipe() -> Option<&'static io::PipeReader> {
    signals::register()
}

/// Stores both streams, up to a number of bytes.
struct OutputBuffer {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    max_bytes: usize,
    is_full: bool,
}

impl Sink for OutputBuffer {
    fn chunk(&mut self, stream: Stream, bytes: &[u8]) {
        self.is_full |= self.stdout.len() + self.stderr.len() + bytes.len() > self.max_bytes;
        if self.is_full {
            return;
        }
        match stream {
            Stream::Stdout => self.stdout.extend_from_slice(bytes),
            Stream::Stderr => self.stderr.extend_from_slice(bytes),
        }
    }

    fn is_full(&self) -> bool {
        self.is_full
    }
}

#[cfg(all(test, unix))]
mod tests;
