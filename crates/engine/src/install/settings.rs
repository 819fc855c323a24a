//! The text of Claude Code's `settings.json`, which belongs to the user: our entries are added, replaced and removed, and
//! everything else stays byte for byte as it was, comments included.

mod client_schema;
mod command_line;
mod document;
mod edit;
pub mod entries;
mod read;
mod user_hooks;

pub use command_line::{AGENT, CommandLine, IF_TRUSTED, ORIGINAL, make as make_line, short};
pub use edit::{install, keep_only, uninstall};
pub use read::{Refusal, Registration, SWITCH, Settings, read};
pub use user_hooks::{UserHook, user_hooks, without};

#[cfg(test)]
mod tests;
