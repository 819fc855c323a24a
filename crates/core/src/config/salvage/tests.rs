use proptest::prelude::*;

use super::*;
use crate::config::parse::tree;
use crate::config::{Layer, Part, Patterns, Source};

fn kept(text: &str) -> (String, Vec<usize>) {
    let salvaged = salvage(tree(text).unwrap()).unwrap();
    let lines = salvaged.skipped.iter().map(|skipped| skipped.line).collect();
    (crate::yaml::emit(&salvaged.tree, |_| None), lines)
}

#[test]
fn only_what_cannot_be_used_is_left_out() {
    let text = "\
maxBlok: 3
extends: [a.yaml, 7]
stop: {commands: [{run: x}]}
preToolUse:
  commands: [{run: x}]
  uneditableFiles: [a, {patern: b}, \"!c\", {pattern: \"!d\", x: 1}]
  unreadableFiles: 7
  worktreeFence: maybe
permissionRequest: {default: ask, deny: [Read, 7], allow: [7]}
";
    let (tree, lines) = kept(text);
    insta::assert_snapshot!(tree, @r#"
    extends:
      - a.yaml
    preToolUse:
      uneditableFiles:
        - a
        - "!c"
    permissionRequest:
      default: ask
      deny:
        - Read
      allow: []
    "#);
    assert_eq!(lines, [2, 6, 7, 9]);
}

#[test]
fn a_key_that_is_close_to_another_one_is_about_the_same() {
    let abouts = |text: &str| -> Vec<GuardedCalls> {
        let salvaged = salvage(tree(text).unwrap()).unwrap();
        salvaged.skipped.into_iter().map(|skipped| skipped.calls).collect()
    };
    for (text, about) in [
        ("preToolUse: {uneditableFile: [a]}", Some(GuardedCalls::Writing)),
        ("preToolUse: {unreadbleFiles: [a]}", Some(GuardedCalls::Reading)),
        ("preToolUse: {toolUsageValidatio: [a]}", Some(GuardedCalls::Anything)),
        ("preToolUse: {somethingNew: [a]}", Some(GuardedCalls::Anything)),
        ("preToolUse: {comands: [a]}", None),
        ("permissionRequest: {alow: [a]}", None),
        ("permissionRequest: {dney: [a]}", Some(GuardedCalls::Permissions)),
        ("preTolUse: {commands: []}", Some(GuardedCalls::Anything)),
        ("somethingNew: {a: 1}", None),
    ] {
        assert_eq!(abouts(text), about.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

/// Whether a config with this text guards something against writing, or reports that it cannot.
fn guards_or_says_so(text: &str) -> bool {
    let source =
        Source { layer: Layer::Project, path: "x".into(), text: text.to_owned().into(), untrusted: None };
    let read = Part::read(source, Patterns::All);
    let config = read.part.as_ref().and_then(|part| part.config.as_ref());
    read.error.is_none()
        || !read.unusable.is_empty()
        || config.is_some_and(|config| config.guards.uneditable_files.iter().flatten().next().is_some())
}

proptest! {
    #[test]
    fn no_slip_of_the_keyboard_switches_a_guard_off_silently(
        style in 0..3_usize, at in any::<prop::sample::Index>(), slip in 0..3_usize, c in "[a-z:,{}\\[\\]\"' \n\t*!&#-]",
    ) {
        let text = [
            "maxBlocks: 3\npreToolUse:\n  uneditableFiles:\n    - \"*.lock\"\n    - {pattern: a, message: b}\nstop:\n  commands: [{run: x}]\n",
            "preToolUse: {uneditableFiles: [\"*.lock\"], worktreeFence: true}\n",
            "des: {enabled: true}\npreToolUse:\n  commands: []\n  uneditableFiles: ['*.lock']\n",
        ][style];
        let at = at.index(text.len());
        let after = if slip == 0 { at } else { at + 1 };
        let typed = if slip == 1 { "" } else { c.as_str() };
        let slipped = format!("{}{typed}{}", &text[..at], &text[after..]);
        prop_assert!(guards_or_says_so(&slipped), "{}", slipped);
    }
}
