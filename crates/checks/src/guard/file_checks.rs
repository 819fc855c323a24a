//! Compares a file that a call touches with the rules for files.

use std::path::{Path, PathBuf};

use super::additions::additions;
use super::call::{
    Advice, Explanation, Finding, OwnFiles, ToolCall, UnknownPart, doing, for_question, shown,
};
use super::file_usage::usage;
use super::open_questions::{UNDECIDED, as_written};
use super::own_commands::NAME;
use super::resolve::{Effects, Touch, Uncertainty};
use super::rules::{Action, FileRules, FileUsage, GuardRules, Protection};
use super::search::{expand, first_below};
use crate::des::protected::{ProtectedPaths, is_config_name};
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::{OWN_FILES, Rule};
use conclaude_core::text::clean_line;
use conclaude_os::{environment, files, git};
use shell_effects::{Access, AdditionalFiles, Extent};

/// All findings about one file.
pub(super) fn all(rules: &GuardRules, call: &ToolCall<'_>, effects: &Effects, touch: &Touch) -> Vec<Finding> {
    let mut found = Vec::new();
    // Rules for tools handle mounts, and a protected file in the arguments is asked about.
    if touch.access == Access::Mount {
        return found;
    }
    found.extend(fence(rules, call, effects, touch));
    if touch.access == Access::Checkout {
        return found;
    }
    // A later command may go through a link to anything in the directory.
    let is_last = touch.command.is_none_or(|index| index + 1 >= effects.commands.len());
    let brings = AdditionalFiles { directory: true, names: false };
    let followed = Touch { with_contents: true, brings, ..touch.clone() };
    let touch = if touch.access == Access::Link && !is_last { &followed } else { touch };
    own_files(call, touch, &mut found);
    found.extend(files(rules, call, effects, touch));
    found.extend(additions(rules, call, touch));
    found
}

pub(super) fn writes(access: Access) -> bool {
    matches!(access, Access::Write | Access::Update | Access::MakeDirectory | Access::Link)
}

fn reads(access: Access) -> bool {
    matches!(access, Access::Read | Access::Link)
}

pub(super) fn own_files(call: &ToolCall<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    if touch.access == Access::Read {
        return;
    }
    let Some(own) = call.own.map(OwnFiles::files) else { return };
    let is_removed =
        touch.with_contents && matches!(touch.access, Access::Delete | Access::Write | Access::Link);
    if is_removed && own.has_program(&touch.path) {
        found.extend(changed_packages(call, touch));
        return;
    }
    // There may be settings in the new content of that folder.
    let replaces_folder =
        matches!(touch.access, Access::Write | Access::Update | Access::Link) && own.is_folder(&touch.path);
    let reason = if own.covers(Path::new(touch.named()), &touch.path) || replaces_folder {
        format!("{} belongs to conclaude's own config, state or registration.", touch.shown())
    } else if touch.with_contents && contains(own, call, touch) {
        format!("{} contains files of conclaude's own config, state or registration.", touch.shown())
    } else if touch.brings.directory && touch.access != Access::Delete && own.is_above(&touch.path) {
        format!(
            "What comes to {} may have files of conclaude's own config, state or registration.",
            touch.shown()
        )
    } else {
        return;
    };
    found.push(against_own(call, reason, touch.shown()));
}

/// The packages with the program are removed, most likely to be installed again. Meanwhile hooks run the program on the PATH, if
/// it is a native one. Otherwise nothing is checked until then.
fn changed_packages(call: &ToolCall<'_>, touch: &Touch) -> Option<Finding> {
    let what = touch.shown();
    if touch.access == Access::Delete {
        return removed_program(call, format!("{what} contains the program"), what);
    }
    Some(against_own(call, format!("{what} contains the program that hooks run."), what))
}

fn removed_program(call: &ToolCall<'_>, what: String, matched: &str) -> Option<Finding> {
    if has_native_on_path(call.ground.root) {
        return None;
    }
    let reason =
        format!("{what} that hooks run, and there is no other on the PATH: without it no rule applies.");
    Some(Finding {
        action: Action::Ask,
        advice: Advice::both(
            "Ask the user, or leave the folder as it is.",
            "Allow it if it is installed again at once. A program on the PATH would work meanwhile.",
        ),
        ..against_own(call, reason, matched)
    })
}

/// Whether the shell finds a native conclaude outside of the project.
fn has_native_on_path(root: &Path) -> bool {
    let found = environment::programs(NAME).find(|path| !path.starts_with(root));
    found.is_some_and(|path| files::is_native(&path))
}

/// A subagent may not change its own rules. In the main thread the user decides.
pub(super) fn against_own(call: &ToolCall<'_>, reason: String, matched: &str) -> Finding {
    let (action, claude) = if call.is_subagent {
        (Action::Block, "Leave it as it is, and report what you would have changed.")
    } else {
        (Action::Ask, "Leave it as it is: only the user changes registration, trust and rules.")
    };
    Finding {
        action,
        reason,
        advice: Advice::both(
            claude,
            "Allow it only if you want conclaude's rules, registration or records to change.",
        ),
        about: None,
        origin: Rule::built_in(OWN_FILES),
        matched: matched.to_owned(),
        unknown: None,
    }
}

/// Our own files among those that git removes from the work tree: `git clean -fdx`, `git stash -a`.
pub(super) fn removed(call: &ToolCall<'_>, unclear: &Uncertainty) -> Option<Finding> {
    let Uncertainty::WorkTree { command, directory, extent, revision } = unclear else { return None };
    let extent = Extent { tracked: extent.untracks, ..*extent };
    if !extent.untracked && !extent.ignored {
        return None;
    }
    let own_files = call.own.map(OwnFiles::files)?;
    let files = match git::files_of(directory, extent, call.ground.budget) {
        Ok(Some(files)) => files,
        // Outside of a repository git does nothing, unless it is given one.
        Ok(None) if revision.is_some() => return None,
        Ok(None) | Err(_) => return unlisted(call, own_files, command, directory),
    };
    let is_own = |file: &PathBuf| {
        call.ground.budget.is_over() || own_files.covers(file, &call.ground.links.real_path(file))
    };
    let (programs, own): (Vec<PathBuf>, Vec<PathBuf>) =
        files.into_iter().filter(is_own).partition(|file| own_files.is_program(file));
    let Some(file) = own.first() else {
        let file = call.ground.location(programs.first()?, false);
        return removed_program(
            call,
            format!("`{}` removes {}, the program", shown(command), file.shown()),
            command,
        );
    };
    // Another repository may have none of them. A program that is given a list may do something else.
    let does = if revision.is_none() { "may change" } else { "removes" };
    Some(changed_tree(call, command, does, file))
}

fn changed_tree(call: &ToolCall<'_>, command: &str, does: &str, file: &Path) -> Finding {
    let file = call.ground.location(file, false);
    let command = as_written(call, command);
    let reason = format!(
        "`{}` {does} {}, which belongs to conclaude's own config, state or registration.",
        shown(command),
        file.shown()
    );
    against_own(call, reason, command)
}

/// If git cannot list the files, any below the directory may change.
fn unlisted(
    call: &ToolCall<'_>,
    own_files: &ProtectedPaths,
    command: &str,
    directory: &Path,
) -> Option<Finding> {
    if !own_files.is_below(&call.ground.links.real_path(directory), call.ground.links) {
        return None;
    }
    let command = as_written(call, command);
    let reason = format!(
        "`{}` may change files of conclaude's own config, state or registration: git cannot list what it changes.",
        shown(command)
    );
    Some(against_own(call, reason, command))
}

/// Our own files among those that git writes again: `git checkout HEAD~1 -- .`, `git stash`. Those that stay as they are do not count.
pub(super) fn rewritten(call: &ToolCall<'_>, unclear: &Uncertainty) -> Option<Finding> {
    let Uncertainty::WorkTree { command, directory, extent, revision } = unclear else { return None };
    // `removed` handles those that count as untracked.
    if !extent.tracked || extent.untracks {
        return None;
    }
    let own_files = call.own.map(OwnFiles::files)?;
    let tracked = Extent { untracked: false, ignored: false, ..*extent };
    let mut files = match git::files_of(directory, tracked, call.ground.budget) {
        Ok(Some(files)) => files,
        Ok(None) if revision.is_some() => return None,
        Ok(None) | Err(_) => return unlisted(call, own_files, command, directory),
    };
    files.retain(|file| {
        !own_files.is_program(file)
            && (call.ground.budget.is_over() || own_files.covers(file, &call.ground.links.real_path(file)))
    });
    if let Some(commit) = revision
        && !files.is_empty()
        && !call.ground.budget.is_over()
        // Where git cannot compare, all may change.
        && let Ok(changed) = git::changed(directory, commit, files.clone(), call.ground.budget)
    {
        files = changed;
    }
    let does = if revision.is_some() { "changes" } else { "may change" };
    Some(changed_tree(call, command, does, files.first()?))
}

/// Our own files among those that copied files of unknown names may replace, or that they may become.
pub(super) fn named_like_own(call: &ToolCall<'_>, unclear: &Uncertainty) -> Option<Finding> {
    let Uncertainty::Names { written, among: (base, pattern), brings_directories, .. } = unclear else {
        return None;
    };
    let own = call.own.map(OwnFiles::files)?;
    let (directory, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let directory = expand(base, directory, call.ground.budget)?.into_iter().next()?;
    let directory = call.ground.links.real_path(&directory);
    let file = own.named_like(&directory, name, *brings_directories)?;
    let file = call.ground.location(&file, false);
    let reason = format!(
        "`{}` may become {}, which belongs to conclaude's own config, state or registration.",
        clean_line(written),
        file.shown()
    );
    Some(against_own(call, reason, written))
}

/// Whether a directory contains own files.
fn contains(own: &ProtectedPaths, call: &ToolCall<'_>, directory: &Touch) -> bool {
    let links = call.ground.links;
    if own.is_below(&directory.path, links) {
        return true;
    }
    // The remaining possibilities are the config of a folder below, or a link to one of our files. Outside of the project neither
    // matters. A directory with too many files is not searched to the end: asking whenever dependencies are deleted would help
    // nobody.
    let nested = || {
        first_below(&directory.path, call.visited, call.ground.budget, |path, kind| {
            path.file_name().is_some_and(is_config_name)
                || kind.is_symlink() && own.covers(path, &links.real_path(path))
        })
    };
    !directory.names.iter().all(Location::is_outside) && matches!(nested(), Some(Some(_)))
}

/// Out of time the answer is a denial: Claude Code may have stopped waiting for a question.
fn too_many(call: &ToolCall<'_>, touch: &Touch) -> Finding {
    Finding {
        action: if call.ground.budget.is_over() { Action::Block } else { Action::Ask },
        reason: format!("{} has too many files to look for protected ones in time.", touch.shown()),
        advice: Advice::both("Name the files, or ask the user.", "Allow it if none of them is protected."),
        about: None,
        origin: Rule::built_in(UNDECIDED),
        matched: touch.shown().to_owned(),
        unknown: Some(UnknownPart::Written.into()),
    }
}

/// Whether the command only makes a symbolic link to the file, and nothing is written through the link. Later writes through it are
/// resolved to the file.
fn is_only_linked(effects: &Effects, touch: &Touch) -> bool {
    let command = touch.command.and_then(|index| effects.commands.get(index));
    let makes_link = command.is_some_and(|command| command.makes_symbolic_link);
    if touch.access != Access::Link || !makes_link {
        return false;
    }
    let changes = effects.touches.iter().filter(|other| other.access != Access::Read);
    let (made, others): (Vec<&Touch>, Vec<&Touch>) =
        changes.partition(|other| other.command == touch.command);
    let links =
        || made.iter().filter(|made| made.access == Access::Write).map(|made| Path::new(made.named()));
    links().next().is_some()
        && !others.iter().any(|other| links().any(|link| Path::new(other.named()).starts_with(link)))
}

fn fence(rules: &GuardRules, call: &ToolCall<'_>, effects: &Effects, touch: &Touch) -> Option<Finding> {
    let switch = rules.worktree_fence.as_ref()?;
    let (named_rule, subject) = ((&switch.origin, ""), touch.shown());
    let Some(worktree) = call.worktree else {
        call.log.missed(named_rule, subject, || "is for agents in a worktree of their own".into());
        return None;
    };
    let is_temporary = call.ground.is_temporary(&touch.path);
    let real = call.ground.links.real_path(worktree);
    let is_free = touch.access == Access::Read || is_only_linked(effects, touch);
    // With another one, git works on the repository that it names.
    let is_link_of_git = touch.path == real.join(".git");
    if is_free || is_temporary || touch.path.starts_with(real) && !is_link_of_git {
        call.log.missed(named_rule, subject, || {
            format!("does not apply to {subject}: it is read, temporary or inside")
        });
        return None;
    }
    call.log.matched(named_rule, subject, || format!("covers {subject}: it is outside of the worktree"));
    let explained = Explanation::of(switch.message_for(touch.shown(), call.tool), || Explanation {
        reason: if is_link_of_git {
            format!("{} is what connects this agent's worktree with its repository.", touch.shown())
        } else {
            format!("{} is outside of this agent's worktree.", touch.shown())
        },
        advice: Advice::claude(match touch.access {
            Access::Checkout => format!("Work in {} instead.", worktree.display()),
            _ => format!("Write below {} instead.", worktree.display()),
        }),
    });
    Some(against(call, touch, switch.origin.rule(""), explained))
}

/// Whether the file may be read or changed.
pub(super) fn files(
    rules: &GuardRules,
    call: &ToolCall<'_>,
    effects: &Effects,
    touch: &Touch,
) -> Vec<Finding> {
    let mut found = Vec::new();
    if writes(touch.access) || touch.access == Access::Delete {
        found.extend(protected(&rules.uneditable, call, touch, usage(effects, touch)));
    }
    if reads(touch.access) {
        found.extend(protected(&rules.unreadable, call, touch, usage(effects, touch)));
    }
    found
}

/// The finding of a rule for files.
pub(super) fn against(call: &ToolCall<'_>, touch: &Touch, origin: Rule, explained: Explanation) -> Finding {
    let Explanation { reason, advice } = explained;
    Finding {
        action: Action::Block,
        about: call.about_file(touch.shown(), &reason),
        reason,
        advice,
        origin,
        matched: touch.shown().to_owned(),
        unknown: None,
    }
}

fn protected(rules: &FileRules, call: &ToolCall<'_>, touch: &Touch, usage: FileUsage) -> Option<Finding> {
    let finding = |Protection { rule, action, message }: Protection<'_>, inside: Option<&str>| {
        let contents = inside.map(|inside| format!(" with {inside} in it")).unwrap_or_default();
        let path = format!("{}{contents}", touch.shown());
        let is_softened = action == Action::Ask && rule.action == Action::Block;
        let message_for = |message| if is_softened { for_question(message, &rule.origin) } else { message };
        let explained = Explanation::of(message.map(message_for).map(str::to_owned), || {
            let what = format!("{} {path}", doing(touch.access));
            Explanation::by_default(action, &what, &rule.origin, &rule.written)
        });
        let found = Finding { action, ..against(call, touch, rule.origin.rule(&rule.written), explained) };
        match inside {
            // The message of the rule concerns the file inside.
            Some(inside) => Finding {
                about: if message.is_some() { Some(path) } else { None },
                matched: inside.to_owned(),
                ..found
            },
            None => found,
        }
    };
    if let Some(rule) = rules.protecting_any(&touch.names, &call.query(usage)) {
        return Some(finding(rule, None));
    }
    if rules.is_empty(call.agent) {
        return None;
    }
    // Files that are unpacked outside of the project are not searched.
    let is_outside = touch.names.iter().all(Location::is_outside);
    if !touch.with_contents || touch.access == Access::Read || (is_outside && touch.access == Access::Write) {
        return None;
    }
    let mut rules = rules.below(&touch.names, call.agent)?;
    // A clone in a temporary directory has a `.git` and perhaps a `.env`, and is there to be deleted.
    let is_temporary = || call.ground.is_discardable(&call.ground.links.real_path(&touch.path));
    if touch.access == Access::Delete && is_outside && is_temporary() {
        rules.0.retain(|rule| !rule.origin.is_of_pack());
        if rules.is_empty(call.agent) {
            return None;
        }
    }
    let inside = first_below(&touch.path, call.visited, call.ground.budget, |path, kind| {
        let location = call.ground.location(path, kind.is_dir());
        rules.protecting(&location, &call.silent_query()).is_some()
    });
    // `None` if the directory has too many files.
    let Some(inside) = inside else { return Some(too_many(call, touch)) };
    let path = inside?;
    let location = call.ground.location(&path, path.is_dir());
    let rule = rules.protecting(&location, &call.query(FileUsage::Other))?;
    Some(finding(rule, Some(location.shown())))
}
