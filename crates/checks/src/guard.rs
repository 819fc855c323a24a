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

pub use call::{Call, Finding, Own};
pub use check::check;
pub use command_pattern::{CommandPattern, Forms, Match, joins};
pub use compile::Sources;
pub use input::{InputPattern, is_about};
pub use lost::{UncheckedCall, lost};
pub use origin::Origin;
pub use outside::outside;
pub use own_commands::read_shell;
pub use resolve::{Effects, Ground, Touch, Unclear};
pub use rules::{Action, Rules, Whom};
pub use search::Visited;
pub use unit::pipeline;
pub use watch::{Compared, Watch};

#[cfg(test)]
mod tests;
