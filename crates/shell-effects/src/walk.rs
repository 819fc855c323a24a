//! What is known at one point of a script, and what was found of it so far.

use std::rc::Rc;

use super::around::Look;
use super::choices::Choices;
use super::state::State;
use super::stream::{Stream, Written};
use super::syntax::Command;
use super::{Doubt, MAX_DEPTH, Script};

/// Loops, functions and possible values lead to more commands than are written; there is an end to that. The unit is
/// about a byte that is looked at.
const MAX_WORK: usize = 1 << 20;

pub(super) struct Walk<'a> {
    pub(super) script: Script,
    pub(super) home: Option<&'a str>,
    pub(super) outside: Look<'a>,
    pub(super) state: State,
    pub(super) depth: usize,
    pub(super) choices: Choices,
    /// What the command reads from, and what is known of what it prints.
    pub(super) input: Stream,
    pub(super) output: Stream,
    /// The same of the last process substitution.
    pub(super) process: Stream,
    /// What was printed so far, where a command or a file gets it.
    pub(super) prints: Option<Stream>,
    /// How many redirections to a file are around the command.
    pub(super) redirected: usize,
    /// The commands that printed what a variable holds.
    pub(super) printed: Vec<(String, Vec<usize>)>,
    /// The files that were written.
    pub(super) files: Vec<Written>,
    /// How many commands around this one run it as a part of their own text, and how many of them on another machine.
    pub(super) inside: usize,
    pub(super) elsewhere: usize,
    /// Where the substitutions of the command at hand start, and its pipeline.
    pub(super) start: usize,
    pub(super) pipeline: usize,
    /// The functions that were defined, with the state there.
    pub(super) defined: Vec<(Rc<Command>, State)>,
    pub(super) called: Vec<Rc<Command>>,
    work: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(home: Option<&'a str>, outside: Look<'a>) -> Walk<'a> {
        Walk {
            script: Script::default(),
            home,
            outside,
            state: State::new(),
            depth: 0,
            choices: Choices::default(),
            input: Stream::Inherited,
            output: Stream::Nothing,
            process: Stream::Unknown,
            prints: None,
            redirected: 0,
            printed: Vec::new(),
            files: Vec::new(),
            inside: 0,
            elsewhere: 0,
            start: 0,
            pipeline: 0,
            defined: Vec::new(),
            called: Vec::new(),
            work: 0,
        }
    }

    /// Counts work; false when it was too much, which ends the walk.
    pub(super) fn work(&mut self, amount: usize) -> bool {
        let before = self.work;
        self.work = self.work.saturating_add(amount);
        let is_over = self.work >= MAX_WORK;
        if is_over && before < MAX_WORK {
            self.doubt(Doubt::TooDeep);
        }
        !is_over
    }

    pub(super) fn doubt(&mut self, doubt: Doubt) {
        self.script.doubts.push(doubt);
    }

    /// A program that is not known, with its arguments.
    pub(super) fn unknown_words(&mut self, words: Vec<String>) {
        if self.elsewhere > 0 {
            return;
        }
        let bases = self.state.bases.clone();
        self.doubt(Doubt::UnknownProgram { words, bases });
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

    pub(super) fn subshell(&mut self, run: impl FnOnce(&mut Self)) {
        let state = self.state.clone();
        run(self);
        self.state = state;
    }

    /// Runs something one level deeper, unless that is too deep.
    pub(super) fn deeper(&mut self, run: impl FnOnce(&mut Self)) {
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
