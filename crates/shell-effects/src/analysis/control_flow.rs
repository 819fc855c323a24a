//! Walks through a script in the order in which it would run: what may run, what may run more than once, and what is known
//! after that.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::definitions::FunctionBody;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::side_effects;
use crate::analysis::state::State;
use crate::analysis::stream::RedirectionEffects;
use crate::analysis::variables::{MAX_OPTIONS, Value};
use crate::syntax::parser;
use crate::syntax::tree::{Command, CommandKind, Item, Join, List, Pipeline, Word};
use crate::{Context, Doubt, MAX_DEPTH, Script};

const MAX_FUNCTIONS: usize = 64;

/// What a script does.
pub(crate) fn analyze(list: &List, context: &Context<'_>) -> Script {
    let mut analyzer = Analyzer::new(context);
    analyzer.list(list);
    analyzer.uncalled_functions();
    analyzer.into_script()
}

/// Lists, pipelines and functions.
impl Analyzer<'_> {
    pub(crate) fn list(&mut self, list: &List) {
        for item in list {
            if item.background {
                let before = self.state.disk.clone();
                self.subshell(|analyzer| analyzer.item(item));
                // What follows it may run first.
                self.state.disk = self.state.disk.join(&before);
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
            // The states of a chain this long are joined early: it would take too long to keep all of them.
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
        let around = std::mem::replace(&mut self.scope.pipeline, start);
        if let [command] = pipeline.as_slice() {
            // Not a scope of its own: `exec > FILE` redirects what follows it.
            self.command(command);
        } else {
            self.scoped(|analyzer| analyzer.piped(pipeline));
            self.joined(start);
        }
        self.scope.pipeline = around;
    }

    fn piped(&mut self, pipeline: &Pipeline) {
        let Some((last, others)) = pipeline.split_last() else { return };
        for command in others {
            self.scope.input =
                self.printing(|analyzer| analyzer.subshell(|analyzer| analyzer.command(command)));
        }
        self.subshell(|analyzer| analyzer.command(last));
    }

    fn command(&mut self, command: &Command) {
        if !self.work(24) {
            return;
        }
        if let CommandKind::Simple { assignments, words } = &command.kind {
            self.simple(assignments, words, &command.redirects);
            return;
        }
        self.scoped(|analyzer| analyzer.compound_command(command));
    }

    fn compound_command(&mut self, command: &Command) {
        let start = self.script.commands.len();
        let around = match command.redirects.as_slice() {
            [] => RedirectionEffects::default(),
            redirects => self.redirects_of_compound(redirects),
        };
        let body = self.script.commands.len();
        if around.leaves {
            let content = self.printing(|analyzer| analyzer.compound(&command.kind));
            if let Some((file, appends)) = &around.output {
                let by = (self.scope.pipeline..self.script.commands.len()).collect();
                self.wrote(file, content, *appends, by);
            }
        } else {
            self.compound(&command.kind);
        }
        self.ran(start, body);
    }

    /// Calls a function, if there may be one of this name; whether there is one for certain.
    pub(crate) fn call(&mut self, name: &str, arguments: &[Field]) -> bool {
        let Some(function) = self.state.functions.get(name).cloned() else { return false };
        let outer = self.state.positional.replace(Rc::new(arguments.to_vec()));
        let bodies = function.bodies.as_slice().iter().map(Some);
        let none = if function.is_certain { None } else { Some(None) };
        self.one_of(bodies.chain(none), |analyzer, body| {
            let Some(FunctionBody(body)) = body else { return };
            if !analyzer.functions.called.iter().any(|called| Rc::ptr_eq(called, body)) {
                analyzer.functions.called.push(Rc::clone(body));
            }
            analyzer.deeper(|analyzer| analyzer.command(body));
        });
        self.state.positional = outer;
        function.is_certain
    }

    /// Functions that were only defined may be called in ways that we do not see.
    fn uncalled_functions(&mut self) {
        for (body, state) in std::mem::take(&mut self.functions.defined) {
            if !self.functions.called.iter().any(|called| Rc::ptr_eq(called, &body)) {
                let disk = self.state.disk.clone();
                self.state = State { positional: None, disk, ..state };
                self.command(&body);
            }
        }
    }

    /// Runs a text as a script in the current state.
    pub(crate) fn script_text(&mut self, text: &str) {
        match parser::parse(text, self.scope.depth + 1) {
            Ok(list) => self.deeper(|analyzer| analyzer.list(&list)),
            Err(error) => self.doubt(error.into()),
        }
    }
}

/// Compound commands.
impl Analyzer<'_> {
    pub(crate) fn compound(&mut self, kind: &CommandKind) {
        match kind {
            CommandKind::Simple { .. } => {}
            CommandKind::Group(list) => self.list(list),
            CommandKind::Subshell(list) => self.subshell(|analyzer| analyzer.list(list)),
            CommandKind::If(branches) => self.conditional(branches),
            CommandKind::While { condition, body } => self.repeated(|analyzer| {
                analyzer.list(condition);
                analyzer.list(body);
            }),
            CommandKind::For { name, words, body } => self.for_each(name, words.as_deref(), body),
            CommandKind::Case { word, arms } => self.case(word, arms),
            CommandKind::Function { name, body } => {
                self.define(name, body);
            }
            CommandKind::Expression { is_arithmetic, words, body } => {
                for word in words {
                    self.substitutions(word);
                    self.evaluate_hidden(word, *is_arithmetic);
                    if *is_arithmetic {
                        self.assign_numbers(word);
                    }
                    if *is_arithmetic && !self.is_harmless_arithmetic(word) || side_effects::hides_code(word)
                    {
                        self.side_effect(side_effects::shown(word));
                    }
                }
                if !body.is_empty() {
                    self.repeated(|analyzer| analyzer.list(body));
                }
            }
        }
    }

    fn define(&mut self, name: &str, body: &Rc<Command>) {
        if self.functions.defined.len() >= MAX_FUNCTIONS {
            return self.doubt(Doubt::TooMany("functions"));
        }
        self.state.functions.define(name, FunctionBody(Rc::clone(body)));
        self.functions.defined.push((Rc::clone(body), self.state.clone()));
    }

    fn conditional(&mut self, branches: &[(Option<List>, List)]) {
        let mut ends: Vec<State> = Vec::new();
        let mut is_complete = false;
        for (condition, body) in branches {
            match condition {
                Some(condition) => self.list(condition),
                None => is_complete = true,
            }
            let other = self.state.clone();
            self.list(body);
            ends.push(std::mem::replace(&mut self.state, other));
        }
        let mut ends = ends.into_iter();
        if is_complete && let Some(first) = ends.next() {
            self.state = first;
        }
        for end in ends {
            self.state.join(&end);
        }
        self.blur();
    }

    fn case(&mut self, word: &Word, arms: &[(Vec<Word>, List)]) {
        self.substitutions(word);
        // None of the patterns may match.
        self.one_of([None].into_iter().chain(arms.iter().map(Some)), |analyzer, arm| {
            let Some((patterns, body)) = arm else { return };
            for pattern in patterns {
                analyzer.substitutions(pattern);
            }
            analyzer.list(body);
        });
        self.blur();
    }

    /// Runs a body as often as it takes for what is known not to change any more.
    fn repeated(&mut self, mut body: impl FnMut(&mut Self)) {
        let start = self.state.clone();
        body(self);
        self.blur();
        self.state.join(&start);
        if self.state == start {
            return;
        }
        let once = self.state.clone();
        body(self);
        self.state.join(&once);
        if self.state != once {
            self.state.widen(&once);
            let before = self.state.clone();
            body(self);
            // The last run may be the one that did not happen.
            self.state.join(&before);
        }
    }

    fn for_each(&mut self, name: &str, words: Option<&[Word]>, body: &List) {
        let first = self.script.commands.len();
        let value = match words {
            Some(words) => {
                let mut options = Vec::new();
                for word in words {
                    self.each_choice(|analyzer| options.extend(analyzer.fields(word)));
                }
                let is_known = options.len() <= MAX_OPTIONS
                    && options.iter().all(|field: &Field| field.kind != FieldKind::Unknown);
                if is_known { Value::one_of(options) } else { Value::Unknown }
            }
            None => match &self.state.positional {
                Some(fields) => Value::one_of(fields.iter().cloned()),
                None => Value::Unknown,
            },
        };
        // Over no words the body never runs; that it might is the safer assumption.
        let value = match value {
            Value::Options(options) if options.as_slice().is_empty() => Value::Unknown,
            value => value,
        };
        let by: Vec<usize> = (first..self.script.commands.len()).collect();
        if !side_effects::is_harmless(name) {
            self.side_effect(format!("for {name}"));
        }
        let set = |analyzer: &mut Self| {
            analyzer.state.set(name, value.clone());
            analyzer.state.variables.set_printed_by(name, by.clone());
        };
        set(self);
        self.repeated(|analyzer| {
            set(analyzer);
            analyzer.list(body);
        });
    }
}
