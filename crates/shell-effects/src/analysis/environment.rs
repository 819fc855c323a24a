//! What a command does not say itself: values of variables that it does not set, and directories.

use crate::Base;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;

/// Answers questions about the place where a command runs. It is asked only where a command uses the answer; nothing means that
/// the answer is not known.
pub trait Environment {
    /// The value of a variable.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// The absolute path of a directory that is given from the one in which the command starts.
    fn directory(&self, _path: &str) -> Option<String> {
        None
    }

    /// The top level of the git repository around such a directory.
    fn top_level(&self, _path: &str) -> Option<String> {
        None
    }

    /// Where git keeps what all work trees of that repository share.
    fn common_directory(&self, _path: &str) -> Option<String> {
        None
    }
}

/// An environment that answers no question.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownEnvironment;

impl Environment for UnknownEnvironment {}

impl Analyzer<'_> {
    pub(crate) fn variable_outside(&self, name: &str) -> Option<Field> {
        self.environment().variable(name).map(Field::literal)
    }

    pub(crate) fn current_directory(&self) -> Option<Field> {
        self.of_bases(|environment, at| environment.directory(at))
    }

    /// The directory that a command prints, from its text.
    pub(crate) fn printed_directory(&self, text: &str) -> Option<Field> {
        // Where the first command prints something, it has succeeded.
        let first = text.split("||").next().unwrap_or(text).trim();
        let first = first.trim_end_matches("2>/dev/null").trim_end_matches("2> /dev/null").trim_end();
        match first {
            "pwd" if first == text => Some(self.current_directory().unwrap_or_else(|| Field::literal("."))),
            "git rev-parse --show-toplevel" if self.is_plain_git() => {
                self.of_bases(|environment, at| environment.top_level(at))
            }
            "git rev-parse --git-common-dir" | "git rev-parse --path-format=absolute --git-common-dir"
                if self.is_plain_git() =>
            {
                self.of_bases(|environment, at| environment.common_directory(at))
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
    fn of_bases(&self, ask: impl Fn(&dyn Environment, &str) -> Option<String>) -> Option<Field> {
        let mut known = self.state.bases().iter().map(|base| match base {
            Base::At(at) | Base::IfMissing { at, .. } => ask(self.environment(), at),
            Base::Unknown => None,
        });
        let first = known.next()??;
        if known.all(|other| other.as_deref() == Some(&first)) { Some(Field::literal(first)) } else { None }
    }
}
