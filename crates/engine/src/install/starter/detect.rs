//! What kinds of project a folder and its workspaces hold, and how one checks each. Only what will work is suggested:
//! scripts and targets that exist, tools that the project names, the package manager of its lock file.

use std::path::Path;

use serde_json::Value;

use conclaude_os::files;

mod manifests;
mod workspaces;

/// A build file is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// Cargo checks more members than that better all at once.
const MAX_MEMBERS: usize = 20;

/// A kind of project that was found, and how one checks it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectKind {
    pub file: &'static str,
    /// Where it is, relative to the root; empty for the root itself.
    pub folder: String,
    pub lint: Option<String>,
    pub test: Option<String>,
}

struct Package<'a> {
    root: &'a Path,
    folder: &'a str,
}

impl Package<'_> {
    fn read(&self, name: &str) -> Option<String> {
        let text = files::read_text(&self.root.join(self.folder).join(name), MAX_BYTES).ok()?;
        Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
    }

    fn exists(&self, name: &str) -> bool {
        self.root.join(self.folder).join(name).exists()
    }

    /// Also in the root: a monorepo has one lock file.
    fn has_lock(&self, name: &str) -> bool {
        self.exists(name) || self.root.join(name).exists()
    }
}

/// What is in the folder, and in the workspaces that its files name.
pub fn detect(root: &Path) -> Vec<ProjectKind> {
    let package = Package { root, folder: "" };
    let mut all: Vec<ProjectKind> = [
        node_and_members(&package),
        rust_and_members(&package),
        python_and_members(&package),
        go_and_members(&package),
    ]
    .into_iter()
    .flatten()
    .collect();
    let has = |wanted: fn(&ProjectKind) -> bool| all.iter().any(wanted);
    let runner = runner(&package, has(|kind| kind.lint.is_some()), has(|kind| kind.test.is_some()));
    all.extend(runner);
    if all.is_empty() { in_subfolders(root) } else { all }
}

/// A frontend beside a backend, say, which no file in the root names.
fn in_subfolders(root: &Path) -> Vec<ProjectKind> {
    let one_of_each = |folder: String| {
        let package = Package { root, folder: &folder };
        let kinds = [node(&package), rust_in(&package), python(&package), go(&package)];
        let kinds = kinds.into_iter().flatten().filter(ProjectKind::has_checks);
        kinds.map(|kind| ProjectKind { folder: folder.clone(), ..kind }).collect::<Vec<_>>()
    };
    let mut folders = workspaces::subfolders(root, "");
    folders.sort_unstable();
    folders.into_iter().flat_map(one_of_each).take(MAX_MEMBERS).collect()
}

fn rust_in(package: &Package<'_>) -> Option<ProjectKind> {
    let text = package.read("Cargo.toml")?;
    Some(cargo(if manifests::has_table(&text, "workspace") { " --workspace" } else { "" }))
}

/// The kind of each member that has the file.
fn members(
    root: &Path,
    patterns: &[String],
    file: &str,
    kind: fn(&Package<'_>) -> Option<ProjectKind>,
) -> Vec<ProjectKind> {
    let folders = workspaces::folders(root, patterns, file).into_iter();
    let kinds = folders.filter_map(|folder| {
        let kind = kind(&Package { root, folder: &folder })?;
        Some(ProjectKind { folder, ..kind })
    });
    kinds.collect()
}

fn node_and_members(package: &Package<'_>) -> Vec<ProjectKind> {
    let Some(root) = node(package) else { return Vec::new() };
    let patterns =
        workspaces::of_node(&package_json(package), package.read("pnpm-workspace.yaml").as_deref());
    let members = members(package.root, &patterns, "package.json", node);
    // A script of the root that checks all workspaces is better than one command for each.
    let json = package_json(package);
    let (lints, tests) = (covers_members(&json, "lint"), covers_members(&json, "test"));
    let members = members.into_iter().map(|kind| ProjectKind {
        lint: if lints { None } else { kind.lint },
        test: if tests { None } else { kind.test },
        ..kind
    });
    std::iter::once(root).chain(members).filter(|kind| kind.folder.is_empty() || kind.has_checks()).collect()
}

/// Whether a script of the root runs that of the workspaces: then they need no commands of their own.
fn covers_members(json: &Value, script: &str) -> bool {
    let words = [
        "--workspaces",
        "-ws",
        " -r ",
        "--recursive",
        "workspaces foreach",
        "turbo",
        "nx ",
        "lerna",
        "--filter",
    ];
    let script = json.get("scripts").and_then(|scripts| scripts.get(script)).and_then(Value::as_str);
    script.is_some_and(|script| words.iter().any(|word| script.contains(word)))
}

impl ProjectKind {
    fn has_checks(&self) -> bool {
        self.lint.is_some() || self.test.is_some()
    }
}

fn package_json(package: &Package<'_>) -> Value {
    serde_json::from_str(&package.read("package.json").unwrap_or_default()).unwrap_or_default()
}

/// The package manager and how it runs a tool: by lock file, else by what `packageManager` says.
fn node_manager(package: &Package<'_>, json: &Value) -> (&'static str, &'static str) {
    let locks = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
        ("package-lock.json", "npm"),
    ];
    // A workspace is installed by the manager of the whole.
    let root = package_json(&Package { folder: "", ..*package });
    let named = [json, &root].into_iter().find_map(|json| json.get("packageManager")?.as_str());
    let named = named.unwrap_or_default();
    let by_lock = locks.iter().find(|(lock, _)| package.has_lock(lock)).map(|(_, manager)| *manager);
    match by_lock.unwrap_or_else(|| named.split('@').next().unwrap_or_default()) {
        "pnpm" => ("pnpm", "pnpm exec"),
        "yarn" => ("yarn", "yarn"),
        "bun" => ("bun", "bunx"),
        _ => ("npm", "npx"),
    }
}

fn node(package: &Package<'_>) -> Option<ProjectKind> {
    package.read("package.json")?;
    let json = package_json(package);
    let (manager, execute) = node_manager(package, &json);
    let script =
        |name: &str| json.get("scripts").and_then(|scripts| scripts.get(name)).and_then(Value::as_str);
    let depends = |name: &str| {
        ["devDependencies", "dependencies"]
            .iter()
            .any(|kind| json.get(kind).is_some_and(|all| all.get(name).is_some()))
    };
    let linter = || {
        let known = [("eslint", "eslint ."), ("@biomejs/biome", "biome check")];
        known.iter().find(|(name, _)| depends(name)).map(|(_, command)| format!("{execute} {command}"))
    };
    let lint = script("lint").map(|_| format!("{manager} run lint")).or_else(linter);
    // The script that `npm init` writes is not a test.
    let test = script("test").filter(|script| !script.contains("no test specified"));
    // `bun test` is another thing than the script of that name.
    let test = test.map(|_| format!("{manager} run test"));
    Some(ProjectKind { file: "package.json", lint, test, folder: String::new() })
}

fn rust_and_members(package: &Package<'_>) -> Vec<ProjectKind> {
    let Some(text) = package.read("Cargo.toml") else { return Vec::new() };
    let patterns = workspaces::of_toml(&text, "workspace");
    let members = members(package.root, &patterns, "Cargo.toml", rust);
    if members.is_empty() || members.len() > MAX_MEMBERS {
        let all = if manifests::has_table(&text, "workspace") { " --workspace" } else { "" };
        return vec![cargo(all)];
    }
    let root = if manifests::has_table(&text, "package") { Some(cargo("")) } else { None };
    root.into_iter().chain(members).collect()
}

fn rust(_: &Package<'_>) -> Option<ProjectKind> {
    Some(cargo(""))
}

fn cargo(all: &str) -> ProjectKind {
    ProjectKind {
        file: "Cargo.toml",
        lint: Some(format!("cargo clippy{all} --all-targets -- -D warnings")),
        test: Some(format!("cargo test{all}")),
        folder: String::new(),
    }
}

fn python_and_members(package: &Package<'_>) -> Vec<ProjectKind> {
    let text = package.read("pyproject.toml").unwrap_or_default();
    let patterns = workspaces::of_toml(&text, "tool.uv.workspace");
    let members = members(package.root, &patterns, "pyproject.toml", python);
    let members = members.into_iter().filter(ProjectKind::has_checks);
    python(package).into_iter().chain(members).collect()
}

fn python(package: &Package<'_>) -> Option<ProjectKind> {
    // Any of them may name the tools.
    let known = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "requirements-dev.txt"];
    let found: Vec<_> = known.iter().filter_map(|name| Some((*name, package.read(name)?))).collect();
    let file = found.first()?.0;
    let text: String = found.iter().map(|(_, text)| text.as_str()).collect();
    let run = if package.has_lock("uv.lock") {
        "uv run "
    } else if package.has_lock("poetry.lock") {
        "poetry run "
    } else if package.has_lock("pdm.lock") {
        "pdm run "
    } else {
        ""
    };
    let names =
        |tool: &str, files: &[&str]| text.contains(tool) || files.iter().any(|file| package.exists(file));
    // Only tools that the project names are installed.
    let lint = if names("ruff", &["ruff.toml", ".ruff.toml"]) {
        Some("ruff check .")
    } else if names("flake8", &[".flake8"]) {
        Some("flake8")
    } else if names("pylint", &[".pylintrc"]) {
        Some("pylint --recursive=y .")
    } else {
        None
    };
    let test = if names("pytest", &["pytest.ini", "conftest.py", "tests/conftest.py"]) {
        Some("pytest")
    } else if package.exists("manage.py") {
        Some("python manage.py test")
    } else {
        None
    };
    let command = |tool: &str| format!("{run}{tool}");
    Some(ProjectKind { file, lint: lint.map(command), test: test.map(command), folder: String::new() })
}

fn go_and_members(package: &Package<'_>) -> Vec<ProjectKind> {
    let patterns = package.read("go.work").map(|text| workspaces::of_go(&text)).unwrap_or_default();
    go(package).into_iter().chain(members(package.root, &patterns, "go.mod", go)).collect()
}

fn go(package: &Package<'_>) -> Option<ProjectKind> {
    package.read("go.mod")?;
    let configs = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];
    let has_config = configs.iter().any(|name| package.has_lock(name));
    let lint = if has_config { "golangci-lint run" } else { "go vet ./..." };
    Some(ProjectKind {
        file: "go.mod",
        lint: Some(lint.into()),
        test: Some("go test ./...".into()),
        folder: String::new(),
    })
}

/// A Makefile or a justfile, for what nothing else gave a command for.
fn runner(package: &Package<'_>, has_lint: bool, has_test: bool) -> Option<ProjectKind> {
    type Read = fn(&str) -> Vec<&str>;
    let known: [(&'static str, &str, Read); 6] = [
        ("justfile", "just", manifests::of_just),
        ("Justfile", "just", manifests::of_just),
        (".justfile", "just", manifests::of_just),
        ("GNUmakefile", "make", manifests::of_make),
        ("Makefile", "make", manifests::of_make),
        ("makefile", "make", manifests::of_make),
    ];
    // The first of them that helps.
    known.into_iter().find_map(|(file, program, read)| {
        let text = package.read(file)?;
        let names = read(&text);
        let target = |wanted: &[&str]| {
            wanted.iter().find(|name| names.contains(name)).map(|name| format!("{program} {name}"))
        };
        let (lint, test) = (target(&["lint"]), target(&["test", "tests"]));
        // `check` usually means all of it.
        let check = if lint.is_none() && test.is_none() { target(&["check"]) } else { None };
        let kind = ProjectKind {
            file,
            lint: if has_lint { None } else { lint },
            test: if has_test { None } else { test.or(check) },
            folder: String::new(),
        };
        if kind.has_checks() { Some(kind) } else { None }
    })
}

#[cfg(test)]
mod tests;
