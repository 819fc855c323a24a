//! How often a call starts git.

use std::path::PathBuf;

use super::{Outcome, Test, program};

fn log(root: PathBuf) -> PathBuf {
    root.join(".state-home/git-calls")
}

impl Test {
    /// Puts a `git` first on PATH that counts its starts.
    pub(crate) fn counting_git(self) -> Test {
        let folder = self.root().join(".state-home/bin");
        let log = log(self.root());
        let script =
            format!("#!/bin/sh\necho \"$*\" >> {}\nPATH=${{PATH#*:}} exec git \"$@\"\n", log.display());
        program::script(folder.join("git"), script);
        self.env("PATH", &format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()))
    }

    /// What the test itself started does not count.
    pub(crate) fn forget_git_calls(&self) {
        let _ = std::fs::remove_file(log(self.root()));
    }
}

impl Outcome {
    /// How often git was started since this was last asked for.
    pub(crate) fn git_calls(&self) -> usize {
        let calls = std::fs::read_to_string(log(self.root())).unwrap_or_default();
        let _ = std::fs::remove_file(log(self.root()));
        calls.lines().count()
    }
}
