//! Starting the shell on Linux. Instead of copying our memory for a moment, as `fork` does, the child borrows it while we
//! wait until it has become the shell: a quarter of a command's cost was that copy.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use super::unix::{SIGNALS, Streams, held_back};
use super::{CommandSpec, ID_VARIABLE};

/// Much more than the few calls of the child need.
const STACK: usize = 64 << 10;

/// Where programs are looked for if nobody says.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The shell as a process, and what becomes readable when it has ended; older kernels do not have that.
pub(super) fn shell(
    spec: &CommandSpec<'_>,
    id: &str,
    streams: &Streams,
) -> io::Result<(Pid, Option<OwnedFd>)> {
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
    let programs = programs(spec.shell)?;
    let arguments = [text(spec.shell.as_ref())?, c"-c".to_owned(), text(spec.script.as_ref())?];
    let environment = environment(spec, id)?;
    let folder = text(spec.cwd.as_os_str())?;
    let orders = Orders {
        programs: &programs,
        arguments: &pointers(&arguments),
        environment: &pointers(&environment),
        folder: &folder,
        stdin: streams.stdin.as_fd(),
        stdout: streams.stdout.as_fd(),
        stderr: streams.stderr.as_fd(),
        parent: rustix::process::getpid(),
        problem: AtomicI32::new(0),
    };
    orders.give()
}

/// All that the child needs, made before there is one: what it changed in memory it would change in ours.
struct Orders<'a> {
    programs: &'a [CString],
    /// These two end with a null.
    arguments: &'a [*const c_char],
    environment: &'a [*const c_char],
    folder: &'a CStr,
    stdin: BorrowedFd<'a>,
    stdout: BorrowedFd<'a>,
    stderr: BorrowedFd<'a>,
    parent: Pid,
    /// Why the child did not become the shell.
    problem: AtomicI32,
}

impl Orders<'_> {
    /// Makes the child, and waits until it is the shell or has failed.
    fn give(&self) -> io::Result<(Pid, Option<OwnedFd>)> {
        let (pid, ended) = match self.child(libc::CLONE_PIDFD) {
            // A sandbox may know nothing of such a descriptor, or there is no room for one.
            Err(error) if !matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM)) => {
                let (pid, _) = self.child(0)?;
                (pid, pidfd_open(pid, PidfdFlags::empty()).ok())
            }
            child => child?,
        };
        match self.problem.load(Ordering::SeqCst) {
            0 => Ok((pid, ended)),
            problem => {
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
                Err(io::Error::from_raw_os_error(problem))
            }
        }
    }

    fn child(&self, more: c_int) -> io::Result<(Pid, Option<OwnedFd>)> {
        let mut stack = Vec::<MaybeUninit<u8>>::with_capacity(STACK);
        let top = stack.as_mut_ptr().wrapping_add(STACK);
        let top = top.wrapping_sub(top.addr() % 16);
        let mut pidfd: c_int = -1;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | more;
        let orders: *const Self = self;
        let pid = held_back(|| {
            #[expect(
                unsafe_code,
                reason = "std can only `fork` a child that asks for its parent-death signal"
            )]
            // SAFETY: the child runs on a stack of its own, which outlives it here, since with CLONE_VFORK this call comes
            // back only when the child runs another program or has ended. Until then it reads `self`, stores one atomic, and
            // otherwise makes system calls alone: it allocates nothing and takes no lock. No signal handler of ours runs in
            // it, as all signals are blocked until it has dropped the handlers.
            unsafe {
                libc::clone(become_shell, top.cast(), flags, orders.cast_mut().cast(), &raw mut pidfd)
            }
        });
        let pid = if pid > 0 { Pid::from_raw(pid) } else { None };
        let pid = pid.ok_or_else(io::Error::last_os_error)?;
        let ended = (pidfd >= 0).then(|| {
            // SAFETY: the kernel made it for us just now, and nobody else knows it.
            #[expect(unsafe_code, reason = "a descriptor from a call that std does not know")]
            unsafe {
                OwnedFd::from_raw_fd(pidfd)
            }
        });
        Ok((pid, ended))
    }

    /// In the child: comes back only if something is wrong.
    fn carry_out(&self) -> Result<(), Errno> {
        rustix::stdio::dup2_stdin(self.stdin)?;
        rustix::stdio::dup2_stdout(self.stdout)?;
        rustix::stdio::dup2_stderr(self.stderr)?;
        rustix::process::chdir(self.folder)?;
        rustix::process::setpgid(None, None)?;
        // If we are killed, the shell dies with us.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the call above.
        if rustix::process::getppid() != Some(self.parent) {
            return Err(Errno::SRCH);
        }
        reset_signals();
        let mut problem = Errno::NOENT;
        for program in self.programs {
            // SAFETY: program, arguments and environment are strings and lists that end with a null, and outlive the call.
            #[expect(unsafe_code, reason = "becoming another program has no safe interface")]
            unsafe {
                libc::execve(program.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr());
            }
            // Further down the path there may be another. The first problem that says more than "nothing there" is told.
            if matches!(problem, Errno::NOENT | Errno::NOTDIR) {
                problem = last_problem();
            }
        }
        Err(problem)
    }
}

extern "C" fn become_shell(orders: *mut c_void) -> c_int {
    // SAFETY: it is the pointer that `give` hands over, and `give` waits.
    #[expect(unsafe_code, reason = "the kernel hands over a bare pointer")]
    let orders = unsafe { &*orders.cast::<Orders<'_>>() };
    if let Err(problem) = orders.carry_out() {
        orders.problem.store(problem.raw_os_error(), Ordering::SeqCst);
    }
    127
}

fn last_problem() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::NOENT)
}

/// In the child: signals do to the shell what they do to any program, and none of our handlers runs in between.
fn reset_signals() {
    // SAFETY: these change the child's own handlers and mask; the set is initialised before it is used.
    #[expect(unsafe_code, reason = "handlers and mask of signals have no safe interface")]
    unsafe {
        for signal in SIGNALS.into_iter().chain([libc::SIGPIPE]) {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Where the shell may be: a bare name is looked for on the PATH.
fn programs(shell: &str) -> io::Result<Vec<CString>> {
    let text = |path: &[u8]| CString::new(path).map_err(io::Error::from);
    if shell.contains('/') {
        return Ok(vec![text(shell.as_bytes())?]);
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    std::env::split_paths(&path).map(|folder| text(folder.join(shell).as_os_str().as_bytes())).collect()
}

/// Ours, with what the command is told.
fn environment(spec: &CommandSpec<'_>, id: &str) -> io::Result<Vec<CString>> {
    let is_told = |name: &OsStr| name == ID_VARIABLE || spec.env.iter().any(|(told, _)| name == *told);
    let kept = std::env::vars_os().filter(|(name, _)| !is_told(name));
    let told =
        spec.env.iter().filter_map(|(name, value)| Some((OsString::from(name), value.as_ref()?.into())));
    let id = (OsString::from(ID_VARIABLE), OsString::from(id));
    kept.chain(told)
        .chain([id])
        .map(|(mut variable, value)| {
            variable.push("=");
            variable.push(value);
            CString::new(variable.into_vec()).map_err(io::Error::from)
        })
        .collect()
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}
