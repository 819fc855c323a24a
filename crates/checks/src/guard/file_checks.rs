//! Compares a file that a call touches with the rules for files.

use std::path::{Path, PathBuf};

use super::call::{Finding, OwnFiles, ToolCall, doing, named, shown};
use super::comparison_log::ComparisonLog;
use super::resolve::{Effects, Touch, Uncertainty};
use super::rules::{Action, FileRule, FileRules, GuardRules, RuleOrigin};
use super::search::first_below;
use crate::des::protected::{ProtectedPaths, is_config_name};
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::Rule;
use conclaude_os::git;
use shell_effects::{Access, Extent};

/// All findings about one file.
pub(super) fn all(rules: &GuardRules, call: &ToolCall<'_>, effects: &Effects, touch: &Touch) -> Vec<Finding> {
    let mut found = Vec::new();
    own_files(call, touch, &mut found);
    found.extend(fence(rules, call, effects, touch));
    found.extend(files(rules, call, touch));
    additions(rules, call, touch, &mut found);
    found
}

fn writes(access: Access) -> bool {
    matches!(access, Access::Write | Access::Update | Access::MakeDirectory | Access::Link)
}

fn reads(access: Access) -> bool {
    matches!(access, Access::Read | Access::Link)
}

fn own_files(call: &ToolCall<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    if touch.access == Access::Read {
        return;
    }
    let Some(own) = call.own.map(OwnFiles::files) else { return };
    let rule = if own.covers(Path::new(touch.named()), &touch.path) {
        "it belongs to conclaude's own config, state or registration"
    } else if touch.with_contents && contains(own, call, touch) {
        "files of conclaude's own config, state or registration are in it"
    } else {
        return;
    };
    let what = format!("{} {}", doing(touch.access), touch.shown());
    found.push(against_own(call, what, rule.into(), touch.shown()));
}

fn against_own(call: &ToolCall<'_>, what: String, rule: String, matched: &str) -> Finding {
    let (action, advice) = if call.is_subagent {
        (Action::Block, "leave it as it is, and report what you would have changed")
    } else {
        (Action::Ask, "the user decides whether the rules change")
    };
    let origin = Rule::built_in("conclaude's own files");
    Finding { action, what, rule, advice: advice.into(), origin, matched: matched.to_owned() }
}

/// Our own files among those that git removes from the work tree: `git clean -fdx`, `git stash -a`.
pub(super) fn removed(call: &ToolCall<'_>, unclear: &Uncertainty) -> Option<Finding> {
    let Uncertainty::WorkTree { command, directory, extent } = unclear else { return None };
    let extent = Extent { tracked: false, ..*extent };
    if !extent.untracked && !extent.ignored {
        return None;
    }
    let own_files = call.own.map(OwnFiles::files)?;
    let files = git::files_of(directory, extent, call.ground.budget).ok().flatten()?;
    let is_own = |file: &PathBuf| {
        call.ground.budget.is_over() || own_files.covers(file, &call.ground.links.real_path(file))
    };
    let file = files.into_iter().find(is_own)?;
    let file = call.ground.location(&file, false);
    let rule = format!(
        "it removes {}, which belongs to conclaude's own config, state or registration",
        file.shown()
    );
    Some(against_own(call, format!("running `{}`", shown(command)), rule, command))
}

/// Whether a directory contains own files.
fn contains(own: &ProtectedPaths, call: &ToolCall<'_>, directory: &Touch) -> bool {
    let links = call.ground.links;
    if own.is_below(&directory.path, links) {
        return true;
    }
    // What remains is the config of a folder below, or a link to one of our files. Outside of the project neither matters. A
    // directory with too many files is not searched to the end: asking whenever dependencies are deleted would help nobody.
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
        what: format!("{} {}", doing(touch.access), touch.shown()),
        rule: "the directory has too many files to look for protected ones in time".into(),
        advice: "name the files, or ask the user".into(),
        origin: Rule::built_in("what cannot be decided is asked"),
        matched: touch.shown().to_owned(),
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
    if is_free || is_temporary || touch.path.starts_with(real) {
        call.log.missed(named_rule, subject, || {
            format!("leaves {subject} free: it is read, temporary or inside")
        });
        return None;
    }
    call.log.matched(named_rule, subject, || format!("covers {subject}: it is outside of the worktree"));
    Some(Finding {
        action: Action::Block,
        what: format!("{} {}", doing(touch.access), touch.shown()),
        rule: format!("{}: it is outside of this agent's worktree", named(&switch.origin, "")),
        advice: switch.advice(touch.shown(), call.tool, &format!("write below {}", worktree.display())),
        origin: switch.origin.rule(""),
        matched: touch.shown().to_owned(),
    })
}

/// Whether the file may be read or changed.
pub(super) fn files(rules: &GuardRules, call: &ToolCall<'_>, touch: &Touch) -> Vec<Finding> {
    let mut found = Vec::new();
    if writes(touch.access) || touch.access == Access::Delete {
        found.extend(protected(&rules.uneditable, call, touch, "it may not be changed"));
    }
    if reads(touch.access) {
        found.extend(protected(&rules.unreadable, call, touch, "it may not be read"));
    }
    found
}

fn protected(rules: &FileRules, call: &ToolCall<'_>, touch: &Touch, why: &str) -> Option<Finding> {
    let finding = |rule: &FileRule, path: &str, matched: &str| Finding {
        action: Action::Block,
        what: format!("{} {path}", doing(touch.access)),
        rule: named(&rule.origin, &rule.written),
        advice: rule.message.clone().unwrap_or_else(|| format!("{why}; do it another way, or ask the user")),
        origin: rule.origin.rule(&rule.written),
        matched: matched.to_owned(),
    };
    if let Some(rule) = rules.protecting_any(&touch.names, call.agent, call.log, call.ground.budget) {
        return Some(finding(rule, touch.shown(), touch.shown()));
    }
    if rules.is_empty(call.agent) {
        return None;
    }
    // Files that are unpacked outside of the project are not searched.
    let is_outside = touch.names.iter().all(Location::is_outside);
    if !touch.with_contents || touch.access == Access::Read || (is_outside && touch.access == Access::Write) {
        return None;
    }
    let rules = rules.below(&touch.names, call.agent)?;
    let inside = first_below(&touch.path, call.visited, call.ground.budget, |path, kind| {
        let location = call.ground.location(path, kind.is_dir());
        rules.protecting(&location, call.agent, ComparisonLog::default(), call.ground.budget).is_some()
    });
    // None where the directory has too many files.
    let Some(inside) = inside else { return Some(too_many(call, touch)) };
    let path = inside?;
    let location = call.ground.location(&path, path.is_dir());
    let rule = rules.protecting(&location, call.agent, call.log, call.ground.budget)?;
    let shown = format!("{}, which contains {}", touch.shown(), location.shown());
    Some(finding(rule, &shown, location.shown()))
}

fn additions(rules: &GuardRules, call: &ToolCall<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    if !writes(touch.access) {
        return;
    }
    let subject = touch.shown();
    let mut add = |origin: &RuleOrigin, written: &str, advice: String| {
        found.push(Finding {
            action: Action::Block,
            what: format!("{} {subject}", doing(touch.access)),
            rule: named(origin, written),
            advice,
            origin: origin.rule(written),
            matched: subject.to_owned(),
        });
    };
    if let Some(switch) = &rules.root_additions {
        // `mkdir -p new/x` creates `new` in the root. A file in a new directory is not in the root.
        let is_in_root = |location: &Location| {
            let is_new = |path: &str, first: &str| {
                let top = Path::new(location.absolute.strip_suffix(path).unwrap_or_default());
                top.join(first).symlink_metadata().is_err()
            };
            location.anchored().any(|path| match path.split_once('/') {
                None => true,
                Some((first, _)) => touch.access == Access::MakeDirectory && is_new(path, first),
            })
        };
        let rule = (&switch.origin, "");
        if touch.exists {
            call.log.missed(rule, subject, || format!("leaves {subject} free: it exists"));
        } else if touch.names.iter().any(is_in_root) {
            call.log.matched(rule, subject, || format!("covers {subject}: it would be new in the root"));
            let advice = "new files belong in a directory below the project's root";
            add(&switch.origin, "", switch.advice(subject, call.tool, advice));
        } else {
            call.log.missed(rule, subject, || format!("leaves {subject} free: it is not in the root"));
        }
    }
    if touch.exists {
        for rule in &rules.additions.0 {
            let why = || format!("leaves {subject} free: it exists");
            call.log.missed((&rule.origin, &rule.written), subject, why);
        }
    } else if let Some(rule) =
        rules.additions.protecting_any(&touch.names, call.agent, call.log, call.ground.budget)
    {
        let advice = rule.message.clone().unwrap_or_else(|| "change a file that exists instead".into());
        add(&rule.origin, &rule.written, advice);
    }
    if let Some(switch) = &rules.git_ignored
        && touch.access != Access::MakeDirectory
    {
        let rule = (&switch.origin, "");
        if (call.is_ignored)(&touch.path) {
            call.log.matched(rule, subject, || format!("covers {subject}: git ignores it"));
            let advice = "this file is ignored by git and probably generated: change its source instead";
            add(&switch.origin, "", switch.advice(subject, call.tool, advice));
        } else {
            call.log.missed(rule, subject, || format!("leaves {subject} free: git does not ignore it"));
        }
    }
}
