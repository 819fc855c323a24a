//! What is known at one point of a script: variables, functions, aliases, the directory, and what is on the disk.
//!
//! Where two ways through a script meet, their states are joined, field by field. The joined state allows everything that one
//! of them allows.

use std::rc::Rc;

use crate::Base;
use crate::analysis::definitions::{Definitions, FunctionBody};
use crate::analysis::directories::Directories;
use crate::analysis::disk::Disk;
use crate::analysis::exports::Exports;
use crate::analysis::field::Field;
use crate::analysis::shell_options::ShellOptions;
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
    pub(crate) options: ShellOptions,
    /// `$0`, where it is known.
    pub(crate) zero: Option<Rc<Field>>,
    /// The file that this script is read from, as bash names it; empty for a text. None if that is not known.
    pub(crate) source: Option<Rc<Field>>,
    /// Variables that are certainly local to the function that runs.
    pub(crate) locals: Rc<Vec<String>>,
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
            options: ShellOptions::default(),
            // A script of its own has another name, but is run by one as well.
            zero: Some(Rc::new(Field::literal("bash"))),
            source: Some(Rc::new(Field::literal(""))),
            locals: Rc::default(),
        }
    }

    /// The state of a new shell in the same directory. Which variables it gets is not followed; those that are set here are not
    /// what they are outside of the whole command.
    pub(crate) fn child(&self, positional: Vec<Field>) -> State {
        State {
            variables: self.variables.forgotten(),
            directories: self.directories.child(),
            positional: Some(Rc::new(positional)),
            exports: self.exports.child(),
            disk: self.disk.clone(),
            ..State::new()
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let is_unsteady = self.options.is_unsteady(name);
        self.variables.set(name, if is_unsteady { Value::Unknown } else { value });
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
        self.options = self.options.join(&other.options);
        if self.source != other.source {
            self.source = None;
        }
        if self.zero != other.zero {
            self.zero = None;
        }
        if self.locals != other.locals {
            let both = self.locals.iter().filter(|name| other.locals.contains(name)).cloned();
            self.locals = Rc::new(both.collect());
        }
    }

    /// What differs from an earlier state, which was joined with this one, becomes unknown. Functions and aliases stay: the
    /// number of their bodies in a script is limited. Exports show the values of variables, which become unknown themselves.
    pub(crate) fn widen(&mut self, other: &State) {
        let State { variables, positional, directories, disk, .. } = self;
        variables.widen(&other.variables);
        directories.widen(&other.directories);
        *positional = join_positional(positional, &other.positional);
        disk.widen(&other.disk);
    }

    /// The commands that it refers to, from this index on, in ascending order.
    pub(crate) fn commands_from(&self, first: usize) -> Vec<usize> {
        let commands = self.variables.commands().chain(self.disk.commands());
        let mut commands: Vec<usize> = commands.filter(|command| *command >= first).collect();
        commands.sort_unstable();
        commands.dedup();
        commands
    }

    /// Refers to other commands instead.
    pub(crate) fn refer(&mut self, to: impl Fn(usize) -> usize) {
        self.variables.refer(&to);
        self.disk.refer(&to);
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
            && self.options.covers(&other.options)
            && (self.zero.is_none() || self.zero == other.zero)
            && (self.source.is_none() || self.source == other.source)
    }
}

fn join_positional(mine: &Option<Rc<Vec<Field>>>, theirs: &Option<Rc<Vec<Field>>>) -> Option<Rc<Vec<Field>>> {
    if mine == theirs { mine.clone() } else { None }
}
