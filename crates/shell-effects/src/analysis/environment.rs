//! What a command does not say itself: values of variables that it does not set, and directories.

use std::ops::Range;
use std::path::Path;

use crate::analysis::analyzer::{Analyzer, Scope};
use crate::analysis::field::{Field, FieldKind};
use crate::glob::escaped;
use crate::programs::program::{Action, Program};
use crate::syntax::parser::is_name;
use crate::{Access, Base, Effect, Quoting, SimpleCommand, Target};

/// Answers questions about the place where a command runs. It is asked only where a command uses the answer; nothing means that
/// the answer is not known.
pub trait Environment {
    /// The value of a variable.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// Whether a command gets a variable of this name.
    fn is_set(&self, _name: &str) -> Option<bool> {
        None
    }

    /// Whether there is a file or a directory.
    fn is_there(&self, _path: &str) -> Option<bool> {
        None
    }

    /// Whether there is a file, which is not a directory or a link.
    fn is_file(&self, _path: &str) -> Option<bool> {
        None
    }

    /// Whether a pattern of the shell matches a directory.
    fn has_directory(&self, _pattern: &str) -> Option<bool> {
        None
    }

    /// The files that a pattern of the shell matches, if they are not too many.
    fn matched(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    /// The text of a file, if it is not long.
    fn text(&self, _path: &str) -> Option<String> {
        None
    }

    /// The names in an archive that `tar` unpacks, if nothing of it leads out of the directory into which it is unpacked.
    fn tar_members(&self, _archive: &str) -> Option<Vec<String>> {
        None
    }

    /// The same of an archive that `unzip` unpacks.
    fn zip_members(&self, _archive: &str) -> Option<Vec<String>> {
        None
    }

    /// A setting of go, which is a directory.
    fn go_setting(&self, _name: &str) -> Option<String> {
        None
    }

    /// The absolute path of a directory that is given from the one in which the command starts.
    fn directory(&self, _path: &str) -> Option<String> {
        None
    }

    /// The top level of the git repository around such a directory.
    fn top_level(&self, _path: &str) -> Option<String> {
        None
    }

    /// Where git keeps what all work trees of that repository share.
    fn common_directory(&self, _path: &str) -> Option<String> {
        None
    }

    /// Whether the analysis has to stop now. It ends in [`crate::Doubt::OutOfTime`] then.
    fn is_out_of_time(&self) -> bool {
        false
    }
}

/// An environment that answers no question.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownEnvironment;

impl Environment for UnknownEnvironment {}

/// The files by which a step of GitHub Actions hands something on. Only its runner sets these variables.
const GITHUB_FILES: [&str; 5] =
    ["$GITHUB_ENV", "$GITHUB_OUTPUT", "$GITHUB_PATH", "$GITHUB_STATE", "$GITHUB_STEP_SUMMARY"];

/// Variables that bash or zsh sets itself.
#[rustfmt::skip]
const OF_SHELL: &[&str] = &[
    "_", "COLUMNS", "COPROC", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "HOSTNAME", "HOSTTYPE", "IFS",
    "LINENO", "LINES", "MACHTYPE", "MAPFILE", "MATCH", "OLDPWD", "OPTARG", "OPTIND", "OSTYPE", "PIPESTATUS", "PPID", "PWD", "RANDOM",
    "READLINE_LINE", "REPLY", "SECONDS", "SHELLOPTS", "SHLVL", "SRANDOM", "UID", "aliases", "argv", "builtins", "commands", "dirstack", "functions", "funcstack", "history", "historywords", "jobtexts",
    "match", "modules", "nameddirs", "options", "parameters", "path", "pipestatus", "prompt", "reply", "status", "userdirs", "words",
];

/// Whether a name is that of a variable, and neither the shell nor Claude Code sets it.
fn may_be_unset(name: &str) -> bool {
    let is_set = ["BASH", "COMP", "CLAUDE"].iter().any(|start| name.starts_with(start));
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(is_name)
        && !is_set
        && !OF_SHELL.contains(&name)
}

/// Variables that nobody sets.
impl Analyzer<'_> {
    /// Whether neither the script nor its environment sets a variable. What a file sets that is sourced is not known.
    pub(crate) fn is_unset(&self, name: &str) -> bool {
        may_be_unset(name) && !self.is_set_here(name) && self.environment().is_set(name) == Some(false)
    }

    /// Whether a variable that is used with an operation has no value.
    pub(crate) fn is_unset_outside(&self, name: &str) -> bool {
        may_be_unset(name)
            && self.state.get(name).is_none()
            && !self.state.exports.has(name)
            && !self.state.options.has_sourced
            && self.environment().is_set(name) == Some(false)
    }

    pub(super) fn is_set_here(&self, name: &str) -> bool {
        self.state.get(name).is_some()
            || self.state.exports.has(name)
            || self.state.options.has_sourced
            || self.operated.iter().any(|operated| operated == name)
    }

    /// Whether all that is not known of a word are variables that nobody sets.
    pub(crate) fn is_of_unset(&self, word: &Field) -> bool {
        let is_unset = |(part, _): &(Range<usize>, Quoting)| {
            let name = word.text.get(part.clone()).and_then(|part| part.strip_prefix('$'));
            name.is_some_and(|name| self.is_unset(name))
        };
        word.kind == FieldKind::Unknown && !word.holes.is_empty() && word.holes.iter().all(is_unset)
    }

    /// The same where the word has nothing else.
    pub(crate) fn is_only_unset(&self, word: &Field) -> bool {
        self.is_of_unset(word) && without_holes(word).is_empty()
    }

    /// The path that a word names if variables that nobody sets are empty. From the root on, it is only one of many.
    pub(crate) fn path_without_unset(&self, word: &Field) -> Option<String> {
        if !self.is_of_unset(word) {
            return None;
        }
        let path = without_holes(word);
        let is_at_root = path.starts_with('/') && !word.text.starts_with('/');
        if path.is_empty() || path.ends_with('/') || is_at_root { None } else { Some(path) }
    }

    /// A pattern for a path in a known directory. Only the values of unset variables in it are not known.
    pub(crate) fn pattern_of_unset(&self, word: &Field) -> Option<String> {
        let start = word.holes.first()?.0.start;
        if start == 0 || word.text.contains("..") || !self.is_of_unset(word) {
            return None;
        }
        let mut pattern = String::new();
        let mut at = 0;
        for (part, _) in &word.holes {
            pattern.push_str(&escaped(word.text.get(at..part.start)?));
            pattern.push('*');
            at = part.end;
        }
        pattern.push_str(&escaped(word.text.get(at..)?));
        Some(pattern)
    }

    /// Whether a path is in a directory below `/` that does not exist: `rm "$TMPDIR/x"` without a `TMPDIR`.
    pub(crate) fn is_nowhere(&self, target: &Target) -> bool {
        let (Target::Path(path) | Target::Tree(path)) = target else { return false };
        let first = path.strip_prefix('/').and_then(|path| path.split('/').next()).unwrap_or_default();
        let is_name = !first.is_empty() && !path.split('/').any(|part| matches!(part, "." | ".."));
        // A directory that the script makes, or a link, is somewhere.
        is_name && !self.has_made_files() && self.environment().is_there(&format!("/{first}")) == Some(false)
    }

    /// Whether a command before may have made a file, a directory or a link.
    pub(crate) fn has_made_files(&self) -> bool {
        let makes = |effect: &Effect| !matches!(effect.access, Access::Read | Access::Delete);
        self.script.effects.iter().any(makes)
    }

    /// The files that a pattern matches, where that is known: the names of some may be those of protected files elsewhere.
    pub(crate) fn matched_files(&self, word: &Field) -> Vec<Field> {
        let found = match (word.kind, self.state.bases()) {
            (FieldKind::Glob, [Base::At(at)]) if word.written.is_none() => {
                let is_relative = !word.text.starts_with('/') && !at.is_empty();
                let pattern =
                    if is_relative { format!("{}/{}", escaped(at), word.text) } else { word.text.clone() };
                self.environment().matched(&pattern)
            }
            _ => None,
        };
        let mut files: Vec<Field> = found.into_iter().flatten().map(Field::literal).collect();
        files.push(word.clone());
        files
    }

    /// Whether a word is the path of a file or a directory from the one in which the whole command starts.
    pub(crate) fn is_there(&self, word: &Field) -> bool {
        word.is_literal() && self.environment().is_there(&word.text) == Some(true)
    }

    /// Whether there is such a directory, and nothing before may have removed or closed it: a `cd` to it succeeds.
    pub(crate) fn is_kept_directory(&self, directory: &Field) -> bool {
        let path = |at: &str, path: &str| {
            if path.starts_with('/') || at.is_empty() { path.to_owned() } else { format!("{at}/{path}") }
        };
        let is_elsewhere = |effect: &Effect| match (effect.access, &effect.target, &effect.base) {
            (Access::Read | Access::MakeDirectory, _, _) => true,
            (_, Target::Path(changed) | Target::Tree(changed), Base::At(at)) => {
                let changed = self.environment().directory(&path(at, changed));
                changed.is_some_and(|changed| !Path::new(&directory.text).starts_with(changed))
            }
            _ => false,
        };
        self.is_there(directory) && self.script.effects.iter().all(is_elsewhere)
    }

    /// Whether a pattern of the shell may match a directory.
    pub(crate) fn may_match_directory(&self, pattern: &str) -> bool {
        let is_known = |base: &Base| match base {
            Base::At(at) if at.is_empty() => self.environment().has_directory(pattern) == Some(false),
            Base::At(at) => {
                let pattern = format!("{}/{pattern}", escaped(at));
                self.environment().has_directory(&pattern) == Some(false)
            }
            Base::IfMissing { .. } | Base::Unknown => false,
        };
        self.has_made_files() || !self.state.bases().iter().all(is_known)
    }

    /// Whether a word is one of the files of GitHub Actions, and the script does not say otherwise.
    pub(crate) fn is_github_file(&self, word: &Field) -> bool {
        GITHUB_FILES.contains(&word.text.as_str())
            && word.text.strip_prefix('$').is_some_and(|name| !self.is_set_here(name))
    }
}

/// What is known of a word.
fn without_holes(word: &Field) -> String {
    let mut known = String::new();
    let mut at = 0;
    for (part, _) in &word.holes {
        known.push_str(word.text.get(at..part.start).unwrap_or_default());
        at = part.end;
    }
    known.push_str(word.text.get(at..).unwrap_or_default());
    known
}

/// Files that were there before the script.
impl Analyzer<'_> {
    pub(crate) fn earlier_text(&self, file: &Field, command: usize) -> Option<String> {
        self.environment().text(&self.earlier_file(file, command)?)
    }

    /// The names in an archive that a program unpacks.
    pub(crate) fn earlier_members(
        &self,
        program: &str,
        archive: &Field,
        command: usize,
    ) -> Option<Vec<String>> {
        // The standard input, another machine, or files that match.
        if archive.text.starts_with('-') || archive.text.contains([':', '*', '?', '[', '\\']) {
            return None;
        }
        let path = self.earlier_file(archive, command)?;
        let members = match program {
            "unzip" => self.environment().zip_members(&path)?,
            _ => self.environment().tar_members(&path)?,
        };
        // It may replace itself while a loop unpacks it again.
        let name = path.rsplit('/').next().unwrap_or(&path);
        if members.iter().any(|member| member.rsplit('/').next() == Some(name)) {
            None
        } else {
            Some(members)
        }
    }

    /// Whether a program may be given one of these variables.
    pub(crate) fn may_be_given(&self, variables: &[&str]) -> bool {
        let is_given = |name: &&str| self.is_set_here(name) || self.environment().is_set(name) == Some(true);
        self.state.options.has_sourced || variables.iter().any(is_given)
    }

    /// The path of a file that no command before this one can have written, nor one that runs at the same time: this one is
    /// written in the script itself, and what follows it waits for it.
    fn earlier_file(&self, file: &Field, command: usize) -> Option<String> {
        let Scope { loops, depth, inside, unordered, .. } = self.scope;
        if [loops, depth, inside, unordered].iter().any(|count| *count > 0) || !self.traps.is_empty() {
            return None;
        }
        let is_free = |earlier: &SimpleCommand| {
            earlier.entry.is_some_and(is_without_effects) && !earlier.redirects_to_file
        };
        let earlier = self.script.commands.get(..command)?;
        let changes = |effect: &Effect| {
            effect.command < command && (effect.access.changes_files() || effect.access == Access::Mount)
        };
        let [path] = self.paths_of(file).try_into().ok()?;
        let is_known = file.is_literal()
            && self.state.disk.written(&path).is_none()
            && !self.state.options.has_sourced
            && earlier.iter().all(is_free)
            && !self.script.effects.iter().any(changes);
        if is_known { Some(path) } else { None }
    }
}

/// Whether a program only looks at files, makes directories, or runs one command once.
fn is_without_effects(program: &Program) -> bool {
    const FREE: &[&str] = &[
        "cd", "pushd", "popd", "echo", "printf", "cat", "set", "export", "ls", "grep", "rg", "type", "sudo",
        "env", "command", "mktemp", "wc",
    ];
    // Another file is there afterwards.
    const MOUNTING: &[&str] = &["mount", "umount", "curlftpfs"];
    match program.action {
        Action::Nothing => !program.names.iter().any(|name| MOUNTING.contains(name)),
        Action::Wrap(_) => true,
        Action::Each(access, _) | Action::Trees(access, _) => {
            matches!(access, Access::Read | Access::MakeDirectory)
        }
        Action::Special(_) => program.names.iter().any(|name| FREE.contains(name)),
        _ => false,
    }
}

impl Analyzer<'_> {
    pub(crate) fn variable_outside(&self, name: &str) -> Option<Field> {
        self.environment().variable(name).map(Field::literal)
    }

    pub(crate) fn current_directory(&self) -> Option<Field> {
        self.of_bases(|environment, at| environment.directory(at))
    }

    /// The directory that a command prints, from its text.
    pub(crate) fn printed_directory(&self, text: &str) -> Option<Field> {
        // Where the first command prints something, it has succeeded.
        let first = text.split("||").next().unwrap_or(text).trim();
        let first = first.trim_end_matches("2>/dev/null").trim_end_matches("2> /dev/null").trim_end();
        match first {
            "pwd" if first == text => Some(self.current_directory().unwrap_or_else(|| Field::literal("."))),
            "git rev-parse --show-toplevel" if self.is_plain_git() => {
                self.of_bases(|environment, at| environment.top_level(at))
            }
            "git rev-parse --git-common-dir" | "git rev-parse --path-format=absolute --git-common-dir"
                if self.is_plain_git() =>
            {
                self.of_bases(|environment, at| environment.common_directory(at))
            }
            "go env GOMODCACHE" | "go env GOPATH" if first == text && self.is_plain_go() => {
                let name = first.rsplit(' ').next().unwrap_or_default();
                self.environment().go_setting(name).map(Field::literal)
            }
            _ => None,
        }
    }

    /// Whether nothing in the script changes what go is, or its settings.
    fn is_plain_go(&self) -> bool {
        let sets = |words: &[String]| {
            words.first().is_some_and(|name| name.ends_with("go"))
                && words.iter().any(|word| word == "-w" || word == "-u")
        };
        self.is_installed("go")
            && !["GOPATH", "GOMODCACHE", "GOENV", "HOME", "XDG_CONFIG_HOME"]
                .iter()
                .any(|name| self.is_set_here(name))
            && !self.script.commands.iter().any(|command| sets(&command.words))
    }

    /// Whether the script defines no other program of this name, nor says where to look for it.
    pub(crate) fn is_usual(&self, name: &str) -> bool {
        self.state.functions.get(name).is_none()
            && self.state.aliases.get(name).is_none()
            && self.state.get("PATH").is_none()
            && !self.state.exports.has("PATH")
    }

    /// Whether nothing in the script changes which program this is.
    pub(super) fn is_installed(&self, name: &str) -> bool {
        self.is_usual(name) && !self.is_set_here("PATH")
    }

    /// Whether the current directory is surely neither the one of the call, nor below or above it.
    pub(crate) fn is_outside_start(&self) -> bool {
        let Some(start) = self.environment().directory("") else { return false };
        let is_part = |whole: &str, part: &str| Path::new(whole).starts_with(part);
        self.current_directory().is_some_and(|at| !is_part(&at.text, &start) && !is_part(&start, &at.text))
    }

    /// The top level of the work tree around the current directory; the directory itself where there is none.
    pub(crate) fn top_level(&self) -> Option<Field> {
        if !self.is_plain_git() {
            return None;
        }
        self.of_bases(|environment, at| environment.top_level(at)).or_else(|| self.current_directory())
    }

    /// Whether nothing in the script changes what git is, or where it looks.
    fn is_plain_git(&self) -> bool {
        let is_set = |name: &&str| self.state.get(name).is_some() || self.state.exports.has(name);
        self.state.functions.get("git").is_none()
            && self.state.aliases.get("git").is_none()
            && !["GIT_DIR", "GIT_WORK_TREE"].iter().any(is_set)
    }

    /// What is the same for each directory that may be the current one.
    fn of_bases(&self, ask: impl Fn(&dyn Environment, &str) -> Option<String>) -> Option<Field> {
        let mut known = self.state.bases().iter().map(|base| match base {
            Base::At(at) | Base::IfMissing { at, .. } => ask(self.environment(), at),
            Base::Unknown => None,
        });
        let first = known.next()??;
        if known.all(|other| other.as_deref() == Some(&first)) { Some(Field::literal(first)) } else { None }
    }
}
