//! The user's terminal: taken over for the screen, and given back as it was, however that ends.

use std::io::{self, Stdout};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::process;

/// The terminal is ours.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, until it is dropped.
pub(super) struct Taken {
    pub(super) screen: Terminal<CrosstermBackend<Stdout>>,
}

/// Why waiting for the user ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// There may be keys to read, or not.
    Up,
    /// The terminal is gone.
    Closed,
    /// This signal asks us to stop.
    Signal(&'static str),
}

#[expect(clippy::disallowed_methods, reason = "what is drawn are cells, whose text was cleaned")]
fn stdout() -> Stdout {
    io::stdout()
}

impl Taken {
    /// Takes the terminal. From then on a panic, and each signal that asks us to stop, gives it back too.
    pub(super) fn take(report: fn(&PanicHookInfo<'_>)) -> io::Result<Taken> {
        process::note_stop_signals();
        restore_on_panic(report);
        IS_TAKEN.store(true, Ordering::SeqCst);
        let taken = enable_raw_mode()
            .and_then(|()| execute!(stdout(), EnterAlternateScreen))
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        taken.map(|screen| Taken { screen }).inspect_err(|_| restore())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        restore();
    }
}

/// Once for each time that it was taken. What cannot be restored is gone.
fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// The release build aborts on a panic, so the terminal is given back before that.
fn restore_on_panic(report: fn(&PanicHookInfo<'_>)) {
    std::panic::set_hook(Box::new(move |info| {
        restore();
        report(info);
    }));
}

/// Waits for a key, a new size, a signal or the end of the pause.
#[cfg(unix)]
pub(super) fn wait(pause: Duration) -> io::Result<Woken> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdin = rustix::stdio::stdin();
    let mut sources = vec![PollFd::new(&stdin, PollFlags::IN)];
    sources.extend(process::stop_pipe().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    let pause = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
    match poll(&mut sources, Some(&pause)) {
        // A new size comes as a signal.
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    if let Some(signal) = process::stop_signal() {
        return Ok(Woken::Signal(signal));
    }
    // Whoever reads keys from a terminal that is gone would read for ever.
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    let is_gone = sources.first().is_some_and(|stdin| stdin.revents().intersects(gone));
    Ok(if is_gone { Woken::Closed } else { Woken::Up })
}

#[cfg(not(unix))]
pub(super) fn wait(pause: Duration) -> io::Result<Woken> {
    event::poll(pause).map(|_| Woken::Up)
}

/// The next key or new size, if there is one.
pub(super) fn next_event() -> io::Result<Option<Event>> {
    if event::poll(Duration::ZERO)? { event::read().map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests;
