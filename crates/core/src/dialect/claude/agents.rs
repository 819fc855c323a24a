//! Agents in the payloads of Claude Code: the calls that start them, and those that run in the background.

use serde_json::{Map, Value, json};

/// The field of a call with the task of the agent.
pub const PROMPT: &str = "prompt";

/// The field of a call that names the agent's type.
pub const TYPE: &str = "subagent_type";

/// The prompt of the agent that is called.
pub fn prompt(input: &Map<String, Value>) -> Option<&str> {
    input.get(PROMPT)?.as_str()
}

/// The type of the agent that is called. Copilot names the field `agent_type`.
pub fn called(input: &Map<String, Value>) -> &str {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    field(TYPE).or_else(|| field("agent_type")).unwrap_or_default()
}

/// The name that a call gives to the task.
pub fn task_name(input: &Map<String, Value>) -> &str {
    input.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Whether the caller continues while the agent works, which is the default.
pub fn is_in_background(input: &Map<String, Value>) -> bool {
    input.get("run_in_background") != Some(&Value::Bool(false))
}

/// The agent that a call started, by the call's result.
pub fn started(response: &Value) -> Option<&str> {
    response.get("agentId")?.as_str()
}

/// Whether Claude Code started the agent itself, for a hook of the type `agent`.
pub fn is_of_hook(agent_id: &str) -> bool {
    agent_id.starts_with("hook-agent-")
}

/// A background task that is listed when the main thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task<'a> {
    pub id: Option<&'a str>,
    pub agent_type: Option<&'a str>,
    /// Whether it is an agent. Other tasks are shells.
    pub is_agent: bool,
}

/// The tasks in `background_tasks` that still run. A task without a status counts as running.
pub fn running(tasks: &[Value]) -> impl Iterator<Item = Task<'_>> {
    tasks.iter().filter_map(|task| {
        let text = |field: &str| task.get(field).and_then(Value::as_str);
        if text("status").is_some_and(|status| status != "running") {
            return None;
        }
        Some(Task {
            id: text("id"),
            agent_type: text("agent_type"),
            is_agent: text("type").is_none_or(|kind| kind.contains("agent")),
        })
    })
}

/// A running agent, in the form of `background_tasks`.
pub fn running_task(id: &str, agent_type: &str) -> Value {
    json!({"id": id, "type": "subagent", "status": "running", "agent_type": agent_type})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_still_runs_is_a_running_task() {
        let tasks = json!([
            running_task("a1", "coder"),
            {"id": "a2", "type": "subagent", "status": "completed", "agent_type": "coder"},
            {"id": "b1", "type": "shell", "status": "running"},
            {"id": 7}, 7,
        ]);
        let unknown = Task { id: None, agent_type: None, is_agent: true };
        assert_eq!(
            running(tasks.as_array().unwrap()).collect::<Vec<_>>(),
            [
                Task { id: Some("a1"), agent_type: Some("coder"), is_agent: true },
                Task { id: Some("b1"), agent_type: None, is_agent: false },
                unknown,
                unknown,
            ]
        );
    }
}
