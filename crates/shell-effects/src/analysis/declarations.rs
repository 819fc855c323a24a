//! Assignments to several variables, and the attributes and scope that `declare`, `local` and `export` give them.

use crate::Doubt;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::unknown_code::as_code;
use crate::analysis::variables::{SavedVariable, Value};
use crate::programs::variables::usage_of;
use crate::syntax::parser;
use crate::syntax::tree::{AssignedValue, Assignment, ParseError, Piece};

impl Analyzer<'_> {
    /// Whether the arguments of a command are assignments.
    pub(crate) fn declares(&self, fields: &[Field]) -> bool {
        let program = fields.first().and_then(|field| self.program(&field.text));
        program.is_some_and(|program| program.builtin.declares)
    }

    /// Whether the assignments among the arguments are local to a function, and options give attributes.
    fn declares_locals(&self, fields: &[Field]) -> bool {
        let program = fields.first().and_then(|field| self.program(&field.text));
        program.is_some_and(|program| program.builtin.declares_locals)
    }

    /// Runs a command that is given by its words in this shell, after another word. Its variables stay if it declares some.
    pub(crate) fn run_here(&mut self, command: usize, fields: &[Field]) {
        let declares = self.declares(fields);
        if declares {
            self.declared_attributes(fields);
        }
        self.wrap(command, |analyzer| analyzer.run_fields(fields));
        if declares {
            self.export(fields, &[]);
        }
    }

    /// The attributes that a declaration gives: `-i` makes values arithmetic, `-l`, `-u` and `-c` change their case.
    pub(crate) fn declared_attributes(&mut self, fields: &[Field]) {
        let options = fields.iter().skip(1).take_while(|field| field.text.starts_with(['-', '+']));
        let has = |wanted: &[char]| options.clone().any(|field| field.text.contains(wanted));
        if !self.declares_locals(fields) {
            return;
        }
        self.state.options.has_integers |= has(&['i']);
        // Another name for a variable, by which it may be set.
        self.state.options.has_sourced |= has(&['n']);
        if !has(&['l', 'u', 'c']) {
            return;
        }
        // The assignments of the same command follow: they are not among its words.
        self.state.options.changes_case = true;
        for name in fields.iter().skip(1).filter(|field| !field.text.starts_with('-')) {
            let name = name.text.split('=').next().unwrap_or_default();
            self.state.options.make_unsteady(name);
        }
    }

    /// Makes the assignments of one command. For a declaration, all values are expanded first, so that none sees another one.
    /// Other shells expand them in turn.
    pub(super) fn assign_all(&mut self, assignments: &[Assignment], declares: bool) {
        let before =
            if declares && assignments.len() > 1 { Some(self.state.variables.clone()) } else { None };
        for (at, assignment) in assignments.iter().enumerate() {
            if declares && self.state.options.changes_case {
                self.state.options.make_unsteady(&assignment.name);
            }
            self.assign_printed(assignment);
            let earlier = assignments.get(..at).unwrap_or_default();
            let Some(before) = &before else { continue };
            if !earlier.iter().any(|earlier| uses(assignment, &earlier.name)) {
                continue;
            }
            let ((), at_once) = self.with(
                |analyzer| &mut analyzer.state.variables,
                before.clone(),
                |analyzer| analyzer.assign_printed(assignment),
            );
            if let (Some(one), Some(other)) =
                (self.state.get(&assignment.name), at_once.get(&assignment.name))
            {
                let either = one.join(other);
                self.state.set(&assignment.name, either);
            }
        }
        if declares {
            self.state.options.changes_case = false;
        }
    }

    /// `declare -n NAME=VARIABLE`: what the name is given later is not seen. It is a doubt if the shell or a program uses the variable.
    pub(super) fn refer_to_variables(&mut self, fields: &[Field], assignments: &[Assignment]) {
        if !fields.iter().any(|field| field.text.starts_with('-') && field.text.contains('n')) {
            return;
        }
        let value = |assignment: &Assignment| Some(self.state.get(&assignment.name)?.single()?.text.clone());
        let quoted = fields.iter().filter_map(|field| Some(field.text.split_once('=')?.1.to_owned()));
        let referred: Vec<String> = assignments.iter().filter_map(value).chain(quoted).collect();
        for variable in referred {
            self.used_by_shell(&variable);
            if usage_of(&variable).is_some() {
                self.doubt_script(&variable);
            }
        }
    }

    /// `declare -a NAME='(…)'`: an array takes such a value for the list of its elements, and expands that once more.
    pub(super) fn expand_compound(&mut self, name: &str, fields: &[Field]) {
        let Some(Value::Options(values)) = self.state.get(name).cloned() else { return };
        let is_array = declares_array(fields);
        for value in values.as_slice() {
            let text = as_code(value);
            if !text.starts_with('(') || !text.ends_with(')') {
                continue;
            }
            match parser::parse(&format!("{name}={text}"), self.scope.depth + 1) {
                // A variable may have become an array before.
                Ok(list) => self.one_of([true, false], |analyzer, expands| {
                    if expands || is_array {
                        analyzer.deeper(|analyzer| analyzer.list(&list));
                    }
                }),
                Err(ParseError::TooDeep) => self.doubt(Doubt::TooDeep),
                // Then it is no list.
                Err(ParseError::Syntax(_)) => {}
            }
        }
    }

    /// `declare -a NAME=$value`: an unknown value may be such a list, if this script makes it.
    pub(super) fn expand_unknown_compound(&mut self, assignment: &Assignment, fields: &[Field]) {
        let AssignedValue::Word(word) = &assignment.value else { return };
        let is_made_here = match word.first() {
            Some(Piece::Parameter { name, .. }) => self.state.get(name).is_some(),
            Some(Piece::Substitution { .. }) => true,
            _ => false,
        };
        let is_unknown = matches!(self.state.get(&assignment.name), Some(Value::Unknown));
        if is_unknown && is_made_here && declares_array(fields) {
            self.doubt_script(&assignment.name);
        }
    }

    /// Whether a declaration is local to the running function.
    pub(super) fn is_local(&self, fields: &[Field]) -> bool {
        let is_global = || fields.iter().any(|field| field.text.starts_with('-') && field.text.contains('g'));
        let is_in_function = !self.functions.locals.is_empty();
        is_in_function && self.declares_locals(fields) && !is_global()
    }

    /// Makes the variable local. At the end of the function it has its old value again.
    pub(super) fn make_local(&mut self, saved: SavedVariable) {
        let Err(at) = self.state.locals.binary_search(&saved.name) else { return };
        std::rc::Rc::make_mut(&mut self.state.locals).insert(at, saved.name.clone());
        if let Some(frame) = self.functions.locals.last_mut() {
            frame.push(saved);
        }
    }
}

/// Whether a declaration makes arrays.
pub(super) fn declares_array(fields: &[Field]) -> bool {
    fields.iter().any(|field| field.text.starts_with('-') && field.text.contains(['a', 'A']))
}

/// Whether the value of an assignment uses a variable.
fn uses(assignment: &Assignment, name: &str) -> bool {
    let is_used = |piece: &Piece| matches!(piece, Piece::Parameter { name: used, .. } if used == name);
    match &assignment.value {
        AssignedValue::Word(word) => word.iter().any(is_used),
        AssignedValue::Array(words) => words.iter().flatten().any(is_used),
    }
}
