//! What the environment of the process says of the user: where files of programs are, and values that must not be blank.

use std::path::PathBuf;

use crate::files;

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

/// A folder of the user: what the variable names, or else this one in the home folder.
#[must_use]
pub fn user_folder(variable: Option<&str>, below_home: &str) -> Option<PathBuf> {
    variable.and_then(path).or_else(|| Some(std::env::home_dir()?.join(below_home)))
}

/// Where programs keep the user's settings: `$XDG_CONFIG_HOME`, or `~/.config`.
#[must_use]
pub fn config_folder() -> Option<PathBuf> {
    user_folder(Some("XDG_CONFIG_HOME"), ".config")
}

/// Where programs keep the user's state: `$XDG_STATE_HOME`, or `~/.local/state`.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    user_folder(Some("XDG_STATE_HOME"), ".local/state")
}

/// Whether the variable is set, be it to nothing.
#[must_use]
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// The program of this name that a shell finds.
#[must_use]
pub fn program(name: &str) -> Option<PathBuf> {
    files::program_on(&std::env::var_os("PATH")?, name)
}

/// The programs of this name on the `PATH`, in its order. Folders that depend on where one stands are left out.
pub fn programs(name: &str) -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().map(move |folder| folder.join(name)).filter(|path| files::is_program(path))
}
