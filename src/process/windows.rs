//! Windows: the child alone is watched and terminated; its streams are read by two threads.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::capture::{Capture, Spill};
use super::{CommandSpec, Finished, Status};

const TICK: Duration = Duration::from_millis(10);

pub(super) fn hear_of_children() {}

pub(super) fn stop_signal() -> Option<&'static str> {
    None
}

pub(super) fn run(spec: &CommandSpec<'_>, spill: Spill<'_>) -> Finished {
    let started = Instant::now();
    let mut stdout = Capture::new("stdout", spec.stdout);
    let mut stderr = Capture::new("stderr", spec.stderr);
    let status = watch(spec, started, &mut stdout, &mut stderr, spill).unwrap_or_else(|error| {
        Status::NotStarted(format!("{} in {}: {error}", spec.shell, spec.cwd.display()))
    });
    Finished { status, stdout: stdout.finish(), stderr: stderr.finish(), duration: started.elapsed() }
}

fn watch(
    spec: &CommandSpec<'_>,
    started: Instant,
    stdout: &mut Capture,
    stderr: &mut Capture,
    spill: Spill<'_>,
) -> std::io::Result<Status> {
    let mut command = Command::new(spec.shell);
    command.arg("-c").arg(spec.script).current_dir(spec.cwd);
    for (name, value) in spec.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        let payload = spec.stdin.to_vec();
        // The command need not read it.
        std::thread::spawn(move || drop(pipe.write_all(&payload)));
    }
    let (sender, chunks) = mpsc::sync_channel(16);
    if let Some(pipe) = child.stdout.take() {
        read_in_background(pipe, true, sender.clone());
    }
    if let Some(pipe) = child.stderr.take() {
        read_in_background(pipe, false, sender.clone());
    }
    drop(sender);
    loop {
        while let Ok((is_stdout, chunk)) = chunks.recv_timeout(TICK) {
            let capture = if is_stdout { &mut *stdout } else { &mut *stderr };
            capture.push(&chunk, spill);
        }
        if let Some(status) = child.try_wait()? {
            return Ok(Status::Exited(status.code().unwrap_or(1)));
        }
        if let Some(limit) = spec.timeout.filter(|limit| started.elapsed() >= *limit) {
            child.kill()?;
            child.wait()?;
            return Ok(Status::TimedOut(limit));
        }
    }
}

fn read_in_background(
    mut pipe: impl Read + Send + 'static,
    is_stdout: bool,
    to: mpsc::SyncSender<(bool, Vec<u8>)>,
) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            if to.send((is_stdout, buffer.get(..read).unwrap_or_default().to_vec())).is_err() {
                break;
            }
        }
    });
}
