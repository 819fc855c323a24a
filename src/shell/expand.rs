//! Words to fields: variables, braces, `~`, quotes and splitting.

use super::braces::{self, PieceRef};
use super::partial::Partial;
use super::state::{Field, FieldKind, MAX_OPTIONS, Output, Value};
use super::syntax::{Assigned, Assignment, List, Operation, Piece, Word};
use super::walk::Walk;

/// A longer value is not kept.
const MAX_VALUE: usize = 4096;
/// So many combinations of possible values are tried for one command.
const MAX_COMBINATIONS: usize = 64;

/// What a parameter stands for.
enum Found {
    Fields(Vec<Field>),
    Number,
    Unknown,
}

impl Walk<'_> {
    /// Runs something for each combination of possible values of the variables that it uses.
    pub(super) fn each_choice(&mut self, mut run: impl FnMut(&mut Self)) {
        let outer = std::mem::take(&mut self.choices);
        run(self);
        for count in 1.. {
            if !self.choices.advance() {
                break;
            }
            self.choices.is_repeated = true;
            if count >= MAX_COMBINATIONS {
                self.choices.gives_up = true;
                run(self);
                break;
            }
            run(self);
        }
        self.choices = outer;
    }

    /// All fields of a word.
    pub(super) fn fields(&mut self, word: &Word) -> Vec<Field> {
        let fields = match braces::expand(word) {
            braces::Expanded::One => self.split(word.iter().map(PieceRef::Whole)),
            braces::Expanded::Many(words) => {
                words.into_iter().flat_map(|word| self.split(word.into_iter())).collect()
            }
            braces::Expanded::TooMany => {
                self.substitutions(word);
                vec![Field::unknown("{…}")]
            }
        };
        self.work(fields.iter().map(|field| field.text.len()).sum());
        fields
    }

    /// A word that is neither split nor expanded by globs, as in an assignment.
    pub(super) fn scalar(&mut self, word: &Word) -> Field {
        let mut partial = Partial::default();
        let mut is_number = false;
        for (at, piece) in word.iter().enumerate() {
            match piece {
                Piece::Plain(text) if at == 0 => self.tilde(text, &mut partial),
                Piece::Plain(text) | Piece::Quoted(text) => partial.quoted(text),
                Piece::Parameter { name, operation, .. } => {
                    let found = self.parameter(name, operation.as_ref(), true);
                    is_number |= matches!(found, Found::Number);
                    self.append(&mut partial, found, name);
                }
                Piece::Arithmetic(_) => {
                    is_number = true;
                    self.other(piece, &mut partial);
                }
                piece => self.other(piece, &mut partial),
            }
        }
        self.work(partial.literal.len());
        if partial.literal.len() > MAX_VALUE {
            return Field::unknown("a long value");
        }
        partial.finish(is_number)
    }

    /// Adds a value to a field as it is.
    fn append(&mut self, partial: &mut Partial, found: Found, name: &str) {
        match found {
            Found::Number => partial.glob("*"),
            Found::Unknown => partial.unknown(&format!("${name}")),
            Found::Fields(fields) => {
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 {
                        partial.quoted(" ");
                    }
                    partial.value(field);
                }
                partial.is_started = true;
            }
        }
    }

    /// A `~` at the start of a word.
    fn tilde(&self, text: &str, partial: &mut Partial) {
        match (text.strip_prefix('~'), self.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                partial.quoted(home);
                partial.plain(rest);
            }
            (Some(_), _) => partial.unknown(text),
            (None, _) => partial.plain(text),
        }
    }

    fn split<'p>(&mut self, pieces: impl Iterator<Item = PieceRef<'p>>) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut partial = Partial::default();
        for (at, piece) in pieces.enumerate() {
            match piece {
                PieceRef::Text(text) => self.plain_text(at, &text, &mut partial),
                PieceRef::Whole(Piece::Plain(text)) => self.plain_text(at, text, &mut partial),
                PieceRef::Whole(Piece::Quoted(text)) => partial.quoted(text),
                PieceRef::Whole(Piece::Parameter { name, quoted: true, operation }) => {
                    let is_list = name == "@" || matches!(operation, Some(Operation::All));
                    match self.parameter(name, operation.as_ref(), false) {
                        Found::Fields(values) if is_list => {
                            join_list(values, &mut partial, &mut fields);
                        }
                        found => self.append(&mut partial, found, name),
                    }
                }
                PieceRef::Whole(Piece::Parameter { name, operation, .. }) => {
                    match self.parameter(name, operation.as_ref(), false) {
                        Found::Fields(values) => self.unquoted(values, &mut partial, &mut fields),
                        found => self.append(&mut partial, found, name),
                    }
                }
                PieceRef::Whole(piece) => self.other(piece, &mut partial),
            }
        }
        if partial.is_started {
            fields.push(partial.finish(true));
        }
        fields
    }

    fn plain_text(&self, at: usize, text: &str, partial: &mut Partial) {
        if at == 0 { self.tilde(text, partial) } else { partial.plain(text) }
    }

    /// Values without quotes are split, and are patterns.
    fn unquoted(&mut self, values: Vec<Field>, partial: &mut Partial, fields: &mut Vec<Field>) {
        let separators = self.separators();
        for (index, value) in values.iter().enumerate() {
            if index > 0 && partial.is_started {
                fields.push(std::mem::take(partial).finish(true));
            }
            match (value.kind, &separators) {
                (FieldKind::Literal, Some(separators)) => {
                    for (part, text) in value.text.split(|c| separators.contains(c)).enumerate() {
                        if part > 0 && partial.is_started {
                            fields.push(std::mem::take(partial).finish(true));
                        }
                        if !text.is_empty() {
                            partial.plain(text);
                        }
                    }
                }
                (FieldKind::Literal, None) | (FieldKind::Unknown, _) => partial.unknown(&value.text),
                (FieldKind::Glob | FieldKind::Tree, _) => partial.value(value),
            }
        }
    }

    /// The characters of `IFS`, where they are known.
    fn separators(&self) -> Option<String> {
        match self.state.get("IFS") {
            None => Some(" \t\n".to_owned()),
            Some(Value::Options(options)) => match options.as_slice() {
                [field] if field.is_literal() => Some(field.text.clone()),
                _ => None,
            },
            Some(_) => None,
        }
    }

    /// Substitutions and arithmetic.
    fn other(&mut self, piece: &Piece, partial: &mut Partial) {
        match piece {
            Piece::Substitution { list, text, quoted } => {
                let output = if self.choices.is_repeated {
                    Output::Unknown
                } else {
                    let outer = std::mem::replace(&mut self.output, Output::Unknown);
                    self.in_substitution(|walk| walk.list(list));
                    let printed = std::mem::replace(&mut self.output, outer);
                    if is_one_command(list) { printed } else { Output::Unknown }
                };
                match (text.as_str(), output) {
                    ("pwd", _) => partial.plain("."),
                    ("mktemp" | "mktemp -d", _) => partial.quoted("/tmp/tmp.mktemp"),
                    (_, Output::Text(text)) if *quoted || !text.contains(char::is_whitespace) => {
                        partial.quoted(text.trim_end_matches('\n'));
                    }
                    (text, _) => partial.unknown(&format!("$({text})")),
                }
            }
            Piece::Process(list) => {
                if !self.choices.is_repeated {
                    self.output = Output::Unknown;
                    self.in_substitution(|walk| walk.list(list));
                    let printed = std::mem::replace(&mut self.output, Output::Unknown);
                    self.process = if is_one_command(list) { printed } else { Output::Unknown };
                }
                partial.quoted("/dev/fd/63");
            }
            Piece::Arithmetic(word) => {
                self.substitutions(word);
                partial.glob("*");
            }
            Piece::Pattern(text) => partial.unknown(text),
            Piece::Plain(_) | Piece::Quoted(_) | Piece::Parameter { .. } => {}
        }
    }

    fn in_substitution(&mut self, run: impl FnOnce(&mut Self)) {
        let (redirected, input) = (std::mem::take(&mut self.redirected), self.input.clone());
        let choices = std::mem::take(&mut self.choices);
        self.subshell(|walk| walk.deeper(run));
        (self.redirected, self.input, self.choices) = (redirected, input, choices);
    }

    /// Runs the substitutions of a word whose value does not matter.
    pub(super) fn substitutions(&mut self, word: &Word) {
        for piece in word {
            match piece {
                Piece::Parameter { name, operation, .. } => {
                    self.parameter(name, operation.as_ref(), true);
                }
                piece => self.other(piece, &mut Partial::default()),
            }
        }
    }

    fn parameter(&mut self, name: &str, operation: Option<&Operation>, assigning: bool) -> Found {
        let found = self.value(name, matches!(operation, Some(Operation::All)), assigning);
        let is_empty =
            matches!(&found, Found::Fields(fields) if fields.iter().all(|field| field.text.is_empty()));
        match operation {
            None | Some(Operation::All) => found,
            Some(Operation::Length) => Found::Number,
            Some(Operation::Default(word) | Operation::Alternative(word)) => {
                let other = self.scalar(word);
                let takes_other = matches!(operation, Some(Operation::Default(_))) == is_empty;
                match found {
                    Found::Unknown | Found::Number => Found::Unknown,
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
                        let trimmed: Option<Vec<Field>> = fields
                            .iter()
                            .map(|field| super::trim::trim(field, &pattern, *suffix, *longest))
                            .collect();
                        trimmed.map_or(Found::Unknown, Found::Fields)
                    }
                    other => other,
                }
            }
            Some(Operation::Other(word)) => {
                self.substitutions(word);
                Found::Unknown
            }
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
                let options = options.clone();
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
            ("HOME", Some(home)) => Found::Fields(vec![Field::literal(home)]),
            ("IFS", _) => Found::Fields(vec![Field::literal(" \t\n")]),
            // It moves with `cd`, so it is only replaced where it is used.
            ("PWD", _) if !assigning => Found::Fields(vec![Field::literal(".")]),
            (
                "?" | "$" | "!" | "#" | "-" | "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID" | "BASHPID"
                | "LINENO" | "EPOCHSECONDS",
                _,
            ) => Found::Number,
            _ => Found::Unknown,
        }
    }

    pub(super) fn assign(&mut self, assignment: &Assignment) {
        let mut options: Vec<Field> = Vec::new();
        let value = match &assignment.value {
            Assigned::Word(word) => {
                self.each_choice(|walk| {
                    let field = walk.scalar(word);
                    if !options.contains(&field) {
                        options.push(field);
                    }
                });
                Value::Options(options)
            }
            Assigned::Array(words) => {
                self.each_choice(|walk| options.extend(words.iter().flat_map(|word| walk.fields(word))));
                Value::Array(options)
            }
        };
        let value = match value {
            Value::Options(fields) | Value::Array(fields)
                if fields.len() > MAX_OPTIONS
                    || fields.iter().any(|field| field.kind == FieldKind::Unknown) =>
            {
                Value::Unknown
            }
            value => value,
        };
        let value = if assignment.partial { self.appended(&assignment.name, value) } else { value };
        self.state.set(&assignment.name, value);
    }

    fn appended(&self, name: &str, value: Value) -> Value {
        match (self.state.get(name), value) {
            (Some(Value::Options(old)), Value::Options(new)) => match (old.as_slice(), new.as_slice()) {
                ([old], [new]) if old.is_literal() && new.is_literal() && old.text.len() < MAX_VALUE => {
                    Value::Options(vec![Field::literal(format!("{}{}", old.text, new.text))])
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

fn is_one_command(list: &List) -> bool {
    matches!(list.as_slice(), [item] if item.rest.is_empty() && item.first.len() == 1)
}

/// `"$@"`: one field per value; the first and the last stick to what is around them.
fn join_list(values: Vec<Field>, partial: &mut Partial, fields: &mut Vec<Field>) {
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            fields.push(std::mem::take(partial).finish(true));
        }
        partial.value(&value);
    }
}
