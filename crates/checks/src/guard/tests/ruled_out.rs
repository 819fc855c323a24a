//! Rules that a quick look at a command rules out, compared with it all the same.

use proptest::prelude::*;

use super::super::tool_rule::{RuleTarget, touches};
use super::*;
use conclaude_core::config::ConclaudeConfig;
use conclaude_core::packs;
use test_support::cases;

const HOME: &str = "/home/me";

/// The rules of all packs, and rules of a user.
fn rules_of_packs() -> GuardRules {
    let mut rules = rules();
    rules.tools.push(command("echo *", false, Action::Allow));
    rules.tools.push(command("*$(git *", false, Action::Ask));
    for pack in &packs::ALL {
        let config = ConclaudeConfig::parse(pack.text, Path::new(pack.name)).unwrap();
        let of_pack = GuardRules::of(&config.guards, &Sources(&[]), Some(HOME)).unwrap();
        rules.tools.extend(of_pack.tools);
    }
    rules
}

/// The words of the patterns, and words whose values are not known.
fn words(rules: &GuardRules) -> Vec<String> {
    let of_patterns = rules.tools.iter().flat_map(|rule| rule.written.split([' ', ',', '{', '}', '|', '*']));
    let others =
        ["$X", "\"$X\"", "$(git log)", "x$X", "*", "/", "~", "|", "&&", "' | x'", "GIT", "X=1", "sudo", "."];
    let mut words: Vec<String> = of_patterns.chain(others).map(str::to_owned).collect();
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    words
}

/// Compares every rule with all that a command runs.
fn assert_ruled_out_rules_do_not_match(rules: &GuardRules, command: &str) {
    let scene = Scene::of(Path::new("/home/me/project"), Some(HOME));
    let call = ToolCall { command: Some(command), ..scene.call() };
    let effects = scene.ground().of_script(shell_effects::read(command, Some(HOME)));
    let (touches, is_only) = (touches(&effects), effects.commands.len() == 1);
    let commands = effects.commands.iter().enumerate();
    let mut targets: Vec<RuleTarget<'_>> =
        commands.map(|command| RuleTarget::command(command, &call, is_only, &touches)).collect();
    let pipelines = effects.pipelines.iter().map(|pipeline| {
        let commands: Vec<_> = pipeline.iter().filter_map(|index| effects.commands.get(*index)).collect();
        RuleTarget::pipeline(&commands, Some(HOME))
    });
    targets.extend(pipelines);
    targets.push(RuleTarget::whole(command));
    for target in &targets {
        for rule in rules.tools.iter().filter(|rule| target.rules_out(rule)) {
            let is_match = target.compare(rule, &call).is_ok();
            assert!(!is_match, "{} matches {} of {command}", rule.written, target.subject(&call));
        }
    }
}

#[test]
fn no_rule_that_matches_is_ruled_out() {
    let rules = rules_of_packs();
    for rule in &rules.tools {
        // Nearly what the pattern spells.
        let command = rule.written.split_once(' ').map_or("", |(_, pattern)| pattern);
        assert_ruled_out_rules_do_not_match(&rules, &command.replace(['{', '}', '*'], ""));
        assert_ruled_out_rules_do_not_match(&rules, &command.replace('*', "$X"));
    }
    let word = prop::sample::select(words(&rules));
    let config =
        ProptestConfig { cases: cases(200, 20_000), failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(words in prop::collection::vec(word, 1..6))| {
        assert_ruled_out_rules_do_not_match(&rules, &words.join(" "));
    });
}
