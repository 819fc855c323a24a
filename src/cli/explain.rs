//! `conclaude explain`: what would happen at an event, and why; nothing is run.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::out::Out;
use super::rule_enforcement;
use conclaude_checks::enforce::RuleEnforcement;
use conclaude_core::config::Patterns;
use conclaude_core::dialect::claude::names::AGENTS;
use conclaude_core::dialect::claude::{fields, mcp, tools};
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_core::text::nearest;
use conclaude_engine::hooks::rehearse::{Rehearsal, rehearse};
use conclaude_engine::hooks::{Environment, switch};
use conclaude_engine::install::scope::Scope;
use conclaude_engine::install::{agents, registration};
use conclaude_os::environment::Variables;
use conclaude_store::load;
use conclaude_store::root::Root;

pub(super) mod json;
pub(super) mod layout;
pub(super) mod print;
mod request;
mod rules;
mod words;

pub(super) use request::{ExplainEvent, ExplainRequest};

pub(super) const EXAMPLES: &str = "Examples:
  conclaude explain PreToolUse --command 'rm -rf build'
  conclaude explain PreToolUse --file .env --agent coder
  conclaude explain SubagentStop --agent coder --file src/main.rs
  conclaude explain --payload payload.json
  conclaude explain Stop --all                  with every rule that was compared, and every answer

Exits with 0 whatever would be decided.";

/// An event with its result.
pub(super) struct Explanation {
    pub(super) asked: ExplainEvent,
    /// `None` if conclaude has nothing to do at the event.
    pub(super) rehearsal: Option<Rehearsal>,
    /// Further notes for the user.
    pub(super) notes: Vec<String>,
    /// Who enforces each guard, if the config has `enforce`.
    pub(super) enforced: Vec<RuleEnforcement>,
}

pub(super) fn run(request: &ExplainRequest) -> anyhow::Result<Exit> {
    let asked = ExplainEvent::of(request)?;
    let explained = explain(asked)?;
    is_an_event(&explained)?;
    let mut out = Out::stdout();
    if request.json {
        out.json(&json::of(&explained))?;
    } else {
        print::text(&mut out, &explained, request.all)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// A newer Claude Code may have events that this version does not know. If the config has no section for it either, it is a typo.
fn is_an_event(explained: &Explanation) -> anyhow::Result<()> {
    let event = explained.asked.event;
    let has_section = |rehearsal: &Rehearsal| rehearsal.has_section || rehearsal.config_error.is_some();
    if event.is_known() || explained.rehearsal.as_ref().is_some_and(has_section) {
        return Ok(());
    }
    Err(anyhow!(
        "unknown event `{event}`: this version does not know it, and the config has no section `{}`; `conclaude events` lists them",
        event.row().section
    ))
}

/// Inspects the event as it would be handled here.
pub(super) fn explain(asked: ExplainEvent) -> anyhow::Result<Explanation> {
    let environment = Environment::of_process();
    let project = environment.project_dir.clone().unwrap_or_else(|| PathBuf::from(asked.cwd()));
    let found = registration::current(&project);
    let environment = Environment {
        only_if_trusted: registration::asks_for_trust(&found),
        changed: asked.changed.clone(),
        is_sample: asked.is_sample,
        explains: true,
        ..environment
    };
    let event = asked.parsed()?;
    let mut notes = asked.notes.clone();
    if asked.client.is_translated() {
        notes.push(format!("as in {}, which calls the event {}", asked.client.title, event.client_event));
        notes.extend(switched_off(&environment.variables));
    } else {
        notes.extend(unknown_names(&asked, &project));
        notes.extend(not_called(asked.event, &found, &environment.variables));
    }
    let rehearsal = rehearse(event, &environment).map_err(|error| anyhow!("{error}"))?;
    let enforced = if asked.event == EventKind::PreToolUse && !asked.client.is_translated() {
        enforced_rules(&asked, &environment, &mut notes)?
    } else {
        Vec::new()
    };
    Ok(Explanation { asked, rehearsal, notes, enforced })
}

fn enforced_rules(
    asked: &ExplainEvent,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<RuleEnforcement>> {
    let root = Root::find(environment.project_dir.as_deref(), Path::new(asked.cwd()));
    let project = environment.project_dir.clone().unwrap_or_else(|| root.folder.clone());
    let loaded = load::all(&root, Patterns::All);
    let Some(compiled) = rule_enforcement::compiled(&root, &project, &loaded) else { return Ok(Vec::new()) };
    let compiled = compiled?;
    notes.extend(rule_enforcement::not_written(&project, &compiled).map(|why| format!("`enforce` is {why}")));
    Ok(compiled.rules)
}

fn switched_off(variables: &Variables) -> Option<String> {
    switch::off(variables).map(|value| format!("CONCLAUDE={value} switches every event off"))
}

/// Why Claude Code would not call conclaude at all.
fn not_called(
    event: EventKind,
    found: &[registration::ScopeSettings],
    variables: &Variables,
) -> Option<String> {
    if let Some(off) = switched_off(variables) {
        return Some(off);
    }
    let is_registered =
        found.iter().flat_map(registration::ScopeSettings::registered).any(|one| one.event == event);
    if is_registered {
        return None;
    }
    Some(format!(
        "{event} is not registered with Claude Code here, so none of this happens: `conclaude install` registers what the config needs"
    ))
}

fn unknown_names(asked: &ExplainEvent, project: &Path) -> Vec<String> {
    let tool = if fields::has_tool(asked.event) { asked.text("tool_name") } else { None };
    let agent = asked.text("agent_type").filter(|name| !name.is_empty());
    tool.and_then(unknown_tool)
        .into_iter()
        .chain(agent.and_then(|name| unknown_agent(name, project)))
        .collect()
}

fn unknown_tool(name: &str) -> Option<String> {
    if tools::KNOWN.contains(&tools::current_name(name)) || name.starts_with(mcp::PREFIX) {
        return None;
    }
    Some(match nearest(name, tools::KNOWN.iter().copied()) {
        Some(near) => format!("no tool {name} is known; did you mean {near}?"),
        None => format!("no tool {name} is known: its name is compared, and files that its input names"),
    })
}

/// Agents of plugins have names like `plugin:name`. Their files are not searched.
fn unknown_agent(name: &str, project: &Path) -> Option<String> {
    let own = [Scope::Project, Scope::User].into_iter().flat_map(|scope| agents::names(project, scope));
    let known: Vec<String> = AGENTS.iter().map(|name| (*name).to_owned()).chain(own).collect();
    if name.contains(':') || known.iter().any(|one| one == name) {
        return None;
    }
    Some(match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("no agent {name} is known here; did you mean {near}?"),
        None => format!("no agent {name} is known here: there is no file for it in .claude/agents"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_of_claude_code_is_known() {
        let known = tools::KNOWN.iter().copied().chain(["Task", "mcp__github__list"]);
        assert_eq!(known.filter_map(unknown_tool).collect::<Vec<_>>(), Vec::<String>::new());
        assert_eq!(unknown_tool("Monitr").as_deref(), Some("no tool Monitr is known; did you mean Monitor?"));
    }
}
