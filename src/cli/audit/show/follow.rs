//! Waiting for the next record: nothing tells us of it, so we look again now and then.

use std::io;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(200);

/// Pauses; an error once nobody reads our output any more, so that `audit show --follow | head -1` comes to an end.
#[cfg(unix)]
pub(in crate::cli::audit) fn wait_for_more() -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdout = rustix::stdio::stdout();
    let mut reader = [PollFd::new(&stdout, PollFlags::empty())];
    let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(PAUSE.subsec_nanos()) };
    match poll(&mut reader, Some(&pause)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
        Ok(_) => Err(io::ErrorKind::BrokenPipe.into()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
pub(in crate::cli::audit) fn wait_for_more() -> io::Result<()> {
    std::thread::sleep(PAUSE);
    Ok(())
}
