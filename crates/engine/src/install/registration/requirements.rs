//! What must be registered with Claude Code for a config.

use crate::install::scope::Scope;
use crate::install::settings::{Registration, make_line};
use conclaude_core::config::{CommandConfig, ConclaudeConfig, DesConfig, EventConfig, Patterns, Remark};
use conclaude_core::dialect::claude::{file_matcher, mcp, tools};
use conclaude_core::event::{self, EventKind, RegistrationRule, Subject};
use conclaude_core::pattern::{MatchMode, Pattern};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;

/// The part of the config that the settings of a scope register for: the user's config for all projects, the project's config for
/// shared settings, and all of it for local settings.
pub fn config_for(scope: Scope, root: &Root) -> LoadedConfig {
    match scope {
        Scope::User => load::of_user(root, Patterns::All),
        Scope::Project => load::of_project(root, Patterns::All),
        Scope::Local => load::all(root, Patterns::All),
    }
}

/// The registrations that a config needs. Settings for all projects depend on the user's config only.
pub fn needed(config: &ConclaudeConfig, program: &str, scope: Scope) -> Vec<Registration> {
    let gates_on = config.des.as_ref().is_none_or(DesConfig::is_enabled);
    let named = config.notified_events();
    let delivers = gates_on
        || config.sections.iter().any(|(event, _)| is_unseen(*event) && has_commands(*event, config));
    let is_needed = |event: &EventKind| match event.row().registered {
        RegistrationRule::Always => true,
        RegistrationRule::WithCommands => has_commands(*event, config),
        RegistrationRule::ToDeliver => {
            delivers || is_used(*event, config, &named) || counts_blocks(*event, config)
        }
        RegistrationRule::WithGates => gates_on || is_used(*event, config, &named),
        RegistrationRule::WhenUsed => is_used(*event, config, &named),
    };
    let future = config.sections.iter().map(|(event, _)| *event).filter(|event| !event.is_known());
    let events = event::ALL.iter().copied().chain(future).filter(is_needed);
    events
        .map(|event| Registration {
            event,
            matcher: matcher(event, config, gates_on, named.contains(&event)),
            command: make_line(program, event, scope == Scope::User),
            timeout: timeout(event),
            status: status(event, config),
            flaw: None,
        })
        .collect()
}

/// Whether commands of the event may print something that Claude Code does not show there. After the end of a session there is no
/// later event to show it.
fn is_unseen(event: EventKind) -> bool {
    let is_seen = event.is_shown() && !event.row().in_agents;
    !is_seen && event != EventKind::SessionEnd
}

/// A prompt of the user resets the block count of the main thread's stop.
fn counts_blocks(event: EventKind, config: &ConclaudeConfig) -> bool {
    event == EventKind::UserPromptSubmit && has_commands(EventKind::Stop, config)
}

/// What makes an event be registered, in words.
pub fn reasons(event: EventKind) -> String {
    let row = event.row();
    let rules: &[&str] = match event {
        EventKind::PreToolUse => &["guards"],
        EventKind::PermissionRequest => &["`allow`", "`deny`", "`default`"],
        EventKind::UserPromptSubmit => &["`contextRules`", "`slashCommands`", "commands of `stop`"],
        EventKind::Stop => &["`infinite`"],
        EventKind::PostToolUse | EventKind::PostToolUseFailure => &["`enforce: [sandbox]`"],
        EventKind::PostToolBatch => &["`enforce: [permissions]`"],
        _ => &[],
    };
    let mut needs: Vec<&str> = vec!["commands"];
    needs.extend(rules);
    match row.registered {
        RegistrationRule::Always => return "always".into(),
        RegistrationRule::WithCommands => {
            return "only with commands: that changes what Claude Code does, or costs a process with every word"
                .into();
        }
        RegistrationRule::WhenUsed => needs.push("notifications"),
        RegistrationRule::WithGates => needs.extend(["notifications", "gates"]),
        RegistrationRule::ToDeliver => {
            needs.extend(["notifications", "gates", "commands of events that show nothing themselves"]);
        }
    }
    let last = needs.pop().unwrap_or_default();
    format!("with {} or {last}", needs.join(", "))
}

/// Whether the config has rules for the event, beside commands.
fn has_rules(event: EventKind, config: &ConclaudeConfig) -> bool {
    match event {
        EventKind::PreToolUse => config.guards.has_any(),
        EventKind::PermissionRequest => config.permissions.has_rules(),
        EventKind::UserPromptSubmit => config.prompts.rules().next().is_some(),
        EventKind::PostToolUse | EventKind::PostToolUseFailure => config.enforcers().sandbox,
        EventKind::PostToolBatch => config.enforcers().permissions,
        _ => false,
    }
}

/// Whether the config has something for the event.
fn is_used(event: EventKind, config: &ConclaudeConfig, notified: &[EventKind]) -> bool {
    notified.contains(&event) || has_commands(event, config) || has_rules(event, config)
}

fn has_commands(event: EventKind, config: &ConclaudeConfig) -> bool {
    runs_scripts(event, config) || (event == EventKind::Stop && config.stop.infinite().is_some())
}

fn runs_scripts(event: EventKind, config: &ConclaudeConfig) -> bool {
    config.section(event).is_some_and(|section| section.commands().next().is_some())
        || (event == EventKind::UserPromptSubmit && config.prompts.slash_commands().next().is_some())
}

/// The same registrations in the order in which they would be made.
pub fn in_order(mut registrations: Vec<Registration>) -> Vec<Registration> {
    let row = |one: &Registration| event::ALL.iter().position(|event| *event == one.event);
    registrations.sort_by_key(row);
    registrations
}

/// What the event is registered for; none for everything.
fn matcher(event: EventKind, config: &ConclaudeConfig, gates_on: bool, is_notified: bool) -> Option<String> {
    let is_watching = matches!(event.row().subject, Subject::File(_));
    // Notifications need every event. Without a list of files Claude Code watches none.
    if is_notified && !is_watching {
        return None;
    }
    let ours: Vec<String> = match event {
        EventKind::PreToolUse => {
            let reading: Vec<&str> = tools::reading().collect();
            let writing: Vec<&str> = tools::writing().collect();
            let guarded = config.guards.tools(&reading, &writing, mcp::MATCHER)?;
            let mut ours: Vec<String> = Vec::new();
            if gates_on {
                ours.push(tools::AGENT.to_owned());
                ours.extend(writing.iter().map(|name| (*name).to_owned()));
            }
            ours.extend(guarded);
            ours
        }
        EventKind::PostToolUse => {
            // A new file may match a pattern whose files the sandbox protects.
            let mut ours = vec![tools::AGENT.to_owned()];
            if config.enforcers().sandbox {
                ours.extend(tools::writing().map(str::to_owned));
            }
            ours
        }
        // The sandbox gives no reason.
        EventKind::PostToolUseFailure if config.enforcers().sandbox => vec![tools::SHELL.to_owned()],
        EventKind::PermissionRequest => config.permissions.tools()?,
        _ => Vec::new(),
    };
    let section = config.section(event);
    let patterns = || section.into_iter().flat_map(EventConfig::entries).filter(|(_, list)| !list.is_empty());
    let theirs = match event.row().subject {
        Subject::Field("tool_name") => {
            patterns().map(|(pattern, list)| tools_of(pattern, list)).collect::<Option<Vec<_>>>()?.concat()
        }
        Subject::File(_) => {
            let paths = patterns().flat_map(|(pattern, _)| file_matcher::paths(pattern.as_str()));
            paths.filter_map(Result::ok).flatten().collect()
        }
        _ => Vec::new(),
    };
    let mut names: Vec<String> = Vec::new();
    for name in ours.into_iter().chain(theirs) {
        // Older clients know the tool by its former name.
        let current = tools::current_name(&name);
        for name in [Some(current), tools::former_name(current)].into_iter().flatten() {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    if is_watching {
        return file_matcher::matcher(&names);
    }
    if names.is_empty() { None } else { Some(joined(&names)) }
}

/// The tools that a pattern is about, as far as its commands can run. None for all.
fn tools_of(pattern: &Pattern, commands: &[CommandConfig]) -> Option<Vec<String>> {
    let is_for_files = commands.iter().all(|command| command.files.is_some());
    match pattern.alternatives() {
        None if is_for_files => Some(tools::writing().map(str::to_owned).collect()),
        names => names,
    }
}

/// Claude Code reads a matcher of names alone as a list of them, and any other as a regular expression that may match anywhere.
fn joined(names: &[String]) -> String {
    let is_name = |name: &String| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let list = names.join("|");
    if names.iter().all(is_name) { list } else { format!("^({list})$") }
}

/// The longest timeout of the event, whatever the config. The commands have their own limits, and a committed registration must not
/// change with them.
pub(super) fn timeout(event: EventKind) -> u64 {
    event.row().max_timeout
}

/// What Claude Code shows meanwhile. The events of subagents are registered in one way, whatever the config: gates may take a while, and
/// commands come and go.
fn status(event: EventKind, config: &ConclaudeConfig) -> Option<String> {
    let section = event.row().section;
    if event.is_of_agent() {
        return Some(format!("conclaude: {section}"));
    }
    let commands = if runs_scripts(event, config) { " commands" } else { "" };
    if has_commands(event, config) { Some(format!("conclaude: {section}{commands}")) } else { None }
}

/// One warning for each pattern whose commands may take longer together than Claude Code waits for the event.
pub fn over_limit(config: &ConclaudeConfig) -> Vec<Remark> {
    let of_event = |event: EventKind| vec![event.row().section, "commands"];
    let sections = config.sections.iter().map(|(event, section)| (*event, of_event(*event), section));
    let slash = config.prompts.slash_commands.iter().map(|section| {
        (EventKind::UserPromptSubmit, vec!["userPromptSubmit", "slashCommands", "commands"], section)
    });
    sections.chain(slash).flat_map(|(event, keys, section)| of_section(event, &keys, section)).collect()
}

fn of_section(event: EventKind, keys: &[&str], section: &EventConfig) -> Vec<Remark> {
    let limit = timeout(event);
    let name = keys.strip_suffix(&["commands"]).unwrap_or(keys).join(".");
    let is_all = section.mode != Some(MatchMode::First);
    let wildcards = section.entries().iter().filter(|(pattern, _)| pattern.is_wildcard());
    let for_all: u64 = wildcards.map(|(_, commands)| seconds(commands)).sum();
    let mut warnings = Vec::new();
    for (pattern, commands) in section.entries() {
        let own = seconds(commands);
        let also = if is_all && !pattern.is_wildcard() { for_all } else { 0 };
        // If those of `*` are too long already, only they are reported.
        if own + also > limit && also <= limit {
            let with = if also > 0 { " and `*`" } else { "" };
            let what = format!("{name}: the timeouts of `{pattern}`{with} add up to {} s", own + also);
            let why = format!(
                "Claude Code stops {event} after {limit} s: what runs then is terminated, what comes after it does not run, and nothing is blocked"
            );
            let remark = Remark::new(keys.iter().copied().chain([pattern.as_str()]), what);
            warnings.push(remark.because(why).help("use shorter timeouts"));
        }
    }
    warnings
}

/// How long commands may take, as far as the config limits them.
fn seconds(commands: &[CommandConfig]) -> u64 {
    commands.iter().filter_map(|command| command.timeout).map(|timeout| u64::from(timeout.get())).sum()
}
