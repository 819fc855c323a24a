//! The commands that run at this moment, for `watch`. Each has a file, which stays locked while the process that waits for the
//! command lives. An unlocked file has no meaning and is used again.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{FOLDER, StoreError, make_folder};
use conclaude_os::files;
use conclaude_os::log;

/// No command is longer.
const MAX_BYTES: u64 = 1 << 20;

/// Further files are ignored.
const MAX_FILES: usize = 200;

/// A command that was started, and has not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunningCommand {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The hook event, or `des run`.
    pub event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    pub command: String,
    pub started: String,
}

/// Marks a command as running until it is dropped.
pub struct RunningMarker {
    _locked: File,
}

fn folder(root: &Path) -> PathBuf {
    root.join(FOLDER).join("state/running")
}

/// Marks a command as running. `None` if that cannot be written, which only `watch` notices.
pub fn note(root: &Path, running: &RunningCommand) -> Option<RunningMarker> {
    write(root, running)
        .inspect_err(|error| log::debug(|| format!("cannot note that a command runs: {error}")))
        .ok()
}

/// Overwrites the first unlocked file: creating and removing a file for each command took longer than running `true`.
fn write(root: &Path, running: &RunningCommand) -> io::Result<RunningMarker> {
    let (folder, text) = (folder(root), serde_json::to_vec(running)?);
    make_folder(root, &folder)?;
    for number in 0..MAX_FILES {
        let path = folder.join(format!("{number}.json"));
        let mut file = files::no_links().write(true).create(true).truncate(false).open(&path)?;
        match file.try_lock() {
            Ok(()) => {
                file.write_all(&text)?;
                if file.metadata()?.len() != text.len() as u64 {
                    file.set_len(text.len() as u64)?;
                }
                return Ok(RunningMarker { _locked: file });
            }
            Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(StoreError::TooManyCommands(MAX_FILES).into())
}

/// The commands that run now in the project.
pub fn all(root: &Path) -> Vec<RunningCommand> {
    let held = notes(root).into_iter().filter_map(|path| open(&path).ok()).filter(is_held);
    held.filter_map(|file| read(file).ok()).collect()
}

fn notes(root: &Path) -> Vec<PathBuf> {
    let folder = folder(root);
    // None of them may be a link.
    let is_ours = folder.ancestors().take(3).all(files::is_real_folder);
    let entries = if is_ours { fs::read_dir(&folder).ok() } else { None };
    let entries = entries.into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "json")).take(MAX_FILES).collect()
}

fn open(path: &Path) -> io::Result<File> {
    files::no_links().read(true).open(path)
}

fn is_held(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
}

fn read(file: File) -> io::Result<RunningCommand> {
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(command: &str) -> RunningCommand {
        RunningCommand { event: "SubagentStop".into(), command: command.into(), ..RunningCommand::default() }
    }

    /// Waits until these commands run, and no others. Between fork and exec, a child of another test may hold a lock that
    /// was released here.
    #[track_caller]
    fn expect(root: &Path, commands: &[&str]) {
        let over = std::time::Instant::now() + std::time::Duration::from_mins(5);
        loop {
            let mut found: Vec<String> = all(root).into_iter().map(|running| running.command).collect();
            found.sort_unstable();
            if found == commands {
                return;
            }
            assert!(std::time::Instant::now() < over, "{found:?} run, expected {commands:?}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_command_is_there_as_long_as_it_runs() {
        let root = tempfile::tempdir().unwrap();
        expect(root.path(), &[]);
        let first = note(root.path(), &running("npm test")).unwrap();
        let second = note(root.path(), &running("npm run lint")).unwrap();
        expect(root.path(), &["npm run lint", "npm test"]);
        assert!(all(root.path()).contains(&running("npm test")));
        drop(first);
        expect(root.path(), &["npm run lint"]);
        drop(second);
        expect(root.path(), &[]);
        let _third = note(root.path(), &running("ls")).unwrap();
        assert_eq!(all(root.path()), [running("ls")], "a shorter note over a longer one");
        (0..100).for_each(|_| drop(note(root.path(), &running("true")).unwrap()));
        assert!(notes(root.path()).len() < 50, "files are used again");
    }

    #[test]
    fn what_a_killed_process_left_does_not_run() {
        let root = tempfile::tempdir().unwrap();
        let _note = note(root.path(), &running("npm test")).unwrap();
        fs::copy(folder(root.path()).join("0.json"), folder(root.path()).join("1.json")).unwrap();
        assert_eq!(all(root.path()), [running("npm test")]);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_or_read_through_a_link() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(root.path().join(FOLDER)).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), root.path().join(FOLDER).join("state")).unwrap();
        assert!(note(root.path(), &running("npm test")).is_none());
        assert_eq!(all(root.path()), []);
    }
}
