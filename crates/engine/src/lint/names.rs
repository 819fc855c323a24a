//! Names that match no tool, no agent and no value of a payload.

use super::coverage::{alternatives, is_literal};
use super::{CommandEntry, LintContext, command_keys, commands};
use conclaude_core::agent::MAIN;
use conclaude_core::config::{ConclaudeConfig, EventConfig, Remark};
use conclaude_core::dialect::claude::fields;
use conclaude_core::dialect::claude::mcp::PREFIX as MCP;
use conclaude_core::dialect::claude::names::AGENTS as BUILT_IN;
use conclaude_core::dialect::claude::tools::{KNOWN, RENAMED};
use conclaude_core::event::{EventKind, Subject};
use conclaude_core::text::{nearest, quoted_list};
use shell_effects::glob::{Glob, GlobKind};

pub(super) fn of_sections(config: &ConclaudeConfig, context: &LintContext, found: &mut Vec<Remark>) {
    for (event, section) in &config.sections {
        for (pattern, _) in section.entries() {
            let (name, pattern) = (event.row().section, pattern.as_str());
            let wrong = match event.row().subject {
                Subject::Field("tool_name") => tool(pattern).or_else(|| server(pattern)),
                Subject::Field(_) => value(*event, pattern),
                Subject::Agent => agent(pattern, context, false),
                _ => None,
            };
            found.extend(wrong.map(|wrong| wrong.remark(&[name, "commands", pattern], name)));
        }
    }
    let slash = config.prompts.slash_commands.iter().flat_map(EventConfig::entries);
    for (pattern, _) in slash.filter(|(pattern, _)| pattern.as_str().contains(char::is_whitespace)) {
        let pattern = pattern.as_str();
        let name = pattern.trim_start_matches('/').split_whitespace().next().unwrap_or_default();
        let wrong = NameProblem {
            name: pattern.to_owned(),
            why: "the name of a slash command ends at the first space".into(),
            help: format!("write `{name}`; its arguments are in the payload"),
        };
        let keys = ["userPromptSubmit", "slashCommands", "commands", pattern];
        found.push(wrong.remark(&keys, "userPromptSubmit"));
    }
    for CommandEntry { event, pattern, index, command } in commands(config) {
        let Some(glob) = &command.agent else { continue };
        let (name, index) = (event.row().section, index.to_string());
        let keys = command_keys(name, pattern, &index, "agent");
        let wrong = thread(event, glob.as_str()).or_else(|| agent(glob.as_str(), context, true));
        found.extend(wrong.map(|wrong| wrong.remark(&keys, name)));
    }
}

/// The tools and agents of `permissionRequest`.
pub(super) fn of_permissions(config: &ConclaudeConfig, context: &LintContext, found: &mut Vec<Remark>) {
    const SECTION: &str = "permissionRequest";
    let allow =
        config.permissions.allow.iter().flatten().map(|rule| (&rule.value.0.pattern, &rule.value.0.agent));
    let deny =
        config.permissions.deny.iter().flatten().map(|rule| (&rule.value.0.pattern, &rule.value.0.agent));
    let allow = allow.enumerate().map(|(index, rule)| ("allow", index, rule));
    for (list, index, (pattern, agents)) in
        allow.chain(deny.enumerate().map(|(index, rule)| ("deny", index, rule)))
    {
        let index = index.to_string();
        let name = pattern.written.split('(').next().unwrap_or_default();
        // Rules know a tool by its old name, too.
        let wrong = if RENAMED.iter().any(|(old, _)| *old == name) { None } else { tool(name) };
        found.extend(wrong.map(|wrong| wrong.remark(&[SECTION, list, &index], SECTION)));
        let wrong = agents.as_ref().and_then(|glob| agent(glob.as_str(), context, true));
        found.extend(wrong.map(|wrong| wrong.remark(&[SECTION, list, &index, "agent"], SECTION)));
    }
}

/// A name that matches nothing.
pub(super) struct NameProblem {
    name: String,
    why: String,
    help: String,
}

impl NameProblem {
    pub(super) fn remark(self, keys: &[&str], what: &str) -> Remark {
        Remark::new(keys.iter().copied(), format!("{what}: `{}` matches nothing", self.name))
            .because(self.why)
            .help(self.help)
    }
}

/// A pattern that no tool matches. An unknown literal name may be one of a newer Claude Code, as the help text says.
pub(super) fn tool(pattern: &str) -> Option<NameProblem> {
    alternatives(pattern).into_iter().find_map(|name| {
        let wrong = |why: String, help: String| Some(NameProblem { name: name.clone(), why, help });
        if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == name) {
            return wrong("Claude Code has another name for this tool".into(), format!("write `{new}`"));
        }
        if name.starts_with("mcp_") && !name.starts_with(MCP) && is_literal(&name) {
            let why = "tools of MCP servers have two underscores twice";
            return wrong(why.into(), format!("write `{MCP}SERVER__TOOL`"));
        }
        if name.starts_with(MCP) && name.ends_with("__") && is_literal(&name) {
            let why = "it is the start of the names of a server's tools, and whole names are compared";
            return wrong(why.into(), format!("write `{name}*`"));
        }
        if name.starts_with("mcp") || KNOWN.iter().any(|tool| matches(&name, tool)) {
            return None;
        }
        if !is_literal(&name) {
            let lower = name.to_lowercase();
            let meant = KNOWN.iter().find(|tool| name != "*" && matches(&lower, &tool.to_lowercase()))?;
            return wrong("case counts".into(), format!("did you mean `{meant}`?"));
        }
        let same = KNOWN.iter().find(|tool| tool.eq_ignore_ascii_case(&name)).copied();
        let near = same.or_else(|| nearest(&name, KNOWN.iter().copied()));
        let help = near.map_or_else(
            || format!("remove it, unless a newer Claude Code has it; tools of MCP servers are `{MCP}SERVER__TOOL`"),
            |near| format!("did you mean `{near}`?"),
        );
        wrong("Claude Code has no tool of this name".into(), help)
    })
}

/// A server instead of its tools. In rules it stands for them, but keys of commands compare the tool's name.
fn server(pattern: &str) -> Option<NameProblem> {
    let is_server = |name: &String| {
        is_literal(name) && name.strip_prefix(MCP).is_some_and(|server| !server.contains("__"))
    };
    let name = alternatives(pattern).into_iter().find(is_server)?;
    let help = format!("write `{name}__*`");
    Some(NameProblem { name, why: "it is a server, and its tools are compared".into(), help })
}

fn matches(glob: &str, name: &str) -> bool {
    Glob::new(glob, GlobKind::Name).is_ok_and(|glob| glob.matches(name).unwrap_or(true))
}

/// A literal that the payload's field never has.
fn value(event: EventKind, pattern: &str) -> Option<NameProblem> {
    let (known, is_all) = fields::values(event)?;
    // A glob may match an unknown value, unless all are known.
    let is_dead =
        |name: &String| (is_all || is_literal(name)) && !known.iter().any(|known| matches(name, known));
    let name = alternatives(pattern).into_iter().find(is_dead)?;
    let same = known.iter().find(|known| known.eq_ignore_ascii_case(&name)).copied();
    let near = same.or_else(|| nearest(&name, known.iter().copied()));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if is_all => format!("write one of {}", quoted_list(known)),
        None => return None,
    };
    Some(NameProblem { name, why: format!("{event} is never about that"), help })
}

/// `agent` at an event that comes only from the main thread, or only from subagents.
fn thread(event: EventKind, glob: &str) -> Option<NameProblem> {
    let is_of_subagents = event.is_of_agent();
    let is_of_main = !event.row().in_agents;
    let is_main = matches(glob, MAIN);
    let (why, help) = if is_main && is_of_subagents && is_literal(glob) {
        (format!("{event} is only about subagents"), "remove `agent`")
    } else if !is_main && is_of_main {
        (format!("{event} comes only from the main thread"), "remove `agent`, or write `main`")
    } else {
        return None;
    };
    Some(NameProblem { name: glob.to_owned(), why, help: help.into() })
}

/// A name that no agent has. Names with a `:` belong to plugins, whose files are not searched. If no agent has a file, the names
/// come from elsewhere, so only a name similar to a known one is a mistake.
pub(super) fn agent(pattern: &str, context: &LintContext, may_be_main: bool) -> Option<NameProblem> {
    let known = || BUILT_IN.iter().copied().chain(context.agents.iter().map(String::as_str));
    let is_known = |name: &str| known().any(|known| known == name) || (may_be_main && name == MAIN);
    let name = alternatives(pattern)
        .into_iter()
        .find(|name| is_literal(name) && !name.contains(':') && !is_known(name) && !is_id(name))?;
    let near = nearest(&name, known());
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if context.agents.is_empty() => return None,
        None => {
            let own: Vec<&str> = context.agents.iter().map(String::as_str).collect();
            format!("known are {}, and those of Claude Code", quoted_list(&own))
        }
    };
    let why = "neither the project, you nor Claude Code has an agent of this name";
    Some(NameProblem { name, why: why.into(), help })
}

/// Ids of agents are `a` and 16 hexadecimal digits.
fn is_id(name: &str) -> bool {
    name.len() == 17 && name.starts_with('a') && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
