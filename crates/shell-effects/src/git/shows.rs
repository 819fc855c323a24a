//! Subcommands of git that show files, or what is in them.

use super::call::Git;
use crate::arguments;
use crate::state::{Field, FieldKind};
use crate::stream::Stream;
use crate::walk::Walk;
use crate::{Access, Target};

impl Git<'_> {
    /// The files that options name.
    pub(super) fn read_by(&self, walk: &mut Walk<'_>, flags: &'static str) {
        walk.files_of_flags(flags, &arguments::parse(flags, self.rest), self.command);
    }

    /// Commits, with the content of files only where they are asked for.
    pub(super) fn log(&self, walk: &mut Walk<'_>) {
        if self.arguments.has(&["-p", "-u", "--patch"]) {
            return self.shown(walk);
        }
        self.outputs(walk);
        for range in self.arguments.values(&["-L"]) {
            if let Some((_, file)) = range.text.rsplit_once(':') {
                walk.reads(&range.with(file), self.command);
            }
        }
    }

    pub(super) fn bundle(&self, walk: &mut Walk<'_>) {
        if let [action, file, ..] = self.arguments.operands.as_slice() {
            let access = if action.text == "create" { Access::Write } else { Access::Read };
            walk.touch(access, file, self.command);
        }
    }

    /// Files to look at: behind `--`, or any operand, where `REVISION:PATH` names one as well.
    pub(super) fn shown(&self, walk: &mut Walk<'_>) {
        self.outputs(walk);
        for operand in self.paths.unwrap_or(&self.arguments.operands) {
            if !operand.text.contains(':') {
                walk.reads(operand, self.command);
            }
        }
        for operand in &self.arguments.operands {
            if let Some((_, path)) = operand.text.split_once(':').filter(|(_, path)| !path.is_empty()) {
                walk.reads(&operand.with(path), self.command);
            }
        }
    }

    /// The names of files that are printed, behind so many other operands.
    pub(super) fn listed(&self, walk: &mut Walk<'_>, skipped: usize) {
        // What is printed beside a name may be another one.
        if self.arguments.has(&["--format", "--line-prefix"]) {
            return;
        }
        let paths = self.paths.unwrap_or(self.arguments.operands.get(skipped..).unwrap_or_default());
        let is_excluded = |path: &&Field| path.text.starts_with(":!") || path.text.starts_with(":^");
        let files = paths.iter().filter(|path| !is_excluded(path)).map(|path| match path.kind {
            // A pattern in quotes is one for git, which finds files in all directories.
            FieldKind::Literal if path.text.contains(['*', '?', '[']) => {
                Target::Glob(format!("**/{}", path.text))
            }
            FieldKind::Literal if !path.text.starts_with(':') => Target::Tree(path.text.clone()),
            FieldKind::Glob => Target::Glob(path.text.clone()),
            _ => Target::Unknown(path.shown()),
        });
        let files: Vec<Target> = files.collect();
        walk.output = Stream::Files(if files.is_empty() { vec![Target::WorkTree] } else { files });
    }

    /// `git diff --name-only`: operands may be revisions.
    pub(super) fn changed_names(&self, walk: &mut Walk<'_>) {
        self.outputs(walk);
        self.listed(walk, 0);
        if let Stream::Files(files) = &mut walk.output
            && self.paths.is_none()
        {
            files.push(Target::WorkTree);
        }
    }

    pub(super) fn grepped(&self, walk: &mut Walk<'_>) {
        for file in self.arguments.values(&["-f"]) {
            walk.reads(file, self.command);
        }
        let skipped = usize::from(!self.arguments.has(&["-e", "-f"]));
        let paths = match self.paths {
            Some(paths) => paths,
            None => self.arguments.operands.get(skipped..).unwrap_or_default(),
        };
        for path in paths {
            walk.reads(path, self.command);
        }
        if self.arguments.has(&["-l", "--files-with-matches", "--name-only"]) {
            self.listed(walk, skipped);
        }
    }

    pub(super) fn outputs(&self, walk: &mut Walk<'_>) {
        for file in self.arguments.values(&["-o", "--output", "--output-directory"]) {
            walk.by_option("--output", |walk| walk.touch(Access::Write, file, self.command));
        }
    }
}
