//! What a shell command reads, writes, deletes and runs, from nothing but its text.
//!
//! A command is parsed as bash would parse it ([`MAX_BYTES`] and [`MAX_DEPTH`] are the limits), followed in the order in which it
//! would run, and each program in it is looked up in one table of programs. Nothing is executed and nothing is looked up on the
//! disk: globs are expanded and directories are examined by the caller. What cannot be decided is a
//! [`Doubt`]; nothing is left out silently.
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
//! Callers that know more pass a [`Context`]: an [`Environment`] that answers questions about variables and directories, and
//! entries for programs of their own.

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
pub mod glob;
mod matching;
mod paths;
mod programs;
mod quoting;
mod simple_command;
mod syntax;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::rc::Rc;

pub use analysis::environment::{Environment, UnknownEnvironment};
pub use analysis::extent::Extent;
pub use analysis::stream::WORK_TREE;
pub use matching::{OptionMatch, PlainCommand};
pub use paths::normalise;
pub use programs::databases::Sql;
pub use programs::powershell::read as read_powershell;
pub use programs::program::{Program, Subcommand};
pub use programs::shell::is_builtin;
pub use programs::table::{has_subcommands, name_of as program_name};
pub use quoting::{quoted, quoted_if_needed};
pub use syntax::placeholder;

/// Longer commands are not read.
pub const MAX_BYTES: usize = 64 << 10;
/// Deeper nesting of substitutions, groups and `bash -c` is not read.
pub const MAX_DEPTH: usize = 32;

/// What was understood of a command.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Script {
    /// Every simple command at any depth, in order. Those that run another command (`sudo`, `xargs`) are followed by it.
    pub commands: Vec<SimpleCommand>,
    pub effects: Vec<Effect>,
    pub doubts: Vec<Doubt>,
    /// What changes how the commands run, or runs something itself, without being one of them: variables that are set,
    /// arithmetic that sets some, and words that another shell would run.
    pub side_effects: Vec<String>,
    /// The commands of each pipeline, and those whose output an interpreter runs, together with that.
    pub pipelines: Vec<Vec<usize>>,
    /// Shells and interpreters that read their code from the input of the whole command, which may be a terminal.
    pub awaiting_code: Vec<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SimpleCommand {
    /// Quotes removed, variables replaced where their value is known; what is not known stays as it is written.
    pub words: Vec<String>,
    /// The words, joined by one space.
    pub text: String,
    /// Whether it is known which program it is.
    pub is_known: bool,
    /// The variables that are set only for it, as `NAME=value`.
    pub assigned: Vec<String>,
    /// The variables that programs are given here, also by `export`, `env` and `sudo`, as `NAME=value`.
    pub environment: Rc<Vec<String>>,
    /// Whether it writes to a file other than `/dev/null` by a redirection, its own or that of a group around it.
    pub redirects_to_file: bool,
    /// Its own redirections, as `< file` and `> file`.
    pub redirects: Vec<String>,
    /// What it gets on its standard input, where that is known and a program of databases, which runs it.
    pub input: Option<String>,
    /// Parts of its words that are not known before it runs.
    pub unknown: Vec<UnknownPart>,
    /// Where a command that deletes runs, as far as that is known: absolute, or below the current directory of the whole command.
    pub directories: Vec<String>,
    /// Whether it only runs the command that follows it: `sudo`, `xargs`.
    pub wraps: bool,
    /// Whether it is part of the text of another command, which runs it: `uv run pytest`, `docker exec x ls`.
    pub inside: bool,
    /// The language of code that it runs and that is not known: what another command prints, or what a variable holds.
    pub unknown_code: Option<CodeLanguage>,
    /// The script that it runs, with its arguments: `x.sh a` of `bash x.sh a`.
    pub script: Option<String>,
    /// The options, or other words, by which it may run or write something that its effects do not tell.
    pub acts_by: Vec<String>,
    /// Whether it is an `ln -s`.
    pub makes_symbolic_link: bool,
    /// Which files of a work tree it changes, if it changes one as a whole.
    pub extent: Extent,
    /// What is known of its program, wherever that is.
    pub(crate) entry: Option<&'static Program>,
}

/// What runs a code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CodeLanguage {
    /// A shell: code that is not known may be any command.
    Shell,
    Other,
}

/// What code may do to files, besides reading them.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CodeAccess {
    pub writes: bool,
    /// It runs other programs.
    pub runs: bool,
}

/// A part of a word that is not known before the command runs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownPart {
    /// The index of the word.
    pub word: usize,
    /// In bytes of the word.
    pub part: Range<usize>,
    pub quoting: Quoting,
    /// Whether it may be an option or start with a sign, since the text that makes it spells one.
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
    /// The option that asks for it, where the command would not do it otherwise: `sort -o`, `find -delete`.
    pub option: Option<String>,
    pub brings: Brought,
}

/// What may come to a path besides the one file that its target names.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Brought {
    /// A directory with anything in it: by `mv`, `cp -r`, `ln -s` or from an archive.
    pub directory: bool,
    /// Files with any name that the pattern of the target matches, also names that are not there yet.
    pub names: bool,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Access {
    Read,
    /// The content or the mode is changed, or the file is created.
    Write,
    /// Written if it is a file. In a directory a formatter may change any file.
    Format,
    /// Written only if it exists: `git checkout NAME`, where the name may be that of a branch.
    Update,
    Delete,
    MakeDirectory,
    /// It gets another name, through which it can be read and written.
    Link,
    /// A container gets it. What happens to it there is not known.
    Mount,
    /// What is checked out in this directory is changed, or its index: `git -C DIRECTORY merge`, `patch -d DIRECTORY`. Its files are
    /// other effects.
    Checkout,
}

impl Access {
    /// What is done to a file, in a word that its path follows.
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

    /// Whether a file may change. Making a directory changes none; through a link anything might be written.
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
    /// A file, or a directory with all that is in it.
    Tree(String),
    /// The same for each match of a pattern.
    Trees(String),
    /// `directory/name` where `directory` is a directory, else the path `directory` itself: the target of `cp` and `mv`.
    Into {
        directory: String,
        name: String,
    },
    /// One of the files that a pattern of the shell matches, as it is written.
    Among {
        written: String,
        pattern: String,
    },
    /// All files of the git work tree.
    WorkTree,
    /// Not known before it runs; as it is written.
    Unknown(String),
}

/// The directory that a relative target starts from.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Base {
    /// Absolute, or relative to the current directory of the whole command; empty for that directory itself.
    At(String),
    /// `at`, where the directory `missing` does not exist: a `cd` to it failed, and the script went on.
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
    /// [`Environment::is_out_of_time`] said so. What comes after it was not read.
    OutOfTime,
    /// More functions or aliases than are remembered.
    TooMany(&'static str),
    /// Code in another language, or shell code that is not known before it runs.
    InlineCode {
        interpreter: String,
        language: CodeLanguage,
        text: String,
        /// What it may do to the files that it names, besides reading them.
        access: CodeAccess,
        /// Where it runs.
        bases: Vec<Base>,
    },
    /// Code for a shell that this script makes, and that is not known before it runs.
    UnknownScript {
        interpreter: String,
        /// The index of the command that runs it.
        command: usize,
    },
    /// A program whose arguments we cannot tell apart.
    UnknownProgram {
        words: Vec<String>,
        /// Those of its arguments that are patterns of the shell.
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
                write!(f, "what code in {interpreter} does is not known")
            }
            Doubt::UnknownScript { interpreter, .. } => {
                write!(f, "what `{interpreter}` runs is not known before it does")
            }
            Doubt::UnknownProgram { words, .. } => {
                write!(f, "what `{}` does is not known", words.first().map_or("", String::as_str))
            }
        }
    }
}

/// Reads a command, with the user's home directory for `~` and `$HOME`.
#[must_use]
pub fn read(command: &str, home: Option<&str>) -> Script {
    read_in(command, &Context { home, environment: &UnknownEnvironment, programs: &[] })
}

/// What is known besides the text of a command.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The home directory.
    pub home: Option<&'a str>,
    pub environment: &'a dyn Environment,
    /// Programs of the caller, in addition to those of the table.
    pub programs: &'static [Program],
}

/// The same where more is known.
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

/// What of a command writes files, or may do so without saying which; none if nothing does. What it only deletes is not part of it.
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
    // Other programs, and code in other languages, are taken for what they are mostly: they build and test.
    script.doubts.retain(|doubt| !matches!(doubt, Doubt::InlineCode { .. } | Doubt::UnknownProgram { .. }));
    if script.effects.is_empty() && script.doubts.is_empty() { None } else { Some(script) }
}

impl Effect {
    pub(crate) fn new(access: Access, target: Target, base: Base, command: usize) -> Effect {
        Effect { access, target, base, command, option: None, brings: Brought::default() }
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
