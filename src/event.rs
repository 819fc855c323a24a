//! The table of hook events: one row says what conclaude needs to know of an event. What a client does at it is in the
//! client's dialect.

use std::fmt;

/// What the patterns of an event's section are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The subagent's name; a pattern without glob characters may also be its id.
    Agent,
    /// This field of the payload.
    Field(&'static str),
    /// Nothing: only `*` makes sense.
    Nothing,
}

/// When an event is registered with the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// conclaude needs it whatever the config says.
    Always,
    /// The config has something for it.
    WhenUsed,
    /// To register it changes what the client does, so it is left alone.
    Never,
}

/// What a payload has beside the fields that all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    SubagentStart,
    SubagentStop,
    PreToolUse,
    PostToolUse,
    UserPromptSubmit,
    Stop,
    Other,
}

#[derive(Debug)]
pub struct Row {
    /// The name in the payload and on the command line.
    pub name: &'static str,
    /// The key of its section in the config.
    pub section: &'static str,
    /// What the patterns of its section are compared with.
    pub subject: Subject,
    /// Its section may have commands.
    pub commands: bool,
    pub payload: Shape,
    pub registered: Registered,
    /// Notifications about it obey `showSystemEvents`.
    pub system: bool,
}

macro_rules! subject {
    (-) => {
        Subject::Nothing
    };
    (agent) => {
        Subject::Agent
    };
    ($field:literal) => {
        Subject::Field($field)
    };
}

macro_rules! flag {
    (-) => {
        false
    };
    ($set:ident) => {
        true
    };
}

macro_rules! events {
    ($($name:ident $section:literal $subject:tt $commands:tt $payload:ident $registered:ident $system:tt;)*) => {
        /// A hook event of Claude Code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EventKind { $($name),* }

        /// All events, in the order of the table.
        pub const ALL: &[EventKind] = &[$(EventKind::$name),*];

        impl EventKind {
            #[must_use]
            pub fn row(self) -> &'static Row {
                match self {
                    $(EventKind::$name => const { &Row {
                        name: stringify!($name),
                        section: $section,
                        subject: subject!($subject),
                        commands: flag!($commands),
                        payload: Shape::$payload,
                        registered: Registered::$registered,
                        system: flag!($system),
                    } },)*
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

            /// The event with exactly this section in the config.
            #[must_use]
            pub fn of_section(section: &str) -> Option<EventKind> {
                match section {
                    $($section => Some(EventKind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

events! {
//  name                 section                compared            commands payload          registered
    SessionStart         "sessionStart"         "source"            -        Other            Always   system;
    PreToolUse           "preToolUse"           "tool_name"         -        PreToolUse       Always   -;
    PostToolUse          "postToolUse"          "tool_name"         -        PostToolUse      Always   -;
    UserPromptSubmit     "userPromptSubmit"     -                   -        UserPromptSubmit Always   system;
    SubagentStart        "subagentStart"        agent               commands SubagentStart    Always   system;
    SubagentStop         "subagentStop"         agent               commands SubagentStop     Always   system;
    Stop                 "stop"                 -                   -        Stop             Always   -;
    SessionEnd           "sessionEnd"           "reason"            -        Other            Always   system;
    PostToolUseFailure   "postToolUseFailure"   "tool_name"         -        Other            WhenUsed -;
    PostToolBatch        "postToolBatch"        -                   -        Other            WhenUsed -;
    PermissionRequest    "permissionRequest"    "tool_name"         -        Other            WhenUsed -;
    PermissionDenied     "permissionDenied"     "tool_name"         -        Other            WhenUsed -;
    UserPromptExpansion  "userPromptExpansion"  "command_name"      -        Other            WhenUsed -;
    Setup                "setup"                "trigger"           -        Other            WhenUsed -;
    StopFailure          "stopFailure"          "error"             -        Other            WhenUsed -;
    Notification         "notification"         "notification_type" -        Other            WhenUsed system;
    PreCompact           "preCompact"           "trigger"           -        Other            WhenUsed system;
    PostCompact          "postCompact"          "trigger"           -        Other            WhenUsed -;
    PreModelSwitch       "preModelSwitch"       "to_model"          -        Other            WhenUsed -;
    PostModelSwitch      "postModelSwitch"      "to_model"          -        Other            WhenUsed -;
    TaskCreated          "taskCreated"          "task_subject"      -        Other            WhenUsed -;
    TaskCompleted        "taskCompleted"        "task_subject"      -        Other            WhenUsed -;
    TeammateIdle         "teammateIdle"         "teammate_name"     -        Other            WhenUsed -;
    Elicitation          "elicitation"          "mcp_server_name"   -        Other            WhenUsed -;
    ElicitationResult    "elicitationResult"    "mcp_server_name"   -        Other            WhenUsed -;
    ConfigChange         "configChange"         "source"            -        Other            WhenUsed -;
    InstructionsLoaded   "instructionsLoaded"   "memory_type"       -        Other            WhenUsed -;
    CwdChanged           "cwdChanged"           "new_cwd"           -        Other            WhenUsed -;
    FileChanged          "fileChanged"          "file_path"         -        Other            Never    -;
    DirectoryAdded       "directoryAdded"       "source"            -        Other            WhenUsed -;
    WorktreeCreate       "worktreeCreate"       -                   -        Other            Never    -;
    WorktreeRemove       "worktreeRemove"       -                   -        Other            Never    -;
    MessageDisplay       "messageDisplay"       -                   -        Other            WhenUsed -;
}

impl EventKind {
    /// The event's name, as the client spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The names of all events.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|event| event.name())
}

/// The events whose sections may have commands.
pub fn with_commands() -> impl Iterator<Item = EventKind> {
    ALL.iter().copied().filter(|event| event.row().commands)
}

#[cfg(test)]
mod tests {
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
}
