//! Questions about a simple command: which program it is, and what the table knows about it.

use std::path::Path;

use crate::analysis::side_effects::{is_evaluated, is_harmless, only_shows};
use crate::programs::action::{Action, Stdin};
use crate::programs::harmless::{self, UnlistedOption};
use crate::programs::languages::SourceLanguage;
use crate::programs::program::{Control, DeletedFiles, PathChange, Program};
use crate::programs::table;
use crate::{Base, Doubt, Script, SimpleCommand};

impl SimpleCommand {
    /// The name of its program, as rules compare it.
    #[must_use]
    pub fn program(&self) -> &str {
        table::compared_name(self.words.first().map(String::as_str).unwrap_or_default())
    }

    /// Whether it is a builtin that evaluates a quoted substitution: an array index in its arguments.
    #[must_use]
    pub fn evaluates_index(&self) -> bool {
        self.is_builtin()
            && self.entry.is_some_and(|program| program.builtin.evaluates)
            && self.words.iter().any(|word| is_evaluated(word))
    }

    /// Whether its script's effects are complete. A command like `make` or `python3 script.py` may run code that is not visible here.
    #[must_use]
    pub fn tells_all(&self) -> bool {
        let Some(program) = self.entry else { return false };
        let is_described = match program.action {
            Action::Nothing
            | Action::Each(..)
            | Action::Trees(..)
            | Action::Wrap(_)
            | Action::Format(_)
            | Action::Compress(_) => true,
            Action::Special(_) => {
                program.stdin == Stdin::Data && program.language != Some(SourceLanguage::Make)
            }
            _ => false,
        };
        is_described && self.is_known && self.unknown_code.is_none()
    }

    /// Whether it may run code from a file, or take names from it: all but builtins, git and programs that only use the files
    /// that they name.
    pub(crate) fn may_run_written_code(&self) -> bool {
        let only_uses = |program: &Program| {
            let is_plain = matches!(
                program.action,
                Action::Nothing | Action::Each(..) | Action::Trees(..) | Action::Wrap(_) | Action::Format(_)
            );
            is_plain && program.stdin == Stdin::Data && program.language.is_none()
        };
        let name = self.words.first().map(String::as_str).unwrap_or_default();
        let is_harmless = self.entry.is_some_and(only_uses) || crate::is_builtin(name) || name == "git";
        self.script.is_some() || self.unknown_code.is_some() || !self.is_known || !is_harmless
    }

    /// Whether it only builds, checks or tests a project in another language than Python.
    pub(crate) fn builds_project(&self) -> bool {
        let builds = self.entry.is_some_and(|program| program.builds_project);
        builds && self.is_known && self.script.is_none() && self.unknown_code.is_none()
    }

    /// Whether it only controls other commands and touches no file: parts of loops and conditions, `timeout`, `nice`.
    #[must_use]
    pub fn only_controls(&self) -> bool {
        let Some(program) = self.entry else { return false };
        let is_plain = self.assigned.is_empty() && self.is_builtin();
        let mut words = self.words.iter().skip(1);
        match program.builtin.controls {
            Control::Never => false,
            Control::Always => is_plain,
            Control::Test => is_plain && !words.any(|word| word == "-v"),
            Control::Read => {
                self.is_builtin()
                    && self.unknown.is_empty()
                    && self.assigned.iter().all(|assigned| assigned.starts_with("IFS="))
                    && words.all(|word| word.starts_with('-') || is_harmless(word))
            }
            Control::Wrapper => is_plain && self.wraps && self.unknown.is_empty(),
        }
    }

    /// Whether a path leads to another file after it than before: it makes a link, or mounts something. None if that is not known.
    #[must_use]
    pub fn changes_paths(&self) -> Option<bool> {
        match self.entry?.paths {
            PathChange::Unknown => None,
            PathChange::Never => Some(false),
            PathChange::Always => Some(true),
        }
    }

    /// Whether it runs a file in the shell itself, as `.` and `source` do.
    #[must_use]
    pub fn sources(&self) -> bool {
        self.is_builtin() && self.entry.is_some_and(|program| program.builtin.sources)
    }

    /// Whether it is called only by its name, as a part of the shell is.
    fn is_builtin(&self) -> bool {
        self.words.first().is_some_and(|word| !word.contains('/'))
    }
}

/// Options with which an interpreter only prints information about itself.
const INFORMING: [&str; 4] = ["--version", "-V", "--help", "-h"];

impl Script {
    /// Shells and interpreters that wait for code from the input of the whole command, for callers who type that input later.
    pub fn waiting(&self) -> Vec<Doubt> {
        let informs = |command: &SimpleCommand| {
            let language = command.entry.and_then(|program| program.language);
            let has_small_version = language.is_some_and(SourceLanguage::has_small_version);
            let is_informing =
                |word: &String| INFORMING.contains(&word.as_str()) || word == "-v" && has_small_version;
            command.words.iter().skip(1).any(is_informing)
        };
        let waiting = self.awaiting_code.iter().filter_map(|interpreter| {
            let is_it = |command: &SimpleCommand| {
                command.words.iter().any(|word| table::compared_name(word) == interpreter)
            };
            let index = self.commands.iter().rposition(is_it).unwrap_or_default();
            if self.commands.get(index).is_some_and(informs) {
                return None;
            }
            Some(Doubt::UnknownScript { interpreter: interpreter.clone(), command: index })
        });
        waiting.collect()
    }
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

/// What a command deletes in another directory: `cd /var && rm -rf *` is `rm -rf /var/*`.
impl SimpleCommand {
    /// The command with absolute paths, as if it ran in this directory; `~` is the home directory.
    pub fn as_if_in(&self, directory: &Path, home: Option<&str>) -> String {
        let below_home = home.and_then(|home| directory.strip_prefix(home).ok());
        let directory = match below_home {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.to_string_lossy()),
            None => directory.to_string_lossy().into_owned(),
        };
        let has_conditions = self.entry.is_some_and(|program| program.deletes == DeletedFiles::Found);
        let mut text = self.program().to_owned();
        let mut is_path = true;
        for word in self.words.iter().skip(1) {
            // `find` has conditions after its directories.
            is_path &= !has_conditions || !word.starts_with(['-', '(', '!']);
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

/// Its options, for rules that allow its program.
impl SimpleCommand {
    /// Whether its program has a list of options that are harmless, so that others count.
    #[must_use]
    pub fn lists_options(&self) -> bool {
        self.entry.is_some_and(|program| !program.harmless.is_empty())
    }

    /// Its options outside of that list.
    #[must_use]
    pub fn unlisted_options(&self) -> Vec<UnlistedOption<'_>> {
        let Some(program) = self.entry.filter(|program| !program.harmless.is_empty()) else {
            return Vec::new();
        };
        harmless::unlisted(program.harmless, program.options, self.words.get(1..).unwrap_or_default())
    }

    /// The variables before it, apart from those that only change what it prints.
    pub fn steering_variables(&self) -> impl Iterator<Item = &String> {
        self.assigned.iter().filter(|assigned| !only_shows(assigned))
    }

    /// Whether its program runs code of any kind that it is given.
    #[must_use]
    pub fn interprets(&self) -> bool {
        self.entry.is_some_and(|program| program.language.is_some() && program.stdin == Stdin::Code)
    }
}
