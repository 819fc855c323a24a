//! Rules that a client of `clients` does not support, each on one line with the actual behaviour.

use super::{CommandEntry, command_keys, commands};
use conclaude_core::config::{
    ConclaudeConfig, DesConfig, FileAction, FileRuleConfig, Reaction, Remark, RuleAction, ToolAction,
};
use conclaude_core::dialect::Dialect;
use conclaude_core::event::EventKind;
use conclaude_core::yaml::Located;

pub(super) fn check(config: &ConclaudeConfig, found: &mut Vec<Remark>) {
    for client in config.clients() {
        found.extend(sections(config).into_iter().filter_map(|event| never_applies(client, event)));
        found.extend(commands(config).flat_map(|entry| of_command(client, entry)));
        if client.never_asks() {
            found.extend(asking(config).iter().map(|keys| nobody_asked(client, keys)));
        }
        let has_gates = config.des.as_ref().is_some_and(DesConfig::is_enabled);
        if has_gates && !client.changes_input {
            let what = format!(
                "{}: `des`: {} cannot change tool input, so agents learn their boundaries only from denials",
                client.name, client.title
            );
            found.push(Remark::new(["des"], what));
        }
    }
}

/// The events for which the config has something.
fn sections(config: &ConclaudeConfig) -> Vec<EventKind> {
    let mut events: Vec<EventKind> = config.sections.iter().map(|(event, _)| *event).collect();
    if config.permissions.has_rules() && !events.contains(&EventKind::PermissionRequest) {
        events.push(EventKind::PermissionRequest);
    }
    events
}

fn never_applies(client: &Dialect, event: EventKind) -> Option<Remark> {
    let section = event.row().section;
    let why = client.lacks(event)?;
    Some(Remark::new([section], format!("{}: {section} never applies: {why}", client.name)))
}

/// The parts of a command that a client does not support at an event.
fn of_command(client: &Dialect, entry: CommandEntry<'_>) -> Vec<Remark> {
    let CommandEntry { event, pattern, index, command } = entry;
    if !client.is_translated() || !event.is_known() {
        return Vec::new();
    }
    let Some(possible) = client.possible(event) else { return Vec::new() };
    let (section, index) = (event.row().section, index.to_string());
    let mut found = Vec::new();
    let mut add = |key: &str, what: String| {
        let what = format!("{}: {section}: {what}", client.name);
        found.push(Remark::new(command_keys(section, pattern, &index, key), what));
    };
    for (key, reaction) in [("onFailure", command.on_failure), ("onTimeout", command.on_timeout)] {
        if reaction == Some(Reaction::Block) && possible.block.is_none() {
            let title = client.title;
            add(key, format!("`{key}: block` has no effect: {title} ignores a block at this event"));
        }
    }
    if command.context == Some(true) && !possible.context {
        add("context", format!("`context: true` has no effect: {} reads no context there", client.title));
    }
    found
}

fn nobody_asked(client: &Dialect, keys: &[String]) -> Remark {
    let what = format!(
        "{}: {}: `{}: ask` is a denial: in {} nobody can be asked",
        client.name,
        keys.iter().take(2).map(String::as_str).collect::<Vec<_>>().join("."),
        keys.last().map_or("action", String::as_str),
        client.title
    );
    Remark::new(keys, what)
}

/// The rules of `preToolUse` that ask. If `packs` makes a pack's rule ask, the position is that of `packs`.
fn asking(config: &ConclaudeConfig) -> Vec<Vec<String>> {
    let guards = &config.guards;
    let keys = |name: &str, index: usize, key: &str| {
        ["preToolUse", name, &index.to_string(), key].map(str::to_owned).to_vec()
    };
    let rules = guards.tool_usage_validation.iter().flatten().enumerate();
    let mut found: Vec<Vec<String>> = rules
        .filter(|(_, rule)| rule.value.action == ToolAction::Ask)
        .map(|(index, _)| keys("toolUsageValidation", index, "action"))
        .collect();
    let lists = [
        ("uneditableFiles", &guards.uneditable_files),
        ("unreadableFiles", &guards.unreadable_files),
        ("preventAdditions", &guards.prevent_additions),
    ];
    for (name, rules) in lists {
        for (index, rule) in rules.iter().flatten().enumerate() {
            found.extend(asking_keys(rule).map(|key| keys(name, index, key)));
        }
    }
    found
}

/// The keys with which a rule for files asks.
fn asking_keys(rule: &Located<FileRuleConfig>) -> impl Iterator<Item = &'static str> {
    let rule = &rule.value.0;
    let asks = [
        ("action", rule.action == Some(FileAction::Ask)),
        ("create", rule.create == Some(RuleAction::Ask)),
        ("source", rule.source == Some(RuleAction::Ask)),
        ("restore", rule.restore == Some(RuleAction::Ask)),
    ];
    asks.into_iter().filter_map(|(key, asks)| if asks { Some(key) } else { None })
}
