//! Guards of `preToolUse`: what a tool call touches, compared with the rules that protect files and commands.

mod call;
mod check;
mod compile;
mod lost;
mod origin;
mod resolve;
mod rules;
mod tools;
mod undecided;
mod watch;

pub(crate) use call::{Call, Finding};
pub(crate) use check::check;
pub(crate) use compile::Sources;
pub(crate) use lost::{Suspect, lost};
pub(crate) use origin::Origin;
pub(crate) use resolve::{Effects, Ground, Touch, Unclear};
pub(crate) use rules::{Action, CommandPattern, Rules, Whom};
pub(crate) use watch::{Compared, Watch};

#[cfg(test)]
mod tests;
