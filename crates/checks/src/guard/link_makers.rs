//! Whether a missing path may lead to another file when a command uses it: an earlier part of the script may make a link, or
//! mount something.

use std::path::Path;

use shell_effects::{Access, Doubt, SimpleCommand};

use super::resolve::{Touch, Uncertainty};

/// The parts of a script that may make a link. They are found once: a long script touches many files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkMakers {
    /// The indices of the first and the last command that makes links, or runs code that cannot be known.
    commands: Option<(usize, usize)>,
    /// The index of the first command that may make one.
    first_unknown: Option<usize>,
    has_link: bool,
    has_code: bool,
}

impl LinkMakers {
    pub(super) fn of(commands: &[SimpleCommand], touches: &[Touch], unclear: &[Uncertainty]) -> LinkMakers {
        let links = |command: &SimpleCommand| {
            command.makes_symbolic_link
                || command.unknown_code.is_some()
                || command.changes_paths() == Some(true)
        };
        let is_code = |unclear: &Uncertainty| {
            matches!(unclear, Uncertainty::Doubt(Doubt::InlineCode { .. } | Doubt::UnknownScript { .. }))
        };
        LinkMakers {
            commands: commands.iter().position(links).zip(commands.iter().rposition(links)),
            first_unknown: commands.iter().position(|command| command.changes_paths() != Some(false)),
            has_link: touches.iter().any(|touch| touch.access == Access::Link),
            has_code: unclear.iter().any(is_code),
        }
    }

    /// Whether one of them may change where a path leads.
    pub(super) fn may_redirect(&self, touch: &Touch) -> bool {
        let Some(own) = touch.command else { return false };
        let is_other_linking = self.commands.is_some_and(|(first, last)| first != own || last != own);
        if is_other_linking || self.has_link || (own > 0 && self.has_code) {
            return true;
        }
        // Anything may have created its directory.
        let has_directory = touch.path.parent().is_some_and(Path::is_dir);
        !has_directory && self.first_unknown.is_some_and(|first| first < own)
    }
}
