//! Records which rule was compared with which subject, for explanations. A hook records only what its audit record needs.

use std::cell::RefCell;

use indexmap::IndexSet;

use super::rules::RuleOrigin;
use conclaude_core::rule::Rule;

/// One comparison of a rule with something that a call does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    pub rule: Rule,
    /// The path, the simple command or the tool.
    pub subject: String,
    pub is_match: bool,
    /// Follows the rule's name in a sentence.
    pub why: String,
}

#[derive(Clone, Copy, Default)]
pub enum ComparisonLog<'a> {
    #[default]
    Nothing,
    /// Every comparison once, with its reason.
    All(&'a RefCell<IndexSet<Comparison>>),
    /// The rules that match, each once.
    Matches(&'a RefCell<IndexSet<Rule>>),
    /// The rules that allow something, and their subjects.
    Allowed(&'a RefCell<IndexSet<(Rule, String)>>),
}

impl<'a> ComparisonLog<'a> {
    pub fn into(seen: &'a RefCell<IndexSet<Comparison>>) -> ComparisonLog<'a> {
        ComparisonLog::All(seen)
    }

    /// Whether comparisons without a result are recorded, too.
    pub fn shows_all(self) -> bool {
        matches!(self, ComparisonLog::All(_))
    }

    pub fn matched(self, rule: (&RuleOrigin, &str), subject: &str, why: impl FnOnce() -> String) {
        if let ComparisonLog::Matches(seen) = self {
            seen.borrow_mut().insert(rule.0.rule(rule.1));
            return;
        }
        self.note(rule, subject, true, why);
    }

    /// Records a deciding rule that allows.
    pub fn allowed(self, (origin, written): (&RuleOrigin, &str), subject: &str) {
        if let ComparisonLog::Allowed(seen) = self {
            seen.borrow_mut().insert((origin.rule(written), subject.to_owned()));
        }
    }

    pub fn missed(self, rule: (&RuleOrigin, &str), subject: &str, why: impl FnOnce() -> String) {
        self.note(rule, subject, false, why);
    }

    fn note(
        self,
        (origin, written): (&RuleOrigin, &str),
        subject: &str,
        is_match: bool,
        why: impl FnOnce() -> String,
    ) {
        let ComparisonLog::All(seen) = self else { return };
        let compared =
            Comparison { rule: origin.rule(written), subject: subject.to_owned(), is_match, why: why() };
        seen.borrow_mut().insert(compared);
    }
}
