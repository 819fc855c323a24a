use super::*;

fn kept(text: &str) -> (String, Vec<usize>) {
    let usable = usable(super::super::tree(text).unwrap()).unwrap();
    let lines = usable.left_out.iter().map(|left_out| left_out.line).collect();
    (crate::yaml::emit(&usable.tree, |_| None), lines)
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
    let abouts = |text: &str| -> Vec<About> {
        let usable = usable(super::super::tree(text).unwrap()).unwrap();
        usable.left_out.into_iter().map(|left_out| left_out.about).collect()
    };
    for (text, about) in [
        ("preToolUse: {uneditableFile: [a]}", Some(About::Writing)),
        ("preToolUse: {unreadbleFiles: [a]}", Some(About::Reading)),
        ("preToolUse: {toolUsageValidatio: [a]}", Some(About::Anything)),
        ("preToolUse: {somethingNew: [a]}", Some(About::Anything)),
        ("preToolUse: {comands: [a]}", None),
        ("permissionRequest: {alow: [a]}", None),
        ("permissionRequest: {dney: [a]}", Some(About::Permissions)),
        ("preTolUse: {commands: []}", Some(About::Anything)),
        ("somethingNew: {a: 1}", None),
    ] {
        assert_eq!(abouts(text), about.into_iter().collect::<Vec<_>>(), "{text}");
    }
}
