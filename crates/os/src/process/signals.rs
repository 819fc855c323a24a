//! The signals that stop us, and the signals that our children must not inherit.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

const STOP_SIGNALS: [i32; 3] = [SIGTERM, SIGINT, SIGHUP];

/// Becomes readable with the first signal and stays so.
static ARRIVED: OnceLock<Option<PipeReader>> = OnceLock::new();

/// The last signal, 0 for none.
static WHICH: AtomicI32 = AtomicI32::new(0);

/// Installs the handlers with the first command: before it there is nothing to clean up, and the default action is right. The
/// returned pipe becomes readable when a signal arrives.
pub(super) fn register() -> Option<&'static PipeReader> {
    // A signal that comes while its handler is being installed would be lost.
    ARRIVED.get_or_init(|| with_signals_blocked(install_handlers)).as_ref()
}

pub(super) fn received() -> Option<&'static str> {
    match WHICH.load(Ordering::SeqCst) {
        SIGTERM => Some("SIGTERM"),
        SIGINT => Some("SIGINT"),
        SIGHUP => Some("SIGHUP"),
        _ => None,
    }
}

fn install_handlers() -> Option<PipeReader> {
    let (arrived, writer) = std::io::pipe().ok()?;
    set_nonblocking(writer.as_fd()).ok()?;
    // It must live as long as the handlers do, which is until we exit.
    let writer: &'static PipeWriter = Box::leak(Box::new(writer));
    for signal in STOP_SIGNALS {
        let note = move || {
            WHICH.store(signal, Ordering::SeqCst);
            // If it is full, it is readable already.
            let _ = rustix::io::write(writer, &[0]);
        };
        // SAFETY: the handler stores a number and makes one system call that does not wait.
        #[expect(unsafe_code, reason = "the caller is responsible for what the handler does")]
        unsafe { signal_hook::low_level::register(signal, note) }.ok()?;
    }
    Some(arrived)
}

fn with_signals_blocked<T>(run: impl FnOnce() -> T) -> T {
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

/// If our parent ignored SIGCHLD, the kernel would discard the exit status of our children.
pub(super) fn reset_sigchld() {
    set_action(libc::SIGCHLD, libc::SIG_DFL);
}

/// Writing beyond the limit on file sizes (`ulimit -f`) becomes an error that is reported. It does not end a hook that blocks.
pub(super) fn ignore_file_size_signal() {
    set_action(libc::SIGXFSZ, libc::SIG_IGN);
}

/// In a child between fork and exec: it would inherit the signals that we ignore.
pub(super) fn restore_file_size_signal() {
    set_action(libc::SIGXFSZ, libc::SIG_DFL);
}

/// In a child between fork and exec, where our handlers would report the child's signals to us. Std resets the mask and SIGPIPE.
pub(super) fn reset_in_child() {
    for signal in STOP_SIGNALS {
        set_action(signal, libc::SIG_DFL);
    }
}

fn set_action(signal: i32, action: libc::sighandler_t) {
    // SAFETY: the callers install the default action or none, which run no code of ours; and it is async-signal-safe.
    #[expect(unsafe_code, reason = "the action of a signal has no safe interface")]
    unsafe {
        libc::signal(signal, action);
    }
}

pub(super) fn set_nonblocking(fd: BorrowedFd<'_>) -> std::io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?)
}
