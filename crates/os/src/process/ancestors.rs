//! The ancestors of this process: their command lines, folders and initial variables.

use std::path::PathBuf;

use thiserror::Error;

#[cfg(target_os = "linux")]
use super::descendants::process_stat;
#[cfg(target_os = "linux")]
use std::path::Path;

/// A chain of processes is never this long.
#[cfg(target_os = "linux")]
const MAX_ANCESTORS: usize = 64;

/// A process above this one.
pub struct Ancestor {
    pub arguments: Vec<String>,
    /// Its current folder. `None` if the system hides it.
    pub folder: Option<PathBuf>,
}

/// The arguments of the ancestors, the nearest first.
#[must_use]
pub fn command_lines() -> Vec<Vec<String>> {
    all().into_iter().map(|process| process.arguments).collect()
}

/// The ancestors, the nearest first. Empty if the system does not show them, or hides one of them.
#[must_use]
pub fn all() -> Vec<Ancestor> {
    chain().unwrap_or_default()
}

/// An ancestor that the system hides, or one after too many others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a process above this one is hidden")]
pub struct HiddenAncestor;

/// All ancestors, the nearest first. Empty if the system shows no processes at all.
///
/// # Errors
/// If one of them is hidden.
#[cfg(target_os = "linux")]
pub fn chain() -> Result<Vec<Ancestor>, HiddenAncestor> {
    let mut found = Vec::new();
    if !Path::new("/proc/self/stat").exists() {
        return Ok(found);
    }
    let mut pid = std::os::unix::process::parent_id();
    while pid > 0 {
        if found.len() == MAX_ANCESTORS {
            return Err(HiddenAncestor);
        }
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).map_err(|_| HiddenAncestor)?;
        let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        let arguments = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        found.push(Ancestor { arguments, folder: std::fs::read_link(format!("/proc/{pid}/cwd")).ok() });
        let stat = i32::try_from(pid).ok().and_then(process_stat);
        pid = stat.and_then(|stat| u32::try_from(stat.parent).ok()).ok_or(HiddenAncestor)?;
    }
    Ok(found)
}

/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn chain() -> Result<Vec<Ancestor>, HiddenAncestor> {
    Ok(Vec::new())
}

/// The nearest ancestor that was started with one of these variables. A command can unset a variable for itself, but not for the
/// process that runs it.
#[cfg(target_os = "linux")]
#[must_use]
pub fn started_with(variables: &[&str]) -> Option<u32> {
    let is_given = |variable: &[u8]| {
        let name = variable.split(|byte| *byte == b'=').next().unwrap_or_default();
        variables.iter().any(|given| given.as_bytes() == name)
    };
    let mut pid = std::os::unix::process::parent_id();
    for _ in 0..MAX_ANCESTORS {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(is_given) {
            return Some(pid);
        }
        let stat = i32::try_from(pid).ok().and_then(process_stat)?;
        pid = u32::try_from(stat.parent).ok().filter(|parent| *parent > 0)?;
    }
    None
}

#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn started_with(_variables: &[&str]) -> Option<u32> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_process_that_started_this_one() {
        let lines = command_lines();
        let parent = std::fs::read(format!("/proc/{}/cmdline", std::os::unix::process::parent_id())).unwrap();
        let first = lines.first().unwrap().join("\0");
        assert_eq!(String::from_utf8_lossy(&parent).trim_end_matches('\0'), first);
    }
}
