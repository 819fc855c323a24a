//! Commands of a config that answer as hooks. Most of them came from a settings file, and can go back there.

use serde_json::{Map, Value, json};

use super::scripts::is_same;
use super::settings::UserHook;
use conclaude_core::config::{CommandConfig, ConclaudeConfig};
use conclaude_core::event::EventKind;
use conclaude_core::pattern::Pattern;

/// The commands with `protocol: hook` that are not among these hooks, as hooks of a settings file.
pub fn not_among(known: &[UserHook], config: &ConclaudeConfig) -> Vec<UserHook> {
    let mut found = Vec::new();
    for (event, section) in &config.sections {
        for (pattern, commands) in section.entries() {
            let hooks = commands.iter().filter(|command| command.is_hook());
            let lost = hooks.filter(|command| !known.iter().any(|hook| runs(hook, *event, command)));
            found.extend(lost.map(|command| as_hook(*event, pattern, command)));
        }
    }
    found
}

fn runs(hook: &UserHook, event: EventKind, command: &CommandConfig) -> bool {
    hook.event == event.name() && hook.command().is_some_and(|script| is_same(script, command))
}

fn as_hook(event: EventKind, pattern: &Pattern, command: &CommandConfig) -> UserHook {
    let mut hook = Map::new();
    hook.insert("type".into(), "command".into());
    hook.insert("command".into(), command.run.as_str().into());
    if let Some(timeout) = &command.timeout {
        hook.insert("timeout".into(), timeout.get().into());
    }
    let matcher = if event.row().has_matcher { matcher(pattern.as_str()) } else { None };
    UserHook { event: event.name().to_owned(), matcher, hook: Value::Object(hook) }
}

/// The matcher for a glob: a list of names, or a regular expression.
fn matcher(glob: &str) -> Option<String> {
    if glob == "*" {
        return None;
    }
    let bare = glob.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(glob);
    Some(bare.replace(',', "|").replace('*', ".*").replace('?', "."))
}

/// These hooks in the form of a settings file.
pub fn as_settings(hooks: &[UserHook]) -> Value {
    let mut events = Map::new();
    for UserHook { event, matcher, hook } in hooks {
        let mut group = Map::new();
        group.extend(matcher.as_deref().map(|matcher| ("matcher".to_owned(), matcher.into())));
        group.insert("hooks".into(), json!([hook]));
        let groups = events.entry(event.as_str()).or_insert_with(|| json!([]));
        if let Some(groups) = groups.as_array_mut() {
            groups.push(Value::Object(group));
        }
    }
    json!({ "hooks": events })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn commands_become_the_hooks_that_they_were() {
        let text = "preToolUse: {commands: {'{Bash,Write}': [{run: ./guard.sh, protocol: hook, timeout: 5}, {run: lint}]}}\n\
                    stop: {commands: [{run: ./stop.sh, protocol: hook}]}\n";
        let config = ConclaudeConfig::parse(text, Path::new("x")).unwrap();
        let hooks = not_among(&[], &config);
        let settings = json!({"hooks": {
            "PreToolUse": [{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "./stop.sh"}]}],
        }});
        assert_eq!(as_settings(&hooks), settings);
        assert_eq!(not_among(&hooks, &config), []);
    }
}
