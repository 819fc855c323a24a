//! What is known while a script is walked through: variables, functions, and the directory.

use std::ops::Range;
use std::rc::Rc;

use crate::syntax::tree::Command;
use crate::{Base, Quoting};

/// One word after all expansions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Field {
    pub(crate) text: String,
    pub(crate) kind: FieldKind,
    /// What of the text is unknown, where that is not all of it.
    pub(crate) holes: Vec<(Range<usize>, Quoting)>,
    /// How a pattern is written that stands for what is not known.
    pub(crate) written: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FieldKind {
    Literal,
    /// The text is a pattern, in which quoted characters are behind a backslash.
    Glob,
    /// Any file in this directory.
    Tree,
    /// The text is as it is written.
    Unknown,
}

impl Field {
    pub(crate) fn new(text: impl Into<String>, kind: FieldKind) -> Field {
        Field { text: text.into(), kind, holes: Vec::new(), written: None }
    }

    pub(crate) fn literal(text: impl Into<String>) -> Field {
        Field::new(text, FieldKind::Literal)
    }

    pub(crate) fn unknown(text: impl Into<String>) -> Field {
        Field::new(text, FieldKind::Unknown)
    }

    pub(crate) fn is_literal(&self) -> bool {
        self.kind == FieldKind::Literal
    }

    /// The text as a user would write it.
    pub(crate) fn shown(&self) -> String {
        match (self.kind, &self.written) {
            (_, Some(written)) => written.clone(),
            (FieldKind::Glob, None) => unescaped(&self.text),
            _ => self.text.clone(),
        }
    }

    /// What is not known, but matches a pattern.
    pub(crate) fn like(pattern: impl Into<String>, written: impl Into<String>) -> Field {
        Field { written: Some(written.into()), ..Field::new(pattern, FieldKind::Glob) }
    }

    /// The same in quotes, as a word for a shell.
    pub(crate) fn quoted(&self) -> String {
        crate::quoted(&self.shown())
    }

    /// The same kind of field with another text.
    pub(crate) fn with(&self, text: impl Into<String>) -> Field {
        Field::new(text, self.kind)
    }
}

fn unescaped(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

/// What a variable may hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Value {
    /// One of these.
    Options(Vec<Field>),
    Array(Vec<Field>),
    Unknown,
}

/// More variables than this are not remembered: they are unknown.
const MAX_VARIABLES: usize = 64;
/// A longer value is not kept.
pub(crate) const MAX_VALUE: usize = 4096;
/// A variable with more possible values is unknown.
pub(crate) const MAX_OPTIONS: usize = 64;
const MAX_BASES: usize = 8;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct State {
    variables: Rc<Vec<(Rc<str>, Rc<Value>)>>,
    /// Whether variables may change behind our back, by a reference of another name.
    pub(crate) is_opaque: bool,
    pub(crate) functions: Rc<Functions>,
    pub(crate) aliases: Rc<Vec<(String, String)>>,
    /// `$1` and so on, where they are known.
    pub(crate) positional: Option<Rc<Vec<Field>>>,
    /// The possible current directories.
    pub(crate) bases: Vec<Base>,
    /// Where we are if the last `cd` failed.
    failed: Vec<Base>,
    /// What `cd -` goes back to.
    pub(crate) previous: Option<Rc<Vec<Base>>>,
    /// What `popd` goes back to.
    pub(crate) pushed: Vec<Vec<Base>>,
    /// The variables that programs are given, as `NAME=value`.
    pub(crate) environment: Rc<Vec<String>>,
    /// Whether they are given each variable that is set, after `set -a`.
    pub(crate) exports_all: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Functions(pub(crate) Vec<(String, Rc<Command>)>);

impl PartialEq for Functions {
    fn eq(&self, other: &Functions) -> bool {
        self.0.len() == other.0.len()
    }
}

impl Eq for Functions {}

impl State {
    pub(crate) fn new() -> State {
        State {
            variables: Rc::default(),
            is_opaque: false,
            functions: Rc::default(),
            aliases: Rc::default(),
            positional: Some(Rc::default()),
            bases: vec![Base::At(String::new())],
            failed: Vec::new(),
            previous: None,
            pushed: Vec::new(),
            environment: Rc::default(),
            exports_all: false,
        }
    }

    /// The state of a new shell in the same directory. Which variables it gets is not followed; those that are set here are not
    /// what they are outside of the whole command.
    pub(crate) fn child(&self, positional: Vec<Field>) -> State {
        let mut child = State {
            bases: self.bases.clone(),
            positional: Some(Rc::new(positional)),
            environment: Rc::clone(&self.environment),
            ..State::new()
        };
        for (name, _) in self.variables.iter().filter(|(name, _)| **name != *"IFS") {
            child.set(name, Value::Unknown);
        }
        child
    }

    /// Gives programs further variables, as `NAME=value`; what they were given before.
    pub(crate) fn give(&mut self, variables: impl IntoIterator<Item = String>) -> Rc<Vec<String>> {
        let before = Rc::clone(&self.environment);
        for variable in variables {
            let name = variable.split('=').next().unwrap_or_default();
            let known = self.environment.iter().position(|one| is_of(one, name));
            let environment = Rc::make_mut(&mut self.environment);
            match known.and_then(|at| environment.get_mut(at)) {
                Some(old) => *old = variable,
                None => environment.push(variable),
            }
        }
        before
    }

    /// Whether programs are given the variable.
    pub(crate) fn gives(&self, name: &str) -> bool {
        self.environment.iter().any(|one| is_of(one, name))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        if self.is_opaque {
            return Some(&Value::Unknown);
        }
        self.variables.iter().find(|(known, _)| **known == *name).map(|(_, value)| &**value)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let value = Rc::new(value);
        let at = self.variables.iter().position(|(known, _)| **known == *name);
        let variables = Rc::make_mut(&mut self.variables);
        let has_room = variables.len() < MAX_VARIABLES;
        match at.and_then(|at| variables.get_mut(at)) {
            Some((_, old)) => *old = value,
            None if has_room => variables.push((name.into(), value)),
            None => {}
        }
    }

    pub(crate) fn function(&self, name: &str) -> Option<Rc<Command>> {
        let found = self.functions.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, body)| Rc::clone(body))
    }

    /// Changes the directory, and remembers where we are if that fails.
    pub(crate) fn change_directory(&mut self, bases: Vec<Base>) {
        let certain = |base: &&Base| matches!(base, Base::At(_));
        if let (Some(Base::At(missing)), Some(Base::At(at))) =
            (bases.iter().find(certain), self.bases.iter().find(certain))
        {
            let failed = Base::IfMissing { missing: missing.clone(), at: at.clone() };
            self.failed = if missing == at { Vec::new() } else { vec![failed] };
        }
        self.previous = Some(Rc::new(std::mem::replace(&mut self.bases, bases)));
    }

    /// The last command succeeded.
    pub(crate) fn succeed(&mut self) {
        self.failed.clear();
    }

    /// The last command failed.
    pub(crate) fn fail(&mut self) {
        if !self.failed.is_empty() {
            self.bases = std::mem::take(&mut self.failed);
        }
    }

    /// The last command succeeded or failed.
    pub(crate) fn settle(&mut self) {
        let failed = std::mem::take(&mut self.failed);
        self.bases = union(std::mem::take(&mut self.bases), failed);
    }

    /// Either this state or another one.
    pub(crate) fn merge(&mut self, other: &State) {
        self.bases = union(std::mem::take(&mut self.bases), other.bases.clone());
        self.failed = union(std::mem::take(&mut self.failed), other.failed.clone());
        self.is_opaque |= other.is_opaque;
        self.exports_all |= other.exports_all;
        if self.positional != other.positional {
            self.positional = None;
        }
        if self.functions.0.len() < other.functions.0.len() {
            self.functions = Rc::clone(&other.functions);
        }
        if self.previous != other.previous {
            self.previous = None;
        }
        if self.pushed != other.pushed {
            self.pushed.clear();
        }
        if self.environment.len() < other.environment.len() {
            self.environment = Rc::clone(&other.environment);
        }
        if Rc::ptr_eq(&self.variables, &other.variables) {
            return;
        }
        let names: Vec<Rc<str>> =
            self.variables.iter().chain(other.variables.iter()).map(|(name, _)| Rc::clone(name)).collect();
        for name in names {
            let merged = match (self.get(&name), other.get(&name)) {
                (Some(mine), Some(theirs)) if mine == theirs => continue,
                (Some(Value::Options(mine)), Some(Value::Options(theirs))) => options(mine, theirs),
                _ => Value::Unknown,
            };
            self.set(&name, merged);
        }
    }

    /// What differs from another state becomes unknown.
    pub(crate) fn widen(&mut self, other: &State) {
        if self.bases != other.bases {
            self.bases = vec![Base::Unknown];
        }
        if self.previous != other.previous {
            self.previous = None;
        }
        if self.positional != other.positional {
            self.positional = None;
        }
        let names: Vec<Rc<str>> = self.variables.iter().map(|(name, _)| Rc::clone(name)).collect();
        for name in names {
            if self.get(&name) != other.get(&name) {
                self.set(&name, Value::Unknown);
            }
        }
    }
}

/// Whether `NAME=value` is the variable of that name.
fn is_of(variable: &str, name: &str) -> bool {
    variable.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
}

fn options(mine: &[Field], theirs: &[Field]) -> Value {
    let mut all = mine.to_vec();
    for option in theirs {
        if !all.contains(option) {
            all.push(option.clone());
        }
    }
    if all.len() > MAX_OPTIONS { Value::Unknown } else { Value::Options(all) }
}

fn union(mut mine: Vec<Base>, theirs: Vec<Base>) -> Vec<Base> {
    for base in theirs {
        if !mine.contains(&base) {
            mine.push(base);
        }
    }
    if mine.len() > MAX_BASES { vec![Base::Unknown] } else { mine }
}
