//! A row of the tables of programs.

use crate::Access::{self, Read};
use crate::analysis::analyzer::Analyzer;
use crate::programs::arguments::{Call, Flags};
use crate::programs::search;

#[derive(Clone, Copy)]
pub(crate) struct Program {
    /// What it is called.
    pub(crate) alias: &'static str,
    /// What it is, where that has another name.
    pub(crate) name: &'static str,
    pub(crate) flags: Flags,
    /// With one of these flags all operands are files.
    pub(crate) whole: &'static [&'static str],
    pub(crate) action: Action,
    pub(crate) stdin: Stdin,
}

/// What a program takes its standard input for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stdin {
    Data,
    /// Statements for a database. Any of its arguments may hold some as well.
    Sql {
        /// Whether a comment may start with `#`.
        has_hash_comments: bool,
    },
    /// Commands for a database that has another language.
    Queries,
}

#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// What it does is not known.
    Unknown,
    /// Only what its flags name.
    Nothing,
    /// Every operand after the first so many.
    Each(Access, usize),
    /// The same, with all that is in a directory if it is recursive.
    Trees(Access, usize),
    Special(fn(&mut Analyzer<'_>, &Call<'_>)),
}

pub(crate) const fn row(name: &'static str, flags: Flags, action: Action) -> Program {
    Program { alias: name, name, flags, whole: &[], action, stdin: Stdin::Data }
}

/// It reads every file that it names.
pub(crate) const fn reads(name: &'static str, flags: Flags) -> Program {
    row(name, flags, Action::Each(Read, 0))
}

/// The same behind a pattern, which an option may give instead.
pub(crate) const fn searches(name: &'static str, flags: Flags) -> Program {
    runs(name, flags, search::lines)
}

pub(crate) const fn runs(name: &'static str, flags: Flags, run: fn(&mut Analyzer<'_>, &Call<'_>)) -> Program {
    row(name, flags, Action::Special(run))
}

impl Program {
    pub(crate) const fn whole(mut self, flags: &'static [&'static str]) -> Program {
        self.whole = flags;
        self
    }

    pub(crate) const fn stdin(mut self, stdin: Stdin) -> Program {
        self.stdin = stdin;
        self
    }

    pub(crate) const fn named(mut self, name: &'static str) -> Program {
        self.name = name;
        self
    }
}
