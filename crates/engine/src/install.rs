//! Our registrations with clients, and the files that a project starts with.
//!
//! `settings` edits the text of a settings file, `registration` defines and finds our entries, `change` applies both to a file.

pub mod agents;
pub mod backups;
pub mod change;
pub mod channels;
pub mod configured_hooks;
pub mod duplicates;
pub mod enforcement;
mod error;
pub mod import;
pub mod local_file;
pub mod native;
pub mod package_scripts;
pub mod purge;
pub mod registration;
pub mod schema_file;
pub mod scope;
mod scripts;
pub mod settings;
pub mod starter;
pub mod templates;
pub mod user_file;

pub use error::InstallError;
