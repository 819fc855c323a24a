//! The config that `conclaude init` writes, based on what is in the project. Everything in it is commented out: a tool
//! that starts to run commands unasked is not one to trust.

use serde_json::Value;

mod detect;

pub(crate) use detect::{Kind, detect};

/// The path of the schema for editors, relative to the config.
pub(crate) const SCHEMA: &str = ".conclaude/schema.json";

pub(crate) fn text(kinds: &[Kind], agents: &[String]) -> String {
    let files: Vec<&str> = kinds.iter().map(|kind| kind.file).collect();
    let found = match (files.as_slice(), agents) {
        ([], []) => "Found here: no build file of a known kind, and no agents".into(),
        (files, []) => format!("Found here: {}; no agents of your own yet", files.join(", ")),
        ([], agents) => format!("Found here: the agents {}", agents.join(", ")),
        (files, agents) => format!("Found here: {}; the agents {}", files.join(", "), agents.join(", ")),
    };
    let found: String = found.chars().filter(|c| !c.is_control()).collect();
    format!(
        "# yaml-language-server: $schema=./{SCHEMA}\n\
         ##\n\
         ## What conclaude does when subagents start and stop. Nothing runs until you uncomment it.\n\
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
         ## How often the stop of one agent is blocked, for whatever reason, before it is allowed (1-7).\n\
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

/// What the user gets by uncommenting everything: what is registered now should do for that too.
pub(crate) fn uncommented(text: &str) -> String {
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
                 #         timeout: 600         # seconds; then it is killed with all its children\n\
                 #         onFailure: block     # the agent must fix it first; `warn` only reports it\n",
                Value::from(*run),
                Value::from(*message)
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::ConclaudeConfig;

    #[test]
    fn what_is_written_is_valid_as_it_is_and_uncommented() {
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
        let section = config.section(crate::event::EventKind::SubagentStop).unwrap();
        let patterns: Vec<(&str, &str)> = section
            .entries()
            .iter()
            .map(|(pattern, commands)| (pattern.as_str(), commands[0].run.as_str()))
            .collect();
        assert_eq!(patterns, [("backend-coder", "lint"), ("tester", "test")]);
    }
}
