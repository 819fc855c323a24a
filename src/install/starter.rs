//! The config that `conclaude init` writes, fitted to what lies in the project. Everything in it is commented out: a tool
//! that starts to run commands unasked is not one to trust.

use std::path::Path;

use serde_json::Value;

use crate::files;

/// A kind of project that was found, and how one checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The file that says so.
    pub file: &'static str,
    /// The command that lints.
    pub lint: Option<String>,
    /// The command that tests.
    pub test: Option<String>,
}

/// Where the schema lies that editors use, seen from the config.
pub const SCHEMA: &str = ".conclaude/schema.json";

/// What lies in the folder.
#[must_use]
pub fn detect(folder: &Path) -> Vec<Kind> {
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

/// The config's text.
#[must_use]
pub fn text(kinds: &[Kind], agents: &[String]) -> String {
    let files: Vec<&str> = kinds.iter().map(|kind| kind.file).collect();
    let found = match (files.as_slice(), agents) {
        ([], []) => "Nothing was found here that tells how to check it, and no agents".into(),
        (files, []) => format!("Found here: {}; no agents of your own yet", files.join(", ")),
        ([], agents) => format!("Found here: the agents {}", agents.join(", ")),
        (files, agents) => format!("Found here: {}; the agents {}", files.join(", "), agents.join(", ")),
    };
    let found: String = found.chars().filter(|c| !c.is_control()).collect();
    format!(
        "# yaml-language-server: $schema=./{SCHEMA}\n\
         ##\n\
         ## What conclaude does when subagents start and stop. Nothing runs until you take the `# ` away.\n\
         ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.\n\
         ##\n\
         ## {found}.\n\
         \n\
         ## Commands when a subagent stops, by its name: * ? [a-z] {{a,b}} work, and \"*\" is every one.\n\
         # subagentStop:\n\
         #   commands:\n\
         {}\
         \n\
         ## Commands when a subagent starts. They can show and prepare things, but never block.\n\
         # subagentStart:\n\
         #   commands:\n\
         #     \"*\":\n\
         #       - run: \"git status --short\"\n\
         \n\
         ## The gates for prompts with <!-- DES-VALIDATION: required --> are on without any of this.\n\
         # des:\n\
         #   scope: block          # block | warn | off: files outside of the step's patterns\n\
         #   evidence: []          # phases that only count if `conclaude des run` recorded them\n\
         \n\
         ## How often one agent is sent back, for whatever reason, before it is let go (1-7).\n\
         # maxBlocks: 3\n\
         \n\
         ## A desktop notification when something failed.\n\
         # notifications:\n\
         #   enabled: true\n\
         #   hooks: [\"SubagentStop\"]\n\
         #   showErrors: true\n\
         #   showSystemEvents: false\n",
        commands(kinds, agents)
    )
}

/// What a person gets who takes every `# ` away: what is registered now should do for that too.
#[must_use]
pub fn uncommented(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("##")).skip(1);
    lines.map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

/// The agent's pattern: the first agent whose name speaks of such work, else all.
fn pattern<'a>(agents: &'a [String], words: &[&str]) -> &'a str {
    let speaks = |name: &&String| words.iter().any(|word| name.to_lowercase().contains(word));
    agents.iter().find(speaks).map_or("*", String::as_str)
}

fn commands(kinds: &[Kind], agents: &[String]) -> String {
    let coder = pattern(agents, &["cod", "dev", "impl", "engineer", "front", "back", "build", "refactor"]);
    let tester = pattern(agents, &["test", "qa", "verif", "quality"]);
    let lints =
        kinds.iter().filter_map(|kind| kind.lint.as_deref()).map(|run| (coder, run, "Linting failed"));
    let tests = kinds.iter().filter_map(|kind| kind.test.as_deref()).map(|run| (tester, run, "Tests failed"));
    let mut all: Vec<(&str, &str, &str)> = lints.chain(tests).collect();
    if all.is_empty() {
        all.push(("*", "make check", "The checks failed"));
    }
    let mut text = String::new();
    let mut patterns: Vec<&str> = all.iter().map(|(pattern, ..)| *pattern).collect();
    patterns.dedup();
    for pattern in patterns {
        text.push_str(&format!("#     {}:\n", Value::from(pattern)));
        for (_, run, message) in all.iter().filter(|(own, ..)| *own == pattern) {
            text.push_str(&format!(
                "#       - run: {}\n\
                 #         message: {}\n\
                 #         showStdout: true\n\
                 #         maxOutputLines: 50\n\
                 #         timeout: 600         # seconds; then it is ended with all its children\n\
                 #         onFailure: block     # the agent is sent back to mend it; `warn` only tells\n",
                Value::from(*run),
                Value::from(*message)
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConclaudeConfig;

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

    #[test]
    fn what_is_written_is_valid_as_it_is_and_without_its_comment_signs() {
        let kinds = [
            Kind {
                file: "package.json",
                lint: Some("npm run \"lint\": x".into()),
                test: Some("npm run test".into()),
            },
            Kind { file: "go.mod", lint: Some("go vet ./...".into()), test: None },
        ];
        for agents in
            [vec![], vec!["coder".to_owned(), "qa: \"strict\"".to_owned()], vec!["reviewer".to_owned()]]
        {
            for kinds in [&kinds[..], &kinds[..1], &[]] {
                let text = text(kinds, &agents);
                let path = Path::new("x.yaml");
                assert_eq!(ConclaudeConfig::parse(&text, path).unwrap(), ConclaudeConfig::default());
                let all = uncommented(&text);
                let config =
                    ConclaudeConfig::parse(&all, path).unwrap_or_else(|error| panic!("{error}\n{all}"));
                assert!(config.commands() >= 2, "{all}");
                assert_eq!(config.warnings(), Vec::<String>::new(), "{all}");
            }
        }
    }

    #[test]
    fn commands_go_to_the_agents_whose_work_they_check() {
        let kinds = [Kind { file: "Cargo.toml", lint: Some("lint".into()), test: Some("test".into()) }];
        let all = uncommented(&text(&kinds, &["planner".into(), "backend-coder".into(), "tester".into()]));
        let config = ConclaudeConfig::parse(&all, Path::new("x")).unwrap();
        let section = config.section(crate::event::Event::SubagentStop).unwrap();
        let patterns: Vec<(&str, &str)> = section
            .entries()
            .iter()
            .map(|(pattern, commands)| (pattern.as_str(), commands[0].run.as_str()))
            .collect();
        assert_eq!(patterns, [("backend-coder", "lint"), ("tester", "test")]);
    }
}
