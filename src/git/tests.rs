use std::process::Command;

use super::*;

struct Repository(tempfile::TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Repository(tempfile::tempdir().unwrap());
        repository.git(&["init", "-q"]);
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let status =
            Command::new("git").args(identity).args(arguments).current_dir(self.path()).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x"]);
    }

    fn baseline(&self) -> Snapshot {
        take(self.path(), None)
    }

    fn changed(&self, baseline: &Snapshot) -> Vec<String> {
        changed(baseline, self.path())
    }
}

fn take(work: &Path, before: Option<&Snapshot>) -> Snapshot {
    Snapshot::take(work, before).unwrap().unwrap()
}

fn changed(baseline: &Snapshot, work: &Path) -> Vec<String> {
    baseline.changed_until(&take(work, Some(baseline)), work).unwrap().into_iter().collect()
}

#[test]
fn changes_are_found_over_commits_staged_unstaged_and_untracked() {
    let repository = Repository::new();
    for name in ["committed", "staged", "unstaged", "deleted", "untouched"] {
        repository.write(name, "1");
    }
    repository.commit();
    let baseline = repository.baseline();
    assert_eq!(repository.changed(&baseline), Vec::<String>::new());
    repository.write("committed", "2");
    repository.commit();
    repository.write("staged", "2");
    repository.git(&["add", "staged"]);
    repository.write("unstaged", "2");
    repository.write("new/untracked ü", "2");
    std::fs::remove_file(repository.path().join("deleted")).unwrap();
    repository.write("untouched", "1");
    assert_eq!(
        repository.changed(&baseline),
        ["committed", "deleted", "new/untracked ü", "staged", "unstaged"]
    );
}

#[test]
fn what_was_dirty_before_and_did_not_change_does_not_count() {
    let repository = Repository::new();
    repository.write("a", "1");
    repository.commit();
    repository.write("a", "the user's");
    repository.write("note", "the user's");
    repository.write("gone", "the user's");
    let baseline = repository.baseline();
    assert_eq!(repository.changed(&baseline), Vec::<String>::new());
    repository.commit();
    assert_eq!(repository.changed(&baseline), Vec::<String>::new(), "committing it changes nothing");
    repository.write("note", "the agent's");
    repository.write("a", "1");
    std::fs::remove_file(repository.path().join("gone")).unwrap();
    assert_eq!(repository.changed(&baseline), ["a", "gone", "note"], "reverting it does");
}

#[test]
fn a_commit_that_was_reverted_in_the_work_tree_alone_is_still_seen() {
    let repository = Repository::new();
    repository.write("a", "1");
    repository.commit();
    let baseline = repository.baseline();
    repository.write("a", "2");
    repository.commit();
    repository.write("a", "1");
    assert_eq!(repository.changed(&baseline), ["a"]);
}

#[test]
fn our_own_folder_and_worktrees_never_count() {
    let repository = Repository::new();
    let baseline = repository.baseline();
    repository.write(".conclaude/state/x", "1");
    repository.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    repository.git(&["worktree", "add", "-q", ".claude/worktrees/agent-1"]);
    repository.write(".claude/worktrees/agent-1/x", "1");
    repository.write(".claude/worktrees/not-one/x", "1");
    repository.write("real", "1");
    assert_eq!(repository.changed(&baseline), [".claude/worktrees/not-one/x", "real"]);
}

#[test]
fn a_project_below_the_top_level_names_its_own_paths() {
    let repository = Repository::new();
    let work = repository.path().join("packages/web");
    std::fs::create_dir_all(&work).unwrap();
    repository.write("packages/web/a", "1");
    repository.write("root", "1");
    repository.commit();
    let baseline = take(&work, None);
    repository.write("packages/web/a", "2");
    repository.write("root", "2");
    repository.write("packages/web/b", "2");
    repository.write("packages/other", "2");
    assert_eq!(changed(&baseline, &work), ["../../root", "../other", "a", "b"]);
}

#[test]
fn without_git_there_is_no_baseline_and_a_lost_commit_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Snapshot::take(folder.path(), None).unwrap(), None);
    let repository = Repository::new();
    let lost = Snapshot { head: Some("1".repeat(40)), ..Snapshot::default() };
    let error = lost.changed_until(&repository.baseline(), repository.path()).unwrap_err();
    assert_eq!(error, format!("git diff-tree: bad object {}", "1".repeat(40)));
}

#[test]
fn a_worktree_is_a_repository_of_its_own() {
    let repository = Repository::new();
    repository.write("a", "1");
    repository.commit();
    repository.git(&["worktree", "add", "-q", "tree", "-b", "other"]);
    let work = repository.path().join("tree");
    let before = take(&work, None);
    std::fs::write(work.join("a"), "2").unwrap();
    assert_eq!(changed(&before, &work), ["a"]);
    assert_eq!(before.head, repository.baseline().head);
}

#[test]
fn what_is_only_named_like_a_repository_is_none() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    assert!(!is_repository(folder.path()));
    assert_eq!(Snapshot::take(folder.path(), None).unwrap(), None);
    let repository = Repository::new();
    let inside = repository.path().join(".git");
    assert_eq!(Snapshot::take(&inside, None).unwrap(), None, "git's own directory is no work tree");
}

#[test]
fn what_was_only_staged_before_and_after_does_not_count() {
    let repository = Repository::new();
    repository.write("a", "1");
    repository.commit();
    let clean = repository.baseline();
    repository.write("a", "2");
    repository.git(&["add", "a"]);
    repository.write("a", "1");
    assert_eq!(repository.changed(&repository.baseline()), Vec::<String>::new());
    assert_eq!(repository.changed(&clean), ["a"], "but staging it since then does");
    repository.git(&["add", "a"]);
    assert_eq!(repository.changed(&clean), Vec::<String>::new(), "and staging it back reverts that");
    repository.git(&["rm", "-q", "--cached", "a"]);
    assert_eq!(repository.changed(&clean), ["a"], "taken out of the index");
}

#[test]
fn what_git_was_told_not_to_look_at_is_seen_in_every_version_of_the_index() {
    for version in ["2", "3", "4"] {
        for flag in ["--assume-unchanged", "--skip-worktree"] {
            let repository = Repository::new();
            for name in ["a", "b", "packages/long-name-of-a-file", "packages/y", "packages/z"] {
                repository.write(name, "1");
            }
            repository.commit();
            repository.git(&["update-index", "--index-version", version]);
            let index = std::fs::read(repository.path().join(".git/index")).unwrap();
            let names: Vec<String> = index::parse(&index).unwrap().keys().map(|name| name_of(name)).collect();
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
fn an_index_that_is_not_understood_is_listed_by_git() {
    let repository = Repository::new();
    repository.write("a", "1");
    repository.write("dir/b", "1");
    repository.commit();
    let baseline = repository.baseline();
    let path = repository.path().join(".git/index");
    let whole = std::fs::read(&path).unwrap();
    assert!((0..whole.len()).all(|length| index::parse(&whole[..length]).is_none()), "truncated");
    repository.git(&["update-index", "--split-index"]);
    assert_eq!(index::parse(&std::fs::read(&path).unwrap()), None);
    assert_eq!(repository.changed(&baseline), Vec::<String>::new(), "a split index");
    repository.write("dir/b", "2");
    repository.git(&["add", "dir/b"]);
    repository.write("dir/b", "1");
    assert_eq!(repository.changed(&baseline), ["dir/b"]);
    std::fs::write(&path, &whole[..20]).unwrap();
    let error = Snapshot::take(repository.path(), Some(&baseline)).unwrap_err();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.starts_with("git ls-files: "), "{error}");
}

#[test]
fn objects_and_branches_in_other_formats_are_understood() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let repository = Repository(tempfile::tempdir().unwrap());
        repository.git(&["init", "-q", format]);
        repository.write("a", "1");
        repository.write("b", "1");
        let unborn = repository.baseline();
        repository.commit();
        assert_eq!(repository.changed(&unborn), Vec::<String>::new(), "{format}");
        let baseline = repository.baseline();
        repository.write("a", "2");
        repository.commit();
        repository.write("a", "1");
        assert_eq!(repository.changed(&baseline), ["a"], "{format}");
    }
}

#[test]
fn branches_are_read_from_packed_refs() {
    let repository = Repository::new();
    repository.write("a", "1");
    repository.commit();
    let baseline = repository.baseline();
    repository.git(&["pack-refs", "--all"]);
    assert_eq!(repository.baseline().head, baseline.head);
    repository.git(&["checkout", "-q", "--detach"]);
    assert_eq!(repository.baseline().head, baseline.head);
}

#[test]
fn only_rules_of_the_tree_as_they_were_hide_files() {
    let repository = Repository::new();
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

#[test]
fn a_file_that_was_rewritten_with_the_same_content_did_not_change() {
    let repository = Repository::new();
    repository.write("raw", "1\n");
    repository.write("crlf", "1\n2\n");
    repository.write(".gitattributes", "crlf text eol=crlf\n");
    repository.commit();
    std::fs::remove_file(repository.path().join("crlf")).unwrap();
    repository.git(&["checkout", "-q", "crlf"]);
    assert_eq!(std::fs::read(repository.path().join("crlf")).unwrap(), b"1\r\n2\r\n");
    // As they are long after the checkout: not read, since git has seen them.
    let mut baseline = repository.baseline();
    for name in ["raw", "crlf"] {
        let file = baseline.files.get_mut(name).unwrap();
        (file.content, file.clean, file.stamp) = (None, true, "1.1.1".into());
    }
    assert_eq!(repository.changed(&baseline), Vec::<String>::new());
    repository.write("raw", "2\n");
    repository.write("crlf", "1\r\n3\r\n");
    assert_eq!(repository.changed(&baseline), ["crlf", "raw"]);
}

#[cfg(unix)]
#[test]
fn an_old_file_is_compared_by_what_no_program_can_set() {
    let repository = Repository::new();
    for name in ["a", "b"] {
        repository.write(name, "1");
    }
    repository.commit();
    let metadata = || repository.path().join("b").metadata().unwrap();
    while file::is_fresh(&metadata(), std::time::SystemTime::now()) {
        std::thread::yield_now();
    }
    let baseline = repository.baseline();
    assert!(baseline.files.get("a").unwrap().content.is_none(), "not read");
    let time = metadata().modified().unwrap();
    repository.write("a", "2");
    let file = std::fs::File::options().write(true).open(repository.path().join("a")).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(repository.changed(&baseline), ["a"], "the same size and time");
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_are_told_apart() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::new();
    let path = |byte: u8| repository.path().join(std::ffi::OsStr::from_bytes(&[b'a', byte]));
    std::fs::write(path(0xfe), "1").unwrap();
    let baseline = repository.baseline();
    std::fs::write(path(0xff), "1").unwrap();
    assert_eq!(repository.changed(&baseline), ["a\u{fffd}#61ff"]);
}

#[cfg(unix)]
#[test]
fn a_folder_laid_out_like_a_bare_repository_is_not_used_as_one() {
    let repository = Repository::new();
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
    type Way = (&'static str, fn(&Repository), &'static [&'static str]);
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
            // Root may read it all the same.
            &["new/", "new/evil"],
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
        let repository = Repository::new();
        repository.write(".gitignore", "/target/\n");
        repository.write("lib/x", "1");
        repository.commit();
        let baseline = repository.baseline();
        hide(&repository);
        let changed = repository.changed(&baseline);
        let mode = PermissionsExt::from_mode(0o755);
        let _ = std::fs::set_permissions(repository.path().join("new"), mode);
        assert!(
            !changed.is_empty() && changed.iter().all(|path| expected.contains(&path.as_str())),
            "{way}: {changed:?}"
        );
    }
}

#[test]
fn a_repository_that_was_made_inside_the_project_does_not_take_its_place() {
    let repository = Repository::new();
    repository.write("web/a", "1");
    repository.commit();
    let work = repository.path().join("web");
    let baseline = take(&work, None);
    repository.write("root", "2");
    repository.git(&["init", "-q", "web"]);
    let now = take(&work, Some(&baseline));
    assert_eq!(baseline.changed_until(&now, &work), Err(GONE.to_owned()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_deeper_than_paths_can_be_is_seen() {
    let repository = Repository::new();
    let baseline = repository.baseline();
    let half = vec!["d".repeat(200); 15].join("/");
    std::fs::create_dir_all(repository.path().join(&half)).unwrap();
    repository.write(&format!("new/{half}/evil"), "2");
    std::fs::rename(repository.path().join("new"), repository.path().join(&half).join("new")).unwrap();
    let changed = repository.changed(&baseline);
    assert_eq!(changed.len(), 1, "{changed:?}");
}
