//! The user's hooks that do the same as the config, at the same event for the same agents.

use std::path::{Path, PathBuf};

use super::scope::{Scope, is_users_own};
use super::scripts::{Matcher, contains};
use super::settings::{UserHook, user_hooks};
use super::user_file::MAX_BYTES;
use conclaude_core::config::ConclaudeConfig;
use conclaude_core::event::EventKind;
use conclaude_os::files;

pub struct Duplicate {
    pub event: EventKind,
    /// The command of the config.
    pub run: String,
    pub hook: UserHook,
    pub scope: Scope,
    pub path: PathBuf,
}

/// The user's hooks in the settings files of a scope.
pub fn hooks(scope: Scope, project: &Path) -> Option<(PathBuf, Vec<UserHook>)> {
    let path = scope.path(project)?;
    // In the home directory both are the same file, and it is the user's.
    if scope != Scope::User && is_users_own(&path) {
        return None;
    }
    let text = files::read_text(&path, MAX_BYTES).ok()?;
    Some((path, user_hooks(&text)))
}

/// The hooks that would run twice with this config.
pub fn duplicates(project: &Path, config: &ConclaudeConfig) -> Vec<Duplicate> {
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
fn same_command(hook: &UserHook, config: &ConclaudeConfig) -> Option<(EventKind, String)> {
    let event = EventKind::named(&hook.event)?;
    let script = hook.command()?;
    let matcher = Matcher::new(hook.matcher.as_deref());
    let entries = config.section(event)?.entries().iter();
    let mut commands =
        entries.filter(|(pattern, _)| matcher.overlaps(pattern)).flat_map(|(_, commands)| commands);
    let command = commands.find(|command| contains(script, command))?;
    Some((event, command.run.as_str().to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_command_for_the_same_agents_is_a_duplicate() {
        let text = "subagentStop: {commands: {'{coder,tester}': [{run: npm run lint}, {run: npm test}]}}";
        let config = ConclaudeConfig::parse(text, Path::new("x")).unwrap();
        for (event, matcher, command, expected) in [
            ("SubagentStop", None, "npm run lint", true),
            ("SubagentStop", Some("*"), " npm  run lint\n", true),
            ("SubagentStop", Some("tester|x"), "cd \"$CLAUDE_PROJECT_DIR\"&&npm run lint", true),
            ("SubagentStop", Some("^c.*"), "npm run lint || exit 2", true),
            ("SubagentStop", Some("other"), "npm run lint", false),
            ("SubagentStop", None, "npm run lint:css", false),
            ("SubagentStop", None, "npm run test && x", true),
            ("SubagentStart", None, "npm run lint", false),
            ("Stop", None, "npm run lint", false),
        ] {
            let hook = UserHook {
                event: event.into(),
                matcher: matcher.map(str::to_owned),
                hook: json!({ "command": command }),
            };
            assert_eq!(same_command(&hook, &config).is_some(), expected, "{event} {matcher:?} {command:?}");
        }
    }
}
