//! Rules against new files: in the root, in some directories, and those that git ignores.

use std::path::Path;

use super::call::{Advice, Explanation, Finding, ToolCall};
use super::file_checks::{against, writes};
use super::resolve::Touch;
use super::rules::{FileUsage, GuardRules, Protection, SwitchRule};
use conclaude_core::file_pattern::Location;
use shell_effects::Access;

/// What is against creating or changing this file.
pub(super) fn additions(rules: &GuardRules, call: &ToolCall<'_>, touch: &Touch) -> Vec<Finding> {
    if !writes(touch.access) {
        return Vec::new();
    }
    let in_root = rules.root_additions.as_ref().and_then(|switch| root_addition(switch, call, touch));
    let prevented = prevented(rules, call, touch);
    let generated = match &rules.git_ignored {
        Some(switch) if touch.access != Access::MakeDirectory => ignored(switch, call, touch),
        _ => None,
    };
    [in_root, prevented, generated].into_iter().flatten().collect()
}

/// The finding of `preventRootAdditions`.
fn root_addition(switch: &SwitchRule, call: &ToolCall<'_>, touch: &Touch) -> Option<Finding> {
    let subject = touch.shown();
    let rule = (&switch.origin, "");
    if touch.exists {
        call.log.missed(rule, subject, || format!("does not apply to {subject}: it exists"));
        return None;
    }
    if !touch.names.iter().any(|location| is_in_root(location, touch.access)) {
        call.log.missed(rule, subject, || format!("does not apply to {subject}: it is not in the root"));
        return None;
    }
    call.log.matched(rule, subject, || format!("covers {subject}: it would create a file in the root"));
    let reason = format!("{subject} would be new in the project's root.");
    let advice = "Create it in a directory below the root.";
    Some(switched(switch, call, touch, Explanation { reason, advice: Advice::claude(advice) }))
}

/// Whether a new file or directory is directly in the root. `mkdir -p new/x` creates `new` there. A file in a new directory is not
/// in the root.
fn is_in_root(location: &Location, access: Access) -> bool {
    let is_new = |path: &str, first: &str| {
        let top = Path::new(location.absolute.strip_suffix(path).unwrap_or_default());
        top.join(first).symlink_metadata().is_err()
    };
    location.anchored().any(|path| match path.split_once('/') {
        None => true,
        Some((first, _)) => access == Access::MakeDirectory && is_new(path, first),
    })
}

/// The finding of `preventUpdateGitIgnored`.
fn ignored(switch: &SwitchRule, call: &ToolCall<'_>, touch: &Touch) -> Option<Finding> {
    let subject = touch.shown();
    let rule = (&switch.origin, "");
    if !(call.is_ignored)(&touch.path) {
        call.log.missed(rule, subject, || format!("does not apply to {subject}: git does not ignore it"));
        return None;
    }
    call.log.matched(rule, subject, || format!("covers {subject}: git ignores it"));
    let reason = format!("{subject} is ignored by git and probably generated.");
    let advice = Advice::claude("Change its source instead.");
    Some(switched(switch, call, touch, Explanation { reason, advice }))
}

/// The finding of a rule that is only on or off.
fn switched(switch: &SwitchRule, call: &ToolCall<'_>, touch: &Touch, default: Explanation) -> Finding {
    let message = switch.message_for(touch.shown(), call.tool);
    against(call, touch, switch.origin.rule(""), Explanation::of(message, || default))
}

/// The finding of a rule of `preventAdditions`.
fn prevented(rules: &GuardRules, call: &ToolCall<'_>, touch: &Touch) -> Option<Finding> {
    let subject = touch.shown();
    if touch.exists {
        for rule in &rules.additions.0 {
            let why = || format!("does not apply to {subject}: it exists");
            call.log.missed((&rule.origin, &rule.written), subject, why);
        }
        return None;
    }
    let Protection { rule, action, message } =
        rules.additions.protecting_any(&touch.names, &call.query(FileUsage::Other))?;
    let explained = Explanation::of(message.map(str::to_owned), || Explanation {
        advice: Advice::both("Change a file that exists instead.", ""),
        ..Explanation::by_default(action, &format!("adding {subject}"), &rule.origin, &rule.written)
    });
    Some(Finding { action, ..against(call, touch, rule.origin.rule(&rule.written), explained) })
}
