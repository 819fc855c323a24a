//! Where a path really leads, however it is spelt, and which paths are not for agents.

use std::path::{Component, Path, PathBuf};

use crate::root::claude_folder;
use crate::text::is_invisible;

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
    let path = folded(path);
    path.strip_prefix(".claude/").is_some_and(is_settings)
        || matches!(
            path.as_str(),
            ".conclaude.yaml" | ".conclaude.yml" | ".conclaude.local.yaml" | ".conclaude"
        )
        || path.starts_with(".conclaude/")
}

/// Whether this is a settings file in a folder of Claude Code's.
fn is_settings(name: &str) -> bool {
    !name.contains('/') && name.starts_with("settings") && name.ends_with(".json")
}

/// A path as file systems compare it that ignore case; some ignore characters without width as well.
fn folded(path: &str) -> String {
    let seen = path.chars().filter(|c| !is_invisible(*c));
    // By way of upper case: the long s and the Kelvin sign are another letter only there.
    seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn folded_path(path: &Path) -> PathBuf {
    PathBuf::from(folded(&path.to_string_lossy()))
}

/// The same for a path as it was named: in the project, in an agent's worktree, in the user's home or Claude Code's own
/// folder, or behind a link.
#[must_use]
pub fn is_protected_anywhere(root: &Path, work: &Path, cwd: &Path, path: &str) -> bool {
    let named = normalise(&cwd.join(path));
    let (named, real) = (folded_path(&named), folded_path(&real_path(&named)));
    let below = |base: &Path, is: fn(&str) -> bool| {
        let rests = [named.strip_prefix(folded_path(base)), real.strip_prefix(folded_path(&real_path(base)))];
        rests.into_iter().flatten().any(|rest| is(&rest.to_string_lossy()))
    };
    let leads_to = |path: PathBuf| real.starts_with(folded_path(&real_path(&path)));
    let home = std::env::home_dir();
    let names = [".conclaude.yaml", ".conclaude.yml", ".conclaude.local.yaml"];
    // Also one in a folder below: a config that appears there would be another root, with another memory.
    let is_config =
        |path: &Path| path.file_name().is_some_and(|name| names.iter().any(|config| name == *config));
    [Some(root), Some(work), home.as_deref()].into_iter().flatten().any(|base| below(base, is_protected))
        || claude_folder().is_some_and(|folder| below(&folder, is_settings))
        || crate::store::outside().is_some_and(leads_to)
        || crate::load::user_file().is_some_and(leads_to)
        || is_config(&named)
        || is_config(&real)
        || names.iter().any(|name| leads_to(root.join(name)))
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
