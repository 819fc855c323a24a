//! The table of events. Each row has everything that is particular to one event, as observed in Claude Code 2.1.325. Columns
//! that a row leaves out are those of `Row::UNKNOWN`.

use crate::event::Example::{Cwd, Flag, List, Map, Number, Text};
use crate::event::{
    BlockCounter, Blocking, Changes, Field, RegistrationRule, Row, Shape, Subject, Values, always, maybe,
};

mod future;

macro_rules! events {
    ($($name:ident { $($column:tt)* })*) => {
        /// A hook event of Claude Code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EventKind {
            $($name,)*
            /// One that a newer client has: its commands run, and nothing else is known of it.
            Future(&'static Row),
        }

        /// All known events, in the order of the table.
        pub const ALL: &[EventKind] = &[$(EventKind::$name),*];

        impl EventKind {
            #[must_use]
            pub fn row(self) -> &'static Row {
                match self {
                    $(EventKind::$name => {
                        const { &Row { name: stringify!($name), $($column)* ..Row::UNKNOWN } }
                    })*
                    EventKind::Future(row) => row,
                }
            }

            /// The event with exactly this name.
            #[must_use]
            pub fn named(name: &str) -> Option<EventKind> {
                match name {
                    $(stringify!($name) => Some(EventKind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

/// A block prevents what the event announces.
const fn not_done(says: &'static str) -> Blocking {
    Blocking::Action { says, effect: "it does not happen" }
}

/// The client always sends it together with the tool's input. A sample sets both.
const TOOL_NAME: Field = maybe("tool_name");

const MODEL_SWITCH: &[Field] = &[
    always("from_model", Text("a-model")),
    always("to_model", Text("another-model")),
    maybe("requested_model"),
    always("source", Text("command")),
    maybe("context_tokens"),
    maybe("prompt_cache_warm"),
    maybe("cache_ttl"),
    maybe("estimated_cache_write_usd"),
    maybe("pricing"),
];

const TASK: &[Field] = &[
    always("task_id", Text("1")),
    always("task_subject", Text("A task")),
    maybe("task_description"),
    maybe("teammate_name"),
    maybe("team_name"),
];

events! {
    SessionStart {
        section: "sessionStart", subject: Subject::Field("source"),
        values: Values::Only(&["startup", "resume", "clear", "compact", "fork"]),
        fields: &[always("source", Text("startup")), maybe("model"), maybe("agent_type")],
        is_shown: true, takes_context: true, prints_context: true,
        registered: RegistrationRule::Always, system: true,
    }
    PreToolUse {
        section: "preToolUse", subject: Subject::Field("tool_name"), payload: Shape::PreToolUse,
        fields: &[TOOL_NAME, always("tool_use_id", Text("toolu_sample"))],
        blocking: Blocking::Tool,
        in_agents: true, is_shown: true, takes_context: true, failure_denies: true, changes: Changes::Tool,
        registered: RegistrationRule::WithGates,
    }
    PostToolUse {
        section: "postToolUse", subject: Subject::Field("tool_name"), payload: Shape::PostToolUse,
        fields: &[
            TOOL_NAME, always("tool_use_id", Text("toolu_sample")), always("tool_response", Map),
            always("duration_ms", Number(1)),
        ],
        blocking: Blocking::Feedback,
        in_agents: true, is_shown: true, takes_context: true, changes: Changes::Tool,
        registered: RegistrationRule::ToDeliver,
    }
    UserPromptSubmit {
        section: "userPromptSubmit", subject: Subject::Nothing, payload: Shape::UserPromptSubmit,
        fields: &[always("permission_mode", Text("default")), always("prompt", Text("a prompt"))],
        blocking: Blocking::Action { says: "conclaude blocks this prompt", effect: "the prompt is rejected" },
        is_shown: true, takes_context: true, prints_context: true, has_matcher: false, failure_denies: true,
        registered: RegistrationRule::ToDeliver, default_timeout: 30, system: true,
    }
    SubagentStart {
        section: "subagentStart", subject: Subject::Agent, payload: Shape::SubagentStart,
        in_agents: true, takes_context: true,
        registered: RegistrationRule::WithGates, system: true,
    }
    SubagentStop {
        section: "subagentStop", subject: Subject::Agent, payload: Shape::SubagentStop,
        fields: &[
            always("permission_mode", Text("default")), maybe("agent_transcript_path"),
            always("stop_hook_active", Flag(false)), always("last_assistant_message", Text("All done.")),
            always("background_tasks", List),
        ],
        blocking: Blocking::Stop(BlockCounter::Agent),
        in_agents: true, changes: Changes::Agent,
        registered: RegistrationRule::WithGates, system: true,
    }
    Stop {
        section: "stop", subject: Subject::Nothing, payload: Shape::Stop,
        has_matcher: false,
        fields: &[
            always("permission_mode", Text("default")), always("stop_hook_active", Flag(false)),
            always("last_assistant_message", Text("All done.")), always("background_tasks", List),
        ],
        blocking: Blocking::Stop(BlockCounter::Main),
        is_shown: true, changes: Changes::SincePrompt,
        registered: RegistrationRule::ToDeliver,
    }
    SessionEnd {
        section: "sessionEnd", subject: Subject::Field("reason"),
        values: Values::Known(&["clear", "resume", "logout", "prompt_input_exit", "other"]),
        fields: &[always("reason", Text("other"))],
        registered: RegistrationRule::Always, default_timeout: 1, max_timeout: 60, system: true,
    }
    PostToolUseFailure {
        section: "postToolUseFailure", subject: Subject::Field("tool_name"),
        fields: &[
            TOOL_NAME, always("tool_use_id", Text("toolu_sample")), always("error", Text("Exit code 1")),
            maybe("is_interrupt"), maybe("duration_ms"),
        ],
        blocking: Blocking::Feedback,
        in_agents: true, is_shown: true, takes_context: true, changes: Changes::Tool,
    }
    PostToolBatch {
        section: "postToolBatch", subject: Subject::Nothing,
        has_matcher: false,
        fields: &[always("tool_calls", List)],
        blocking: Blocking::Context,
        in_agents: true, is_shown: true, takes_context: true, changes: Changes::Tools("tool_calls"),
    }
    PermissionRequest {
        section: "permissionRequest", subject: Subject::Field("tool_name"),
        fields: &[TOOL_NAME, always("permission_suggestions", List)],
        blocking: Blocking::Permission,
        in_agents: true, failure_denies: true, changes: Changes::Tool,
    }
    PermissionDenied {
        section: "permissionDenied", subject: Subject::Field("tool_name"),
        fields: &[TOOL_NAME, always("tool_use_id", Text("toolu_sample")), always("reason", Text("denied"))],
        in_agents: true, changes: Changes::Tool,
    }
    UserPromptExpansion {
        section: "userPromptExpansion", subject: Subject::Field("command_name"),
        fields: &[
            always("expansion_type", Text("slash_command")), always("command_name", Text("a-command")),
            maybe("command_args"), maybe("command_source"), always("prompt", Text("/a-command")),
        ],
        blocking: Blocking::Action { says: "conclaude blocks this slash command", effect: "the prompt is rejected" },
        is_shown: true, takes_context: true, prints_context: true,
    }
    Setup {
        section: "setup", subject: Subject::Field("trigger"),
        values: Values::Only(&["init", "maintenance"]),
        fields: &[always("trigger", Text("init"))],
    }
    StopFailure {
        section: "stopFailure", subject: Subject::Field("error"),
        values: Values::Known(&[
            "authentication_failed",
            "oauth_org_not_allowed",
            "account_on_hold",
            "verification_required",
            "billing_error",
            "rate_limit",
            "overloaded",
            "invalid_request",
            "model_not_found",
            "server_error",
            "unknown",
            "max_output_tokens",
            "cloud_credential_error",
        ]),
        fields: &[
            always("error", Text("unknown")), maybe("error_details"), maybe("last_assistant_message"),
        ],
        in_agents: true,
    }
    Notification {
        section: "notification", subject: Subject::Field("notification_type"),
        values: Values::Known(&[
            "permission_prompt",
            "idle_prompt",
            "auth_success",
            "elicitation_dialog",
            "elicitation_complete",
            "elicitation_response",
            "agent_needs_input",
            "agent_completed",
            "worker_permission_prompt",
            "push_notification",
        ]),
        fields: &[
            always("message", Text("Claude needs your permission")), maybe("title"),
            always("notification_type", Text("permission_prompt")),
        ],
        system: true,
    }
    PreCompact {
        section: "preCompact", subject: Subject::Field("trigger"),
        values: Values::Only(&["manual", "auto"]),
        fields: &[always("trigger", Text("manual")), maybe("custom_instructions")],
        blocking: not_done("conclaude blocks the compaction"),
        prints_context: true, system: true,
    }
    PostCompact {
        section: "postCompact", subject: Subject::Field("trigger"),
        values: Values::Only(&["manual", "auto"]),
        fields: &[always("trigger", Text("manual")), maybe("compact_summary")],
        prints_context: true,
    }
    PreModelSwitch {
        section: "preModelSwitch", subject: Subject::Field("to_model"),
        fields: MODEL_SWITCH,
        blocking: not_done("conclaude blocks the switch to another model"),
    }
    PostModelSwitch {
        section: "postModelSwitch", subject: Subject::Field("to_model"),
        fields: MODEL_SWITCH,
        takes_context: true, prints_context: true,
    }
    TaskCreated {
        section: "taskCreated", subject: Subject::Field("task_subject"),
        has_matcher: false,
        fields: TASK,
        blocking: not_done("conclaude blocks this task"),
    }
    TaskCompleted {
        section: "taskCompleted", subject: Subject::Field("task_subject"),
        has_matcher: false,
        fields: TASK,
        // A task is also completed when a teammate stops while it works on it.
        blocking: Blocking::Stop(BlockCounter::Task("task_id")),
    }
    TeammateIdle {
        section: "teammateIdle", subject: Subject::Field("teammate_name"),
        has_matcher: false,
        fields: &[always("teammate_name", Text("teammate")), always("team_name", Text("team"))],
        blocking: Blocking::Stop(BlockCounter::Teammate("teammate_name")),
        in_agents: true, changes: Changes::Agent,
    }
    Elicitation {
        section: "elicitation", subject: Subject::Field("mcp_server_name"),
        fields: &[
            always("mcp_server_name", Text("server")), always("message", Text("A question?")),
            always("mode", Text("form")), maybe("url"), maybe("elicitation_id"),
        ],
        blocking: Blocking::Action { says: "conclaude declines this question", effect: "it is declined" },
    }
    ElicitationResult {
        section: "elicitationResult", subject: Subject::Field("mcp_server_name"),
        fields: &[
            always("mcp_server_name", Text("server")), always("mode", Text("form")),
            always("action", Text("accept")), maybe("elicitation_id"),
        ],
        blocking: Blocking::Action { says: "conclaude blocks this answer", effect: "it is declined" },
    }
    ConfigChange {
        section: "configChange", subject: Subject::Field("source"),
        values: Values::Known(&["user_settings", "project_settings", "local_settings", "policy_settings", "skills"]),
        fields: &[
            always("source", Text("project_settings")),
            always("file_path", Text(".claude/settings.json")),
        ],
        blocking: not_done("conclaude blocks this change of the settings"),
    }
    InstructionsLoaded {
        section: "instructionsLoaded", subject: Subject::Field("load_reason"),
        values: Values::Only(&["session_start", "nested_traversal", "path_glob_match", "include", "compact"]),
        fields: &[
            always("file_path", Text("CLAUDE.md")), always("memory_type", Text("Project")),
            always("load_reason", Text("session_start")), maybe("trigger_file_path"),
            maybe("parent_file_path"),
        ],
    }
    CwdChanged {
        section: "cwdChanged", subject: Subject::Field("new_cwd"),
        has_matcher: false,
        fields: &[always("old_cwd", Cwd), always("new_cwd", Cwd)],
    }
    FileChanged {
        section: "fileChanged", subject: Subject::File("file_path"),
        fields: &[always("file_path", Text("a-file")), always("event", Text("change"))],
        registered: RegistrationRule::WithCommands,
    }
    DirectoryAdded {
        section: "directoryAdded", subject: Subject::Field("source"),
        values: Values::Only(&["slash_command", "register_repo_root"]),
        fields: &[always("directory", Text("/tmp")), always("source", Text("slash_command"))],
    }
    WorktreeCreate {
        section: "worktreeCreate", subject: Subject::Nothing,
        has_matcher: false,
        fields: &[always("name", Text("a-worktree"))],
        blocking: Blocking::Worktree,
        registered: RegistrationRule::WithCommands,
    }
    WorktreeRemove {
        section: "worktreeRemove", subject: Subject::Nothing,
        has_matcher: false,
        fields: &[always("worktree_path", Text("/tmp/a-worktree"))],
        registered: RegistrationRule::WithCommands,
    }
    MessageDisplay {
        section: "messageDisplay", subject: Subject::Nothing,
        has_matcher: false,
        fields: &[
            maybe("turn_id"), maybe("message_id"), maybe("index"), maybe("final"),
            always("delta", Text("A message.")),
        ],
        registered: RegistrationRule::WithCommands,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::*;

    #[test]
    fn all_33_events_are_known_by_name() {
        assert_eq!(ALL.len(), 33);
        for event in ALL {
            assert_eq!(EventKind::named(event.name()), Some(*event));
        }
    }

    #[test]
    fn names_are_compared_exactly() {
        assert_eq!(EventKind::named("subagentstop"), None);
        assert_eq!(EventKind::named("SubagentStop "), None);
        assert_eq!(EventKind::named(""), None);
    }

    #[test]
    fn a_section_is_the_name_in_camel_case() {
        for event in ALL {
            let section = event.row().section;
            let (first, rest) = event.name().split_at(1);
            assert_eq!(section, first.to_lowercase() + rest);
            assert_eq!(EventKind::of_section(section), Some(*event));
        }
        assert_eq!(EventKind::of_section("SubagentStop"), None);
    }

    /// The field that patterns compare is the one whose values the row has: real payloads and the row's own example agree.
    #[test]
    fn what_claude_code_sends_is_among_the_values_of_its_row() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/captures");
        let files = ["", "variants"].map(|name| fs::read_dir(folder.join(name)).unwrap());
        let mut compared = BTreeSet::new();
        for path in files.into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let event = name.split('.').next().and_then(EventKind::named);
            let Some((event, values)) = event.and_then(|event| Some((event, values_of(event)?))) else {
                continue;
            };
            let Subject::Field(field) = event.row().subject else { panic!("{event} compares no field") };
            let payload: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let sent = payload[field].as_str().unwrap_or_else(|| panic!("{name}: {field}"));
            assert!(values.contains(&sent), "{name}: {field} is {sent}, and the row has {values:?}");
            let example = event.row().fields.iter().find(|one| one.name == field).unwrap().example;
            let Some(Text(example)) = example else { panic!("{event}: {field} has no example") };
            assert!(values.contains(&example), "{event}: {example}");
            compared.insert(event.name());
        }
        let with_values = ALL.iter().filter(|event| values_of(**event).is_some());
        assert_eq!(compared, with_values.map(|event| event.name()).collect());
    }

    fn values_of(event: EventKind) -> Option<&'static [&'static str]> {
        match event.row().values {
            Values::Any => None,
            Values::Known(values) | Values::Only(values) => Some(values),
        }
    }
}
