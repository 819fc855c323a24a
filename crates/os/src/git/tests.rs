mod hidden_writes;

use std::process::Command;

use super::file::Stamp;
use super::index::name_of;
use super::*;

struct TestRepository(tempfile::TempDir);

impl TestRepository {
    fn new() -> Self {
        let repository = TestRepository(tempfile::tempdir().unwrap());
        repository.git(&["init", "-q"]);
        // The developer's own ignore rules, which we would read, must not count.
        repository.git(&["config", "core.excludesFile", ""]);
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut git = Command::new("git");
        // Without the developer's hooks, signatures and rules.
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let status = git.args(identity).args(arguments).current_dir(self.path()).status().unwrap();
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
    Snapshot::take(work, before, &Budget::unlimited()).unwrap().unwrap()
}

fn changed(baseline: &Snapshot, work: &Path) -> Vec<String> {
    baseline
        .changed_until(&take(work, Some(baseline)), work, &Budget::unlimited())
        .unwrap()
        .into_iter()
        .collect()
}

#[test]
fn changes_are_found_over_commits_staged_unstaged_and_untracked() {
    let repository = TestRepository::new();
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
    let repository = TestRepository::new();
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
    let repository = TestRepository::new();
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
    let repository = TestRepository::new();
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
    let repository = TestRepository::new();
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
    assert_eq!(Snapshot::take(folder.path(), None, &Budget::unlimited()).unwrap(), None);
    let repository = TestRepository::new();
    let lost = Snapshot { head: Some("1".repeat(40)), ..Snapshot::default() };
    let error =
        lost.changed_until(&repository.baseline(), repository.path(), &Budget::unlimited()).unwrap_err();
    assert_eq!(error.to_string(), format!("git diff-tree: bad object {}", "1".repeat(40)));
}

#[test]
fn a_worktree_is_a_repository_of_its_own() {
    let repository = TestRepository::new();
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
    assert_eq!(Snapshot::take(folder.path(), None, &Budget::unlimited()).unwrap(), None);
    let repository = TestRepository::new();
    let inside = repository.path().join(".git");
    assert_eq!(
        Snapshot::take(&inside, None, &Budget::unlimited()).unwrap(),
        None,
        "git's own directory is no work tree"
    );
}

#[test]
fn what_was_only_staged_before_and_after_does_not_count() {
    let repository = TestRepository::new();
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
fn an_index_that_is_not_understood_is_listed_by_git() {
    let repository = TestRepository::new();
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
    let error = Snapshot::take(repository.path(), Some(&baseline), &Budget::unlimited()).unwrap_err();
    let error = error.to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.starts_with("git ls-files: "), "{error}");
}

#[test]
fn a_large_index_with_a_wrong_checksum_is_not_read() {
    let repository = TestRepository::new();
    let id = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    let line = |n: usize| format!("100644 {id} 0\t{}/{n}\n", "long".repeat(30));
    let mut git = Command::new("git")
        .current_dir(repository.path())
        .args(["update-index", "--index-info"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = (0..10_000).map(line).collect();
    std::io::Write::write_all(&mut git.stdin.take().unwrap(), lines.as_bytes()).unwrap();
    assert!(git.wait().unwrap().success());
    let mut index = std::fs::read(repository.path().join(".git/index")).unwrap();
    assert!(index.len() > 1 << 20, "{}", index.len());
    assert_eq!(index::parse(&index).unwrap().len(), 10_000);
    *index.last_mut().unwrap() ^= 1;
    assert_eq!(index::parse(&index), None);
}

#[test]
fn objects_and_branches_in_other_formats_are_understood() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let repository = TestRepository(tempfile::tempdir().unwrap());
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
    let repository = TestRepository::new();
    repository.write("a", "1");
    repository.commit();
    let baseline = repository.baseline();
    repository.git(&["pack-refs", "--all"]);
    assert_eq!(repository.baseline().head, baseline.head);
    repository.git(&["checkout", "-q", "--detach"]);
    assert_eq!(repository.baseline().head, baseline.head);
}

#[test]
fn a_file_that_was_rewritten_with_the_same_content_did_not_change() {
    let repository = TestRepository::new();
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
        (file.content, file.clean, file.stamp) = (None, true, Some(Stamp::from((1, 1, 1))));
    }
    assert_eq!(repository.changed(&baseline), Vec::<String>::new());
    repository.write("raw", "2\n");
    repository.write("crlf", "1\r\n3\r\n");
    assert_eq!(repository.changed(&baseline), ["crlf", "raw"]);
}

#[cfg(unix)]
#[test]
fn an_old_file_is_compared_by_what_no_program_can_set() {
    let repository = TestRepository::new();
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
fn names_that_are_not_utf8_stay_different() {
    use std::os::unix::ffi::OsStrExt;
    let repository = TestRepository::new();
    let path = |byte: u8| repository.path().join(std::ffi::OsStr::from_bytes(&[b'a', byte]));
    std::fs::write(path(0xfe), "1").unwrap();
    let baseline = repository.baseline();
    std::fs::write(path(0xff), "1").unwrap();
    assert_eq!(repository.changed(&baseline), ["a\u{fffd}#61ff"]);
}
