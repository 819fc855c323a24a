//! What is around a command, which whoever runs it knows.

/// What is asked for, only where a command uses it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outside<'a> {
    /// The value of a variable.
    Variable(&'a str),
    /// The absolute path of a directory, from the one in which the command starts.
    Directory(&'a str),
    /// The top level of the repository around a directory.
    TopLevel(&'a str),
}

/// Who knows it.
pub type Look<'a> = &'a dyn Fn(Outside<'_>) -> Option<String>;
