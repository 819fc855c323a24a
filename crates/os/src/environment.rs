//! The environment of the process: values of variables, the user's folders, and programs on the `PATH`.

use std::path::PathBuf;

use crate::files;

const CONFIG: &str = "XDG_CONFIG_HOME";
const STATE: &str = "XDG_STATE_HOME";

/// The variables that say where the user's settings and state are.
pub const FOLDER_VARIABLES: [&str; 3] = ["HOME", CONFIG, STATE];

/// The value of a variable, unless it is blank.
#[must_use]
pub fn value(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The absolute path that a variable holds.
#[must_use]
pub fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// A folder of the user: the one that the variable names, or else this one in the home folder.
#[must_use]
pub fn user_folder(variable: Option<&str>, below_home: &str) -> Option<PathBuf> {
    variable.and_then(path).or_else(|| Some(std::env::home_dir()?.join(below_home)))
}

/// Where programs keep the user's settings: `$XDG_CONFIG_HOME`, or `~/.config`.
#[must_use]
pub fn config_folder() -> Option<PathBuf> {
    user_folder(Some(CONFIG), ".config")
}

/// Where programs keep the user's state: `$XDG_STATE_HOME`, or `~/.local/state`.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    user_folder(Some(STATE), ".local/state")
}

/// Whether the variable is set, even to an empty value.
#[must_use]
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// The program of this name that a shell finds.
#[must_use]
pub fn program(name: &str) -> Option<PathBuf> {
    files::program_on(&std::env::var_os("PATH")?, name)
}

/// The programs of this name on the `PATH`, in its order. Relative folders are left out.
pub fn programs(name: &str) -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().map(move |folder| folder.join(name)).filter(|path| files::is_program(path))
}
