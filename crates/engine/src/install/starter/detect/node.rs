//! Packages of npm, pnpm, yarn and bun: their scripts, and the tools that they depend on.

use serde_json::{Map, Value};

use super::script_text::{has_word, only_checks, words};
use super::{CheckKind, EditCheck, Package, ProjectCheck, ProjectKind, members, workspaces};
use crate::install::package_scripts::{PackageManager, runs_scripts};

/// Names of scripts that check, the best first. A plain `lint` often writes, one for CI does not.
const SCRIPTS: [(CheckKind, &[&str]); 4] = [
    (CheckKind::Lint, &["lint:check", "check:lint", "lint-check", "lint:ci", "lint"]),
    (
        CheckKind::Format,
        &["format:check", "check:format", "format-check", "fmt:check", "check:fmt", "prettier:check"],
    ),
    (
        CheckKind::Types,
        &[
            "types:check",
            "check:types",
            "check-types",
            "typecheck",
            "type-check",
            "type:check",
            "ts:check",
            "tsc",
            "types",
        ],
    ),
    (CheckKind::Test, &["test", "test:run", "test:ci", "test:unit", "unit"]),
];

/// Linters by their packages, and their commands for the whole project.
const LINTERS: [(&str, &str); 5] = [
    ("eslint", "eslint ."),
    ("@biomejs/biome", "biome check"),
    ("xo", "xo"),
    ("oxlint", "oxlint"),
    ("standard", "standard"),
];

/// What `check` may run, if no other script has its name.
const CHECKERS: [(CheckKind, &[&str]); 2] = [
    (CheckKind::Types, &["svelte-check", "astro", "tsc", "vue-tsc"]),
    (CheckKind::Lint, &["eslint", "biome", "xo", "oxlint", "standard", "prettier"]),
];

/// Scripts that cover the whole tree, or run the scripts of all workspaces. If the root has such a script, members need none.
const FOR_ALL: [&str; 18] = [
    "--workspaces",
    "-ws",
    "-r",
    "--recursive",
    "foreach",
    "turbo",
    "nx",
    "lerna",
    "--filter",
    "eslint",
    "biome",
    "prettier",
    "oxlint",
    "xo",
    "standard",
    "vitest",
    "jest",
    "wireit",
];

struct PackageScripts<'a>(Option<&'a Map<String, Value>>);

impl<'a> PackageScripts<'a> {
    fn of(json: &'a Value) -> PackageScripts<'a> {
        PackageScripts(json.get("scripts").and_then(Value::as_object))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0?.get(name)?.as_str()
    }

    /// A script and the scripts that it runs, each once.
    fn with_called(&self, name: &str) -> Vec<&'a str> {
        let mut found: Vec<&str> = self
            .0
            .and_then(|all| all.get_key_value(name))
            .map(|(name, _)| name.as_str())
            .into_iter()
            .collect();
        let mut at = 0;
        while let Some(text) = found.get(at).and_then(|name| self.get(name)) {
            let names = self.0.into_iter().flat_map(|all| all.keys()).map(String::as_str);
            let called = names.filter(|name| !found.contains(name) && calls(text, name));
            let called: Vec<&str> = called.collect();
            found.extend(called);
            at += 1;
        }
        found
    }

    /// The text of a script and of those that it runs.
    fn text(&self, name: &str) -> String {
        let texts = self.with_called(name).into_iter().filter_map(|name| self.get(name));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The script that `npm init` writes is not a test.
    fn is_check(&self, name: &str) -> bool {
        let Some(own) = self.get(name) else { return false };
        !own.contains("no test specified") && only_checks(&self.text(name))
    }

    /// The scripts that check, one of each kind, except those that another one runs.
    fn checks(&self) -> Vec<(CheckKind, &'a str)> {
        let mut found: Vec<(CheckKind, &str)> = Vec::new();
        for (kind, names) in SCRIPTS {
            let name = names.iter().find(|name| self.is_check(name) && self.is_of_kind(name, kind));
            let name = name.and_then(|name| self.0?.get_key_value(*name)).map(|(name, _)| name.as_str());
            found.extend(name.map(|name| (kind, name)));
        }
        for (kind, programs) in CHECKERS {
            let text = self.text("check");
            let is_open = !found.iter().any(|(other, name)| *other == kind || *name == "check");
            if is_open && self.is_check("check") && programs.iter().any(|program| has_word(&text, program)) {
                found.push((kind, "check"));
            }
        }
        let all = found.clone();
        let is_called = |name: &str| {
            all.iter().any(|(_, other)| *other != name && self.with_called(other).contains(&name))
        };
        found.retain(|(_, name)| !is_called(name));
        found
    }

    /// `types` and `tsc` may as well write declarations.
    fn is_of_kind(&self, name: &str, kind: CheckKind) -> bool {
        kind != CheckKind::Types || !matches!(name, "types" | "tsc") || has_word(&self.text(name), "--noEmit")
    }
}

/// Whether a script runs another one.
fn calls(text: &str, name: &str) -> bool {
    let is_called = |command: &str| {
        let mut words = words(command).skip_while(|word| !runs_scripts(word));
        words.next().is_some() && words.any(|word| word == name || word.strip_prefix("npm:") == Some(name))
    };
    text.split(['&', ';', '|']).any(is_called)
}

fn package_json(package: &Package<'_>) -> Value {
    serde_json::from_str(&package.read("package.json").unwrap_or_default()).unwrap_or_default()
}

/// The package manager by lock file, else by `packageManager`. A workspace uses the manager of its root.
fn manager_of(package: &Package<'_>) -> &'static PackageManager {
    let named = package.ancestors().find_map(|package| {
        let named = package_json(&package).get("packageManager")?.as_str()?.to_owned();
        Some(named.split('@').next().unwrap_or_default().to_owned())
    });
    PackageManager::of_project(|lock| package.has_lock(lock), named.as_deref())
}

pub(super) fn with_members(package: &Package<'_>) -> Vec<ProjectKind> {
    let Some(mut root) = one(package) else { return Vec::new() };
    let json = package_json(package);
    let patterns = workspaces::of_node(&json, package.read("pnpm-workspace.yaml").as_deref());
    let mut members = members(package, &patterns, "package.json", one);
    if members.is_empty() {
        root.checks.extend(compiler(package, &json));
        root.checks.sort_by_key(|check| check.kind);
    }
    let scripts = PackageScripts::of(&json);
    let covered: Vec<CheckKind> = scripts
        .checks()
        .into_iter()
        .filter(|(_, name)| {
            let text = scripts.text(name);
            FOR_ALL.iter().any(|word| words(&text).any(|own| own.split('=').next() == Some(word)))
        })
        .map(|(kind, _)| kind)
        .collect();
    for member in &mut members {
        member.checks.retain(|check| !covered.contains(&check.kind));
    }
    std::iter::once(root).chain(members.into_iter().filter(ProjectKind::has_checks)).collect()
}

fn depends(json: &Value, name: &str) -> bool {
    let kinds = ["devDependencies", "dependencies"];
    kinds.iter().any(|kind| json.get(kind).is_some_and(|all| all.get(name).is_some()))
}

fn one(package: &Package<'_>) -> Option<ProjectKind> {
    package.read("package.json")?;
    let json = package_json(package);
    let manager = manager_of(package);
    let scripts = PackageScripts::of(&json);
    let found = scripts.checks();
    let mut checks = Vec::new();
    let program = |command: &str| command.split(' ').next().unwrap_or_default().to_owned();
    let linter = LINTERS.iter().find(|(name, _)| depends(&json, name)).map(|(_, command)| *command);
    if let Some(command) = linter
        && !found
            .iter()
            .any(|(kind, name)| *kind == CheckKind::Lint || has_word(&scripts.text(name), &program(command)))
    {
        checks.push(ProjectCheck::new(CheckKind::Lint, format!("{} {command}", manager.execute)));
    }
    // `bun test` is not the script with that name.
    checks.extend(
        found.iter().map(|(kind, name)| ProjectCheck::new(*kind, format!("{} run {name}", manager.name))),
    );
    checks.sort_by_key(|check| check.kind);
    let edits = edits(&json, manager.execute);
    Some(ProjectKind { file: "package.json", folder: package.folder.into(), checks, edits })
}

/// The compiler itself, if no script runs it. A project of references compiles nothing itself.
fn compiler(package: &Package<'_>, json: &Value) -> Option<ProjectCheck> {
    let config = package.read("tsconfig.json")?;
    let scripts = PackageScripts::of(json);
    let runs =
        |(kind, name): &(CheckKind, &str)| *kind == CheckKind::Types || has_word(&scripts.text(name), "tsc");
    if !depends(json, "typescript") || config.contains("\"references\"") || scripts.checks().iter().any(runs)
    {
        return None;
    }
    Some(ProjectCheck::new(CheckKind::Types, format!("{} tsc --noEmit", manager_of(package).execute)))
}

/// The tool that can check single files.
fn edits(json: &Value, execute: &str) -> Option<EditCheck> {
    let known = [
        ("eslint", "eslint {files}"),
        ("@biomejs/biome", "biome check {files}"),
        ("xo", "xo {files}"),
        ("oxlint", "oxlint {files}"),
        ("prettier", "prettier --check {files}"),
    ];
    let (_, command) = known.into_iter().find(|(name, _)| depends(json, name))?;
    Some(EditCheck { run: format!("{execute} {command}"), files: "*.{js,jsx,ts,tsx}" })
}
