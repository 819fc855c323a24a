//! Walks through a script in the order in which it would run: what may run, what may run more than once, and the state after
//! that.

use std::rc::Rc;

use crate::analysis::analyzer::{Analyzer, Jumps};
use crate::analysis::conditions::{self, TestedFile};
use crate::analysis::definitions::FunctionBody;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::parallel;
use crate::analysis::side_effects;
use crate::analysis::state::State;
use crate::analysis::stream::RedirectionEffects;
use crate::analysis::variables::{MAX_OPTIONS, Value};
use crate::syntax::parser;
use crate::syntax::tree::{AndOrList, Command, CommandKind, Join, List, Pipeline, Word};
use crate::{Context, Doubt, MAX_DEPTH, Script};

const MAX_FUNCTIONS: usize = 64;
/// A loop that still changes something after this many runs is not followed.
const MAX_RUNS: usize = 64;

/// What a script does.
pub(crate) fn analyze(list: &List, context: &Context<'_>) -> Script {
    let mut analyzer = Analyzer::new(context);
    loop {
        analyzer.list(list);
        analyzer.end_shell();
        analyzer.uncalled_functions();
        if !analyzer.has_more_in_parallel() {
            return analyzer.into_script();
        }
        analyzer = analyzer.again();
        analyzer.finds_writes_of_others();
    }
}

/// Lists, pipelines and functions.
impl Analyzer<'_> {
    pub(crate) fn list(&mut self, list: &List) {
        for item in list {
            if item.background {
                self.starts_parallel();
                let before = self.state.disk.clone();
                self.unordered(|analyzer| analyzer.subshell(|analyzer| analyzer.and_or_list(item)));
                // What follows it may run first.
                self.state.disk = self.state.disk.join(&before);
            } else {
                self.and_or_list(item);
            }
        }
    }

    fn and_or_list(&mut self, list: &AndOrList) {
        self.pipeline(&list.first);
        let mut skipped: Vec<State> = Vec::new();
        let mut missing = if list.negates { None } else { conditions::tested_file(&list.first) };
        for (join, pipeline) in &list.rest {
            // What follows runs only if there is no such file.
            let missing = missing.take().filter(|tested| tested.is_there == (*join == Join::Or));
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
            match missing {
                Some(tested) => self.if_missing(&tested.path, |analyzer| analyzer.pipeline(pipeline)),
                None => self.pipeline(pipeline),
            }
            if skipped.last() != Some(&without) {
                skipped.push(without);
            }
            // The states of such a long chain are joined early: keeping all of them would take too long.
            if skipped.len() > MAX_DEPTH {
                let state = skipped.swap_remove(1);
                self.state.join(&state);
            }
        }
        if !list.rest.is_empty() {
            self.blur();
        }
        self.state.directories.settle();
        for state in &skipped {
            self.state.join(state);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let start = self.script.commands.len();
        // Restores only this part of the scope: `exec > FILE` redirects what follows.
        let first: fn(&mut Self) -> &mut usize = |analyzer| &mut analyzer.scope.pipeline;
        self.restoring(first, |analyzer| {
            analyzer.scope.pipeline = start;
            if let [command] = pipeline.as_slice() {
                analyzer.command(command);
            } else {
                analyzer.scoped(|analyzer| analyzer.piped(pipeline));
                analyzer.joined(start);
            }
        });
    }

    fn piped(&mut self, pipeline: &Pipeline) {
        let Some((last, others)) = pipeline.split_last() else { return };
        if parallel::is_coprocess(pipeline) {
            self.starts_parallel();
        }
        let mut second = None;
        for command in others {
            if self.script.commands.len() > self.scope.pipeline && second.is_none() {
                second = Some((self.script.commands.len(), self.state.disk.clone()));
            }
            let printed = self.unordered(|analyzer| {
                analyzer.printing(|analyzer| analyzer.subshell(|analyzer| analyzer.command(command)))
            });
            self.set_input(printed);
        }
        let (member, before) =
            second.unwrap_or_else(|| (self.script.commands.len(), self.state.disk.clone()));
        if self.state.options.lastpipe {
            let before = self.state.clone();
            self.command(last);
            self.state.join(&before);
        } else {
            self.subshell(|analyzer| analyzer.command(last));
        }
        self.shared_in_pipeline(member, &before);
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
            for (file, appends) in &around.output {
                let by = (self.scope.pipeline..self.script.commands.len()).collect();
                self.wrote(file, content.clone(), *appends, by);
            }
        } else {
            self.compound(&command.kind);
        }
        self.join_with_printers(start, body);
    }

    /// Calls a function, if there may be one of this name. Returns whether there certainly is one.
    pub(crate) fn call(&mut self, name: &str, arguments: &[Field]) -> bool {
        let Some(function) = self.state.functions.get(name).cloned() else { return false };
        let bodies = function.bodies.as_slice().iter().map(Some);
        let none = if function.is_certain { None } else { Some(None) };
        let run = |analyzer: &mut Self| {
            analyzer.one_of(bodies.chain(none), |analyzer, body| {
                let Some(body) = body else { return };
                if !analyzer.functions.called.contains(body) {
                    analyzer.functions.called.push(body.clone());
                }
                analyzer.deeper(|analyzer| analyzer.command(&body.0));
            });
        };
        self.functions.locals.push(Vec::new());
        self.with(
            |analyzer| &mut analyzer.state.locals,
            Rc::default(),
            |analyzer| {
                analyzer.returning(Some(arguments), run);
                analyzer.end_locals();
            },
        );
        function.is_certain
    }

    /// Restores the variables that were local.
    fn end_locals(&mut self) {
        for saved in self.functions.locals.pop().unwrap_or_default().iter().rev() {
            if self.state.locals.contains(&saved.name) {
                self.state.variables.put_back(saved);
                continue;
            }
            // It may still be another variable at the end.
            let mut without = self.state.clone();
            without.variables.put_back(saved);
            self.state.join(&without);
        }
    }

    /// Runs something that `return` ends, with its own arguments if it has some.
    pub(crate) fn returning(&mut self, arguments: Option<&[Field]>, run: impl FnOnce(&mut Self)) {
        let run = |analyzer: &mut Self| {
            let ((), left) = analyzer.with(|analyzer| &mut analyzer.jumps.returns, None, run);
            if let Some(left) = left {
                analyzer.state.join(&left);
            }
        };
        match arguments {
            None => run(self),
            Some(arguments) => self.restoring(
                |analyzer| &mut analyzer.state.positional,
                |analyzer| {
                    analyzer.state.positional = Some(Rc::new(arguments.to_vec()));
                    run(analyzer);
                },
            ),
        }
    }

    /// Defined functions that no command calls may be called in ways that we do not see. So may those that they define.
    fn uncalled_functions(&mut self) {
        while !self.functions.defined.is_empty() {
            for (body, state) in std::mem::take(&mut self.functions.defined) {
                if !self.functions.called.contains(&body) {
                    let disk = self.state.disk.clone();
                    self.state = State { positional: None, disk, ..state };
                    self.functions.called.push(body.clone());
                    self.unordered(|analyzer| analyzer.subshell(|analyzer| analyzer.command(&body.0)));
                }
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

    /// Runs a text as a shell does for which `((` opens two subshells. Such a shell does not run a text that it cannot parse.
    pub(crate) fn script_without_arithmetic(&mut self, text: &str) {
        if let Ok(list) = parser::parse_without_arithmetic(text, self.scope.depth + 1) {
            self.deeper(|analyzer| analyzer.list(&list));
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
            CommandKind::While { condition, body } => {
                let mut end = None;
                self.repeated(|analyzer| {
                    analyzer.list(condition);
                    end = Some(analyzer.state.clone());
                    analyzer.list(body);
                });
                // The condition runs last.
                if let Some(end) = end {
                    self.state.join(&end);
                }
            }
            CommandKind::For { name, words, body } => self.for_each(name, words.as_deref(), body),
            CommandKind::Case { word, arms } => self.case(word, arms),
            CommandKind::Function { name, body } => {
                self.define(name, body);
            }
            CommandKind::Expression { is_arithmetic, words, body } if body.is_empty() => {
                self.expression(words, *is_arithmetic);
            }
            CommandKind::Expression { is_arithmetic, words, body } => self.repeated(|analyzer| {
                analyzer.expression(words, *is_arithmetic);
                analyzer.list(body);
            }),
        }
    }

    fn expression(&mut self, words: &[Word], is_arithmetic: bool) {
        let compares = !is_arithmetic && words.iter().any(side_effects::compares_numbers);
        for word in words {
            self.substitutions(word);
            self.evaluate_hidden(word, is_arithmetic || compares);
            if is_arithmetic {
                self.assign_numbers(word);
            }
            if is_arithmetic && !self.is_harmless_arithmetic(word) || side_effects::hides_code(word) {
                self.side_effect(side_effects::shown(word));
            }
        }
    }

    fn define(&mut self, name: &str, body: &Rc<Command>) {
        let body = FunctionBody(Rc::clone(body));
        let known = self.functions.defined.iter().position(|(known, _)| *known == body);
        let is_new = known.is_none() || self.state.functions.get(name).is_none();
        let count = self.functions.defined.len().max(self.state.functions.len());
        if is_new && count >= MAX_FUNCTIONS {
            return self.doubt(Doubt::TooMany("functions"));
        }
        self.state.functions.define(name, body.clone());
        // A loop defines the same function again.
        match known.and_then(|at| self.functions.defined.get_mut(at)) {
            Some((_, state)) => state.join(&self.state),
            None => self.functions.defined.push((body, self.state.clone())),
        }
    }

    fn conditional(&mut self, branches: &[(Option<List>, List)]) {
        let mut ends: Vec<State> = Vec::new();
        let mut is_complete = false;
        let mut before = None;
        for (condition, body) in branches {
            let tested = match condition {
                Some(condition) => {
                    self.list(condition);
                    conditions::tested_by(condition)
                }
                None => {
                    is_complete = true;
                    let tested = before.take();
                    // The other branch of the only condition.
                    if branches.len() == 2 { tested.map(TestedFile::negated) } else { None }
                }
            };
            let run = |analyzer: &mut Self| match &tested {
                Some(TestedFile { path, is_there: false }) => {
                    analyzer.if_missing(path, |analyzer| analyzer.list(body));
                }
                _ => analyzer.list(body),
            };
            let ((), end) = self.with(|analyzer| &mut analyzer.state, self.state.clone(), run);
            before = tested;
            ends.push(end);
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
        // Perhaps no pattern matches.
        self.one_of([None].into_iter().chain(arms.iter().map(Some)), |analyzer, arm| {
            let Some((patterns, body)) = arm else { return };
            for pattern in patterns {
                analyzer.substitutions(pattern);
            }
            analyzer.list(body);
        });
        self.blur();
    }

    /// Runs a body until one more run changes nothing. A value that keeps changing becomes unknown.
    pub(crate) fn repeated(&mut self, body: impl FnMut(&mut Self)) {
        let loops: fn(&mut Self) -> &mut usize = |analyzer| &mut analyzer.scope.loops;
        self.restoring(loops, |analyzer| {
            analyzer.scope.loops += 1;
            analyzer.with(
                |analyzer| &mut analyzer.jumps.loops,
                None,
                |analyzer| analyzer.repeated_until_known(body),
            );
        });
        if let Some(left) = &self.jumps.outer_loops {
            Jumps::add(&mut self.jumps.loops, left);
        }
    }

    fn repeated_until_known(&mut self, mut body: impl FnMut(&mut Self)) {
        let start = self.script.commands.len();
        for run in 0..=MAX_RUNS {
            let before = self.state.clone();
            let first = self.script.commands.len();
            body(self);
            // Perhaps the last run did not happen.
            self.state.join(&before);
            if let Some(left) = self.jumps.loops.take() {
                self.state.join(&left);
            }
            if run == 0 {
                self.blur();
            }
            self.same_commands(start, first);
            if run > 0 {
                self.state.widen(&before);
            }
            if self.state == before {
                break;
            }
            if run == MAX_RUNS {
                self.doubt(Doubt::TooDeep);
            }
        }
    }

    /// A repeated run of a loop, from `first`, adds its commands again. The state then refers to the same commands of earlier
    /// runs, so that it does not change with every run. The loop itself starts at `start`.
    fn same_commands(&mut self, start: usize, first: usize) {
        let commands = self.state.commands_from(first);
        if start == first || !self.work(commands.len() * (first - start) / 8) {
            return;
        }
        let ran = self.script.commands.get(start..).unwrap_or_default();
        let earliest = |index: usize| {
            let command = self.script.commands.get(index)?;
            Some(start + ran.iter().position(|other| other.text == command.text)?)
        };
        let same: Vec<(usize, usize)> =
            commands.into_iter().map(|index| (index, earliest(index).unwrap_or(index))).collect();
        self.state.refer(|index| {
            let known =
                same.binary_search_by_key(&index, |(index, _)| *index).ok().and_then(|at| same.get(at));
            known.map_or(index, |(_, earliest)| *earliest)
        });
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
        // Without words the body never runs. Assuming that it might is safer.
        let value = match value {
            Value::Options(options) if options.as_slice().is_empty() => Value::Unknown,
            value => value,
        };
        let by: Vec<usize> = (first..self.script.commands.len()).collect();
        if !side_effects::is_harmless(name) {
            self.side_effect(format!("for {name}"));
        }
        let set = |analyzer: &mut Self| analyzer.give_value(name, value.clone(), by.clone());
        set(self);
        self.repeated(|analyzer| {
            set(analyzer);
            analyzer.list(body);
        });
    }
}
