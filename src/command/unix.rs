//! One child at a time, watched by one loop over `poll`: no thread, no runtime.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::capture::{Capture, Spill};
#[cfg(target_os = "linux")]
use super::descendants;
use super::{CommandSpec, Finished, GRACE, GRACE_WHEN_STOPPED, ID_VARIABLE, Status};

/// A pipe never holds more than this, so no more is read of a command that has ended.
const LAST_WORDS: usize = 1 << 20;

/// How often processes are looked at that give no sign of their own.
const TICK: Duration = Duration::from_millis(10);

/// What tells us to stop.
const SIGNALS: [i32; 3] = [SIGTERM, SIGINT, SIGHUP];

struct StopSignals {
    /// Becomes readable with the first signal and stays so: once told to stop, always told to stop.
    arrived: UnixStream,
    which: Arc<AtomicUsize>,
}

static STOP_SIGNALS: OnceLock<Option<StopSignals>> = OnceLock::new();

/// Installed with the first command: before it there is nothing to clean up, and the default action is right.
fn stop_signals() -> Option<&'static StopSignals> {
    STOP_SIGNALS.get_or_init(|| held_back(register)).as_ref()
}

fn register() -> Option<StopSignals> {
    let (arrived, writer) = UnixStream::pair().ok()?;
    let which = Arc::new(AtomicUsize::new(0));
    for signal in SIGNALS {
        signal_hook::flag::register_usize(signal, Arc::clone(&which), signal.unsigned_abs() as usize).ok()?;
        signal_hook::low_level::pipe::register(signal, writer.try_clone().ok()?).ok()?;
    }
    Some(StopSignals { arrived, which })
}

/// Lets the signals wait until this is done: one that comes while its handler is being installed would be lost.
fn held_back<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: the sets are initialised before they are used and outlive the calls, which change nothing but this
    // thread's mask.
    #[expect(unsafe_code, reason = "the mask of signals has no safe interface")]
    unsafe {
        let mut held: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut held);
        for signal in SIGNALS {
            libc::sigaddset(&raw mut held, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before);
        let done = run();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        done
    }
}

pub(super) fn stop_signal() -> Option<&'static str> {
    let number = STOP_SIGNALS.get()?.as_ref()?.which.load(Ordering::SeqCst);
    match i32::try_from(number).ok()? {
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
            let mut sink = Sink { stdout: &mut stdout, stderr: &mut stderr, spill };
            running.watch(spec.timeout.map(|limit| (started + limit, limit)), &mut sink)
        }
    };
    Finished { status, stdout: stdout.finish(), stderr: stderr.finish(), duration: started.elapsed() }
}

struct Sink<'a> {
    stdout: &'a mut Capture,
    stderr: &'a mut Capture,
    spill: Spill<'a>,
}

/// A command that runs.
struct Running<'a> {
    child: Child,
    pid: Pid,
    /// Readable when the child has ended; `None` where there is no such thing.
    ended: Option<OwnedFd>,
    stdin: Option<(ChildStdin, &'a [u8])>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    #[cfg(target_os = "linux")]
    id: String,
    #[cfg(target_os = "linux")]
    before: std::collections::HashSet<i32>,
}

impl<'a> Running<'a> {
    fn start(spec: &CommandSpec<'a>) -> std::io::Result<Self> {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let id = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(spec.shell);
        command.arg("-c").arg(spec.script).current_dir(spec.cwd);
        for (name, value) in spec.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env(ID_VARIABLE, &id);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        die_with_parent(&mut command);
        stop_signals();
        #[cfg(target_os = "linux")]
        let before = {
            descendants::adopt_orphans();
            descendants::own_children()
        };
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        let stdin = child.stdin.take().map(|pipe| (pipe, spec.stdin));
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        for pipe in [
            stdin.as_ref().map(|(pipe, _)| pipe.as_fd()),
            stdout.as_ref().map(AsFd::as_fd),
            stderr.as_ref().map(AsFd::as_fd),
        ] {
            pipe.map(set_nonblocking).transpose()?;
        }
        #[cfg(target_os = "linux")]
        let ended = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
        #[cfg(not(target_os = "linux"))]
        let ended = None;
        Ok(Running {
            child,
            pid,
            ended,
            stdin,
            stdout,
            stderr,
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
        self.child.try_wait().ok().flatten().map(status_of)
    }

    /// Waits until something happens, and moves what there is to move.
    fn pump(&mut self, wait: Option<Duration>, sink: &mut Sink<'_>) {
        let wait = if self.ended.is_some() { wait } else { Some(wait.map_or(TICK, |wait| wait.min(TICK))) };
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let signals = stop_signals().map(|signals| signals.arrived.as_fd());
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
        let out = read_once(&mut self.stdout, sink.stdout, sink.spill);
        out + read_once(&mut self.stderr, sink.stderr, sink.spill)
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

fn read_once(pipe: &mut Option<impl Read>, capture: &mut Capture, spill: Spill<'_>) -> usize {
    let Some(open) = pipe else { return 0 };
    let mut buffer = [0; 64 << 10];
    match open.read(&mut buffer) {
        Ok(0) => {
            *pipe = None;
            0
        }
        Ok(read) => {
            capture.push(buffer.get(..read).unwrap_or_default(), spill);
            read
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
        Err(_) => {
            *pipe = None;
            0
        }
    }
}

fn status_of(status: ExitStatus) -> Status {
    match (status.code(), status.signal()) {
        (Some(code), _) => Status::Exited(code),
        (None, signal) => Status::Killed(signal.unwrap_or(0)),
    }
}

fn set_nonblocking(fd: BorrowedFd<'_>) -> std::io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?)
}

/// If we are killed, the command's shell dies with us.
#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    // SAFETY: between fork and exec only two system calls are made, neither of which allocates or takes a lock.
    #[expect(unsafe_code, reason = "the parent-death signal can only be set by the child itself")]
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the call above.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(rustix::io::Errno::SRCH.into())
            }
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &mut Command) {}
