//! Where the processes of a test run: never in the developer's home, with the developer's settings or state.

#[cfg(unix)]
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::sync::OnceLock;

use super::snapshot::{ProgramOutput, steady};

/// A new folder. Not below `TMPDIR`, which may lie in a repository or below a config of the developer's.
pub(crate) fn scratch() -> tempfile::TempDir {
    // Both paths have the same length: texts are cut and wrapped by it.
    let (parent, prefix) =
        if has_memory_disk() { (MEMORY_DISK, "conclaude-t") } else { ("/tmp", "conclaude-test-") };
    let named = tempfile::Builder::new().prefix(prefix).tempdir_in(parent);
    named.or_else(|_| tempfile::tempdir()).unwrap()
}

/// On a disk, creating and removing thousands of small files takes a fifth of the time of all tests.
const MEMORY_DISK: &str = "/dev/shm";

/// Whether programs on the memory disk may run, and there is room for tests with large files.
#[cfg(unix)]
fn has_memory_disk() -> bool {
    const ROOM: u64 = 2 << 30;
    rustix::fs::statvfs(MEMORY_DISK).is_ok_and(|disk| {
        let may_run = !disk.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC);
        may_run && disk.f_bavail.saturating_mul(disk.f_frsize) >= ROOM
    })
}

#[cfg(not(unix))]
fn has_memory_disk() -> bool {
    false
}

/// The built binary, or the one that `CONCLAUDE_STRESS_BINARY` names: figures of a debug build would be unfair.
pub(crate) fn binary() -> PathBuf {
    let chosen = std::env::var_os("CONCLAUDE_STRESS_BINARY").map(PathBuf::from);
    chosen.unwrap_or_else(|| env!("CARGO_BIN_EXE_conclaude").into())
}

/// The built binary in an environment of its own, so that no test can forget to give it one.
pub(crate) fn conclaude() -> Command {
    let mut command = Command::new(binary());
    isolate(&mut command);
    command
}

/// Programs that Claude Code's sandbox needs. They make none: a test that needs more has programs of its own.
#[cfg(unix)]
const SANDBOX_PROGRAMS: [&str; 2] = ["bwrap", "socat"];

/// The `PATH` of this process, with these programs at its end: what a test sees does not depend on what the machine has installed.
#[cfg(unix)]
fn path() -> &'static OsStr {
    static PATH: OnceLock<OsString> = OnceLock::new();
    PATH.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sandbox-programs");
        for name in SANDBOX_PROGRAMS.iter().filter(|name| !folder.join(name).exists()) {
            let text = "#!/bin/sh\ncase \"$1\" in --version|-V) echo \"$0 0.0.0\" ;; *) exit 1 ;; esac\n";
            let new = folder.join(format!("{name}-{}", std::process::id()));
            super::program::script(&new, text);
            std::fs::rename(new, folder.join(name)).unwrap();
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::env::split_paths(&path).chain([folder]);
        std::env::join_paths(all).unwrap()
    })
}

/// The folders of this process's `PATH` without these programs, and with all that tests call.
#[cfg(unix)]
pub(crate) fn path_without_sandbox(folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in ["git", "sh", "true"] {
        let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
        let _ = std::os::unix::fs::symlink(places.find(|path| path.is_file()).unwrap(), folder.join(name));
    }
    folder.to_owned()
}

/// Removes all that steers conclaude, and what it starts, and gives the command a scratch home. State and settings
/// follow the home.
pub(crate) fn isolate(command: &mut Command) {
    let prefixes = ["CLAUDE_", "CONCLAUDE_", "ANTHROPIC_", "OTEL_", "XDG_", "GIT_", "CLICOLOR", "TRACE"];
    let names = [
        "CONCLAUDE",
        "CLAUDECODE",
        "AI_AGENT",
        "COPILOT_CLI",
        "CODEX_SANDBOX",
        "DBUS_SESSION_BUS_ADDRESS",
        "NO_COLOR",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    ];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_named = names.iter().any(|other| other.eq_ignore_ascii_case(&text));
        if is_named || prefixes.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    #[cfg(unix)]
    command.env("PATH", path());
    // A debug build on a loaded machine may take longer than a hook may take elsewhere.
    command.env("TEST_LIMIT_OF_CONCLAUDE", "600");
    // Messages of programs in one language, times in one zone.
    command
        .env("HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("home"))
        .env("LC_ALL", "C")
        .env("TZ", "UTC");
}

/// Where the state of a project lies that is a test's: beside its files, also for what runs in a folder of it later.
pub(crate) fn state_home(folder: &Path) -> PathBuf {
    let folders = folder.ancestors().map(|folder| folder.join(".state-home"));
    folders.into_iter().find(|state| state.is_dir()).unwrap_or_else(|| folder.join(".state-home"))
}

/// The built binary in a folder, with home and state of its own there.
pub(crate) fn conclaude_in(root: &Path) -> Command {
    let mut command = conclaude();
    command.current_dir(root).env("HOME", root.join(".home")).env("XDG_STATE_HOME", state_home(root));
    command.stdin(Stdio::null());
    command
}

/// A subcommand in a folder, with a home of its own there: exit code, stdout and stderr, with `[ROOT]` for the folder
/// and `[BIN]` for the program.
pub(crate) fn run_in(root: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    run_in_home(root, &root.join(".home"), arguments)
}

/// The same, with another home.
pub(crate) fn run_in_home(root: &Path, home: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = conclaude_in(root).args(arguments).env("HOME", home).output().unwrap();
    let text = |bytes: Vec<u8>| steady(&String::from_utf8(bytes).unwrap(), root);
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// What a subcommand in a folder shows, for a snapshot.
pub(crate) fn shown_in(root: &Path, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run_in(root, arguments);
    ProgramOutput { code, stdout: &stdout, stderr: &stderr }.text()
}
