//! Where a path really leads, however it is spelt, and which paths are not for agents.

use std::path::{Component, Path, PathBuf};

/// A path without `.`, `..` and doubled slashes, as Claude Code's own tools understand it.
#[must_use]
pub fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    out.push("..");
                }
            }
            part => out.push(part),
        }
    }
    out
}

/// Where a path really leads: links are followed, also dangling ones, and what does not exist yet is taken as it is.
#[must_use]
pub fn real_path(path: &Path) -> PathBuf {
    let lexical = normalise(path);
    let mut pending: Vec<_> = lexical.components().rev().map(|part| part.as_os_str().to_owned()).collect();
    let mut here = PathBuf::new();
    let mut links = 0;
    while let Some(part) = pending.pop() {
        if part == ".." {
            here.pop();
            continue;
        }
        here.push(&part);
        match here.read_link() {
            // A loop of links leads nowhere; the path stays as it was named.
            Ok(_) if links >= 40 => return lexical,
            Ok(target) => {
                links += 1;
                here.pop();
                pending.extend(target.components().rev().map(|part| part.as_os_str().to_owned()));
            }
            Err(_) => {}
        }
    }
    here
}

/// The path relative to the root, however it is spelt: `..`, links, absolute or relative to `cwd`. What lies outside
/// the root has no such path.
#[must_use]
pub fn relative(root: &Path, cwd: &Path, path: &str) -> Option<String> {
    let real = real_path(&cwd.join(path));
    let inside = real.strip_prefix(real_path(root)).ok()?;
    Some(inside.to_string_lossy().into_owned())
}

/// What no gated agent may write: our own config and state, and Claude Code's settings.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    let settings = path
        .strip_prefix(".claude/settings")
        .is_some_and(|rest| !rest.contains('/') && rest.ends_with(".json"));
    settings
        || matches!(path, ".conclaude.yaml" | ".conclaude.yml" | ".conclaude")
        || path.starts_with(".conclaude/")
}

/// The same for a path as it was named: in the project, in an agent's worktree, in the user's home, or behind a link.
#[must_use]
pub fn is_protected_anywhere(root: &Path, work: &Path, cwd: &Path, path: &str) -> bool {
    let named = normalise(&cwd.join(path));
    let real = real_path(&named);
    let home = std::env::home_dir();
    let bases = [Some(root.to_owned()), Some(work.to_owned()), home];
    let below = |base: &Path| {
        [named.strip_prefix(base).ok(), real.strip_prefix(real_path(base)).ok()]
            .into_iter()
            .flatten()
            .any(|rest| is_protected(&rest.to_string_lossy()))
    };
    let config = [".conclaude.yaml", ".conclaude.yml"].iter().any(|name| real_path(&root.join(name)) == real);
    let outside = crate::store::outside().is_some_and(|folder| real.starts_with(real_path(&folder)));
    config || outside || bases.iter().flatten().any(|base| below(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_are_our_files_and_the_clients_settings() {
        for path in [
            ".conclaude.yaml",
            ".conclaude.yml",
            ".conclaude/audit/x",
            ".claude/settings.json",
            ".claude/settings.local.json",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in
            ["conclaude.yaml", ".claude/agents/coder.md", "src/.conclaude.yaml", ".claude/settings/x.json"]
        {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_is_the_same_however_it_is_spelt() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        std::os::unix::fs::symlink("src", root.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        std::os::unix::fs::symlink("src/not-yet.rs", root.join("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        std::os::unix::fs::symlink(&root, folder.path().join("alias")).unwrap();
        let rel = |cwd: &str, path: &str| relative(&root, &root.join(cwd), path);
        let absolute = root.join("src/a.rs").display().to_string();
        let aliased = folder.path().join("alias/src/a.rs").display().to_string();
        for (cwd, path) in [
            ("", "src/a.rs"),
            ("", "./src//a.rs"),
            ("", "src/deep/../a.rs"),
            ("src", "a.rs"),
            ("src/deep", "../a.rs"),
            ("", "link/a.rs"),
            ("link", "a.rs"),
            ("", absolute.as_str()),
            ("", aliased.as_str()),
            ("", "../project/src/a.rs"),
        ] {
            assert_eq!(rel(cwd, path).as_deref(), Some("src/a.rs"), "{cwd} {path}");
        }
        assert_eq!(rel("", "dangling").as_deref(), Some("src/not-yet.rs"));
        assert_eq!(relative(&folder.path().join("alias"), &root, "src/a.rs").as_deref(), Some("src/a.rs"));
        for outside in ["../x", "/etc/passwd", "out/passwd", "src/../../x"] {
            assert_eq!(rel("", outside), None, "{outside}");
        }
        assert!(rel("", "loop/x").is_some(), "a loop leads nowhere, and does not hang");
    }

    proptest::proptest! {
        #[test]
        fn spelling_does_not_change_where_a_path_leads(parts in proptest::collection::vec("(\\.|\\.\\.|a|b)", 1..8)) {
            let root = Path::new("/nowhere/project");
            let plain = relative(root, root, &parts.join("/"));
            let noisy = relative(root, root, &format!("./{}", parts.join("//./")));
            let absolute = relative(root, Path::new("/elsewhere"), &format!("/nowhere/project/{}", parts.join("/")));
            proptest::prop_assert_eq!(&plain, &noisy);
            proptest::prop_assert_eq!(plain, absolute);
        }
    }
}
