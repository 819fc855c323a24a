//! What a shell command reads, writes, deletes and runs, from its text alone.
//!
//! A command is parsed as bash would parse it ([`MAX_BYTES`] and [`MAX_DEPTH`] are the limits) and followed in the order in which
//! it would run. Each of its programs is looked up in one table. Nothing is executed. This crate never looks at the disk: only
//! the caller's [`Environment`] does, if the caller passes one. Callers expand globs and examine directories. What cannot be
//! decided is a [`Doubt`]; nothing is left out silently.
//!
//! ```
//! use shell_effects::{Access, Target, read};
//!
//! let script = read("cd src && sort words > sorted; f=~/.profile; rm $f", Some("/home/me"));
//! let effects: Vec<_> = script.effects.iter().map(|effect| (effect.access, effect.literal().unwrap())).collect();
//! assert_eq!(
//!     effects,
//!     [
//!         (Access::Read, "src/words".to_owned()),
//!         (Access::Write, "src/sorted".to_owned()),
//!         (Access::Delete, "/home/me/.profile".to_owned()),
//!     ]
//! );
//! assert!(script.doubts.is_empty());
//!
//! // What is not known before it runs is reported as such.
//! let script = read("cat $file", None);
//! assert_eq!(script.effects[0].target, Target::Unknown("$file".to_owned()));
//! ```
//!
//! Callers that know more pass a [`Context`]: an [`Environment`] that answers questions about variables, files and directories,
//! and entries for programs of their own.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests read fixtures and take times"
    ),
    allow(clippy::too_many_lines, reason = "a table of cases is as long as it is")
)]

mod analysis;
pub mod apply_patch;
mod matching;
mod percent;
mod programs;
mod simple_command;
mod syntax;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::rc::Rc;

pub use analysis::directories::normalise;
pub use analysis::effects::Extent;
pub use analysis::environment::{Environment, UnknownEnvironment};
pub use analysis::stream::WORK_TREE;
pub use conclaude_glob as glob;
pub use matching::{OptionMatch, PlainCommand};
pub use percent::percent_decoded;
pub use programs::action::Subcommand;
pub use programs::databases::Sql;
pub use programs::editors::formats_files;
pub use programs::harmless::UnlistedOption;
pub use programs::inline_calls::written_patterns;
pub use programs::powershell::read as read_powershell;
pub use programs::program::Program;
pub use programs::shell::is_builtin;
pub use programs::table::{
    has_subcommands, is_listed_program, locks_of, name_of as program_name, reads_variables, restores,
};
#[doc(hidden)]
pub use syntax::count::{CommandCounts, counted};
pub use syntax::placeholder;
pub use syntax::quotes::{quoted, quoted_if_needed};

/// Longer commands are not read.
pub const MAX_BYTES: usize = 64 << 10;
/// Deeper nesting of substitutions, groups and `bash -c` is not read.
pub const MAX_DEPTH: usize = 32;

/// The result of reading a command.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Script {
    /// Every simple command at any depth, in order. A command that runs another one (`sudo`, `xargs`) comes before it.
    pub commands: Vec<SimpleCommand>,
    pub effects: Vec<Effect>,
    pub doubts: Vec<Doubt>,
    /// Other parts that change how the commands run, or that run something: variables, arithmetic that sets variables, and words
    /// that another shell would run.
    pub side_effects: Vec<String>,
    /// The commands of each pipeline. Commands whose output an interpreter runs form a pipeline with it.
    pub pipelines: Vec<Vec<usize>>,
    /// Shells and interpreters that read their code from the input of the whole command, which may be a terminal.
    pub awaiting_code: Vec<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SimpleCommand {
    /// Quotes are removed, and known variables are replaced. Unknown parts stay as they are written.
    pub words: Vec<String>,
    /// The words, joined by one space.
    pub text: String,
    /// Whether its program is known.
    pub is_known: bool,
    /// The variables that are set for this command only, as `NAME=value`.
    pub assigned: Vec<String>,
    /// The variables that programs get here, also through `export`, `env` and `sudo`, as `NAME=value`.
    pub environment: Rc<Vec<String>>,
    /// Whether a redirection writes to a file other than `/dev/null`: its own, or one of a group around it.
    pub redirects_to_file: bool,
    /// Its own redirections, as `< file` and `> file`.
    pub redirects: Vec<String>,
    /// Its standard input, if that is known and its program is a database client, which would run it.
    pub input: Option<String>,
    /// Parts of its words that are unknown before it runs.
    pub unknown: Vec<UnknownPart>,
    /// Where a deleting command runs, as far as that is known: an absolute path, or a path below the current directory of the
    /// whole command.
    pub directories: Vec<String>,
    /// Whether it only runs the command that follows it: `sudo`, `xargs`.
    pub wraps: bool,
    /// Whether it is part of another command's text, which runs it: `uv run pytest`, `docker exec x ls`.
    pub inside: bool,
    /// Whether a shell on another machine runs it: `ssh host CODE`.
    pub is_remote: bool,
    /// The language of code that it runs and that is not known: what another command prints, or what a variable holds.
    pub unknown_code: Option<CodeLanguage>,
    /// The script that it runs, with its arguments: for `bash x.sh a`, this is `x.sh a`.
    pub script: Option<String>,
    /// The options or other words through which it may run or write more than its effects show.
    pub acts_by: Vec<String>,
    /// Whether it is an `ln -s`.
    pub makes_symbolic_link: bool,
    /// Which files it changes, if it changes a whole work tree.
    pub extent: Extent,
    /// If it changes a whole work tree, the commit with which that can be compared: files that are as in the commit stay as they
    /// are. `None` if the script may have changed what git compares, or if git may work on another repository.
    pub revision: Option<String>,
    /// The entry of its program, in whatever directory the program is.
    pub(crate) entry: Option<&'static Program>,
}

/// The commit that is checked out.
pub const LAST_COMMIT: &str = "HEAD";

/// What runs a piece of code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CodeLanguage {
    /// A shell. Unknown code may be any command.
    Shell,
    Other,
}

/// What code may do to files apart from reading them.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CodeAccess {
    pub writes: bool,
    /// It may move, copy or delete a whole folder.
    pub moves: bool,
    /// It runs other programs.
    pub runs: bool,
}

/// An unknown part of a word.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownPart {
    /// The index of the word.
    pub word: usize,
    /// In bytes of the word.
    pub part: Range<usize>,
    pub quoting: Quoting,
    /// Whether it may be an option or start with a sign, because the text that makes it contains one.
    pub is_spelled: bool,
}

/// What an unknown part of a word can become.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Quoting {
    /// In quotes: one word.
    Quoted,
    /// Any number of words.
    Bare,
    /// The name of a file, if one matches.
    Glob,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Effect {
    pub access: Access,
    pub target: Target,
    /// Where a relative target starts.
    pub base: Base,
    /// The index of its command.
    pub command: usize,
    /// The option that causes it, if the command does not do it without: `sort -o`, `find -delete`.
    pub option: Option<String>,
    pub brings: AdditionalFiles,
}

/// Files that may come to a path in addition to the file that its target names.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct AdditionalFiles {
    /// A directory with any content: from `mv`, `cp -r`, `ln -s` or an archive.
    pub directory: bool,
    /// Files with any name that the pattern of the target matches, including names that do not exist yet.
    pub names: bool,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Access {
    Read,
    /// The content or the mode is changed, or the file is created.
    Write,
    /// A file is written. In a directory, a formatter may change any file.
    Format,
    /// Written only if it exists: `git checkout NAME`, if the name may be that of a branch.
    Update,
    Delete,
    MakeDirectory,
    /// It gets another name, through which it can be read and written.
    Link,
    /// A container gets it and may do anything to it.
    Mount,
    /// The checkout in this directory changes, or its index: `git -C DIRECTORY merge`, `patch -d DIRECTORY`. Its files are
    /// separate effects.
    Checkout,
}

impl Access {
    /// What is done to a file, as words before its path.
    #[must_use]
    pub fn does(self) -> &'static str {
        match self {
            Access::Read => "reads",
            Access::Write => "writes",
            Access::Format => "formats",
            Access::Update => "changes",
            Access::Delete => "deletes",
            Access::MakeDirectory => "creates the directory",
            Access::Link => "links",
            Access::Mount => "mounts",
            Access::Checkout => "changes what is checked out in",
        }
    }

    /// Whether a file may change. Making a directory changes none. Anything might be written through a link.
    #[must_use]
    pub fn changes_files(self) -> bool {
        matches!(self, Access::Write | Access::Format | Access::Update | Access::Delete | Access::Link)
    }
}

#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Target {
    Path(String),
    /// A pattern of the shell (`*`, `?`, `[…]`, `\` before quoted characters), where `**/` crosses directories. If
    /// nothing matches, it is the path itself.
    Glob(String),
    /// A file, or a directory with everything in it.
    Tree(String),
    /// Each match of a pattern. Like `Tree`, a directory with everything in it.
    Trees(String),
    /// `directory/name` if `directory` is a directory, else the path `directory` itself: the target of `cp` and `mv`.
    Into {
        directory: String,
        name: String,
    },
    /// One of the files that a shell pattern matches. The pattern is as it is written.
    Among {
        written: String,
        pattern: String,
    },
    /// A file in an unknown directory. The end is the known last parts of its path.
    Somewhere {
        written: String,
        end: String,
    },
    /// All files of the git work tree.
    WorkTree,
    /// Unknown before it runs. The text is as it is written.
    Unknown(String),
}

/// The directory that a relative target starts from.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Base {
    /// Absolute, or relative to the current directory of the whole command; empty for that directory itself.
    At(String),
    /// `at`, if the directory `missing` does not exist: a `cd` to it failed, and the script continued.
    IfMissing {
        missing: String,
        at: String,
    },
    Unknown,
}

/// What could not be decided.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Doubt {
    /// The reason.
    Unparsable(String),
    TooLong,
    /// Nested too deeply, or its loops and variables lead to too many commands.
    TooDeep,
    /// [`Environment::is_out_of_time`] returned true. The rest was not read.
    OutOfTime,
    /// Too many functions or aliases.
    TooMany(&'static str),
    /// Code in another language, or shell code that is unknown before it runs.
    InlineCode {
        interpreter: String,
        language: CodeLanguage,
        text: String,
        /// What it may do to the files that it names, apart from reading them.
        access: CodeAccess,
        /// Where it runs.
        bases: Vec<Base>,
    },
    /// Shell code that this script makes, and that is unknown before it runs.
    UnknownScript {
        interpreter: String,
        /// The index of the command that runs it.
        command: usize,
    },
    /// A program whose arguments have unknown meanings.
    UnknownProgram {
        words: Vec<String>,
        /// The arguments that are shell patterns.
        patterns: Vec<String>,
        bases: Vec<Base>,
    },
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Doubt::Unparsable(reason) => write!(f, "it cannot be parsed: {reason}"),
            Doubt::TooLong => f.write_str("it is longer than 64 KiB"),
            Doubt::TooDeep => f.write_str("it is nested too deeply"),
            Doubt::OutOfTime => f.write_str("reading it takes longer than a hook may take"),
            Doubt::TooMany(what) => write!(f, "it defines too many {what}"),
            Doubt::InlineCode { interpreter, .. } => {
                write!(f, "the effects of code in {interpreter} are unknown")
            }
            Doubt::UnknownScript { interpreter, .. } => {
                write!(f, "the code that `{interpreter}` runs is unknown before it runs")
            }
            Doubt::UnknownProgram { words, .. } => {
                write!(f, "the effects of `{}` are unknown", words.first().map_or("", String::as_str))
            }
        }
    }
}

/// Reads a command, with the user's home directory for `~` and `$HOME`.
#[must_use]
pub fn read(command: &str, home: Option<&str>) -> Script {
    read_in(command, &Context { home, environment: &UnknownEnvironment, programs: &[] })
}

/// What is known apart from the text of a command.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The home directory.
    pub home: Option<&'a str>,
    pub environment: &'a dyn Environment,
    /// Programs of the caller, in addition to those of the table.
    pub programs: &'static [Program],
}

/// Reads a command, with a context.
#[must_use]
pub fn read_in(command: &str, context: &Context<'_>) -> Script {
    if command.len() > MAX_BYTES {
        return Script { doubts: vec![Doubt::TooLong], ..Script::default() };
    }
    match syntax::parser::parse(command, 0) {
        Ok(list) => analysis::control_flow::analyze(&list, context),
        Err(error) => Script { doubts: vec![error.into()], ..Script::default() },
    }
}

/// The parts of a command that write files, or may do so without naming them. `None` if nothing does. Deleting does not count.
#[must_use]
pub fn writes(command: &str, home: Option<&str>) -> Option<Script> {
    let mut script = read(command, home);
    script.effects.retain(|effect| matches!(effect.access, Access::Write | Access::Format | Access::Update));
    for effect in script.effects.iter_mut().filter(|effect| effect.access == Access::Format) {
        effect.access = Access::Write;
        effect.target = match std::mem::replace(&mut effect.target, Target::WorkTree) {
            Target::Path(path) => Target::Tree(path),
            Target::Glob(pattern) => Target::Trees(pattern),
            other => other,
        };
    }
    // Other programs, and code in other languages, are assumed to do what they mostly do: build and test.
    script.doubts.retain(|doubt| !matches!(doubt, Doubt::InlineCode { .. } | Doubt::UnknownProgram { .. }));
    if script.effects.is_empty() && script.doubts.is_empty() { None } else { Some(script) }
}

impl Effect {
    pub(crate) fn new(access: Access, target: Target, base: Base, command: usize) -> Effect {
        Effect { access, target, base, command, option: None, brings: AdditionalFiles::default() }
    }

    /// The path of a literal target, joined with its base.
    #[must_use]
    pub fn literal(&self) -> Option<String> {
        let path = match &self.target {
            Target::Path(path) => path,
            Target::Into { directory, .. } => directory,
            Target::Glob(_)
            | Target::Tree(_)
            | Target::Trees(_)
            | Target::Among { .. }
            | Target::Somewhere { .. }
            | Target::WorkTree
            | Target::Unknown(_) => return None,
        };
        match &self.base {
            _ if path.starts_with('/') => Some(path.clone()),
            Base::At(base) if base.is_empty() => Some(path.clone()),
            Base::At(base) => Some(format!("{}/{path}", base.trim_end_matches('/'))),
            Base::IfMissing { .. } | Base::Unknown => None,
        }
    }
}
