//! What is known at one point of a script: variables, functions, aliases, the directory, and what is on the disk.
//!
//! Where two ways through a script meet, their states are joined, field by field. The joined state allows everything that one
//! of them allows.

use std::rc::Rc;

use crate::Base;
use crate::analysis::definitions::{Definitions, FunctionBody};
use crate::analysis::directories::Directories;
use crate::analysis::disk::Disk;
use crate::analysis::field::Field;
use crate::analysis::variables::{Value, Variables};

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct State {
    pub(crate) variables: Variables,
    pub(crate) functions: Definitions<FunctionBody>,
    pub(crate) aliases: Definitions<String>,
    /// `$1` and so on, where they are known.
    pub(crate) positional: Option<Rc<Vec<Field>>>,
    pub(crate) directories: Directories,
    pub(crate) exports: Exports,
    pub(crate) disk: Disk,
}

impl State {
    pub(crate) fn new() -> State {
        State {
            variables: Variables::default(),
            functions: Definitions::default(),
            aliases: Definitions::default(),
            positional: Some(Rc::default()),
            directories: Directories::at_start(),
            exports: Exports::default(),
            disk: Disk::default(),
        }
    }

    /// The state of a new shell in the same directory. Which variables it gets is not followed; those that are set here are not
    /// what they are outside of the whole command.
    pub(crate) fn child(&self, positional: Vec<Field>) -> State {
        State {
            variables: self.variables.forgotten(),
            directories: self.directories.child(),
            positional: Some(Rc::new(positional)),
            exports: Exports { all: false, ..self.exports.clone() },
            disk: self.disk.clone(),
            ..State::new()
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.variables.set(name, value);
    }

    /// The possible current directories.
    pub(crate) fn bases(&self) -> &[Base] {
        self.directories.current()
    }

    /// Either this state or another one.
    pub(crate) fn join(&mut self, other: &State) {
        self.variables = self.variables.join(&other.variables);
        self.functions = self.functions.join(&other.functions);
        self.aliases = self.aliases.join(&other.aliases);
        self.positional = join_positional(&self.positional, &other.positional);
        self.directories = self.directories.join(&other.directories);
        self.exports = self.exports.join(&other.exports);
        self.disk = self.disk.join(&other.disk);
    }

    /// What differs from another state becomes unknown.
    pub(crate) fn widen(&mut self, other: &State) {
        self.variables.widen(&other.variables);
        self.directories.widen(&other.directories);
        self.positional = join_positional(&self.positional, &other.positional);
    }

    /// Whether everything that another state allows is possible here as well.
    #[cfg(test)]
    pub(crate) fn covers(&self, other: &State) -> bool {
        self.variables.covers(&other.variables)
            && self.functions.covers(&other.functions)
            && self.aliases.covers(&other.aliases)
            && (self.positional.is_none() || self.positional == other.positional)
            && self.directories.covers(&other.directories)
            && self.exports.covers(&other.exports)
            && self.disk.covers(&other.disk)
    }
}

fn join_positional(mine: &Option<Rc<Vec<Field>>>, theirs: &Option<Rc<Vec<Field>>>) -> Option<Rc<Vec<Field>>> {
    if mine == theirs { mine.clone() } else { None }
}

/// The variables that programs are given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exports {
    /// As `NAME=value`. A variable that may have several values is there with each.
    variables: Rc<Vec<String>>,
    /// Whether programs are given each variable that is set, after `set -a`.
    pub(crate) all: bool,
}

impl PartialEq for Exports {
    fn eq(&self, other: &Exports) -> bool {
        let has_all =
            |mine: &[String], theirs: &[String]| theirs.iter().all(|variable| mine.contains(variable));
        self.all == other.all
            && (self.variables == other.variables
                || has_all(&self.variables, &other.variables) && has_all(&other.variables, &self.variables))
    }
}

impl Eq for Exports {}

impl Exports {
    pub(crate) fn variables(&self) -> &Rc<Vec<String>> {
        &self.variables
    }

    /// Gives programs further variables, as `NAME=value`.
    pub(crate) fn give(&mut self, variables: impl IntoIterator<Item = String>) {
        for variable in variables {
            let name = variable.split('=').next().unwrap_or_default();
            let known: Vec<usize> = positions(&self.variables, name).collect();
            let environment = Rc::make_mut(&mut self.variables);
            let Some((first, others)) = known.split_first() else {
                environment.push(variable);
                continue;
            };
            for at in others.iter().rev() {
                environment.remove(*at);
            }
            if let Some(old) = environment.get_mut(*first) {
                *old = variable;
            }
        }
    }

    /// Whether programs are given the variable.
    pub(crate) fn has(&self, name: &str) -> bool {
        positions(&self.variables, name).next().is_some()
    }

    /// Either these or others.
    pub(crate) fn join(&self, other: &Exports) -> Exports {
        let all = self.all || other.all;
        if self.variables == other.variables {
            return Exports { variables: Rc::clone(&self.variables), all };
        }
        let mut variables = self.variables.to_vec();
        variables
            .extend(other.variables.iter().filter(|variable| !self.variables.contains(variable)).cloned());
        Exports { variables: Rc::new(variables), all }
    }

    #[cfg(test)]
    fn covers(&self, other: &Exports) -> bool {
        other.variables.iter().all(|variable| self.variables.contains(variable)) && self.all >= other.all
    }
}

/// Where the variable of a name is.
fn positions<'v>(variables: &'v [String], name: &'v str) -> impl Iterator<Item = usize> + 'v {
    let is_of = move |variable: &str| variable.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    variables.iter().enumerate().filter(move |(_, variable)| is_of(variable)).map(|(at, _)| at)
}
