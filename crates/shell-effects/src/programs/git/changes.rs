//! Subcommands of git that change files of the work tree.

use super::reads::is_revision;
use super::{GitCall, pathspecs};
use crate::analysis::analyzer::Analyzer;
use crate::analysis::exports::file_of;
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

/// Variables that choose the work tree.
const ELSEWHERE: &[&str] = &[
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
];

/// Subcommands after which nothing differs from before.
#[rustfmt::skip]
const READING: &[&str] = &[
    "annotate", "archive", "blame", "cat-file", "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "cherry", "clean",
    "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "format-patch", "fsck", "gc", "grep", "help",
    "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "push", "range-diff", "rev-list", "rev-parse", "shortlog", "show",
    "show-ref", "status", "var", "verify-commit", "version", "whatchanged",
];

/// What a git command changes in the repository.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum RepositoryChange {
    #[default]
    Nothing,
    /// What names of commits mean. A file that is as in the last commit still is.
    Revisions,
    Anything,
}

impl RepositoryChange {
    /// Whether files can still be compared with a commit.
    pub(crate) fn keeps(self, commit: &str) -> bool {
        match self {
            RepositoryChange::Nothing => true,
            RepositoryChange::Revisions => matches!(commit, LAST_COMMIT | "@"),
            RepositoryChange::Anything => false,
        }
    }
}

impl GitCall {
    /// What it may change for later commands.
    pub(super) fn repository_change(&self, analyzer: &mut Analyzer<'_>) -> RepositoryChange {
        if READING.contains(&self.subcommand.as_str()) {
            return RepositoryChange::Nothing;
        }
        let keeps = match self.subcommand.as_str() {
            "add" | "commit" | "reflog" | "remote" | "stage" | "stash" | "switch" | "tag" => true,
            "branch" => !self.arguments.has(&["-C", "-M", "-f", "--force"]),
            "checkout" | "reset" | "restore" => self.revision(analyzer).is_none_or(is_last_commit),
            "config" => self.arguments.operands.len() < 2 && self.arguments.flags.is_empty(),
            "fetch" => !self.arguments.has(&["-u", "--update-head-ok"]),
            _ => false,
        };
        if keeps && !self.is_elsewhere(analyzer) && !has_index_variable(analyzer) {
            RepositoryChange::Revisions
        } else {
            RepositoryChange::Anything
        }
    }

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
    fn revision(&self, analyzer: &Analyzer<'_>) -> Option<&Field> {
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

    /// Whether it works on another repository or work tree than that of its directory.
    fn is_elsewhere(&self, analyzer: &mut Analyzer<'_>) -> bool {
        let is_set = |name: &&str| analyzer.state.get(name).is_some() || analyzer.state.exports.has(name);
        ELSEWHERE.iter().any(is_set) || self.has_other_tree(analyzer)
    }

    /// Whether options choose another work tree.
    fn has_other_tree(&self, analyzer: &mut Analyzer<'_>) -> bool {
        const OPTIONS: &[&str] = &["--work-tree", "--git-dir", "--bare", "core.worktree"];
        let is_such = |word: &String| {
            let word = word.to_ascii_lowercase();
            OPTIONS.iter().any(|option| word.starts_with(option)) || word.starts_with("--config-env")
        };
        analyzer.command_mut(self.command).is_none_or(|command| command.words.iter().any(is_such))
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

    /// `clone`, `init` and `worktree`.
    pub(super) fn create(&self, analyzer: &mut Analyzer<'_>) {
        self.connects(analyzer);
        self.settings(analyzer);
        for directory in self.arguments.values(&["--separate-git-dir"]) {
            let brings = AdditionalFiles { directory: true, names: false };
            analyzer.with_additional_files(brings, |analyzer| {
                analyzer.touch(Access::Write, directory, self.command)
            });
        }
        self.arguments.values(&["--template"]).for_each(|template| analyzer.template(template));
        let named: Vec<Field> = analyzer.state.exports.values("GIT_DIR").map(file_of).collect();
        if self.subcommand == "init" {
            named.iter().for_each(|directory| analyzer.touch_tree(Access::Write, directory, self.command));
        }
        self.directory(analyzer);
    }

    /// The directory that a subcommand makes. Another branch may be checked out in another directory, whose files then differ from it.
    pub(super) fn changes_branch(&self, analyzer: &mut Analyzer<'_>) {
        let operands = &self.arguments.operands;
        let Some(name) = operands.first().filter(|name| name.text != "HEAD") else { return };
        if operands.len() > 1 || self.arguments.has(&["-d", "--delete"]) {
            let checkout = Field::unknown(format!("the checkout of {}", name.shown()));
            analyzer.touch(Access::Checkout, &checkout, self.command);
        }
    }

    /// A worktree that is given by the last part of its path.
    fn named_worktree(&self, analyzer: &mut Analyzer<'_>, name: &Field) {
        if !name.text.starts_with(['.', '/', '~']) {
            let worktree = Field::unknown(format!("the worktree {}", name.shown()));
            analyzer.touch(Access::Checkout, &worktree, self.command);
        }
    }

    fn directory(&self, analyzer: &mut Analyzer<'_>) {
        let operands = &self.arguments.operands;
        let directory = match (self.subcommand.as_str(), operands.as_slice()) {
            ("init", [directory, ..]) | ("clone", [_, directory, ..]) => directory.clone(),
            ("clone", [url]) => {
                let name = url.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
                url.with(name.trim_end_matches(".git"))
            }
            ("worktree", [action, directory, ..]) if action.text == "add" => directory.clone(),
            ("worktree", [action, from, to, ..]) if action.text == "move" => {
                analyzer.touch_tree(Access::Delete, from, self.command);
                self.named_worktree(analyzer, from);
                to.clone()
            }
            ("worktree", [action, directory, ..]) if action.text == "remove" => {
                analyzer.touch_tree(Access::Delete, directory, self.command);
                self.named_worktree(analyzer, directory);
                return;
            }
            ("worktree", [action, others @ ..]) if action.text == "repair" => {
                others.iter().for_each(|other| analyzer.touch(Access::Checkout, other, self.command));
                return;
            }
            _ => return,
        };
        let brings = AdditionalFiles { directory: self.subcommand != "init", names: false };
        analyzer.with_additional_files(brings, |analyzer| {
            analyzer.touch(Access::MakeDirectory, &directory, self.command)
        });
    }
}

fn is_last_commit(revision: &Field) -> bool {
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

fn has_index_variable(analyzer: &Analyzer<'_>) -> bool {
    const NAME: &str = "GIT_INDEX_FILE";
    analyzer.state.get(NAME).is_some() || analyzer.state.exports.has(NAME)
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
