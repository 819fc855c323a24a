//! Finds the native program: in the packages of a project, next to npm's launcher, or on the PATH.

use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};

use super::error::InstallError;
use super::registration::on_path;
use super::scope::{Scope, SettingsTarget};
use super::settings::{MAX_LEVELS, ProgramSearch, RegisteredProgram};
use conclaude_checks::guard::own_commands::{NAME, PROGRAM_NAMES};
use conclaude_os::{environment, files};
use conclaude_store::root::git_top_level;
use shell_effects::quoted_if_needed;

/// The registered program, with owned text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OwnProgram {
    /// As a shell reads it.
    Named(String),
    Found(ProgramSearch),
}

impl OwnProgram {
    pub(super) fn registered(&self) -> RegisteredProgram<'_> {
        match self {
            OwnProgram::Named(program) => RegisteredProgram::Named(program),
            OwnProgram::Found(search) => RegisteredProgram::Found(*search),
        }
    }

    /// Its path, if it is registered by a path of this machine.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            OwnProgram::Named(program) if program != NAME => Some(program),
            _ => None,
        }
    }
}

/// The program to register: the native one in the project or on the PATH, or this one.
pub(super) fn program(target: SettingsTarget, project: &Path) -> Result<OwnProgram, InstallError> {
    let own = std::env::current_exe()?.canonicalize()?;
    // We recognise our own entries by this name, when installing again and when uninstalling.
    if own.file_name().is_none_or(|name| PROGRAM_NAMES.iter().all(|known| name != *known)) {
        return Err(InstallError::WrongProgramName(own));
    }
    if target.scope == Scope::User {
        return of_user(&own, project).map(named);
    }
    let search = in_project(project);
    if search != ProgramSearch::default() {
        return Ok(OwnProgram::Found(search));
    }
    let is_own = |path: &PathBuf| path.canonicalize().is_ok_and(|path| path == own);
    match on_path(NAME) {
        Some(found) if is_own(&found) => Ok(OwnProgram::Named(NAME.into())),
        Some(found) if beside_launcher(&found).as_ref().is_some_and(is_own) => Ok(OwnProgram::Found(search)),
        _ if is_temporary(&own) => Ok(OwnProgram::Found(search)),
        _ => Ok(named(own)),
    }
}

fn named(path: PathBuf) -> OwnProgram {
    OwnProgram::Named(quoted_if_needed(&path.to_string_lossy()))
}

/// A program for all projects of a user. Its full path is used, because a PATH may start with a folder of a project, such as
/// `node_modules/.bin`.
fn of_user(own: &Path, project: &Path) -> Result<PathBuf, InstallError> {
    let is_outside = |path: &PathBuf| !is_in_project(path, project) && !is_temporary(path);
    let mut natives = environment::programs(NAME)
        .filter_map(|path| {
            if files::is_native(&path) { Some(path) } else { beside_launcher(&path)?.canonicalize().ok() }
        })
        .filter_map(|path| Some((path.canonicalize().ok()?, path)))
        .filter(|(real, path)| is_outside(real) && is_outside(path));
    if is_outside(&own.to_owned()) {
        let on_path = natives.find(|(real, _)| real == own);
        return Ok(on_path.map_or(own.to_owned(), |(_, path)| path));
    }
    let found = natives.next();
    found.map(|(_, path)| path).ok_or_else(|| InstallError::OnlyInProject(own.to_owned()))
}

/// The project's own packages with the program.
fn in_project(project: &Path) -> ProgramSearch {
    let last = git_top_level(project).unwrap_or(project);
    let folders: Vec<&Path> =
        project.ancestors().take_while(|folder| folder.starts_with(last)).take(MAX_LEVELS).collect();
    let level = |has: fn(&Path) -> Option<PathBuf>| folders.iter().position(|folder| has(folder).is_some());
    ProgramSearch { node_modules: level(in_node_modules), venv: level(in_venv) }
}

fn in_node_modules(folder: &Path) -> Option<PathBuf> {
    in_packages(&folder.join("node_modules/conclaude/.."))
}

fn in_venv(folder: &Path) -> Option<PathBuf> {
    let bin = folder.join(".venv/bin");
    let python = bin.join("python");
    let is_foreign = python.is_symlink() && !python.exists();
    Some(bin.join(NAME)).filter(|path| !is_foreign && files::is_program(path))
}

/// npm's package of this platform in a folder of packages.
fn in_packages(packages: &Path) -> Option<PathBuf> {
    let system = if OS == "macos" { "darwin" } else { OS };
    let machine = if ARCH == "x86_64" { "x64" } else { "arm64" };
    let path = packages.join(format!("@conclaude/cli-{system}-{machine}/conclaude"));
    Some(path).filter(|path| files::is_program(path))
}

/// The native program that npm has installed with this launcher.
fn beside_launcher(launcher: &Path) -> Option<PathBuf> {
    in_packages(&launcher.parent()?.join("../lib/node_modules/conclaude/node_modules"))
}

/// The program that a search finds in a project.
pub(super) fn found(search: ProgramSearch, project: &Path) -> Option<PathBuf> {
    found_in_packages(search, project).or_else(|| {
        let path = on_path(NAME)?;
        Some(beside_launcher(&path).unwrap_or(path))
    })
}

/// Like `found`, only in the packages of the project.
pub(super) fn found_in_packages(search: ProgramSearch, project: &Path) -> Option<PathBuf> {
    let above = |levels: usize| project.join("../".repeat(levels));
    let of_node = search.node_modules.and_then(|levels| in_node_modules(&above(levels)));
    of_node.or_else(|| search.venv.and_then(|levels| in_venv(&above(levels))))
}

/// Whether a program belongs to this project, or to another one.
fn is_in_project(path: &Path, project: &Path) -> bool {
    // A repository in the home directory has programs that belong to no project.
    let is_home = |folder: &&Path| files::home().is_some_and(|home| Path::new(&home).starts_with(folder));
    let top = git_top_level(project).filter(|top| !is_home(top)).unwrap_or(project);
    let is_inside = !is_home(&top) && path.starts_with(top);
    let is_named = |folder: &Path, name: &str| folder.file_name().is_some_and(|found| found == name);
    // npm's global packages belong to no project, nor do those of pnpm and Bun. A package may contain packages.
    let packages = path.ancestors().filter(|folder| is_named(folder, "node_modules")).last();
    let owner = packages.and_then(Path::parent);
    let is_package = owner.is_some_and(|owner| {
        let is_global = owner.components().any(|part| part.as_os_str() == "global");
        owner.join("package.json").is_file() && !is_global
    });
    is_inside || is_package || path.ancestors().any(|folder| is_named(folder, ".venv"))
}

/// Whether a program is in a cache of a package manager that ran it once: `npx`, `pnpm dlx`, `uvx`.
fn is_temporary(path: &Path) -> bool {
    let path = path.to_string_lossy();
    ["/_npx/", "/pnpm/dlx/", "/uv/archive-v"].iter().any(|cache| path.contains(cache))
}

/// Why this program may disappear after it is registered: it is in a cache.
pub(super) fn is_gone_soon() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?.canonicalize().ok()?;
    Some(own).filter(|own| is_temporary(own) && on_path(NAME).is_none_or(|path| is_temporary(&path)))
}
