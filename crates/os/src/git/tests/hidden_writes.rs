//! Ways to hide a write from git.

use super::*;

#[test]
fn what_git_is_configured_not_to_look_at_is_seen_in_every_version_of_the_index() {
    for version in ["2", "3", "4"] {
        for flag in ["--assume-unchanged", "--skip-worktree"] {
            let repository = TestRepository::new();
            for name in ["a", "b", "packages/long-name-of-a-file", "packages/y", "packages/z"] {
                repository.write(name, "1");
            }
            repository.commit();
            let extent = Extent {
                tracked: true,
                untracked: false,
                ignored: false,
                only_changed: false,
                untracks: false,
            };
            let tracked = files_of(repository.path(), extent, &Budget::unlimited()).unwrap().unwrap();
            assert!(tracked.is_sorted(), "{tracked:?}");
            repository.git(&["update-index", "--index-version", version]);
            let index = std::fs::read(repository.path().join(".git/index")).unwrap();
            let entries = index::parse(&index).unwrap();
            let mut names: Vec<String> = entries.iter().map(|(name, _)| name_of(name).into_owned()).collect();
            names.sort();
            assert_eq!(names, ["a", "b", "packages/long-name-of-a-file", "packages/y", "packages/z"]);
            let baseline = repository.baseline();
            repository.git(&["update-index", flag, "packages/y", "packages/z"]);
            assert_eq!(repository.changed(&baseline), Vec::<String>::new(), "{version} {flag}");
            repository.write("packages/z", "2");
            std::fs::remove_file(repository.path().join("packages/y")).unwrap();
            assert_eq!(repository.changed(&baseline), ["packages/y", "packages/z"], "{version} {flag}");
        }
    }
}

#[test]
fn rules_outside_of_the_tree_hide_what_they_hid_at_the_call() {
    let repository = TestRepository::new();
    repository.write("a", "1");
    repository.commit();
    repository.git(&["init", "-q", "nested"]);
    repository.write(".git/info/exclude", "/top\n.idea/\n");
    repository.write("nested/.git/info/exclude", "/inner\n");
    repository.write(".git/rules", "*.swp\n");
    repository.git(&["config", "core.excludesFile", ".git/rules"]);
    let baseline = repository.baseline();
    for hidden in ["top", ".idea/x", "nested/.idea/x", "nested/inner", "deep/er/a.swp", "nested/a.swp"] {
        repository.write(hidden, "2");
    }
    assert_eq!(repository.changed(&baseline), Vec::<String>::new());
    repository.write(".git/rules", "*\n");
    repository.write("nested/.git/info/exclude", "*\n");
    repository.git(&["init", "-q", "made"]);
    repository.write("made/.git/info/exclude", "*\n");
    for seen in ["inner", "nested/top", "made/x"] {
        repository.write(seen, "2");
    }
    let changed = repository.changed(&baseline);
    for seen in ["inner", "nested/top", "made/x", "nested/.git/info/exclude"] {
        assert!(changed.iter().any(|path| path == seen), "{seen}: {changed:?}");
    }
    assert!(!changed.iter().any(|path| path == "top"), "{changed:?}");
}

#[test]
fn only_rules_of_the_tree_as_they_were_hide_files() {
    let repository = TestRepository::new();
    repository.write(".gitignore", "/target/\n*.log\n!keep.log\n");
    repository.write("web/.gitignore", "dist\n");
    repository.write("a", "1");
    repository.write("target/forced", "1");
    repository.git(&["add", "-f", "target/forced"]);
    repository.commit();
    let baseline = repository.baseline();
    for hidden in ["target/x", "target/deep/er", "x.log", "web/y.log", "web/dist/bundle"] {
        repository.write(hidden, "2");
    }
    assert_eq!(repository.changed(&baseline), Vec::<String>::new());
    repository.write(".gitignore", "*\n");
    repository.write("web/new/.gitignore", "*\n");
    for seen in ["keep.log", "dist", "web/new/x", "target/forced"] {
        repository.write(seen, "2");
    }
    std::fs::remove_file(repository.path().join("web/.gitignore")).unwrap();
    let seen = [
        ".gitignore",
        "dist",
        "keep.log",
        "target/forced",
        "web/.gitignore",
        "web/new/.gitignore",
        "web/new/x",
    ];
    assert_eq!(repository.changed(&baseline), seen);
    repository.write("target/staged", "2");
    repository.git(&["add", "-f", "target/staged"]);
    assert!(
        repository.changed(&baseline).contains(&"target/staged".to_owned()),
        "hidden, but to be committed"
    );
}

#[cfg(unix)]
#[test]
fn a_folder_laid_out_like_a_bare_repository_is_not_used_as_one() {
    let repository = TestRepository::new();
    repository.write("a", "1");
    let ran = repository.path().join(".git/ran");
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"touch {}; false\"\n",
        ran.display()
    );
    for (name, content) in
        [("HEAD", "ref: refs/heads/main\n"), ("config", config.as_str()), ("objects/x", ""), ("refs/x", "")]
    {
        repository.write(&format!("inner/{name}"), content);
    }
    let work = repository.path().join("inner");
    let baseline = take(&work, None);
    std::fs::write(work.join("new"), "1").unwrap();
    repository.write("a", "2");
    assert_eq!(changed(&baseline, &work), ["../a", "new"]);
    assert!(!ran.exists());
    let status =
        Command::new("git").args(["-c", "safe.bareRepository=all", "status"]).current_dir(&work).output();
    assert!(status.is_ok() && ran.exists(), "git itself uses it");
}

#[cfg(unix)]
#[test]
fn further_ways_to_hide_a_write_are_seen() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    type Way = (&'static str, fn(&TestRepository), &'static [&'static str]);
    let ways: [Way; 9] = [
        (
            "through a hard link in an ignored folder",
            |repository| {
                repository.write("target/y", "");
                std::fs::remove_file(repository.path().join("target/y")).unwrap();
                let (from, to) = (repository.path().join("lib/x"), repository.path().join("target/y"));
                std::fs::hard_link(from, to).unwrap();
                repository.write("target/y", "2");
            },
            &["lib/x"],
        ),
        (
            "in a folder that only looks like a repository",
            |repository| repository.write("lib/.git/evil", "2"),
            &["lib/.git/evil"],
        ),
        (
            "in a folder that nobody may read",
            |repository| {
                repository.write("new/evil", "2");
                let mode = std::fs::Permissions::from_mode(0o000);
                std::fs::set_permissions(repository.path().join("new"), mode).unwrap();
            },
            // Root may read it anyway.
            if rustix::process::geteuid().is_root() { &["new/evil"] } else { &["new/"] },
        ),
        (
            "in the place of a folder",
            |repository| {
                std::fs::remove_dir_all(repository.path().join("lib")).unwrap();
                symlink("/tmp", repository.path().join("lib")).unwrap();
            },
            &["lib", "lib/x"],
        ),
        (
            "with a replaced commit",
            |repository| {
                repository.write("lib/x", "2");
                repository.commit();
                repository.git(&["replace", "HEAD~1", "HEAD"]);
                repository.write("lib/x", "1");
            },
            &["lib/x"],
        ),
        (
            "with another work tree",
            |repository| {
                repository.git(&["config", "core.worktree", "/tmp"]);
                repository.write("lib/x", "2");
            },
            &[".git/config", "lib/x"],
        ),
        (
            "in a repository that claims to be bare",
            |repository| {
                repository.git(&["config", "core.bare", "true"]);
                repository.write("lib/x", "2");
            },
            &[".git/config", "lib/x"],
        ),
        (
            "as an executable",
            |repository| {
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(repository.path().join("lib/x"), mode).unwrap();
            },
            &["lib/x"],
        ),
        (
            "in a FIFO",
            |repository| {
                let path = repository.path().join("lib/fifo");
                assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
            },
            &["lib/fifo"],
        ),
    ];
    for (way, hide, expected) in ways {
        let repository = TestRepository::new();
        repository.write(".gitignore", "/target/\n");
        repository.write("lib/x", "1");
        repository.commit();
        let baseline = repository.baseline();
        hide(&repository);
        let changed = repository.changed(&baseline);
        let mode = PermissionsExt::from_mode(0o755);
        let _ = std::fs::set_permissions(repository.path().join("new"), mode);
        assert_eq!(changed, expected, "{way}");
    }
}

#[test]
fn a_repository_that_was_made_inside_the_project_does_not_take_its_place() {
    let repository = TestRepository::new();
    repository.write("web/a", "1");
    repository.commit();
    let work = repository.path().join("web");
    let baseline = take(&work, None);
    repository.write("root", "2");
    repository.git(&["init", "-q", "web"]);
    let now = take(&work, Some(&baseline));
    assert_eq!(baseline.changed_until(&now, &work, &Budget::unlimited()), Err(GitError::Gone));
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_deeper_than_paths_can_be_is_seen() {
    let repository = TestRepository::new();
    let baseline = repository.baseline();
    let half = vec!["d".repeat(200); 15].join("/");
    std::fs::create_dir_all(repository.path().join(&half)).unwrap();
    repository.write(&format!("new/{half}/evil"), "2");
    std::fs::rename(repository.path().join("new"), repository.path().join(&half).join("new")).unwrap();
    let changed = repository.changed(&baseline);
    assert_eq!(changed.len(), 1, "{changed:?}");
}
