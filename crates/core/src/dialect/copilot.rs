//! GitHub Copilot CLI, as observed in version 1.0.102. It also runs the hooks of a project's `.claude/settings.json`.

use serde_json::Value;

use super::agents::{AgentCallLink, AgentFacts, AgentsAtStop};
use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};
use super::tool::{McpSpelling, Tool};
use super::{AskSupport, ClientEvent, Dialect, FieldAlias, Fields, LogLines, ProjectFolder, effect, text};
use crate::event::{EventKind, Row};

pub const DIALECT: Dialect = Dialect {
    name: "copilot",
    title: "Copilot",
    events: EVENTS,
    missing: &[],
    sends,
    fields: FIELDS,
    tools: TOOLS,
    mcp: McpSpelling::Joined { prefix: "", joints: &['-', '/'] },
    complete,
    ignores,
    project: ProjectFolder::Variable,
    agents: AgentFacts {
        has_own_session: true,
        call: AgentCallLink::Prompt,
        at_stop: AgentsAtStop::Unknown,
        ..AgentFacts::IN_FILES
    },
    asking: AskSupport::Always,
    changes_input: true,
    types_unseen: false,
    log: LogLines::OnRequest,
    render: |reply| FORMS.render(reply),
    settings: SETTINGS,
};

/// With exit 2 the model does not get the reason.
const FORMS: AnswerForms = AnswerForms {
    refusal: RefusalExit::Success,
    denial: DenialForm::Permission,
    permission: PermissionForm::Flat,
    context: ContextForm::Top,
    feedback: FeedbackForm::Block,
    changed_input: ChangedInputForm::Updated,
    failure_denies: &[EventKind::PreToolUse, EventKind::PermissionRequest],
};

/// It shows no messages of hooks to the user.
const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit)
        .with_context()
        .blocked(effect::REJECTED)
        .noted("the task of a subagent is not a prompt: no rule applies"),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse).with_context().blocked(effect::DENIED),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse).with_context().blocked(effect::READ_INSTEAD),
    ClientEvent::same("PostToolUseFailure", EventKind::PostToolUseFailure),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest).blocked(effect::NOT_PERMITTED),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart).with_context(),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop).blocked(effect::GOES_ON),
    ClientEvent::same("Stop", EventKind::Stop)
        .blocked(effect::GOES_ON)
        .noted("inside a subagent it is ignored, since SubagentStop follows; after 8 blocks Copilot stops"),
    ClientEvent::same("PreCompact", EventKind::PreCompact),
    ClientEvent::same("Notification", EventKind::Notification),
    ClientEvent::own(&Row { name: "ErrorOccurred", section: "errorOccurred", ..Row::OF_CLIENT }),
];

/// Events in PascalCase have Claude Code's names for tools, others have Copilot's. The fields of their input are Copilot's in
/// both.
const TOOLS: &[Tool] = &[
    Tool::new(&["Bash", "bash"], "Bash", &[]),
    Tool::new(&["Write", "create"], "Write", &[("path", "file_path"), ("file_text", "content")]),
    // With some models the input is a patch.
    Tool::new(
        &["Edit", "edit", "apply_patch"],
        "Edit",
        &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string"), ("input", "patch")],
    ),
    Tool::new(&["Read", "view"], "Read", &[("path", "file_path")]),
    Tool::new(&["Grep", "grep", "rg"], "Grep", &[]),
    Tool::new(&["Glob", "glob"], "Glob", &[]),
    Tool::new(&["Agent", "task"], "Agent", &[("agent_type", "subagent_type")]),
];

/// It reads every file in its folder of hooks, so ours is a separate file.
const SETTINGS: HookSettings = HookSettings {
    project: ".github/hooks/conclaude.json",
    local: Some(".github/copilot/settings.local.json"),
    user: UserSettings { variable: Some("COPILOT_HOME"), folder: ".copilot", file: "hooks/conclaude.json" },
    others: &[".github/copilot/settings.json", ".copilot/settings.json"],
    version: Some(1),
    timeouts: HookTimeouts::Fixed { usual: 3_600, short: &[("SessionEnd", 60)] },
    review: None,
    folder_trust: Some(
        "Copilot runs hooks of a project in trusted folders only: start `copilot` here and trust the folder",
    ),
    runs_claudes: true,
    is_form_known: false,
    is_enforcing: false,
    conditions: HookConditions { ignored_claudes, ..HookConditions::NONE },
};

/// Some payloads have names in camelCase, even if the event is registered in PascalCase.
const FIELDS: &[FieldAlias] = &[
    ("sessionId", "session_id"),
    ("transcriptPath", "transcript_path"),
    ("agentId", "agent_id"),
    ("agentType", "agent_type"),
    ("agentName", "agent_type"),
    ("parentAgentId", "parent_agent_id"),
    ("toolName", "tool_name"),
    ("toolInput", "tool_input"),
    ("toolArgs", "tool_input"),
    ("tool_result", "tool_response"),
    ("toolResult", "tool_response"),
    ("permissionSuggestions", "permission_suggestions"),
    ("stopHookActive", "stop_hook_active"),
    ("lastAssistantMessage", "last_assistant_message"),
    ("response", "last_assistant_message"),
    ("notificationType", "notification_type"),
];

fn sends(fields: &Fields) -> bool {
    ["timestamp", "sessionId", "hookName"].into_iter().any(|name| fields.contains_key(name))
}

/// Inside a subagent, the payload has the subagent's session. The session of its caller counts.
fn complete(event: EventKind, fields: &mut Fields) -> EventKind {
    if text(fields, "agent_id").is_some()
        && let Some(parent) = text(fields, "parent_agent_id").map(str::to_owned)
    {
        fields.insert("session_id".into(), parent.into());
    }
    event
}

/// Stop and UserPromptSubmit also fire inside a subagent. A block of that stop has no effect, and its SubagentStop follows.
fn ignores(event: EventKind, fields: &Fields) -> Option<&'static str> {
    text(fields, "agent_id")?;
    match event {
        EventKind::Stop => Some("it is the stop of a subagent, whose SubagentStop follows"),
        EventKind::UserPromptSubmit => Some("the prompt is the task of a subagent"),
        _ => None,
    }
}

/// One such entry makes it ignore the whole file, with only a line in its log.
fn ignored_claudes(settings: &Value) -> Option<&'static str> {
    let groups = |event: &str| settings.pointer(&format!("/hooks/{event}"))?.as_array();
    let of = |event: &str| groups(event).into_iter().flatten();
    let is_empty = |group: &Value| group.get("matcher").and_then(Value::as_str) == Some("");
    let asks_a_model = |group: &Value| {
        let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
        hooks.into_iter().any(|hook| hook.get("type").and_then(Value::as_str) == Some("prompt"))
    };
    if of("PreToolUse").any(is_empty) {
        Some("an entry of PreToolUse has an empty matcher")
    } else if of("SubagentStart").any(is_empty) {
        Some("an entry of SubagentStart has an empty matcher")
    } else if of("PreToolUse").any(asks_a_model) {
        Some("a hook of PreToolUse has the type `prompt`")
    } else {
        None
    }
}
