//! Conditions that test whether a file exists: `[ -f .env ] || cp .env.example .env` never changes an existing file.

use crate::analysis::analyzer::Analyzer;
use crate::syntax::tree::{AndOrList, Command, CommandKind, List, Piece, Word};
use crate::{Access, Base, Target};

/// A file whose existence is tested.
pub(super) struct TestedFile {
    pub(super) path: String,
    /// Whether the test succeeds if the file exists.
    pub(super) is_there: bool,
}

impl TestedFile {
    /// What holds if the test fails.
    pub(super) fn negated(self) -> TestedFile {
        TestedFile { is_there: !self.is_there, ..self }
    }
}

/// The file that a condition tests, if it does nothing else.
pub(super) fn tested_by(condition: &List) -> Option<TestedFile> {
    match condition.as_slice() {
        [AndOrList { first, rest, negates: false, background: false }] if rest.is_empty() => {
            tested_file(first)
        }
        _ => None,
    }
}

/// The file that `test -f FILE`, `[ ! -e FILE ]` or `[[ -f FILE ]]` tests.
pub(super) fn tested_file(pipeline: &[Command]) -> Option<TestedFile> {
    let [Command { kind, redirects }] = pipeline else { return None };
    if !redirects.is_empty() {
        return None;
    }
    let words: &[Word] = match kind {
        CommandKind::Simple { assignments, words } if assignments.is_empty() => {
            let (name, rest) = words.split_first()?;
            match (text(name)?, rest.split_last()) {
                ("test", _) => rest,
                ("[", Some((end, words))) if text(end) == Some("]") => words,
                _ => return None,
            }
        }
        CommandKind::Expression { is_arithmetic: false, words, body } if body.is_empty() => words,
        _ => return None,
    };
    let texts: Vec<&str> = words.iter().map(text).collect::<Option<_>>()?;
    let (is_there, texts) = match texts.as_slice() {
        ["!", rest @ ..] => (false, rest),
        rest => (true, rest),
    };
    match texts {
        ["-f" | "-e", path] => Some(TestedFile { path: (*path).to_owned(), is_there }),
        _ => None,
    }
}

/// The text of a word that is only a text.
fn text(word: &Word) -> Option<&str> {
    match word.as_slice() {
        [Piece::Plain(text) | Piece::Quoted(text)]
            if !text.contains(['*', '?', '[', '~', '{']) || text == "[" =>
        {
            Some(text)
        }
        _ => None,
    }
}

impl Analyzer<'_> {
    /// Runs something that happens only if a file is missing.
    pub(crate) fn if_missing(&mut self, path: &str, run: impl FnOnce(&mut Self)) {
        let missing: fn(&mut Self) -> &mut Vec<String> = |analyzer| &mut analyzer.scope.missing;
        self.restoring(missing, |analyzer| {
            analyzer.scope.missing.push(path.to_owned());
            run(analyzer);
        });
    }

    /// Whether a file would be written only if it were missing, but it exists. Then it does not change.
    pub(super) fn is_kept(&self, access: Access, target: &Target) -> bool {
        let (Target::Path(path) | Target::Into { directory: path, .. }) = target else { return false };
        if !matches!(access, Access::Write | Access::Update) || !self.scope.missing.contains(path) {
            return false;
        }
        let is_at_start = matches!(self.state.bases(), [Base::At(at)] if at.is_empty());
        let is_certain =
            self.scope.loops == 0 && self.scope.unordered == 0 && !self.state.options.has_sourced;
        let changes = self.script.effects.iter().any(|effect| effect.access != Access::Read);
        is_at_start && is_certain && !changes && self.environment().is_file(path) == Some(true)
    }
}
