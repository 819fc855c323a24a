//! What a command does not show itself: values of variables that it does not set, and directories.

use std::ops::Range;
use std::path::Path;

use crate::analysis::analyzer::{Analyzer, Scope};
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::glob::escaped;
use crate::programs::action::Action;
use crate::programs::program::{PathChange, Program};
use crate::syntax::parser::is_name;
use crate::{Access, Base, Effect, Quoting, SimpleCommand, Target};

/// Answers questions about the place where a command runs. It is asked only if a command needs the answer. `None` means unknown.
pub trait Environment {
    /// The value of a variable.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// Whether a command gets a variable of this name.
    fn is_set(&self, _name: &str) -> Option<bool> {
        None
    }

    /// Whether a file or a directory exists.
    fn is_there(&self, _path: &str) -> Option<bool> {
        None
    }

    /// Whether it exists and is neither a directory nor a link.
    fn is_file(&self, _path: &str) -> Option<bool> {
        None
    }

    /// Whether a pattern of the shell matches a directory.
    fn has_directory(&self, _pattern: &str) -> Option<bool> {
        None
    }

    /// The files that a shell pattern matches, unless they are too many.
    fn matched(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }

    /// The text of a file, unless it is long.
    fn text(&self, _path: &str) -> Option<String> {
        None
    }

    /// The names in an archive that `tar` unpacks, unless one leads out of the target directory.
    fn tar_members(&self, _archive: &str) -> Option<Vec<String>> {
        None
    }

    /// Like `tar_members`, but for an archive that `unzip` unpacks.
    fn zip_members(&self, _archive: &str) -> Option<Vec<String>> {
        None
    }

    /// A setting of go that is a directory.
    fn go_setting(&self, _name: &str) -> Option<String> {
        None
    }

    /// The absolute path of a directory. The path is relative to the directory where the command starts.
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

    /// Whether the analysis must stop now. It then ends with [`crate::Doubt::OutOfTime`].
    fn is_out_of_time(&self) -> bool {
        false
    }
}

/// An environment that answers no question.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownEnvironment;

impl Environment for UnknownEnvironment {}

/// Files by which a step of GitHub Actions passes values on. Only the runner of GitHub sets these variables.
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
pub(super) fn may_be_unset(name: &str) -> bool {
    let is_set = ["BASH", "COMP", "CLAUDE"].iter().any(|start| name.starts_with(start));
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(is_name)
        && !is_set
        && !OF_SHELL.contains(&name)
}

/// Unset variables.
impl Analyzer<'_> {
    /// Whether neither the script nor its environment sets a variable. A sourced file may set any variable.
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
            || self.is_operated(name)
    }

    /// Whether all unknown parts of a word are unset variables.
    pub(crate) fn is_of_unset(&self, word: &Field) -> bool {
        let is_unset = |(part, _): &(Range<usize>, Quoting)| {
            let name = word.text.get(part.clone()).and_then(|part| part.strip_prefix('$'));
            name.is_some_and(|name| self.is_unset(name))
        };
        word.kind == FieldKind::Unknown && !word.holes.is_empty() && word.holes.iter().all(is_unset)
    }

    /// Whether a word consists only of unset variables.
    pub(crate) fn is_only_unset(&self, word: &Field) -> bool {
        self.is_of_unset(word) && without_holes(word).is_empty()
    }

    /// A path below a variable that nobody sets: `$DIR/src` is `/src`. Hidden names may be meant in any directory.
    pub(crate) fn below_unset(&self, word: &Field) -> Option<Field> {
        let path = without_holes(word);
        let is_start = matches!(word.holes.as_slice(), [(part, _)] if part.start == 0);
        let is_below = path.strip_prefix('/').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
        if is_start && is_below && !path.contains("/.") && self.is_of_unset(word) {
            Some(Field::literal(path))
        } else {
            None
        }
    }

    /// The path of a word if its unset variables are empty. If it starts at the root, it is only one of many.
    pub(crate) fn path_without_unset(&self, word: &Field) -> Option<String> {
        if !self.is_of_unset(word) {
            return None;
        }
        let path = without_holes(word);
        let is_at_root = path.starts_with('/') && !word.text.starts_with('/');
        if path.is_empty() || path.ends_with('/') || is_at_root { None } else { Some(path) }
    }

    /// A pattern for a path in a known directory, whose only unknown parts are unset variables.
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

    /// Whether a path is in a missing directory below `/`: `rm "$TMPDIR/x"` without a `TMPDIR`.
    pub(crate) fn is_nowhere(&self, target: &Target) -> bool {
        let (Target::Path(path) | Target::Tree(path)) = target else { return false };
        let first = path.strip_prefix('/').and_then(|path| path.split('/').next()).unwrap_or_default();
        let is_name = !first.is_empty() && !path.split('/').any(|part| matches!(part, "." | ".."));
        // A directory or link that the script makes would exist.
        is_name && !self.has_made_files() && self.environment().is_there(&format!("/{first}")) == Some(false)
    }

    /// Whether a path is a directory that no earlier command can have replaced.
    pub(crate) fn was_directory(&self, file: &Field) -> bool {
        let is_there = |path: &String| self.environment().is_there(&format!("{path}/.")) == Some(true);
        let paths = if file.is_literal() { self.paths_of(file) } else { Vec::new() };
        !paths.is_empty() && !self.has_made_files() && paths.iter().all(is_there)
    }

    /// Whether an earlier command may have made a file, a directory or a link.
    pub(crate) fn has_made_files(&self) -> bool {
        let makes = |effect: &Effect| !matches!(effect.access, Access::Read | Access::Delete);
        self.script.effects.iter().any(makes)
    }

    /// The files that a pattern matches, if that is known. Without this, a harmless name could match protected files elsewhere.
    pub(crate) fn matched_files(&self, word: &Field) -> Vec<Field> {
        let bases = if word.kind == FieldKind::Glob { self.state.bases() } else { &[] };
        let found = bases.iter().filter_map(|base| self.matched_from(base, word)).flatten();
        let mut files: Vec<Field> = found.map(Field::literal).collect();
        files.push(word.clone());
        files
    }

    /// Whether a word is the path of a file or a directory from the one in which the whole command starts.
    pub(crate) fn is_there_literally(&self, word: &Field) -> bool {
        word.is_literal() && self.environment().is_there(&word.text) == Some(true)
    }

    /// Whether `matched_files` finds all files that the pattern will match.
    pub(crate) fn knows_matches(&self, word: &Field) -> bool {
        word.kind == FieldKind::Glob
            && !self.has_made_files()
            && self.state.bases().iter().all(|base| self.matched_from(base, word).is_some())
    }

    /// The files that a pattern matches from a directory, if they are not too many.
    fn matched_from(&self, base: &Base, word: &Field) -> Option<Vec<String>> {
        let (Base::At(at) | Base::IfMissing { at, .. }) = base else { return None };
        let is_relative = !word.text.starts_with('/') && !at.is_empty();
        let pattern = if is_relative { format!("{}/{}", escaped(at), word.text) } else { word.text.clone() };
        self.environment().matched(&pattern)
    }

    /// Whether there was a file or a directory before the script.
    pub(crate) fn is_there(&self, path: &str) -> bool {
        matches!(self.state.bases(), [Base::At(at)] if at.is_empty())
            && self.environment().is_there(path) == Some(true)
    }

    /// Whether a word names a plain file (not a directory or a link) that existed before the script and is unchanged.
    pub(crate) fn is_plain_file(&self, word: &Field, command: usize) -> bool {
        let path = self.earlier_file(word, command);
        path.is_some_and(|path| self.environment().is_file(&path) == Some(true))
    }

    /// Whether a shell pattern may match a directory.
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

    /// Whether a word is one of the files of GitHub Actions, and the script does not redefine it.
    pub(crate) fn is_github_file(&self, word: &Field) -> bool {
        GITHUB_FILES.contains(&word.text.as_str())
            && word.text.strip_prefix('$').is_some_and(|name| !self.is_set_here(name))
    }
}

/// The known parts of a word.
pub(crate) fn without_holes(word: &Field) -> String {
    let mut known = String::new();
    let mut at = 0;
    for (part, _) in &word.holes {
        known.push_str(word.text.get(at..part.start).unwrap_or_default());
        at = part.end;
    }
    known.push_str(word.text.get(at..).unwrap_or_default());
    known
}

/// Which program unpacks an archive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ArchiveFormat {
    Tar,
    Zip,
}

/// Files that were there before the script.
impl Analyzer<'_> {
    pub(crate) fn earlier_text(&self, file: &Field, command: usize) -> Option<String> {
        self.environment().text(&self.earlier_file(file, command)?)
    }

    /// The text of a file that one command of this script wrote as a whole, or that was there before it. No other command can have
    /// changed it.
    pub(crate) fn text_of(&self, file: &Field, command: usize) -> Option<String> {
        let Some(written) = self.written(file) else { return self.earlier_text(file, command) };
        let ([by], Stream::Text(printed)) = (written.by.as_slice(), written.content()) else { return None };
        let others = self.script.commands.get(..command)?.iter().enumerate().filter(|(at, _)| at != by);
        let is_known = self.is_once()
            && printed.is_exact
            && !printed.and_more
            && printed.text.is_literal()
            && !self.state.options.has_sourced
            && others.map(|(_, other)| other).all(is_unchanging);
        if is_known { Some(printed.text.text.clone()) } else { None }
    }

    /// Whether the current command is written in the script itself, runs once, and the following ones wait for it.
    fn is_once(&self) -> bool {
        let Scope { loops, depth, inside, unordered, .. } = self.scope;
        [loops, depth, inside, unordered].iter().all(|count| *count == 0) && self.traps.is_empty()
    }

    /// The names in an archive that a program unpacks.
    pub(crate) fn earlier_members(
        &self,
        format: ArchiveFormat,
        archive: &Field,
        command: usize,
    ) -> Option<Vec<String>> {
        // The standard input, another machine, or files that match.
        if archive.text.starts_with('-') || archive.text.contains([':', '*', '?', '[', '\\']) {
            return None;
        }
        let path = self.earlier_file(archive, command)?;
        let members = match format {
            ArchiveFormat::Tar => self.environment().tar_members(&path)?,
            ArchiveFormat::Zip => self.environment().zip_members(&path)?,
        };
        // It may replace itself while a loop unpacks it again.
        let name = path.rsplit('/').next().unwrap_or(&path);
        if members.iter().any(|member| member.rsplit('/').next() == Some(name)) {
            None
        } else {
            Some(members)
        }
    }

    /// Whether a program may get one of these variables.
    pub(crate) fn may_be_given(&self, variables: &[&str]) -> bool {
        let is_given = |name: &&str| self.is_set_here(name) || self.environment().is_set(name) == Some(true);
        self.state.options.has_sourced || variables.iter().any(is_given)
    }

    /// The path of a file that no earlier or parallel command can have written. This command is written in the script itself, and
    /// the following ones wait for it.
    fn earlier_file(&self, file: &Field, command: usize) -> Option<String> {
        if !self.is_once() {
            return None;
        }
        let earlier = self.script.commands.get(..command)?;
        let changes = |effect: &Effect| {
            effect.command < command && (effect.access.changes_files() || effect.access == Access::Mount)
        };
        let [path] = self.paths_of(file).try_into().ok()?;
        let is_known = file.is_literal()
            && self.state.disk.written(&path).is_none()
            && !self.state.options.has_sourced
            && earlier.iter().all(is_unchanging)
            && !self.script.effects.iter().any(changes);
        if is_known { Some(path) } else { None }
    }
}

/// Whether a command changes no file.
fn is_unchanging(command: &SimpleCommand) -> bool {
    command.entry.is_some_and(is_without_effects) && !command.redirects_to_file
}

/// Whether a program only looks at files, makes directories, or runs one command once.
fn is_without_effects(program: &Program) -> bool {
    match (program.paths, program.action) {
        (PathChange::Always, _) => false,
        (PathChange::Never, _) | (PathChange::Unknown, Action::Nothing | Action::Wrap(_)) => true,
        (PathChange::Unknown, Action::Each(access, _) | Action::Trees(access, _)) => {
            matches!(access, Access::Read | Access::MakeDirectory)
        }
        (PathChange::Unknown, _) => false,
    }
}

impl Analyzer<'_> {
    pub(crate) fn variable_outside(&self, name: &str) -> Option<Field> {
        self.environment().variable(name).map(Field::literal)
    }

    /// Whether nothing in the script changes what go is, or its settings.
    pub(super) fn is_plain_go(&self) -> bool {
        let go = self.program("go");
        let sets = |command: &SimpleCommand| {
            command.entry == go && command.words.iter().any(|word| word == "-w" || word == "-u")
        };
        self.is_installed("go")
            && !["GOPATH", "GOMODCACHE", "GOENV", "HOME", "XDG_CONFIG_HOME"]
                .iter()
                .any(|name| self.is_set_here(name))
            && !self.script.commands.iter().any(sets)
    }

    /// Whether the script neither defines another program of this name nor changes where programs are searched.
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

    /// Whether the current directory is certainly not the one of the call, nor one below or above it.
    pub(crate) fn is_outside_start(&self) -> bool {
        let Some(start) = self.environment().directory("") else { return false };
        let is_part = |whole: &str, part: &str| Path::new(whole).starts_with(part);
        self.current_directory().is_some_and(|at| !is_part(&at.text, &start) && !is_part(&start, &at.text))
    }

    /// The top level of the work tree around the current directory, or the directory itself if there is none.
    pub(crate) fn top_level(&self) -> Option<Field> {
        if !self.is_plain_git() {
            return None;
        }
        self.same_answer(|environment, at| environment.top_level(at)).or_else(|| self.current_directory())
    }

    /// Whether nothing in the script changes what git is, or where it looks.
    pub(super) fn is_plain_git(&self) -> bool {
        let is_set = |name: &&str| self.state.get(name).is_some() || self.state.exports.has(name);
        self.state.functions.get("git").is_none()
            && self.state.aliases.get("git").is_none()
            && !["GIT_DIR", "GIT_WORK_TREE"].iter().any(is_set)
    }

    /// Whether a directory may be the current one: not if a `cd` would have had to fail for that.
    pub(super) fn is_possible(&self, base: &Base) -> bool {
        match base {
            Base::IfMissing { missing, .. } => self.environment().is_there(missing) != Some(true),
            Base::At(_) | Base::Unknown => true,
        }
    }

    /// The answer to a question, if it is equal for each possible current directory.
    pub(super) fn same_answer(
        &self,
        ask: impl Fn(&dyn Environment, &str) -> Option<String>,
    ) -> Option<Field> {
        let possible = self.state.bases().iter().filter(|base| self.is_possible(base));
        let mut known = possible.map(|base| match base {
            Base::At(at) | Base::IfMissing { at, .. } => ask(self.environment(), at),
            Base::Unknown => None,
        });
        let first = known.next()??;
        if known.all(|other| other.as_deref() == Some(&first)) { Some(Field::literal(first)) } else { None }
    }
}
