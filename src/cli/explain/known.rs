//! Names of agents and tools that do not exist here, as far as files tell: usually a typo.

use std::path::Path;

use super::request::ExplainEvent;
use conclaude_core::dialect::claude::names::AGENTS;
use conclaude_core::dialect::claude::{fields, mcp, tools};
use conclaude_core::text::nearest;
use conclaude_engine::install::agents;
use conclaude_engine::install::scope::Scope;

pub(super) fn notes(asked: &ExplainEvent, project: &Path) -> Vec<String> {
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

/// Agents of plugins are called `plugin:name`; where they are is Claude Code's business.
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
