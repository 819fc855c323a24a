//! The analyzer: the state at one point of a script, and everything found so far.

use crate::analysis::combinations::Combinations;
use crate::analysis::definitions::FunctionBody;
use crate::analysis::disk::Disk;
use crate::analysis::environment::Environment;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::open_files::OpenInputs;
use crate::analysis::parallel::Parallel;
use crate::analysis::state::State;
use crate::analysis::stream::Stream;
use crate::analysis::variables::SavedVariable;
use crate::programs::code_prose;
use crate::programs::git::RepositoryChange;
use crate::programs::program::Program;
use crate::programs::table;
use crate::{Context, Doubt, MAX_DEPTH, Script};

/// Loops, functions and possible values can multiply commands, so the work is limited. One unit is about one byte that is
/// examined.
const MAX_WORK: usize = 1 << 20;

/// The time is checked after this much work.
const WORK_BETWEEN_LOOKS: usize = 1 << 12;

/// Every `git clean` looks at each of them.
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
    pub(super) parallel: Parallel,
    /// The code that a shell runs when it ends, with the state in which the trap was set.
    pub(super) traps: Vec<(Trap, State)>,
    /// Files that were taken out of git's index.
    untracked: Vec<Field>,
    /// Directories that were copied with all that is in them, and where to, from the directory in which the command starts.
    pub(super) copies: Vec<(String, String)>,
    /// Whether the script changed git's index in a way that is not followed.
    pub(crate) has_other_index: bool,
    /// What the git commands so far may have changed.
    pub(crate) repository_change: RepositoryChange,
    /// Commands in loops that change a whole work tree: later commands of the loop come before them as well.
    compared_in_loops: Vec<usize>,
    /// Variables that are used with an operation: `${x:-y}`.
    pub(super) operated: Vec<String>,
    /// Whether the words of the current command are those without a `TMPDIR`.
    pub(super) without_tmpdir: bool,
    /// Doubts about code with its sentences. Each counts if a command from this index on may run a file with such content.
    pub(super) prose: Vec<(usize, Doubt)>,
    /// How many git settings files have been read through includes.
    pub(crate) git_includes: usize,
    work: usize,
    /// The work that was done at the last check of the time.
    work_in_time: usize,
}

/// What a shell runs again later, with the variables of that time.
#[derive(Clone)]
pub(super) enum Trap {
    Code(Field),
    /// A prompt: a text that is expanded.
    Prompt(String),
}

/// What holds for a part of the script and is restored after it: see [`Analyzer::restoring`].
#[derive(Clone)]
pub(super) struct Scope {
    /// The command's input.
    pub(super) input: Stream,
    /// The file that the input comes from, if it is one.
    pub(super) input_file: Option<Field>,
    /// The file of the script that is about to run.
    pub(super) script_file: Option<Field>,
    /// The name that `exec -a` gives a program.
    pub(super) given_name: Option<Field>,
    /// The command runs only if these files are missing.
    pub(super) missing: Vec<String>,
    /// How many redirections to a file surround the command.
    pub(super) redirected: usize,
    /// How many commands around this one run it as part of their own text, and how many of those run it on another machine.
    pub(super) inside: usize,
    pub(super) elsewhere: usize,
    /// Whether a shell on another machine runs it.
    pub(super) is_remote: bool,
    /// How many loops are around the command.
    pub(super) loops: usize,
    /// How many parts of the script around it run in parallel, or at an unknown time.
    pub(super) unordered: usize,
    /// How deeply it is nested.
    pub(super) depth: usize,
    /// How many copied programs and scripts, under other names, run it.
    pub(super) copies: usize,
    /// The first command of the current command's substitutions, and the first one of its pipeline.
    pub(super) start: usize,
    pub(super) pipeline: usize,
}

/// The output of commands.
pub(super) struct Streams {
    /// Of the last command.
    pub(super) output: Stream,
    /// Of the process substitutions of the current command.
    pub(super) process: Stream,
    /// Whether there are any.
    pub(super) has_process: bool,
    /// Whether `exec`, or the command at hand, opened another descriptor for reading.
    pub(super) has_inputs: bool,
    /// By all commands so far, where a command or a file gets it.
    pub(super) prints: Option<Stream>,
    /// The files that `exec` opened for writing.
    pub(super) opened: Vec<Field>,
    pub(super) open_inputs: OpenInputs,
}

/// The defined functions, with the state at their definition, and the called ones.
#[derive(Default)]
pub(super) struct FunctionLog {
    pub(super) defined: Vec<(FunctionBody, State)>,
    pub(super) called: Vec<FunctionBody>,
    /// The variables as they were before they became local, for each running function.
    pub(super) locals: Vec<Vec<SavedVariable>>,
}

/// The states in which a part of the script may have been left early. They are joined at its end.
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
                given_name: None,
                missing: Vec::new(),
                redirected: 0,
                inside: 0,
                elsewhere: 0,
                is_remote: false,
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
                has_inputs: false,
                prints: None,
                opened: Vec::new(),
                open_inputs: OpenInputs::default(),
            },
            combinations: Combinations::default(),
            functions: FunctionLog::default(),
            jumps: Jumps::default(),
            parallel: Parallel::default(),
            traps: Vec::new(),
            untracked: Vec::new(),
            prose: Vec::new(),
            copies: Vec::new(),
            has_other_index: false,
            repository_change: RepositoryChange::Nothing,
            compared_in_loops: Vec::new(),
            operated: Vec::new(),
            without_tmpdir: false,
            git_includes: 0,
            work: 0,
            work_in_time: 0,
        }
    }

    /// An analyzer for the same script from its start, which adds to what was found.
    pub(super) fn again(self) -> Analyzer<'a> {
        Analyzer {
            script: self.script,
            untracked: self.untracked,
            has_other_index: self.has_other_index,
            repository_change: self.repository_change,
            compared_in_loops: self.compared_in_loops,
            prose: self.prose,
            parallel: self.parallel,
            work: self.work,
            work_in_time: self.work_in_time,
            ..Analyzer::new(&self.context)
        }
    }

    pub(crate) fn compared_in_loop(&mut self, command: usize) {
        if self.scope.loops > 0 {
            self.compared_in_loops.push(command);
        }
    }

    pub(crate) fn into_script(mut self) -> Script {
        for index in self.compared_in_loops {
            if let Some(command) = self.script.commands.get_mut(index) {
                command.revision.take_if(|commit| !self.repository_change.keeps(commit));
            }
        }
        for (after, doubt) in self.prose {
            // The sources of a project could as well be changed by a tool for files.
            let is_source = !code_prose::names_build_file(&doubt);
            let mut later = self.script.commands.iter().skip(after);
            if later.any(|command| command.may_run_written_code() && !(is_source && command.builds_project()))
            {
                self.script.doubts.push(doubt);
            }
        }
        self.script
    }

    /// The home directory.
    pub(crate) fn home(&self) -> Option<&'a str> {
        self.context.home
    }

    pub(super) fn environment(&self) -> &'a dyn Environment {
        self.context.environment
    }

    /// It may still be another variable at the end.
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

/// What the current command reads and prints.
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

    /// Whether a command or a file receives the output.
    pub(crate) fn is_captured(&self) -> bool {
        self.streams.prints.is_some()
    }

    /// The commands of the current pipeline up to this one.
    pub(crate) fn pipeline_up_to(&self, command: usize) -> Vec<usize> {
        (self.scope.pipeline..command + 1).collect()
    }
}

/// Limits and doubts.
impl Analyzer<'_> {
    /// Counts work. Returns false if it was too much, which ends the analysis.
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

    /// An unknown program with its arguments.
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

    /// The commands from here on pass their output to each other.
    pub(super) fn joined(&mut self, start: usize) {
        self.joined_with(Vec::new(), start);
    }

    /// Like `joined`, but with some earlier commands.
    pub(super) fn joined_with(&mut self, mut commands: Vec<usize>, start: usize) {
        commands.extend(start..self.script.commands.len());
        let length = |index: &usize| self.script.commands.get(*index).map_or(0, |command| command.text.len());
        let length = commands.iter().map(length).sum();
        if commands.len() > 1 && self.work(length) {
            self.script.pipelines.push(commands);
        }
    }
}

/// Parts of a script that restore something after them.
impl Analyzer<'_> {
    /// Runs something, and then restores one part of the state or of the scope.
    pub(crate) fn restoring<P: Clone, T>(
        &mut self,
        part: fn(&mut Self) -> &mut P,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let value = part(self).clone();
        self.with(part, value, run).0
    }

    /// Runs something with another value of one part, and then restores the part. Also returns its value at the end.
    pub(crate) fn with<P, T>(
        &mut self,
        part: fn(&mut Self) -> &mut P,
        value: P,
        run: impl FnOnce(&mut Self) -> T,
    ) -> (T, P) {
        let outer = std::mem::replace(part(self), value);
        let result = run(self);
        let inner = std::mem::replace(part(self), outer);
        (result, inner)
    }

    /// Runs something, and then restores the scope.
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

    /// Runs something in parallel with other commands, or in an unknown order.
    pub(super) fn unordered<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let unordered: fn(&mut Self) -> &mut usize = |analyzer| &mut analyzer.scope.unordered;
        self.restoring(unordered, |analyzer| {
            analyzer.scope.unordered += 1;
            run(analyzer)
        })
    }

    /// Runs something in a subshell: only its changes on the disk stay.
    pub(crate) fn subshell(&mut self, run: impl FnOnce(&mut Self)) {
        let run = |analyzer: &mut Self| {
            run(analyzer);
            analyzer.end_shell();
        };
        let with_own_traps = |analyzer: &mut Self| {
            analyzer.with(|analyzer| &mut analyzer.traps, Vec::new(), run);
        };
        let with_own_jumps = |analyzer: &mut Self| {
            analyzer.with(|analyzer| &mut analyzer.jumps, Jumps::default(), with_own_traps);
        };
        let ((), end) = self.with(|analyzer| &mut analyzer.state, self.state.clone(), with_own_jumps);
        self.state.disk = end.disk;
    }

    /// A shell ends: runs its traps, and joins the state of the disk at earlier exits.
    pub(super) fn end_shell(&mut self) {
        for (trap, state) in std::mem::take(&mut self.traps) {
            if self.state == state {
                continue;
            }
            self.as_part(|analyzer| match &trap {
                Trap::Code(code) => analyzer.code(code, "bash"),
                Trap::Prompt(text) => analyzer.evaluate(text),
            });
        }
        let Jumps { loops, outer_loops, returns, exits } = std::mem::take(&mut self.jumps);
        let left = [loops, outer_loops, returns].into_iter().flatten().map(|state| state.disk);
        for disk in left.chain(exits) {
            self.state.disk = self.state.disk.or_earlier(&disk);
        }
    }

    /// Runs something in each of several ways, from the same state. Afterwards, one of them has happened.
    pub(crate) fn one_of<T>(&mut self, ways: impl IntoIterator<Item = T>, mut run: impl FnMut(&mut Self, T)) {
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
}
