//! What must be registered with a client for a config.

use crate::install::scope::{Scope, SettingsTarget};
use crate::install::settings::{Caller, RegisteredLine, RegisteredProgram, Registration};
use conclaude_core::config::{
    CommandConfig, ConclaudeConfig, DesConfig, Enforcers, EventConfig, Patterns, Remark,
};
use conclaude_core::dialect::claude::{file_matcher, mcp, tools};
use conclaude_core::dialect::{ClientEvent, Dialect};
use conclaude_core::event::{self, EventKind, RegistrationRule, Subject};
use conclaude_core::pattern::{MatchMode, Pattern};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;

/// The part of the config that a scope registers: the user's config for all projects, the project's config for shared settings,
/// and everything for local settings.
pub fn config_for(scope: Scope, root: &Root) -> LoadedConfig {
    match scope {
        Scope::User => load::of_user(root, Patterns::All),
        Scope::Project => load::of_project(root, Patterns::All),
        Scope::Local => load::all(root, Patterns::All),
    }
}

/// The registrations that a config needs. Settings for all projects depend on the user's config only.
pub fn needed<'a>(
    config: &ConclaudeConfig,
    program: impl Into<RegisteredProgram<'a>>,
    target: SettingsTarget,
) -> Vec<Registration> {
    let needs = RegistrationNeeds::of(config, target.client);
    let SettingsTarget { client, scope } = target;
    let (program, caller) =
        (program.into(), if scope == Scope::User { Caller::User } else { Caller::Project });
    let line = |event| RegisteredLine { client, program, event, caller }.text();
    if client.is_translated() {
        let events =
            client.registered_events().filter(|event| needs.has(event.kind) || needs.has_at_tools(event));
        let registration = |event: &ClientEvent| Registration {
            event: event.kind,
            name: event.name.to_owned(),
            matcher: needs.client_matcher(event),
            command: line(event.name),
            timeout: client.settings.timeouts.of(event.name, event.kind),
            status: None,
            flaw: None,
        };
        return events.map(registration).collect();
    }
    let future = config.sections.iter().map(|(event, _)| *event).filter(|event| !event.is_known());
    let events = event::ALL.iter().copied().chain(future).filter(|event| needs.has(*event));
    let registration = |event: EventKind| Registration {
        event,
        name: event.name().to_owned(),
        matcher: needs.matcher(event),
        command: line(event.name()),
        timeout: client.settings.timeouts.of(event.name(), event),
        status: status(event, config),
        flaw: None,
    };
    events.map(registration).collect()
}

/// The needs of a config, for a client.
struct RegistrationNeeds<'a> {
    config: &'a ConclaudeConfig,
    client: &'static Dialect,
    gates_on: bool,
    /// The events that notifications name.
    notified: Vec<EventKind>,
    /// Whether messages of some event are delivered later.
    delivers: bool,
    enforcers: Enforcers,
}

impl<'a> RegistrationNeeds<'a> {
    fn of(config: &'a ConclaudeConfig, client: &'static Dialect) -> RegistrationNeeds<'a> {
        let gates_on = config.des.as_ref().is_none_or(DesConfig::is_enabled);
        let is_delivered = |event: EventKind| is_unseen(client, event) && has_commands(event, config);
        RegistrationNeeds {
            config,
            client,
            gates_on,
            notified: config.notified_events(),
            delivers: gates_on
                || has_budget(config, client)
                || config.sections.iter().any(|(event, _)| is_delivered(*event)),
            enforcers: if client.settings.is_enforcing { config.enforcers() } else { Enforcers::default() },
        }
    }

    /// Whether the event is registered.
    fn has(&self, event: EventKind) -> bool {
        match event.row().registered {
            RegistrationRule::Always => true,
            RegistrationRule::WithCommands => has_commands(event, self.config),
            RegistrationRule::ToDeliver => {
                self.delivers || self.uses(event) || counts_blocks(event, self.config)
            }
            RegistrationRule::WithGates => self.gates_on || self.uses(event),
            RegistrationRule::WhenUsed => self.uses(event),
        }
    }

    /// Whether it needs one of the events that this tool event stands for.
    fn has_at_tools(&self, event: &ClientEvent) -> bool {
        self.client.at_tools(event).any(|row| self.has(row.kind))
    }

    /// Whether the config has something for the event.
    fn uses(&self, event: EventKind) -> bool {
        self.notified.contains(&event) || has_commands(event, self.config) || self.has_rules(event)
    }

    /// Whether the config has rules for the event, besides commands.
    fn has_rules(&self, event: EventKind) -> bool {
        let config = self.config;
        if self.has_budget_at(event) {
            return true;
        }
        match event {
            EventKind::PreToolUse => config.guards.has_any(),
            EventKind::PermissionRequest => config.permissions.has_rules(),
            EventKind::UserPromptSubmit => config.prompts.rules().next().is_some(),
            EventKind::PostToolUse | EventKind::PostToolUseFailure => self.enforcers.sandbox,
            EventKind::PostToolBatch => self.enforcers.permissions,
            _ => false,
        }
    }

    /// Whether usage is counted or compared at the event. That applies to every tool.
    fn has_budget_at(&self, event: EventKind) -> bool {
        let budget = self.config.budget.as_ref();
        budget.is_some_and(|budget| budget.is_for(event, self.client.has_usage()))
    }

    /// The event's matcher for Claude Code. `None` for everything.
    fn matcher(&self, event: EventKind) -> Option<String> {
        let is_watching = matches!(event.row().subject, Subject::File(_));
        let mut names: Vec<String> = Vec::new();
        for name in self.compared(event)? {
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

    /// Like `matcher`, for another client, with its own names of tools.
    fn client_matcher(&self, event: &ClientEvent) -> Option<String> {
        if event.kind.row().subject != Subject::Field("tool_name") {
            return None;
        }
        let mut names: Vec<String> = Vec::new();
        if self.has(event.kind) {
            let compared = self.compared(event.kind)?;
            if compared.is_empty() {
                return None;
            }
            names.extend(self.client.tool_names(&compared)?);
        }
        if self.has_at_tools(event) {
            names.extend(self.client.at_tools(event).filter_map(|row| row.tool).map(str::to_owned));
        }
        let mut unique: Vec<String> = Vec::new();
        for name in names {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        Some(format!("^({})$", unique.join("|")))
    }

    /// The values that the event is compared with: names of tools, or files. `None` for everything.
    fn compared(&self, event: EventKind) -> Option<Vec<String>> {
        let is_watching = matches!(event.row().subject, Subject::File(_));
        // Notifications need every event. Without a list of files Claude Code watches none.
        if (self.notified.contains(&event) || self.has_budget_at(event)) && !is_watching {
            return None;
        }
        let mut names = self.of_rules(event)?;
        let section = self.config.section(event);
        let patterns =
            || section.into_iter().flat_map(EventConfig::entries).filter(|(_, list)| !list.is_empty());
        names.extend(match event.row().subject {
            Subject::Field("tool_name") => patterns()
                .map(|(pattern, list)| tools_of(pattern, list))
                .collect::<Option<Vec<_>>>()?
                .concat(),
            Subject::File(_) => {
                let paths = patterns().flat_map(|(pattern, _)| file_matcher::paths(pattern.as_str()));
                paths.filter_map(Result::ok).flatten().collect()
            }
            _ => Vec::new(),
        });
        Some(names)
    }

    /// The tools that rules and gates need, without commands.
    fn of_rules(&self, event: EventKind) -> Option<Vec<String>> {
        let writing = || tools::writing().map(str::to_owned);
        let mut names: Vec<String> = Vec::new();
        match event {
            EventKind::PreToolUse => {
                let reading: Vec<&str> = tools::reading().collect();
                let writers: Vec<&str> = tools::writing().collect();
                let guarded = self.config.guards.tools(&reading, &writers, mcp::MATCHER)?;
                if self.gates_on {
                    names.push(tools::AGENT.to_owned());
                    names.extend(writing());
                }
                names.extend(guarded);
            }
            EventKind::PostToolUse => {
                names.push(tools::AGENT.to_owned());
                // A new file may match a pattern whose files the sandbox protects.
                if self.enforcers.sandbox {
                    names.extend(writing());
                }
            }
            // The sandbox gives no reason.
            EventKind::PostToolUseFailure if self.enforcers.sandbox => names.push(tools::SHELL.to_owned()),
            EventKind::PermissionRequest => names = self.config.permissions.tools()?,
            _ => {}
        }
        Some(names)
    }
}

/// Whether commands of the event may print something that the client does not show there. After the end of a session there is no
/// later event to show it.
fn is_unseen(client: &Dialect, event: EventKind) -> bool {
    let is_seen = client.shows(event) && !event.row().in_agents;
    !is_seen && event != EventKind::SessionEnd
}

/// Whether the config has an amount that applies to a client. Messages about it in a subagent are delivered on the main thread.
fn has_budget(config: &ConclaudeConfig, client: &Dialect) -> bool {
    config.budget.as_ref().is_some_and(|budget| budget.limits_with(client.has_usage()).next().is_some())
}

/// A prompt of the user resets the block count of the main thread's stop.
fn counts_blocks(event: EventKind, config: &ConclaudeConfig) -> bool {
    event == EventKind::UserPromptSubmit && has_commands(EventKind::Stop, config)
}

/// Why an event is registered, in words.
pub fn reasons(event: EventKind) -> String {
    let row = event.row();
    let rules: &[&str] = match event {
        EventKind::PreToolUse => &["guards", "`budget`"],
        EventKind::PermissionRequest => &["`allow`", "`deny`", "`default`"],
        EventKind::UserPromptSubmit => {
            &["`contextRules`", "`slashCommands`", "commands of `stop`", "`budget`"]
        }
        EventKind::Stop => &["`infinite`", "`budget`"],
        EventKind::SubagentStart | EventKind::SubagentStop => &["`budget`"],
        EventKind::PostToolUse | EventKind::PostToolUseFailure => {
            &["`enforce: [sandbox]`", "`budget` with `then: ask`"]
        }
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

fn has_commands(event: EventKind, config: &ConclaudeConfig) -> bool {
    runs_scripts(event, config) || (event == EventKind::Stop && config.stop.infinite().is_some())
}

fn runs_scripts(event: EventKind, config: &ConclaudeConfig) -> bool {
    config.section(event).is_some_and(|section| section.commands().next().is_some())
        || (event == EventKind::UserPromptSubmit && config.prompts.slash_commands().next().is_some())
}

/// These registrations in the order in which they would be made.
pub fn in_order(client: &Dialect, mut registrations: Vec<Registration>) -> Vec<Registration> {
    let row = |one: &Registration| {
        if client.is_translated() {
            client.events.iter().position(|event| event.name == one.name)
        } else {
            event::ALL.iter().position(|event| *event == one.event)
        }
    };
    registrations.sort_by_key(row);
    registrations
}

/// The tools of a pattern, if its commands can run. `None` for all.
fn tools_of(pattern: &Pattern, commands: &[CommandConfig]) -> Option<Vec<String>> {
    let is_for_files = commands.iter().all(|command| command.files.is_some());
    match pattern.alternatives() {
        None if is_for_files => Some(tools::writing().map(str::to_owned).collect()),
        names => names,
    }
}

/// Claude Code reads a matcher with only names as a list of them, and any other as a regular expression that may match anywhere.
fn joined(names: &[String]) -> String {
    let is_name = |name: &String| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let list = names.join("|");
    if names.iter().all(is_name) { list } else { format!("^({list})$") }
}

/// Claude Code's status message. The events of subagents are always registered in the same way: gates may take a while, and
/// commands come and go.
fn status(event: EventKind, config: &ConclaudeConfig) -> Option<String> {
    let section = event.row().section;
    if event.is_of_agent() {
        return Some(format!("conclaude: {section}"));
    }
    let commands = if runs_scripts(event, config) { " commands" } else { "" };
    if has_commands(event, config) { Some(format!("conclaude: {section}{commands}")) } else { None }
}

/// One warning for each pattern whose commands together may exceed Claude Code's timeout for the event.
pub fn over_limit(config: &ConclaudeConfig) -> Vec<Remark> {
    let of_event = |event: EventKind| vec![event.row().section, "commands"];
    let sections = config.sections.iter().map(|(event, section)| (*event, of_event(*event), section));
    let slash = config.prompts.slash_commands.iter().map(|section| {
        (EventKind::UserPromptSubmit, vec!["userPromptSubmit", "slashCommands", "commands"], section)
    });
    sections.chain(slash).flat_map(|(event, keys, section)| of_section(event, &keys, section)).collect()
}

fn of_section(event: EventKind, keys: &[&str], section: &EventConfig) -> Vec<Remark> {
    let limit = event.row().max_timeout;
    let name = keys.strip_suffix(&["commands"]).unwrap_or(keys).join(".");
    let is_all = section.mode != Some(MatchMode::First);
    let wildcards = section.entries().iter().filter(|(pattern, _)| pattern.is_wildcard());
    let for_all: u64 = wildcards.map(|(_, commands)| seconds(commands)).sum();
    let mut warnings = Vec::new();
    for (pattern, commands) in section.entries() {
        let own = seconds(commands);
        let also = if is_all && !pattern.is_wildcard() { for_all } else { 0 };
        // If the commands of `*` already take too long, only they are reported.
        if own + also > limit && also <= limit {
            let with = if also > 0 { " and `*`" } else { "" };
            let what = format!("{name}: the timeouts of `{pattern}`{with} add up to {} s", own + also);
            let why = format!(
                "Claude Code stops {event} after {limit} s: it terminates the running command, later commands do not run, and nothing is blocked"
            );
            let remark = Remark::new(keys.iter().copied().chain([pattern.as_str()]), what);
            warnings.push(remark.because(why).help("use shorter timeouts"));
        }
    }
    warnings
}

/// The total timeout of commands, if the config limits them.
fn seconds(commands: &[CommandConfig]) -> u64 {
    commands.iter().filter_map(|command| command.timeout).map(|timeout| u64::from(timeout.get())).sum()
}
