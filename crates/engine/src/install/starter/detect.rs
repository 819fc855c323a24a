//! Detects the kinds of projects in a folder, its workspaces and subfolders, and their checks. Only working checks are suggested:
//! existing scripts and targets that only check, tools that the project names, the package manager of its lock file.

use std::path::Path;

use conclaude_os::files;

mod make;
mod manifests;
mod node;
mod python;
mod script_text;
mod workspaces;

/// A build file is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// The limit on folders without a common build file that are checked one by one.
const MAX_FOLDERS: usize = 20;

/// Folders of a project that are not developed as part of it.
const SIDE_FOLDERS: [&str; 22] = [
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "demo",
    "demos",
    "doc",
    "docs",
    "e2e",
    "example",
    "examples",
    "fixtures",
    "fuzz",
    "playground",
    "samples",
    "scripts",
    "site",
    "templates",
    "test",
    "tests",
    "tools",
    "website",
];

/// The subject of a check, in the order in which checks run: fast checks come first, and often explain a failing test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckKind {
    Lint,
    Format,
    Types,
    Test,
}

impl CheckKind {
    pub fn message(self) -> &'static str {
        match self {
            CheckKind::Lint => "Linting failed",
            CheckKind::Format => "The formatting is off",
            CheckKind::Types => "Type errors",
            CheckKind::Test => "Tests failed",
        }
    }
}

/// A command that checks a project and changes nothing in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectCheck {
    pub kind: CheckKind,
    pub run: String,
}

impl ProjectCheck {
    fn new(kind: CheckKind, run: impl Into<String>) -> ProjectCheck {
        ProjectCheck { kind, run: run.into() }
    }
}

/// A check of the files that were just written, with their names as `{files}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditCheck {
    pub run: String,
    pub files: &'static str,
}

/// A kind of project, and its checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectKind {
    pub file: &'static str,
    /// Where it is, relative to the root; empty for the root itself.
    pub folder: String,
    pub checks: Vec<ProjectCheck>,
    pub edits: Option<EditCheck>,
}

#[derive(Clone, Copy)]
struct Package<'a> {
    root: &'a Path,
    folder: &'a str,
}

impl<'a> Package<'a> {
    fn path(&self) -> std::path::PathBuf {
        self.root.join(self.folder)
    }

    fn read(&self, name: &str) -> Option<String> {
        let text = files::read_text(&self.path().join(name), MAX_BYTES).ok()?;
        Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
    }

    fn exists(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// This folder and those above it, up to the root.
    fn ancestors(&self) -> impl Iterator<Item = Package<'a>> {
        let Package { root, folder } = *self;
        let above = |folder: &&'a str| match folder.rsplit_once('/') {
            Some((above, _)) => Some(above),
            None if folder.is_empty() => None,
            None => Some(""),
        };
        std::iter::successors(Some(folder), above).map(move |folder| Package { root, folder })
    }

    /// Also in a folder above: a monorepo has one lock file.
    fn has_lock(&self, name: &str) -> bool {
        self.ancestors().any(|package| package.exists(name))
    }

    fn below(&self, name: &str) -> String {
        if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) }
    }
}

/// The projects in the folder, in the workspaces that its files name, and in its subfolders.
pub fn detect(root: &Path) -> Vec<ProjectKind> {
    let package = Package { root, folder: "" };
    let mut all = in_folder(&package);
    let below = in_subfolders(&package, &all);
    all.extend(below);
    all.extend(make::detect(&package, &all));
    all
}

/// What the files of one folder say, with the members of its workspaces.
fn in_folder(package: &Package<'_>) -> Vec<ProjectKind> {
    let kinds = [
        node::with_members(package),
        rust(package).into_iter().collect(),
        python::with_members(package),
        go_with_members(package),
    ];
    kinds.into_iter().flatten().collect()
}

/// For example, a frontend next to a backend, which no file in the root names.
fn in_subfolders(package: &Package<'_>, found: &[ProjectKind]) -> Vec<ProjectKind> {
    let has_root = !found.is_empty();
    let is_covered = |kind: &ProjectKind| {
        let of_same = found.iter().filter(|other| other.language() == kind.language());
        of_same.into_iter().any(|other| {
            let is_same_folder = other.folder == kind.folder;
            is_same_folder || (other.folder.is_empty() && other.has_checks())
        })
    };
    let mut all = Vec::new();
    for folder in project_folders(package, has_root, 0) {
        let inner = Package { folder: &folder, ..*package };
        let mut kinds = in_folder(&inner);
        if kinds.is_empty() {
            kinds.extend(make::detect(&inner, &[]));
        }
        all.extend(kinds.into_iter().filter(|kind| kind.has_checks() && !is_covered(kind)));
    }
    all.truncate(MAX_FOLDERS);
    all
}

/// The folders that may contain a separate project: those in the root, and those in a folder without any build file.
fn project_folders(package: &Package<'_>, without_side_folders: bool, depth: usize) -> Vec<String> {
    let mut names = workspaces::subfolders(package.root, package.folder);
    names.sort_unstable();
    let is_side = |name: &String| SIDE_FOLDERS.contains(&name.as_str());
    let mut found = Vec::new();
    for name in names.into_iter().filter(|name| !(is_side(name) && (without_side_folders || depth > 0))) {
        let folder = package.below(&name);
        let inner = Package { folder: &folder, ..*package };
        let has_build_file = !in_folder(&inner).is_empty();
        if has_build_file || depth > 0 || is_side(&name) {
            found.push(folder);
        } else {
            let below = project_folders(&inner, true, depth + 1);
            found.push(folder);
            found.extend(below);
        }
    }
    found
}

/// The kind of each member that has the file.
fn members(
    package: &Package<'_>,
    patterns: &[String],
    file: &str,
    kind: fn(&Package<'_>) -> Option<ProjectKind>,
) -> Vec<ProjectKind> {
    let names = workspaces::folders(&package.path(), patterns, file).into_iter();
    names.filter_map(|name| kind(&Package { folder: &package.below(&name), ..*package })).collect()
}

impl ProjectKind {
    fn has_checks(&self) -> bool {
        !self.checks.is_empty()
    }

    fn has_check(&self, kind: CheckKind) -> bool {
        self.checks.iter().any(|check| check.kind == kind)
    }

    /// A project of one language has one of several files.
    fn language(&self) -> &'static str {
        match self.file {
            "package.json" => "node",
            "Cargo.toml" => "rust",
            "go.mod" => "go",
            file if python::FILES.contains(&file) => "python",
            _ => "make",
        }
    }
}

/// One command for all members of a workspace: Cargo checks them together.
fn rust(package: &Package<'_>) -> Option<ProjectKind> {
    let text = package.read("Cargo.toml")?;
    let all = if manifests::has_table(&text, "workspace") { " --workspace" } else { "" };
    let checks = vec![
        ProjectCheck::new(CheckKind::Lint, format!("cargo clippy{all} --all-targets -- -D warnings")),
        ProjectCheck::new(CheckKind::Test, format!("cargo test{all}")),
    ];
    let edits = Some(EditCheck { run: "cargo fmt --check".into(), files: "*.rs" });
    Some(ProjectKind { file: "Cargo.toml", folder: package.folder.into(), checks, edits })
}

fn go_with_members(package: &Package<'_>) -> Vec<ProjectKind> {
    let patterns = package.read("go.work").map(|text| workspaces::of_go(&text)).unwrap_or_default();
    go(package).into_iter().chain(members(package, &patterns, "go.mod", go)).collect()
}

fn go(package: &Package<'_>) -> Option<ProjectKind> {
    package.read("go.mod")?;
    let configs = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];
    let has_config = configs.iter().any(|name| package.has_lock(name));
    let lint = if has_config { "golangci-lint run" } else { "go vet ./..." };
    let checks =
        vec![ProjectCheck::new(CheckKind::Lint, lint), ProjectCheck::new(CheckKind::Test, "go test ./...")];
    let edits = Some(EditCheck { run: "test -z \"$(gofmt -l {files})\"".into(), files: "*.go" });
    Some(ProjectKind { file: "go.mod", folder: package.folder.into(), checks, edits })
}

#[cfg(test)]
mod tests;
