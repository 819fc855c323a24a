//! Which paths are not for agents to write: our own config and state, and Claude Code's settings.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::paths::{Links, normalise};
use crate::root::claude_folder;
use crate::text::is_invisible;

const CONFIG_NAMES: [&str; 3] = [".conclaude.yaml", ".conclaude.yml", ".conclaude.local.yaml"];

/// Claude Code's settings files, by their usual names.
const SETTINGS: [&str; 2] = ["settings.json", "settings.local.json"];

/// What is protected in a project.
const OF_PROJECT: [&str; 6] = [
    CONFIG_NAMES[0],
    CONFIG_NAMES[1],
    CONFIG_NAMES[2],
    ".conclaude",
    ".claude/settings.json",
    ".claude/settings.local.json",
];

/// Whether this is the name of a config file.
#[must_use]
pub(crate) fn is_config_name(name: &OsStr) -> bool {
    CONFIG_NAMES.contains(&folded(&name.to_string_lossy()).as_str())
}

/// What no gated agent may write: our own config and state, and Claude Code's settings.
#[must_use]
pub(crate) fn is_protected(path: &str) -> bool {
    let path = folded(path);
    path.strip_prefix(".claude/").is_some_and(is_settings)
        || CONFIG_NAMES.contains(&path.as_str())
        || path == ".conclaude"
        || path.starts_with(".conclaude/")
}

/// Whether this is a settings file in a folder of Claude Code's.
fn is_settings(name: &str) -> bool {
    !name.contains('/') && name.starts_with("settings") && name.ends_with(".json")
}

/// A path as file systems compare it that ignore case; some ignore characters without width as well.
fn folded(path: &str) -> String {
    if path.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return path.to_ascii_lowercase();
    }
    let seen = path.chars().filter(|c| !is_invisible(*c));
    // By way of upper case: the long s and the Kelvin sign are another letter only there.
    seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn folded_path(path: &Path) -> PathBuf {
    PathBuf::from(folded(&path.to_string_lossy()))
}

/// What is protected wherever it is: in the project, in an agent's worktree, in the user's home or Claude Code's own folder,
/// or behind a link. Paths in here are folded unless it says otherwise.
#[derive(Debug)]
pub struct Protected {
    bases: Vec<Base>,
    /// These are protected wherever links lead, with all that is in them.
    paths: Vec<PathBuf>,
    /// Single files.
    files: Vec<PathBuf>,
    /// Where all of them are, as the file system knows them.
    on_disk: Vec<PathBuf>,
}

/// A folder in which some paths are protected.
#[derive(Debug)]
struct Base {
    named: PathBuf,
    real: PathBuf,
    protects: fn(&str) -> bool,
}

impl Protected {
    #[must_use]
    pub fn new(root: &Path, work: &Path, links: &Links) -> Protected {
        let base = |folder: &Path, protects| Base {
            named: folded_path(folder),
            real: folded_path(&links.real_path(folder)),
            protects,
        };
        let home = std::env::home_dir();
        let worktree = (work != root).then_some(work);
        let projects: Vec<&Path> = [Some(root), worktree, home.as_deref()].into_iter().flatten().collect();
        let claude = claude_folder();
        let settings = claude.as_deref().map(|folder| base(folder, is_settings));
        let configs = CONFIG_NAMES.iter().map(|name| root.join(name));
        let paths = crate::store::outside().into_iter().chain(crate::load::user_file()).chain(configs);
        let paths: Vec<PathBuf> = paths.map(|path| links.real_path(&path)).collect();
        let in_projects = projects.iter().flat_map(|folder| OF_PROJECT.map(|name| folder.join(name)));
        let in_claude = claude.iter().flat_map(|folder| SETTINGS.map(|name| folder.join(name)));
        Protected {
            on_disk: in_projects.chain(in_claude).chain(paths.iter().cloned()).collect(),
            bases: projects.iter().map(|folder| base(folder, is_protected)).chain(settings).collect(),
            paths: paths.iter().map(|path| folded_path(path)).collect(),
            files: Vec::new(),
        }
    }

    /// With what the config extends, and its copies in a worktree.
    #[must_use]
    pub fn with(mut self, extended: &[PathBuf], root: &Path, work: &Path) -> Protected {
        for file in extended {
            let file = normalise(file);
            self.files.extend(file.strip_prefix(root).map(|inside| folded_path(&work.join(inside))));
            self.files.push(folded_path(&file));
            self.on_disk.push(file);
        }
        self
    }

    /// Whether one of those that are known exists below a directory. A config of a folder below is not known.
    #[must_use]
    pub(crate) fn is_below(&self, directory: &Path, links: &Links) -> bool {
        let directory = folded_path(directory);
        let is_there = |path: &Path| {
            let is_inside = |path: &Path| folded_path(path).starts_with(&directory);
            (is_inside(path) || is_inside(&links.real_path(path))) && path.symlink_metadata().is_ok()
        };
        self.on_disk.iter().any(|path| is_there(path))
    }

    /// Whether a path is protected, as it is named without `..`, and where it really leads.
    #[must_use]
    pub fn covers(&self, named: &Path, real: &Path) -> bool {
        let (named, real) = (folded_path(named), folded_path(real));
        let is_in = |base: &Base| {
            let rests = [named.strip_prefix(&base.named), real.strip_prefix(&base.real)];
            rests.into_iter().flatten().any(|rest| (base.protects)(&rest.to_string_lossy()))
        };
        // Also one in a folder below: a config that appears there would be another root, with another memory.
        let is_config = |path: &Path| {
            path.file_name().is_some_and(|name| CONFIG_NAMES.iter().any(|config| name == *config))
        };
        is_config(&named)
            || is_config(&real)
            || self.bases.iter().any(is_in)
            || self.paths.iter().any(|path| real.starts_with(path))
            || self.files.iter().any(|file| *file == named || *file == real)
    }
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

    #[test]
    fn a_path_is_folded_as_if_each_character_were() {
        assert_eq!(folded("/A/.Conclaude.YAML"), "/a/.conclaude.yaml");
        assert_eq!(folded("/a/.conclaude\u{200b}.yaml \t"), "/a/.conclaude.yaml ");
        assert_eq!(folded(".\u{212a}e\u{17f}"), ".kes");
    }
}
