//! Questions to the user: undecidable calls that a rule could forbid.

use std::path::{Path, PathBuf};

use super::call::{Advice, Finding, ToolCall, UnknownPart, UnknownUse, doing, shown, start};
use super::doubt_questions::{doubt_question, names_own_file};
use super::named_files::is_protected_by;
use super::resolve::{Effects, Ground, Uncertainty};
use super::rules::{Action, GuardRules, ToolRule};
use super::search::{expand, expand_with_hidden, first_below};
use super::somewhere::protects_somewhere;
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::Rule;
use conclaude_core::text::{capitalized, clean_line};
use conclaude_os::git;
use shell_effects::{Access, Extent, LAST_COMMIT, WORK_TREE};

/// The rule that asks the user about unknown effects.
pub(super) const UNDECIDED: &str = "what cannot be decided is asked";

/// A question to the user: the reason, and an alternative for Claude.
pub(super) struct UserQuestion {
    pub(super) reason: String,
    pub(super) advice: Advice,
    pub(super) matched: String,
    /// The part that a sandbox would decide.
    pub(super) unknown: Option<UnknownUse>,
}

impl UserQuestion {
    /// Says which protected files it is about. `None` if they are too many: then no sandbox decides.
    fn naming(self, named: Option<Vec<Location>>) -> UserQuestion {
        let unknown = match (self.unknown, named) {
            (Some(unknown), Some(named)) => Some(UnknownUse { named, ..unknown }),
            _ => None,
        };
        UserQuestion { unknown, ..self }
    }
}

pub(super) fn open_question(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    effects: &Effects,
    unclear: &Uncertainty,
) -> Option<Finding> {
    if let Uncertainty::Doubt(doubt) = unclear
        && let Some(finding) = names_own_file(call, doubt)
    {
        return Some(finding);
    }
    let question = match unclear {
        Uncertainty::Path { access, among: Some(among), .. }
            if is_among_free(rules, call, *access, among) =>
        {
            None
        }
        Uncertainty::Path { access, written, in_unknown_directory, among } => {
            let outside = if *access == Access::Checkout || *in_unknown_directory {
                unknown_directory(rules, call, *access, written)
            } else {
                None
            };
            let named = || match among {
                Some(among) => protected_among(rules, call, *access, &HiddenPaths::Seen(among)),
                None => Some(Vec::new()),
            };
            outside.or_else(|| Some(unknown_path(rules, call, *access, written)?.naming(named())))
        }
        Uncertainty::Somewhere { written, end } => {
            if protects_somewhere(&rules.unreadable, call, end) {
                unknown_path(rules, call, Access::Read, written)
            } else {
                None
            }
        }
        Uncertainty::Names { access, written, among, .. } => {
            let named = protected_among(rules, call, *access, &HiddenPaths::Unseen(among));
            if named.as_ref().is_some_and(Vec::is_empty) {
                None
            } else {
                Some(unknown_path(rules, call, *access, written)?.naming(named))
            }
        }
        Uncertainty::WorkTree { command, directory, extent, .. } => {
            work_tree(rules, call, &WorkTreeChange { command, directory, extent: *extent })
        }
        Uncertainty::Doubt(doubt) => doubt_question(rules, call, effects, doubt),
        Uncertainty::Input { field, access } => malformed(rules, call, field, *access),
        // `check` compares it with the rules for files.
        Uncertainty::Named { .. } => None,
    };
    let UserQuestion { reason, advice, matched, unknown } = question?;
    let origin = Rule::built_in(UNDECIDED);
    Some(Finding { action: Action::Ask, reason, advice, about: None, origin, matched, unknown })
}

/// Whether none of the files that a path may be is protected.
fn is_among_free(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    access: Access,
    (base, pattern): &(PathBuf, String),
) -> bool {
    let guards = if access == Access::Read { &rules.unreadable } else { &rules.uneditable };
    let adds = access != Access::Read
        && !(rules.additions.is_empty(call.agent)
            && rules.root_additions.is_none()
            && rules.git_ignored.is_none()
            && call.worktree.is_none());
    let Some(paths) = expand_with_hidden(base, pattern, call.ground.budget) else { return false };
    let ground = Ground { cwd: base, ..call.ground };
    let is_free = |path: &PathBuf| {
        let touch = ground.touch(access, &path.to_string_lossy());
        !is_protected_by(guards, call, &touch)
            && (access == Access::Read
                || call.own.is_none_or(|own| !own.files().covers(Path::new(touch.named()), &touch.path)))
    };
    !adds && paths.iter().all(is_free)
}

/// A directory and the pattern of what a path in it may be: an unknown value may start with a dot, and what a shell expands may not.
enum HiddenPaths<'a> {
    Seen(&'a (PathBuf, String)),
    Unseen(&'a (PathBuf, String)),
}

/// The protected files that a path may be. `None` if it may be too many files.
fn protected_among(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    access: Access,
    among: &HiddenPaths<'_>,
) -> Option<Vec<Location>> {
    let guards = if access == Access::Read { &rules.unreadable } else { &rules.uneditable };
    let (base, paths) = match among {
        HiddenPaths::Seen((base, pattern)) => (base, expand_with_hidden(base, pattern, call.ground.budget)?),
        HiddenPaths::Unseen((base, pattern)) => (base, expand(base, pattern, call.ground.budget)?),
    };
    let ground = Ground { cwd: base, ..call.ground };
    let touches = paths.iter().map(|path| ground.touch(access, &path.to_string_lossy()));
    Some(touches.filter(|touch| is_protected_by(guards, call, touch)).flat_map(|touch| touch.names).collect())
}

/// Something changes in an unknown directory. It may be outside of the agent's worktree.
fn unknown_directory(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    access: Access,
    written: &str,
) -> Option<UserQuestion> {
    let worktree = call.worktree?;
    if rules.worktree_fence.is_none() || matches!(access, Access::Read | Access::Mount) {
        return None;
    }
    Some(UserQuestion {
        reason: format!(
            "{} `{}`: its directory is unknown before it runs, and may be outside of this agent's worktree.",
            capitalized(doing(access)),
            clean_line(written)
        ),
        advice: Advice::both(
            format!("Work in {}, or write the directory itself.", worktree.display()),
            "Allow it if that is the agent's worktree.",
        ),
        matched: written.to_owned(),
        unknown: None,
    })
}

fn unknown_path(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    access: Access,
    written: &str,
) -> Option<UserQuestion> {
    let guards = if access == Access::Read { &rules.unreadable } else { &rules.uneditable };
    if guards.is_empty(call.agent) {
        return None;
    }
    let (claude, user) = if written.starts_with("the files in ") {
        let claude = "Extract into a separate directory (`-C`, `-d`), or ask the user.";
        (claude, "Allow it if it has no protected files.")
    } else if written.starts_with("the files of ") {
        ("Change the files one by one, or ask the user.", "Allow it if none of them is protected.")
    } else {
        ("Write the path itself.", "Allow it if that is not a protected file.")
    };
    let doing = capitalized(doing(access));
    Some(UserQuestion {
        reason: format!("{doing} `{}`: the file is unknown before it runs.", clean_line(written)),
        advice: Advice::both(claude, user),
        matched: written.to_owned(),
        unknown: match access {
            Access::Read => Some(UnknownPart::Read.into()),
            Access::Link => Some(UnknownPart::Files.into()),
            Access::Mount | Access::Checkout => None,
            Access::Write | Access::Format | Access::Update | Access::Delete | Access::MakeDirectory => {
                Some(UnknownPart::Written.into())
            }
        },
    })
}

/// A call without the file or the command that its tool needs. Claude Code does not make such calls.
fn malformed(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    field: &str,
    access: Option<Access>,
) -> Option<UserQuestion> {
    let is_for_tool = |rule: &ToolRule| {
        rule.action != Action::Allow && rule.agents.include(call.agent) && rule.is_for_tool_of(call)
    };
    let reads = || !rules.unreadable.is_empty(call.agent);
    let writes = || {
        !rules.uneditable.is_empty(call.agent)
            || !rules.additions.is_empty(call.agent)
            || rules.root_additions.is_some()
            || rules.git_ignored.is_some()
    };
    let is_guarded = match access {
        Some(Access::Read) => reads(),
        Some(_) => writes(),
        None => reads() || writes(),
    };
    if !is_guarded && !rules.tools.iter().any(is_for_tool) {
        return None;
    }
    Some(UserQuestion {
        reason: format!(
            "The `{field}` of {} is missing or cannot be read, so its effect is unknown.",
            call.tool
        ),
        advice: Advice::both("Give it as one text, without NUL.", "Allow it only if you know what it does."),
        matched: call.tool.to_owned(),
        unknown: None,
    })
}

/// A command that may change all files of a work tree.
struct WorkTreeChange<'a> {
    command: &'a str,
    directory: &'a Path,
    extent: Extent,
}

fn work_tree(rules: &GuardRules, call: &ToolCall<'_>, change: &WorkTreeChange<'_>) -> Option<UserQuestion> {
    let WorkTreeChange { command, directory, extent } = *change;
    if rules.uneditable.is_empty(call.agent) {
        return None;
    }
    let is_protected = |path: &Path, is_directory| {
        let location = call.ground.location(path, is_directory);
        rules.uneditable.protecting(&location, &call.silent_query()).is_some()
    };
    let found = match git::files_of(directory, extent, call.ground.budget) {
        Ok(Some(files)) => {
            let is_meant = |file: &PathBuf| call.ground.budget.is_over() || is_protected(file, false);
            Some(first_meant(call, change, files.into_iter().filter(is_meant)))
        }
        // If git cannot list its files, all files count. `.git` is not part of the work tree.
        Ok(None) | Err(_) => {
            let is_kept = |path: &Path| path.file_name().is_some_and(|name| name == ".git");
            first_below(call.ground.root, call.visited, call.ground.budget, |path, kind| {
                !is_kept(path) && is_protected(path, kind.is_dir())
            })
        }
    };
    let such_as = match found {
        Some(None) => return None,
        Some(Some(path)) => format!(", such as {}", call.ground.location(&path, false).shown()),
        None => String::new(),
    };
    let written = as_written(call, command);
    Some(UserQuestion {
        reason: format!("`{}` may change protected files of the work tree{such_as}.", shown(written)),
        advice: Advice::both("Name the files that it should change.", "Allow it if these files may change."),
        matched: written.to_owned(),
        // If it is refused halfway, `git reset --hard` leaves a tree that is neither old nor new.
        unknown: if is_listed(command) { Some(UnknownPart::Written.into()) } else { None },
    })
}

/// Whether a list of files that another command prints is its argument: `git ls-files | xargs …`.
fn is_listed(command: &str) -> bool {
    command.split(' ').any(|word| word == WORK_TREE)
}

/// The command as a question shows it. One with a list does not name the files, so the whole text is shown.
pub(super) fn as_written<'a>(call: &'a ToolCall<'_>, command: &'a str) -> &'a str {
    if is_listed(command) { start(call.command.unwrap_or(command)) } else { command }
}

/// The limit on protected files that are compared one by one. With more, any may have changed.
const MAX_COMPARED: usize = 64;

/// The first file that a command changes.
fn first_meant(
    call: &ToolCall<'_>,
    change: &WorkTreeChange<'_>,
    mut files: impl Iterator<Item = PathBuf>,
) -> Option<PathBuf> {
    if !change.extent.only_changed {
        return files.next();
    }
    let files: Vec<PathBuf> = files.take(MAX_COMPARED + 1).collect();
    if files.is_empty() || files.len() > MAX_COMPARED || call.ground.budget.is_over() {
        return files.into_iter().next();
    }
    match git::changed(change.directory, LAST_COMMIT, files.clone(), call.ground.budget) {
        Ok(changed) => changed.into_iter().next(),
        Err(_) => files.into_iter().next(),
    }
}
