//! What is known of each program.

pub(crate) mod archives;
pub(crate) mod arguments;
pub(crate) mod batches;
pub(crate) mod copy;
pub(crate) mod databases;
pub(crate) mod editors;
pub(crate) mod expression;
pub(crate) mod find;
pub(crate) mod format;
pub(crate) mod git;
pub(crate) mod interpreters;
pub(crate) mod launchers;
pub(crate) mod outputs;
pub(crate) mod powershell;
pub(crate) mod printing;
pub(crate) mod search;
pub(crate) mod sed;
pub(crate) mod subcommands;
pub(crate) mod table;
pub(crate) mod transfer;
pub(crate) mod wrappers;
