//! What a command does not say itself: values of variables that it does not set, and directories that commands print.

use crate::Base;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::around::Outside;
use crate::analysis::field::Field;

impl Analyzer<'_> {
    pub(crate) fn variable_outside(&self, name: &str) -> Option<Field> {
        (self.outside)(Outside::Variable(name)).map(Field::literal)
    }

    pub(crate) fn current_directory(&self) -> Option<Field> {
        self.of_bases(|at| Outside::Directory(at))
    }

    /// The directory that a command prints, from its text.
    pub(crate) fn printed_directory(&self, text: &str) -> Option<Field> {
        // Where the first command prints something, it has succeeded.
        let first = text.split("||").next().unwrap_or(text).trim();
        let first = first.trim_end_matches("2>/dev/null").trim_end_matches("2> /dev/null").trim_end();
        match first {
            "pwd" if first == text => Some(self.current_directory().unwrap_or_else(|| Field::literal("."))),
            "git rev-parse --show-toplevel" if self.is_plain_git() => {
                self.of_bases(|at| Outside::TopLevel(at))
            }
            _ => None,
        }
    }

    /// Whether nothing in the script changes what git is, or where it looks.
    fn is_plain_git(&self) -> bool {
        let is_set = |name: &&str| self.state.get(name).is_some() || self.state.exports.has(name);
        self.state.functions.get("git").is_none()
            && self.state.aliases.get("git").is_none()
            && !["GIT_DIR", "GIT_WORK_TREE"].iter().any(is_set)
    }

    /// What is the same for each directory that may be the current one.
    fn of_bases(&self, ask: impl Fn(&str) -> Outside<'_>) -> Option<Field> {
        let mut known = self.state.bases().iter().map(|base| match base {
            Base::At(at) | Base::IfMissing { at, .. } => (self.outside)(ask(at)),
            Base::Unknown => None,
        });
        let first = known.next()??;
        known.all(|other| other.as_deref() == Some(&first)).then(|| Field::literal(first))
    }
}
