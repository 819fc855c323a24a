//! The text of Claude Code's `settings.json`, which belongs to the user: our entries are added, replaced and removed, and
//! everything else stays byte for byte as it was, comments included.

mod document;
mod edit;
mod entry;
mod foreign;
mod line;
mod read;

pub(crate) use edit::{install, keep_only, uninstall};
pub(crate) use entry::{Refusal, Registration};
pub(crate) use foreign::{Foreign, foreign, without};
pub use line::IF_TRUSTED;
pub(crate) use line::{AGENT, Line, ORIGINAL, make as make_line, short};
pub(crate) use read::{SWITCH, Settings, read};

#[cfg(test)]
mod tests;
