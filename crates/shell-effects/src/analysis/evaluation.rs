//! Text that a shell evaluates once more: indexes, arithmetic, prompts.

use crate::Doubt;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::side_effects::{self, is_evaluated};
use crate::analysis::variables::Value;
use crate::syntax::parser::Parser;
use crate::syntax::tree::{Piece, Word};
use crate::syntax::{continuations, quotes};

/// The cost of evaluating a short text.
const EVALUATION_WORK: usize = 64;

/// More variables are not followed from one piece of arithmetic, which is a doubt.
const MAX_EVALUATED: usize = 128;

impl Analyzer<'_> {
    /// Runs the substitutions in a text that is expanded on use: `${x@P}`, an array index.
    pub(crate) fn evaluate(&mut self, text: &str) {
        // Values of variables may name each other: each level would evaluate all of them again.
        if !self.work(EVALUATION_WORK + text.len()) {
            return;
        }
        let text = continuations::joined_in_text(text);
        self.evaluate_once(&text);
        if let Some(text) = quotes::without_quoted_parts(&text) {
            self.evaluate_once(&text);
        }
    }

    fn evaluate_once(&mut self, text: &str) {
        match Parser::expanded_value(text, self.scope.depth + 1) {
            Ok(word) => self.deeper(|analyzer| analyzer.substitutions(&word)),
            Err(error) => self.doubt(error.into()),
        }
    }

    /// The words of a text that is expanded like the inside of double quotes.
    pub(crate) fn expanded(&mut self, text: &str) -> Vec<Field> {
        if !self.work(EVALUATION_WORK + text.len()) {
            return Vec::new();
        }
        let mut fields = Vec::new();
        match Parser::expanded_value(&continuations::joined_in_text(text), self.scope.depth + 1) {
            Ok(word) => self.deeper(|analyzer| fields = analyzer.fields(&word)),
            Err(error) => self.doubt(error.into()),
        }
        fields
    }

    /// Evaluates the quoted texts in a condition or in arithmetic, and the values of its variables.
    pub(crate) fn evaluate_hidden(&mut self, word: &Word, is_arithmetic: bool) {
        let texts: Vec<String> = side_effects::hidden(word).map(str::to_owned).collect();
        let used = word.iter().filter_map(|piece| match piece {
            Piece::Parameter { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let mut used: Vec<&str> = used.collect();
        if is_arithmetic {
            used.extend(side_effects::names(word));
        }
        let used = used.into_iter().map(str::to_owned).collect();
        for text in texts {
            self.evaluate(&text);
        }
        self.evaluate_values(used);
    }

    /// Arithmetic in an index, an offset or a value: its quoted text, and the values of its variables.
    pub(crate) fn evaluate_index(&mut self, word: &Word) {
        let texts: Vec<String> = side_effects::substituted(word).map(str::to_owned).collect();
        for text in texts {
            self.evaluate(&text);
        }
        self.evaluate_hidden(word, true);
    }

    /// A text that is arithmetic.
    pub(crate) fn evaluate_number(&mut self, text: &str) {
        if is_evaluated(text) {
            self.evaluate(text);
        } else {
            self.evaluate_values(side_effects::names_in(text).map(str::to_owned).collect());
        }
    }

    /// The values of variables in arithmetic are arithmetic themselves, and may name other variables.
    fn evaluate_values(&mut self, names: Vec<String>) {
        let (mut open, mut seen) = (names, Vec::new());
        while let Some(name) = open.pop() {
            if seen.contains(&name) {
                continue;
            }
            if seen.len() >= MAX_EVALUATED {
                return self.doubt(Doubt::TooMany("variables in arithmetic"));
            }
            for text in self.literal_values(&name) {
                if is_evaluated(&text) {
                    self.evaluate(&text);
                } else {
                    open.extend(side_effects::names_in(&text).map(str::to_owned));
                }
            }
            seen.push(name);
        }
    }

    /// The known values of a variable or an argument.
    fn literal_values(&self, name: &str) -> Vec<String> {
        let arguments: Vec<Field>;
        let values: &[Field] = match self.state.get(name) {
            Some(Value::Options(values)) => values.as_slice(),
            Some(Value::Array(values)) => values,
            Some(Value::Unknown) => &[],
            None => {
                let index = name.parse::<usize>().ok();
                arguments = index.and_then(|index| self.state.arguments_at(index)).unwrap_or_default();
                &arguments
            }
        };
        values.iter().filter(|value| value.is_literal()).map(|value| value.text.clone()).collect()
    }

    /// Whether arithmetic sets only harmless variables, and evaluates nothing that a command of this script printed.
    pub(crate) fn is_harmless_arithmetic(&self, word: &Word) -> bool {
        let used = word.iter().filter_map(|piece| match piece {
            Piece::Parameter { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let is_fine = |name: &str| {
            side_effects::is_harmless(name)
                && match self.state.get(name) {
                    Some(Value::Options(values)) => {
                        values.as_slice().iter().all(|value| value.kind != FieldKind::Unknown)
                    }
                    Some(Value::Unknown | Value::Array(_)) => false,
                    None => true,
                }
        };
        !side_effects::hides_code(word)
            && side_effects::is_plain(word)
            && used.chain(side_effects::names(word)).all(is_fine)
    }
}
