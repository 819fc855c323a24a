//! Which calls a part of a config might have refused that cannot be used.

use crate::dialect::claude::notation::ToolPattern;
use crate::event::ALL;
use crate::text::nearest;
use crate::yaml::{Node, Spanned};
use shell_effects::glob::{Glob, Kind};

pub(super) const GUARDS: &str = "preToolUse";
pub(super) const PERMISSIONS: &str = "permissionRequest";
pub(super) const EXTENDS: &str = "extends";

/// What those guards are about that have nothing to do with reading or commands.
const WRITE_GUARDS: [&str; 4] =
    ["uneditableFiles", "preventAdditions", "preventRootAdditions", "preventUpdateGitIgnored"];
const READ_GUARD: &str = "unreadableFiles";
const TOOL_GUARD: &str = "toolUsageValidation";

/// The calls that rules might have been against.
#[derive(Clone, Debug, PartialEq)]
pub enum About {
    Writing,
    Reading,
    /// Files and commands of all kinds.
    Anything,
    Tools(Glob),
    /// Only what is allowed without asking.
    Permissions,
}

/// What the rules in a text might be about that is not YAML.
pub(in crate::config) fn about_text(text: &str) -> Option<About> {
    let text = text.to_ascii_lowercase();
    let has = |word: &str| text.contains(&word.to_ascii_lowercase());
    if [EXTENDS, READ_GUARD, TOOL_GUARD].into_iter().any(has) {
        Some(About::Anything)
    } else if has(GUARDS) || WRITE_GUARDS.into_iter().any(has) {
        Some(About::Writing)
    } else {
        has(PERMISSIONS).then_some(About::Permissions)
    }
}

/// What a value that is left out might have refused; none if it could only have allowed or run something.
pub(super) fn about(keys: &[&str], value: &Spanned<Node>) -> Option<About> {
    match keys {
        [PERMISSIONS, key] => match nearest(key, ["default", "deny", "allow", "commands", "match"]) {
            Some("allow" | "commands" | "match") => None,
            _ => Some(About::Permissions),
        },
        [GUARDS, key] => of_guard(key, value),
        [GUARDS | EXTENDS] => Some(About::Anything),
        [PERMISSIONS] => Some(About::Permissions),
        [section, ..] => misplaced(section, value),
        [] => None,
    }
}

/// The same for a key of `preToolUse`. One that is close to another one is meant to be that.
fn of_guard(key: &str, value: &Spanned<Node>) -> Option<About> {
    // The fence is there by itself.
    let others = [READ_GUARD, TOOL_GUARD, "worktreeFence", "commands", "match"];
    match nearest(key, WRITE_GUARDS.into_iter().chain(others)) {
        Some("worktreeFence" | "commands" | "match") => None,
        Some(READ_GUARD) => (!frees(value)).then_some(About::Reading),
        Some(TOOL_GUARD) => of_tool_rule(value),
        Some(_) => (!frees(value)).then_some(About::Writing),
        None => Some(About::Anything),
    }
}

fn text<'a>(value: &'a Spanned<Node>, key: &str) -> Option<&'a str> {
    match &value.value_of(key)?.value {
        Node::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether an entry of a list of files is `!pattern`.
fn frees(value: &Spanned<Node>) -> bool {
    let pattern = match &value.value {
        Node::Text(text) => Some(text.as_ref()),
        _ => text(value, "pattern"),
    };
    pattern.is_some_and(|pattern| pattern.starts_with('!'))
}

fn of_tool_rule(rule: &Spanned<Node>) -> Option<About> {
    if text(rule, "action") == Some("allow") {
        return None;
    }
    let Some(tool) = text(rule, "tool") else { return Some(About::Anything) };
    // It may be about any tool, if its own name is what is wrong.
    let named = ToolPattern::parse(tool).ok().and_then(|pattern| pattern.glob().ok());
    named.or_else(|| Glob::new("*", Kind::Name).ok()).map(About::Tools)
}

/// What rules are about that are in a section where they do not belong, or in one with a name that nothing has. With a missing colon
/// or quote they are a part of a key, or of a text.
fn misplaced(section: &str, value: &Spanned<Node>) -> Option<About> {
    let mut found = about_text(section);
    if let Node::Text(text) = &value.value {
        found = together(found, about_text(text));
    }
    let mut pending = vec![value];
    while let Some(node) = pending.pop() {
        match &node.value {
            Node::Map(entries) => {
                for (key, value) in entries {
                    found = together(found, about_text(&key.value));
                    pending.push(value);
                }
            }
            Node::List(items) => pending.extend(items),
            _ => {}
        }
    }
    // A section that is close to another one is that.
    let sections = ALL.iter().map(|event| event.row().section).chain([EXTENDS, READ_GUARD, TOOL_GUARD]);
    let meant = nearest(section, sections.chain(WRITE_GUARDS));
    found.or_else(|| match meant? {
        GUARDS => Some(About::Anything),
        meant => about_text(meant),
    })
}

fn together(one: Option<About>, other: Option<About>) -> Option<About> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one == other { one } else { About::Anything }),
        (one, other) => one.or(other),
    }
}
