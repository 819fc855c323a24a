//! One child at a time, watched by one loop over `poll`: no thread, no runtime.

use std::io::{ErrorKind, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process_group, test_kill_process_group, waitpid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::capture::{Capture, Spill};
use super::{CommandSpec, Finished, GRACE, GRACE_WHEN_STOPPED, Status};
#[cfg(target_os = "linux")]
use super::{descendants, spawn};

/// A pipe never holds more than this, so no more is read of a command that has ended.
const LAST_WORDS: usize = 1 << 20;

/// How often processes are looked at that give no sign of their own.
const TICK: Duration = Duration::from_millis(10);

/// What tells us to stop.
pub(super) const SIGNALS: [i32; 3] = [SIGTERM, SIGINT, SIGHUP];

/// Becomes readable with the first signal and stays so: once told to stop, always told to stop.
static ARRIVED: OnceLock<Option<PipeReader>> = OnceLock::new();

/// The signal that came last, 0 for none.
static WHICH: AtomicI32 = AtomicI32::new(0);

/// Installed with the first command: before it there is nothing to clean up, and the default action is right.
fn stop_signals() -> Option<&'static PipeReader> {
    // A signal that comes while its handler is being installed would be lost.
    ARRIVED.get_or_init(|| held_back(register)).as_ref()
}

fn register() -> Option<PipeReader> {
    let (arrived, writer) = std::io::pipe().ok()?;
    set_nonblocking(writer.as_fd()).ok()?;
    // It must live as long as the handlers do, which is for good.
    let writer: &'static PipeWriter = Box::leak(Box::new(writer));
    for signal in SIGNALS {
        let note = move || {
            WHICH.store(signal, Ordering::SeqCst);
            // If it is full, it is readable already.
            let _ = rustix::io::write(writer, &[0]);
        };
        // SAFETY: the handler stores a number and makes one system call that does not wait.
        #[expect(unsafe_code, reason = "whoever registers a handler answers for what it does")]
        unsafe { signal_hook::low_level::register(signal, note) }.ok()?;
    }
    Some(arrived)
}

/// Lets all signals wait until this is done.
pub(super) fn held_back<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: the sets are initialised before they are used and outlive the calls, which change nothing but this
    // thread's mask.
    #[expect(unsafe_code, reason = "the mask of signals has no safe interface")]
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        let done = run();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        done
    }
}

/// Ignored, as it may come to us, the signal that a child has ended makes the kernel throw its status away.
pub(super) fn hear_of_children() {
    // SAFETY: this puts the default action in place, and no handler of ours was there before.
    #[expect(unsafe_code, reason = "the action of a signal has no safe interface")]
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

pub(super) fn stop_signal() -> Option<&'static str> {
    match WHICH.load(Ordering::SeqCst) {
        SIGTERM => Some("SIGTERM"),
        SIGINT => Some("SIGINT"),
        SIGHUP => Some("SIGHUP"),
        _ => None,
    }
}

pub(super) fn run(spec: &CommandSpec<'_>, spill: Spill<'_>) -> Finished {
    let started = Instant::now();
    let mut stdout = Capture::new("stdout", spec.stdout);
    let mut stderr = Capture::new("stderr", spec.stderr);
    let status = match Running::start(spec) {
        Err(error) => Status::NotStarted(format!("{} in {}: {error}", spec.shell, spec.cwd.display())),
        Ok(mut running) => {
            let buffer = Vec::with_capacity(64 << 10);
            let mut sink = Sink { stdout: &mut stdout, stderr: &mut stderr, spill, buffer };
            running.watch(spec.timeout.map(|limit| (started + limit, limit)), &mut sink)
        }
    };
    Finished { status, stdout: stdout.finish(), stderr: stderr.finish(), duration: started.elapsed() }
}

struct Sink<'a> {
    stdout: &'a mut Capture,
    stderr: &'a mut Capture,
    spill: Spill<'a>,
    /// As much as a pipe holds; only what comes is written to.
    buffer: Vec<u8>,
}

/// The command's ends of its pipes, closed here as soon as it has them.
pub(super) struct Streams {
    pub(super) stdin: PipeReader,
    pub(super) stdout: PipeWriter,
    pub(super) stderr: PipeWriter,
}

/// A command that runs.
struct Running<'a> {
    pid: Pid,
    /// How the shell has ended.
    status: Option<Status>,
    /// Readable when the shell has ended; `None` where there is no such thing.
    ended: Option<OwnedFd>,
    stdin: Option<(PipeWriter, &'a [u8])>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    #[cfg(target_os = "linux")]
    id: String,
    #[cfg(target_os = "linux")]
    before: Vec<i32>,
}

impl<'a> Running<'a> {
    fn start(spec: &CommandSpec<'a>) -> std::io::Result<Self> {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let id = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        let (stdin, to_stdin) = std::io::pipe()?;
        let (from_stdout, stdout) = std::io::pipe()?;
        let (from_stderr, stderr) = std::io::pipe()?;
        for pipe in [to_stdin.as_fd(), from_stdout.as_fd(), from_stderr.as_fd()] {
            set_nonblocking(pipe)?;
        }
        stop_signals();
        #[cfg(target_os = "linux")]
        let before = {
            descendants::adopt_orphans();
            descendants::own_children()
        };
        let (pid, ended) = spawn::shell(spec, &id, &Streams { stdin, stdout, stderr })?;
        Ok(Running {
            pid,
            status: None,
            ended,
            stdin: Some((to_stdin, spec.stdin)),
            stdout: Some(from_stdout),
            stderr: Some(from_stderr),
            #[cfg(target_os = "linux")]
            id,
            #[cfg(target_os = "linux")]
            before,
        })
    }

    /// Waits for the end, the deadline or a signal to us, whichever comes first.
    fn watch(&mut self, deadline: Option<(Instant, Duration)>, sink: &mut Sink<'_>) -> Status {
        loop {
            if let Some(status) = self.exit_status() {
                self.read_last_words(sink);
                return status;
            }
            if let Some(signal) = stop_signal() {
                self.terminate(GRACE_WHEN_STOPPED, sink);
                return Status::Interrupted(signal);
            }
            if let Some((at, limit)) = deadline
                && Instant::now() >= at
            {
                self.terminate(GRACE, sink);
                return Status::TimedOut(limit);
            }
            let left = deadline.map(|(at, _)| at.saturating_duration_since(Instant::now()));
            self.pump(left, sink);
        }
    }

    fn exit_status(&mut self) -> Option<Status> {
        if self.status.is_none() {
            self.status = match waitpid(Some(self.pid), WaitOptions::NOHANG) {
                Ok(ended) => ended.map(|(_, status)| status_of(status)),
                Err(Errno::INTR) => None,
                // Somebody else has taken its status: that it ended is all that is known.
                Err(_) => Some(Status::Killed(0)),
            };
        }
        self.status.clone()
    }

    /// Waits until something happens, and moves what there is to move.
    fn pump(&mut self, wait: Option<Duration>, sink: &mut Sink<'_>) {
        let wait = if self.ended.is_some() { wait } else { Some(wait.map_or(TICK, |wait| wait.min(TICK))) };
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let signals = stop_signals().map(AsFd::as_fd);
        let watched: [(Option<BorrowedFd<'_>>, PollFlags); 5] = [
            (self.stdout.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stderr.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stdin.as_ref().map(|(pipe, _)| pipe.as_fd()), PollFlags::OUT),
            (self.ended.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (signals, PollFlags::IN),
        ];
        let mut fds: Vec<PollFd<'_>> = watched
            .iter()
            .filter_map(|(fd, flags)| fd.map(|fd| PollFd::from_borrowed_fd(fd, *flags)))
            .collect();
        // An interrupted wait is a wake-up like any other: the caller looks at everything again.
        if poll(&mut fds, wait.as_ref()).is_ok() {
            self.write_some();
            self.read_some(sink);
        }
    }

    fn write_some(&mut self) {
        let Some((pipe, rest)) = &mut self.stdin else { return };
        match pipe.write(rest) {
            Ok(written) if written > 0 && written < rest.len() => {
                *rest = rest.get(written..).unwrap_or_default()
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // All is written, or the command does not want it: closed either way.
            _ => self.stdin = None,
        }
    }

    /// One read of each stream; how many bytes came.
    fn read_some(&mut self, sink: &mut Sink<'_>) -> usize {
        let out = read_once(&mut self.stdout, sink.stdout, &mut sink.buffer, sink.spill);
        out + read_once(&mut self.stderr, sink.stderr, &mut sink.buffer, sink.spill)
    }

    /// What was printed before the end. A child that was left behind may hold the pipes; it does not hold us.
    fn read_last_words(&mut self, sink: &mut Sink<'_>) {
        let mut total = 0;
        while total < LAST_WORDS {
            match self.read_some(sink) {
                0 => break,
                read => total += read,
            }
        }
        (self.stdin, self.stdout, self.stderr) = (None, None, None);
    }

    /// Asks all processes of the command to end, and kills those that have not when the grace is over.
    fn terminate(&mut self, grace: Duration, sink: &mut Sink<'_>) {
        self.signal_all(Signal::TERM);
        // A stopped process does not hear anything else.
        self.signal_all(Signal::CONT);
        let over = Instant::now() + grace;
        while Instant::now() < over && !self.is_gone() {
            self.pump(Some(TICK.min(over.saturating_duration_since(Instant::now()))), sink);
            // With its pipes closed, the pump may have nothing to wait for but the child, which has ended already.
            std::thread::sleep(Duration::from_millis(1));
        }
        // What is killed may have forked a moment before: again, until nobody is left.
        for _ in 0..50 {
            if self.is_gone() {
                break;
            }
            self.signal_all(Signal::KILL);
            std::thread::sleep(Duration::from_millis(2));
        }
        self.read_last_words(sink);
    }

    fn is_gone(&mut self) -> bool {
        self.exit_status().is_some() && self.others().is_empty() && test_kill_process_group(self.pid).is_err()
    }

    fn signal_all(&mut self, signal: Signal) {
        for pid in self.others() {
            let _ = rustix::process::kill_process(pid, signal);
        }
        // The group's number stays taken while any member lives, so this hits nobody else.
        let _ = kill_process_group(self.pid, signal);
    }

    #[cfg(target_os = "linux")]
    fn others(&self) -> Vec<Pid> {
        descendants::living(self.pid, &self.id, &self.before)
    }

    #[cfg(not(target_os = "linux"))]
    fn others(&self) -> Vec<Pid> {
        Vec::new()
    }
}

fn read_once(
    pipe: &mut Option<PipeReader>,
    capture: &mut Capture,
    buffer: &mut Vec<u8>,
    spill: Spill<'_>,
) -> usize {
    let Some(open) = pipe else { return 0 };
    buffer.clear();
    match rustix::io::read(open, spare_capacity(buffer)) {
        Ok(read) if read > 0 => {
            capture.push(buffer, spill);
            read
        }
        Err(Errno::AGAIN | Errno::INTR) => 0,
        _ => {
            *pipe = None;
            0
        }
    }
}

fn status_of(status: WaitStatus) -> Status {
    match status.exit_status() {
        Some(code) => Status::Exited(code),
        None => Status::Killed(status.terminating_signal().unwrap_or(0)),
    }
}

fn set_nonblocking(fd: BorrowedFd<'_>) -> std::io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?)
}

#[cfg(not(target_os = "linux"))]
mod spawn {
    //! Starting the shell where a parent's death is told to nobody.

    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::{CommandSpec, OwnedFd, Pid, Streams};
    use crate::process::ID_VARIABLE;

    pub(super) fn shell(
        spec: &CommandSpec<'_>,
        id: &str,
        streams: &Streams,
    ) -> std::io::Result<(Pid, Option<OwnedFd>)> {
        let mut command = Command::new(spec.shell);
        command.arg("-c").arg(spec.script).current_dir(spec.cwd).process_group(0).env(ID_VARIABLE, id);
        for (name, value) in spec.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(streams.stdin.try_clone()?);
        command.stdout(streams.stdout.try_clone()?).stderr(streams.stderr.try_clone()?);
        command.spawn().map(|child| (Pid::from_child(&child), None))
    }
}
