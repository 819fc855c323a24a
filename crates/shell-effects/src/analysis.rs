//! Syntax tree to effects: the tree is followed in the order in which it would run.

pub(crate) mod analyzer;
pub(crate) mod braces;
pub(crate) mod builtins;
pub(crate) mod code;
pub(crate) mod combinations;
pub(crate) mod conditions;
pub(crate) mod control_flow;
pub(crate) mod declarations;
pub(crate) mod definitions;
pub(crate) mod directories;
pub(crate) mod disk;
pub(crate) mod effects;
pub(crate) mod environment;
pub(crate) mod expansion;
pub(crate) mod exports;
pub(crate) mod extent;
pub(crate) mod field;
mod installed;
pub(crate) mod parameters;
pub(crate) mod redirections;
pub(crate) mod shell_options;
pub(crate) mod side_effects;
pub(crate) mod simple_commands;
pub(crate) mod spelling;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod variables;
