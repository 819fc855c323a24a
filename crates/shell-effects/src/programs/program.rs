//! An entry of the table of programs: everything known about one program.

use crate::Access::{self, Read};
use crate::analysis::analyzer::Analyzer;
use crate::programs::action::{Action, Output, Stdin, Subcommand, SubcommandAction, Transfer};
use crate::programs::arguments::{Arguments, Call, Flags};
use crate::programs::languages::SourceLanguage;
use crate::programs::table;

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
    /// The arguments with which it prints another directory that it knows by itself.
    pub(crate) directories: &'static [&'static str],
    /// Whether it prints only the name of a file, without a `/`.
    pub(crate) prints_name: bool,
    /// Files that it runs or obeys when it starts: `~/FILE` in the home directory, `$NAME` as a variable names it, `FILE` in the
    /// current directory.
    pub(crate) start_up: &'static [&'static str],
    /// The language of the code that it runs, if that is not a shell's.
    pub(crate) language: Option<SourceLanguage>,
    /// The lock files that it writes as a package manager.
    pub(crate) locks: &'static [&'static str],
    /// The subcommands with which it writes files back as they were committed.
    pub(crate) restoring: &'static [&'static str],
    /// The name of a database that ends with it.
    pub(crate) passing_database: Option<&'static str>,
    /// For rules that allow it: the subcommands that run or write something, which a rule must name. `save -o=` is an option of one.
    /// Those that launch a command are in `subcommands`.
    pub(crate) acting_subcommands: &'static [&'static str],
    /// The options with which it only checks its source files, without running them or writing what they compile to. An empty one
    /// means always.
    pub(crate) only_checks: &'static [&'static str],
    /// Whether it builds, checks or tests a project that is not in Python.
    pub(crate) builds_project: bool,
    pub(crate) operands: OperandKind,
    /// For rules that allow it: the options that neither run, load nor write anything. If it has such a list, any other option must
    /// be named.
    pub(crate) harmless: Flags,
    /// Whether it runs commands that the user types while it shows something.
    pub(crate) takes_commands: bool,
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

/// The operands of a program that works in a directory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OperandKind {
    /// The first one is a subcommand.
    Subcommand,
    /// Each is a target, and so a subcommand.
    Target,
    Directory,
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
            directories: &[],
            prints_name: false,
            start_up: &[],
            language: None,
            locks: &[],
            restoring: &[],
            passing_database: None,
            acting_subcommands: &[],
            only_checks: &[],
            builds_project: false,
            operands: OperandKind::Subcommand,
            harmless: "",
            takes_commands: false,
        }
    }

    /// Its options that take a value, separated by blanks: `-x=` takes one, `-x=r` a file that it reads, `-x=w` one that it
    /// writes, `-x=o` a program that it builds from the project, `-x=d` the directory in which it works, `-x?` a value only if
    /// that is part of the same word.
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

    pub(crate) const fn directories(mut self, arguments: &'static [&'static str]) -> Program {
        self.directories = arguments;
        self
    }

    pub(crate) const fn prints_name(mut self) -> Program {
        self.prints_name = true;
        self
    }

    pub(crate) const fn harmless(mut self, options: Flags) -> Program {
        self.harmless = options;
        self
    }

    pub(crate) const fn takes_commands(mut self) -> Program {
        self.takes_commands = true;
        self
    }

    /// A rule that allows it must name these subcommands, and those that launch a command.
    pub(crate) const fn acting(mut self, subcommands: &'static [&'static str]) -> Program {
        self.acting_subcommands = subcommands;
        self
    }

    pub(crate) const fn only_checks(mut self, options: &'static [&'static str]) -> Program {
        self.only_checks = options;
        self
    }

    /// Whether it only checks the files of this call.
    pub(crate) fn only_checks_in(&self, arguments: &Arguments) -> bool {
        let is_given = |option: &&str| {
            option.is_empty() || arguments.flags.iter().any(|(flag, value)| flag == option && value.is_none())
        };
        // `--noEmit false`
        let is_off =
            arguments.operands.iter().any(|operand| operand.text == "false" || !operand.is_literal());
        self.only_checks.iter().any(is_given) && !is_off
    }

    pub(crate) const fn builds_project(mut self) -> Program {
        self.builds_project = true;
        self
    }

    pub(crate) const fn operands(mut self, operands: OperandKind) -> Program {
        self.operands = operands;
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

    pub(crate) const fn restoring(mut self, subcommands: &'static [&'static str]) -> Program {
        self.restoring = subcommands;
        self
    }

    pub(crate) const fn passing_database(mut self, name: &'static str) -> Program {
        self.passing_database = Some(name);
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

    /// The other names of a subcommand that has subcommands itself.
    pub(crate) fn group_names(&self, word: &str) -> &'static [&'static str] {
        match self.subcommand(word) {
            Some(known) if matches!(known.action, SubcommandAction::Group) => known.names,
            _ => &[],
        }
    }

    /// The names of the subcommands that launch a command. If that is always a program with subcommands, those count instead:
    /// `yarn workspace`.
    pub(crate) fn launching(&self) -> impl Iterator<Item = &'static str> {
        let launches = |subcommand: &&Subcommand| match subcommand.action {
            SubcommandAction::Launch(launch) => {
                !launch.program.first().is_some_and(|name| table::has_subcommands(name))
            }
            _ => false,
        };
        let names = self.subcommands.iter().filter(launches).flat_map(|subcommand| subcommand.names);
        names.copied().filter(|name| !name.is_empty())
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
