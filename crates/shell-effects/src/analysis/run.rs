//! Walks through a script in the order in which it would run, and collects what it does.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::definitions::FunctionBody;
use crate::analysis::field::Field;
use crate::analysis::state::State;
use crate::analysis::stream::Redirected;
use crate::syntax::parser;
use crate::syntax::tree::{Command, Item, Join, Kind, List, Pipeline};
use crate::{Context, MAX_DEPTH, Script};

/// What a script does.
pub(crate) fn run(list: &List, context: &Context<'_>) -> Script {
    let mut analyzer = Analyzer::new(context);
    analyzer.list(list);
    analyzer.uncalled_functions();
    analyzer.script
}

impl Analyzer<'_> {
    pub(crate) fn list(&mut self, list: &List) {
        for item in list {
            if item.background {
                self.subshell(|analyzer| analyzer.item(item));
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
            without.directories.settle();
            match join {
                Join::And => self.state.directories.succeed(),
                Join::Or => {
                    self.state.directories.fail();
                    for state in skipped.drain(..) {
                        self.state.join(&state);
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
                self.state.join(&state);
            }
        }
        if !item.rest.is_empty() {
            self.blur();
        }
        self.state.directories.settle();
        for state in &skipped {
            self.state.join(state);
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
                self.input =
                    self.printing(|analyzer| analyzer.subshell(|analyzer| analyzer.command(command)));
            }
            self.subshell(|analyzer| analyzer.command(last));
        }
        self.input = outer;
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
            let content = self.printing(|analyzer| analyzer.compound(&command.kind));
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

    /// Calls a function, if there may be one of this name; whether there is one for certain.
    pub(crate) fn call(&mut self, name: &str, arguments: &[Field]) -> bool {
        let Some(function) = self.state.functions.get(name).cloned() else { return false };
        let outer = self.state.positional.replace(Rc::new(arguments.to_vec()));
        let bodies = function.bodies.as_slice().iter().map(Some);
        let none = if function.is_certain { None } else { Some(None) };
        self.one_of(bodies.chain(none), |analyzer, body| {
            let Some(FunctionBody(body)) = body else { return };
            if !analyzer.called.iter().any(|called| Rc::ptr_eq(called, body)) {
                analyzer.called.push(Rc::clone(body));
            }
            analyzer.deeper(|analyzer| analyzer.command(body));
        });
        self.state.positional = outer;
        function.is_certain
    }

    /// Functions that were only defined may be called in ways that we do not see.
    fn uncalled_functions(&mut self) {
        for (body, state) in std::mem::take(&mut self.defined) {
            if !self.called.iter().any(|called| Rc::ptr_eq(called, &body)) {
                let disk = self.state.disk.clone();
                self.state = State { positional: None, disk, ..state };
                self.command(&body);
            }
        }
    }

    /// Runs a text as a script in the current state.
    pub(crate) fn script_text(&mut self, text: &str) {
        match parser::parse(text, self.depth + 1) {
            Ok(list) => self.deeper(|analyzer| analyzer.list(&list)),
            Err(error) => self.doubt(error.into()),
        }
    }
}
