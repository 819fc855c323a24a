//! Which program a command calls, and what its entry in the table says about the call.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::side_effects::is_evaluated;
use crate::analysis::stream::Stream;
use crate::analysis::unknown_code::as_code;
use crate::programs::action::{Action, Output, Stdin};
use crate::programs::arguments::{self, Arguments, Call};
use crate::programs::program::{AssignedVariables, Program};
use crate::programs::tools::prints_settings;
use crate::programs::{archives, editors, launchers, table, wrappers};

/// Whether a word may name an unknown variable: `export "$x"`, but not `export A=$x`.
fn names_unknown(word: &Field) -> bool {
    let known = word.holes.first().map_or(0, |(part, _)| part.start);
    matches!(word.kind, FieldKind::Unknown | FieldKind::Tree)
        && !word.text.get(..known).unwrap_or_default().contains('=')
}

impl Analyzer<'_> {
    pub(super) fn run_program(&mut self, first: &Field, fields: &[Field], command: usize) {
        let called = table::called_name(&first.text);
        let entry = self.script.commands.get(command).and_then(|command| command.entry);
        let program = if called.is_some() { entry } else { None };
        if let Some(program) = program {
            self.builtin_variables(program, fields);
        }
        self.program_on_path(fields, command);
        let only_uses_files = |program: &Program| {
            matches!(program.action, Action::Nothing | Action::Each(..) | Action::Trees(..))
        };
        if !program.is_some_and(only_uses_files) {
            self.programs_of_path(command);
        }
        if program.is_some_and(|program| program.runs_package_scripts) {
            self.package_scripts(fields);
        }
        let is_function = self.call(&first.text, fields.get(1..).unwrap_or_default());
        let name = called.unwrap_or_default();
        match program {
            Some(program) if !(is_function && matches!(program.action, Action::Unknown)) => {
                let words = fields.get(1..).unwrap_or_default();
                let (arguments, length) =
                    arguments::parse_up_to(program.options, words, program.ends_at_operand);
                if program.ends_at_operand {
                    self.options_after_empty_words(fields, length + 1, command);
                }
                self.files_of_flags(program.options, &arguments, command);
                self.acting_subcommands(program, words, command);
                let rest = words.get(length..).unwrap_or_default();
                let directories = arguments.directories(program.options);
                let call = Call { program, name, fields, arguments, rest, command };
                if directories.is_empty() {
                    self.act(&call);
                } else {
                    self.in_directory(&directories, |analyzer| analyzer.act(&call));
                }
            }
            // The commands in it print its output.
            _ if is_function => self.streams.output = Stream::Nothing,
            _ => {
                self.dashed_git(first, fields);
                self.unknown_program(fields);
                self.program_file(first, fields.get(1..).unwrap_or_default(), command);
            }
        }
    }

    /// The variables that the arguments of a builtin name, and the array indexes that it evaluates.
    fn builtin_variables(&mut self, program: &Program, fields: &[Field]) {
        if program.builtin.evaluates {
            let words = fields.iter().skip(1).map(as_code).filter(|word| is_evaluated(word));
            words.for_each(|word| self.evaluate(&word));
        }
        let sets = match program.builtin.sets {
            AssignedVariables::Nothing => program.builtin.declares,
            AssignedVariables::Arguments => true,
            AssignedVariables::ByOption(name) => fields.get(1).is_some_and(|option| option.text == name),
        };
        if sets && fields.iter().skip(1).any(names_unknown) {
            self.state.options.has_sourced = true;
        }
    }

    /// A database client runs its standard input like its arguments.
    pub(super) fn takes_input(&mut self, command: usize) {
        if matches!(self.scope.input, Stream::Inherited) {
            return self.awaits_commands(command);
        }
        let Stream::Text(printed) = &self.scope.input else { return };
        let Some(command) = self.script.commands.get_mut(command) else { return };
        let stdin = command.entry.map_or(Stdin::Data, |program| program.stdin);
        if matches!(stdin, Stdin::Sql { .. } | Stdin::Queries) {
            command.input = Some(printed.text.text.clone());
        }
    }

    /// A program that runs what is typed into it: an editor, a pager, a database client without a statement.
    fn awaits_commands(&mut self, command: usize) {
        const ENOUGH: [&str; 12] = [
            "-?",
            "-V",
            "-c",
            "-cmd",
            "-e",
            "-f",
            "-l",
            "--command",
            "--execute",
            "--file",
            "--help",
            "--list",
        ];
        let Some(command) = self.script.commands.get(command) else { return };
        let Some(program) = command.entry else { return };
        let is_statement = |word: &String| {
            word.starts_with(['.', '\\'])
                || word.contains(char::is_whitespace)
                || ENOUGH.contains(&word.as_str())
                || word.starts_with("--command=")
                || word.starts_with("--version")
        };
        let is_client = matches!(program.stdin, Stdin::Sql { .. });
        if program.takes_commands || is_client && !command.words.iter().skip(1).any(is_statement) {
            self.script.awaiting_code.push(command.program().to_owned());
        }
    }

    pub(crate) fn unknown_program(&mut self, fields: &[Field]) {
        if fields.len() > 1 {
            self.unknown_words(fields);
            self.compiled(fields);
        }
        if self.streams.prints.is_some() && prints_settings(self, fields) {
            self.streams.output = Stream::Nothing;
        }
    }

    /// Touches the operands of a program except the first ones, or all of them with one of its options.
    fn touch_operands(&mut self, call: &Call<'_>, access: Access, skipped: usize, is_recursive: bool) {
        let skipped = if call.arguments.has(call.program.whole) { 0 } else { skipped };
        for operand in call.arguments.operands.iter().skip(skipped) {
            match access {
                _ if is_recursive => self.touch_tree(access, operand, call.command),
                Access::Read if matches!(call.program.action, Action::Each(..)) => {
                    self.reads(operand, call.command);
                }
                _ => self.touch(access, operand, call.command),
            }
        }
    }

    /// Does what the entry of a program says.
    pub(crate) fn act(&mut self, call: &Call<'_>) {
        let program = call.program;
        let operands = &call.arguments.operands;
        match program.action {
            Action::Unknown if program.only_checks_in(&call.arguments) => self.unknown_words(call.fields),
            Action::Unknown => {
                self.unknown_program(call.fields);
                if program.subcommand_options.is_some() {
                    launchers::changes_other_directories(self, call);
                }
                if let Some((first, rest)) = call.fields.split_first() {
                    self.program_file(first, rest, call.command);
                }
            }
            Action::Nothing => {}
            // Its output is part of what it reads.
            Action::Each(Access::Read, _)
                if operands.is_empty()
                    && matches!(
                        self.scope.input,
                        Stream::Files(_) | Stream::FileLines(_) | Stream::HashLines
                    )
                    && matches!(program.output, Output::Lines) =>
            {
                self.streams.output = self.scope.input.clone();
            }
            Action::Each(access, skipped) => self.touch_operands(call, access, skipped, false),
            Action::Trees(access, skipped) => {
                let is_recursive = call.arguments.has(&["-r", "-R", "--recursive"]);
                self.touch_operands(call, access, skipped, is_recursive);
            }
            Action::Wrap(operands) => wrappers::wrapper(self, call, operands),
            Action::Launch => launchers::launch(self, call),
            Action::Texts(texts) => launchers::texts(self, call, texts),
            Action::Command(text) => wrappers::run_command_text(self, call, text),
            Action::Format(formatting) => editors::format(self, call, formatting),
            Action::Compress(compression) => archives::compress(self, call, compression),
            Action::Special(run) => run(self, call),
        }
    }
}

/// What the options and the subcommands of a program do.
impl Analyzer<'_> {
    /// A rule that allows the program must name such a subcommand, or such an option of a subcommand.
    fn acting_subcommands(&mut self, program: &Program, words: &[Field], command: usize) {
        let before = program.subcommand_options.unwrap_or_default();
        let (_, length) = arguments::parse_up_to(before, words, true);
        let Some(first) = words.get(length) else { return };
        let other_names = program.group_names(&first.text);
        // Most are for other subcommands.
        let is_for_it = |acting: &&str| {
            let is_named = |name: &str| {
                acting.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            };
            is_named(&first.text) || other_names.iter().any(|name| is_named(name))
        };
        let all = program.acting_subcommands.iter().copied().chain(program.launching());
        for acting in all.filter(is_for_it) {
            let (name, last) = match acting.rsplit_once(' ') {
                Some((name, option)) if option.starts_with('-') => (name, option),
                Some((_, last)) => (acting, last),
                None => (acting, acting),
            };
            let Some(rest) = launchers::after(program, name, words) else { continue };
            let option = last.trim_end_matches('=');
            let is_given = || arguments::parse(last, rest).flags.iter().any(|(flag, _)| flag == option);
            if !last.starts_with('-') || is_given() {
                self.acts_by(option, command);
            }
        }
    }

    /// A program may change anything in the directory that it works in, or in that of its project file. One in a variable is not asked
    /// about: mostly it is inside.
    fn works_in(&mut self, directory: &Field, command: usize) {
        let only_reads = self.script.commands.get(command).is_some_and(|command| {
            let words: Vec<Field> =
                command.words.iter().skip(1).map(|word| Field::literal(word.as_str())).collect();
            command.entry.is_some_and(|program| launchers::only_reads(program, &words))
        });
        let is_pattern = directory.kind == FieldKind::Glob && directory.written.is_none();
        if !only_reads && (directory.is_literal() || is_pattern) {
            self.touch(Access::Checkout, directory, command);
        }
    }

    pub(crate) fn files_of_flags(&mut self, flags: &str, arguments: &Arguments, command: usize) {
        for (name, value) in &arguments.flags {
            if arguments::acts_alone(flags, name) {
                self.acts_by(name, command);
            }
            let Some(value) = value else { continue };
            let access = arguments::file_access(flags, name);
            if access == Some(b'p') {
                self.works_in(value, command);
            }
            match access {
                Some(b'r') => self.reads(value, command),
                Some(b'x') => self.as_part(|analyzer| {
                    analyzer.subshell(|analyzer| analyzer.code(value, "sh"));
                }),
                Some(b'c') => self.acts_by(name, command),
                // Another directory may have other settings files.
                Some(b'd' | b'p') if !is_below(&value.text) => self.acts_by(name, command),
                Some(b'f') => {
                    self.reads(value, command);
                    self.acts_by(name, command);
                }
                Some(b'w') => {
                    self.by_option(name, |analyzer| analyzer.touch(Access::Write, value, command));
                    self.wrote(value, Stream::Unknown, false, vec![command]);
                }
                Some(b'o') => {
                    self.by_option(name, |analyzer| analyzer.touch(Access::Write, value, command));
                    self.built(value, command);
                }
                Some(b'l') => {
                    self.reads(value, command);
                    let files = self.listed_in(value);
                    files.iter().for_each(|file| self.touch_tree(Access::Read, file, command));
                }
                _ => {}
            }
        }
    }

    /// Reads a file, where `-` is the standard input.
    pub(crate) fn reads(&mut self, field: &Field, command: usize) {
        if field.text != "-" {
            self.touch(Access::Read, field, command);
        }
    }
}

/// Whether a path stays below the current directory.
fn is_below(path: &str) -> bool {
    !path.starts_with(['/', '~']) && path.split('/').all(|part| part != "..")
}
