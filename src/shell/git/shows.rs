//! Subcommands of git that show files, or what is in them.

use super::call::Git;
use crate::shell::Access;
use crate::shell::arguments;
use crate::shell::walk::Walk;

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
    }

    pub(super) fn outputs(&self, walk: &mut Walk<'_>) {
        for file in self.arguments.values(&["-o", "--output", "--output-directory"]) {
            walk.by_option("--output", |walk| walk.touch(Access::Write, file, self.command));
        }
    }
}
