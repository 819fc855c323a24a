//! One call of a subcommand of git.

use crate::arguments::Arguments;
use crate::state::Field;

pub(super) struct Git<'a> {
    pub(super) arguments: Arguments,
    /// What is behind `--`, where that is given.
    pub(super) paths: Option<&'a [Field]>,
    pub(super) rest: &'a [Field],
    pub(super) command: usize,
}
