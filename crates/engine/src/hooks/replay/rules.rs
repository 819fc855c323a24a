//! Every rule of a config that could concern the events of a transcript, in the form of records.

use std::collections::HashSet;
use std::path::Path;

use conclaude_checks::guard;
use conclaude_checks::permission;
use conclaude_core::config::EventConfig;
use conclaude_core::event::EventKind;
use conclaude_core::plan::INFINITE_RULE;
use conclaude_core::rule::Rule;
use conclaude_store::load::LoadedConfig;

/// The events that a transcript shows.
pub(super) const EVENTS: [EventKind; 5] = [
    EventKind::PreToolUse,
    EventKind::PermissionRequest,
    EventKind::UserPromptSubmit,
    EventKind::Stop,
    EventKind::SubagentStop,
];

pub(super) fn all(
    loaded: &LoadedConfig,
    guards: &guard::GuardRules,
    permissions: &permission::PermissionRules,
    base: &Path,
) -> Vec<Rule> {
    // A rule without a line was not written by the user.
    let mut found: Vec<Rule> = guards.all().into_iter().filter(|rule| rule.line.is_some()).collect();
    found.extend(permissions.all());
    let prompts = &loaded.config.prompts;
    for (number, rule) in prompts.rules() {
        let named = Rule::key("userPromptSubmit.contextRules").pattern(rule.value.pattern.as_str());
        let keys = ["userPromptSubmit", "contextRules", &number.to_string()];
        found.push(located(loaded, base, &keys, named));
    }
    for event in EVENTS {
        let section = loaded.config.section(event).into_iter();
        found.extend(
            section.flat_map(|section| commands(loaded, base, &[event.row().section, "commands"], section)),
        );
    }
    let slash = prompts.slash_commands.iter();
    let keys = ["userPromptSubmit", "slashCommands", "commands"];
    found.extend(slash.flat_map(|section| commands(loaded, base, &keys, section)));
    found.extend(loaded.config.stop.infinite().map(|_| infinite(loaded, base)));
    let mut seen = HashSet::new();
    found.retain(|rule| seen.insert(rule.clone()));
    found
}

fn commands(loaded: &LoadedConfig, base: &Path, keys: &[&str], section: &EventConfig) -> Vec<Rule> {
    let mut found = Vec::new();
    for (pattern, commands) in section.entries() {
        for index in 0..commands.len() {
            let index = index.to_string();
            let named = Rule::key(keys.join(".")).pattern(pattern.as_str());
            found.push(located(loaded, base, &[keys, &[pattern.as_str(), &index]].concat(), named));
        }
    }
    found
}

pub(super) fn infinite(loaded: &LoadedConfig, base: &Path) -> Rule {
    INFINITE_RULE.rule(&loaded.origins, base)
}

/// A rule with the file and the line of the value below these keys.
pub(super) fn located(loaded: &LoadedConfig, base: &Path, keys: &[&str], rule: Rule) -> Rule {
    rule.located(&loaded.origins, keys, base)
}
