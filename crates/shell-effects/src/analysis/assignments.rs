//! Assignments: `name=value`, `name+=value`, `name[index]=value`, `name=(…)`.

use crate::Quoting;
use crate::analysis::analyzer::{Analyzer, Trap};
use crate::analysis::field::{Field, FieldBuilder, FieldKind};
use crate::analysis::unknown_code::{as_code, is_wholly_unknown};
use crate::analysis::variables::{MAX_OPTIONS, MAX_VALUE, Value};
use crate::analysis::{exports, side_effects};
use crate::programs::system;
use crate::programs::variables::{VariableUse, usage_of};
use crate::syntax::tree::{AssignedValue, Assignment, Piece, Word};

impl Analyzer<'_> {
    /// Assigns, and stores which commands print the value.
    pub(crate) fn assign_printed(&mut self, assignment: &Assignment) {
        let start = self.script.commands.len();
        let mut by: Vec<usize> = Vec::new();
        if let AssignedValue::Word(word) = &assignment.value {
            for piece in word {
                let Piece::Parameter { name, .. } = piece else { continue };
                by.extend(self.state.variables.printed_by(name));
            }
        }
        self.assign(assignment);
        by.extend(start..self.script.commands.len());
        self.state.variables.set_printed_by(&assignment.name, by);
        self.used_by_shell(&assignment.name);
    }

    /// Gives a variable a value in another way than by an assignment: `read`, `printf -v`, `for`, `${name:=value}`. `by` are the
    /// commands that print the value.
    pub(crate) fn give_value(&mut self, name: &str, value: Value, by: Vec<usize>) {
        if self.state.options.has_integers {
            self.evaluate_integers(&value);
        }
        self.state.set(name, value);
        self.state.variables.set_printed_by(name, by);
        self.used_by_shell(name);
        self.pass_on(name);
    }

    /// What the shell itself does because of a variable that was set.
    pub(super) fn used_by_shell(&mut self, name: &str) {
        // Their elements are commands.
        if matches!(name, "BASH_ALIASES" | "BASH_CMDS") {
            self.doubt_script(name);
        }
        if name == "GLOBIGNORE" {
            self.state.options.switch_on("dotglob");
        }
        self.evaluate_prompt(name);
    }

    /// Programs get the new value of a variable if it is exported. Returns its assignments.
    pub(super) fn pass_on(&mut self, name: &str) -> Vec<String> {
        let assigned = self.variables(name);
        let is_given = self.state.exports.all || self.state.exports.has(name);
        if is_given {
            self.state.exports.give(assigned.clone());
        }
        // It may already be exported: some clients set `GIT_EDITOR` for their commands.
        if is_given || exports::is_code(name) {
            self.run_variables(&assigned, self.script.commands.len().saturating_sub(1));
        }
        assigned
    }

    fn assign(&mut self, assignment: &Assignment) {
        if let Some(index) = &assignment.index {
            self.substitutions(index);
            self.evaluate_index(index);
        }
        let value = match self.assigned_value(assignment) {
            Value::Options(fields) if is_unclear(fields.as_slice()) => {
                self.partly_known(&assignment.name, fields.as_slice())
            }
            Value::Array(fields) if is_unclear(&fields) => Value::Unknown,
            value => value,
        };
        self.evaluate_hidden_values(&value);
        if self.state.options.has_integers {
            self.evaluate_integers(&value);
        }
        let value = match &assignment.index {
            Some(_) => Value::Unknown,
            None if assignment.appends => self.appended(&assignment.name, value),
            None => value,
        };
        self.state.set(&assignment.name, value);
    }

    /// The value on the right of the `=`.
    fn assigned_value(&mut self, assignment: &Assignment) -> Value {
        let mut options: Vec<Field> = Vec::new();
        match &assignment.value {
            AssignedValue::Word(word) => {
                self.each_choice(|analyzer| {
                    let field = analyzer.scalar(word);
                    // A command that uses the variable uses each of the files.
                    let fields = analyzer.listed_files(word).unwrap_or_else(|| vec![field]);
                    for field in fields {
                        if !options.contains(&field) {
                            options.push(field);
                        }
                    }
                });
                if assignment.appends && assignment.index.is_none() {
                    options = self.appended_to(&assignment.name, options);
                }
                Value::Options(options.into_iter().collect())
            }
            AssignedValue::Array(words) => {
                words.iter().filter(|word| has_index(word)).for_each(|word| self.evaluate_index(word));
                self.each_choice(|analyzer| {
                    options.extend(words.iter().flat_map(|word| analyzer.fields(word)))
                });
                Value::Array(options)
            }
        }
    }

    /// A value that is an array index with a substitution will be evaluated, wherever that happens.
    fn evaluate_hidden_values(&mut self, value: &Value) {
        let fields = match value {
            Value::Options(fields) => fields.as_slice(),
            Value::Array(fields) => fields,
            Value::Unknown => return,
        };
        let texts: Vec<String> = fields.iter().map(|field| as_code(field).into_owned()).collect();
        let texts = texts.into_iter().filter(|text| side_effects::is_evaluated(text));
        for text in texts {
            self.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.evaluate(&text)));
        }
    }

    /// A variable may have been declared as a number.
    pub(crate) fn evaluate_integers(&mut self, value: &Value) {
        let Value::Options(fields) = value else { return };
        let texts: Vec<String> = fields.as_slice().iter().map(|field| field.text.clone()).collect();
        texts.iter().for_each(|text| self.evaluate_number(text));
    }

    /// A shell expands its prompts, one of them with `set -x` before each command.
    fn evaluate_prompt(&mut self, name: &str) {
        if !matches!(usage_of(name), Some((VariableUse::Prompt, _))) {
            return;
        }
        match self.state.get(name).cloned() {
            Some(Value::Options(values)) => {
                for value in values.as_slice() {
                    let text = as_code(value);
                    self.as_part(|analyzer| analyzer.evaluate(&text));
                    // It is expanded again before each later command.
                    if text.contains(['(', '`']) {
                        self.traps.push((Trap::Prompt(text.into_owned()), self.state.clone()));
                    }
                }
                if is_unclear(values.as_slice()) && !self.state.variables.printed_by(name).is_empty() {
                    self.doubt_script(name);
                }
            }
            // The user has set the other variables.
            _ if self.state.variables.printed_by(name).is_empty() => {}
            _ => self.doubt_script(name),
        }
    }

    /// The variables that arithmetic sets hold numbers from now on. If it may fail, they may still have the values from before.
    pub(crate) fn assign_numbers(&mut self, word: &Word) {
        if !side_effects::assigns(word) {
            return;
        }
        let may_fail = side_effects::may_fail(word);
        for name in side_effects::names(word) {
            let number = Field::like(system::NUMBER, format!("${name}"));
            let value = match self.state.get(name) {
                _ if !may_fail => Value::one(number),
                Some(old) => old.join(&Value::one(number)),
                None => Value::one_of([unknown_value(name), number]),
            };
            self.state.set(name, value);
        }
    }

    /// `name+=value`: the old value followed by each new one. An unknown old value stays a gap.
    fn appended_to(&self, name: &str, values: Vec<Field>) -> Vec<Field> {
        let unknown = unknown_value(name);
        let old = match self.state.get(name) {
            Some(Value::Array(_)) => return vec![unknown],
            Some(value) => value.single().unwrap_or(&unknown),
            None => &unknown,
        };
        let is_long = |value: &Field| old.text.len() + value.text.len() > MAX_VALUE;
        let append = |value: &Field| {
            if is_long(value) {
                return unknown.clone();
            }
            let mut both = FieldBuilder::default();
            both.value(old);
            both.value(value);
            both.finish(false)
        };
        values.iter().map(append).collect()
    }

    fn appended(&self, name: &str, value: Value) -> Value {
        match (self.state.get(name), value) {
            (_, value @ Value::Options(_)) => value,
            (Some(Value::Array(old)), Value::Array(new)) if old.len() + new.len() <= MAX_OPTIONS => {
                Value::Array(old.iter().cloned().chain(new).collect())
            }
            _ => Value::Unknown,
        }
    }
}

/// Whether an element of an array has an index of its own: `[x]=1`.
fn has_index(word: &Word) -> bool {
    matches!(word.first(), Some(Piece::Plain(text)) if text.starts_with('['))
}

impl Analyzer<'_> {
    /// A value that has several possibilities, some of them known: `x=${y:-main}`; or that is partly known: `x="cat $y"`, or known to
    /// be a path: `x=$(npm prefix)`.
    fn partly_known(&self, name: &str, fields: &[Field]) -> Value {
        if let [field] = fields
            && self.is_path_or_name(field)
        {
            return Value::one(field.clone());
        }
        if fields.len() > MAX_OPTIONS || fields.iter().all(is_wholly_unknown) {
            return Value::Unknown;
        }
        let of = |field: &Field| if is_wholly_unknown(field) { unknown_value(name) } else { field.clone() };
        Value::one_of(fields.iter().map(of))
    }
}

/// The placeholder for the value of an unknown variable.
pub(super) fn unknown_value(name: &str) -> Field {
    let written = format!("${name}");
    Field { holes: vec![(0..written.len(), Quoting::Quoted)], ..Field::unknown(written) }
}

/// Whether there are unknown fields, or too many to follow.
fn is_unclear(fields: &[Field]) -> bool {
    fields.len() > MAX_OPTIONS || fields.iter().any(|field| field.kind == FieldKind::Unknown)
}
