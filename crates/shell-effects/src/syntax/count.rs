//! Counts the simple commands of a syntax tree. Tests compare our parser with others by it.

use super::parser::parse;
use super::tree::{
    AssignedValue, Assignment, Command, CommandKind, List, Piece, Redirect, Redirection, Word,
};

/// How many simple commands with words a text has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CommandCounts {
    pub outside_words: usize,
    /// With those in substitutions, but not those in the words of expansions and here-documents.
    pub with_words: usize,
}

/// None if it cannot be parsed.
#[must_use]
pub fn counted(text: &str) -> Option<CommandCounts> {
    let list = parse(text, 0).ok()?;
    let [outside_words, with_words] =
        [false, true].map(|includes_words| Counter { includes_words }.list(&list));
    Some(CommandCounts { outside_words, with_words })
}

struct Counter {
    includes_words: bool,
}

impl Counter {
    fn list(&self, list: &List) -> usize {
        let pipelines = list
            .iter()
            .flat_map(|item| [&item.first].into_iter().chain(item.rest.iter().map(|(_, pipeline)| pipeline)));
        pipelines.flatten().map(|command| self.command(command)).sum()
    }

    fn command(&self, command: &Command) -> usize {
        let own = match &command.kind {
            CommandKind::Simple { assignments, words } => {
                let assigned: usize = assignments.iter().map(|one| self.assignment(one)).sum();
                usize::from(!words.is_empty()) + self.words(words) + assigned
            }
            CommandKind::Group(list) | CommandKind::Subshell(list) => self.list(list),
            CommandKind::If(branches) => {
                let branch = |(condition, body): &(Option<List>, List)| {
                    condition.as_ref().map_or(0, |list| self.list(list)) + self.list(body)
                };
                branches.iter().map(branch).sum()
            }
            CommandKind::While { condition, body } => self.list(condition) + self.list(body),
            CommandKind::For { words, body, .. } => {
                self.words(words.as_deref().unwrap_or_default()) + self.list(body)
            }
            CommandKind::Case { word, arms } => {
                let arm = |(patterns, body): &(Vec<Word>, List)| self.words(patterns) + self.list(body);
                self.word(word) + arms.iter().map(arm).sum::<usize>()
            }
            CommandKind::Function { body, .. } => self.command(body),
            CommandKind::Expression { body, .. } => self.list(body),
        };
        own + command.redirects.iter().map(|redirect| self.redirect(redirect)).sum::<usize>()
    }

    fn assignment(&self, assignment: &Assignment) -> usize {
        let value = match &assignment.value {
            AssignedValue::Word(word) => self.word(word),
            AssignedValue::Array(words) => self.words(words),
        };
        value + assignment.index.as_ref().map_or(0, |word| self.word(word))
    }

    fn redirect(&self, redirect: &Redirect) -> usize {
        match &redirect.kind {
            Redirection::Read(word)
            | Redirection::Write { word, .. }
            | Redirection::ReadWrite(word)
            | Redirection::Duplicate(word)
            | Redirection::DuplicateInput(word) => self.word(word),
            Redirection::Text(_) => 0,
        }
    }

    fn words(&self, words: &[Word]) -> usize {
        words.iter().map(|word| self.word(word)).sum()
    }

    fn word(&self, word: &Word) -> usize {
        if !self.includes_words {
            return 0;
        }
        let counts = word.iter().map(|piece| match piece {
            Piece::Substitution { list, .. } => self.list(list),
            Piece::Process { list, .. } => self.list(list),
            Piece::Plain(_)
            | Piece::Quoted(_)
            | Piece::Parameter { .. }
            | Piece::Arithmetic(_)
            | Piece::Pattern(_) => 0,
        });
        counts.sum()
    }
}
