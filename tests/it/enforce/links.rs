//! The sandbox protects what a link points to. A command may replace the link itself.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use super::*;

/// The line of a rule.
fn line_of<'a>(out: &'a str, rule: &str) -> &'a str {
    out.lines().find(|line| line.contains(rule)).unwrap_or_default().trim()
}

#[test]
fn a_protected_path_that_is_a_link_is_kept_by_the_hook() {
    let test = project(
        "enforce: [sandbox]\npreToolUse: {uneditableFiles: [./package.json, src/linked/, ./below/x.txt, '*.lock', ./plain.txt]}",
    )
    .file("conf/p.json", "{}")
    .file("conf/x.txt", "")
    .file("plain.txt", "");
    let root = test.root();
    symlink("conf/p.json", root.join("package.json")).unwrap();
    symlink("gen", root.join("src/linked")).unwrap();
    symlink("conf", root.join("below")).unwrap();
    symlink("../conf/p.json", root.join("sub/z.lock")).unwrap();
    let (code, out, _) = run(&root, &["install", "--enforce"]);
    assert_eq!(code, Some(0), "{out}");
    for (rule, link) in [
        ("\"./package.json\"", "package.json"),
        ("\"src/linked/\"", "src/linked"),
        ("\"./below/x.txt\"", "below"),
        ("\"*.lock\"", "sub/z.lock"),
    ] {
        let line = line_of(&out, rule);
        assert!(line.starts_with("hook only"), "{line}");
        let why =
            format!("{link} is a link: what it points to is protected, and a command may replace the link");
        assert!(line.contains(&why), "{line}");
    }
    assert!(line_of(&out, "\"./plain.txt\"").starts_with("enforced by the OS"), "{out}");
    let denied = list(&root, DENY_WRITE);
    for path in ["./package.json", "./src/linked", "./below/x.txt", "./sub/z.lock"] {
        assert!(denied.contains(&path.to_owned()), "{denied:?}");
    }
}

/// A command may rename it. Then no pattern matches, and what it points to can be read.
#[test]
fn a_file_that_may_not_be_read_and_is_a_link_is_kept_by_the_hook() {
    let test = project(
        "enforce: [sandbox]\npreToolUse: {unreadableFiles: ['.env*', secrets/, ./conf/key, '*.pem']}",
    )
    .file("shared/env", "")
    .file("shared/key", "")
    .file("shared/vault/a", "");
    let root = test.root();
    symlink("shared/env", root.join(".env.local")).unwrap();
    symlink("shared/vault", root.join("secrets")).unwrap();
    symlink("shared", root.join("conf")).unwrap();
    let (code, out, _) = run(&root, &["install", "--enforce"]);
    assert_eq!(code, Some(0), "{out}");
    for (rule, link) in [("\".env*\"", ".env.local"), ("\"secrets/\"", "secrets"), ("\"./conf/key\"", "conf")]
    {
        let line = line_of(&out, rule);
        assert!(line.starts_with("hook only") && line.contains(&format!("{link} is a link")), "{line}");
    }
    assert!(line_of(&out, "\"*.pem\"").starts_with("enforced by the OS"), "{out}");
    assert!(list(&root, "/sandbox/filesystem/denyRead").contains(&"**/.env*".to_owned()));
}

#[test]
fn a_config_that_is_a_link_is_warned_about() {
    let test = project(CONFIG);
    let root = test.root();
    std::fs::create_dir(root.join("conf")).unwrap();
    std::fs::rename(root.join(".conclaude.yaml"), root.join("conf/c.yaml")).unwrap();
    symlink("conf/c.yaml", root.join(".conclaude.yaml")).unwrap();
    let warned =
        ".conclaude.yaml is a link: what it points to is protected, and a command may replace the link";
    let (_, out, _) = run(&root, &["install", "--enforce"]);
    assert!(out.contains(&format!("warning: {warned}")), "{out}");
    assert!(line_of(&out, "conclaude's own files").contains("hook only"), "{out}");
    let (_, out, _) = run(&root, &["doctor"]);
    assert!(out.contains(warned), "{out}");
    let outcome = test.run();
    assert!(outcome.message().contains(&format!("⚠ {warned}")), "{}", outcome.message());
}

#[test]
fn settings_below_a_link_are_warned_about() {
    let test = project(CONFIG);
    let root = test.root();
    std::fs::create_dir(root.join("shared")).unwrap();
    symlink("shared", root.join(".claude")).unwrap();
    let (_, out, _) = run(&root, &["install", "--enforce"]);
    assert!(out.contains("warning: .claude is a link: "), "{out}");
}
