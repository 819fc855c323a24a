//! Compound commands: what may run, what may run more than once, and what is known after that.

use std::rc::Rc;

use crate::Doubt;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::beside;
use crate::analysis::definitions::FunctionBody;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::state::State;
use crate::analysis::variables::{MAX_OPTIONS, Value};
use crate::syntax::tree::{Command, Kind, List, Word};

const MAX_FUNCTIONS: usize = 64;

impl Analyzer<'_> {
    pub(crate) fn compound(&mut self, kind: &Kind) {
        match kind {
            Kind::Simple { .. } => {}
            Kind::Group(list) => self.list(list),
            Kind::Subshell(list) => self.subshell(|analyzer| analyzer.list(list)),
            Kind::If(branches) => self.conditional(branches),
            Kind::While { condition, body } => self.repeated(|analyzer| {
                analyzer.list(condition);
                analyzer.list(body);
            }),
            Kind::For { name, words, body } => self.for_each(name, words.as_deref(), body),
            Kind::Case { word, arms } => self.case(word, arms),
            Kind::Function { name, body } => {
                self.define(name, body);
            }
            Kind::Expression { is_arithmetic, words, body } => {
                for word in words {
                    self.substitutions(word);
                    self.evaluate_hidden(word, *is_arithmetic);
                    if *is_arithmetic {
                        self.assign_numbers(word);
                    }
                    if *is_arithmetic && !self.is_harmless_arithmetic(word) || beside::hides_code(word) {
                        self.beside(beside::shown(word));
                    }
                }
                if !body.is_empty() {
                    self.repeated(|analyzer| analyzer.list(body));
                }
            }
        }
    }

    fn define(&mut self, name: &str, body: &Rc<Command>) {
        if self.defined.len() >= MAX_FUNCTIONS {
            return self.doubt(Doubt::TooMany("functions"));
        }
        self.state.functions.define(name, FunctionBody(Rc::clone(body)));
        self.defined.push((Rc::clone(body), self.state.clone()));
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
        if !beside::is_harmless(name) {
            self.beside(format!("for {name}"));
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
