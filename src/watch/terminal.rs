//! Takes over the user's terminal for the screen, and restores it in any case.

use std::io::{self, Stdout};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::keys::Key;
use super::screen::TerminalScreen;
use conclaude_os::process;

/// The terminal is ours.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, until it is dropped.
pub(super) struct TerminalSession {
    pub(super) screen: Terminal<TerminalScreen>,
}

/// Why waiting for the user ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WakeUp {
    /// These keys were pressed, or none in the time.
    Keys(Vec<Key>),
    /// The terminal is gone.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there it is an error"))]
    Closed,
    /// This signal asks us to stop.
    Signal(&'static str),
}

#[expect(clippy::disallowed_methods, reason = "what is drawn are cells, whose text was cleaned")]
fn stdout() -> Stdout {
    io::stdout()
}

impl TerminalSession {
    /// Takes the terminal. From then on a panic, and each signal to stop, restores it too.
    pub(super) fn take(report: fn(&PanicHookInfo<'_>)) -> io::Result<TerminalSession> {
        process::note_stop_signals();
        restore_on_panic(report);
        IS_TAKEN.store(true, Ordering::SeqCst);
        let taken = enable_raw_mode()
            .and_then(|()| execute!(stdout(), EnterAlternateScreen))
            .and_then(|()| Terminal::new(TerminalScreen::new(stdout())));
        taken.map(|screen| TerminalSession { screen }).inspect_err(|_| restore())
    }
}

impl Drop for TerminalSession {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, once. Errors are ignored: the terminal is gone then.
fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// The release build aborts on a panic, so the terminal is restored before that.
fn restore_on_panic(report: fn(&PanicHookInfo<'_>)) {
    std::panic::set_hook(Box::new(move |info| {
        restore();
        report(info);
    }));
}

/// Waits for keys, a signal or the end of the pause. A new size is seen when the screen is drawn again.
pub(super) fn wait(pause: Duration) -> io::Result<WakeUp> {
    let woken = platform::wait(pause)?;
    Ok(process::stop_signal().map_or(woken, WakeUp::Signal))
}

/// The key reader of crossterm loops forever on a closed terminal, and is larger than the rest.
#[cfg(unix)]
mod platform {
    use std::io;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    use super::super::keys;
    use super::WakeUp;
    use conclaude_os::process;

    /// The rest of a key comes at once.
    const REST: Duration = Duration::from_millis(50);

    pub(super) fn wait(pause: Duration) -> io::Result<WakeUp> {
        let mut bytes = Vec::new();
        if !read(&mut bytes, pause)? {
            return Ok(WakeUp::Closed);
        }
        if !keys::keys(&bytes).1.is_empty() && !read(&mut bytes, REST)? {
            return Ok(WakeUp::Closed);
        }
        let (mut found, rest) = keys::keys(&bytes);
        found.extend(keys::last_keys(rest));
        Ok(WakeUp::Keys(found))
    }

    /// Adds the bytes that arrive within the pause. Returns whether the terminal is still there.
    fn read(bytes: &mut Vec<u8>, pause: Duration) -> io::Result<bool> {
        let stdin = rustix::stdio::stdin();
        let mut sources = vec![PollFd::new(&stdin, PollFlags::IN)];
        sources.extend(process::stop_pipe().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let pause = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
        match poll(&mut sources, Some(&pause)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        let came = sources.first().map_or(PollFlags::empty(), PollFd::revents);
        if came.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(false);
        }
        if !came.contains(PollFlags::IN) {
            return Ok(true);
        }
        let mut buffer = [0; 1_024];
        match rustix::io::read(stdin, &mut buffer) {
            Ok(0) | Err(Errno::IO) => Ok(false),
            Ok(read) => {
                bytes.extend(buffer.get(..read).unwrap_or_default());
                Ok(true)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::io;
    use std::time::Duration;

    use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

    use super::super::keys::Key;
    use super::WakeUp;

    pub(super) fn wait(mut pause: Duration) -> io::Result<WakeUp> {
        let mut keys = Vec::new();
        while event::poll(pause)? {
            pause = Duration::ZERO;
            if let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
            {
                let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
                keys.push(if is_control && key.code == KeyCode::Char('c') {
                    Key::Interrupt
                } else {
                    named(key.code)
                });
            }
        }
        Ok(WakeUp::Keys(keys))
    }

    fn named(code: KeyCode) -> Key {
        match code {
            KeyCode::Char(c) => Key::Char(c),
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::PageUp => Key::PageUp,
            KeyCode::PageDown => Key::PageDown,
            KeyCode::Home => Key::Home,
            KeyCode::End => Key::End,
            KeyCode::Enter => Key::Enter,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Esc => Key::Esc,
            _ => Key::Other,
        }
    }
}

#[cfg(test)]
mod tests;
