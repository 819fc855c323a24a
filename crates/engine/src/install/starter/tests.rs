use std::path::Path;

use super::detect::{CheckKind, ProjectCheck};
use super::*;
use conclaude_core::config::ConclaudeConfig;

fn kind(file: &'static str, folder: &str, lint: Option<&str>) -> ProjectKind {
    let lint = lint.map(|run| ProjectCheck { kind: CheckKind::Lint, run: run.to_owned() });
    let test = ProjectCheck { kind: CheckKind::Test, run: "npm run test".into() };
    ProjectKind { file, folder: folder.into(), checks: lint.into_iter().chain([test]).collect(), edits: None }
}

#[test]
fn what_is_written_is_valid_as_it_is_live_and_uncommented() {
    let kinds = [kind("package.json", "", Some("npm run \"lint\": x")), kind("go.mod", "a b/#c", None)];
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for writers in [own(&[]), own(&["coder", "qa: \"strict\"", "x\n- y", "{a"]), own(&[GENERAL])] {
        for kinds in [&kinds[..], &kinds[..1], &[]] {
            let starter =
                Starter { kinds, writers: &writers, choices: None, imported: &ImportResult::default() };
            let path = Path::new("x.yaml");
            let parse = |text: &str| {
                ConclaudeConfig::parse(text, path).unwrap_or_else(|error| panic!("{error}\n{text}"))
            };
            assert_eq!(parse(&starter.text()), ConclaudeConfig::default());
            let all = parse(&uncommented(&starter.text()));
            assert!(all.commands() >= 2);
            assert_eq!(all.warnings(), Vec::new());
            for (audience, reaction) in [
                (Audience::Agents, Reaction::Block),
                (Audience::Main, Reaction::Warn),
                (Audience::Both, Reaction::Block),
            ] {
                let choices =
                    Choices { audience, reaction, packs: Vec::new(), ..Choices::recommended(kinds) };
                let live = Starter { choices: Some(&choices), ..starter };
                let text = live.text();
                let times = if audience == Audience::Both { 2 } else { 1 };
                assert_eq!(parse(&text).commands(), choices.checks.len() * times, "{text}");
                assert_eq!(live.is_live(), !kinds.is_empty());
                parse(&uncommented(&text));
            }
        }
    }
}

#[test]
fn checks_are_for_agents_that_can_write() {
    let kinds = [kind("Cargo.toml", "", Some("lint"))];
    let writers = ["coder".to_owned(), "bad,name".to_owned(), "tester".to_owned()];
    let choices = Choices { packs: Vec::new(), ..Choices::recommended(&kinds) };
    let imported = ImportResult::default();
    let starter = Starter { kinds: &kinds, writers: &writers, choices: Some(&choices), imported: &imported };
    let config = ConclaudeConfig::parse(&starter.text(), Path::new("x")).unwrap();
    let section = config.section(conclaude_core::event::EventKind::SubagentStop).unwrap();
    let [(pattern, commands)] = section.entries() else { panic!("{:?}", section.entries()) };
    assert_eq!(pattern.as_str(), "{general-purpose,coder,tester}");
    for (name, expected) in [("general-purpose", true), ("tester", true), ("Explore", false), ("Plan", false)]
    {
        assert_eq!(pattern.matches(name, None).unwrap(), expected, "{name}");
    }
    let runs: Vec<&str> = commands.iter().map(|command| command.run.as_str()).collect();
    assert_eq!(runs, ["lint", "npm run test"]);
}
