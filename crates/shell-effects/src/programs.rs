//! What is known of each program: the entries of one table, grouped by what the programs are for, and the code that some of them
//! need.

pub(crate) mod archives;
pub(crate) mod arguments;
pub(crate) mod attributes;
pub(crate) mod batches;
mod bubblewrap;
pub(crate) mod code_access;
pub(crate) mod code_exclusions;
pub(crate) mod code_reading;
pub(crate) mod databases;
pub(crate) mod editors;
pub(crate) mod expression;
pub(crate) mod files;
pub(crate) mod find;
pub(crate) mod git;
pub(crate) mod inline_calls;
pub(crate) mod interpreters;
pub(crate) mod launchers;
pub(crate) mod names;
pub(crate) mod network;
pub(crate) mod patches;
pub(crate) mod powershell;
pub(crate) mod program;
pub(crate) mod search;
pub(crate) mod sed;
pub(crate) mod shell;
pub(crate) mod start_up;
pub(crate) mod system;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod tools;
pub(crate) mod typesetters;
pub(crate) mod wrappers;
