//! The state at one point of a script: variables, functions, aliases, the directory, and the disk.
//!
//! If two ways through a script meet, their states are joined, field by field. The joined state allows everything that one of
//! them allows.

use std::rc::Rc;

use crate::Base;
use crate::analysis::definitions::{Definitions, FunctionBody};
use crate::analysis::directories::Directories;
use crate::analysis::disk::Disk;
use crate::analysis::exports::Exports;
use crate::analysis::field::Field;
use crate::analysis::shell_options::ShellOptions;
use crate::analysis::variables::{Alternatives, Value, Variables};

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
    /// Variables that are certainly local to the function that runs, sorted.
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
            // A separate script has another name, but bash runs it too.
            zero: Some(Rc::new(Field::literal("bash"))),
            source: Some(Rc::new(Field::literal(""))),
            locals: Rc::default(),
        }
    }

    /// The state of a new shell in the same directory. Its variables are not followed: those that are set here no longer have
    /// their outer values.
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

    /// What `$index` may be, if that is known. After a word that may be several words or none, a word may have any position.
    pub(crate) fn arguments_at(&self, index: usize) -> Option<Vec<Field>> {
        let fields = self.positional.as_ref()?;
        let at = index.checked_sub(1)?;
        let unsure = fields.iter().position(Field::may_be_several).filter(|unsure| *unsure <= at);
        let others = unsure.map_or(&[][..], |unsure| fields.get(unsure..).unwrap_or_default());
        Some(
            fields
                .get(at)
                .into_iter()
                .chain(others)
                .cloned()
                .collect::<Alternatives<Field>>()
                .as_slice()
                .to_vec(),
        )
    }

    /// The arguments after the first ones. Words that may be several ones, or none, may be among them.
    pub(crate) fn arguments_after(&self, skipped: usize) -> Option<Vec<Field>> {
        let fields = self.positional.as_ref()?;
        let stays = |(at, field): &(usize, &Field)| *at >= skipped || field.may_be_several();
        Some(fields.iter().enumerate().filter(stays).map(|(_, field)| field.clone()).collect())
    }

    /// The possible current directories.
    pub(crate) fn bases(&self) -> &[Base] {
        self.directories.current()
    }

    /// Either this state or another one.
    pub(crate) fn join(&mut self, other: &State) {
        // A field that is added needs a line here.
        let State {
            variables,
            functions,
            aliases,
            positional,
            directories,
            exports,
            disk,
            options,
            source,
            zero,
            locals,
        } = other;
        self.variables = self.variables.join(variables);
        self.functions = self.functions.join(functions);
        self.aliases = self.aliases.join(aliases);
        self.positional = if_same(&self.positional, positional);
        self.directories = self.directories.join(directories);
        self.exports = self.exports.join(exports);
        self.disk = self.disk.join(disk);
        self.options = self.options.join(options);
        self.source = if_same(&self.source, source);
        self.zero = if_same(&self.zero, zero);
        self.locals = join_locals(&self.locals, locals);
    }

    /// Values that differ from an earlier state, which was joined with this one, become unknown, so that a loop comes to an end. The
    /// other fields stop changing by themselves. Functions and aliases: a script has a limited number of their bodies. Exports: they
    /// show the values of variables, which become unknown. Options: a join only switches them on. `$0`, the file of the script and
    /// local variables: a join only removes something.
    pub(crate) fn widen(&mut self, other: &State) {
        let State {
            variables,
            positional,
            directories,
            disk,
            functions: _,
            aliases: _,
            exports: _,
            options: _,
            source: _,
            zero: _,
            locals: _,
        } = self;
        variables.widen(&other.variables);
        directories.widen(&other.directories);
        *positional = if_same(positional, &other.positional);
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

    /// Replaces the references to commands.
    pub(crate) fn refer(&mut self, to: impl Fn(usize) -> usize) {
        self.variables.refer(&to);
        self.disk.refer(&to);
    }

    /// Whether everything that another state allows is possible here too.
    #[cfg(test)]
    pub(crate) fn covers(&self, other: &State) -> bool {
        let State {
            variables,
            functions,
            aliases,
            positional,
            directories,
            exports,
            disk,
            options,
            source,
            zero,
            locals,
        } = other;
        self.variables.covers(variables)
            && self.functions.covers(functions)
            && self.aliases.covers(aliases)
            && (self.positional.is_none() || self.positional == *positional)
            && self.directories.covers(directories)
            && self.exports.covers(exports)
            && self.disk.covers(disk)
            && self.options.covers(options)
            && (self.source.is_none() || self.source == *source)
            && (self.zero.is_none() || self.zero == *zero)
            && self.locals.iter().all(|name| locals.contains(name))
    }
}

/// What is known only where both ways agree.
fn if_same<T: PartialEq>(mine: &Option<Rc<T>>, theirs: &Option<Rc<T>>) -> Option<Rc<T>> {
    if mine == theirs { mine.clone() } else { None }
}

/// Variables are certainly local where they are in both ways.
fn join_locals(mine: &Rc<Vec<String>>, theirs: &Rc<Vec<String>>) -> Rc<Vec<String>> {
    if mine == theirs {
        return Rc::clone(mine);
    }
    Rc::new(mine.iter().filter(|name| theirs.contains(name)).cloned().collect())
}
