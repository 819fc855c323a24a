//! What the effects of a shell command depend on outside of its text: variables, files, archives, work trees, go's settings.

use std::path::{Path, PathBuf};

use super::search::expand;
use crate::paths::normalise;
use conclaude_os::budget::Budget;
use conclaude_os::{archives, environment, files, git};
use conclaude_store::root::git_top_level;
use shell_effects::Environment;

/// The limit on files of a pattern that are compared one by one.
const MAX_MATCHED: usize = 64;

/// Longer patches are not read.
const MAX_PATCH: u64 = 4 << 20;

/// No file with settings of go is larger.
const MAX_GO_SETTINGS: u64 = 1 << 16;

/// The environment of a shell command that starts in this directory.
pub(super) struct ShellEnvironment<'a> {
    pub(super) cwd: &'a Path,
    pub(super) budget: &'a Budget,
}

impl Environment for ShellEnvironment<'_> {
    fn is_out_of_time(&self) -> bool {
        self.budget.is_over()
    }

    fn variable(&self, name: &str) -> Option<String> {
        text(environment::path(name)?)
    }

    fn text(&self, path: &str) -> Option<String> {
        files::read_text(&self.cwd.join(path), MAX_PATCH).ok()
    }

    fn tar_members(&self, archive: &str) -> Option<Vec<String>> {
        archives::tar_members(&self.cwd.join(archive), &Budget::of_hook())
    }

    fn zip_members(&self, archive: &str) -> Option<Vec<String>> {
        archives::zip_members(&self.cwd.join(archive))
    }

    fn go_setting(&self, name: &str) -> Option<String> {
        // `GOPATH` may be a list. Go downloads modules into its first directory.
        let path = match go_value("GOPATH") {
            Some(list) => std::env::split_paths(&list).next()?,
            None => Path::new(&files::home()?).join("go"),
        };
        let found = match name {
            "GOMODCACHE" => go_value(name).unwrap_or_else(|| path.join("pkg/mod")),
            _ => path,
        };
        if found.is_absolute() { text(found) } else { None }
    }

    fn is_set(&self, name: &str) -> Option<bool> {
        Some(environment::is_set(name))
    }

    fn is_there(&self, path: &str) -> Option<bool> {
        Some(self.cwd.join(path).symlink_metadata().is_ok())
    }

    fn is_file(&self, path: &str) -> Option<bool> {
        Some(self.cwd.join(path).symlink_metadata().is_ok_and(|file| file.is_file()))
    }

    fn has_directory(&self, pattern: &str) -> Option<bool> {
        let found = expand(self.cwd, pattern, &Budget::of_hook())?;
        Some(found.iter().any(|path| path.is_dir()))
    }

    fn matched(&self, pattern: &str) -> Option<Vec<String>> {
        let found = expand(self.cwd, pattern, &Budget::of_hook())?;
        if found.len() > MAX_MATCHED { None } else { found.into_iter().map(text).collect() }
    }

    fn directory(&self, path: &str) -> Option<String> {
        text(normalise(&self.cwd.join(path)))
    }

    fn top_level(&self, path: &str) -> Option<String> {
        text(git_top_level(&normalise(&self.cwd.join(path)))?.to_owned())
    }

    fn common_directory(&self, path: &str) -> Option<String> {
        text(git::common_directory(&normalise(&self.cwd.join(path)))?)
    }
}

/// The value of a setting of go: from the environment, or else as `go env -w` wrote it.
fn go_value(name: &str) -> Option<PathBuf> {
    let own = environment::os_value(name).map(PathBuf::from);
    let written = || {
        let settings = go_settings()?;
        let value = settings.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(PathBuf::from(value))
    };
    own.or_else(written).filter(|path| !path.as_os_str().is_empty())
}

/// The text of the file with the user's settings of go.
fn go_settings() -> Option<String> {
    let named = environment::os_value("GOENV").map(PathBuf::from);
    let config = || Some(environment::config_folder()?.join("go/env"));
    files::read_text(&named.or_else(config)?, MAX_GO_SETTINGS).ok()
}

/// A path that is valid UTF-8.
fn text(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok()
}
