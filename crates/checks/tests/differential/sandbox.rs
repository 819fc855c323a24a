//! The namespaces in which texts run: no network, processes of their own, and empty directories in the place of all that
//! anybody may write.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

/// The first argument of a worker.
pub(crate) const WORKER: &str = "--worker";

/// Everything that a text may write is below these.
pub(crate) const WRITABLE: [&str; 4] = ["/home", "/tmp", "/var/tmp", "/dev/shm"];

/// Starts a worker as the first process of its namespaces.
pub(crate) fn start() -> anyhow::Result<Child> {
    if !rustix::process::getuid().is_root() {
        bail!("the sandbox needs root: it makes namespaces, and runs texts as nobody");
    }
    let program = std::env::current_exe()?;
    // The program itself may be in one of the directories that are covered.
    let mut script = String::from("set -e; exec 9<\"$0\"; ");
    for directory in WRITABLE {
        script.push_str(&format!("[ ! -d {directory} ] || mount -t tmpfs -o mode=1777 tmpfs {directory}; "));
    }
    script.push_str("exec /proc/self/fd/9 \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.args(["--", "sh", "-c", &script]).arg(program).arg(WORKER);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().context("`unshare` of util-linux cannot be started: nothing was tested")
}

/// Fails outside of a sandbox. A worker kills every other process that it sees.
pub(crate) fn require() -> anyhow::Result<()> {
    if std::process::id() != 1 {
        bail!("a worker runs in a sandbox only: as the first process of its namespace");
    }
    Ok(())
}

/// Ends what a text left running.
pub(crate) fn end_others() {
    for _ in 0..50 {
        let others = others();
        if others.is_empty() {
            return;
        }
        for process in others {
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
        while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
    }
}

fn others() -> Vec<rustix::process::Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|number| *number > 1).filter_map(rustix::process::Pid::from_raw).collect()
}

/// Whether a text left something running.
pub(crate) fn has_others() -> bool {
    !others().is_empty()
}
