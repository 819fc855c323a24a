//! The rules for files against one that a call touches.

use std::path::{Path, PathBuf};

use super::call::{Call, Finding, Own, doing, named, shown};
use super::origin::Origin;
use super::resolve::{Effects, Touch, Unclear};
use super::rules::{Action, FileRule, FileRules, Rules};
use super::search::first_below;
use super::watch::Watch;
use crate::des::protected::{ProtectedPaths, is_config_name};
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::Rule;
use conclaude_os::git;
use shell_effects::{Access, Extent, Simple};

/// All that is against it.
pub(super) fn all(
    rules: &Rules,
    call: &Call<'_>,
    effects: &Effects,
    touch: &Touch,
    found: &mut Vec<Finding>,
) {
    own_files(call, touch, found);
    fence(rules, call, effects, touch, found);
    files(rules, call, touch, found);
    additions(rules, call, touch, found);
}

fn writes(access: Access) -> bool {
    matches!(access, Access::Write | Access::Update | Access::MakeDirectory | Access::Link)
}

fn reads(access: Access) -> bool {
    matches!(access, Access::Read | Access::Link)
}

fn own_files(call: &Call<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    let Some(own) = call.own.filter(|_| touch.access != Access::Read).map(Own::files) else { return };
    let is_own = own.covers(Path::new(touch.named()), &touch.path);
    let rule = match is_own {
        true => "it belongs to conclaude's own config, state or registration",
        false if touch.with_contents && contains(own, call, touch) => {
            "files of conclaude's own config, state or registration are in it"
        }
        false => return,
    };
    let what = format!("{} {}", doing(touch.access), touch.shown());
    found.push(against_own(call, what, rule.into(), touch.shown()));
}

fn against_own(call: &Call<'_>, what: String, rule: String, matched: &str) -> Finding {
    let (action, advice) = if call.is_subagent {
        (Action::Block, "leave it as it is, and report what you would have changed")
    } else {
        (Action::Ask, "the user decides whether the rules change")
    };
    let origin = Rule::built_in("conclaude's own files");
    Finding { action, what, rule, advice: advice.into(), origin, matched: matched.to_owned() }
}

/// Our own files among those that git removes from the work tree: `git clean -fdx`, `git stash -a`.
pub(super) fn removed(call: &Call<'_>, unclear: &Unclear) -> Option<Finding> {
    let Unclear::WorkTree { command, directory, extent } = unclear else { return None };
    let extent = Extent { tracked: false, ..*extent };
    let own_files = call.own.filter(|_| extent.untracked || extent.ignored).map(Own::files)?;
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

/// Whether files of ours are below a directory.
fn contains(own: &ProtectedPaths, call: &Call<'_>, directory: &Touch) -> bool {
    let links = call.ground.links;
    if own.is_below(&directory.path, links) {
        return true;
    }
    // Anything else is the config of a folder below, which is not in force here, or behind a link. Outside of the project it is
    // nobody's concern; of a directory with too many files it is not known, and that is no reason to ask whenever dependencies are
    // deleted.
    let nested = || {
        first_below(&directory.path, call.visited, call.ground.budget, |path, kind| {
            path.file_name().is_some_and(is_config_name)
                || kind.is_symlink() && own.covers(path, &links.real_path(path))
        })
    };
    !directory.names.iter().all(Location::is_outside) && matches!(nested(), Some(Some(_)))
}

/// Nobody waits for an answer that took too long.
fn too_many(call: &Call<'_>, touch: &Touch) -> Finding {
    Finding {
        action: if call.ground.budget.is_over() { Action::Block } else { Action::Ask },
        what: format!("{} {}", doing(touch.access), touch.shown()),
        rule: "the directory has too many files to look for protected ones in time".into(),
        advice: "name the files, or ask the user".into(),
        origin: Rule::built_in("what cannot be decided is asked"),
        matched: touch.shown().to_owned(),
    }
}

/// Whether a symbolic link is made to it, and nothing is written through that. The link itself is where it is made, and once it is
/// there, what is written through it is seen where it leads.
fn is_only_linked(effects: &Effects, touch: &Touch) -> bool {
    let is_symbolic = |command: &Simple| {
        let is_ln = command.words.first().is_some_and(|word| word.rsplit('/').next() == Some("ln"));
        let is_option = |word: &String| match word.strip_prefix("--") {
            Some(long) => long.len() > 1 && "symbolic".starts_with(long),
            None => word.strip_prefix('-').is_some_and(|flags| flags.contains('s')),
        };
        is_ln && command.words.iter().any(is_option)
    };
    let makes_link = touch.command.and_then(|index| effects.commands.get(index)).is_some_and(is_symbolic);
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

fn fence(rules: &Rules, call: &Call<'_>, effects: &Effects, touch: &Touch, found: &mut Vec<Finding>) {
    let Some(switch) = &rules.worktree_fence else { return };
    let (named_rule, subject) = ((&switch.origin, ""), touch.shown());
    let Some(worktree) = call.worktree else {
        call.watch.missed(named_rule, subject, || "is for agents in a worktree of their own".into());
        return;
    };
    let is_temporary = call.ground.is_temporary(&touch.path);
    let real = call.ground.links.real_path(worktree);
    let is_free = touch.access == Access::Read || is_only_linked(effects, touch);
    if is_free || is_temporary || touch.path.starts_with(real) {
        call.watch.missed(named_rule, subject, || {
            format!("leaves {subject} free: it is read, temporary or inside")
        });
        return;
    }
    call.watch.matched(named_rule, subject, || format!("covers {subject}: it is outside of the worktree"));
    found.push(Finding {
        action: Action::Block,
        what: format!("{} {}", doing(touch.access), touch.shown()),
        rule: format!("{}: it is outside of this agent's worktree", named(&switch.origin, "")),
        advice: switch.advice(touch.shown(), call.tool, &format!("write below {}", worktree.display())),
        origin: switch.origin.rule(""),
        matched: touch.shown().to_owned(),
    });
}

/// Whether it may be read, or changed.
pub(super) fn files(rules: &Rules, call: &Call<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    if writes(touch.access) || touch.access == Access::Delete {
        protected(&rules.uneditable, call, touch, "it may not be changed", found);
    }
    if reads(touch.access) {
        protected(&rules.unreadable, call, touch, "it may not be read", found);
    }
}

fn protected(rules: &FileRules, call: &Call<'_>, touch: &Touch, why: &str, found: &mut Vec<Finding>) {
    let mut add = |rule: &FileRule, path: &str, matched: &str| {
        found.push(Finding {
            action: Action::Block,
            what: format!("{} {path}", doing(touch.access)),
            rule: named(&rule.origin, &rule.written),
            advice: rule
                .message
                .clone()
                .unwrap_or_else(|| format!("{why}; do it another way, or ask the user")),
            origin: rule.origin.rule(&rule.written),
            matched: matched.to_owned(),
        });
    };
    if let Some(rule) = rules.protecting_any(&touch.names, call.agent, call.watch, call.ground.budget) {
        return add(rule, touch.shown(), touch.shown());
    }
    if rules.is_empty(call.agent) {
        return;
    }
    // What is unpacked outside of the project is not searched for names that are protected everywhere.
    let is_outside = touch.names.iter().all(Location::is_outside);
    if !touch.with_contents || touch.access == Access::Read || (is_outside && touch.access == Access::Write) {
        return;
    }
    let Some(rules) = rules.below(&touch.names, call.agent) else { return };
    let inside = first_below(&touch.path, call.visited, call.ground.budget, |path, kind| {
        rules
            .protecting(
                &call.ground.location(path, kind.is_dir()),
                call.agent,
                Watch::default(),
                call.ground.budget,
            )
            .is_some()
    });
    match inside {
        Some(None) => {}
        Some(Some(path)) => {
            let location = call.ground.location(&path, path.is_dir());
            if let Some(rule) = rules.protecting(&location, call.agent, call.watch, call.ground.budget) {
                let shown = format!("{}, which contains {}", touch.shown(), location.shown());
                add(rule, &shown, location.shown());
            }
        }
        None => found.push(too_many(call, touch)),
    }
}

fn additions(rules: &Rules, call: &Call<'_>, touch: &Touch, found: &mut Vec<Finding>) {
    if !writes(touch.access) {
        return;
    }
    let subject = touch.shown();
    let mut add = |origin: &Origin, written: &str, advice: String| {
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
        // `mkdir -p new/x` is there to make `new`; a file in a new directory is not in the root.
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
            call.watch.missed(rule, subject, || format!("leaves {subject} free: it exists"));
        } else if touch.names.iter().any(is_in_root) {
            call.watch.matched(rule, subject, || format!("covers {subject}: it would be new in the root"));
            let advice = "new files belong into a directory below the project's root";
            add(&switch.origin, "", switch.advice(subject, call.tool, advice));
        } else {
            call.watch.missed(rule, subject, || format!("leaves {subject} free: it is not in the root"));
        }
    }
    if touch.exists {
        for rule in &rules.additions.0 {
            let why = || format!("leaves {subject} free: it exists");
            call.watch.missed((&rule.origin, &rule.written), subject, why);
        }
    } else if let Some(rule) =
        rules.additions.protecting_any(&touch.names, call.agent, call.watch, call.ground.budget)
    {
        let advice = rule.message.clone().unwrap_or_else(|| "change a file that exists instead".into());
        add(&rule.origin, &rule.written, advice);
    }
    if let Some(switch) = rules.git_ignored.as_ref().filter(|_| touch.access != Access::MakeDirectory) {
        let rule = (&switch.origin, "");
        if (call.is_ignored)(&touch.path) {
            call.watch.matched(rule, subject, || format!("covers {subject}: git ignores it"));
            let advice = "git ignores this file, so it is made by something: change that instead";
            add(&switch.origin, "", switch.advice(subject, call.tool, advice));
        } else {
            call.watch.missed(rule, subject, || format!("leaves {subject} free: git does not ignore it"));
        }
    }
}
