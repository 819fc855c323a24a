//! Walks through a script in the order in which it would run, and collects what it does.

use std::rc::Rc;

use super::choices::Choices;
use super::state::{Field, State};
use super::stream::{Redirected, Stream, Written};
use super::syntax::{Command, Item, Join, Kind, List, Pipeline};
use super::{Doubt, MAX_DEPTH, Script, parser};

/// Loops, functions and possible values lead to more commands than are written; there is an end to that. The unit is
/// about a byte that is looked at.
const MAX_WORK: usize = 1 << 20;

pub(super) struct Walk<'a> {
    pub(super) script: Script,
    pub(super) home: Option<&'a str>,
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
    /// Where the substitutions of the command at hand start, and its pipeline.
    pub(super) start: usize,
    pub(super) pipeline: usize,
    /// The functions that were defined, with the state there.
    pub(super) defined: Vec<(Rc<Command>, State)>,
    called: Vec<Rc<Command>>,
    work: usize,
}

/// What a script does.
pub(super) fn run(list: &List, home: Option<&str>) -> Script {
    let mut walk = Walk {
        script: Script::default(),
        home,
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
        start: 0,
        pipeline: 0,
        defined: Vec::new(),
        called: Vec::new(),
        work: 0,
    };
    walk.list(list);
    walk.uncalled_functions();
    walk.script
}

impl Walk<'_> {
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
        let bases = self.state.bases.clone();
        self.doubt(Doubt::UnknownProgram { words, bases });
    }

    pub(super) fn list(&mut self, list: &List) {
        for item in list {
            if item.background {
                self.subshell(|walk| walk.item(item));
            } else {
                self.item(item);
            }
        }
    }

    fn item(&mut self, item: &Item) {
        self.pipeline(&item.first);
        let mut skipped: Vec<State> = Vec::new();
        for (join, pipeline) in &item.rest {
            let mut without = self.state.clone();
            without.settle();
            match join {
                Join::And => self.state.succeed(),
                Join::Or => {
                    self.state.fail();
                    for state in skipped.drain(..) {
                        self.state.merge(&state);
                    }
                }
            }
            self.pipeline(pipeline);
            if skipped.last() != Some(&without) {
                skipped.push(without);
            }
            // A chain that is this long is no conditional any more.
            if skipped.len() > MAX_DEPTH {
                let state = skipped.swap_remove(1);
                self.state.merge(&state);
            }
        }
        if !item.rest.is_empty() {
            self.blur();
        }
        self.state.settle();
        for state in &skipped {
            self.state.merge(state);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let start = self.script.commands.len();
        let around = std::mem::replace(&mut self.pipeline, start);
        if let [command] = pipeline.as_slice() {
            self.command(command);
        } else {
            self.piped(pipeline);
            self.joined(start);
        }
        self.pipeline = around;
    }

    fn piped(&mut self, pipeline: &Pipeline) {
        let outer = self.input.clone();
        if let Some((last, others)) = pipeline.split_last() {
            for command in others {
                self.input = self.printing(|walk| walk.subshell(|walk| walk.command(command)));
            }
            self.subshell(|walk| walk.command(last));
        }
        self.input = outer;
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

    fn command(&mut self, command: &Command) {
        if !self.work(24) {
            return;
        }
        if let Kind::Simple { assignments, words } = &command.kind {
            self.simple(assignments, words, &command.redirects);
            return;
        }
        let input = self.input.clone();
        let redirected = self.redirected;
        let start = self.script.commands.len();
        let around = match command.redirects.as_slice() {
            [] => Redirected::default(),
            redirects => self.redirects_of_compound(redirects),
        };
        let body = self.script.commands.len();
        if around.leaves {
            let content = self.printing(|walk| walk.compound(&command.kind));
            if let Some((file, appends)) = &around.output {
                self.wrote(file, content, *appends, (self.pipeline..self.script.commands.len()).collect());
            }
        } else {
            self.compound(&command.kind);
        }
        self.ran(start, body);
        self.input = input;
        self.redirected = redirected;
    }

    /// Calls a function, if there is one of this name.
    pub(super) fn call(&mut self, name: &str, arguments: &[Field]) -> bool {
        let Some(body) = self.state.function(name) else { return false };
        if !self.called.iter().any(|called| Rc::ptr_eq(called, &body)) {
            self.called.push(Rc::clone(&body));
        }
        let outer = self.state.positional.replace(Rc::new(arguments.to_vec()));
        self.deeper(|walk| walk.command(&body));
        self.state.positional = outer;
        true
    }

    /// Functions that were only defined may be called in ways that we do not see.
    fn uncalled_functions(&mut self) {
        for (body, state) in std::mem::take(&mut self.defined) {
            if !self.called.iter().any(|called| Rc::ptr_eq(called, &body)) {
                self.state = state;
                self.state.positional = None;
                self.command(&body);
            }
        }
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

    /// Runs a text as a script in the current state.
    pub(super) fn script_text(&mut self, text: &str) {
        match parser::parse(text, self.depth + 1) {
            Ok(list) => self.deeper(|walk| walk.list(&list)),
            Err(error) => self.doubt(error.into()),
        }
    }
}
