//! The syntax tree of a shell script, as far as its effects need it.

use std::cell::OnceCell;
use std::rc::Rc;

use super::Doubt;

pub(super) type List = Vec<Item>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Join, Pipeline)>,
    /// Whether `&` follows: it runs in a subshell.
    pub(super) background: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Join {
    And,
    Or,
}

pub(super) type Pipeline = Vec<Command>;

#[derive(Debug)]
pub(super) struct Command {
    pub(super) kind: Kind,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Simple {
        assignments: Vec<Assignment>,
        words: Vec<Word>,
    },
    Group(List),
    Subshell(List),
    /// Conditions with their bodies; the body of `else` has none.
    If(Vec<(Option<List>, List)>),
    While {
        condition: List,
        body: List,
    },
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
    /// `[[ … ]]`, `(( … ))` and the head of `for ((…))`: only the substitutions in them matter.
    Expression {
        is_arithmetic: bool,
        words: Vec<Word>,
        body: List,
    },
}

#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// `+=`, or one element of an array.
    pub(super) partial: bool,
    pub(super) value: Assigned,
}

#[derive(Debug)]
pub(super) enum Assigned {
    Word(Word),
    Array(Vec<Word>),
}

#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) kind: Redirection,
    /// Whether it is about the standard input or output, and not about another descriptor.
    pub(super) is_standard: bool,
}

#[derive(Debug)]
pub(super) enum Redirection {
    Read(Word),
    Write {
        word: Word,
        appends: bool,
    },
    /// `<>`.
    ReadWrite(Word),
    /// `>&WORD`: a file descriptor, or a file.
    Duplicate(Word),
    /// `<&WORD`.
    DuplicateInput(Word),
    /// `<<` and `<<<`: what the command gets on its standard input. The body of a here-document is known a line later.
    Text(Rc<OnceCell<Word>>),
}

pub(super) type Word = Vec<Piece>;

#[derive(Debug)]
pub(super) enum Piece {
    /// Subject to globs, braces and `~`.
    Plain(String),
    Quoted(String),
    Parameter {
        name: String,
        quoted: bool,
        operation: Option<Operation>,
    },
    /// `$(…)`, backticks, `${ …; }`, with its text.
    Substitution {
        list: List,
        quoted: bool,
        text: String,
    },
    /// `<(…)` and `>(…)`.
    Process {
        list: List,
        reads: bool,
    },
    /// A number.
    Arithmetic(Word),
    /// A pattern of `extglob`.
    Pattern(String),
}

/// What follows the name in `${name…}`.
#[derive(Debug)]
pub(super) enum Operation {
    /// `:-`, `-`.
    Default(Word),
    /// `:=`, `=`: the same, and the variable is set.
    Assign(Word),
    /// `:+`, `+`.
    Alternative(Word),
    /// `#`, `##`, `%`, `%%`.
    Trim { suffix: bool, longest: bool, pattern: Word },
    /// `${#name}`.
    Length,
    /// `${name[@]}`, `${name[*]}`.
    All,
    /// Not evaluated; substitutions in it run.
    Other(Word),
}

/// Why a text is no script.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Error {
    Syntax(String),
    TooDeep,
}

impl From<Error> for Doubt {
    fn from(error: Error) -> Doubt {
        match error {
            Error::Syntax(reason) => Doubt::Unparsable(reason),
            Error::TooDeep => Doubt::TooDeep,
        }
    }
}
