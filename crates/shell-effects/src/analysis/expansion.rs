//! Words to fields: variables, braces, `~`, quotes and splitting.

use std::rc::Rc;

use crate::Quoting;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::braces::{self, PieceRef};
use crate::analysis::field::{Field, FieldBuilder, FieldKind};
use crate::analysis::parameters::ParameterValue;
use crate::analysis::side_effects;
use crate::analysis::stream::{self, Stream};
use crate::analysis::variables::MAX_VALUE;
use crate::programs::system;
use crate::syntax::tree::{AndOrList, Command, CommandKind, Join, List, Operation, Piece, Pipeline, Word};

impl Analyzer<'_> {
    /// All fields of a word.
    pub(crate) fn fields(&mut self, word: &Word) -> Vec<Field> {
        // In quotes, the output is one word: the name of the only file, or of no file if there are several.
        if let [Piece::Substitution { list, text, quoted: true }] = word.as_slice()
            && self.substitution(list, text).is_none()
            && let Some(files) = self.listed_files(word)
        {
            return self.with_glob_options(files);
        }
        let fields = match braces::expand(word) {
            braces::BraceExpansion::One => self.split(word.iter().map(PieceRef::Whole)),
            braces::BraceExpansion::Many(words) => {
                words.into_iter().flat_map(|word| self.split(word.into_iter())).collect()
            }
            braces::BraceExpansion::TooMany => {
                self.substitutions(word);
                vec![Field::unknown("{…}")]
            }
        };
        self.work(fields.iter().map(|field| field.text.len()).sum());
        self.with_glob_options(fields)
    }

    /// A word that is neither split nor expanded by globs, as in an assignment.
    pub(crate) fn scalar(&mut self, word: &Word) -> Field {
        let mut partial = FieldBuilder::default();
        for (at, piece) in word.iter().enumerate() {
            match piece {
                Piece::Plain(text) if at == 0 => self.tilde(text, true, &mut partial),
                Piece::Plain(text) | Piece::Quoted(text) => partial.quoted(text),
                Piece::Parameter { name, operation, .. } => {
                    let found = self.parameter(name, operation.as_ref(), true);
                    self.append(&mut partial, found, name, Quoting::Quoted);
                }
                piece => self.other_piece(piece, &mut partial),
            }
        }
        self.work(partial.literal.len());
        if partial.literal.len() > MAX_VALUE {
            return Field::unknown("a long value");
        }
        partial.finish(false)
    }

    /// Adds a value to a field as it is.
    fn append(&mut self, partial: &mut FieldBuilder, found: ParameterValue, name: &str, quoting: Quoting) {
        match found {
            ParameterValue::Like(pattern) => partial.like(pattern, &format!("${name}")),
            ParameterValue::Unknown => partial.unknown(&format!("${name}"), quoting),
            ParameterValue::Fields(fields) => {
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 {
                        self.separate(partial);
                    }
                    partial.value(field);
                }
                partial.is_started = true;
            }
            ParameterValue::Default(field) => {
                partial.value(&field);
                partial.is_started = true;
            }
        }
    }

    /// Joins values by the first character of `IFS`.
    fn separate(&self, partial: &mut FieldBuilder) {
        match self.separators() {
            Some(separators) => {
                let first: String = separators.chars().take(1).collect();
                partial.quoted(&first);
            }
            None => partial.unknown("$IFS", Quoting::Quoted),
        }
    }

    /// A `~` at the start of a word: the home directory, `~+` the current one, `~-` the one before.
    fn tilde(&self, text: &str, as_value: bool, partial: &mut FieldBuilder) {
        let Some(rest) = text.strip_prefix('~') else { return partial.plain(text) };
        let (name, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let directory = match name {
            "" => self.home_here(),
            "+" if as_value => self.current_directory(),
            "+" => Some(Field::literal(".")),
            "-" => self.previous_directory(as_value),
            _ => None,
        };
        match directory {
            Some(directory) => {
                partial.value(&directory);
                partial.plain(path);
            }
            None => partial.unknown(text, Quoting::Quoted),
        }
    }

    fn split<'p>(&mut self, pieces: impl Iterator<Item = PieceRef<'p>>) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut partial = FieldBuilder::default();
        for (at, piece) in pieces.enumerate() {
            match piece {
                PieceRef::Text(text) => self.plain_text(at, &text, &mut partial),
                PieceRef::Whole(piece) => self.piece(at, piece, &mut partial, &mut fields),
            }
        }
        if partial.is_started {
            fields.push(partial.finish(true));
        }
        fields
    }

    fn piece(&mut self, at: usize, piece: &Piece, partial: &mut FieldBuilder, fields: &mut Vec<Field>) {
        match piece {
            Piece::Plain(text) => self.plain_text(at, text, partial),
            Piece::Quoted(text) => partial.quoted(text),
            Piece::Parameter { name, quoted: true, operation } => {
                let is_list = name == "@" || matches!(operation, Some(Operation::All));
                match self.parameter(name, operation.as_ref(), false) {
                    ParameterValue::Fields(values) if is_list => join_list(values, partial, fields),
                    // It may be any number of words.
                    found if is_list => self.append(partial, found, name, Quoting::Bare),
                    found => self.append(partial, found, name, Quoting::Quoted),
                }
            }
            Piece::Parameter { name, operation, .. } => {
                match (self.parameter(name, operation.as_ref(), false), operation) {
                    (ParameterValue::Fields(values), _) => self.unquoted(values, partial, fields),
                    (
                        ParameterValue::Default(_),
                        Some(Operation::Default(word) | Operation::Alternative(word)),
                    ) => self.default_word(word, partial, fields),
                    (found, _) => self.append(partial, found, name, Quoting::Bare),
                }
            }
            Piece::Substitution { list, text, quoted: false } => match self.substitution(list, text) {
                Some(printed) => self.printed_words(&printed, partial, fields),
                None => self.printed_files(list, text, partial, fields),
            },
            piece => self.other_piece(piece, partial),
        }
    }

    /// The unquoted word of `${name-word}`: its unquoted parts are split.
    fn default_word(&mut self, word: &Word, partial: &mut FieldBuilder, fields: &mut Vec<Field>) {
        for (at, piece) in word.iter().enumerate() {
            match piece {
                Piece::Plain(text) if !text.starts_with('~') => {
                    self.unquoted(vec![Field::literal(text.as_str())], partial, fields);
                }
                piece => self.piece(at, piece, partial, fields),
            }
        }
    }

    fn plain_text(&self, at: usize, text: &str, partial: &mut FieldBuilder) {
        if at == 0 { self.tilde(text, false, partial) } else { partial.plain(text) }
    }

    /// Unquoted values are split, and are patterns.
    fn unquoted(&mut self, values: Vec<Field>, partial: &mut FieldBuilder, fields: &mut Vec<Field>) {
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

    /// The characters of `IFS`, if they are known.
    pub(crate) fn separators(&self) -> Option<String> {
        match self.state.get("IFS") {
            None => Some(" \t\n".to_owned()),
            Some(value) => value.single().filter(|field| field.is_literal()).map(|field| field.text.clone()),
        }
    }

    /// Substitutions and arithmetic.
    fn other_piece(&mut self, piece: &Piece, partial: &mut FieldBuilder) {
        match piece {
            Piece::Substitution { list, text, quoted } => match self.substitution(list, text) {
                Some(printed) => partial.value(&printed),
                None => {
                    let quoting = if *quoted { Quoting::Quoted } else { Quoting::Bare };
                    partial.unknown(&format!("$({text})"), quoting);
                }
            },
            Piece::Process { list, reads } => {
                if !self.combinations.is_repeated {
                    self.process_substitution(list, *reads);
                }
                partial.quoted("/dev/fd/63");
            }
            Piece::Arithmetic(word) => {
                self.substitutions(word);
                self.evaluate_hidden(word, true);
                self.assign_numbers(word);
                if side_effects::assigns(word) && !self.is_harmless_arithmetic(word)
                    || side_effects::hides_code(word)
                {
                    self.side_effect(side_effects::shown(word));
                }
                partial.like(system::NUMBER, "$((…))");
            }
            Piece::Pattern(text) => {
                // In zsh it may be a qualifier that runs code.
                self.side_effect(text.clone());
                partial.unknown(text, Quoting::Glob);
            }
            Piece::Plain(_) | Piece::Quoted(_) | Piece::Parameter { .. } => {}
        }
    }

    fn process_substitution(&mut self, list: &List, reads: bool) {
        self.starts_parallel();
        let run = |analyzer: &mut Self| {
            // It receives the output of the command. Only `tee` prints its input.
            if reads && !matches!(analyzer.scope.input, Stream::Text(_)) {
                analyzer.set_input(Stream::Unknown);
            }
            analyzer.scope.unordered += 1;
            analyzer.printing(|analyzer| analyzer.in_substitution(|analyzer| analyzer.list(list)))
        };
        let (printed, _) = self.with(
            |analyzer| &mut analyzer.streams.process,
            Stream::Nothing,
            |analyzer| analyzer.scoped(run),
        );
        // If there are several, which one a descriptor means is not followed.
        let process = &mut self.streams.process;
        let is_only = *process == Stream::Nothing;
        process.add(printed);
        if !is_only {
            process.blur();
        }
        self.streams.has_process = true;
    }

    /// The output of a substitution, if it is known.
    fn substitution(&mut self, list: &Rc<List>, text: &str) -> Option<Field> {
        let output = match self.combinations.printed(list) {
            Some(output) => output.clone(),
            None if self.combinations.is_repeated => Stream::Unknown,
            None => {
                let output =
                    self.printing(|analyzer| analyzer.in_substitution(|analyzer| analyzer.list(list)));
                self.combinations.remember(list, &output);
                output
            }
        };
        let known = self.printed_directory(text).or_else(|| output.exactly());
        let known = known.or_else(|| self.printed_at_success(list, &output));
        let entered = || if enters_and_prints(list) { output.if_printed() } else { None };
        known.or_else(entered).or_else(|| self.printed_pattern(text))
    }

    /// The pattern of a program's output, unless the script has a function or an alias of that name.
    fn printed_pattern(&self, text: &str) -> Option<Field> {
        let pattern = self.pattern_of_output(text)?;
        let name = text.split_whitespace().next().unwrap_or_default();
        let is_own = self.state.functions.get(name).is_some() || self.state.aliases.get(name).is_some();
        if is_own {
            None
        } else if pattern.contains('*') {
            Some(Field::like(pattern, format!("$({text})")))
        } else {
            Some(Field::literal(pattern))
        }
    }

    /// The files that an unquoted substitution names, such as `$(find . -name x)`.
    fn printed_files(
        &self,
        list: &Rc<List>,
        text: &str,
        partial: &mut FieldBuilder,
        fields: &mut Vec<Field>,
    ) {
        match self.combinations.printed(list) {
            Some(Stream::Files(files)) if !partial.is_started => {
                fields.extend(files.iter().map(stream::found))
            }
            _ => partial.unknown(&format!("$({text})"), Quoting::Bare),
        }
    }

    /// The files that a word names, if it is only a substitution.
    pub(crate) fn listed_files(&self, word: &Word) -> Option<Vec<Field>> {
        let [Piece::Substitution { list, .. }] = word.as_slice() else { return None };
        match self.combinations.printed(list)? {
            Stream::Files(files) => Some(files.iter().map(stream::found).collect()),
            _ => None,
        }
    }

    /// Unquoted output is split, and may contain patterns.
    fn printed_words(&mut self, printed: &Field, partial: &mut FieldBuilder, fields: &mut Vec<Field>) {
        match printed.kind {
            FieldKind::Literal => return self.unquoted(vec![printed.clone()], partial, fields),
            FieldKind::Glob => return partial.value(printed),
            FieldKind::Tree | FieldKind::Unknown => {}
        }
        for (index, word) in stream::split(printed, char::is_whitespace).iter().enumerate() {
            if index > 0 {
                fields.push(std::mem::take(partial).finish(true));
            }
            partial.value(word);
        }
    }

    fn in_substitution(&mut self, run: impl FnOnce(&mut Self)) {
        self.with_own_combinations(|analyzer| {
            analyzer.scoped(|analyzer| {
                analyzer.scope.redirected = 0;
                analyzer.subshell(|analyzer| analyzer.deeper(run));
            });
        });
    }

    /// Runs the substitutions of a word whose value does not matter.
    pub(crate) fn substitutions(&mut self, word: &Word) {
        for piece in word {
            match piece {
                Piece::Parameter { name, operation, .. } => {
                    self.parameter(name, operation.as_ref(), true);
                }
                piece => self.other_piece(piece, &mut FieldBuilder::default()),
            }
        }
    }
}

/// `"$@"`: one field per value. The first and the last one are joined with the text around them.
fn join_list(values: Vec<Field>, partial: &mut FieldBuilder, fields: &mut Vec<Field>) {
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            fields.push(std::mem::take(partial).finish(true));
        }
        partial.value(&value);
    }
}

/// Whether a list is `cd DIRECTORY && pwd`.
fn enters_and_prints(list: &List) -> bool {
    let [AndOrList { first, rest, negates: false, background: false }] = list.as_slice() else {
        return false;
    };
    let [(Join::And, second)] = rest.as_slice() else { return false };
    let is_call = |pipeline: &Pipeline, name: &str| match pipeline.as_slice() {
        [Command { kind: CommandKind::Simple { assignments, words }, .. }] => {
            let program = words.first().map(Word::as_slice);
            assignments.is_empty() && matches!(program, Some([Piece::Plain(text)]) if text == name)
        }
        _ => false,
    };
    is_call(first, "cd") && is_call(second, "pwd")
}
