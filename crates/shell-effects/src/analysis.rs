//! Syntax tree to effects: the tree is followed in the order in which it would run.

pub(crate) mod analyzer;
pub(crate) mod around;
pub(crate) mod beside;
pub(crate) mod braces;
pub(crate) mod builtins;
pub(crate) mod choices;
pub(crate) mod code;
pub(crate) mod control;
pub(crate) mod dispatch;
pub(crate) mod effects;
pub(crate) mod elsewhere;
pub(crate) mod environment;
pub(crate) mod expand;
pub(crate) mod extent;
pub(crate) mod feeds;
pub(crate) mod options;
pub(crate) mod outside;
pub(crate) mod parameters;
pub(crate) mod partial;
pub(crate) mod plain;
pub(crate) mod redirect;
pub(crate) mod run;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod trim;
pub(crate) mod unknown;
