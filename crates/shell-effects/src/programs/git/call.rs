//! One call of a subcommand of git.

use crate::analysis::field::Field;
use crate::programs::arguments::Arguments;

pub(crate) struct Git<'a> {
    pub(crate) arguments: Arguments,
    /// What is behind `--`, where that is given.
    pub(crate) paths: Option<&'a [Field]>,
    pub(crate) rest: &'a [Field],
    pub(crate) command: usize,
}
