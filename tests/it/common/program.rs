//! Programs that a test makes and then starts.
//!
//! Another process writes them: while this one has a file open for writing, a child that another thread forks at that
//! moment holds it open too, until it has become the other program, and the kernel starts no file that is open for
//! writing (`Text file busy`).

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A copy of a program that everyone may start.
pub(crate) fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    write(to.as_ref(), File::open(from).unwrap().into(), b"");
}

/// A script that everyone may start.
#[allow(dead_code, reason = "not every test binary that copies programs writes some")]
pub(crate) fn script(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    write(path.as_ref(), Stdio::piped(), text.as_ref());
}

fn write(to: &Path, from: Stdio, text: &[u8]) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let mut command = Command::new("sh");
    command.arg("-c").arg("cat > \"$0\" && chmod 755 \"$0\"").arg(to).stdin(from);
    let mut child = command.spawn().unwrap();
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text).unwrap();
    }
    assert!(child.wait().unwrap().success(), "cannot write {}", to.display());
}
