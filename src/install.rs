//! What is registered with Claude Code, and the files that a project starts with.
//!
//! `settings` edits the text of a settings file, `registration` knows what must be in it and finds what is, `change`
//! brings the two together in a file.

pub(crate) mod agents;
pub(crate) mod backups;
pub(crate) mod change;
pub(crate) mod duplicates;
pub(crate) mod first_cases;
pub(crate) mod import;
pub(crate) mod local_file;
pub(crate) mod purge;
pub(crate) mod registration;
pub(crate) mod schema_file;
pub(crate) mod scope;
mod scripts;
pub mod settings;
pub(crate) mod starter;
pub(crate) mod step_command;
pub(crate) mod user_file;
