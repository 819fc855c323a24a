//! Normalised and real paths.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

pub use shell_effects::normalise;

/// A cache of links. One event checks the same folders many times, so each link is read once.
#[derive(Debug, Default)]
pub struct Links(RefCell<BTreeMap<OsString, PathEntry>>);

/// What a part of a path is.
#[derive(Clone, Debug)]
enum PathEntry {
    Link(PathBuf),
    /// A folder or a file.
    Plain,
    /// It does not exist, so nothing below it is a link.
    Missing,
}

impl Links {
    /// The real path: links are followed, even dangling ones. Missing parts stay as they are.
    #[must_use]
    pub fn real_path(&self, path: &Path) -> PathBuf {
        self.walked_path(&normalise(path))
    }

    /// The path as the kernel resolves it: a link is followed before `..` is applied.
    #[must_use]
    pub fn walked_path(&self, path: &Path) -> PathBuf {
        let mut pending: Vec<_> = path.components().rev().map(|part| part.as_os_str().to_owned()).collect();
        let mut here = PathBuf::new();
        let mut links = 0;
        // How many parts of `here` are missing: nothing below them is read, so a long path takes no longer than a short one.
        let mut missing = 0_usize;
        while let Some(part) = pending.pop() {
            if part == ".." {
                here.pop();
                missing = missing.saturating_sub(1);
                continue;
            }
            here.push(&part);
            if missing > 0 {
                missing += 1;
                continue;
            }
            match self.part(&here, !pending.is_empty()) {
                // A loop of links: the path stays as named.
                PathEntry::Link(_) if links >= 40 => return normalise(path),
                PathEntry::Link(target) => {
                    links += 1;
                    here.pop();
                    pending.extend(target.components().rev().map(|part| part.as_os_str().to_owned()));
                }
                PathEntry::Plain => {}
                PathEntry::Missing => missing = 1,
            }
        }
        here
    }

    /// Only folders are cached: there may be very many files.
    fn part(&self, path: &Path, is_folder: bool) -> PathEntry {
        if let Some(known) = self.0.borrow().get(path.as_os_str()) {
            return known.clone();
        }
        let part = match path.read_link() {
            Ok(target) => PathEntry::Link(target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => PathEntry::Missing,
            // A name that is too long for the kernel does not exist, and neither does anything below a file.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidFilename | io::ErrorKind::NotADirectory) =>
            {
                PathEntry::Missing
            }
            Err(_) => PathEntry::Plain,
        };
        if is_folder {
            self.0.borrow_mut().insert(path.as_os_str().to_owned(), part.clone());
        }
        part
    }
}

/// Where a path really leads.
#[must_use]
pub fn real_path(path: &Path) -> PathBuf {
    Links::default().real_path(path)
}

/// The path relative to the root, in any notation: with `..`, links, absolute or relative to `cwd`. `None` outside the root.
#[must_use]
pub fn relative(root: &Path, cwd: &Path, path: &str) -> Option<String> {
    let links = Links::default();
    let real = links.real_path(&cwd.join(path));
    let inside = real.strip_prefix(links.real_path(root)).ok()?;
    Some(inside.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use test_support::cases;

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

    #[test]
    fn a_long_path_takes_no_longer_than_its_length() {
        let long = "a/".repeat(500_000);
        let path = Path::new("/nowhere").join(&long);
        assert_eq!(real_path(&path), normalise(&path));
        let up = Path::new("/nowhere").join(format!("{long}{}b", "../".repeat(500_000)));
        assert_eq!(Links::default().walked_path(&up), Path::new("/nowhere/b"));
    }

    #[test]
    fn what_is_above_the_root_is_the_root_and_what_is_above_here_stays_so() {
        for (path, expected) in
            [("/../etc/./x", "/etc/x"), ("../../a", "../../a"), ("a/../../b", "../b"), ("/a//b/../", "/a")]
        {
            assert_eq!(normalise(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn normalising_twice_changes_nothing_and_spelling_does_not_change_where_a_path_leads() {
        let parts = proptest::collection::vec("(\\.|\\.\\.|a|b| |é)", 1..8);
        let config =
            ProptestConfig { cases: cases(400, 8_000), failure_persistence: None, ..Default::default() };
        proptest!(config, |(parts in parts, start in "(/{0,2}|\\./|\\.\\./)")| {
            let root = Path::new("/nowhere/project");
            let plain = relative(root, root, &parts.join("/"));
            let noisy = relative(root, root, &format!("./{}", parts.join("//./")));
            let absolute = relative(root, Path::new("/elsewhere"), &format!("/nowhere/project/{}", parts.join("/")));
            prop_assert_eq!(&plain, &noisy);
            prop_assert_eq!(plain, absolute);
            let once = normalise(Path::new(&format!("{start}{}", parts.join("/"))));
            prop_assert_eq!(&normalise(&once), &once);
            prop_assert_eq!(real_path(&once), real_path(&real_path(&once)));
        });
    }
}
