//! Files that are named by what a process has open, or by where it is: `/dev/fd/3`, `/dev/stdin`, `/proc/self/cwd/x`. A file that
//! is open for reading can be opened for writing by such a name.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::{Access, Base, Effect, Target};

/// With more files open, one that is named by its descriptor is unknown.
const MAX_INPUTS: usize = 64;

/// What stands for the file of a process substitution.
const PROCESS: &str = "63";

/// The files that redirections opened for reading.
#[derive(Debug, Default)]
pub(super) struct OpenInputs {
    files: Vec<OpenInput>,
    /// Whether there are more.
    has_more: bool,
    /// Whether a descriptor became a copy of another one.
    has_copies: bool,
    /// Whether that may be the standard input.
    has_copied_input: bool,
}

#[derive(Debug, PartialEq)]
struct OpenInput {
    file: Field,
    bases: Vec<Base>,
    /// Whether it is the standard input of a command.
    is_standard: bool,
}

/// What a path in `/dev` or `/proc` leads to.
#[derive(Debug, PartialEq)]
enum ProcessPath {
    /// What is open, and a path from there.
    Open { descriptor: String, rest: String },
    /// A path from the current directory.
    Here(String),
    /// A path from the root.
    Root(String),
}

impl ProcessPath {
    /// `None` for other paths. `/dev/fd` is a link to `/proc/self/fd`.
    fn of(path: &str) -> Option<ProcessPath> {
        if !path.starts_with("/dev/") && !path.starts_with("/proc/") && !path.starts_with("//") {
            return None;
        }
        let mut parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
        let mut at: Vec<&str> = Vec::new();
        while let Some(part) = parts.next() {
            match part {
                ".." => drop(at.pop()),
                part => at.push(part),
            }
            let rest = || parts.clone().collect::<Vec<_>>().join("/");
            let open = |descriptor: &str, rest| ProcessPath::Open { descriptor: descriptor.to_owned(), rest };
            match at.as_slice() {
                ["dev", "fd"] => at = vec!["proc", "self", "fd"],
                ["dev", "stdin"] => return Some(open("0", rest())),
                ["dev", "stdout"] => return Some(open("1", rest())),
                ["dev", "stderr"] => return Some(open("2", rest())),
                ["proc", process, "cwd"] if is_process(process) => return Some(ProcessPath::Here(rest())),
                ["proc", process, "root"] if is_process(process) => return Some(ProcessPath::Root(rest())),
                ["proc", process, "task", _] => at = vec!["proc", process],
                ["proc", process, "fd", descriptor] if is_process(process) => {
                    return Some(open(descriptor, rest()));
                }
                _ => {}
            }
        }
        None
    }
}

/// Whether a directory of `/proc` belongs to a process. It counts as this process, because nothing is known about others.
fn is_process(name: &str) -> bool {
    matches!(name, "self" | "thread-self")
        || name.contains(['$', '*', '?', '['])
        || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// A target of this kind at another path.
fn at_path(target: &Target, path: String) -> Target {
    match target {
        Target::Tree(_) => Target::Tree(path),
        Target::Glob(_) => Target::Glob(path),
        Target::Trees(_) => Target::Trees(path),
        Target::Into { name, .. } => Target::Into { directory: path, name: name.clone() },
        Target::Among { written, .. } => Target::Among { written: written.clone(), pattern: path },
        Target::Path(_) | Target::WorkTree | Target::Somewhere { .. } | Target::Unknown(_) => {
            Target::Path(path)
        }
    }
}

impl Analyzer<'_> {
    /// A redirection opens a file for reading.
    pub(super) fn opens_input(&mut self, file: &Field, is_standard: bool) {
        let input = OpenInput { file: file.clone(), bases: self.state.bases().to_vec(), is_standard };
        let inputs = &mut self.streams.open_inputs;
        if inputs.files.len() >= MAX_INPUTS {
            inputs.has_more = true;
        } else if !inputs.files.contains(&input) {
            inputs.files.push(input);
        }
    }

    /// A descriptor becomes a copy of this one.
    pub(super) fn copies_descriptor(&mut self, descriptor: &str, is_input: bool) {
        self.streams.open_inputs.has_copies = true;
        self.streams.open_inputs.has_copied_input |= is_input || descriptor == "0";
    }

    /// Adds the effects on what a path of a process leads to; false for other paths.
    pub(super) fn through_process(
        &mut self,
        access: Access,
        target: &Target,
        path: &str,
        command: usize,
    ) -> bool {
        match ProcessPath::of(path) {
            None => false,
            Some(ProcessPath::Here(rest)) if !rest.contains('$') => {
                let rest = if rest.is_empty() { ".".to_owned() } else { rest };
                self.effect(access, at_path(target, rest), command);
                true
            }
            Some(ProcessPath::Root(rest)) if !rest.contains('$') => {
                self.effect(access, at_path(target, format!("/{rest}")), command);
                true
            }
            Some(ProcessPath::Here(_) | ProcessPath::Root(_)) => false,
            // What is open can be read anyway.
            Some(ProcessPath::Open { rest, .. }) if access == Access::Read && rest.is_empty() => true,
            Some(ProcessPath::Open { descriptor, rest }) => {
                let files = self.open_in(&descriptor);
                let is_known = !files.is_empty() && !self.streams.open_inputs.has_more;
                for (base, path) in files {
                    let path = if rest.is_empty() { path } else { format!("{path}/{rest}") };
                    self.push_open(access, &at_path(target, path), base, command);
                }
                if !is_known && self.may_be_any(&descriptor) {
                    let base = self.state.bases().first().cloned().unwrap_or(Base::Unknown);
                    let unknown = Target::Unknown(path.to_owned());
                    self.script.effects.push(Effect::new(access, unknown, base, command));
                }
                true
            }
        }
    }

    fn push_open(&mut self, access: Access, target: &Target, base: Base, command: usize) {
        if self.work(32) {
            self.script.effects.push(Effect::new(access, target.clone(), base, command));
        }
    }

    /// The files that a descriptor may have open for reading, and where their paths start.
    fn open_in(&self, descriptor: &str) -> Vec<(Base, String)> {
        let inputs = &self.streams.open_inputs;
        let may_be = |input: &&OpenInput| {
            descriptor == "0" || !input.is_standard || is_other(descriptor) && inputs.has_copied_input
        };
        let known = inputs.files.iter().filter(may_be).filter(|input| input.file.kind == FieldKind::Literal);
        let with_bases = known.flat_map(|input| {
            input.bases.iter().map(|base| {
                let is_absolute = input.file.text.starts_with('/');
                let base = if is_absolute { Base::At(String::new()) } else { base.clone() };
                (base, input.file.text.clone())
            })
        });
        // A process substitution is not a file.
        with_bases.filter(|(_, path)| !path.starts_with("/dev/")).collect()
    }

    /// Whether nothing says what a descriptor is. The standard ones are those of the whole command.
    fn may_be_any(&self, descriptor: &str) -> bool {
        let inputs = &self.streams.open_inputs;
        let is_unknown = inputs.files.iter().any(|input| input.file.kind != FieldKind::Literal);
        inputs.has_more
            || is_unknown && (descriptor == "0" || is_other(descriptor))
            || is_other(descriptor)
                && !inputs.has_copies
                && descriptor != PROCESS
                && self.streams.opened.is_empty()
    }
}

/// Whether a descriptor is not a standard one.
fn is_other(descriptor: &str) -> bool {
    !matches!(descriptor, "0" | "1" | "2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_process_leads_to_what_it_has_open_or_to_where_it_is() {
        let open = |descriptor: &str, rest: &str| {
            Some(ProcessPath::Open { descriptor: descriptor.to_owned(), rest: rest.to_owned() })
        };
        for (path, expected) in [
            ("/dev/fd/3", open("3", "")),
            ("/dev/./fd//3/a/b", open("3", "a/b")),
            ("//dev/stdin", open("0", "")),
            ("/dev/stderr", open("2", "")),
            ("/proc/self/fd/3", open("3", "")),
            ("/proc/17/task/18/fd/3", open("3", "")),
            ("/proc/$$/fd/3", open("3", "")),
            ("/dev/fd/../fd/3", open("3", "")),
            ("/dev/fd/../cwd/x", Some(ProcessPath::Here("x".to_owned()))),
            ("/proc/self/cwd", Some(ProcessPath::Here(String::new()))),
            ("/proc/self/root/etc/x", Some(ProcessPath::Root("etc/x".to_owned()))),
            ("/dev/null", None),
            ("/dev/fd", None),
            ("/proc/cpuinfo", None),
            ("/proc/sys/cwd", None),
            ("dev/fd/3", None),
            ("/home/dev/fd/3", None),
        ] {
            assert_eq!(ProcessPath::of(path), expected, "{path}");
        }
    }
}
