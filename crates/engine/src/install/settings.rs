//! The text of Claude Code's `settings.json`, which belongs to the user: our entries are added, replaced and removed, and
//! everything else stays byte for byte as it was, comments included.

mod document;
mod edit;
mod entry;
mod foreign;
mod line;
mod read;

pub use edit::{install, keep_only, uninstall};
pub use entry::{Refusal, Registration};
pub use foreign::{Foreign, foreign, without};
pub use line::IF_TRUSTED;
pub use line::{AGENT, Line, ORIGINAL, make as make_line, short};
pub use read::{SWITCH, Settings, read};

#[cfg(test)]
mod tests;
