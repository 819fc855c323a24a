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
