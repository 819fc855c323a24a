//! One call of a subcommand of git.

use crate::shell::arguments::Arguments;
use crate::shell::state::Field;

pub(super) struct Git<'a> {
    pub(super) arguments: Arguments,
    /// What is behind `--`, where that is given.
    pub(super) paths: Option<&'a [Field]>,
    pub(super) rest: &'a [Field],
    pub(super) command: usize,
}
