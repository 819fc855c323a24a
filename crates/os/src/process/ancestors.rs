//! The command lines of the processes above this one.

#[cfg(target_os = "linux")]
use super::descendants::process_stat;

/// A chain of processes is never this long.
#[cfg(target_os = "linux")]
const MAX_ANCESTORS: usize = 64;

/// The arguments of the processes above this one, the nearest first. Empty where the system does not show them, and where one of
/// them belongs to somebody who hides it.
#[cfg(target_os = "linux")]
#[must_use]
pub fn command_lines() -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    let mut pid = std::os::unix::process::parent_id();
    while pid > 0 && lines.len() < MAX_ANCESTORS {
        let Ok(line) = std::fs::read(format!("/proc/{pid}/cmdline")) else { return Vec::new() };
        let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        lines.push(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect());
        let stat = i32::try_from(pid).ok().and_then(process_stat);
        let Some(parent) = stat.and_then(|stat| u32::try_from(stat.parent).ok()) else { return Vec::new() };
        pid = parent;
    }
    lines
}

#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn command_lines() -> Vec<Vec<String>> {
    Vec::new()
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
