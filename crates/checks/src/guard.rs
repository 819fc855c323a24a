//! Guards of `preToolUse`: what a tool call touches, compared with the rules that protect files and commands.

mod call;
mod check;
mod command_pattern;
mod comparison_log;
mod compile;
mod external_lookup;
mod file_checks;
mod input_pattern;
mod open_questions;
mod origin;
mod own_commands;
mod resolve;
mod rules;
mod search;
mod sql;
mod tool_checks;
mod tool_rule;
mod unusable_rules;

pub use call::{Finding, OwnFiles, ToolCall};
pub use check::check;
pub use command_pattern::{CommandForms, CommandPattern, Match, joins};
pub use comparison_log::{Comparison, ComparisonLog};
pub use compile::Sources;
pub use external_lookup::external_lookup;
pub use input_pattern::{InputPattern, is_about};
pub use origin::RuleOrigin;
pub use resolve::{Effects, Ground, Touch, Uncertainty};
pub use rules::{Action, AgentFilter, GuardRules};
pub use search::EntryCount;
pub use tool_rule::pipeline;
pub use unusable_rules::{UncheckedCall, unusable_rules};

#[cfg(test)]
mod tests;
