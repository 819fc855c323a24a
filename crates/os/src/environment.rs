//! The environment of the process. Only this module reads it.
//!
//! Variables that decide about an event are read once where its call starts, and passed as [`Variables`]. What belongs to the process
//! is asked here, where it is needed: the user's folders, the programs on the `PATH`, what a shell command inherits, how a
//! notification is sent, the mark of our own processes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files;

const CONFIG: &str = "XDG_CONFIG_HOME";
const STATE: &str = "XDG_STATE_HOME";

/// The variables that say where the user's settings and state are.
pub const FOLDER_VARIABLES: [&str; 3] = ["HOME", CONFIG, STATE];

/// The environment variables of a process. A clone shares them.
#[derive(Clone, Default)]
pub struct Variables(Arc<[(OsString, OsString)]>);

impl Variables {
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "all others get them from here")]
    pub fn of_process() -> Variables {
        Variables(std::env::vars_os().collect())
    }

    fn os_value(&self, name: &str) -> Option<&OsStr> {
        let found = self.0.iter().find(|(known, _)| is_same(known, name));
        found.map(|(_, value)| value.as_os_str())
    }

    /// The value of a variable, if it is valid Unicode.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.os_value(name)?.to_str()
    }

    /// The value of a variable, unless it is blank.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.trim().is_empty())
    }

    /// The path that a variable holds, unless it is empty.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.os_value(name).filter(|value| !value.is_empty()).map(Path::new)
    }

    /// Whether the variable is set, even to an empty value.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.os_value(name).is_some()
    }

    /// The names that are valid Unicode.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|(name, _)| name.to_str())
    }
}

/// Whether two names mean the same variable. Windows ignores case.
fn is_same(known: &OsStr, name: &str) -> bool {
    if cfg!(windows) { known.eq_ignore_ascii_case(name) } else { known == name }
}

/// Values may be secret.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variables({})", self.0.len())
    }
}

/// The names of all variables.
#[expect(clippy::disallowed_methods, reason = "all others ask here")]
pub fn names() -> impl Iterator<Item = OsString> {
    std::env::vars_os().map(|(name, _)| name)
}

/// The value of a variable as it is.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "all others ask here")]
pub fn os_value(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The value of a variable, unless it is blank.
#[must_use]
pub fn value(name: &str) -> Option<String> {
    text(name).filter(|value| !value.trim().is_empty())
}

/// The value of a variable, if it is valid Unicode.
#[must_use]
pub fn text(name: &str) -> Option<String> {
    os_value(name)?.into_string().ok()
}

/// The absolute path that a variable holds.
#[must_use]
pub fn path(name: &str) -> Option<PathBuf> {
    os_value(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Whether the variable is set, even to an empty value.
#[must_use]
pub fn is_set(name: &str) -> bool {
    os_value(name).is_some()
}

/// The user's home.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "all others ask here")]
pub fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// A folder of the user: the one that the variable names, else this one in the home folder.
#[must_use]
pub fn user_folder(variable: Option<&str>, below_home: &str) -> Option<PathBuf> {
    variable.and_then(path).or_else(|| Some(home()?.join(below_home)))
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

/// The program of this name that a shell finds.
#[must_use]
pub fn program(name: &str) -> Option<PathBuf> {
    files::program_on(&os_value("PATH")?, name)
}

/// The programs of this name on the `PATH`, in its order. Relative folders are left out.
pub fn programs(name: &str) -> impl Iterator<Item = PathBuf> {
    let path = os_value("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().map(move |folder| folder.join(name)).filter(|path| files::is_program(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        Variables(pairs.iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    #[test]
    fn a_blank_value_is_set_and_is_no_value() {
        let variables = variables(&[("A", " "), ("B", ""), ("C", " c")]);
        assert!(variables.is_set("A") && variables.is_set("B") && !variables.is_set("D"));
        assert_eq!(
            (variables.get("A"), variables.value("A"), variables.value("C")),
            (Some(" "), None, Some(" c"))
        );
        assert_eq!((variables.path("B"), variables.path("C")), (None, Some(Path::new(" c"))));
        assert_eq!(variables.names().collect::<Vec<_>>(), ["A", "B", "C"]);
    }

    #[test]
    fn names_differ_by_case_except_on_windows() {
        let variables = variables(&[("Path", "p")]);
        assert_eq!(variables.get("PATH"), if cfg!(windows) { Some("p") } else { None });
    }

    #[test]
    fn values_are_not_printed() {
        assert_eq!(format!("{:?}", variables(&[("KEY", "secret")])), "Variables(1)");
    }
}
