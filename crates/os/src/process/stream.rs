//! What a process prints, as it comes.

/// One of the two streams that a process prints to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Receives the output of a process as it comes.
pub trait Sink {
    fn chunk(&mut self, stream: Stream, bytes: &[u8]);

    /// Whether it can take no more: the process is then terminated.
    fn is_full(&self) -> bool {
        false
    }
}
