//! What a program does: its action, its input and output, and its subcommands.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::programs::arguments::{Call, Flags};
use crate::programs::git::GitCall;

/// What a program does to files, and what it runs.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// It is not known.
    Unknown,
    /// It touches only the files that its options name.
    Nothing,
    /// Every operand is a file, except this number of operands at the start.
    Each(Access, usize),
    /// Like `Each`, but with `-r` it touches everything in a directory.
    Trees(Access, usize),
    /// It runs the command that follows its options and this number of operands.
    Wrap(usize),
    /// Shells run the text in some of its arguments.
    Texts(ShellTexts),
    /// It runs a command that is one text or several words.
    Command(CommandText),
    /// It changes the files that it names, or only reads them.
    Format(Formatting),
    /// It replaces files by others, with their content compressed or expanded.
    Compress(Compression),
    /// It runs the command of its subcommand. Without such a subcommand, its effects are unknown.
    Launch,
    Special(fn(&mut Analyzer<'_>, &Call<'_>)),
}

/// What a program does with its standard input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stdin {
    Data,
    /// Shell code, if it has no other code.
    Shell,
    /// Code in a language that is not read here, if it has no other code.
    Code,
    /// Statements for a database. Its arguments may also be statements.
    Sql {
        /// Whether a comment may start with `#`.
        has_hash_comments: bool,
    },
    /// Commands for a database with another language.
    Queries,
}

/// What is known about the output of a program.
#[derive(Clone, Copy)]
pub(crate) enum Output {
    Unknown,
    Nothing,
    /// The lines that it reads, unchanged.
    Lines,
    /// Output that matches a shell pattern, which depends on the arguments.
    Like(fn(&[&str]) -> Option<String>),
    /// Settings for a shell to evaluate, if its first operand is one of these; always, if the list is empty.
    Settings(&'static [&'static str]),
}

/// What is known about a subcommand.
#[derive(Clone, Copy)]
pub struct Subcommand {
    /// Each is one word or more: `exec`, `compose exec`. An empty one is the program itself.
    pub(crate) names: &'static [&'static str],
    pub(crate) options: Flags,
    pub(crate) action: SubcommandAction,
}

impl Subcommand {
    /// It runs the command that follows its options and this number of operands, or `--`.
    #[must_use]
    pub const fn runs(names: &'static [&'static str], options: &'static str, operands: usize) -> Subcommand {
        Subcommand::launches(names, options, Launch::new(operands, Place::Here))
    }

    /// Like `runs`, but the command sees other files, and one operand comes first.
    pub(crate) const fn elsewhere(names: &'static [&'static str], options: Flags) -> Subcommand {
        Subcommand::launches(names, options, Launch::new(1, Place::Elsewhere))
    }

    pub(crate) const fn launches(
        names: &'static [&'static str],
        options: Flags,
        launch: Launch,
    ) -> Subcommand {
        Subcommand { names, options, action: SubcommandAction::Launch(launch) }
    }

    /// It has subcommands itself. These options may come before them. Other names are aliases.
    pub(crate) const fn group(names: &'static [&'static str], options: Flags) -> Subcommand {
        Subcommand { names, options, action: SubcommandAction::Group }
    }

    pub(crate) const fn formats(names: &'static [&'static str], formatting: Formatting) -> Subcommand {
        Subcommand { names, options: "", action: SubcommandAction::Format(formatting) }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum SubcommandAction {
    /// It has subcommands itself.
    Group,
    Launch(Launch),
    Format(Formatting),
    Git(fn(&GitCall, &mut Analyzer<'_>)),
    /// Like `Git`, but it changes the checkout or the index.
    GitCheckout(fn(&GitCall, &mut Analyzer<'_>)),
}

/// A command that a subcommand runs.
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    /// How many operands come before the command.
    pub(crate) operands: usize,
    pub(crate) place: Place,
    /// Options that hold code for a shell instead.
    pub(crate) code: &'static [&'static str],
    /// Whether the command may also start after `--`.
    pub(crate) takes_dashes: bool,
    /// The command starts only after one of these words.
    pub(crate) starts: &'static [&'static str],
    /// Whether variables may be set before the command.
    pub(crate) takes_variables: bool,
    /// The words before the command: `kubectl` for `k3s kubectl`.
    pub(crate) program: &'static [&'static str],
    /// What the program does itself. With another word it runs that.
    pub(crate) own: &'static [&'static str],
    /// Options that hold the name of a module, which is the program.
    pub(crate) modules: &'static [&'static str],
}

impl Launch {
    pub(crate) const fn new(operands: usize, place: Place) -> Launch {
        let takes_dashes = operands > 0 && !matches!(place, Place::RemoteShell);
        Launch {
            operands,
            place,
            code: &[],
            takes_dashes,
            starts: &[],
            takes_variables: false,
            program: &[],
            own: &[],
            modules: &[],
        }
    }
}

/// Where a command runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    Here,
    /// It sees other files.
    Elsewhere,
    /// On another machine, as a text for a shell.
    RemoteShell,
}

/// Texts that a shell runs: the values of options, or the operands too.
#[derive(Clone, Copy)]
pub(crate) struct ShellTexts {
    pub(crate) options: &'static [&'static str],
    pub(crate) are_operands: bool,
    pub(crate) place: Place,
}

/// A command as one text for a shell, or as words: `su -c TEXT`, `watch TEXT`, `flock FILE COMMAND`.
#[derive(Clone, Copy)]
pub(crate) struct CommandText {
    /// How many operands come before the command, and whether they are files that it writes.
    pub(crate) operands: usize,
    pub(crate) writes_operands: bool,
    /// Whether it locks them.
    pub(crate) locks_operands: bool,
    /// The words with which it starts in the home directory of another user.
    pub(crate) login: &'static [&'static str],
    pub(crate) option: TextOption,
    /// Whether its operands are a text for a shell, unless `-x` is given.
    pub(crate) takes_text: bool,
    /// Whether its operands are the words of a command.
    pub(crate) takes_words: bool,
}

impl CommandText {
    pub(crate) const NEW: CommandText = CommandText {
        operands: 0,
        writes_operands: false,
        locks_operands: false,
        login: &[],
        option: TextOption::First,
        takes_text: false,
        takes_words: false,
    };
}

/// Where `-c TEXT` may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TextOption {
    Nowhere,
    /// Before the command.
    First,
    Anywhere,
}

/// When a formatter changes files.
#[derive(Clone, Copy)]
pub(crate) enum Formatting {
    /// With one of these options.
    If(&'static [&'static str]),
    /// Without all of these options.
    Unless(&'static [&'static str]),
}

/// How a program copies, moves or links files.
#[derive(Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) source: SourceUse,
    /// The options with which it makes links instead of copies.
    pub(crate) linking: &'static [&'static str],
    /// The options with which it copies a link as a link.
    pub(crate) keeping_links: &'static [&'static str],
    /// The options with which it leaves files that exist as they are.
    pub(crate) keeping_targets: &'static [&'static str],
    /// Whether it copies directories with an option, and the path to a file with another one.
    pub(crate) copies_directories: bool,
}

impl Transfer {
    pub(crate) const COPY: Transfer = Transfer {
        source: SourceUse::Read,
        linking: &[],
        keeping_links: &[],
        keeping_targets: &[],
        copies_directories: false,
    };
}

/// What a transfer does with its sources.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SourceUse {
    Read,
    Move,
    Link,
}

/// How a program compresses or expands files.
#[derive(Clone, Copy)]
pub(crate) struct Compression {
    /// The end of the names of compressed files.
    pub(crate) extension: &'static str,
    /// The options that give another end.
    pub(crate) extension_options: &'static [&'static str],
    /// Whether it expands files without an option.
    pub(crate) expands: bool,
    /// Whether it keeps the files unless `--rm` is given.
    pub(crate) keeps: bool,
}
