//! Targets of a Makefile and recipes of a justfile.

use super::manifests::{self, Recipe};
use super::script_text::only_checks;
use super::{CheckKind, Package, ProjectCheck, ProjectKind};

/// Programs that other checks run as well. A target with one of them would repeat it.
const OTHERS: [&str; 26] = [
    "bun", "bunx", "cargo", "eslint", "flake8", "go", "golangci", "jest", "just", "make", "mypy", "node",
    "npm", "npx", "pnpm", "poetry", "pylint", "pyright", "pytest", "python", "python3", "ruff", "tox", "uv",
    "vitest", "yarn",
];

/// The first file with useful targets: those without a command so far, and those that the other checks do not cover.
pub(super) fn detect(package: &Package<'_>, found: &[ProjectKind]) -> Option<ProjectKind> {
    type Read = fn(&str) -> Vec<Recipe<'_>>;
    let known: [(&'static str, &str, Read); 6] = [
        ("justfile", "just", manifests::of_just),
        ("Justfile", "just", manifests::of_just),
        (".justfile", "just", manifests::of_just),
        ("GNUmakefile", "make", manifests::of_make),
        ("Makefile", "make", manifests::of_make),
        ("makefile", "make", manifests::of_make),
    ];
    known.into_iter().find_map(|(file, program, read)| {
        let text = package.read(file)?;
        let recipes = read(&text);
        let target = |names: &[&str], kind: CheckKind| {
            let name = names.iter().find(|name| {
                recipes.iter().any(|recipe| recipe.name == **name)
                    && only_checks(&with_needed(name, &recipes))
            })?;
            let is_open = !found.iter().any(|other| other.has_check(kind));
            if is_open || is_different(&with_needed(name, &recipes)) {
                Some(ProjectCheck::new(kind, format!("{program} {name}")))
            } else {
                None
            }
        };
        let lint = target(&["lint-check", "check-lint", "lint"], CheckKind::Lint);
        let test = target(&["test", "tests"], CheckKind::Test);
        let has_either = |name: &str| recipes.iter().any(|recipe| recipe.name == name);
        let has_either = ["lint", "test", "tests"].into_iter().any(has_either);
        // `check` usually includes both.
        let check = if has_either { None } else { target(&["check"], CheckKind::Test) };
        let checks: Vec<ProjectCheck> = [lint, test, check].into_iter().flatten().collect();
        if checks.is_empty() {
            return None;
        }
        Some(ProjectKind { file, folder: package.folder.into(), checks, edits: None })
    })
}

/// The text of a recipe and of those that it needs.
fn with_needed(name: &str, recipes: &[Recipe<'_>]) -> String {
    let mut names = vec![name];
    let mut text = String::new();
    let mut at = 0;
    while let Some(name) = names.get(at).copied() {
        for recipe in recipes.iter().filter(|recipe| recipe.name == name) {
            text.push_str(&recipe.lines.join("\n"));
            text.push('\n');
            for needed in &recipe.needs {
                if !names.contains(needed) {
                    names.push(needed);
                }
            }
        }
        at += 1;
    }
    text
}

/// Whether it is known what it runs, and no other check runs that.
fn is_different(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| !OTHERS.contains(&word))
}
