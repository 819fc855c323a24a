//! Qwen Code, as observed in version 0.24.4.

use super::agents::{AgentCallLink, AgentFacts};
use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};
use super::tool::{McpSpelling, Tool};
use super::{
    AskSupport, ClientEvent, Dialect, Fields, LogLines, ProjectFolder, effect, take_model_content, text,
};
use crate::event::{EventKind, Row};

pub const DIALECT: Dialect = Dialect {
    name: "qwen",
    title: "Qwen Code",
    events: EVENTS,
    missing: MISSING,
    sends,
    fields: &[],
    tools: TOOLS,
    mcp: McpSpelling::Ours,
    complete,
    ignores,
    project: ProjectFolder::Variable,
    agents: AgentFacts { is_named_at_start: true, call: AgentCallLink::Id(call_id), ..AgentFacts::IN_FILES },
    asking: AskSupport::Always,
    changes_input: false,
    types_unseen: false,
    log: LogLines::OnRequest,
    render: |reply| FORMS.render(reply),
    settings: SETTINGS,
};

const FORMS: AnswerForms = AnswerForms {
    refusal: RefusalExit::Blocked,
    denial: DenialForm::Permission,
    permission: PermissionForm::Nested,
    context: ContextForm::Nested,
    feedback: FeedbackForm::Context,
    changed_input: ChangedInputForm::Impossible,
    failure_denies: &[],
};

/// It shows messages of a hook only at a stop.
const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd).noted("with a terminal only"),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit)
        .with_context()
        .blocked(effect::REJECTED)
        .noted("an empty prompt is ignored: no rule applies"),
    ClientEvent::same("UserPromptExpansion", EventKind::UserPromptExpansion),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse)
        .blocked(effect::DENIED)
        .noted("a hook cannot change a tool's input: agents do not see their boundaries"),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse)
        .with_context()
        .blocked(effect::READ)
        .noted("a block is given as context"),
    ClientEvent::same("PostToolUseFailure", EventKind::PostToolUseFailure),
    ClientEvent::same("PostToolBatch", EventKind::PostToolBatch),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest)
        .blocked(effect::NOT_PERMITTED)
        .noted("with a terminal only"),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart).noted("context is not read"),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop).blocked(effect::GOES_ON),
    ClientEvent::same("Stop", EventKind::Stop)
        .shown()
        .blocked(effect::GOES_ON)
        .noted("after 7 blocks Qwen Code stops; agents in the background stop later"),
    ClientEvent::same("PreCompact", EventKind::PreCompact),
    ClientEvent::same("Notification", EventKind::Notification),
    ClientEvent::same("InstructionsLoaded", EventKind::InstructionsLoaded),
    ClientEvent::same("MessageDisplay", EventKind::MessageDisplay),
    ClientEvent::own(&Row { name: "TodoCreated", section: "todoCreated", ..Row::OF_CLIENT }),
    ClientEvent::own(&Row { name: "TodoCompleted", section: "todoCompleted", ..Row::OF_CLIENT }),
];

const MISSING: &[(EventKind, &str)] = &[
    (EventKind::PostCompact, "it was never seen to fire"),
    (EventKind::StopFailure, "it was never seen to fire"),
    (EventKind::PermissionDenied, "it was never seen to fire"),
];

const TOOLS: &[Tool] = &[
    Tool::new(&["run_shell_command"], "Bash", &[]).in_directory("directory"),
    Tool::new(&["monitor"], "Monitor", &[]).in_directory("directory"),
    Tool::new(&["write_file"], "Write", &[]),
    Tool::new(&["edit"], "Edit", &[]),
    Tool::new(&["notebook_edit"], "NotebookEdit", &[]),
    Tool::new(&["read_file"], "Read", &[("absolute_path", "file_path"), ("path", "file_path")]),
    Tool::new(&["grep_search"], "Grep", &[]),
    Tool::new(&["glob"], "Glob", &[]),
    Tool::new(&["agent"], "Agent", &[]),
];

const SETTINGS: HookSettings = HookSettings {
    project: ".qwen/settings.json",
    local: None,
    user: UserSettings { variable: None, folder: ".qwen", file: "settings.json" },
    others: &[],
    version: None,
    // Qwen Code reads 1000 and more as milliseconds.
    timeouts: HookTimeouts::Fixed { usual: 3_600_000, short: &[("SessionEnd", 60_000)] },
    review: None,
    folder_trust: None,
    runs_claudes: false,
    is_form_known: false,
    is_enforcing: false,
    conditions: HookConditions { misread_timeout, ..HookConditions::NONE },
};

/// The text between the type of an agent and the id of its call, in the agent's id.
const CALL: &str = "-call_";

fn sends(fields: &Fields) -> bool {
    fields.contains_key("timestamp") && fields.contains_key("permission_mode")
}

fn complete(event: EventKind, fields: &mut Fields) -> EventKind {
    take_model_content(fields);
    // Agents are named after this id, so the other one is not needed.
    if let Some(id) = fields.get("tool_call_id").cloned() {
        fields.insert("tool_use_id".into(), id);
    }
    if let Some(id) = text(fields, "agent_id").map(str::to_owned) {
        if let Some(name) = name_in(&id)
            && text(fields, "agent_type").is_none()
        {
            fields.insert("agent_type".into(), name.into());
        }
        if let Some(own) = own_transcript(fields, &id) {
            fields.insert("agent_transcript_path".into(), own.into());
        }
    }
    event
}

/// The type in the id of an agent, which consists of the type and the id of the call.
fn name_in(agent_id: &str) -> Option<&str> {
    agent_id.rsplit_once(CALL).map(|(name, _)| name)
}

fn call_id(agent_id: &str) -> Option<&str> {
    agent_id.get(name_in(agent_id)?.len() + 1..)
}

/// The subagent's transcript: `…/subagents/<session>/agent-<agent>.jsonl` next to `…/chats/<session>.jsonl`. For an agent in the
/// foreground the payload names the main transcript instead.
fn own_transcript(fields: &Fields, agent_id: &str) -> Option<String> {
    let main = text(fields, "transcript_path")?;
    match text(fields, "agent_transcript_path") {
        Some(own) if own != main => return Some(own.to_owned()),
        _ => {}
    }
    let (folder, file) = main.rsplit_once('/')?;
    let session = file.strip_suffix(".jsonl")?;
    let is_safe = !agent_id.contains(['/', '\\', '\0']) && !agent_id.contains("..");
    let project = folder.strip_suffix("/chats")?;
    if is_safe { Some(format!("{project}/subagents/{session}/agent-{agent_id}.jsonl")) } else { None }
}

/// After each round of tools it fires an empty prompt.
fn ignores(event: EventKind, fields: &Fields) -> Option<&'static str> {
    if event == EventKind::UserPromptSubmit && text(fields, "prompt").is_none() {
        Some("the prompt is empty")
    } else {
        None
    }
}

/// It reads 1000 and more as milliseconds. Below 100,000 the user probably meant seconds.
fn misread_timeout(timeout: u64) -> Option<String> {
    if (1_000..100_000).contains(&timeout) {
        let (seconds, rest) = (timeout / 1_000, timeout % 1_000);
        let rest = format!("{rest:03}");
        let rest = rest.trim_end_matches('0');
        let point = if rest.is_empty() { "" } else { "." };
        Some(format!("{seconds}{point}{rest} s"))
    } else {
        None
    }
}
