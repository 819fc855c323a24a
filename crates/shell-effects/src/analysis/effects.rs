//! Collects commands and effects, and which files of a work tree a git command changes if it names none.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::{SEARCHED, WORK_TREE};
use crate::glob::escaped;
use crate::programs::program::DeletedFiles;
use crate::programs::table::name_of;
use crate::{Access, AdditionalFiles, Base, Doubt, Effect, Quoting, SimpleCommand, Target, UnknownPart};

/// More directories that are copied are asked about.
const MAX_COPIED: usize = 16;

/// Kinds of files, as git tells them apart.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Extent {
    pub tracked: bool,
    /// Without the ignored ones.
    pub untracked: bool,
    pub ignored: bool,
    /// Among the tracked files, only those that differ from the last commit.
    pub only_changed: bool,
    /// Whether tracked files count as untracked: the index was changed before.
    pub untracks: bool,
}

impl Default for Extent {
    /// All files.
    fn default() -> Extent {
        Extent { tracked: true, untracked: true, ignored: true, only_changed: false, untracks: false }
    }
}

impl Extent {
    pub(crate) const TRACKED: Extent =
        Extent { tracked: true, untracked: false, ignored: false, only_changed: false, untracks: false };
}

impl Analyzer<'_> {
    /// Adds a command and returns its index.
    pub(crate) fn add_command(&mut self, fields: &[Field], redirects_to_file: bool) -> usize {
        let words: Vec<String> = fields.iter().map(Field::shown).collect();
        let text = words.join(" ");
        let is_known = fields.first().is_some_and(Field::is_literal);
        let unknown =
            fields.iter().enumerate().flat_map(|(word, field)| self.unknown_parts(word, field)).collect();
        let entry = if is_known { words.first().and_then(|word| self.program(name_of(word))) } else { None };
        let directories = match entry.map_or(DeletedFiles::Nothing, |program| program.deletes) {
            DeletedFiles::Nothing => Vec::new(),
            DeletedFiles::Operands | DeletedFiles::Found => {
                self.state.bases().iter().filter_map(Base::known).collect()
            }
        };
        self.script.commands.push(SimpleCommand {
            words,
            text,
            is_known,
            redirects_to_file,
            unknown,
            assigned: Vec::new(),
            environment: Rc::clone(self.state.exports.variables()),
            redirects: Vec::new(),
            input: None,
            directories,
            wraps: false,
            inside: self.scope.inside > 0,
            is_remote: self.scope.is_remote,
            unknown_code: None,
            script: None,
            makes_symbolic_link: false,
            acts_by: Vec::new(),
            extent: Extent::default(),
            revision: None,
            entry,
        });
        self.script.commands.len() - 1
    }

    /// The files that programs wrote so far, except the one of this name.
    pub(crate) fn written_by_others(&self, name: &str) -> impl Iterator<Item = &str> {
        let program = self.program(name);
        self.script.effects.iter().filter_map(move |effect| {
            let command = self.script.commands.get(effect.command);
            let is_other = command.and_then(|command| command.entry) != program;
            match &effect.target {
                Target::Path(path) if is_other && effect.access == Access::Write => Some(path.as_str()),
                _ => None,
            }
        })
    }

    /// The index of the last command.
    pub(crate) fn last_command(&self) -> usize {
        self.script.commands.len().saturating_sub(1)
    }

    pub(crate) fn command_mut(&mut self, command: usize) -> Option<&mut SimpleCommand> {
        self.script.commands.get_mut(command)
    }

    /// Effects that an option of the command causes.
    pub(crate) fn by_option(&mut self, option: &str, touch: impl FnOnce(&mut Self)) {
        let start = self.script.effects.len();
        touch(self);
        for effect in self.script.effects.iter_mut().skip(start) {
            effect.option = Some(option.to_owned());
        }
    }

    /// More than one file may come to what is written.
    pub(crate) fn with_additional_files(&mut self, brings: AdditionalFiles, write: impl FnOnce(&mut Self)) {
        let start = self.script.effects.len();
        write(self);
        for effect in self.script.effects.iter_mut().skip(start) {
            if !matches!(effect.access, Access::Read | Access::Delete) {
                effect.brings = brings;
            }
        }
    }

    /// Whether a path with this property was changed before.
    pub(crate) fn has_touched(&self, is_such: impl Fn(&str) -> bool) -> bool {
        let path = |effect: &Effect| match &effect.target {
            Target::Path(path) | Target::Tree(path) | Target::Glob(path) | Target::Trees(path) => {
                is_such(path)
            }
            _ => false,
        };
        self.script.effects.iter().any(|effect| effect.access.changes_files() && path(effect))
    }

    /// The command runs or writes something unknown through this option.
    pub(crate) fn acts_by(&mut self, option: &str, command: usize) {
        if let Some(command) = self.command_mut(command) {
            command.acts_by.push(option.to_owned());
        }
    }

    /// Adds something that is not a command, but matters to a caller that allows the commands.
    pub(crate) fn side_effect(&mut self, what: String) {
        if !self.script.side_effects.contains(&what)
            && self.work(what.len() + 16 * self.script.side_effects.len())
        {
            self.script.side_effects.push(what);
        }
    }

    /// Adds an effect on the file that a word names.
    pub(crate) fn touch(&mut self, access: Access, field: &Field, command: usize) {
        let target = match field.kind {
            FieldKind::Literal => Target::Path(field.text.clone()),
            FieldKind::Glob => {
                self.touch_in_copies(access, &field.text, command);
                Target::Glob(field.text.clone())
            }
            FieldKind::Tree if field.text == WORK_TREE => Target::WorkTree,
            FieldKind::Tree => Target::Tree(field.text.clone()),
            FieldKind::Unknown => {
                // An unset variable is empty, unless the user's shell sets it.
                if let (Access::Read | Access::Write, Some(path)) = (access, self.path_without_unset(field)) {
                    // What is in quotes is not known any more.
                    if path.contains(['*', '?', '[']) {
                        self.effect(access, Target::Glob(path.clone()), command);
                    }
                    self.effect(access, Target::Path(path), command);
                }
                match self.unknown_target(access, field) {
                    Some(target) => target,
                    None => return,
                }
            }
        };
        self.effect(access, target, command);
    }

    /// Remembers that a directory was copied.
    pub(crate) fn copied_directory(&mut self, from: &Field, to: &str) {
        let (from, to) = (self.paths_of(from), self.paths_of(&Field::literal(to)));
        let ([from], [to]) = (from.as_slice(), to.as_slice()) else { return };
        if self.copies.len() < MAX_COPIED {
            self.copies.push((from.clone(), to.clone()));
        } else {
            self.doubt(Doubt::TooMany("copies"));
        }
    }

    /// A pattern in a directory that this script copies. The directory does not exist yet, so the original is searched.
    fn touch_in_copies(&mut self, access: Access, pattern: &str, command: usize) {
        if access != Access::Read || self.copies.is_empty() {
            return;
        }
        let pattern = Field::literal(pattern);
        for path in self.paths_of(&pattern) {
            for (from, to) in &self.copies {
                let Some(rest) = path.strip_prefix(to.as_str()).and_then(|rest| rest.strip_prefix('/'))
                else {
                    continue;
                };
                let pattern =
                    if from.is_empty() { rest.to_owned() } else { format!("{}/{rest}", escaped(from)) };
                let (target, base) = (Target::Glob(pattern), Base::At(String::new()));
                self.script.effects.push(Effect {
                    access,
                    target,
                    base,
                    command,
                    option: None,
                    brings: AdditionalFiles::default(),
                });
            }
        }
    }

    /// The target of an unknown word. `None` if it names nothing.
    fn unknown_target(&self, access: Access, field: &Field) -> Option<Target> {
        let pattern = match access {
            // It is like any search through all files.
            Access::Read if field.text == SEARCHED => return None,
            Access::Write if self.is_github_file(field) => return None,
            Access::Read => self
                .pattern_of_unset(field)
                .or_else(|| self.pattern_of_installed(field))
                .or_else(|| self.pattern_of_name(field)),
            Access::Write => self.pattern_of_unset(field),
            _ => None,
        };
        let end = || if access == Access::Read { self.known_end(field) } else { None };
        let written = field.text.clone();
        Some(match (pattern, end) {
            (Some(pattern), _) => Target::Among { written, pattern },
            (None, _) => match end() {
                Some(end) => Target::Somewhere { written, end },
                None => Target::Unknown(written),
            },
        })
    }

    /// Like `touch`, but for a file, or a directory with everything in it.
    pub(crate) fn touch_tree(&mut self, access: Access, field: &Field, command: usize) {
        match field.kind {
            FieldKind::Literal => self.effect(access, Target::Tree(field.text.clone()), command),
            FieldKind::Glob => self.effect(access, Target::Trees(field.text.clone()), command),
            _ => self.touch(access, field, command),
        }
    }

    pub(crate) fn effect(&mut self, access: Access, target: Target, command: usize) {
        // Rules do not protect files on another machine.
        if self.scope.elsewhere > 0 || !self.work(32) {
            return;
        }
        // It is like any search through all files.
        if target == Target::WorkTree && access == Access::Read {
            return;
        }
        if !self.scope.missing.is_empty() && self.is_kept(access, &target) {
            return;
        }
        if self.without_tmpdir && access == Access::Delete && self.is_nowhere(&target) {
            return;
        }
        if let (Access::MakeDirectory, Target::Path(path)) = (access, &target) {
            self.state.disk.make_directory(path);
        }
        let path = match &target {
            Target::Path(path) | Target::Tree(path) | Target::Glob(path) | Target::Trees(path) => path,
            Target::Into { directory, .. } => directory,
            Target::Among { pattern, .. } => pattern,
            Target::WorkTree => "",
            Target::Unknown(written) | Target::Somewhere { written, .. } => {
                if self.through_process(access, &target, written, command) {
                    return;
                }
                let base = self.state.bases().first().cloned().unwrap_or(Base::Unknown);
                self.script.effects.push(Effect::new(access, target, base, command));
                return;
            }
        };
        if self.through_process(access, &target, path, command) || is_nothing(path, &target) {
            return;
        }
        if path.starts_with('/') {
            let base = Base::At(String::new());
            self.script.effects.push(Effect::new(access, target, base, command));
            return;
        }
        for base in self.state.bases().to_vec() {
            let target = self.in_unknown_directory(access, &target, &base).unwrap_or_else(|| target.clone());
            self.script.effects.push(Effect::new(access, target, base, command));
        }
    }
}

impl Analyzer<'_> {
    /// The unknown parts of a word.
    fn unknown_parts(&self, word: usize, field: &Field) -> Vec<UnknownPart> {
        let part = |part: std::ops::Range<usize>, quoting| {
            let is_spelled = self.is_spelled(field, field.text.get(part.clone()).unwrap_or_default());
            UnknownPart { word, part, quoting, is_spelled }
        };
        match field.kind {
            FieldKind::Literal | FieldKind::Tree => Vec::new(),
            FieldKind::Glob => vec![part(0..field.shown().len(), Quoting::Glob)],
            FieldKind::Unknown if field.holes.is_empty() => vec![part(0..field.text.len(), Quoting::Bare)],
            FieldKind::Unknown => {
                field.holes.iter().map(|(range, quoting)| part(range.clone(), *quoting)).collect()
            }
        }
    }
}

/// Standard streams, and nothing at all.
fn is_nothing(path: &str, target: &Target) -> bool {
    let is_stream = matches!(
        path,
        "/dev/null"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/tty"
            | "/dev/zero"
            | "/dev/urandom"
            | "/dev/random"
    );
    is_stream || path.starts_with("/dev/fd/") || (path.is_empty() && *target != Target::WorkTree)
}

#[cfg(test)]
mod tests {
    use crate::Target;
    use crate::read;

    #[test]
    fn a_command_changes_the_files_that_git_says_it_does() {
        for (command, expected) in [
            ("git stash", "tracked changed"),
            ("git stash push -m untracked", "tracked changed"),
            ("git stash -u", "tracked untracked changed"),
            ("git stash push --include-untr", "tracked untracked changed"),
            ("git stash --all", "tracked untracked ignored changed"),
            ("git stash $X", "tracked untracked ignored"),
            ("git reset --hard", "tracked"),
            ("git checkout .", "tracked"),
            ("git restore .", "tracked"),
            ("git clean -fd", "untracked"),
            ("git clean -fdx", "untracked ignored"),
            ("git clean -ffdX", "ignored"),
            ("git clean -fd -e X", "untracked"),
            ("/usr/bin/git -C x stash", "tracked changed"),
            ("git ls-files | xargs sed -i s/a/b/", "tracked untracked ignored"),
            ("git read-tree --empty; git clean -fd", "tracked untracked untracks"),
            ("git reset HEAD~1; git stash -u", "tracked untracked untracks"),
            ("git reset --hard HEAD~1; git stash -u", "tracked untracked changed"),
            ("git reset; git clean -fd", "untracked"),
            ("git reset HEAD~1; git stash", "tracked changed"),
            ("rm .git/index; git clean -fdx", "tracked untracked ignored untracks"),
            ("GIT_INDEX_FILE=x git clean -fd", "tracked untracked untracks"),
            ("export GIT_INDEX_FILE=x; git clean -fd", "tracked untracked untracks"),
        ] {
            let script = read(command, None);
            let effect = script.effects.iter().rfind(|effect| effect.target == Target::WorkTree).unwrap();
            let found = script.commands[effect.command].extent;
            let named = [
                (found.tracked, "tracked"),
                (found.untracked, "untracked"),
                (found.ignored, "ignored"),
                (found.only_changed, "changed"),
                (found.untracks, "untracks"),
            ];
            let named: Vec<&str> = named.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
            assert_eq!(named.join(" "), expected, "{command}");
        }
    }
}
