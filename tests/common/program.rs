//! Programs that a test makes and then starts.
//!
//! Another process writes them: while this one has a file open for writing, a child that another thread forks at that
//! moment holds it open too, until it has become the other program, and the kernel starts no file that is open for
//! writing (`Text file busy`).

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A copy of a program that everyone may start.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    install(from.as_ref(), to.as_ref(), b"");
}

/// A script that everyone may start.
#[allow(dead_code, reason = "not every test binary that copies programs writes some")]
pub fn script(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    install(Path::new("/dev/stdin"), path.as_ref(), text.as_ref());
}

fn install(from: &Path, to: &Path, stdin: &[u8]) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let mut command = Command::new("install");
    command.arg("-m").arg("755").arg(from).arg(to).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    assert!(child.wait().unwrap().success(), "cannot place {}", to.display());
}
