//! The loop that watches a process until it has ended. It is the same on every platform.

use std::time::{Duration, Instant};

use super::{Sink, Status};

use conclaude_core::dialect::claude::limits;

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);

/// Like `GRACE`, after a signal to ourselves: we will soon be killed.
const GRACE_WHEN_STOPPED: Duration = Duration::from_millis(500);
const _: () = assert!(GRACE_WHEN_STOPPED.as_millis() < limits::KILLED_AFTER.as_millis() / 2);

/// A pipe never holds more than this, so no more is read of a process that has ended.
const MAX_DRAIN: usize = 1 << 20;

/// The time limit for that. The last output of the process is already in the pipes, and is one chunk of each.
const MAX_DRAIN_TIME: Duration = Duration::from_millis(500);

/// The time when a process is terminated, and its timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    /// `None` for a time beyond the clock's range.
    pub(super) fn after(limit: Duration, now: Instant) -> Option<Self> {
        now.checked_add(limit).map(|at| Deadline { at, limit })
    }
}

/// A running process, as the loop sees it.
pub(super) trait WatchedProcess {
    fn exit_status(&mut self) -> Option<Status>;

    /// Waits until there is something to do, at most for this time, and passes on at most one chunk of each stream.
    fn pump(&mut self, wait: Option<Duration>, sink: &mut dyn Sink);

    /// Passes on at most one chunk of each stream that has already arrived. Returns the number of bytes.
    fn read_some(&mut self, sink: &mut dyn Sink) -> usize;

    /// Terminates the process and its children, and kills the remaining ones after the grace time.
    fn terminate(&mut self, grace: Duration, sink: &mut dyn Sink);

    /// The signal to stop that we received, if the process must then be terminated.
    fn stop_signal(&self) -> Option<&'static str>;

    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// Waits for the end, the deadline, a full sink or a signal to us, whichever comes first. All of them are checked after
/// every chunk, so that no amount of output delays them.
pub(super) fn watch(
    process: &mut impl WatchedProcess,
    deadline: Option<Deadline>,
    sink: &mut dyn Sink,
) -> Status {
    let status = loop {
        if let Some(status) = process.exit_status() {
            break status;
        }
        if let Some(signal) = process.stop_signal() {
            process.terminate(GRACE_WHEN_STOPPED, sink);
            break Status::Interrupted(signal);
        }
        let left = deadline.map(|deadline| deadline.at.saturating_duration_since(process.now()));
        if let Some(deadline) = deadline
            && left == Some(Duration::ZERO)
        {
            process.terminate(GRACE, sink);
            break Status::TimedOut(deadline.limit);
        }
        if sink.is_full() {
            process.terminate(GRACE, sink);
            // Only a process that the kernel itself cannot end has no status now.
            break process.exit_status().unwrap_or(Status::Killed(9));
        }
        process.pump(left, sink);
    };
    drain(process, sink);
    status
}

/// Reads the output from before the end. A remaining child may keep the pipes open and print more; we do not wait for it.
fn drain(process: &mut impl WatchedProcess, sink: &mut dyn Sink) {
    let start = process.now();
    let mut total = 0;
    loop {
        let read = process.read_some(sink);
        total += read;
        let time = process.now().saturating_duration_since(start);
        if read == 0 || total >= MAX_DRAIN || time >= MAX_DRAIN_TIME {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Stream;
    use super::*;

    const CHUNK: usize = 64 << 10;

    /// A process that has output whenever it is asked, and a clock that moves with every chunk.
    struct Flood {
        now: Instant,
        pace: Duration,
        chunks: u64,
        exits_after: Option<u64>,
        stopped_after: Option<u64>,
        terminated: Option<Duration>,
    }

    impl Flood {
        fn new() -> Self {
            Flood {
                now: Instant::now(),
                pace: Duration::from_millis(1),
                chunks: 0,
                exits_after: None,
                stopped_after: None,
                terminated: None,
            }
        }
    }

    impl WatchedProcess for Flood {
        fn exit_status(&mut self) -> Option<Status> {
            let exited = self.exits_after.is_some_and(|after| self.chunks >= after);
            if exited { Some(Status::Exited(0)) } else { None }
        }

        fn pump(&mut self, _: Option<Duration>, sink: &mut dyn Sink) {
            self.read_some(sink);
        }

        fn read_some(&mut self, sink: &mut dyn Sink) -> usize {
            self.chunks += 1;
            self.now += self.pace;
            sink.chunk(Stream::Stdout, &[b'x'; CHUNK]);
            CHUNK
        }

        fn terminate(&mut self, grace: Duration, _: &mut dyn Sink) {
            self.terminated = Some(grace);
        }

        fn stop_signal(&self) -> Option<&'static str> {
            self.stopped_after.filter(|after| self.chunks >= *after).map(|_| "SIGTERM")
        }

        fn now(&self) -> Instant {
            self.now
        }
    }

    struct Count {
        bytes: usize,
        max: usize,
    }

    impl Sink for Count {
        fn chunk(&mut self, _: Stream, bytes: &[u8]) {
            self.bytes += bytes.len();
        }

        fn is_full(&self) -> bool {
            self.bytes > self.max
        }
    }

    fn watch_flood(flood: &mut Flood, limit: Option<Duration>, max: usize) -> (Status, usize) {
        let mut count = Count { bytes: 0, max };
        let deadline = limit.and_then(|limit| Deadline::after(limit, flood.now));
        (watch(flood, deadline, &mut count), count.bytes / CHUNK)
    }

    const DRAINED: usize = MAX_DRAIN / CHUNK;

    #[test]
    fn a_process_that_never_stops_printing_times_out() {
        let mut flood = Flood::new();
        let limit = Duration::from_millis(100);
        let found = watch_flood(&mut flood, Some(limit), usize::MAX);
        assert_eq!(found, (Status::TimedOut(limit), 100 + DRAINED));
        assert_eq!(flood.terminated, Some(GRACE));
    }

    #[test]
    fn a_process_that_never_stops_printing_is_interrupted() {
        let mut flood = Flood { stopped_after: Some(7), ..Flood::new() };
        let found = watch_flood(&mut flood, None, usize::MAX);
        assert_eq!(found, (Status::Interrupted("SIGTERM"), 7 + DRAINED));
        assert_eq!(flood.terminated, Some(GRACE_WHEN_STOPPED));
    }

    #[test]
    fn the_end_of_a_process_is_seen_while_a_child_of_it_prints_on() {
        let mut flood = Flood { exits_after: Some(5), ..Flood::new() };
        let found = watch_flood(&mut flood, Some(Duration::from_millis(5)), usize::MAX);
        assert_eq!(found, (Status::Exited(0), 5 + DRAINED));
        assert_eq!(flood.terminated, None);
    }

    #[test]
    fn a_child_that_prints_slowly_holds_nobody_up_after_the_end() {
        let mut flood = Flood { exits_after: Some(5), pace: Duration::from_millis(100), ..Flood::new() };
        let start = flood.now;
        let (status, _) = watch_flood(&mut flood, None, usize::MAX);
        let drained = flood.now - start - 5 * flood.pace;
        assert_eq!((status, drained), (Status::Exited(0), MAX_DRAIN_TIME));
        // Even if it is slow, output that has arrived is read.
        let mut slow = Flood { exits_after: Some(0), pace: Duration::from_secs(60), ..Flood::new() };
        assert_eq!(watch_flood(&mut slow, None, usize::MAX), (Status::Exited(0), 1));
    }

    #[test]
    fn a_full_sink_ends_the_process() {
        let mut flood = Flood::new();
        let (status, chunks) = watch_flood(&mut flood, None, 3 * CHUNK);
        assert_eq!((status, chunks), (Status::Killed(9), 4 + DRAINED));
        assert_eq!(flood.terminated, Some(GRACE));
    }

    #[test]
    fn a_limit_that_no_clock_reaches_is_none() {
        assert!(Deadline::after(Duration::MAX, Instant::now()).is_none());
    }
}
