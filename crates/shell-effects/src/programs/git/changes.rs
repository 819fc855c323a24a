//! Subcommands of git that change files of the work tree.

use super::reads::is_revision;
use super::repositories::{ELSEWHERE, has_index_variable};
use super::{GitCall, pathspecs};
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::programs::arguments::{self, Call};
use crate::programs::files;
use crate::programs::patches::{self, PatchNames};
use crate::programs::table;
use crate::{Access, AdditionalFiles, Extent, LAST_COMMIT, Target};

/// Options of `git apply` and `git am` that do not change which files they modify.
#[rustfmt::skip]
const PLAIN_APPLY: &[&str] = &[
    "-p", "-R", "--reverse", "-v", "--verbose", "-q", "--quiet", "--index", "-3", "--3way", "--reject", "--whitespace", "--ignore-whitespace",
    "--ignore-space-change", "--recount", "--unidiff-zero", "--allow-empty", "-s", "--signoff", "-k", "--keep-non-patch", "--no-gpg-sign",
];

impl GitCall {
    pub(super) fn checkout(&self, analyzer: &mut Analyzer<'_>) {
        if self.arguments.has(&["-b", "-B", "--orphan", "--detach", "-t", "--track"])
            && self.paths().is_none()
        {
            return;
        }
        let is_forced = self.arguments.has(&["-f", "--force"]);
        if is_forced && self.paths().is_none() {
            self.work_tree(analyzer, Access::Write);
        }
        match self.paths() {
            Some(paths) => self.rewritten(analyzer, paths, Access::Write),
            None => match self.arguments.operands.as_slice() {
                // If there is only one name, and it is unknown, it is a branch.
                [only] if only.kind == FieldKind::Unknown || is_revision(analyzer, only) => {}
                [] => {}
                [first, paths @ ..] if is_revision(analyzer, first) => {
                    self.rewritten(analyzer, paths, Access::Write);
                }
                // The first may be a branch, or the revision of the other files.
                [first, paths @ ..] => {
                    self.rewritten(analyzer, paths, Access::Write);
                    self.rewritten(analyzer, std::slice::from_ref(first), Access::Update);
                }
            },
        }
        self.of_list(analyzer, Access::Write);
    }

    /// `switch`: a branch without commits has no files; `-f` discards changes.
    pub(super) fn switch(&self, analyzer: &mut Analyzer<'_>) {
        if self.arguments.has(&["--orphan", "-f", "--force", "--discard-changes"]) {
            self.work_tree(analyzer, Access::Write);
        }
    }

    pub(super) fn restore(&self, analyzer: &mut Analyzer<'_>) {
        let only_index =
            self.arguments.has(&["-S", "--staged"]) && !self.arguments.has(&["-W", "--worktree"]);
        if !only_index {
            self.rewritten(analyzer, &self.arguments.operands, Access::Write);
            self.of_list(analyzer, Access::Write);
        }
    }

    /// All files of the work tree, of the kinds that the subcommand changes.
    fn work_tree(&self, analyzer: &mut Analyzer<'_>, access: Access) {
        let mut extent = self.extent();
        let is_elsewhere = self.is_elsewhere(analyzer);
        if is_elsewhere {
            // Another repository tracks and ignores other files.
            extent = Extent { untracks: true, ..Extent::default() };
        } else if matches!(self.subcommand.as_str(), "clean" | "stash") && extent.untracked {
            if has_other_index(analyzer) {
                extent = Extent { tracked: true, only_changed: false, untracks: true, ..extent };
            }
            // Files that this script took out of the index are untracked now.
            for path in analyzer.untracked() {
                analyzer.touch_tree(Access::Delete, &path, self.command);
            }
        }
        let commit = self.revision(analyzer).map_or_else(|| LAST_COMMIT.to_owned(), Field::shown);
        let has_other_head = analyzer.has_touched(|path| path.split('/').any(|part| part == ".git"));
        let is_comparable = analyzer.repository_change.keeps(&commit)
            && !is_elsewhere
            && !has_other_head
            && !has_other_index(analyzer);
        let revision = if is_comparable { Some(commit) } else { None };
        analyzer.compared_in_loop(self.command);
        if let Some(command) = analyzer.command_mut(self.command) {
            command.revision = revision;
            // An unknown word may be an option.
            if command.unknown.is_empty() {
                command.extent = extent;
            }
        }
        analyzer.effect(access, Target::WorkTree, self.command);
    }

    /// The commit whose files come to the work tree. Without one, it is the last commit or the index.
    pub(super) fn revision(&self, analyzer: &Analyzer<'_>) -> Option<&Field> {
        let operands = &self.arguments.operands;
        let first = match self.paths() {
            Some(paths) if paths.len() >= operands.len() => None,
            Some(_) => operands.first(),
            None => operands.first().filter(|first| !is_path(analyzer, first)),
        };
        match self.subcommand.as_str() {
            "restore" => self.arguments.value(&["-s", "--source"]),
            "checkout" if operands.len() > 1 => first,
            "reset" => first,
            // Of several trees, the last one is the new state.
            "read-tree" => operands.last(),
            _ => None,
        }
    }

    fn extent(&self) -> Extent {
        let arguments = &self.arguments;
        match self.subcommand.as_str() {
            "clean" if arguments.has(&["-X"]) => {
                Extent { tracked: false, untracked: false, ..Extent::default() }
            }
            "clean" => Extent { tracked: false, ignored: arguments.has(&["-x"]), ..Extent::default() },
            "stash" if arguments.has(&["-a"]) || arguments.has_long("--all") => {
                Extent { only_changed: true, ..Extent::default() }
            }
            "apply" => Extent { only_changed: true, ..Extent::TRACKED },
            "stash" => {
                let untracked = arguments.has(&["-u"]) || arguments.has_long("--include-untracked");
                Extent { untracked, only_changed: true, ..Extent::TRACKED }
            }
            _ => Extent::TRACKED,
        }
    }

    /// The files in an unread list.
    fn of_list(&self, analyzer: &mut Analyzer<'_>, access: Access) {
        if let Some(list) = self.arguments.value(&["--pathspec-from-file"]) {
            let files = Field::unknown(format!("the files of {}", list.shown()));
            analyzer.touch(access, &files, self.command);
        }
    }

    pub(super) fn rewritten(&self, analyzer: &mut Analyzer<'_>, paths: &[Field], access: Access) {
        let (all, named): (Vec<Field>, Vec<Field>) = paths.iter().cloned().partition(is_whole_tree);
        all.iter().for_each(|_| self.work_tree(analyzer, Access::Write));
        for path in pathspecs::files(analyzer, &named, self.pathspecs) {
            if path.text == "." {
                self.work_tree(analyzer, Access::Write);
            } else {
                analyzer.touch_tree(access, &path, self.command);
            }
        }
    }

    pub(super) fn remove(&self, analyzer: &mut Analyzer<'_>) {
        if self.arguments.has(&["-n", "--dry-run"]) {
            return;
        }
        let files = pathspecs::files(analyzer, &self.arguments.operands, self.pathspecs);
        if self.arguments.has_long("--cached") {
            analyzer.untracked_files(&files);
            return;
        }
        for path in &files {
            if self.arguments.has(&["-r"]) || path.text == "." {
                analyzer.touch_tree(Access::Delete, path, self.command);
            } else {
                analyzer.touch(Access::Delete, path, self.command);
            }
        }
        self.of_list(analyzer, Access::Delete);
    }

    pub(super) fn move_files(&self, analyzer: &mut Analyzer<'_>) {
        let Some(program) = table::by_name("mv") else { return };
        let arguments = arguments::parse("", &self.rest);
        let call =
            Call { program, name: "mv", fields: &self.rest, arguments, rest: &[], command: self.command };
        files::copy(analyzer, &call);
    }

    pub(super) fn clean(&self, analyzer: &mut Analyzer<'_>) {
        if self.arguments.has(&["-n", "--dry-run"]) {
            return;
        }
        if self.arguments.operands.is_empty() {
            self.work_tree(analyzer, Access::Delete);
        }
        for path in pathspecs::files(analyzer, &self.arguments.operands, self.pathspecs) {
            analyzer.touch_tree(Access::Delete, &path, self.command);
        }
    }

    /// `update-index`: files that are no longer tracked, or get other content.
    pub(super) fn index(&self, analyzer: &mut Analyzer<'_>) {
        if self.arguments.has(&["--force-remove", "--remove"]) {
            analyzer.untracked_files(&self.arguments.operands);
        }
        if self.arguments.has(&["--stdin"]) && !self.arguments.has(&["--force-remove"]) {
            analyzer
                .listed_in(&Field::literal("-"))
                .iter()
                .for_each(|file| analyzer.reads(file, self.command));
        }
        if self.arguments.has(&["--cacheinfo", "--index-info"]) {
            self.make_objects(analyzer);
        }
        analyzer.has_other_index |= self.arguments.has(&["--index-info", "--stdin", "-z"]);
    }

    /// `read-tree`: the index becomes that of any tree.
    pub(super) fn read_tree(&self, analyzer: &mut Analyzer<'_>) {
        analyzer.has_other_index = true;
        self.write_work_tree(analyzer);
    }

    /// `checkout-index`: with `--prefix` the files go elsewhere.
    pub(super) fn checkout_index(&self, analyzer: &mut Analyzer<'_>) {
        match self.arguments.value(&["--prefix"]) {
            Some(prefix) => {
                let brings = AdditionalFiles { directory: true, names: false };
                analyzer.with_additional_files(brings, |analyzer| {
                    analyzer.touch_tree(Access::Write, prefix, self.command)
                });
            }
            None => self.write_work_tree(analyzer),
        }
    }

    /// Trees and commits that are not made of files. What they check out or merge later is unknown.
    pub(super) fn make_objects(&self, analyzer: &mut Analyzer<'_>) {
        let files = Field::unknown(format!("the files that git {} makes", self.subcommand));
        analyzer.touch(Access::Write, &files, self.command);
    }

    pub(super) fn stash(&self, analyzer: &mut Analyzer<'_>) {
        let action = self.arguments.operands.first().map_or("push", |field| field.text.as_str());
        match action {
            // The restored files were in the work tree before, like the commits of another branch.
            "list" | "show" | "drop" | "clear" | "create" | "store" | "pop" | "apply" | "branch" => {}
            _ if self.arguments.has(&["--pathspec-from-file"]) => self.of_list(analyzer, Access::Write),
            _ => match (self.paths(), self.arguments.operands.split_first()) {
                (Some(paths), _) if !paths.is_empty() => self.rewritten(analyzer, paths, Access::Write),
                (None, Some((_, paths))) if action == "push" && !paths.is_empty() => {
                    self.rewritten(analyzer, paths, Access::Write);
                }
                _ => self.work_tree(analyzer, Access::Write),
            },
        }
    }

    pub(super) fn apply(&self, analyzer: &mut Analyzer<'_>) {
        let arguments = &self.arguments;
        let looks = ["--check", "--stat", "--numstat", "--summary", "--cached"];
        let ends = ["--abort", "--skip", "--quit", "--show-current-patch"];
        // `--stat --apply` applies, and so does `--check --no-check`.
        let applies =
            |(flag, _): &(String, Option<Field>)| flag.starts_with("--no-") || flag.starts_with("--ap");
        let only_looks = arguments.has(&looks) && !arguments.flags.iter().any(applies);
        if only_looks || self.subcommand == "am" && arguments.has(&ends) {
            return;
        }
        for patch in &arguments.operands {
            analyzer.reads(patch, self.command);
        }
        let is_plain = arguments.flags.iter().all(|(flag, _)| PLAIN_APPLY.contains(&flag.as_str()))
            && !analyzer.may_be_given(ELSEWHERE)
            && !self.has_other_tree(analyzer);
        if is_plain && self.applies_own_diff(analyzer) {
            return self.work_tree(analyzer, Access::Write);
        }
        match (self.strips(analyzer), analyzer.top_level()) {
            (Some(strips), Some(top)) if is_plain => {
                // Names start from the top level, or from here in a patch that git did not write.
                let how = PatchNames { strips, directories: vec![top, Field::literal(".")] };
                patches::apply(analyzer, &arguments.operands, &how, self.command);
            }
            _ => analyzer.touch(Access::Write, &Field::unknown("the files of the patch"), self.command),
        }
    }

    /// Whether this script's `git diff` printed the patch: it changes files that differ from the last commit.
    fn applies_own_diff(&self, analyzer: &mut Analyzer<'_>) -> bool {
        let [patch] = self.arguments.operands.as_slice() else { return false };
        let Some(written) = analyzer.written(patch) else { return false };
        let [by] = written.by.as_slice() else { return false };
        let Some(command) = analyzer.command_mut(*by) else { return false };
        let is_option = |word: &String| word.starts_with('-') && word != "--" && word != "--binary";
        matches!(command.words.as_slice(), [git, diff, rest @ ..]
            if git == "git" && diff == "diff" && !rest.iter().any(is_option) && command.unknown.is_empty())
    }

    /// How many leading directories git may remove from a name. It guesses that from its directory.
    fn strips(&self, analyzer: &Analyzer<'_>) -> Option<Vec<Option<usize>>> {
        if let Some(strip) = self.arguments.value(&["-p"]) {
            return Some(vec![Some(strip.text.parse().ok()?)]);
        }
        let (top, here) = (analyzer.top_level()?, analyzer.current_directory()?);
        let below = here.text.strip_prefix(&top.text)?;
        let depth = below.split('/').filter(|part| !part.is_empty()).count();
        Some(if depth == 0 { vec![Some(1)] } else { vec![Some(1), Some(depth), Some(depth + 1)] })
    }

    pub(super) fn reset(&self, analyzer: &mut Analyzer<'_>) {
        if self.arguments.has(&["--hard", "--merge", "--keep"]) {
            return self.write_work_tree(analyzer);
        }
        // What another commit does not have becomes untracked.
        let is_other = |word: &Field| {
            !word.is_literal()
                || !matches!(word.text.as_str(), "HEAD" | "@") && !analyzer.is_there(&word.text)
        };
        if self.arguments.operands.first().is_some_and(is_other)
            && self.rest.first().is_none_or(|word| word.text != "--")
            && !self.arguments.has(&["--soft"])
        {
            analyzer.has_other_index = true;
        }
    }

    pub(super) fn write_work_tree(&self, analyzer: &mut Analyzer<'_>) {
        // `checkout-index --prefix=DIRECTORY/` writes there instead.
        if self.subcommand == "checkout-index"
            && let Some(prefix) = self.arguments.value(&["--prefix"])
        {
            return analyzer.touch_tree(Access::Write, &files::directory_of(prefix), self.command);
        }
        self.work_tree(analyzer, Access::Write);
    }
}

pub(super) fn is_last_commit(revision: &Field) -> bool {
    revision.is_literal() && matches!(revision.text.as_str(), LAST_COMMIT | "@")
}

fn is_whole_tree(path: &Field) -> bool {
    matches!(path.text.as_str(), "." | "./" | ":/" | ":/*" | "*")
}

/// Whether a word before `--` is a path. Git refuses one that is also a revision.
fn is_path(analyzer: &Analyzer<'_>, word: &Field) -> bool {
    let is_there = || analyzer.is_there(&word.text) && !analyzer.has_touched(|path| path == word.text);
    is_whole_tree(word) || word.is_literal() && is_there()
}

/// Whether git may track other files than before the script.
fn has_other_index(analyzer: &mut Analyzer<'_>) -> bool {
    analyzer.has_other_index
        || has_index_variable(analyzer)
        || analyzer.has_touched(|path| {
            let path = path.trim_end_matches('/');
            path.ends_with(".git/index") || path.rsplit('/').next() == Some(".git")
        })
}
