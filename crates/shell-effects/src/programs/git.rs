//! What git does to files. Switching branches, merging and committing do not count as effects.

mod aliases;
mod changes;
mod commands;
mod pathspecs;
mod reads;
mod repositories;
mod settings;
mod settings_file;
mod subcommands;

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::exports::file_of;
use crate::analysis::field::Field;
use crate::analysis::stream::{PrintedText, Stream};
use crate::programs::action::{Output, SubcommandAction};
use crate::programs::arguments::{self, Arguments, Call};
use crate::programs::program::{Program, special};
use crate::{Access, Base};
use aliases::{alias, given_alias, is_alias};
use pathspecs::PathspecRules;
pub(crate) use repositories::RepositoryChange;

pub(crate) const GIT: &[Program] = &[special(&["git"], "", git)
    .restoring(&["checkout", "restore"])
    .directories(&["rev-parse --show-toplevel", "rev-parse --git-dir", "rev-parse --git-common-dir", "rev-parse --absolute-git-dir", "--exec-path"])
    .before_subcommand(
        "-C= -c= --git-dir= --work-tree= --namespace= --super-prefix= --exec-path? --config-env= --attr-source= --list-cmds=",
    )
    .subcommands(subcommands::SUBCOMMANDS)
    .acting(ACTING)
    .output(Output::Like(revision))];

/// Subcommands that run a program, serve the repository, change what git obeys, or lose work.
#[rustfmt::skip]
const ACTING: &[&str] = &[
    "apply --apply", "bugreport -o=", "bundle create", "cat-file --filters", "cat-file --textconv", "citool", "credential", "cvsserver", "daemon",
    "diagnose -o=", "difftool", "difftool--helper", "fast-import", "gui", "help --web", "help -w", "hook", "http-backend", "instaweb",
    "maintenance register", "maintenance start", "maintenance stop", "maintenance unregister", "merge-file", "merge-index", "merge-one-file",
    "mergetool", "p4", "push --delete", "push --force", "push --mirror", "push --prune", "push -d", "push -f",
    "reflog delete", "reflog drop", "reflog expire", "remote-ext", "remote-fd", "shell", "stash clear", "stash drop", "svn", "web--browse",
    "worktree remove",
];

/// A pattern for the hashes that git prints: at least four hexadecimal digits in lower case.
pub(crate) const HASH: &str = "[0-9a-f][0-9a-f][0-9a-f][0-9a-f]*";

/// A call of a subcommand.
pub(crate) struct GitCall {
    subcommand: String,
    arguments: Arguments,
    /// The words after the subcommand.
    rest: Vec<Field>,
    command: usize,
    pathspecs: PathspecRules,
}

impl GitCall {
    /// Its effects on files are unknown.
    fn unknown(&self, analyzer: &mut Analyzer<'_>) {
        let words = [Field::literal("git"), Field::literal(self.subcommand.as_str())];
        analyzer.unknown_program(&[&words, self.rest.as_slice()].concat());
    }

    /// `symbolic-ref NAME`.
    fn only_shows_reference(&self) -> bool {
        self.subcommand == "symbolic-ref"
            && self.arguments.operands.len() < 2
            && !self.arguments.has(&["-d", "--delete"])
    }

    /// The words after `--`, if that is given.
    fn paths(&self) -> Option<&[Field]> {
        let separator = self.rest.iter().position(|field| field.text == "--")?;
        self.rest.get(separator + 1..)
    }
}

fn git(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let options = call.program.subcommand_options.unwrap_or_default();
    let (global, length) = arguments::parse_up_to(options, words, true);
    let Some((subcommand, rest)) = words.get(length..).and_then(<[Field]>::split_first) else { return };
    given_settings(analyzer, &global);
    analyzer.git_settings_outside();
    if let Some(alias) = alias(&global, &subcommand.text) {
        return given_alias(analyzer, &global, (&subcommand.text, &alias), rest);
    }
    other_addresses(analyzer, &global, rest);
    let known = call.program.subcommand(&subcommand.text);
    if known.is_none() && unlisted_subcommand(analyzer, call, &subcommand.text, rest) {
        return;
    }
    let (options, run, changes_checkout) = match known.map(|known| (known.options, known.action)) {
        Some((options, SubcommandAction::Git(run))) => (options, run, false),
        Some((options, SubcommandAction::GitCheckout(run))) => (options, run, true),
        _ => {
            analyzer.repository_change = RepositoryChange::Anything;
            return analyzer.unknown_program(call.fields);
        }
    };
    let git = GitCall {
        subcommand: subcommand.text.clone(),
        arguments: arguments::parse(options, rest),
        rest: rest.to_vec(),
        command: call.command,
        pathspecs: pathspec_rules(analyzer, &global),
    };
    if changes_checkout && !git.only_shows_reference() {
        checkout_elsewhere(analyzer, &global, call.command);
    }
    let trees = chosen_trees(analyzer, &global);
    analyzer.in_directory(global.values(&["-C", "--work-tree"]).chain(&trees), |analyzer| {
        analyzer.files_of_flags(options, &git.arguments, call.command);
        run(&git, analyzer);
        let change = git.repository_change(analyzer);
        analyzer.repository_change = analyzer.repository_change.max(change);
    });
    print_hashes(analyzer, words);
}

fn pathspec_rules(analyzer: &Analyzer<'_>, global: &Arguments) -> PathspecRules {
    PathspecRules {
        ignores_case: global.has(&["--icase-pathspecs"]) || analyzer.state.exports.has("GIT_ICASE_PATHSPECS"),
        is_literal: global.has(&["--literal-pathspecs"]),
    }
}

/// The work trees of a variable or a setting, unless an option names one.
fn chosen_trees(analyzer: &Analyzer<'_>, global: &Arguments) -> Vec<Field> {
    if global.has(&["--work-tree"]) {
        return Vec::new();
    }
    let trees: Vec<Field> = analyzer.state.exports.values("GIT_WORK_TREE").map(file_of).collect();
    if trees.is_empty() { given_trees(global) } else { trees }
}

/// An alias, or a program `git-NAME`. True if it is a known alias, which is run.
fn unlisted_subcommand(analyzer: &mut Analyzer<'_>, call: &Call<'_>, name: &str, rest: &[Field]) -> bool {
    if analyzer.known_git_alias(name, rest) {
        return true;
    }
    if analyzer.may_have_git_alias() {
        analyzer.doubt_script(call.name);
    }
    analyzer.written_program(&format!("git-{name}"), rest, call.command);
    false
}

/// Sets the output of commands that print hashes.
fn print_hashes(analyzer: &mut Analyzer<'_>, words: &[Field]) {
    if !words.iter().all(Field::is_literal) {
        return;
    }
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if let Some(pattern) = revision(&words) {
        analyzer.set_output(hashes(&pattern));
    } else if prints_lines(&words) {
        analyzer.set_output(Stream::HashLines);
    }
}

/// Some hashes that look like this.
pub(crate) fn hashes(pattern: &str) -> Stream {
    let text = Field::like(pattern.to_owned(), "a hash that git prints");
    Stream::Text(Rc::new(PrintedText { text, and_more: true, is_exact: false }))
}

/// Whether each line that is printed starts with a hash: `git log --oneline`.
fn prints_lines(arguments: &[&str]) -> bool {
    let is_plain = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./~^=:,".contains(&byte))
            && !prints_more(word)
    };
    match arguments {
        ["log", rest @ ..] => {
            rest.contains(&"--oneline") && rest.iter().all(|word| *word == "--oneline" || is_plain(word))
        }
        _ => false,
    }
}

/// `-c url.ADDRESS.insteadOf=START`: git replaces the start of an address.
fn other_addresses(analyzer: &mut Analyzer<'_>, global: &Arguments, rest: &[Field]) {
    for setting in global.values(&["-c"]) {
        let Some((key, start)) = setting.text.split_once('=') else { continue };
        let Some((address, name)) = key.strip_prefix("url.").and_then(|key| key.rsplit_once('.')) else {
            continue;
        };
        if !name.to_ascii_lowercase().ends_with("insteadof") {
            continue;
        }
        for word in rest
            .iter()
            .filter_map(|word| Some(word.with(format!("{address}{}", word.text.strip_prefix(start)?))))
        {
            analyzer.connected(&word);
        }
    }
}

/// What `-c` and `--config-env` set.
fn given_settings(analyzer: &mut Analyzer<'_>, global: &Arguments) {
    for setting in global.values(&["-c", "--config-env"]) {
        analyzer.inline_code("git", setting.shown());
    }
    for setting in global.values(&["-c"]) {
        if let Some((key, value)) = setting.text.split_once('=')
            && !is_alias(key)
        {
            analyzer.git_setting(key, &setting.with(value));
        }
    }
    for setting in global.values(&["--config-env"]) {
        if let Some((key, variable)) = setting.text.rsplit_once('=') {
            analyzer.git_setting_of_variable(key, variable);
        }
    }
}

/// The directories where git changes a checkout, except the one of the whole command.
fn checkout_elsewhere(analyzer: &mut Analyzer<'_>, global: &Arguments, command: usize) {
    let is_moved = !matches!(analyzer.state.bases(), [Base::At(at)] if at.is_empty());
    analyzer.in_directory(global.values(&["-C"]), |analyzer| {
        if is_moved || global.has(&["-C"]) {
            analyzer.touch(Access::Checkout, &Field::literal("."), command);
        }
        let of_variable = |name: &str| {
            let values = analyzer.state.exports.values(name);
            values.map(|value| Field::literal(value.to_owned())).collect::<Vec<_>>()
        };
        let named = global.values(&["--git-dir", "--work-tree"]).cloned();
        let named = named.chain(given_trees(global)).chain(of_variable("GIT_COMMON_DIR"));
        let named: Vec<Field> =
            named.chain(of_variable("GIT_DIR")).chain(of_variable("GIT_WORK_TREE")).collect();
        for directory in &named {
            analyzer.touch(Access::Checkout, directory, command);
        }
    });
}

/// The work tree of `-c core.worktree=…`.
fn given_trees(global: &Arguments) -> Vec<Field> {
    let of_setting = |setting: &Field| {
        let (key, value) = setting.text.split_once('=')?;
        if key.eq_ignore_ascii_case("core.worktree") { Some(setting.with(value)) } else { None }
    };
    global.values(&["-c"]).filter_map(of_setting).collect()
}

/// Commands that print hashes: `git rev-parse HEAD`, `git merge-base A B`, `git rev-list …`, `git log --format=%h`.
fn revision(arguments: &[&str]) -> Option<String> {
    let is_plain =
        |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./~^=".contains(&byte));
    let prints_hashes = match arguments {
        ["rev-parse", "HEAD"] => true,
        ["rev-parse", short, "HEAD"] => short.starts_with("--short"),
        ["merge-base", rest @ ..] => {
            !rest.is_empty() && rest.iter().all(is_plain) && !rest.contains(&"--is-ancestor")
        }
        ["rev-list", rest @ ..] => rest.iter().all(is_plain) && !rest.iter().any(|word| prints_more(word)),
        ["log", rest @ ..] => {
            let is_hash = |word: &str| {
                let format = word.strip_prefix("--format=").or_else(|| word.strip_prefix("--pretty=format:"));
                let format = format.or_else(|| word.strip_prefix("--pretty="));
                format.is_some_and(|format| {
                    matches!(format.trim_matches(['"', '\'']), "%h" | "%H" | "format:%h" | "format:%H")
                })
            };
            rest.iter().any(|word| is_hash(word))
                && rest.iter().all(|word| is_hash(word) || is_plain(word) && !prints_more(word))
        }
        _ => false,
    };
    if prints_hashes { Some(HASH.to_owned()) } else { None }
}

/// Options of `git log` and `git rev-list` that print something else.
fn prints_more(word: &str) -> bool {
    word.starts_with('-')
        && ![
            "-n",
            "-1",
            "--max-count",
            "--reverse",
            "--all",
            "--no-merges",
            "--first-parent",
            "--since",
            "--until",
            "--author",
            "--skip",
        ]
        .iter()
        .any(|free| word.starts_with(free))
        && !word.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
}
