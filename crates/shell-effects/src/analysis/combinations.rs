//! Variables with several possible values: a command runs once for each combination of the variables that it uses.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::stream::Stream;
use crate::syntax::tree::List;

/// The most combinations that are tried for one command. After that the variables are unknown.
const MAX_COMBINATIONS: usize = 64;

/// The current choice among the possible values of each variable.
#[derive(Debug, Default)]
pub(crate) struct Combinations {
    picked: Vec<(String, usize, usize)>,
    /// What substitutions printed: it depends on all of these values at once. A list that is kept cannot be taken for a later one in
    /// the same place of the memory.
    printed: Vec<(Rc<List>, Stream)>,
    /// Not the first combination: substitutions have already run.
    pub(crate) is_repeated: bool,
    /// Too many combinations: the variables are unknown.
    pub(crate) gives_up: bool,
}

impl Combinations {
    pub(crate) fn pick(&mut self, name: &str, count: usize) -> Option<usize> {
        if self.gives_up {
            return None;
        }
        if let Some((_, _, index)) = self.picked.iter().find(|(known, ..)| known == name) {
            return Some(*index);
        }
        self.picked.push((name.to_owned(), count, 0));
        Some(0)
    }

    /// What a substitution printed earlier.
    pub(crate) fn printed(&self, list: &Rc<List>) -> Option<&Stream> {
        self.printed.iter().find(|(known, _)| Rc::ptr_eq(known, list)).map(|(_, output)| output)
    }

    pub(crate) fn remember(&mut self, list: &Rc<List>, output: &Stream) {
        self.printed.push((Rc::clone(list), output.clone()));
    }

    /// Whether there may be another combination.
    pub(crate) fn is_open(&self) -> bool {
        !self.picked.is_empty()
    }

    /// The next combination, if there is one.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some((name, count, index)) = self.picked.pop() {
            if index + 1 < count {
                self.picked.push((name, count, index + 1));
                return true;
            }
        }
        false
    }
}

impl Analyzer<'_> {
    /// Runs something for each combination of possible values of the variables that it uses.
    pub(crate) fn each_choice(&mut self, mut run: impl FnMut(&mut Self)) {
        self.with_own_combinations(|analyzer| {
            run(analyzer);
            for count in 1.. {
                if !analyzer.combinations.advance() {
                    break;
                }
                analyzer.combinations.is_repeated = true;
                if count >= MAX_COMBINATIONS {
                    analyzer.combinations.gives_up = true;
                    run(analyzer);
                    break;
                }
                run(analyzer);
            }
        });
    }

    /// Runs something with combinations of its own.
    pub(super) fn with_own_combinations<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.with(|analyzer| &mut analyzer.combinations, Combinations::default(), run).0
    }
}
