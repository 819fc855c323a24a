//! The paths that agents may not write: our own config and state, and the settings of clients that register us.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::guard::own_commands::NAME;
use crate::paths::{Links, normalise};
use conclaude_core::config::{CONFIG_FILES, LOCAL_CONFIG_FILE};
use conclaude_core::dialect;
use conclaude_core::dialect::claude::layout::FOLDER;
use conclaude_core::text::is_invisible;
use conclaude_os::environment;
use conclaude_store::root::{claude_folder, client_folder};
use shell_effects::glob::{Glob, GlobKind};

const CONFIG_NAMES: [&str; 3] = {
    let [preferred, other] = CONFIG_FILES;
    [preferred, other, LOCAL_CONFIG_FILE]
};

/// Whether this is the name of a config file.
#[must_use]
pub fn is_config_name(name: &OsStr) -> bool {
    CONFIG_NAMES.contains(&folded(&name.to_string_lossy()).as_str())
}

/// Whether no gated agent may write this path. It is relative to the root.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    let path = folded(path);
    path.strip_prefix(".claude/").is_some_and(is_settings)
        || CONFIG_NAMES.contains(&path.as_str())
        || path == ".conclaude"
        || path.starts_with(".conclaude/")
        || is_of_program(&path)
        || dialect::ALL.iter().any(|client| client.settings.has(&path))
}

/// Whether a path belongs to the program that hooks run, in packages of a project: npm's, pnpm's, or Python's.
fn is_of_program(path: &str) -> bool {
    let is_under = |rest: &str, name: &str| {
        rest.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_package = |rest: &str| {
        let of_npm = |rest: &str| is_under(rest, "conclaude") || is_under(rest, "@conclaude");
        let of_pnpm = |rest: &str| rest.starts_with("conclaude@") || rest.starts_with("@conclaude+");
        let pnpm = rest.strip_prefix(".pnpm/");
        of_npm(rest)
            || pnpm
                .is_some_and(|rest| of_pnpm(rest) || rest.strip_prefix("node_modules/").is_some_and(of_npm))
    };
    let inside = |folder: &'static str| {
        path.match_indices(folder).filter_map(move |(at, _)| {
            let is_whole = at == 0 || path.as_bytes().get(at - 1) == Some(&b'/');
            if is_whole { path.get(at + folder.len()..) } else { None }
        })
    };
    inside("node_modules/").any(is_package) || inside(".venv/bin/").any(|rest| rest == "conclaude")
}

/// The folders of packages with the program. Deleting them, or a directory above them, deletes it.
const PACKAGES: [&str; 3] = ["node_modules/conclaude", "node_modules/@conclaude", ".venv/bin/conclaude"];

/// The settings of all clients, relative to a project's root or to the user's home.
fn client_files() -> impl Iterator<Item = PathBuf> {
    dialect::ALL.into_iter().flat_map(|client| client.settings.files())
}

/// The user's settings in folders that a variable names. Otherwise they are in the home directory.
fn moved_files() -> impl Iterator<Item = PathBuf> {
    let moved = dialect::ALL
        .into_iter()
        .filter(|client| client.settings.user.variable.is_some_and(environment::is_set));
    moved.flat_map(|client| {
        let folder = client_folder(client);
        client.settings.user_files().filter_map(move |file| folder.as_ref().map(|folder| folder.join(file)))
    })
}

/// The running program, and the program that a registration by name starts: without it no rule applies. Programs in packages of a
/// project are found by their paths.
fn programs() -> impl Iterator<Item = PathBuf> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let named = environment::program(NAME);
    own.into_iter().chain(named)
}

/// Whether this is a settings file in a folder of Claude Code.
fn is_settings(name: &str) -> bool {
    !name.contains('/') && name.starts_with("settings") && name.ends_with(".json")
}

/// A path as case-insensitive file systems compare it. Some of them also ignore characters without width.
fn folded(path: &str) -> String {
    if path.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return path.to_ascii_lowercase();
    }
    let visible = path.chars().filter(|c| !is_invisible(*c));
    // Via upper case, which also maps the long s and the Kelvin sign.
    visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn folded_path(path: &Path) -> PathBuf {
    PathBuf::from(folded(&path.to_string_lossy()))
}

/// The protected paths in the project, in an agent's worktree, in the user's home and in Claude Code's own folder, even if they
/// are reached through a link. Paths are case-folded unless noted otherwise.
#[derive(Debug)]
pub struct ProtectedPaths {
    bases: Vec<ProtectedFolder>,
    /// Files and folders with everything in them, compared after following links.
    paths: Vec<PathBuf>,
    /// Single files.
    files: Vec<PathBuf>,
    /// `paths` and `files` as the file system knows them.
    on_disk: Vec<PathBuf>,
}

/// A folder in which some paths are protected.
#[derive(Debug)]
struct ProtectedFolder {
    /// As the file system knows it.
    folder: PathBuf,
    named: PathBuf,
    real: PathBuf,
    protects: fn(&str) -> bool,
}

impl ProtectedPaths {
    #[must_use]
    pub fn new(root: &Path, work: &Path, links: &Links) -> ProtectedPaths {
        let base = |folder: &Path, protects| ProtectedFolder {
            folder: folder.to_owned(),
            named: folded_path(folder),
            real: folded_path(&links.real_path(folder)),
            protects,
        };
        let home = environment::home();
        let worktree = if work == root { None } else { Some(work) };
        let projects = [Some(root), worktree, home.as_deref()].into_iter().flatten();
        let settings = claude_folder().map(|folder| base(&folder, is_settings));
        let configs = CONFIG_NAMES.iter().map(|name| root.join(name));
        let paths = conclaude_store::store::user_state_folder()
            .into_iter()
            .chain(conclaude_store::load::user_file())
            .chain(configs)
            .chain(moved_files());
        let mut on_disk: Vec<PathBuf> = paths.map(|path| links.real_path(&path)).collect();
        let paths = on_disk.iter().map(|path| folded_path(path)).collect();
        let programs: Vec<PathBuf> = programs().filter(|path| !path.starts_with(root)).collect();
        let files = programs.iter().map(|path| folded_path(path)).collect();
        on_disk.extend(programs);
        ProtectedPaths {
            bases: projects.map(|folder| base(folder, is_protected)).chain(settings).collect(),
            paths,
            files,
            on_disk,
        }
    }

    /// Adds the files that the config extends, and their copies in a worktree.
    #[must_use]
    pub fn with(mut self, extended: &[PathBuf], root: &Path, work: &Path) -> ProtectedPaths {
        for file in extended {
            let file = normalise(file);
            let copy = file.strip_prefix(root).map(|inside| work.join(inside)).ok();
            for file in copy.into_iter().chain([file]) {
                self.files.push(folded_path(&file));
                self.on_disk.push(file);
            }
        }
        self
    }

    /// Whether a known protected path exists below a directory. Configs of folders below are not known.
    #[must_use]
    pub fn is_below(&self, directory: &Path, links: &Links) -> bool {
        let directory = folded_path(directory);
        let is_inside = |path: &Path| {
            let is_inside = |path: &Path| folded_path(path).starts_with(&directory);
            is_inside(path) || is_inside(&links.real_path(path))
        };
        let has_such = |folder: PathBuf| {
            is_inside(&folder)
                && folder.read_dir().is_ok_and(|entries| {
                    entries.flatten().any(|entry| self.covers(&entry.path(), &entry.path()))
                })
        };
        let exists = |path: PathBuf| is_inside(&path) && path.symlink_metadata().is_ok();
        let mut bases = self.bases.iter();
        bases.any(|base| {
            has_such(base.folder.join(FOLDER))
                || has_such(base.folder.clone())
                || client_files().any(|file| exists(base.folder.join(file)))
        }) || self.on_disk.iter().any(|path| is_inside(path) && path.symlink_metadata().is_ok())
    }

    /// Whether this directory is or contains the program that hooks run.
    #[must_use]
    pub fn has_program(&self, directory: &Path) -> bool {
        let real = folded_path(directory);
        let is_there = |base: &ProtectedFolder| {
            let paths = PACKAGES.iter().map(|package| base.folder.join(package));
            let is_below = |path: &Path| folded_path(path).starts_with(&real);
            paths.filter(|path| is_below(path)).any(|path| path.symlink_metadata().is_ok())
        };
        self.is_program(directory) && directory.is_dir() || self.bases.iter().any(is_there)
    }

    /// Whether a path belongs to the program that hooks run.
    #[must_use]
    pub fn is_program(&self, path: &Path) -> bool {
        let path = folded_path(path);
        let mut inside = self.bases.iter().filter_map(|base| path.strip_prefix(&base.real).ok());
        inside.any(|rest| is_of_program(&rest.to_string_lossy()))
    }

    /// Whether a path is a folder with settings.
    #[must_use]
    pub fn is_folder(&self, real: &Path) -> bool {
        let real = folded_path(real);
        self.bases.iter().any(|base| {
            let Ok(inside) = real.strip_prefix(&base.real) else { return false };
            let is_above = |file: PathBuf| file != inside && file.starts_with(inside);
            inside != Path::new("") && client_files().any(is_above)
        })
    }

    /// Where protected files are, or may be: they need not exist.
    fn possible(&self) -> impl Iterator<Item = PathBuf> {
        let in_base = |base: &ProtectedFolder| {
            let configs = CONFIG_NAMES.iter().map(PathBuf::from);
            let settings = std::iter::once(PathBuf::from("settings.json"));
            let names = client_files().chain(configs).chain(settings);
            names
                .filter(|name| (base.protects)(&name.to_string_lossy()))
                .map(|name| base.real.join(folded_path(&name)))
                .collect::<Vec<_>>()
        };
        let known = self.paths.iter().chain(&self.files).cloned();
        self.bases.iter().flat_map(in_base).chain(known)
    }

    /// Whether protected files are below a directory, or would be.
    #[must_use]
    pub fn is_above(&self, real: &Path) -> bool {
        let real = folded_path(real);
        self.possible().any(|path| path != real && path.starts_with(&real))
    }

    /// A protected file, or a folder with such, that has a name like this pattern in a directory.
    #[must_use]
    pub fn named_like(&self, directory: &Path, pattern: &str, or_folder: bool) -> Option<PathBuf> {
        let directory = folded_path(directory);
        let glob = Glob::new(&folded(pattern), GlobKind::Name).ok()?;
        let is_like = |name: &OsStr| {
            let name = name.to_string_lossy();
            (pattern.starts_with('.') || !name.starts_with('.')) && glob.matches(&name).unwrap_or(true)
        };
        let named = |path: PathBuf| {
            let mut below = path.strip_prefix(&directory).ok()?.components();
            let name = below.next()?.as_os_str();
            let is_file = below.next().is_none();
            if (is_file || or_folder) && is_like(name) { Some(directory.join(name)) } else { None }
        };
        self.possible().find_map(named)
    }

    /// Whether a path is protected, either as named, without `..`, or where it really leads.
    #[must_use]
    pub fn covers(&self, named: &Path, real: &Path) -> bool {
        let (named, real) = (folded_path(named), folded_path(real));
        let is_in = |base: &ProtectedFolder| {
            let rests = [named.strip_prefix(&base.named), real.strip_prefix(&base.real)];
            rests.into_iter().flatten().any(|rest| (base.protects)(&rest.to_string_lossy()))
        };
        // Also in a folder below: a config there would be another root with another state.
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
            ".codex/hooks.json",
            ".codex/config.toml",
            ".github/hooks/conclaude.json",
            ".github/copilot/settings.local.json",
            ".copilot/hooks/conclaude.json",
            ".QWEN/settings.json",
            ".gemini/settings.json",
            "node_modules/conclaude",
            "node_modules/@conclaude/cli-linux-x64/conclaude",
            "packages/a/node_modules/conclaude/bin/conclaude.js",
            "node_modules/.pnpm/conclaude@0.3.0/node_modules/conclaude/package.json",
            "node_modules/.pnpm/@conclaude+cli-linux-x64@0.3.0/node_modules/@conclaude/cli-linux-x64/conclaude",
            "node_modules/.pnpm/node_modules/@conclaude/cli-linux-x64",
            ".venv/bin/conclaude",
            "py/.venv/bin/Conclaude",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in [
            "conclaude.yaml",
            ".claude/agents/coder.md",
            "src/.conclaude.yaml",
            ".claude/settings/x.json",
            ".github/hooks/other.json",
            ".codex/agents/a.toml",
            ".gemini",
            "src/.gemini/settings.json",
            "node_modules",
            "node_modules/conclaude-rules/x",
            "node_modules/left-pad/conclaude",
            "my_node_modules/conclaude/x",
            ".venv/bin/python",
            "src/conclaude",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[test]
    fn what_is_deleted_with_a_directory_is_known_by_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let work = root.join(".claude/worktrees/agent-1");
        let files = ["shared/g.yaml", ".claude/settings.team.json", ".conclaude.yaml", "src/a.rs"];
        for file in files.iter().flat_map(|file| [root.join(file), work.join(file)]) {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let links = Links::default();
        let own = ProtectedPaths::new(&root, &work, &links).with(&[root.join("shared/g.yaml")], &root, &work);
        let is_below = |path: &str| own.is_below(&root.join(path), &links);
        for path in ["", "shared", ".claude", ".claude/worktrees", ".claude/worktrees/agent-1/shared"] {
            assert!(is_below(path), "{path}");
        }
        assert!(is_below(".claude/worktrees/agent-1/.claude"));
        assert!(
            !is_below("src") && !is_below(".claude/worktrees/agent-1/src") && !is_below(".claude/agents")
        );
    }

    #[test]
    fn a_path_is_folded_as_if_each_character_were() {
        assert_eq!(folded("/A/.Conclaude.YAML"), "/a/.conclaude.yaml");
        assert_eq!(folded("/a/.conclaude\u{200b}.yaml \t"), "/a/.conclaude.yaml ");
        assert_eq!(folded(".\u{212a}e\u{17f}"), ".kes");
    }
}
