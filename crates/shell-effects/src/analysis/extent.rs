//! Which files a git command changes in a work tree if it names none.

/// Kinds of files, as git tells them apart.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Extent {
    pub tracked: bool,
    /// Without the ignored ones.
    pub untracked: bool,
    pub ignored: bool,
    /// Among the tracked files, only those that differ from the last commit.
    pub only_changed: bool,
    /// Whether tracked files count as untracked: the index was changed before.
    pub untracks: bool,
}

impl Default for Extent {
    /// All files.
    fn default() -> Extent {
        Extent { tracked: true, untracked: true, ignored: true, only_changed: false, untracks: false }
    }
}

impl Extent {
    pub(crate) const TRACKED: Extent =
        Extent { tracked: true, untracked: false, ignored: false, only_changed: false, untracks: false };
}

#[cfg(test)]
mod tests {
    use crate::Target;
    use crate::read;

    #[test]
    fn a_command_changes_the_files_that_git_says_it_does() {
        for (command, expected) in [
            ("git stash", "tracked changed"),
            ("git stash push -m untracked", "tracked changed"),
            ("git stash -u", "tracked untracked changed"),
            ("git stash push --include-untr", "tracked untracked changed"),
            ("git stash --all", "tracked untracked ignored changed"),
            ("git stash $X", "tracked untracked ignored"),
            ("git reset --hard", "tracked"),
            ("git checkout .", "tracked"),
            ("git restore .", "tracked"),
            ("git clean -fd", "untracked"),
            ("git clean -fdx", "untracked ignored"),
            ("git clean -ffdX", "ignored"),
            ("git clean -fd -e X", "untracked"),
            ("/usr/bin/git -C x stash", "tracked changed"),
            ("git ls-files | xargs sed -i s/a/b/", "tracked untracked ignored"),
            ("git read-tree --empty; git clean -fd", "tracked untracked untracks"),
            ("git reset HEAD~1; git stash -u", "tracked untracked untracks"),
            ("git reset --hard HEAD~1; git stash -u", "tracked untracked changed"),
            ("git reset; git clean -fd", "untracked"),
            ("git reset HEAD~1; git stash", "tracked changed"),
            ("rm .git/index; git clean -fdx", "tracked untracked ignored untracks"),
            ("GIT_INDEX_FILE=x git clean -fd", "tracked untracked untracks"),
            ("export GIT_INDEX_FILE=x; git clean -fd", "tracked untracked untracks"),
        ] {
            let script = read(command, None);
            let effect = script.effects.iter().rfind(|effect| effect.target == Target::WorkTree).unwrap();
            let found = script.commands[effect.command].extent;
            let named = [
                (found.tracked, "tracked"),
                (found.untracked, "untracked"),
                (found.ignored, "ignored"),
                (found.only_changed, "changed"),
                (found.untracks, "untracks"),
            ];
            let named: Vec<&str> = named.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
            assert_eq!(named.join(" "), expected, "{command}");
        }
    }
}
