//! Gemini CLI, as observed in version 0.61.0. It has no events for subagents: they are derived from its tools.

use serde_json::Value;

use super::agents::{AgentCallLink, AgentFacts, AgentsAtStop};
use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};
use super::tool::{McpSpelling, Tool};
use super::{
    AskSupport, ClientEvent, Dialect, Fields, LogLines, ProjectFolder, effect, take_model_content, text,
};
use crate::agent::UNKNOWN;
use crate::event::{EventKind, Row};

pub const DIALECT: Dialect = Dialect {
    name: "gemini",
    title: "Gemini CLI",
    events: EVENTS,
    missing: MISSING,
    sends,
    fields: &[("prompt_response", "last_assistant_message")],
    tools: TOOLS,
    mcp: McpSpelling::Joined { prefix: "mcp_", joints: &['_'] },
    complete,
    ignores: |_, _| None,
    project: ProjectFolder::Variable,
    agents: AgentFacts {
        // We use the id of its call as the id of an agent.
        call: AgentCallLink::Id(|agent_id| Some(agent_id)),
        at_stop: AgentsAtStop::Dropped,
        ..AgentFacts::IN_FILES
    },
    // Without a terminal a question silently ends the run, and no payload says whether there is a terminal.
    asking: AskSupport::Never,
    changes_input: true,
    types_unseen: false,
    log: LogLines::Never,
    render: |reply| FORMS.render(reply),
    settings: SETTINGS,
};

const FORMS: AnswerForms = AnswerForms {
    refusal: RefusalExit::Blocked,
    denial: DenialForm::Decision,
    permission: PermissionForm::Nested,
    context: ContextForm::Nested,
    feedback: FeedbackForm::Block,
    changed_input: ChangedInputForm::ToolInput,
    failure_denies: &[],
};

const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context().shown(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd).shown(),
    ClientEvent::same("BeforeAgent", EventKind::UserPromptSubmit)
        .with_context()
        .shown()
        .blocked(effect::REJECTED),
    ClientEvent::same("AfterAgent", EventKind::Stop).shown().blocked(effect::GOES_ON),
    ClientEvent::same("BeforeTool", EventKind::PreToolUse)
        .shown()
        .blocked(effect::DENIED)
        .noted("`ask` is a denial"),
    ClientEvent::same("AfterTool", EventKind::PostToolUse)
        .with_context()
        .shown()
        .blocked(effect::READ_INSTEAD),
    ClientEvent::at_tool("BeforeTool", EventKind::SubagentStart, CALLING)
        .shown()
        .noted("with the call of the agent (`invoke_agent`)"),
    ClientEvent::at_tool("BeforeTool", EventKind::SubagentStop, STOPPING)
        .shown()
        .blocked(effect::GOES_ON)
        .noted(
            "when the agent reports (`complete_task`); with several agents at work, the rules of each name apply",
        ),
    ClientEvent::same("Notification", EventKind::Notification).shown(),
    ClientEvent::own(&Row { name: "BeforeModel", section: "beforeModel", ..Row::OF_CLIENT }),
    ClientEvent::own(&Row { name: "AfterModel", section: "afterModel", ..Row::OF_CLIENT }),
    ClientEvent::own(&Row { name: "BeforeToolSelection", section: "beforeToolSelection", ..Row::OF_CLIENT }),
    // It fires before every request, even if nothing is compressed.
    ClientEvent::own(&Row { name: "PreCompress", section: "preCompress", ..Row::OF_CLIENT }),
];

const MISSING: &[(EventKind, &str)] = &[(
    EventKind::PreCompact,
    "PreCompress fires before every request, whether anything is compressed or not",
)];

const TOOLS: &[Tool] = &[
    Tool::new(&["run_shell_command"], "Bash", &[]).in_directory("dir_path"),
    Tool::new(&["write_file"], "Write", &[]),
    Tool::new(&["replace"], "Edit", &[]),
    Tool::new(&["read_file"], "Read", &[("absolute_path", "file_path")]),
    Tool::new(&["read_many_files"], "Grep", &[("include", "paths")]),
    Tool::new(&["grep_search"], "Grep", &[("dir_path", "path")]),
    Tool::new(&["glob"], "Glob", &[("dir_path", "path")]),
    Tool::new(&[CALLING], "Agent", &[("agent_name", "subagent_type")]),
];

const SETTINGS: HookSettings = HookSettings {
    project: ".gemini/settings.json",
    local: None,
    user: UserSettings { variable: None, folder: ".gemini", file: "settings.json" },
    others: &[],
    version: None,
    // In milliseconds.
    timeouts: HookTimeouts::Fixed { usual: 3_600_000, short: &[("SessionEnd", 60_000)] },
    review: None,
    folder_trust: Some(
        "Gemini CLI runs hooks of a project in trusted folders only: start `gemini` here and trust the folder",
    ),
    runs_claudes: false,
    is_form_known: false,
    is_enforcing: false,
    conditions: HookConditions { switched_off, ..HookConditions::NONE },
};

/// The tool with which a subagent stops. If it is denied, the subagent continues.
const STOPPING: &str = "complete_task";

/// The tool that calls a subagent.
const CALLING: &str = "invoke_agent";

/// Event names that other clients have as well.
const SHARED: [&str; 3] = ["SessionStart", "SessionEnd", "Notification"];

/// A subagent reports its end with a tool, whose input is its report.
fn complete(event: EventKind, fields: &mut Fields) -> EventKind {
    take_model_content(fields);
    if event != EventKind::PreToolUse || text(fields, "tool_name") != Some(STOPPING) {
        return event;
    }
    let report = fields.get("tool_input").and_then(|input| input.get("result")?.as_str()).map(str::to_owned);
    if let Some(report) = report {
        fields.insert("last_assistant_message".into(), report.into());
    }
    // The payload does not name the agent. Its open call does.
    fields.entry("agent_id").or_insert_with(|| UNKNOWN.into());
    EventKind::SubagentStop
}

fn sends(fields: &Fields) -> bool {
    let has = |name: &str| fields.contains_key(name);
    let event = text(fields, "hook_event_name").unwrap_or_default();
    let is_shared = SHARED.contains(&event);
    let is_own = !is_shared && EVENTS.iter().any(|known| known.name == event);
    is_own || is_shared && has("timestamp") && has("transcript_path") && !has("permission_mode")
}

fn switched_off(settings: &Value) -> Option<&'static str> {
    if settings.pointer("/hooksConfig/enabled") == Some(&Value::Bool(false)) {
        Some("`hooksConfig.enabled` is false")
    } else {
        None
    }
}
