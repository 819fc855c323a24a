//! What git does to files. Switching branches, merging and committing are no effects.

use super::arguments::{self, Arguments, Call};
use super::builtins::moved;
use super::state::{Field, FieldKind};
use super::walk::Walk;
use super::{Access, Base, Target};

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
    "fetch",
    "for-each-ref",
    "fsck",
    "gc",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "maintenance",
    "merge",
    "merge-base",
    "name-rev",
    "notes",
    "prune",
    "pull",
    "push",
    "reflog",
    "remote",
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
const FLAGS: &str = "-m= -b= -B= -s= --source= --pathspec-from-file=r -o=w --output=w -e= -f= -U= -L= -S= -G= --message= --orphan= --conflict= --unified= --format= --pretty= --stat? --diff-filter=";

pub(super) fn git(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let (global, length) = arguments::parse_up_to(GLOBAL, words, true);
    let Some((subcommand, rest)) = words.get(length..).and_then(<[Field]>::split_first) else { return };
    for setting in global.values(&["-c", "--config-env"]) {
        walk.inline_code("git", setting.shown());
    }
    if let Some(alias) = alias(&global, &subcommand.text) {
        return walk.git_alias(&alias, rest);
    }
    let bases = walk.state.bases.clone();
    for directory in global.values(&["-C", "--work-tree"]) {
        walk.state.bases = walk.state.bases.iter().map(|base| moved(base, directory)).collect();
    }
    let separator = rest.iter().position(|field| field.text == "--");
    let git = Git {
        arguments: arguments::parse(FLAGS, rest),
        paths: separator.map(|at| rest.get(at + 1..).unwrap_or_default()),
        rest,
        command: call.command,
    };
    git.run(walk, &subcommand.text, call.fields);
    walk.state.bases = bases;
}

/// What `-c alias.NAME=…` makes of a subcommand.
fn alias(global: &Arguments, subcommand: &str) -> Option<String> {
    let settings = global.values(&["-c"]).filter_map(|setting| {
        let (key, value) = setting.text.split_once('=')?;
        let (section, name) = key.split_once('.')?;
        let is_alias = section.eq_ignore_ascii_case("alias") && name.eq_ignore_ascii_case(subcommand);
        is_alias.then(|| value.to_owned())
    });
    settings.last()
}

impl Walk<'_> {
    fn git_alias(&mut self, alias: &str, rest: &[Field]) {
        match alias.strip_prefix('!') {
            Some(code) => {
                let words: Vec<String> = rest.iter().map(Field::quoted).collect();
                let code = Field::literal(format!("{code} {}", words.join(" ")));
                self.subshell(|walk| walk.code(&code, "sh"));
            }
            None => {
                let words = std::iter::once("git").chain(alias.split_whitespace()).map(Field::literal);
                let words: Vec<Field> = words.chain(rest.iter().cloned()).collect();
                self.deeper(|walk| walk.run_fields(&words));
            }
        }
    }
}

struct Git<'a> {
    arguments: Arguments,
    /// What is behind `--`, where that is given.
    paths: Option<&'a [Field]>,
    rest: &'a [Field],
    command: usize,
}

impl Git<'_> {
    fn run(&self, walk: &mut Walk<'_>, subcommand: &str, fields: &[Field]) {
        match subcommand {
            "log" | "whatchanged" | "shortlog" | "reflog" => self.log(walk),
            "bundle" => self.bundle(walk),
            "config" => self.config(walk),
            "commit" | "tag" | "merge" | "notes" => {
                self.read_by(walk, "-F=r -m= --file=r --template=r --message=")
            }
            "ls-files" => self.read_by(walk, "-X=r --exclude-from=r"),
            "grep" => self.grepped(walk),
            subcommand if SHOWING.contains(&subcommand) => self.shown(walk),
            "checkout" => self.checkout(walk),
            "restore" => self.restore(walk),
            "rm" => self.remove(walk),
            "mv" => self.move_files(walk),
            "reset" => {
                if self.arguments.has(&["--hard", "--merge", "--keep"]) {
                    walk.effect(Access::Write, Target::WorkTree, self.command);
                }
            }
            "clean" => self.clean(walk),
            "stash" => self.stash(walk),
            "apply" | "am" => self.apply(walk),
            "clone" | "init" | "worktree" => self.directory(walk, subcommand),
            "archive" | "format-patch" | "range-diff" => {
                self.outputs(walk);
                for path in self.arguments.operands.iter().skip(1).filter(|_| subcommand == "archive") {
                    walk.touch_tree(Access::Read, path, self.command);
                }
            }
            "submodule" | "bisect" | "rebase" => self.runs(walk, subcommand),
            "read-tree" | "checkout-index" => walk.effect(Access::Write, Target::WorkTree, self.command),
            subcommand if HARMLESS.contains(&subcommand) => {}
            _ => walk.unknown_program(fields),
        }
    }

    /// Commands that a subcommand runs.
    fn runs(&self, walk: &mut Walk<'_>, subcommand: &str) {
        let operands = &self.arguments.operands;
        let is = |name: &str| operands.first().is_some_and(|first| first.text == name);
        if subcommand == "bisect" && is("run") {
            let words = self.rest.iter().skip_while(|field| field.text != "run").skip(1);
            let words: Vec<Field> = words.cloned().collect();
            walk.deeper(|walk| walk.run_fields(&words));
        } else if subcommand == "submodule" && is("foreach") {
            let words = self.rest.iter().skip_while(|field| field.text != "foreach").skip(1);
            let words: Vec<Field> = words.skip_while(|field| field.text.starts_with('-')).cloned().collect();
            walk.subshell(|walk| {
                // In each of the submodules.
                walk.state.bases = vec![Base::Unknown];
                match words.as_slice() {
                    [code] => walk.code(code, "sh"),
                    words => walk.deeper(|walk| walk.run_fields(words)),
                }
            });
        } else if subcommand == "rebase" {
            for code in arguments::parse("-x= --exec=", self.rest).values(&["-x", "--exec"]) {
                walk.subshell(|walk| walk.code(code, "sh"));
            }
        }
    }

    fn outputs(&self, walk: &mut Walk<'_>) {
        for file in self.arguments.values(&["-o", "--output", "--output-directory"]) {
            walk.by_option("--output", |walk| walk.touch(Access::Write, file, self.command));
        }
    }

    /// The files that options name.
    fn read_by(&self, walk: &mut Walk<'_>, flags: &'static str) {
        walk.files_of_flags(flags, &arguments::parse(flags, self.rest), self.command);
    }

    /// Commits, with the content of files only where they are asked for.
    fn log(&self, walk: &mut Walk<'_>) {
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

    fn bundle(&self, walk: &mut Walk<'_>) {
        if let [action, file, ..] = self.arguments.operands.as_slice() {
            let access = if action.text == "create" { Access::Write } else { Access::Read };
            walk.touch(access, file, self.command);
        }
    }

    /// `git config -f FILE`: it writes a value where one is given, or something is removed or renamed.
    fn config(&self, walk: &mut Walk<'_>) {
        const WORDS: &[&str] = &["set", "unset", "rename-section", "remove-section", "edit"];
        let arguments =
            arguments::parse("-f= --file= --blob= --type= --default= --value= --comment=", self.rest);
        let Some(file) = arguments.value(&["-f", "--file"]) else { return };
        let first = arguments.operands.first().map_or("", |field| field.text.as_str());
        let changes = [
            "--add",
            "--unset",
            "--unset-all",
            "--replace-all",
            "--rename-section",
            "--remove-section",
            "-e",
            "--edit",
        ];
        let looks = arguments.has(&["-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch"])
            || matches!(first, "get" | "list");
        let writes = arguments.has(&changes) || WORDS.contains(&first) || arguments.operands.len() > 1;
        walk.reads(file, self.command);
        if writes && !looks {
            walk.by_option("--file", |walk| walk.touch(Access::Write, file, self.command));
        }
    }

    /// Files to look at: behind `--`, or any operand, where `REVISION:PATH` names one as well.
    fn shown(&self, walk: &mut Walk<'_>) {
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

    fn grepped(&self, walk: &mut Walk<'_>) {
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

    fn checkout(&self, walk: &mut Walk<'_>) {
        if self.arguments.has(&["-b", "-B", "--orphan", "--detach", "-t", "--track"]) && self.paths.is_none()
        {
            return;
        }
        let is_forced = self.arguments.has(&["-f", "--force"]);
        if is_forced && self.paths.is_none() {
            walk.effect(Access::Write, Target::WorkTree, self.command);
        }
        match self.paths {
            Some(paths) => self.rewritten(walk, paths, Access::Write),
            None => match self.arguments.operands.as_slice() {
                // One name alone that is not known is that of a branch.
                [only] if only.kind == FieldKind::Unknown => {}
                operands => self.rewritten(walk, operands, Access::Update),
            },
        }
    }

    fn restore(&self, walk: &mut Walk<'_>) {
        let only_index =
            self.arguments.has(&["-S", "--staged"]) && !self.arguments.has(&["-W", "--worktree"]);
        if !only_index {
            self.rewritten(walk, &self.arguments.operands, Access::Write);
        }
    }

    fn rewritten(&self, walk: &mut Walk<'_>, paths: &[Field], access: Access) {
        for path in paths {
            if matches!(path.text.as_str(), "." | "./" | ":/" | ":/*" | "*") {
                walk.effect(Access::Write, Target::WorkTree, self.command);
            } else if access == Access::Update {
                walk.touch(access, path, self.command);
            } else {
                walk.touch_tree(access, path, self.command);
            }
        }
    }

    fn remove(&self, walk: &mut Walk<'_>) {
        if self.arguments.has(&["--cached", "-n", "--dry-run"]) {
            return;
        }
        for path in &self.arguments.operands {
            if self.arguments.has(&["-r"]) {
                walk.touch_tree(Access::Delete, path, self.command);
            } else {
                walk.touch(Access::Delete, path, self.command);
            }
        }
    }

    fn move_files(&self, walk: &mut Walk<'_>) {
        let call = Call {
            name: "mv",
            fields: self.rest,
            arguments: arguments::parse("", self.rest),
            command: self.command,
        };
        super::copy::copy(walk, &call);
    }

    fn clean(&self, walk: &mut Walk<'_>) {
        if self.arguments.has(&["-n", "--dry-run"]) {
            return;
        }
        if self.arguments.operands.is_empty() {
            walk.effect(Access::Delete, Target::WorkTree, self.command);
        }
        for path in &self.arguments.operands {
            walk.touch_tree(Access::Delete, path, self.command);
        }
    }

    fn stash(&self, walk: &mut Walk<'_>) {
        let action = self.arguments.operands.first().map_or("push", |field| field.text.as_str());
        match action {
            // What comes back was in the work tree before, like the commits of another branch.
            "list" | "show" | "drop" | "clear" | "create" | "store" | "pop" | "apply" | "branch" => {}
            _ => match (self.paths, self.arguments.operands.split_first()) {
                (Some(paths), _) if !paths.is_empty() => self.rewritten(walk, paths, Access::Write),
                (None, Some((_, paths))) if action == "push" && !paths.is_empty() => {
                    self.rewritten(walk, paths, Access::Write);
                }
                _ => walk.effect(Access::Write, Target::WorkTree, self.command),
            },
        }
    }

    fn apply(&self, walk: &mut Walk<'_>) {
        if self.arguments.has(&["--check", "--stat", "--numstat", "--summary", "--cached"]) {
            return;
        }
        for patch in &self.arguments.operands {
            walk.reads(patch, self.command);
        }
        walk.touch(Access::Write, &Field::unknown("the files of the patch"), self.command);
    }

    /// The directory that a subcommand makes.
    fn directory(&self, walk: &mut Walk<'_>, subcommand: &str) {
        let operands = &self.arguments.operands;
        let directory = match (subcommand, operands.as_slice()) {
            ("init", [directory, ..]) | ("clone", [_, directory, ..]) => directory.clone(),
            ("clone", [url]) => {
                let name = url.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
                url.with(name.trim_end_matches(".git"))
            }
            ("worktree", [action, directory, ..]) if action.text == "add" => directory.clone(),
            ("worktree", [action, directory, ..]) if action.text == "remove" => {
                walk.touch_tree(Access::Delete, directory, self.command);
                return;
            }
            _ => return,
        };
        walk.touch(Access::MakeDirectory, &directory, self.command);
    }
}
