//! What `$name` and `${name…}` stand for, and assignments.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::beside;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::trim::trim;
use crate::analysis::variables::{MAX_OPTIONS, MAX_VALUE, Value};
use crate::programs::system;
use crate::syntax::tree::{Assigned, Assignment, Operation, Piece, Word};

/// What a parameter stands for.
pub(crate) enum Found {
    Fields(Vec<Field>),
    /// What matches a pattern of the shell.
    Like(&'static str),
    Unknown,
}

impl Analyzer<'_> {
    pub(crate) fn parameter(&mut self, name: &str, operation: Option<&Operation>, assigning: bool) -> Found {
        // Its flags make zsh run what is in it.
        if name.is_empty() {
            self.beside("${…}".to_owned());
        }
        let found = self.value(name, matches!(operation, Some(Operation::All)), assigning);
        let is_empty =
            matches!(&found, Found::Fields(fields) if fields.iter().all(|field| field.text.is_empty()));
        match operation {
            None | Some(Operation::All) => found,
            Some(Operation::Length) => Found::Like(system::NUMBER),
            Some(Operation::Default(word) | Operation::Assign(word) | Operation::Alternative(word)) => {
                let assigns = matches!(operation, Some(Operation::Assign(_)));
                if assigns {
                    self.beside(format!("${{{name}:=…}}"));
                }
                let other = self.scalar(word);
                let takes_other = !matches!(operation, Some(Operation::Alternative(_))) == is_empty;
                if assigns && !matches!(&found, Found::Fields(_) if !is_empty) {
                    self.assign_default(name, &found, &other);
                }
                match found {
                    Found::Unknown | Found::Like(_) => Found::Unknown,
                    Found::Fields(_) if takes_other => Found::Fields(vec![other]),
                    Found::Fields(fields) => Found::Fields(if is_empty { Vec::new() } else { fields }),
                }
            }
            Some(Operation::Trim { suffix, longest, pattern }) => {
                let pattern = self.scalar(pattern);
                match found {
                    Found::Fields(fields) => {
                        // Each length of the value is compared with the pattern.
                        self.work(fields.iter().map(|field| field.text.len().pow(2) / 8).sum());
                        let trimmed: Option<Vec<Field>> =
                            fields.iter().map(|field| trim(field, &pattern, *suffix, *longest)).collect();
                        trimmed.map_or(Found::Unknown, Found::Fields)
                    }
                    other => other,
                }
            }
            Some(Operation::Other(word)) => {
                self.substitutions(word);
                if matches!(word.first(), Some(Piece::Plain(text)) if text == "@P") {
                    self.expand_prompt(name, &found);
                }
                Found::Unknown
            }
        }
    }

    /// `${name:=word}` where the variable may be unset or empty.
    fn assign_default(&mut self, name: &str, found: &Found, word: &Field) {
        let is_known = matches!(found, Found::Fields(_)) && word.kind != FieldKind::Unknown;
        let value = if is_known { Value::one(word.clone()) } else { Value::Unknown };
        // With other values of the variable it may keep them.
        let value = match self.state.get(name) {
            Some(old) if old.single().is_none() => old.join(&value),
            _ => value,
        };
        self.state.set(name, value);
    }

    /// `${name@P}`: the value is expanded once more.
    fn expand_prompt(&mut self, name: &str, value: &Found) {
        match value {
            Found::Fields(fields) => {
                for field in fields {
                    self.evaluate(&field.text);
                }
            }
            Found::Like(_) => {}
            Found::Unknown if self.state.get(name).is_some() => self.doubt_script(&format!("${{{name}@P}}")),
            Found::Unknown => {}
        }
    }

    fn value(&mut self, name: &str, all: bool, assigning: bool) -> Found {
        if let Ok(index) = name.parse::<usize>() {
            return match (&self.state.positional, index.checked_sub(1)) {
                (Some(fields), Some(index)) => {
                    Found::Fields(fields.get(index).cloned().into_iter().collect())
                }
                _ => Found::Unknown,
            };
        }
        if matches!(name, "@" | "*") {
            return self
                .state
                .positional
                .as_ref()
                .map_or(Found::Unknown, |fields| Found::Fields(fields.to_vec()));
        }
        match self.state.get(name) {
            Some(Value::Unknown) => Found::Unknown,
            Some(Value::Array(fields)) if all => Found::Fields(fields.clone()),
            Some(Value::Array(fields)) => Found::Fields(fields.first().cloned().into_iter().collect()),
            Some(Value::Options(options)) => {
                let options = options.as_slice();
                let picked =
                    if options.len() == 1 { Some(0) } else { self.choices.pick(name, options.len()) };
                match picked.and_then(|index| options.get(index)) {
                    Some(field) => Found::Fields(vec![field.clone()]),
                    None => Found::Unknown,
                }
            }
            None => self.unassigned(name, assigning),
        }
    }

    fn unassigned(&self, name: &str, assigning: bool) -> Found {
        match (name, self.home) {
            // By `env HOME=x bash -c …`.
            ("HOME" | "TMPDIR", _) if self.state.exports.has(name) => Found::Unknown,
            ("HOME", Some(home)) => Found::Fields(vec![Field::literal(home)]),
            ("IFS", _) => Found::Fields(vec![Field::literal(" \t\n")]),
            // It moves with `cd`, so it is only replaced where it is used.
            ("PWD", _) if !assigning => Found::Fields(vec![Field::literal(".")]),
            ("PWD", _) => self.current_directory().map_or(Found::Unknown, |field| Found::Fields(vec![field])),
            // `CLAUDE_PROJECT_DIR` is set for hooks, but not for commands: there it may be empty.
            ("TMPDIR", _) => {
                self.variable_outside(name).map_or(Found::Unknown, |field| Found::Fields(vec![field]))
            }
            (
                "?" | "$" | "!" | "#" | "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID" | "BASHPID" | "LINENO"
                | "EPOCHSECONDS",
                _,
            ) => Found::Like(system::NUMBER),
            ("USER" | "LOGNAME" | "HOSTNAME" | "HOSTTYPE", _) => Found::Like(system::NAME),
            _ => Found::Unknown,
        }
    }

    pub(crate) fn assign(&mut self, assignment: &Assignment) {
        let mut options: Vec<Field> = Vec::new();
        let value = match &assignment.value {
            Assigned::Word(word) => {
                self.each_choice(|analyzer| {
                    let field = analyzer.scalar(word);
                    // Whoever uses them uses each of them.
                    let fields = analyzer.listed_files(word).unwrap_or_else(|| vec![field]);
                    for field in fields {
                        if !options.contains(&field) {
                            options.push(field);
                        }
                    }
                });
                Value::Options(options.into_iter().collect())
            }
            Assigned::Array(words) => {
                self.each_choice(|analyzer| {
                    options.extend(words.iter().flat_map(|word| analyzer.fields(word)))
                });
                Value::Array(options)
            }
        };
        let value = match value {
            Value::Options(fields) if is_unclear(fields.as_slice()) => Value::Unknown,
            Value::Array(fields) if is_unclear(&fields) => Value::Unknown,
            value => value,
        };
        let value = if assignment.partial { self.appended(&assignment.name, value) } else { value };
        self.state.set(&assignment.name, value);
    }

    /// The variables that arithmetic sets hold numbers from now on.
    pub(crate) fn assign_numbers(&mut self, word: &Word) {
        if !beside::assigns(word) {
            return;
        }
        for name in beside::names(word) {
            self.state.set(name, Value::one(Field::like(system::NUMBER, format!("${name}"))));
        }
    }

    fn appended(&self, name: &str, value: Value) -> Value {
        match (self.state.get(name), value) {
            (Some(Value::Options(old)), Value::Options(new)) => match (old.as_slice(), new.as_slice()) {
                ([old], [new]) if old.is_literal() && new.is_literal() && old.text.len() < MAX_VALUE => {
                    Value::one(Field::literal(format!("{}{}", old.text, new.text)))
                }
                _ => Value::Unknown,
            },
            (Some(Value::Array(old)), Value::Array(new)) if old.len() + new.len() <= MAX_OPTIONS => {
                Value::Array(old.iter().cloned().chain(new).collect())
            }
            _ => Value::Unknown,
        }
    }
}

/// Whether there are too many fields to follow, or unknown ones.
fn is_unclear(fields: &[Field]) -> bool {
    fields.len() > MAX_OPTIONS || fields.iter().any(|field| field.kind == FieldKind::Unknown)
}
