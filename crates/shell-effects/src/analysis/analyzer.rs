//! The analyzer: what is known at one point of a script, and what was found of it so far.

use crate::analysis::combinations::Combinations;
use crate::analysis::definitions::FunctionBody;
use crate::analysis::disk::Disk;
use crate::analysis::environment::Environment;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::state::State;
use crate::analysis::stream::Stream;
use crate::analysis::variables::SavedVariable;
use crate::programs::program::Program;
use crate::programs::table;
use crate::{Context, Doubt, MAX_DEPTH, Script};

/// Loops, functions and possible values lead to more commands than are written; there is an end to that. The unit is
/// about a byte that is looked at.
const MAX_WORK: usize = 1 << 20;

/// The time is looked at after this much work.
const WORK_BETWEEN_LOOKS: usize = 1 << 12;

/// Each is looked at with every `git clean`.
const MAX_UNTRACKED: usize = 64;

pub(crate) struct Analyzer<'a> {
    context: Context<'a>,
    pub(super) script: Script,
    pub(crate) state: State,
    pub(super) scope: Scope,
    pub(super) streams: Streams,
    pub(super) combinations: Combinations,
    pub(super) functions: FunctionLog,
    pub(super) jumps: Jumps,
    /// What a shell runs when it ends, with the state in which that was set.
    pub(super) traps: Vec<(Field, State)>,
    /// Files that were taken out of git's index.
    untracked: Vec<Field>,
    /// Variables with more than their value used: `${x:-y}`.
    pub(super) operated: Vec<String>,
    /// Whether the words of the command at hand are those without a `TMPDIR`.
    pub(super) without_tmpdir: bool,
    /// How many files with settings of git are read, one because of the other.
    pub(crate) git_includes: usize,
    work: usize,
    /// How much of it was done when the time was looked at.
    work_in_time: usize,
}

/// What holds for a part of the script, and is restored after it: see [`Analyzer::restoring`].
#[derive(Clone)]
pub(super) struct Scope {
    /// What the command reads from.
    pub(super) input: Stream,
    /// The file that this is, if it is one.
    pub(super) input_file: Option<Field>,
    /// The file of the script that is about to run.
    pub(super) script_file: Option<Field>,
    /// Files without which the command does not run.
    pub(super) missing: Vec<String>,
    /// How many redirections to a file are around the command.
    pub(super) redirected: usize,
    /// How many commands around this one run it as a part of their own text, and how many of them on another machine.
    pub(super) inside: usize,
    pub(super) elsewhere: usize,
    /// How many loops are around the command.
    pub(super) loops: usize,
    /// How many parts of the script around it run while others do, or at a time that is not known.
    pub(super) unordered: usize,
    /// How deeply it is nested.
    pub(super) depth: usize,
    /// How many copies of programs and scripts run it, each under another name.
    pub(super) copies: usize,
    /// The first command of the substitutions of the command at hand, and the first one of its pipeline.
    pub(super) start: usize,
    pub(super) pipeline: usize,
}

/// What commands print.
pub(super) struct Streams {
    /// By the last command.
    pub(super) output: Stream,
    /// By the process substitutions of the command at hand.
    pub(super) process: Stream,
    /// Whether there are any.
    pub(super) has_process: bool,
    /// By all commands so far, where a command or a file gets it.
    pub(super) prints: Option<Stream>,
    /// The files that `exec` opened for writing.
    pub(super) opened: Vec<Field>,
}

/// The functions that were defined, with the state there, and those that were called.
#[derive(Default)]
pub(super) struct FunctionLog {
    pub(super) defined: Vec<(FunctionBody, State)>,
    pub(super) called: Vec<FunctionBody>,
    /// What variables were before they became local, for each function that runs.
    pub(super) locals: Vec<Vec<SavedVariable>>,
}

/// The states in which a part of the script may have been left early. They are joined where the script goes on.
#[derive(Default)]
pub(super) struct Jumps {
    /// By `break` and `continue`: the innermost loop.
    pub(super) loops: Option<State>,
    /// By `break 2` and the like: any loop around it.
    pub(super) outer_loops: Option<State>,
    /// By `return`: a function, or a file that is sourced.
    pub(super) returns: Option<State>,
    /// By `exit`: a shell.
    pub(super) exits: Option<Disk>,
}

impl Jumps {
    /// Adds a state to those of one kind.
    pub(super) fn add(jumps: &mut Option<State>, state: &State) {
        match jumps {
            Some(jumps) => jumps.join(state),
            None => *jumps = Some(state.clone()),
        }
    }
}

impl<'a> Analyzer<'a> {
    pub(crate) fn new(context: &Context<'a>) -> Analyzer<'a> {
        Analyzer {
            context: *context,
            script: Script::default(),
            state: State::new(),
            scope: Scope {
                input: Stream::Inherited,
                input_file: None,
                script_file: None,
                missing: Vec::new(),
                redirected: 0,
                inside: 0,
                elsewhere: 0,
                loops: 0,
                unordered: 0,
                depth: 0,
                copies: 0,
                start: 0,
                pipeline: 0,
            },
            streams: Streams {
                output: Stream::Nothing,
                process: Stream::Nothing,
                has_process: false,
                prints: None,
                opened: Vec::new(),
            },
            combinations: Combinations::default(),
            functions: FunctionLog::default(),
            jumps: Jumps::default(),
            traps: Vec::new(),
            untracked: Vec::new(),
            operated: Vec::new(),
            without_tmpdir: false,
            git_includes: 0,
            work: 0,
            work_in_time: 0,
        }
    }

    pub(crate) fn into_script(self) -> Script {
        self.script
    }

    /// The home directory.
    pub(crate) fn home(&self) -> Option<&'a str> {
        self.context.home
    }

    pub(super) fn environment(&self) -> &'a dyn Environment {
        self.context.environment
    }

    /// What is known of the program of this name.
    pub(crate) fn program(&self, name: &str) -> Option<&'static Program> {
        let own = self.context.programs.iter().find(|program| program.names.contains(&name));
        own.or_else(|| table::by_name(name))
    }
}

/// Files that git tracked before this script.
impl Analyzer<'_> {
    pub(crate) fn untracked_files(&mut self, files: &[Field]) {
        if self.untracked.len() < MAX_UNTRACKED {
            self.untracked.extend(files.iter().cloned());
        } else {
            self.doubt(Doubt::TooMany("untracked files"));
        }
    }

    pub(crate) fn untracked(&self) -> Vec<Field> {
        self.untracked.clone()
    }
}

/// What the command at hand reads and prints.
impl Analyzer<'_> {
    pub(crate) fn input(&self) -> &Stream {
        &self.scope.input
    }

    pub(crate) fn input_file(&self) -> Option<&Field> {
        self.scope.input_file.as_ref()
    }

    pub(crate) fn set_input(&mut self, input: Stream) {
        self.scope.input = input;
        self.scope.input_file = None;
    }

    pub(crate) fn output_mut(&mut self) -> &mut Stream {
        &mut self.streams.output
    }

    pub(crate) fn set_output(&mut self, output: Stream) {
        self.streams.output = output;
    }

    pub(crate) fn take_output(&mut self) -> Stream {
        std::mem::take(&mut self.streams.output)
    }

    /// Whether a command or a file gets what is printed.
    pub(crate) fn is_captured(&self) -> bool {
        self.streams.prints.is_some()
    }

    /// The commands of the pipeline at hand up to this one.
    pub(crate) fn pipeline_up_to(&self, command: usize) -> Vec<usize> {
        (self.scope.pipeline..command + 1).collect()
    }
}

/// Limits and doubts.
impl Analyzer<'_> {
    /// Counts work; false when it was too much, which ends the analysis.
    pub(crate) fn work(&mut self, amount: usize) -> bool {
        if self.work >= MAX_WORK {
            return false;
        }
        self.work = self.work.saturating_add(amount);
        if self.work >= MAX_WORK {
            self.doubt(Doubt::TooDeep);
        } else if self.work >= self.work_in_time + WORK_BETWEEN_LOOKS {
            self.work_in_time = self.work;
            if self.environment().is_out_of_time() {
                self.doubt(Doubt::OutOfTime);
                self.work = MAX_WORK;
            }
        }
        self.work < MAX_WORK
    }

    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        self.script.doubts.push(doubt);
    }

    /// A program that is not known, with its arguments.
    pub(crate) fn unknown_words(&mut self, fields: &[Field]) {
        if self.scope.elsewhere > 0 {
            return;
        }
        let bases = self.state.bases().to_vec();
        let words = fields.iter().map(Field::shown).collect();
        let is_pattern = |field: &&Field| field.kind == FieldKind::Glob && field.written.is_none();
        let patterns = fields.iter().skip(1).filter(is_pattern).map(|field| field.text.clone()).collect();
        self.doubt(Doubt::UnknownProgram { words, patterns, bases });
    }

    /// The commands from here on hand their output to each other.
    pub(super) fn joined(&mut self, start: usize) {
        self.joined_with(Vec::new(), start);
    }

    /// The same after some commands that ran before.
    pub(super) fn joined_with(&mut self, mut commands: Vec<usize>, start: usize) {
        commands.extend(start..self.script.commands.len());
        let length = |index: &usize| self.script.commands.get(*index).map_or(0, |command| command.text.len());
        let length = commands.iter().map(length).sum();
        if commands.len() > 1 && self.work(length) {
            self.script.pipelines.push(commands);
        }
    }
}

/// Parts of a script that leave something as it was before.
impl Analyzer<'_> {
    /// Runs something. One part of what is known, or of the scope, is the same afterwards as before.
    pub(crate) fn restoring<P: Clone, T>(
        &mut self,
        part: fn(&mut Self) -> &mut P,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = part(self).clone();
        let result = run(self);
        *part(self) = outer;
        result
    }

    /// Runs something; the scope is the same afterwards.
    pub(super) fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.restoring(|analyzer| &mut analyzer.scope, run)
    }

    /// Runs something one level deeper, unless that is too deep.
    pub(crate) fn deeper(&mut self, run: impl FnOnce(&mut Self)) {
        if self.scope.depth >= MAX_DEPTH {
            if self.script.doubts.last() != Some(&Doubt::TooDeep) {
                self.doubt(Doubt::TooDeep);
            }
            return;
        }
        let depth: fn(&mut Self) -> &mut usize = |analyzer| &mut analyzer.scope.depth;
        self.restoring(depth, |analyzer| {
            analyzer.scope.depth += 1;
            run(analyzer);
        });
    }

    /// Runs something that others may run before, or at the same time.
    pub(super) fn unordered<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let unordered: fn(&mut Self) -> &mut usize = |analyzer| &mut analyzer.scope.unordered;
        self.restoring(unordered, |analyzer| {
            analyzer.scope.unordered += 1;
            run(analyzer)
        })
    }

    /// Runs something in a subshell: of what it changes, only what is on the disk stays.
    pub(crate) fn subshell(&mut self, run: impl FnOnce(&mut Self)) {
        let outer = (std::mem::take(&mut self.jumps), std::mem::take(&mut self.traps));
        let disk = self.restoring(
            |analyzer| &mut analyzer.state,
            |analyzer| {
                run(analyzer);
                analyzer.end_shell();
                analyzer.state.disk.clone()
            },
        );
        self.state.disk = disk;
        (self.jumps, self.traps) = outer;
    }

    /// A shell ends: what it runs then, and what is on the disk if it ended earlier.
    pub(super) fn end_shell(&mut self) {
        for (code, state) in std::mem::take(&mut self.traps) {
            if self.state != state {
                self.as_part(|analyzer| analyzer.code(&code, "bash"));
            }
        }
        let Jumps { loops, outer_loops, returns, exits } = std::mem::take(&mut self.jumps);
        let left = [loops, outer_loops, returns].into_iter().flatten().map(|state| state.disk);
        for disk in left.chain(exits) {
            self.state.disk = self.state.disk.or_earlier(&disk);
        }
    }

    /// Runs something in a new shell with these arguments.
    pub(crate) fn new_shell(&mut self, positional: Vec<Field>, run: impl FnOnce(&mut Self)) {
        self.subshell(|analyzer| {
            analyzer.state = analyzer.state.child(positional);
            run(analyzer);
        });
    }

    /// Runs something in another directory, after the options that name it one after the other.
    pub(crate) fn in_directory<'f>(
        &mut self,
        options: impl IntoIterator<Item = &'f Field>,
        run: impl FnOnce(&mut Self),
    ) {
        self.restoring(
            |analyzer| &mut analyzer.state.directories,
            |analyzer| {
                options.into_iter().for_each(|directory| analyzer.state.directories.enter(directory));
                run(analyzer);
            },
        );
    }

    /// Runs something in each of several ways, from the same state. After that, one of them has happened.
    pub(super) fn one_of<T>(&mut self, ways: impl IntoIterator<Item = T>, mut run: impl FnMut(&mut Self, T)) {
        let mut ways = ways.into_iter();
        let Some(first) = ways.next() else { return };
        let start = self.state.clone();
        run(self, first);
        for way in ways {
            let end = std::mem::replace(&mut self.state, start.clone());
            run(self, way);
            self.state.join(&end);
            self.blur();
        }
    }

    /// Runs the command of one that only runs another.
    pub(crate) fn wrap(&mut self, command: usize, run: impl FnOnce(&mut Self)) {
        let before = self.script.commands.len();
        self.deeper(run);
        let runs_another = self.script.commands.len() > before;
        if let Some(command) = self.script.commands.get_mut(command) {
            command.wraps |= runs_another;
        }
    }

    /// Runs a command that is part of the text of another one, here or on another machine.
    pub(crate) fn inside(&mut self, command: usize, is_elsewhere: bool, run: impl FnOnce(&mut Self)) {
        self.scoped(|analyzer| {
            analyzer.scope.inside += 1;
            analyzer.scope.elsewhere += usize::from(is_elsewhere);
            analyzer.wrap(command, run);
        });
    }

    /// Runs something that is part of a command's text. Its output is discarded.
    pub(crate) fn as_part(&mut self, run: impl FnOnce(&mut Self)) {
        let output: fn(&mut Self) -> &mut Stream = |analyzer| &mut analyzer.streams.output;
        self.restoring(output, |analyzer| {
            analyzer.scoped(|analyzer| {
                analyzer.scope.inside += 1;
                analyzer.printing(run);
            });
        });
    }
}
