//! Which files of a work tree a command of git changes that names none.

use crate::{Access, SimpleCommand};

/// Kinds of files, as git tells them apart.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Extent {
    pub tracked: bool,
    /// Without the ignored ones.
    pub untracked: bool,
    pub ignored: bool,
}

impl Default for Extent {
    /// All files.
    fn default() -> Extent {
        Extent { tracked: true, untracked: true, ignored: true }
    }
}

impl Extent {
    pub fn of(command: &SimpleCommand, access: Access) -> Extent {
        let is_git = command.words.first().is_some_and(|word| word.rsplit('/').next() == Some("git"));
        // What is not known may be an option, and other programs get any file that is listed for them.
        if !is_git || !command.unknown.is_empty() {
            return Extent::default();
        }
        let has = |short: char, long: &str| {
            command.words.iter().any(|word| match word.strip_prefix("--") {
                Some(name) => name.len() > 1 && long.starts_with(name),
                None => word.strip_prefix('-').is_some_and(|flags| flags.contains(short)),
            })
        };
        let is_clean = access == Access::Delete;
        let is_stash = command.words.iter().any(|word| word == "stash");
        if is_clean && has('X', "") {
            Extent { tracked: false, untracked: false, ignored: true }
        } else if is_clean {
            Extent { tracked: false, untracked: true, ignored: has('x', "") }
        } else if is_stash && has('a', "all") {
            Extent::default()
        } else {
            let untracked = is_stash && has('u', "include-untracked");
            Extent { tracked: true, untracked, ignored: false }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use crate::read;

    #[test]
    fn a_command_changes_the_files_that_git_says_it_does() {
        for (command, expected) in [
            ("git stash", "tracked"),
            ("git stash push -m untracked", "tracked"),
            ("git stash -u", "tracked untracked"),
            ("git stash push --include-untr", "tracked untracked"),
            ("git stash --all", "tracked untracked ignored"),
            ("git stash $X", "tracked untracked ignored"),
            ("git reset --hard", "tracked"),
            ("git checkout .", "tracked"),
            ("git restore .", "tracked"),
            ("git clean -fd", "untracked"),
            ("git clean -fdx", "untracked ignored"),
            ("git clean -ffdX", "ignored"),
            ("/usr/bin/git -C x stash", "tracked"),
            ("git ls-files | xargs sed -i s/a/b/", "tracked untracked ignored"),
        ] {
            let script = read(command, None);
            let effect = script.effects.iter().find(|effect| effect.target == Target::WorkTree).unwrap();
            let found = Extent::of(&script.commands[effect.command], effect.access);
            let named =
                [(found.tracked, "tracked"), (found.untracked, "untracked"), (found.ignored, "ignored")];
            let named: Vec<&str> = named.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
            assert_eq!(named.join(" "), expected, "{command}");
        }
    }
}
