use super::*;

type DetectedCommands<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

/// What is found in a folder with these files, as folder, lint and test.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[DetectedCommands<'_>]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let kinds = detect(folder.path());
    let run = |kind: &'_ ProjectKind, wanted| {
        let check = kind.checks.iter().find(|check| check.kind == wanted);
        check.map(|check| check.run.clone())
    };
    let found: Vec<_> = kinds
        .iter()
        .map(|kind| (kind.folder.as_str(), run(kind, CheckKind::Lint), run(kind, CheckKind::Test)))
        .collect();
    let found: Vec<DetectedCommands<'_>> =
        found.iter().map(|(folder, lint, test)| (*folder, lint.as_deref(), test.as_deref())).collect();
    assert_eq!(found, expected, "{files:?}");
}

const SCRIPTS: &str = r#"{"scripts":{"lint":"x","test":"y"}}"#;
const CLIPPY: Option<&str> = Some("cargo clippy --all-targets -- -D warnings");
const WORKSPACE_CLIPPY: Option<&str> = Some("cargo clippy --workspace --all-targets -- -D warnings");

/// All commands that are found in a folder with these files, each after its folder.
#[track_caller]
fn check_runs(files: &[(&str, &str)], expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let kinds = detect(folder.path());
    let runs: Vec<String> = kinds
        .iter()
        .flat_map(|kind| kind.checks.iter().map(move |check| format!("{}: {}", kind.folder, check.run)))
        .collect();
    assert_eq!(runs, expected, "{files:?}");
}

#[test]
fn the_lock_file_names_the_package_manager() {
    for (lock, lint, test) in [
        ("x", "npm run lint", "npm run test"),
        ("package-lock.json", "npm run lint", "npm run test"),
        ("pnpm-lock.yaml", "pnpm run lint", "pnpm run test"),
        ("yarn.lock", "yarn run lint", "yarn run test"),
        ("bun.lock", "bun run lint", "bun run test"),
        ("bun.lockb", "bun run lint", "bun run test"),
    ] {
        check(&[("package.json", SCRIPTS), (lock, "")], &[("", Some(lint), Some(test))]);
    }
    let named = r#"{"packageManager":"pnpm@10.1.0","scripts":{"lint":"x"}}"#;
    check(&[("package.json", named)], &[("", Some("pnpm run lint"), None)]);
    let npm_init = r#"{"devDependencies":{"eslint":"9"},"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
    check(&[("package.json", npm_init), ("yarn.lock", "")], &[("", Some("yarn eslint ."), None)]);
    check(&[("package.json", "broken")], &[("", None, None)]);
    for (lock, lint, test) in [
        ("uv.lock", "uv run ruff check .", "uv run pytest"),
        ("poetry.lock", "poetry run ruff check .", "poetry run pytest"),
        ("x", "ruff check .", "pytest"),
    ] {
        let project = "[tool.ruff]\n[tool.pytest.ini_options]\n";
        check(&[("pyproject.toml", project), (lock, "")], &[("", Some(lint), Some(test))]);
    }
}

#[test]
fn only_what_is_there_is_suggested() {
    check(&[], &[]);
    check(&[("pyproject.toml", "[project]")], &[("", None, None)]);
    check(
        &[("pyproject.toml", "dev = [\"flake8\"]"), ("manage.py", "")],
        &[("", Some("flake8"), Some("python manage.py test"))],
    );
    check(
        &[("requirements.txt", "flask\n"), ("requirements-dev.txt", "ruff\npytest\n")],
        &[("", Some("ruff check ."), Some("pytest"))],
    );
    check(&[("go.mod", "module x")], &[("", Some("go vet ./..."), Some("go test ./..."))]);
    check(
        &[("go.mod", "module x"), (".golangci.yml", "")],
        &[("", Some("golangci-lint run"), Some("go test ./..."))],
    );
    check(&[("Cargo.toml", "[package]")], &[("", CLIPPY, Some("cargo test"))]);
}

#[test]
fn a_makefile_or_justfile_gives_targets_that_exist_where_nothing_else_does() {
    check(&[("Makefile", "all:\n\tcc x.c\n")], &[]);
    check(
        &[("Makefile", "lint:\n\tx\ntest: all\n\ty\ncheck: lint\n")],
        &[("", Some("make lint"), Some("make test"))],
    );
    check(&[("Makefile", "check:\n\tx\n")], &[("", None, Some("make check"))]);
    check(&[("justfile", "lint:\n  x\n"), ("Makefile", "lint:\n\tx\n")], &[("", Some("just lint"), None)]);
    // A target that only runs the detected commands adds nothing; a target that does something else is a separate part.
    for wrapper in ["test:\n\t$(CARGO) test\n", "test: unit\nunit:\n\tcargo test -q\n", "test: all\n"] {
        let files = [("Cargo.toml", "[package]"), ("Makefile", wrapper)];
        check(&files, &[("", CLIPPY, Some("cargo test"))]);
    }
    check(
        &[("Cargo.toml", "[package]"), ("Makefile", "test:\n\t./run-c-tests\n")],
        &[("", CLIPPY, Some("cargo test")), ("", None, Some("make test"))],
    );
    check(&[("Makefile", "lint:\n\truff check --fix .\ntest:\n\ty\n")], &[("", None, Some("make test"))]);
    check(
        &[("pyproject.toml", "[project]"), ("Makefile", "test:\n\tx\n")],
        &[("", None, None), ("", None, Some("make test"))],
    );
}

#[test]
fn each_workspace_of_a_monorepo_has_its_own_commands() {
    let lint_only = r#"{"scripts":{"lint":"x"}}"#;
    check(
        &[
            ("package.json", r#"{"workspaces":["packages/*"]}"#),
            ("packages/a/package.json", SCRIPTS),
            ("packages/b/package.json", lint_only),
            ("packages/c/package.json", "{}"),
            ("yarn.lock", ""),
        ],
        &[
            ("", None, None),
            ("packages/a", Some("yarn run lint"), Some("yarn run test")),
            ("packages/b", Some("yarn run lint"), None),
        ],
    );
    check(
        &[
            ("package.json", r#"{"scripts":{"lint":"pnpm -r run lint"}}"#),
            ("pnpm-workspace.yaml", "packages: ['apps/*']"),
            ("pnpm-lock.yaml", ""),
            ("apps/a/package.json", SCRIPTS),
        ],
        &[("", Some("pnpm run lint"), None), ("apps/a", None, Some("pnpm run test"))],
    );
    // The root's own tests do not cover those of the workspaces, whatever its lint script covers.
    check(
        &[
            ("package.json", r#"{"workspaces":["a"],"scripts":{"lint":"turbo lint","test":"node test.js"}}"#),
            ("a/package.json", SCRIPTS),
        ],
        &[("", Some("npm run lint"), Some("npm run test")), ("a", None, Some("npm run test"))],
    );
    check(
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
            ("crates/x/Cargo.toml", "[package]"),
            ("crates/y/Cargo.toml", "[package]"),
        ],
        &[("", WORKSPACE_CLIPPY, Some("cargo test --workspace"))],
    );
    check(
        &[("go.work", "use (\n\t./a\n\t./b\n)\n"), ("a/go.mod", ""), ("b/x", "")],
        &[("a", Some("go vet ./..."), Some("go test ./..."))],
    );
    check(
        &[
            ("pyproject.toml", "[tool.uv.workspace]\nmembers = [\"libs/*\"]\n"),
            ("uv.lock", ""),
            ("libs/a/pyproject.toml", "dev = ['pytest']"),
        ],
        &[("", None, None), ("libs/a", None, Some("uv run pytest"))],
    );
}

#[test]
fn a_workspace_uses_the_package_manager_that_the_root_names() {
    check(
        &[
            ("package.json", r#"{"workspaces":["a"],"packageManager":"yarn@4.1.0"}"#),
            ("a/package.json", SCRIPTS),
        ],
        &[("", None, None), ("a", Some("yarn run lint"), Some("yarn run test"))],
    );
}

#[test]
fn projects_side_by_side_are_found_where_no_file_in_the_root_names_them() {
    check(
        &[
            ("README.md", "x"),
            ("back/Cargo.toml", "[workspace]"),
            ("front/package.json", SCRIPTS),
            ("front/pnpm-lock.yaml", ""),
            ("node_modules/x/package.json", SCRIPTS),
            (".hidden/package.json", SCRIPTS),
            ("docs/package.json", "{}"),
            ("tools/deep/package.json", SCRIPTS),
        ],
        &[
            (
                "back",
                Some("cargo clippy --workspace --all-targets -- -D warnings"),
                Some("cargo test --workspace"),
            ),
            ("front", Some("pnpm run lint"), Some("pnpm run test")),
        ],
    );
    // A part that nothing in the root checks counts, in any folder.
    check(
        &[("Makefile", "test:\n\tx\n"), ("a/package.json", SCRIPTS)],
        &[("a", Some("npm run lint"), Some("npm run test")), ("", None, Some("make test"))],
    );
}

#[test]
fn many_members_are_checked_all_at_once() {
    let names: Vec<String> = (0..=MAX_FOLDERS).map(|n| format!("crates/c{n}/Cargo.toml")).collect();
    let mut files = vec![("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n")];
    files.extend(names.iter().map(|name| (name.as_str(), "[package]")));
    check(&files, &[("", WORKSPACE_CLIPPY, Some("cargo test --workspace"))]);
}

#[test]
fn a_script_that_writes_is_not_a_check() {
    let scripts =
        |scripts: &str| format!(r#"{{"devDependencies":{{"eslint":"9"}},"scripts":{{{scripts}}}}}"#);
    for (given, expected) in [
        (r#""lint":"biome lint --write","lint:check":"biome lint""#, ": npm run lint:check"),
        (r#""lint":"eslint . --fix""#, ": npx --no-install eslint ."),
        (r#""lint":"npm run fix","fix":"eslint . --fix""#, ": npx --no-install eslint ."),
        (r#""lint":"eslint . --fix","check":"eslint .""#, ": npm run check"),
        (r#""lint":"eslint .","lint:fix":"npm run lint -- --fix""#, ": npm run lint"),
    ] {
        check_runs(&[("package.json", &scripts(given))], &[expected]);
    }
}

#[test]
fn types_and_formats_are_checked_and_nothing_twice() {
    let package =
        |scripts: &str| format!(r#"{{"devDependencies":{{"typescript":"5"}},"scripts":{{{scripts}}}}}"#);
    let swr =
        r#""lint":"eslint .","types:check":"tsc --noEmit","format:check":"prettier --check .","test":"jest""#;
    check_runs(
        &[("package.json", &package(swr)), ("tsconfig.json", "{}")],
        &[": npm run lint", ": npm run format:check", ": npm run types:check", ": npm run test"],
    );
    check_runs(
        &[("package.json", &package(r#""test":"ava""#)), ("tsconfig.json", "{}")],
        &[": npx --no-install tsc --noEmit", ": npm run test"],
    );
    let built = r#""test":"npm run build && ava","build":"tsc""#;
    check_runs(&[("package.json", &package(built)), ("tsconfig.json", "{}")], &[": npm run test"]);
    let references = r#"{"files": [], "references": [{"path": "a"}]}"#;
    check_runs(
        &[("package.json", &package(r#""test":"ava""#)), ("tsconfig.json", references)],
        &[": npm run test"],
    );
    let all = r#""lint":"eslint .","test":"npm run lint && jest""#;
    check_runs(&[("package.json", &package(all))], &[": npm run test"]);
    check_runs(&[("package.json", &package(r#""check":"svelte-check""#))], &[": npm run check"]);
    let declarations = r#""types":"tsc --emitDeclarationOnly","test":"jest --watch","test:ci":"jest""#;
    check_runs(&[("package.json", &package(declarations))], &[": npm run test:ci"]);
}

#[test]
fn what_the_root_checks_for_all_is_not_checked_again_in_a_package() {
    for tool in ["vitest run", "jest", "pnpm -r test", "turbo run test", "pnpm --filter=./packages/** test"] {
        let root = format!(r#"{{"scripts":{{"test":"{tool}"}}}}"#);
        check_runs(
            &[
                ("package.json", &root),
                ("pnpm-workspace.yaml", "packages: ['packages/*']"),
                ("packages/a/package.json", SCRIPTS),
                ("pnpm-lock.yaml", ""),
            ],
            &[": pnpm run test", "packages/a: pnpm run lint"],
        );
    }
}

#[test]
fn all_parts_of_a_mixed_repository_are_found_and_its_side_folders_are_not() {
    check_runs(
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
            ("crates/a/Cargo.toml", "[package]"),
            ("web/package.json", SCRIPTS),
            ("web/yarn.lock", ""),
            ("py/pyproject.toml", "dev = ['pytest']"),
            ("services/api/go.mod", "module api"),
            ("examples/x/package.json", SCRIPTS),
            ("docs/package.json", SCRIPTS),
            ("Makefile", "lint:\n\tshellcheck bin/*.sh\ntest:\n\tcargo test && cd web && yarn test\n"),
        ],
        &[
            ": cargo clippy --workspace --all-targets -- -D warnings",
            ": cargo test --workspace",
            "py: pytest",
            "services/api: go vet ./...",
            "services/api: go test ./...",
            "web: yarn run lint",
            "web: yarn run test",
            ": make lint",
        ],
    );
}

#[test]
fn tools_in_python_only_check_and_come_from_the_group_that_has_them() {
    let project = "[dependency-groups]\ndev = [\"ruff\"]\ntests = [\n  \"pytest>=8\",\n]\n[tool.ruff]\nfix = true\n[tool.mypy]\nfiles = [\"src\"]\n";
    check_runs(
        &[("pyproject.toml", project), ("uv.lock", "")],
        &[": uv run ruff check --no-fix .", ": uv run mypy", ": uv run --group tests pytest"],
    );
    let defaults = format!("{project}[tool.uv]\ndefault-groups = [\"dev\", \"tests\"]\n");
    check_runs(
        &[("pyproject.toml", &defaults), ("uv.lock", "")],
        &[": uv run ruff check --no-fix .", ": uv run mypy", ": uv run pytest"],
    );
}
