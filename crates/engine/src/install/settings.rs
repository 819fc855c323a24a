//! The text of a client's settings file. It belongs to the user: our entries are added, replaced and removed, and everything else
//! stays byte for byte, including comments.

mod client_schema;
mod command_line;
mod document;
mod edit;
pub mod entries;
mod program_search;
mod read;
mod user_hooks;

pub use client_schema::doubt;
pub use command_line::{
    AGENT, Caller, CommandLine, IF_TRUSTED, ORIGINAL, PLUGIN, RegisteredLine, RegisteredProgram, short,
};
pub use edit::{install, keep_only, uninstall};
pub(super) use program_search::MAX_LEVELS;
pub use program_search::ProgramSearch;
pub use read::{
    AUTHORITIES, EntryPosition, Refusal, Registration, STEERING, SWITCH, Settings, positions, read, read_of,
    value_of,
};
pub use user_hooks::{UserHook, user_hooks, without};

#[cfg(test)]
mod tests;
