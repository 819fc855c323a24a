//! What is known at one point of a script, and what was found of it so far.

use std::rc::Rc;

use crate::analysis::around::Look;
use crate::analysis::choices::Choices;
use crate::analysis::state::State;
use crate::analysis::stream::Stream;
use crate::programs::program::Program;
use crate::programs::table;
use crate::syntax::tree::Command;
use crate::{Context, Doubt, MAX_DEPTH, Script};

/// Loops, functions and possible values lead to more commands than are written; there is an end to that. The unit is
/// about a byte that is looked at.
const MAX_WORK: usize = 1 << 20;

pub(crate) struct Analyzer<'a> {
    pub(crate) script: Script,
    pub(crate) home: Option<&'a str>,
    pub(crate) outside: Look<'a>,
    /// Programs of the caller.
    programs: &'static [Program],
    pub(crate) state: State,
    pub(crate) depth: usize,
    pub(crate) choices: Choices,
    /// What the command reads from, and what is known of what it prints.
    pub(crate) input: Stream,
    pub(crate) output: Stream,
    /// The same of the process substitutions of the command at hand.
    pub(crate) process: Stream,
    /// What was printed so far, where a command or a file gets it.
    pub(crate) prints: Option<Stream>,
    /// How many redirections to a file are around the command.
    pub(crate) redirected: usize,
    /// How many commands around this one run it as a part of their own text, and how many of them on another machine.
    pub(crate) inside: usize,
    pub(crate) elsewhere: usize,
    /// Where the substitutions of the command at hand start, and its pipeline.
    pub(crate) start: usize,
    pub(crate) pipeline: usize,
    /// The functions that were defined, with the state there.
    pub(crate) defined: Vec<(Rc<Command>, State)>,
    pub(crate) called: Vec<Rc<Command>>,
    work: usize,
}

impl<'a> Analyzer<'a> {
    pub(crate) fn new(context: &Context<'a>) -> Analyzer<'a> {
        Analyzer {
            script: Script::default(),
            home: context.home,
            outside: context.outside,
            programs: context.programs,
            state: State::new(),
            depth: 0,
            choices: Choices::default(),
            input: Stream::Inherited,
            output: Stream::Nothing,
            process: Stream::Nothing,
            prints: None,
            redirected: 0,
            inside: 0,
            elsewhere: 0,
            start: 0,
            pipeline: 0,
            defined: Vec::new(),
            called: Vec::new(),
            work: 0,
        }
    }

    /// Counts work; false when it was too much, which ends the analyzer.
    pub(crate) fn work(&mut self, amount: usize) -> bool {
        let before = self.work;
        self.work = self.work.saturating_add(amount);
        let is_over = self.work >= MAX_WORK;
        if is_over && before < MAX_WORK {
            self.doubt(Doubt::TooDeep);
        }
        !is_over
    }

    /// What is known of the program of this name.
    pub(crate) fn program(&self, name: &str) -> Option<&'static Program> {
        let own = self.programs.iter().find(|program| program.names.contains(&name));
        own.or_else(|| table::by_name(name))
    }

    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        self.script.doubts.push(doubt);
    }

    /// A program that is not known, with its arguments.
    pub(crate) fn unknown_words(&mut self, words: Vec<String>) {
        if self.elsewhere > 0 {
            return;
        }
        let bases = self.state.bases().to_vec();
        self.doubt(Doubt::UnknownProgram { words, bases });
    }

    /// The commands from here on hand their output to each other.
    pub(crate) fn joined(&mut self, start: usize) {
        self.joined_with(Vec::new(), start);
    }

    /// The same after some commands that ran before.
    pub(crate) fn joined_with(&mut self, mut commands: Vec<usize>, start: usize) {
        commands.extend(start..self.script.commands.len());
        let length = |index: &usize| self.script.commands.get(*index).map_or(0, |command| command.text.len());
        let length = commands.iter().map(length).sum();
        if commands.len() > 1 && self.work(length) {
            self.script.pipelines.push(commands);
        }
    }

    /// Runs something in a subshell: of what it changes, only what is on the disk stays.
    pub(crate) fn subshell(&mut self, run: impl FnOnce(&mut Self)) {
        let state = self.state.clone();
        run(self);
        let disk = std::mem::replace(&mut self.state, state).disk;
        self.state.disk = disk;
    }

    /// Runs something in each of several ways, from the same state. After that, one of them has happened.
    pub(crate) fn one_of<T>(&mut self, ways: impl IntoIterator<Item = T>, mut run: impl FnMut(&mut Self, T)) {
        let mut ways = ways.into_iter().peekable();
        let start = if ways.peek().is_some() { Some(self.state.clone()) } else { None };
        let mut end: Option<State> = None;
        for way in ways {
            if let (Some(start), Some(_)) = (&start, &end) {
                self.state = start.clone();
            }
            run(self, way);
            if let Some(end) = &end {
                self.state.join(end);
                self.blur();
            }
            end = Some(self.state.clone());
        }
    }

    /// Runs something one level deeper, unless that is too deep.
    pub(crate) fn deeper(&mut self, run: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            if self.script.doubts.last() != Some(&Doubt::TooDeep) {
                self.doubt(Doubt::TooDeep);
            }
            return;
        }
        self.depth += 1;
        run(self);
        self.depth -= 1;
    }
}
