//! What git does to files. Switching branches, merging and committing are no effects.

mod call;
mod changes;
mod config;
mod runs;
mod shows;

use call::Git;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::programs::arguments::{self, Arguments, Call};
use crate::programs::subcommands;
use crate::{Access, Target};

/// Subcommands whose operands are no files, or which do nothing to them.
const HARMLESS: &[&str] = &[
    "add",
    "branch",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "cherry",
    "cherry-pick",
    "commit",
    "count-objects",
    "describe",
    "for-each-ref",
    "fsck",
    "gc",
    "help",
    "log",
    "ls-files",
    "ls-tree",
    "maintenance",
    "merge",
    "merge-base",
    "name-rev",
    "notes",
    "prune",
    "reflog",
    "repack",
    "rerere",
    "rev-list",
    "rev-parse",
    "revert",
    "shortlog",
    "show-ref",
    "sparse-checkout",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "version",
    "whatchanged",
    "write-tree",
];
/// Subcommands that show the content of files.
const SHOWING: &[&str] = &[
    "show",
    "diff",
    "blame",
    "annotate",
    "cat-file",
    "hash-object",
    "difftool",
    "diff-tree",
    "diff-index",
    "diff-files",
];
const GLOBAL: &str = "-C= -c= --git-dir= --work-tree= --namespace= --exec-path? --config-env=";

pub(crate) fn git(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let (global, length) = arguments::parse_up_to(GLOBAL, words, true);
    let Some((subcommand, rest)) = words.get(length..).and_then(<[Field]>::split_first) else { return };
    for setting in global.values(&["-c", "--config-env"]) {
        analyzer.inline_code("git", setting.shown());
    }
    for setting in global.values(&["-c"]) {
        if let Some((key, value)) = setting.text.split_once('=').filter(|(key, _)| !is_alias(key)) {
            analyzer.git_setting(key, &setting.with(value));
        }
    }
    if let Some(alias) = alias(&global, &subcommand.text) {
        return analyzer.git_alias(&alias, rest);
    }
    let directories = analyzer.state.directories.clone();
    for directory in global.values(&["-C", "--work-tree"]) {
        analyzer.state.directories.enter(directory);
    }
    let separator = rest.iter().position(|field| field.text == "--");
    let flags = subcommands::of("git", &subcommand.text);
    let git = Git {
        arguments: arguments::parse(flags, rest),
        paths: separator.map(|at| rest.get(at + 1..).unwrap_or_default()),
        rest,
        command: call.command,
    };
    analyzer.files_of_flags(flags, &git.arguments, call.command);
    git.run(analyzer, &subcommand.text, call.fields);
    analyzer.state.directories = directories;
}

/// What `-c alias.NAME=…` makes of a subcommand.
fn alias(global: &Arguments, subcommand: &str) -> Option<String> {
    let settings = global.values(&["-c"]).filter_map(|setting| {
        let (key, value) = setting.text.split_once('=')?;
        let (_, name) = key.split_once('.').filter(|_| is_alias(key))?;
        name.eq_ignore_ascii_case(subcommand).then(|| value.to_owned())
    });
    settings.last()
}

fn is_alias(key: &str) -> bool {
    key.split('.').next().is_some_and(|section| section.eq_ignore_ascii_case("alias"))
}

impl Git<'_> {
    fn run(&self, analyzer: &mut Analyzer<'_>, subcommand: &str, fields: &[Field]) {
        match subcommand {
            "log" | "whatchanged" | "shortlog" | "reflog" => self.log(analyzer),
            "bundle" => self.bundle(analyzer),
            "config" => self.config(analyzer),
            "commit" | "tag" | "merge" | "notes" => {
                self.read_by(analyzer, "-F=r -m= --file=r --template=r --message=")
            }
            "ls-files" => {
                self.read_by(analyzer, "-X=r --exclude-from=r");
                self.listed(analyzer, 0);
            }
            "grep" => self.grepped(analyzer),
            "diff" | "diff-files" | "diff-index" if self.arguments.has(&["--name-only"]) => {
                self.changed_names(analyzer);
            }
            subcommand if SHOWING.contains(&subcommand) => {
                self.runs(analyzer, subcommand);
                self.shown(analyzer);
            }
            "checkout" => self.checkout(analyzer),
            "restore" => self.restore(analyzer),
            "rm" => self.remove(analyzer),
            "mv" => self.move_files(analyzer),
            "reset" => {
                if self.arguments.has(&["--hard", "--merge", "--keep"]) {
                    analyzer.effect(Access::Write, Target::WorkTree, self.command);
                }
            }
            "clean" => self.clean(analyzer),
            "stash" => self.stash(analyzer),
            "apply" | "am" => self.apply(analyzer),
            "clone" | "init" | "worktree" => {
                self.connects(analyzer);
                self.settings(analyzer);
                self.directory(analyzer, subcommand);
            }
            "archive" | "format-patch" | "range-diff" => {
                self.outputs(analyzer);
                for path in self.arguments.operands.iter().skip(1).filter(|_| subcommand == "archive") {
                    analyzer.touch_tree(Access::Read, path, self.command);
                }
            }
            "submodule" | "bisect" | "rebase" => self.runs(analyzer, subcommand),
            "fetch" | "pull" | "push" | "ls-remote" | "remote" => self.connects(analyzer),
            "read-tree" | "checkout-index" => analyzer.effect(Access::Write, Target::WorkTree, self.command),
            subcommand if HARMLESS.contains(&subcommand) => {}
            _ => analyzer.unknown_program(fields),
        }
    }
}
