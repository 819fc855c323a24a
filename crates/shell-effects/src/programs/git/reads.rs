//! Subcommands of git that show files or their content.

use std::ops::Range;

use super::{GitCall, HASH, pathspecs};
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::batches;
use crate::{Access, Quoting, Target};

/// Whether a word can only be a revision or empty: a printed hash, or an unset variable.
pub(super) fn is_revision(analyzer: &Analyzer<'_>, word: &Field) -> bool {
    let is_operator = |text: &str| ["..", "^", "~", "@"].iter().any(|operator| text.starts_with(operator));
    let follows = word.holes.first().and_then(|(part, _)| word.text.get(part.end..)).unwrap_or_default();
    analyzer.is_only_unset(word)
        || analyzer.is_of_unset(word) && is_operator(follows) && !follows.contains('/')
        || word.kind == FieldKind::Glob && word.written.is_some() && word.text.starts_with(HASH)
}

/// The path in `REVISION:PATH`.
fn path_of(operand: &Field) -> Option<Field> {
    let (revision, path) = operand.text.split_once(':').filter(|(_, path)| !path.is_empty())?;
    // `:0:PATH` is the content in the index.
    let path = match path.split_once(':') {
        Some(("0" | "1" | "2" | "3", path)) if revision.is_empty() => path,
        _ => path,
    };
    let is_in_revision = |(part, _): &(Range<usize>, Quoting)| part.end <= revision.len();
    let is_known = !operand.holes.is_empty() && operand.holes.iter().all(is_in_revision);
    Some(if is_known { Field::literal(path) } else { operand.with(path) })
}

impl GitCall {
    /// Reads only the files that its options name.
    pub(super) fn nothing(&self, _: &mut Analyzer<'_>) {}

    /// Commits, with the content of files only on request.
    pub(super) fn log(&self, analyzer: &mut Analyzer<'_>) {
        if self.arguments.has(&["-p", "-u", "--patch"]) {
            return self.shown(analyzer);
        }
        self.outputs(analyzer);
        for range in self.arguments.values(&["-L"]) {
            if let Some((_, file)) = range.text.rsplit_once(':') {
                analyzer.reads(&range.with(file), self.command);
            }
        }
    }

    pub(super) fn bundle(&self, analyzer: &mut Analyzer<'_>) {
        if let [action, file, ..] = self.arguments.operands.as_slice() {
            let access = if action.text == "create" { Access::Write } else { Access::Read };
            analyzer.touch(access, file, self.command);
        }
    }

    /// Shown files: after `--`, or any operand. `REVISION:PATH` also names a file.
    pub(super) fn shown(&self, analyzer: &mut Analyzer<'_>) {
        self.outputs(analyzer);
        for operand in self.paths().unwrap_or(&self.arguments.operands) {
            if !operand.text.contains(':') && !is_revision(analyzer, operand) {
                analyzer.reads(operand, self.command);
            }
        }
        for operand in &self.arguments.operands {
            if let Some(path) = path_of(operand) {
                analyzer.reads(&path, self.command);
            }
        }
    }

    /// `rev-parse REVISION:PATH`: the hash identifies the content of the file.
    pub(super) fn parsed(&self, analyzer: &mut Analyzer<'_>) {
        for path in self.arguments.operands.iter().filter_map(path_of) {
            analyzer.reads(&path, self.command);
        }
    }

    /// `hash-object`. Its input may name files.
    pub(super) fn hashed(&self, analyzer: &mut Analyzer<'_>) {
        self.shown(analyzer);
        if self.arguments.has(&["--stdin-paths"]) {
            batches::lines(analyzer.input()).iter().for_each(|file| analyzer.reads(file, self.command));
        }
    }

    /// `cat-file`. Its input may also name objects.
    pub(super) fn objects(&self, analyzer: &mut Analyzer<'_>) {
        self.shown(analyzer);
        if !self.arguments.flags.iter().any(|(flag, _)| flag.starts_with("--batch")) {
            return;
        }
        for name in batches::lines(analyzer.input()) {
            // A hash does not name a file.
            if let Some((_, path)) = name.text.split_once(':') {
                analyzer.reads(&name.with(path), self.command);
            }
        }
    }

    /// `add`: with `-f`, it also copies ignored files.
    pub(super) fn add(&self, analyzer: &mut Analyzer<'_>) {
        if !self.arguments.has(&["-f", "--force"]) {
            return;
        }
        let mut files = pathspecs::files(analyzer, &self.arguments.operands, self.pathspecs);
        for list in self.arguments.values(&["--pathspec-from-file"]) {
            files.extend(analyzer.listed_in(list));
        }
        files.iter().for_each(|file| analyzer.reads(file, self.command));
    }

    /// Printed names of files, after the first `skipped` operands.
    fn listed(&self, analyzer: &mut Analyzer<'_>, skipped: usize) {
        // Text that is printed with a name may look like another name.
        if self.arguments.has(&["--format", "--line-prefix"]) {
            return;
        }
        let paths = self.paths().unwrap_or(self.arguments.operands.get(skipped..).unwrap_or_default());
        let is_excluded = |path: &&Field| path.text.starts_with(":!") || path.text.starts_with(":^");
        let files = paths.iter().filter(|path| !is_excluded(path)).map(|path| match path.kind {
            // Git expands a quoted pattern, in all directories.
            FieldKind::Literal if path.text.contains(['*', '?', '[']) => {
                Target::Glob(format!("**/{}", path.text))
            }
            FieldKind::Literal if !path.text.starts_with(':') => Target::Tree(path.text.clone()),
            FieldKind::Glob => Target::Glob(path.text.clone()),
            _ => Target::Unknown(path.shown()),
        });
        let files: Vec<Target> = files.collect();
        analyzer.set_output(Stream::Files(if files.is_empty() { vec![Target::WorkTree] } else { files }));
    }

    pub(super) fn list_files(&self, analyzer: &mut Analyzer<'_>) {
        self.listed(analyzer, 0);
    }

    pub(super) fn diff(&self, analyzer: &mut Analyzer<'_>) {
        if self.arguments.has(&["--name-only"]) {
            self.changed_names(analyzer);
        } else {
            self.shown(analyzer);
        }
    }

    pub(super) fn difftool(&self, analyzer: &mut Analyzer<'_>) {
        self.runs(analyzer);
        self.shown(analyzer);
    }

    pub(super) fn archive(&self, analyzer: &mut Analyzer<'_>) {
        self.outputs(analyzer);
        self.connects(analyzer);
        for path in self.arguments.operands.iter().skip(1) {
            analyzer.touch_tree(Access::Read, path, self.command);
        }
    }

    /// `git diff --name-only`: operands may be revisions.
    fn changed_names(&self, analyzer: &mut Analyzer<'_>) {
        self.outputs(analyzer);
        self.listed(analyzer, 0);
        if let Stream::Files(files) = analyzer.output_mut()
            && self.paths().is_none()
        {
            files.push(Target::WorkTree);
        }
    }

    pub(super) fn grepped(&self, analyzer: &mut Analyzer<'_>) {
        for pager in self.arguments.values(&["-O", "--open-files-in-pager"]) {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(pager, "sh")));
        }
        let skipped = usize::from(!self.arguments.has(&["-e", "-f"]));
        let paths = match self.paths() {
            Some(paths) => paths,
            None => self.arguments.operands.get(skipped..).unwrap_or_default(),
        };
        for path in paths {
            // Git expands a quoted pattern. If its start matches any name, it is a search.
            let is_pattern = path.is_literal() && path.text.contains(['*', '?', '[']);
            let pattern = path.text.trim_start_matches(":(glob)").trim_start_matches(":/");
            if is_pattern && !pattern.starts_with(['*', ':']) {
                analyzer.reads(&Field::glob(pattern), self.command);
            }
            analyzer.reads(path, self.command);
        }
        if self.arguments.has(&["-l", "--files-with-matches", "--name-only"]) {
            self.listed(analyzer, skipped);
        }
    }

    /// `format-patch`: files with a number, a name and a suffix.
    pub(super) fn patches(&self, analyzer: &mut Analyzer<'_>) {
        self.outputs(analyzer);
        if let Some(directory) = self.arguments.value(&["-o", "--output-directory"]) {
            let patch = format!("{}/0001-patch.patch", directory.text.trim_end_matches('/'));
            analyzer.touch(Access::Write, &directory.with(patch), self.command);
        }
        if let Some(suffix) = self.arguments.value(&["--suffix"]) {
            let directory = self.arguments.value(&["-o", "--output-directory"]);
            analyzer.in_directory(directory, |analyzer| {
                analyzer.touch(
                    Access::Write,
                    &suffix.with(format!("0001-patch{}", suffix.text)),
                    self.command,
                );
            });
        }
    }

    pub(super) fn outputs(&self, analyzer: &mut Analyzer<'_>) {
        for file in self.arguments.values(&["-o", "--output", "--output-directory"]) {
            analyzer.by_option("--output", |analyzer| analyzer.touch(Access::Write, file, self.command));
        }
    }
}
