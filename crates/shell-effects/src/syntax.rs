//! Text to syntax tree: the grammar of bash, by recursive descent.

pub(crate) mod compounds;
pub(crate) mod expansions;
pub(crate) mod lexer;
pub(crate) mod parser;
pub mod placeholder;
pub(crate) mod quotes;
pub(crate) mod simple;
pub(crate) mod tree;
pub(crate) mod words;
