//! Unix: each process is watched with `poll` on its pipes, its pidfd and our signals, without a runtime.

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

#[cfg(target_os = "linux")]
use super::descendants::{self, Family};
use super::signals::{self, set_nonblocking};
use super::watch::WatchedProcess;
use super::{ChildSpec, ProcessKind, Sink, Status, Stream};

/// How often processes without a pidfd are polled.
const TICK: Duration = Duration::from_millis(10);

/// As much as a pipe holds by default.
const CHUNK: usize = 64 << 10;

pub(super) fn stop_signal() -> Option<&'static str> {
    signals::received()
}

pub(super) struct ChildProcess<'a> {
    child: Child,
    pid: Pid,
    kind: ProcessKind,
    status: Option<Status>,
    /// Readable when the process has ended. `None` if the system has no pidfd.
    pidfd: Option<OwnedFd>,
    /// Readable when we receive a signal to stop.
    stop: Option<&'static PipeReader>,
    stdin: Option<(PipeWriter, &'a [u8])>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    buffer: Vec<u8>,
    #[cfg(target_os = "linux")]
    family: Option<Family>,
}

impl<'a> ChildProcess<'a> {
    /// The command is consumed, because it holds the process's ends of the pipes.
    pub(super) fn start(spec: ChildSpec<'a>) -> io::Result<Self> {
        let ChildSpec { mut command, kind, stdin } = spec;
        let stdin = stdin.map(|input| stdin_pipe(&mut command).map(|pipe| (pipe, input))).transpose()?;
        let (stdout, to_stdout) = io::pipe()?;
        let (stderr, to_stderr) = io::pipe()?;
        set_nonblocking(stdout.as_fd())?;
        set_nonblocking(stderr.as_fd())?;
        command.stdout(to_stdout).stderr(to_stderr);
        if kind != ProcessKind::Attached {
            command.process_group(0);
        }
        prepare_child(
            &mut command,
            if kind == ProcessKind::Attached { ParentTie::Attached } else { ParentTie::Owned },
        );
        let stop = if matches!(kind, ProcessKind::Command(_)) { signals::register() } else { None };
        #[cfg(target_os = "linux")]
        let family = match &kind {
            ProcessKind::Command(id) => Some(Family::before_start(id.clone())),
            ProcessKind::Tool | ProcessKind::Attached => None,
        };
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        Ok(ChildProcess {
            child,
            pid,
            kind,
            status: None,
            pidfd: pidfd(pid),
            stop,
            stdin,
            stdout: Some(stdout),
            stderr: Some(stderr),
            buffer: Vec::with_capacity(CHUNK),
            #[cfg(target_os = "linux")]
            family,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Records the parallel processes, so that they are not mistaken for its own.
    pub(super) fn has_neighbours(&mut self, ids: &[u32]) {
        #[cfg(target_os = "linux")]
        if let Some(family) = &mut self.family {
            let own = self.child.id();
            family.excludes(ids.iter().copied().filter(|id| *id != own));
        }
        #[cfg(not(target_os = "linux"))]
        let _ = ids;
    }

    fn write_some(&mut self) {
        let Some((pipe, rest)) = &mut self.stdin else { return };
        match pipe.write(rest) {
            Ok(written) if written > 0 && written < rest.len() => {
                *rest = rest.get(written..).unwrap_or_default()
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // Everything is written, or the process does not read it: the pipe is closed in both cases.
            _ => self.stdin = None,
        }
    }

    fn is_gone(&mut self) -> bool {
        self.exit_status().is_some()
            && self.descendants().is_empty()
            && (self.kind == ProcessKind::Attached || test_kill_process_group(self.pid).is_err())
    }

    fn signal_all(&mut self, signal: Signal) {
        for pid in self.descendants() {
            let _ = kill_process(pid, signal);
        }
        if self.kind != ProcessKind::Attached {
            // The group's number stays taken while any member lives, so this hits nobody else.
            let _ = kill_process_group(self.pid, signal);
        } else if self.status.is_none() {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// The descendants of a command, wherever they are now.
    fn descendants(&self) -> Vec<Pid> {
        #[cfg(target_os = "linux")]
        {
            self.family.as_ref().map(|family| descendants::living(self.pid, family)).unwrap_or_default()
        }
        #[cfg(not(target_os = "linux"))]
        Vec::new()
    }
}

impl WatchedProcess for ChildProcess<'_> {
    fn exit_status(&mut self) -> Option<Status> {
        if self.status.is_none() {
            self.status = match self.child.try_wait() {
                Ok(ended) => ended.map(status_of),
                Err(error) if error.kind() == ErrorKind::Interrupted => None,
                // Another process has reaped its status: we only know that it ended.
                Err(_) => Some(Status::Killed(0)),
            };
        }
        self.status.clone()
    }

    fn pump(&mut self, wait: Option<Duration>, sink: &mut dyn Sink) {
        let wait = if self.pidfd.is_some() { wait } else { Some(wait.map_or(TICK, |wait| wait.min(TICK))) };
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let watched: [(Option<BorrowedFd<'_>>, PollFlags); 5] = [
            (self.stdout.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stderr.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stdin.as_ref().map(|(pipe, _)| pipe.as_fd()), PollFlags::OUT),
            (self.pidfd.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stop.map(AsFd::as_fd), PollFlags::IN),
        ];
        let mut fds: Vec<PollFd<'_>> = watched
            .iter()
            .filter_map(|(fd, flags)| fd.map(|fd| PollFd::from_borrowed_fd(fd, *flags)))
            .collect();
        // An interrupted wait is a wake-up like any other: the caller checks everything again.
        if poll(&mut fds, wait.as_ref()).is_ok() {
            self.write_some();
            self.read_some(sink);
        }
    }

    fn read_some(&mut self, sink: &mut dyn Sink) -> usize {
        let out = read_once(&mut self.stdout, Stream::Stdout, &mut self.buffer, sink);
        out + read_once(&mut self.stderr, Stream::Stderr, &mut self.buffer, sink)
    }

    fn terminate(&mut self, grace: Duration, sink: &mut dyn Sink) {
        self.signal_all(Signal::TERM);
        // A stopped process does not react to anything else.
        self.signal_all(Signal::CONT);
        let over = Instant::now() + grace;
        while Instant::now() < over && !self.is_gone() {
            self.pump(Some(TICK.min(over.saturating_duration_since(Instant::now()))), sink);
            // With its pipes closed, there may be nothing to wait for except the process, which has already ended.
            std::thread::sleep(Duration::from_millis(1));
        }
        // A killed process may have forked a moment before: repeat until none is left.
        for _ in 0..50 {
            if self.is_gone() {
                break;
            }
            self.signal_all(Signal::KILL);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn stop_signal(&self) -> Option<&'static str> {
        if self.kind == ProcessKind::Attached { None } else { signals::received() }
    }
}

fn read_once(
    pipe: &mut Option<PipeReader>,
    stream: Stream,
    buffer: &mut Vec<u8>,
    sink: &mut dyn Sink,
) -> usize {
    let Some(open) = pipe else { return 0 };
    buffer.clear();
    match rustix::io::read(open, spare_capacity(buffer)) {
        Ok(read) if read > 0 => {
            sink.chunk(stream, buffer);
            read
        }
        Err(Errno::AGAIN | Errno::INTR) => 0,
        _ => {
            *pipe = None;
            0
        }
    }
}

fn stdin_pipe(command: &mut Command) -> io::Result<PipeWriter> {
    let (reader, writer) = io::pipe()?;
    set_nonblocking(writer.as_fd())?;
    command.stdin(Stdio::from(reader));
    Ok(writer)
}

/// A child that outlives us and our process group.
pub(super) fn detach(command: &mut Command) {
    prepare_child(command, ParentTie::Detached);
}

/// How a child depends on this process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParentTie {
    /// It keeps what the user's shell gave us, except signals that we ignore ourselves.
    Attached,
    /// On Linux it dies when we are killed.
    Owned,
    /// It has a session of its own.
    Detached,
}

/// Signals get their default action in the child, unless it is attached.
fn prepare_child(command: &mut Command, tie: ParentTie) {
    #[cfg(target_os = "linux")]
    let parent = rustix::process::getpid();
    let prepare = move || {
        signals::restore_file_size_signal();
        if tie == ParentTie::Attached {
            return Ok(());
        }
        signals::reset_in_child();
        if tie == ParentTie::Detached {
            rustix::process::setsid()?;
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the call above.
            if rustix::process::getppid() != Some(parent) {
                return Err(Errno::SRCH.into());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec it only makes system calls; it allocates nothing and takes no lock.
    #[expect(unsafe_code, reason = "std can neither restore signals nor ask for the parent-death signal")]
    unsafe {
        command.pre_exec(prepare);
    }
}

#[cfg(target_os = "linux")]
fn pidfd(pid: Pid) -> Option<OwnedFd> {
    // Older kernels and some sandboxes refuse it.
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn pidfd(_: Pid) -> Option<OwnedFd> {
    None
}

fn status_of(status: ExitStatus) -> Status {
    match status.code() {
        Some(code) => Status::Exited(code),
        None => Status::Killed(status.signal().unwrap_or(0)),
    }
}
