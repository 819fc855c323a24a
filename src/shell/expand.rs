//! Words to fields: variables, braces, `~`, quotes and splitting.

use super::Quoting;
use super::beside;
use super::braces::{self, PieceRef};
use super::parameters::Found;
use super::partial::Partial;
use super::state::{Field, FieldKind, MAX_VALUE, Output, Value};
use super::syntax::{List, Operation, Piece, Word};
use super::walk::Walk;

/// So many combinations of possible values are tried for one command.
const MAX_COMBINATIONS: usize = 64;

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
                    self.append(&mut partial, found, name, Quoting::Quoted);
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
    fn append(&mut self, partial: &mut Partial, found: Found, name: &str, quoting: Quoting) {
        match found {
            Found::Number => partial.glob("*"),
            Found::Unknown => partial.unknown(&format!("${name}"), quoting),
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
            (Some(_), _) => partial.unknown(text, Quoting::Quoted),
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
                        found => self.append(&mut partial, found, name, Quoting::Quoted),
                    }
                }
                PieceRef::Whole(Piece::Parameter { name, operation, .. }) => {
                    match self.parameter(name, operation.as_ref(), false) {
                        Found::Fields(values) => self.unquoted(values, &mut partial, &mut fields),
                        found => self.append(&mut partial, found, name, Quoting::Bare),
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
                (FieldKind::Literal, None) | (FieldKind::Unknown, _) => {
                    partial.unknown(&value.text, Quoting::Bare);
                }
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
                    (text, _) => {
                        let quoting = if *quoted { Quoting::Quoted } else { Quoting::Bare };
                        partial.unknown(&format!("$({text})"), quoting);
                    }
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
                if beside::assigns(word) || beside::hides_code(word) {
                    self.beside(beside::shown(word));
                }
                partial.glob("*");
            }
            Piece::Pattern(text) => {
                // In zsh it may be a qualifier that runs code.
                self.beside(text.clone());
                partial.unknown(text, Quoting::Glob);
            }
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
