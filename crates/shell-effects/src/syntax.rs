//! Text to syntax tree: the grammar of bash.

pub(crate) mod commands;
pub(crate) mod continuations;
pub(crate) mod count;
pub(crate) mod parser;
pub mod placeholder;
pub(crate) mod quotes;
pub(crate) mod redirections;
pub(crate) mod tree;
pub(crate) mod words;
