//! Windows: a process in a job object, so that its whole tree can be terminated. Threads read its streams.

use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::os::windows::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use process_wrap::std::{ChildWrapper, CommandWrap, JobObject};

use super::watch::WatchedProcess;
use super::{ChildSpec, Sink, Status, Stream};

/// How often the process is polled.
const TICK: Duration = Duration::from_millis(10);

/// How long we wait for the last output while a remaining child keeps the pipes open.
const DRAIN_WAIT: Duration = Duration::from_millis(100);

const CHUNK: usize = 64 << 10;

/// Without our console, and in its own process group.
const DETACHED_PROCESS: u32 = 0x8;
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

/// A child that outlives us and our process group.
pub(super) fn detach(command: &mut Command) {
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}

pub(super) fn stop_signal() -> Option<&'static str> {
    None
}

pub(super) struct ChildProcess<'a> {
    child: Box<dyn ChildWrapper>,
    status: Option<Status>,
    chunks: Receiver<(Stream, Vec<u8>)>,
    /// As on Unix, where the input is not copied.
    input: PhantomData<&'a [u8]>,
}

impl<'a> ChildProcess<'a> {
    pub(super) fn start(spec: ChildSpec<'a>) -> io::Result<Self> {
        let ChildSpec { mut command, kind: _, stdin } = spec;
        command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::inherit() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut command = CommandWrap::from(command);
        // For every kind: every process on our console receives Ctrl-C.
        command.wrap(JobObject);
        let mut child = command.spawn()?;
        if let Some((mut pipe, input)) = child.stdin().take().zip(stdin) {
            let input = input.to_vec();
            // The process need not read it.
            std::thread::spawn(move || drop(pipe.write_all(&input)));
        }
        let (sender, chunks) = mpsc::sync_channel(16);
        if let Some(pipe) = child.stdout().take() {
            read_in_background(pipe, Stream::Stdout, sender.clone());
        }
        if let Some(pipe) = child.stderr().take() {
            read_in_background(pipe, Stream::Stderr, sender);
        }
        Ok(ChildProcess { child, status: None, chunks, input: PhantomData })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A job object has only its own processes.
    pub(super) fn has_neighbours(&mut self, _: &[u32]) {}

    /// Passes on the next chunk. Returns its length.
    fn receive(&mut self, wait: Duration, sink: &mut dyn Sink) -> Result<usize, RecvTimeoutError> {
        let (stream, chunk) = self.chunks.recv_timeout(wait)?;
        sink.chunk(stream, &chunk);
        Ok(chunk.len())
    }
}

impl WatchedProcess for ChildProcess<'_> {
    fn exit_status(&mut self) -> Option<Status> {
        if self.status.is_none() {
            // The inner child is the process alone. Waiting for the job would include its children.
            self.status = match self.child.inner_mut().try_wait() {
                Ok(ended) => ended.map(|status| Status::Exited(status.code().unwrap_or(1))),
                Err(_) => Some(Status::Killed(0)),
            };
        }
        self.status.clone()
    }

    fn pump(&mut self, wait: Option<Duration>, sink: &mut dyn Sink) {
        let wait = wait.map_or(TICK, |wait| wait.min(TICK));
        if matches!(self.receive(wait, sink), Err(RecvTimeoutError::Disconnected)) {
            // Both streams are closed: only the end is left to wait for.
            std::thread::sleep(wait);
        }
    }

    fn read_some(&mut self, sink: &mut dyn Sink) -> usize {
        self.receive(DRAIN_WAIT, sink).unwrap_or(0)
    }

    /// There is no signal that every program understands, so there is nothing to wait for.
    fn terminate(&mut self, _: Duration, _: &mut dyn Sink) {
        if self.child.start_kill().is_ok() {
            let _ = self.child.inner_mut().wait();
        }
    }

    fn stop_signal(&self) -> Option<&'static str> {
        None
    }
}

fn read_in_background(
    mut pipe: impl Read + Send + 'static,
    stream: Stream,
    to: SyncSender<(Stream, Vec<u8>)>,
) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            if to.send((stream, buffer.get(..read).unwrap_or_default().to_vec())).is_err() {
                break;
            }
        }
    });
}
