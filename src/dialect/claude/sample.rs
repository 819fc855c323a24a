//! Payloads of events that did not happen: what is not given is filled in as Claude Code would.

use serde_json::{Map, Value, json};

use super::fields;
use crate::event::{EventKind, Subject};

/// The agent where an event needs one and none is named.
pub(crate) const AGENT: &str = "general-purpose";

const AGENT_ID: &str = "a0000000000000000";

/// What is known of such an event.
#[derive(Clone, Debug)]
pub(crate) struct Sample<'a> {
    pub(crate) event: EventKind,
    pub(crate) session: &'a str,
    pub(crate) cwd: &'a str,
    pub(crate) agent: Option<&'a str>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) tool_input: Map<String, Value>,
    /// These count more than what is filled in.
    pub(crate) fields: Map<String, Value>,
}

impl Sample<'_> {
    #[must_use]
    pub(crate) fn payload(&self) -> Map<String, Value> {
        let mut payload = Map::new();
        let mut put = |name: &str, value: Value| {
            payload.insert(name.to_owned(), value);
        };
        let transcript = format!("{}/.claude/{}.jsonl", self.cwd.trim_end_matches('/'), self.session);
        put("session_id", self.session.into());
        put("transcript_path", transcript.clone().into());
        put("cwd", self.cwd.into());
        put("hook_event_name", self.event.name().into());
        let of_agent = self.event.row().subject == Subject::Agent;
        let agent = self.agent.or(of_agent.then_some(AGENT));
        if let Some(agent) = agent.filter(|_| !fields::agent(self.event).is_empty()) {
            put("agent_id", AGENT_ID.into());
            put("agent_type", agent.into());
        }
        for (name, value) in own(self.event, self.cwd) {
            put(name, value);
        }
        if fields::has_tool(self.event) {
            put("permission_mode", "default".into());
            put("tool_name", self.tool.unwrap_or("Bash").into());
            put("tool_input", Value::Object(self.tool_input.clone()));
        }
        payload.extend(self.fields.clone());
        payload
    }
}

/// The fields of the event that Claude Code always sends.
fn own(event: EventKind, cwd: &str) -> Vec<(&'static str, Value)> {
    let fields: &[(&'static str, &str)] = match event {
        EventKind::PreToolUse => &[("tool_use_id", "toolu_sample")],
        EventKind::PostToolUse => {
            return vec![
                ("tool_use_id", "toolu_sample".into()),
                ("tool_response", json!({})),
                ("duration_ms", 1.into()),
            ];
        }
        EventKind::PostToolUseFailure => &[("tool_use_id", "toolu_sample"), ("error", "Exit code 1")],
        EventKind::PostToolBatch => return vec![("tool_calls", json!([]))],
        EventKind::PermissionRequest => return vec![("permission_suggestions", json!([]))],
        EventKind::PermissionDenied => &[("tool_use_id", "toolu_sample"), ("reason", "denied")],
        EventKind::UserPromptSubmit => &[("permission_mode", "default"), ("prompt", "a prompt")],
        EventKind::UserPromptExpansion => {
            &[("expansion_type", "slash_command"), ("command_name", "a-command"), ("prompt", "/a-command")]
        }
        EventKind::SessionStart => &[("source", "startup")],
        EventKind::SessionEnd => &[("reason", "other")],
        EventKind::Setup => &[("trigger", "init")],
        EventKind::SubagentStop | EventKind::Stop => {
            return vec![
                ("permission_mode", "default".into()),
                ("stop_hook_active", false.into()),
                ("last_assistant_message", "All done.".into()),
                ("background_tasks", json!([])),
            ];
        }
        EventKind::StopFailure => &[("error", "unknown")],
        EventKind::Notification => {
            &[("message", "Claude needs your permission"), ("notification_type", "permission_prompt")]
        }
        EventKind::PreCompact | EventKind::PostCompact => &[("trigger", "manual")],
        EventKind::PreModelSwitch | EventKind::PostModelSwitch => {
            &[("from_model", "a-model"), ("to_model", "another-model"), ("source", "command")]
        }
        EventKind::TaskCreated | EventKind::TaskCompleted => &[("task_id", "1"), ("task_subject", "A task")],
        EventKind::TeammateIdle => &[("teammate_name", "teammate"), ("team_name", "team")],
        EventKind::Elicitation => {
            &[("mcp_server_name", "server"), ("message", "A question?"), ("mode", "form")]
        }
        EventKind::ElicitationResult => {
            &[("mcp_server_name", "server"), ("mode", "form"), ("action", "accept")]
        }
        EventKind::ConfigChange => &[("source", "project_settings"), ("file_path", ".claude/settings.json")],
        EventKind::InstructionsLoaded => {
            &[("file_path", "CLAUDE.md"), ("memory_type", "Project"), ("load_reason", "session_start")]
        }
        EventKind::CwdChanged => return vec![("old_cwd", cwd.into()), ("new_cwd", cwd.into())],
        EventKind::FileChanged => &[("file_path", "a-file"), ("event", "change")],
        EventKind::DirectoryAdded => &[("directory", "/tmp"), ("source", "slash_command")],
        EventKind::WorktreeCreate => &[("name", "a-worktree")],
        EventKind::WorktreeRemove => &[("worktree_path", "/tmp/a-worktree")],
        EventKind::MessageDisplay => &[("delta", "A message.")],
        EventKind::SubagentStart | EventKind::Future(_) => &[],
    };
    fields.iter().map(|(name, value)| (*name, Value::from(*value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ALL;

    #[test]
    fn every_event_has_a_payload_that_can_be_read() {
        for event in ALL {
            let sample = Sample {
                event: *event,
                session: "s",
                cwd: "/p",
                agent: None,
                tool: None,
                tool_input: Map::new(),
                fields: Map::new(),
            };
            let payload = Value::Object(sample.payload()).to_string();
            let parsed = super::super::parse(*event, payload.as_bytes());
            assert!(parsed.is_ok(), "{event}: {:?}", parsed.err());
            let compared = match event.row().subject {
                Subject::Field(field) | Subject::File(field) => field,
                Subject::Agent => "agent_type",
                Subject::Nothing => "session_id",
            };
            assert!(sample.payload().get(compared).is_some(), "{event} has no {compared}");
        }
    }
}
