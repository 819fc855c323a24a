//! Walks through a script in the order in which it would run, and collects what it does.

use std::rc::Rc;

use super::choices::Choices;
use super::state::{Field, FieldKind, Input, Output, State, Value};
use super::syntax::{Command, Item, Join, Kind, List, Pipeline, Word};
use super::{Access, Base, Doubt, Effect, MAX_DEPTH, Script, Simple, Target, parser};

/// Loops, functions and possible values lead to more commands than are written; there is an end to that. The unit is
/// about a byte that is looked at.
const MAX_WORK: usize = 1 << 20;
const MAX_FUNCTIONS: usize = 64;

pub(super) struct Walk<'a> {
    pub(super) script: Script,
    pub(super) home: Option<&'a str>,
    pub(super) state: State,
    pub(super) depth: usize,
    pub(super) choices: Choices,
    /// What the command reads from, and what is known of what it prints.
    pub(super) input: Input,
    pub(super) output: Output,
    /// The same of the last process substitution.
    pub(super) process: Output,
    /// How many redirections to a file are around the command.
    pub(super) redirected: usize,
    /// The functions that were defined, with the state there.
    defined: Vec<(Rc<Command>, State)>,
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
        input: Input::Inherited,
        output: Output::Unknown,
        process: Output::Unknown,
        redirected: 0,
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
        self.state.settle();
        for state in &skipped {
            self.state.merge(state);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [command] = pipeline.as_slice() {
            self.command(command);
            return;
        }
        let outer = self.input.clone();
        for command in pipeline {
            self.output = Output::Unknown;
            self.subshell(|walk| walk.command(command));
            self.input = std::mem::replace(&mut self.output, Output::Unknown).into();
        }
        self.input = outer;
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
        if !command.redirects.is_empty() {
            self.redirects_of_compound(&command.redirects);
        }
        self.compound(&command.kind);
        self.output = Output::Unknown;
        self.input = input;
        self.redirected = redirected;
    }

    fn compound(&mut self, kind: &Kind) {
        match kind {
            Kind::Simple { .. } => {}
            Kind::Group(list) => self.list(list),
            Kind::Subshell(list) => self.subshell(|walk| walk.list(list)),
            Kind::If(branches) => self.conditional(branches),
            Kind::While { condition, body } => self.repeated(|walk| {
                walk.list(condition);
                walk.list(body);
            }),
            Kind::For { name, words, body } => self.for_each(name, words.as_deref(), body),
            Kind::Case { word, arms } => self.case(word, arms),
            Kind::Function { name, body } => {
                self.define(name, body);
            }
            Kind::Expression { words, body } => {
                for word in words {
                    self.substitutions(word);
                }
                if !body.is_empty() {
                    self.repeated(|walk| walk.list(body));
                }
            }
        }
    }

    fn define(&mut self, name: &str, body: &Rc<Command>) {
        let functions = Rc::make_mut(&mut self.state.functions);
        if functions.0.len() < MAX_FUNCTIONS && self.defined.len() < MAX_FUNCTIONS {
            functions.0.push((name.to_owned(), Rc::clone(body)));
            self.defined.push((Rc::clone(body), self.state.clone()));
        } else {
            self.doubt(Doubt::TooDeep);
        }
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
            self.state.merge(&end);
        }
    }

    fn case(&mut self, word: &Word, arms: &[(Vec<Word>, List)]) {
        self.substitutions(word);
        let start = self.state.clone();
        for (patterns, body) in arms {
            for pattern in patterns {
                self.substitutions(pattern);
            }
            let before = std::mem::replace(&mut self.state, start.clone());
            self.list(body);
            self.state.merge(&before);
        }
    }

    /// Runs a body as often as it takes for what is known not to change any more.
    fn repeated(&mut self, mut body: impl FnMut(&mut Self)) {
        let start = self.state.clone();
        body(self);
        self.state.merge(&start);
        if self.state == start {
            return;
        }
        let once = self.state.clone();
        body(self);
        self.state.merge(&once);
        if self.state != once {
            self.state.widen(&once);
            body(self);
        }
    }

    fn for_each(&mut self, name: &str, words: Option<&[Word]>, body: &List) {
        let value = match words {
            Some(words) => {
                let mut options = Vec::new();
                for word in words {
                    self.each_choice(|walk| options.extend(walk.fields(word)));
                }
                let is_known = options.len() <= super::state::MAX_OPTIONS
                    && options.iter().all(|field: &Field| field.kind != FieldKind::Unknown);
                if is_known { Value::Options(options) } else { Value::Unknown }
            }
            None => match &self.state.positional {
                Some(fields) => Value::Options(fields.to_vec()),
                None => Value::Unknown,
            },
        };
        // Over no words the body never runs; that it might is the safer assumption.
        let value = match value {
            Value::Options(options) if options.is_empty() => Value::Unknown,
            value => value,
        };
        self.state.set(name, value.clone());
        self.repeated(|walk| {
            walk.state.set(name, value.clone());
            walk.list(body);
        });
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

    /// Adds a command; its index.
    pub(super) fn add_command(&mut self, fields: &[Field], redirects_to_file: bool) -> usize {
        let words: Vec<String> = fields.iter().map(Field::shown).collect();
        let text = words.join(" ");
        self.script.commands.push(Simple { words, text, redirects_to_file });
        self.script.commands.len() - 1
    }

    /// Adds an effect on what a word names.
    pub(super) fn touch(&mut self, access: Access, field: &Field, command: usize) {
        let target = match field.kind {
            FieldKind::Literal => Target::Path(field.text.clone()),
            FieldKind::Glob => Target::Glob(field.text.clone()),
            FieldKind::Tree => Target::Tree(field.text.clone()),
            FieldKind::Unknown => Target::Unknown(field.text.clone()),
        };
        self.effect(access, target, command);
    }

    /// The same for a file, or a directory with all that is in it.
    pub(super) fn touch_tree(&mut self, access: Access, field: &Field, command: usize) {
        match field.kind {
            FieldKind::Literal => self.effect(access, Target::Tree(field.text.clone()), command),
            _ => self.touch(access, field, command),
        }
    }

    pub(super) fn effect(&mut self, access: Access, target: Target, command: usize) {
        if !self.work(32) {
            return;
        }
        let path = match &target {
            Target::Path(path) | Target::Tree(path) | Target::Glob(path) => path,
            Target::Into { directory, .. } => directory,
            Target::WorkTree => "",
            Target::Unknown(_) => {
                let base = self.state.bases.first().cloned().unwrap_or(Base::Unknown);
                self.script.effects.push(Effect { access, target, base, command });
                return;
            }
        };
        if is_no_file(path, &target) {
            return;
        }
        if path.starts_with('/') {
            let base = Base::At(String::new());
            self.script.effects.push(Effect { access, target, base, command });
            return;
        }
        for base in self.state.bases.clone() {
            self.script.effects.push(Effect { access, target: target.clone(), base, command });
        }
    }
}

/// Standard streams, and nothing at all.
fn is_no_file(path: &str, target: &Target) -> bool {
    let is_stream = matches!(
        path,
        "/dev/null"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/tty"
            | "/dev/zero"
            | "/dev/urandom"
            | "/dev/random"
    );
    is_stream || path.starts_with("/dev/fd/") || (path.is_empty() && *target != Target::WorkTree)
}
