//! Guards of `preToolUse`: what a tool call touches, compared with the rules that protect files and commands.

mod call;
mod check;
mod command_pattern;
mod compile;
mod input;
mod lost;
mod origin;
mod outside;
mod own_commands;
mod resolve;
mod rules;
mod search;
mod sql;
mod tools;
mod touched;
mod undecided;
mod unit;
mod watch;

pub(crate) use call::{Call, Finding, Own};
pub(crate) use check::check;
pub(crate) use command_pattern::{CommandPattern, Forms, Match, joins};
pub(crate) use compile::Sources;
pub(crate) use input::{InputPattern, is_about};
pub(crate) use lost::{UncheckedCall, lost};
pub(crate) use origin::Origin;
pub(crate) use outside::outside;
pub(crate) use resolve::{Effects, Ground, Touch, Unclear};
pub(crate) use rules::{Action, Rules, Whom};
pub(crate) use search::Visited;
pub(crate) use unit::pipeline;
pub(crate) use watch::{Compared, Watch};

#[cfg(test)]
mod tests;
