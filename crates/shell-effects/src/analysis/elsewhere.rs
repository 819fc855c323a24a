//! What a command deletes elsewhere: `cd /var && rm -rf *` is `rm -rf /var/*`.

use std::path::Path;

use crate::{Base, Simple};

/// Whether the operands of this program are what it deletes.
pub(crate) fn deletes(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("rm" | "rmdir" | "shred" | "unlink" | "find"))
}

impl Base {
    /// The directory, if it is known.
    pub(crate) fn known(&self) -> Option<String> {
        match self {
            Base::At(at) | Base::IfMissing { at, .. } => Some(at.clone()),
            Base::Unknown => None,
        }
    }
}

impl Simple {
    /// The command with whole paths, as if it ran in this directory; `~` is the home directory.
    pub fn as_if_in(&self, directory: &Path, home: Option<&str>) -> String {
        let below_home = home.and_then(|home| directory.strip_prefix(home).ok());
        let directory = match below_home {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.to_string_lossy()),
            None => directory.to_string_lossy().into_owned(),
        };
        let mut words = self.words.iter();
        let program = words.next().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        let mut text = program.to_owned();
        let mut is_path = true;
        for word in words {
            // Behind its directories `find` has conditions.
            is_path &= program != "find" || !word.starts_with(['-', '(', '!']);
            text.push(' ');
            if !is_path || word.starts_with(['-', '/', '~']) {
                text.push_str(word);
                continue;
            }
            text.push_str(&directory);
            let below = word.trim_start_matches("./");
            if !matches!(below, "" | ".") {
                let slash = if directory.ends_with('/') { "" } else { "/" };
                text.push_str(slash);
                text.push_str(below);
            }
        }
        text
    }
}
