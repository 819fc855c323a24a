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
        Snapshot::take(self.path()).unwrap().unwrap()
    }

    fn changed(&self, baseline: &Snapshot) -> Vec<String> {
        baseline.changed_until(&self.baseline(), self.path()).unwrap().into_iter().collect()
    }
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
    repository.write(".claude/worktrees/agent-1/x", "1");
    repository.write("real", "1");
    assert_eq!(repository.changed(&baseline), ["real"]);
}

#[test]
fn a_project_below_the_top_level_names_its_own_paths() {
    let repository = Repository::new();
    let work = repository.path().join("packages/web");
    std::fs::create_dir_all(&work).unwrap();
    repository.write("packages/web/a", "1");
    repository.write("root", "1");
    repository.commit();
    let baseline = Snapshot::take(&work).unwrap().unwrap();
    repository.write("packages/web/a", "2");
    repository.write("root", "2");
    repository.write("packages/web/b", "2");
    repository.write("packages/other", "2");
    let now = Snapshot::take(&work).unwrap().unwrap();
    let changed: Vec<String> = baseline.changed_until(&now, &work).unwrap().into_iter().collect();
    assert_eq!(changed, ["../../root", "a", "b"], "untracked files beside the project are not its own");
}

#[test]
fn without_git_there_is_no_baseline_and_a_lost_commit_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Snapshot::take(folder.path()).unwrap(), None);
    let repository = Repository::new();
    let lost = Snapshot { head: "1".repeat(40), ..Snapshot::default() };
    assert!(lost.changed_until(&repository.baseline(), repository.path()).is_err());
}

#[test]
fn what_was_only_staged_before_and_after_does_not_count() {
    let repository = Repository::new();
    repository.write("a", "1");
    repository.commit();
    repository.write("a", "2");
    repository.git(&["add", "a"]);
    repository.write("a", "1");
    let baseline = repository.baseline();
    assert_eq!(repository.changed(&baseline), Vec::<String>::new());
    let clean = Snapshot { dirty: BTreeMap::new(), ..baseline };
    assert_eq!(repository.changed(&clean), [".git/info/exclude", "a"], "but staging it since then does");
}

#[test]
fn files_that_git_was_told_not_to_look_at_are_noticed_in_every_version_of_the_index() {
    for version in ["2", "3", "4"] {
        for flag in ["--assume-unchanged", "--skip-worktree"] {
            let repository = Repository::new();
            for name in ["a", "b", "packages/long-name-of-a-file", "packages/z"] {
                repository.write(name, "1");
            }
            repository.commit();
            repository.git(&["update-index", "--index-version", version]);
            let baseline = repository.baseline();
            let index = repository.path().join(".git/index");
            assert!(!index::may_hide_files(&index, 20), "{version}: read without a second process");
            repository.git(&["update-index", flag, "packages/z"]);
            repository.write("packages/z", "2");
            assert_eq!(repository.changed(&baseline), ["packages/z"], "{version} {flag}");
        }
    }
}

#[test]
fn an_index_that_is_not_understood_is_taken_to_hide_files() {
    let repository = Repository::new();
    repository.write("a", "1");
    let path = repository.path().join(".git/index");
    assert!(!index::may_hide_files(&path, 20), "there is none yet");
    repository.commit();
    assert!(index::may_hide_files(&path, 32), "ids of another length");
    let whole = std::fs::read(&path).unwrap();
    for length in 0..70 {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(index::may_hide_files(&path, 20), "truncated at {length}");
    }
    std::fs::write(&path, &whole).unwrap();
    repository.git(&["update-index", "--split-index"]);
    assert!(index::may_hide_files(&path, 20), "a split index");
}

#[test]
fn worktrees_and_submodules_are_repositories_of_their_own() {
    let repository = Repository::new();
    repository.write("a", "1");
    repository.commit();
    repository.git(&["worktree", "add", "-q", "tree", "-b", "other"]);
    let work = repository.path().join("tree");
    let before = Snapshot::take(&work).unwrap().unwrap();
    std::fs::write(work.join("a"), "2").unwrap();
    let now = Snapshot::take(&work).unwrap().unwrap();
    let changed: Vec<String> = before.changed_until(&now, &work).unwrap().into_iter().collect();
    assert_eq!(changed, ["a"]);
    assert_eq!(before.head, repository.baseline().head);
}

#[test]
fn what_is_only_named_like_a_repository_is_none() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    assert!(!is_repository(folder.path()));
    assert_eq!(Snapshot::take(folder.path()).unwrap(), None);
    let repository = Repository::new();
    let inside = repository.path().join(".git");
    assert_eq!(Snapshot::take(&inside).unwrap(), None, "git's own directory is no work tree");
}

#[cfg(unix)]
#[test]
fn no_program_of_the_repository_runs() {
    let repository = Repository::new();
    repository.write("a.x", "1");
    repository.write(".gitattributes", "*.x diff=x\n");
    repository.commit();
    let baseline = repository.baseline();
    let spy = format!("touch {}; true", repository.path().join("ran").display());
    for key in ["core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command"] {
        repository.git(&["config", key, &spy]);
    }
    repository.write("a.x", "2");
    repository.git(&["-c", "core.fsmonitor=false", "commit", "-qam", "y"]);
    let _ = std::fs::remove_file(repository.path().join("ran"));
    assert_eq!(repository.changed(&baseline), ["a.x"]);
    assert!(diff_stat(repository.path(), &baseline.head).contains("a.x | 2 +-"));
    assert!(!repository.path().join("ran").exists());
}
