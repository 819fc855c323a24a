//! The syntax tree of a shell script, as far as its effects require.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::Doubt;

pub(crate) type List = Vec<AndOrList>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct AndOrList {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Join, Pipeline)>,
    /// Whether `!` precedes one of the pipelines.
    pub(crate) negates: bool,
    /// Whether `&` follows: it runs in a subshell.
    pub(crate) background: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Join {
    And,
    Or,
}

pub(crate) type Pipeline = Vec<Command>;

#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Command {
    pub(crate) kind: CommandKind,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) enum CommandKind {
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
    /// `[[ … ]]`, `(( … ))` and the head of `for ((…))`: only their substitutions matter.
    Expression {
        is_arithmetic: bool,
        words: Vec<Word>,
        body: List,
    },
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// Which element of an array it is.
    pub(crate) index: Option<Word>,
    /// `+=`.
    pub(crate) appends: bool,
    pub(crate) value: AssignedValue,
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) enum AssignedValue {
    Word(Word),
    Array(Vec<Word>),
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Redirect {
    pub(crate) kind: Redirection,
    /// Whether it redirects the standard input or output, and not another descriptor.
    pub(crate) is_standard: bool,
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Redirection {
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
    /// `<<` and `<<<`: the command's standard input. The body of a here-document is known a line later.
    Text(Rc<OnceCell<Word>>),
}

pub(crate) type Word = Vec<Piece>;

#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Piece {
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
        list: Rc<List>,
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
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Operation {
    /// `:-`, `-`.
    Default(Word),
    /// `:=`, `=`: like `Default`, but the variable is set.
    Assign(Word),
    /// `:+`, `+`.
    Alternative(Word),
    /// `#`, `##`, `%`, `%%`.
    Trim { suffix: bool, longest: bool, pattern: Word },
    /// `${#name}`.
    Length,
    /// `${name[@]}`.
    All,
    /// `${name[*]}`: in quotes, one word.
    Joined,
    /// `${name[index]}`, with the text after the index.
    Index(Word),
    /// `${!name}`, with the text after the name.
    Indirect(Word),
    /// Not evaluated. Its substitutions run.
    Other(Word),
}

/// Why a text is not a script.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum ParseError {
    Syntax(String),
    TooDeep,
}

impl From<ParseError> for Doubt {
    fn from(error: ParseError) -> Doubt {
        match error {
            ParseError::Syntax(reason) => Doubt::Unparsable(reason),
            ParseError::TooDeep => Doubt::TooDeep,
        }
    }
}
