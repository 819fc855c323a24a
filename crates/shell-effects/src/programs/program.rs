//! An entry of the table of programs: everything known about one program.

use crate::Access::{self, Read};
use crate::analysis::analyzer::Analyzer;
use crate::programs::arguments::{Call, Flags};
use crate::programs::git::GitCall;
use crate::programs::languages::SourceLanguage;

/// What is known of a program.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its names. Code compares the first one.
    pub(crate) names: &'static [&'static str],
    /// Its options that take a value, and which values are files.
    pub(crate) options: Flags,
    /// Whether its options end at the first operand, because another command follows.
    pub(crate) ends_at_operand: bool,
    /// With one of these options all operands are files.
    pub(crate) whole: &'static [&'static str],
    pub(crate) action: Action,
    pub(crate) stdin: Stdin,
    pub(crate) output: Output,
    /// The options before its subcommand, if rules compare the subcommand without them. A `+` at the start allows words with a
    /// leading `+` that choose a toolchain.
    pub(crate) subcommand_options: Option<Flags>,
    pub(crate) subcommands: &'static [Subcommand],
    pub(crate) deletes: DeletedFiles,
    pub(crate) builtin: Builtin,
    /// Whether it is a shell that quotes words like `sh`.
    pub(crate) quotes_like_sh: bool,
    /// Whether it is a shell that takes `((` for two subshells.
    pub(crate) lacks_arithmetic: bool,
    /// Whether it runs scripts of the package around it.
    pub(crate) runs_package_scripts: bool,
    /// Whether its `cp` copies files between a container and this machine.
    pub(crate) copies_from_containers: bool,
    /// Whether it is Compose, which gives variables from a file to containers.
    pub(crate) composes: bool,
    /// The editor whose commands it takes.
    pub(crate) editor: Option<Editor>,
    /// Whether it changes which file a path leads to.
    pub(crate) paths: PathChange,
    /// How it copies, moves or links files, if it does.
    pub(crate) transfer: &'static Transfer,
    /// The arguments with which it prints a directory of installed programs, which has no secrets.
    pub(crate) installed: &'static [&'static str],
    /// Files that it runs or obeys when it starts: `~/FILE` in the home directory, `$NAME` as a variable names it, `FILE` in the
    /// current directory.
    pub(crate) start_up: &'static [&'static str],
    /// The language of the code that it runs, if that is not a shell's.
    pub(crate) language: Option<SourceLanguage>,
    /// The lock files that it writes as a package manager.
    pub(crate) locks: &'static [&'static str],
    /// For rules that allow it: the options that neither run, load nor write anything. If it has such a list, any other option must
    /// be named.
    pub(crate) harmless: Flags,
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.names == other.names
    }
}

impl Eq for Program {}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Program({})", self.name())
    }
}

/// The operands that a program deletes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DeletedFiles {
    Nothing,
    Operands,
    /// Files below its directories, which come before its conditions (`find`).
    Found,
}

/// What is known about a command that is part of the shell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Builtin {
    /// Whether its arguments are assignments.
    pub(crate) declares: bool,
    /// Whether these are local to a function, and options give the variables attributes.
    pub(crate) declares_locals: bool,
    /// Whether it runs a file in the shell itself.
    pub(crate) sources: bool,
    /// Whether it evaluates an array index in its arguments, including a quoted substitution.
    pub(crate) evaluates: bool,
    pub(crate) sets: AssignedVariables,
    pub(crate) controls: Control,
}

/// The variables that a builtin sets, apart from those that it declares.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AssignedVariables {
    Nothing,
    Arguments,
    /// The one after this option.
    ByOption(&'static str),
}

/// Whether a program changes which file a path leads to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PathChange {
    Unknown,
    /// It neither makes nor copies links, and all its effects are known.
    Never,
    /// It makes links, mounts something, or runs a command that sees other files.
    Always,
}

/// An editor whose commands are read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Editor {
    Ed,
    Vi,
}

/// When a command only controls others, and touches no file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Control {
    Never,
    Always,
    /// Unless it tests a variable: `-v` evaluates an array index in a name.
    Test,
    /// If its variables are harmless.
    Read,
    /// If it runs another command, which is compared separately.
    Wrapper,
}

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

/// Where `-c TEXT` may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TextOption {
    Nowhere,
    /// Before the command.
    First,
    Anywhere,
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

/// What a transfer does with its sources.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SourceUse {
    Read,
    Move,
    Link,
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

    /// It has subcommands itself. These options may come before them.
    pub(crate) const fn group(names: &'static [&'static str], options: Flags) -> Subcommand {
        Subcommand { names, options, action: SubcommandAction::Group }
    }

    pub(crate) const fn formats(names: &'static [&'static str], formatting: Formatting) -> Subcommand {
        Subcommand { names, options: "", action: SubcommandAction::Format(formatting) }
    }
}

impl Program {
    /// A program with only its names.
    #[must_use]
    pub const fn new(names: &'static [&'static str]) -> Program {
        Program {
            names,
            options: "",
            ends_at_operand: false,
            whole: &[],
            action: Action::Unknown,
            stdin: Stdin::Data,
            output: Output::Unknown,
            subcommand_options: None,
            subcommands: &[],
            deletes: DeletedFiles::Nothing,
            builtin: Builtin {
                declares: false,
                declares_locals: false,
                sources: false,
                evaluates: false,
                sets: AssignedVariables::Nothing,
                controls: Control::Never,
            },
            quotes_like_sh: false,
            lacks_arithmetic: false,
            runs_package_scripts: false,
            copies_from_containers: false,
            composes: false,
            editor: None,
            paths: PathChange::Unknown,
            transfer: &Transfer::COPY,
            installed: &[],
            start_up: &[],
            language: None,
            locks: &[],
            harmless: "",
        }
    }

    /// Its options that take a value, separated by blanks: `-x=` takes one, `-x=r` a file that it reads, `-x=w` one that it
    /// writes, `-x=d` the directory in which it works, `-x?` a value only if that is part of the same word.
    #[must_use]
    pub const fn options(mut self, options: &'static str) -> Program {
        self.options = options;
        self
    }

    /// What its subcommands do. Unlisted ones are unknown.
    #[must_use]
    pub const fn subcommands(mut self, subcommands: &'static [Subcommand]) -> Program {
        self.subcommands = subcommands;
        match self.action {
            Action::Unknown => self.action(Action::Launch),
            _ => self,
        }
    }

    /// The options before its subcommand.
    #[must_use]
    pub const fn before_subcommand(mut self, options: &'static str) -> Program {
        self.subcommand_options = Some(options);
        self
    }

    pub(crate) const fn action(mut self, action: Action) -> Program {
        self.action = action;
        self
    }

    pub(crate) const fn whole(mut self, options: &'static [&'static str]) -> Program {
        self.whole = options;
        self
    }

    pub(crate) const fn stdin(mut self, stdin: Stdin) -> Program {
        self.stdin = stdin;
        self
    }

    pub(crate) const fn output(mut self, output: Output) -> Program {
        self.output = output;
        self
    }

    pub(crate) const fn deletes(mut self, deletes: DeletedFiles) -> Program {
        self.deletes = deletes;
        self
    }

    /// Its arguments are assignments.
    pub(crate) const fn declares(mut self) -> Program {
        self.builtin.declares = true;
        self
    }

    /// Like `declares`, but the variables are local to a function, and get attributes.
    pub(crate) const fn declares_locals(mut self) -> Program {
        self.builtin.declares_locals = true;
        self.declares()
    }

    pub(crate) const fn sources(mut self) -> Program {
        self.builtin.sources = true;
        self
    }

    /// It evaluates the index of an array in its arguments.
    pub(crate) const fn evaluates(mut self) -> Program {
        self.builtin.evaluates = true;
        self
    }

    pub(crate) const fn controls(mut self, controls: Control) -> Program {
        self.builtin.controls = controls;
        self
    }

    pub(crate) const fn quotes_like_sh(mut self) -> Program {
        self.quotes_like_sh = true;
        self
    }

    pub(crate) const fn sets(mut self, sets: AssignedVariables) -> Program {
        self.builtin.sets = sets;
        self
    }

    pub(crate) const fn runs_package_scripts(mut self) -> Program {
        self.runs_package_scripts = true;
        self
    }

    /// Its `cp` copies files between a container and this machine.
    pub(crate) const fn copies_from_containers(mut self) -> Program {
        self.copies_from_containers = true;
        self
    }

    pub(crate) const fn composes(mut self) -> Program {
        self.composes = true;
        self
    }

    pub(crate) const fn editor(mut self, editor: Editor) -> Program {
        self.editor = Some(editor);
        self
    }

    /// It changes which file a path leads to.
    pub(crate) const fn changes_paths(mut self) -> Program {
        self.paths = PathChange::Always;
        self
    }

    /// Every path leads to the same file as before.
    pub(crate) const fn keeps_paths(mut self) -> Program {
        self.paths = PathChange::Never;
        self
    }

    pub(crate) const fn transfers(mut self, transfer: &'static Transfer) -> Program {
        self.transfer = transfer;
        self
    }

    pub(crate) const fn installed(mut self, arguments: &'static [&'static str]) -> Program {
        self.installed = arguments;
        self
    }

    pub(crate) const fn harmless(mut self, options: Flags) -> Program {
        self.harmless = options;
        self
    }

    pub(crate) const fn start_up(mut self, files: &'static [&'static str]) -> Program {
        self.start_up = files;
        self
    }

    pub(crate) const fn lacks_arithmetic(mut self) -> Program {
        self.lacks_arithmetic = true;
        self
    }

    /// It runs code in this language.
    pub(crate) const fn language(mut self, language: SourceLanguage) -> Program {
        self.language = Some(language);
        self
    }

    /// Like `language`, but its input is such code too, if it has no other.
    pub(crate) const fn interprets(self, language: SourceLanguage) -> Program {
        self.stdin(Stdin::Code).language(language)
    }

    pub(crate) const fn locks(mut self, files: &'static [&'static str]) -> Program {
        self.locks = files;
        self
    }

    /// Another command follows its options.
    pub(crate) const fn ends_at_operand(mut self) -> Program {
        self.ends_at_operand = true;
        self
    }

    /// The name that code compares.
    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// What is known of a subcommand.
    pub(crate) fn subcommand(&self, name: &str) -> Option<&'static Subcommand> {
        self.subcommands.iter().find(|subcommand| subcommand.names.contains(&name))
    }

    /// The options of a subcommand that has subcommands itself.
    pub(crate) fn group_options(&self, subcommand: &str) -> Option<Flags> {
        let subcommand = self.subcommand(subcommand)?;
        if matches!(subcommand.action, SubcommandAction::Group) { Some(subcommand.options) } else { None }
    }
}

/// It touches only the files that its options name.
pub(crate) const fn nothing(names: &'static [&'static str], options: Flags) -> Program {
    Program::new(names).options(options).action(Action::Nothing)
}

/// It reads every file that it names.
pub(crate) const fn reads(names: &'static [&'static str], options: Flags) -> Program {
    each(names, options, Read, 0)
}

/// Every operand is a file, except the first `skipped` ones.
pub(crate) const fn each(
    names: &'static [&'static str],
    options: Flags,
    access: Access,
    skipped: usize,
) -> Program {
    Program::new(names).options(options).action(Action::Each(access, skipped)).deletes(deleting(access))
}

/// Like `each`, but with `-r` it touches everything in a directory.
pub(crate) const fn trees(
    names: &'static [&'static str],
    options: Flags,
    access: Access,
    skipped: usize,
) -> Program {
    Program::new(names).options(options).action(Action::Trees(access, skipped)).deletes(deleting(access))
}

const fn deleting(access: Access) -> DeletedFiles {
    if matches!(access, Access::Delete) { DeletedFiles::Operands } else { DeletedFiles::Nothing }
}

/// Its own code knows what it does.
pub(crate) const fn special(
    names: &'static [&'static str],
    options: Flags,
    run: fn(&mut Analyzer<'_>, &Call<'_>),
) -> Program {
    Program::new(names).options(options).action(Action::Special(run))
}

/// It runs the command that follows its options and this number of operands.
pub(crate) const fn wraps(names: &'static [&'static str], options: Flags, operands: usize) -> Program {
    Program::new(names).options(options).action(Action::Wrap(operands)).ends_at_operand()
}

/// A program with subcommands. Only the options before them are known.
pub(crate) const fn tool(names: &'static [&'static str], before_subcommand: Flags) -> Program {
    Program::new(names).before_subcommand(before_subcommand)
}
