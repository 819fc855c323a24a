//! What kinds of project a folder holds, and how one checks each.

use std::path::Path;

use serde_json::Value;

use crate::files;

/// A kind of project that was found, and how one checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The file that says so.
    pub(crate) file: &'static str,
    pub(crate) lint: Option<String>,
    pub(crate) test: Option<String>,
}

/// What is in the folder.
pub(crate) fn detect(folder: &Path) -> Vec<Kind> {
    let read = |name: &str| files::read_text(&folder.join(name), 4 << 20).ok();
    let exists = |name: &str| folder.join(name).exists();
    [
        read("package.json").map(|text| node(&text, &exists)),
        read("Cargo.toml").map(|text| rust(&text)),
        read("pyproject.toml").map(|text| python(&text, &exists)),
        read("go.mod").map(|_| go(&exists)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn node(text: &str, exists: &dyn Fn(&str) -> bool) -> Kind {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    let (manager, execute) = match () {
        () if exists("pnpm-lock.yaml") => ("pnpm", "pnpm exec"),
        () if exists("yarn.lock") => ("yarn", "yarn"),
        () if exists("bun.lock") || exists("bun.lockb") => ("bun", "bunx"),
        () => ("npm", "npx"),
    };
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
    // What `npm init` writes is no test.
    let test = script("test").filter(|script| !script.contains("no test specified"));
    // `bun test` is another thing than the script of that name.
    Kind { file: "package.json", lint, test: test.map(|_| format!("{manager} run test")) }
}

fn rust(text: &str) -> Kind {
    let all = if text.lines().any(|line| line.trim() == "[workspace]") { " --workspace" } else { "" };
    Kind {
        file: "Cargo.toml",
        lint: Some(format!("cargo clippy{all} --all-targets -- -D warnings")),
        test: Some(format!("cargo test{all}")),
    }
}

fn python(text: &str, exists: &dyn Fn(&str) -> bool) -> Kind {
    let run = match () {
        () if exists("uv.lock") => "uv run ",
        () if exists("poetry.lock") => "poetry run ",
        () if exists("pdm.lock") => "pdm run ",
        () => "",
    };
    let known = [("ruff", "ruff check ."), ("flake8", "flake8"), ("pylint", "pylint src")];
    let linter =
        known.iter().find(|(name, _)| text.contains(name)).map_or("ruff check .", |(_, command)| command);
    let tester =
        if text.contains("pytest") || !exists("manage.py") { "pytest" } else { "python manage.py test" };
    Kind {
        file: "pyproject.toml",
        lint: Some(format!("{run}{linter}")),
        test: Some(format!("{run}{tester}")),
    }
}

fn go(exists: &dyn Fn(&str) -> bool) -> Kind {
    let configs = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];
    let lint = if configs.iter().any(|name| exists(name)) { "golangci-lint run" } else { "go vet ./..." };
    Kind { file: "go.mod", lint: Some(lint.into()), test: Some("go test ./...".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn every_kind_of_project_gets_its_own_commands() {
        for (files, lint, test) in [
            (
                vec![("package.json", r#"{"scripts":{"lint":"x","test":"y"}}"#)],
                Some("npm run lint"),
                Some("npm run test"),
            ),
            (
                vec![("package.json", r#"{"scripts":{"lint":"x"}}"#), ("pnpm-lock.yaml", "")],
                Some("pnpm run lint"),
                None,
            ),
            (
                vec![
                    (
                        "package.json",
                        r#"{"devDependencies":{"eslint":"9"},"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
                    ),
                    ("yarn.lock", ""),
                ],
                Some("yarn eslint ."),
                None,
            ),
            (vec![("package.json", "broken")], None, None),
            (
                vec![("Cargo.toml", "[package]")],
                Some("cargo clippy --all-targets -- -D warnings"),
                Some("cargo test"),
            ),
            (
                vec![("Cargo.toml", "[workspace]\nmembers = []")],
                Some("cargo clippy --workspace --all-targets -- -D warnings"),
                Some("cargo test --workspace"),
            ),
            (
                vec![("pyproject.toml", "[tool.ruff]"), ("uv.lock", "")],
                Some("uv run ruff check ."),
                Some("uv run pytest"),
            ),
            (vec![("pyproject.toml", "dev = [\"flake8\"]")], Some("flake8"), Some("pytest")),
            (vec![("go.mod", "module x")], Some("go vet ./..."), Some("go test ./...")),
            (
                vec![("go.mod", "module x"), (".golangci.yml", "")],
                Some("golangci-lint run"),
                Some("go test ./..."),
            ),
        ] {
            let folder = folder(&files);
            let kinds = detect(folder.path());
            assert_eq!(kinds.len(), 1, "{files:?}");
            assert_eq!((kinds[0].lint.as_deref(), kinds[0].test.as_deref()), (lint, test), "{files:?}");
        }
        assert_eq!(detect(folder(&[]).path()), []);
    }
}
