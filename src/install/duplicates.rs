//! Hooks that the user wrote and that run what the config runs as well, at the same event for the same agents.

use std::path::{Path, PathBuf};

use super::scope::{Scope, is_users_own};
use super::settings::{Foreign, foreign};
use super::user_file::MAX_BYTES;
use crate::config::ConclaudeConfig;
use crate::event::EventKind;
use crate::files;
use crate::pattern::Pattern;

/// A command that runs twice.
pub(crate) struct Duplicate {
    pub(crate) event: EventKind,
    /// The command of the config.
    pub(crate) run: String,
    pub(crate) hook: Foreign,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
}

/// The hooks of the user's in the settings files of a scope.
pub(crate) fn hooks(scope: Scope, project: &Path) -> Option<(PathBuf, Vec<Foreign>)> {
    let path = scope.path(project)?;
    // In one's home both are the same file, and it is the user's.
    if scope != Scope::User && is_users_own(&path) {
        return None;
    }
    let text = files::read_text(&path, MAX_BYTES).ok()?;
    Some((path, foreign(&text)))
}

/// What would run twice with this config.
pub(crate) fn duplicates(project: &Path, config: &ConclaudeConfig) -> Vec<Duplicate> {
    let mut found = Vec::new();
    for scope in Scope::ALL {
        let Some((path, hooks)) = hooks(scope, project) else { continue };
        for hook in hooks {
            let Some((event, run)) = same_command(&hook, config) else { continue };
            found.push(Duplicate { event, run, hook, scope, path: path.clone() });
        }
    }
    found
}

/// The command of the config that the hook runs too.
fn same_command(hook: &Foreign, config: &ConclaudeConfig) -> Option<(EventKind, String)> {
    let event = EventKind::named(&hook.event)?;
    let script = words(hook.command()?);
    let entries = config.section(event)?.entries().iter();
    let mut commands = entries
        .filter(|(pattern, _)| overlap(hook.matcher.as_deref(), pattern))
        .flat_map(|(_, commands)| commands);
    // `cd x && npm run lint` runs `npm run lint`, `npm run lint:css` does not.
    let is_in = |run: &str| format!(" {script} ").contains(&format!(" {} ", words(run)));
    let command = commands.find(|command| is_in(command.run.as_str()))?;
    Some((event, command.run.as_str().to_owned()))
}

/// A script with single blanks, and blanks around what separates commands.
fn words(script: &str) -> String {
    let spaced: String =
        script.chars().flat_map(|c| if ";&|()".contains(c) { vec![' ', c, ' '] } else { vec![c] }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether an agent may be meant by both. Of a regular expression nothing is known, so it may.
fn overlap(matcher: Option<&str>, pattern: &Pattern) -> bool {
    let matcher = matcher.map(str::trim).filter(|text| !matches!(*text, "" | "*"));
    let Some(matcher) = matcher.filter(|_| !pattern.is_wildcard()) else { return true };
    let is_list = matcher.chars().all(|c| c.is_alphanumeric() || "_- |,".contains(c));
    let mut names = matcher.split(['|', ',']).map(str::trim);
    !is_list || names.any(|name| pattern.matches(name, None).unwrap_or(true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_command_for_the_same_agents_is_a_duplicate() {
        let text = "subagentStop: {commands: {'{coder,tester}': [{run: npm run lint}]}}";
        let config = ConclaudeConfig::parse(text, Path::new("x")).unwrap();
        for (event, matcher, command, expected) in [
            ("SubagentStop", None, "npm run lint", true),
            ("SubagentStop", Some("*"), " npm  run lint\n", true),
            ("SubagentStop", Some("tester|x"), "cd \"$CLAUDE_PROJECT_DIR\"&&npm run lint", true),
            ("SubagentStop", Some("^c.*"), "npm run lint || exit 2", true),
            ("SubagentStop", Some("other"), "npm run lint", false),
            ("SubagentStop", None, "npm run lint:css", false),
            ("SubagentStart", None, "npm run lint", false),
            ("Stop", None, "npm run lint", false),
        ] {
            let hook = Foreign {
                event: event.into(),
                matcher: matcher.map(str::to_owned),
                hook: json!({ "command": command }),
            };
            assert_eq!(same_command(&hook, &config).is_some(), expected, "{event} {matcher:?} {command:?}");
        }
    }
}
