//! The processes of one command, including those that left its group or whose parents have died (Linux).

use std::collections::{HashMap, HashSet};
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use super::ID_VARIABLE;

/// Distinguishes the processes of one command from all others.
pub(super) struct Family {
    /// In the environment of its processes, unless they cleared it.
    id: String,
    /// Our children that do not belong to it: those of earlier commands, and of commands that run in parallel.
    others: Vec<i32>,
}

impl Family {
    /// To be called before the command is started.
    pub(super) fn before_start(id: String) -> Self {
        // Orphans of the command become our children, so that they can be found. Without it they are still found while
        // their parents live.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Family { id, others: own_children() }
    }

    /// Excludes these processes and their groups, even if their environment has no id.
    pub(super) fn excludes(&mut self, ids: impl Iterator<Item = u32>) {
        self.others.extend(ids.filter_map(|id| i32::try_from(id).ok()));
    }

    fn has(&self, orphan: i32) -> bool {
        let group = process_stat(orphan).map(|stat| stat.group);
        let is_others = |number: i32| self.others.contains(&number);
        !is_others(orphan) && !group.is_some_and(is_others) && !belongs_elsewhere(orphan, &self.id)
    }
}

/// Parent and children of all processes, by number.
fn process_tree() -> HashMap<i32, Vec<i32>> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        if let Some(stat) = process_stat(pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    children
}

pub(super) struct ProcessStat {
    state: char,
    pub(super) parent: i32,
    group: i32,
}

pub(super) fn process_stat(pid: i32) -> Option<ProcessStat> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may itself contain parentheses and blanks.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some(ProcessStat { state, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}

fn own_children() -> Vec<i32> {
    // Nearly always there is none, and this system call shows that without reading a file.
    let of_every_kind = WaitIdOptions::from_bits_retain(libc::__WALL.cast_unsigned());
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT | of_every_kind;
    let any = waitid(WaitId::All, look);
    if matches!(any, Err(Errno::CHILD)) {
        return Vec::new();
    }
    // The kernel's own list is one small file. Without it we read all processes.
    let lists: Option<Vec<String>> = fs::read_dir("/proc/self/task").ok().and_then(|threads| {
        threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children")).ok()).collect()
    });
    match lists {
        Some(lists) => lists
            .iter()
            .flat_map(|list| list.split_ascii_whitespace())
            .filter_map(|pid| pid.parse().ok())
            .collect(),
        None => process_tree().remove(&own_pid()).unwrap_or_default(),
    }
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Whether the process has the id of another command that does not run inside this one.
fn belongs_elsewhere(pid: i32, id: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    let prefix = format!("{ID_VARIABLE}=");
    let found =
        environment.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(prefix.as_bytes()));
    let is_inside = |rest: &[u8]| rest.is_empty() || rest.starts_with(b"/");
    found.is_some_and(|found| !found.strip_prefix(id.as_bytes()).is_some_and(is_inside))
}

/// All living processes of the command with the shell `shell`: its descendants, and orphans that became our children since it
/// started. Zombies among the orphans are reaped.
pub(super) fn living(shell: Pid, family: &Family) -> Vec<Pid> {
    let tree = process_tree();
    let orphans = tree.get(&own_pid()).into_iter().flatten().copied();
    let shell = shell.as_raw_nonzero().get();
    let mut queue: Vec<i32> = orphans.filter(|pid| *pid != shell && family.has(*pid)).collect();
    let adopted: HashSet<i32> = queue.iter().copied().collect();
    queue.push(shell);
    let mut found = Vec::new();
    while let Some(pid) = queue.pop() {
        queue.extend(tree.get(&pid).into_iter().flatten());
        let Some((pid, stat)) = Pid::from_raw(pid).zip(process_stat(pid)) else { continue };
        match stat.state {
            'Z' if adopted.contains(&pid.as_raw_nonzero().get()) => {
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
            'Z' | 'X' => {}
            _ => found.push(pid),
        }
    }
    found
}
