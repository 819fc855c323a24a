//! The table of hook events: one row says what conclaude needs to know of an event. What a client does at it is in the
//! client's dialect.

use std::fmt;

use crate::text::nearest;

/// What the patterns of an event's section are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The subagent's name; a pattern without glob characters may also be its id.
    Agent,
    /// This field of the payload.
    Field(&'static str),
    /// This field of the payload, a path: patterns follow gitignore's rules.
    File(&'static str),
    /// Nothing: only `*` makes sense.
    Nothing,
}

/// What a block of an event does in the client. Which it is, the client's dialect says (`EventKind::blocking`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// Nothing that is answered holds the client up.
    Never,
    /// It makes an agent continue, so it is counted: nothing else would end it.
    Stop,
    /// It keeps the tool from being used.
    Tool,
    /// It refuses the permission.
    Permission,
    /// It keeps from happening what the event announces.
    Action,
    /// It shows the reason to the model beside the tool's result.
    Feedback,
    /// It shows the reason to the model and nothing more: a block would end the agent's turn here, without the checks of its stop.
    Context,
    /// It keeps a worktree from being made, whose path is the answer otherwise.
    Worktree,
}

/// When an event is registered with the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// conclaude needs it whatever the config says.
    Always,
    /// Gates are on, or the config has commands: it delivers what they have to show where nobody sees it.
    ToDeliver,
    /// The gates are on, or the config has something for it.
    WithGates,
    /// The config has something for it.
    WhenUsed,
    /// The config has commands for it: to register it changes what the client does, or costs a process with every word, which no
    /// notification is worth.
    WithCommands,
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

#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The name in the payload and on the command line.
    pub name: &'static str,
    /// The key of its section in the config.
    pub section: &'static str,
    /// What the patterns of its section are compared with.
    pub subject: Subject,
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
    ((file $field:literal)) => {
        Subject::File($field)
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
    ($($name:ident $section:literal $subject:tt $payload:ident $registered:ident $system:tt;)*) => {
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
                    $(EventKind::$name => const { &Row {
                        name: stringify!($name),
                        section: $section,
                        subject: subject!($subject),
                        payload: Shape::$payload,
                        registered: Registered::$registered,
                        system: flag!($system),
                    } },)*
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

            /// The event with exactly this section in the config.
            #[must_use]
            pub(crate) fn of_section(section: &str) -> Option<EventKind> {
                match section {
                    $($section => Some(EventKind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

events! {
//  name                 section                compared            payload          registered   notified
    SessionStart         "sessionStart"         "source"            Other            Always       system;
    PreToolUse           "preToolUse"           "tool_name"         PreToolUse       WithGates    -;
    PostToolUse          "postToolUse"          "tool_name"         PostToolUse      ToDeliver    -;
    UserPromptSubmit     "userPromptSubmit"     -                   UserPromptSubmit ToDeliver    system;
    SubagentStart        "subagentStart"        agent               SubagentStart    WithGates    system;
    SubagentStop         "subagentStop"         agent               SubagentStop     WithGates    system;
    Stop                 "stop"                 -                   Stop             ToDeliver    -;
    SessionEnd           "sessionEnd"           "reason"            Other            Always       system;
    PostToolUseFailure   "postToolUseFailure"   "tool_name"         Other            WhenUsed     -;
    PostToolBatch        "postToolBatch"        -                   Other            WhenUsed     -;
    PermissionRequest    "permissionRequest"    "tool_name"         Other            WhenUsed     -;
    PermissionDenied     "permissionDenied"     "tool_name"         Other            WhenUsed     -;
    UserPromptExpansion  "userPromptExpansion"  "command_name"      Other            WhenUsed     -;
    Setup                "setup"                "trigger"           Other            WhenUsed     -;
    StopFailure          "stopFailure"          "error"             Other            WhenUsed     -;
    Notification         "notification"         "notification_type" Other            WhenUsed     system;
    PreCompact           "preCompact"           "trigger"           Other            WhenUsed     system;
    PostCompact          "postCompact"          "trigger"           Other            WhenUsed     -;
    PreModelSwitch       "preModelSwitch"       "to_model"          Other            WhenUsed     -;
    PostModelSwitch      "postModelSwitch"      "to_model"          Other            WhenUsed     -;
    TaskCreated          "taskCreated"          "task_subject"      Other            WhenUsed     -;
    TaskCompleted        "taskCompleted"        "task_subject"      Other            WhenUsed     -;
    TeammateIdle         "teammateIdle"         "teammate_name"     Other            WhenUsed     -;
    Elicitation          "elicitation"          "mcp_server_name"   Other            WhenUsed     -;
    ElicitationResult    "elicitationResult"    "mcp_server_name"   Other            WhenUsed     -;
    ConfigChange         "configChange"         "source"            Other            WhenUsed     -;
    InstructionsLoaded   "instructionsLoaded"   "load_reason"       Other            WhenUsed     -;
    CwdChanged           "cwdChanged"           "new_cwd"           Other            WhenUsed     -;
    FileChanged          "fileChanged"          (file "file_path")  Other            WithCommands -;
    DirectoryAdded       "directoryAdded"       "source"            Other            WhenUsed     -;
    WorktreeCreate       "worktreeCreate"       -                   Other            WithCommands -;
    WorktreeRemove       "worktreeRemove"       -                   Other            WithCommands -;
    MessageDisplay       "messageDisplay"       -                   Other            WithCommands -;
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

/// Names of events are no longer than this.
const MAX_NAME: usize = 40;

impl EventKind {
    /// The event with this name, which this version may not know: one that only looks like a known name is none.
    #[must_use]
    pub fn named_or_future(name: &str) -> Option<EventKind> {
        EventKind::named(name).or_else(|| {
            let section = in_camel_case(name)?;
            EventKind::future(name, &section)
        })
    }

    /// The event of this section, which this version may not know: one that only looks like a known section is none.
    #[must_use]
    pub(crate) fn of_section_or_future(section: &str) -> Option<EventKind> {
        EventKind::of_section(section).or_else(|| {
            let first = section.chars().next().filter(char::is_ascii_lowercase)?;
            let name = format!("{}{}", first.to_ascii_uppercase(), section.get(1..)?);
            EventKind::future(&name, section)
        })
    }

    fn future(name: &str, section: &str) -> Option<EventKind> {
        let is_name = name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let sections = ALL.iter().map(|event| event.row().section);
        if !is_name || nearest(section, sections).is_some() {
            return None;
        }
        // A process handles one event, and a config names few.
        Some(EventKind::Future(Box::leak(Box::new(Row {
            name: name.to_owned().leak(),
            section: section.to_owned().leak(),
            subject: Subject::Nothing,
            payload: Shape::Other,
            registered: Registered::WhenUsed,
            system: false,
        }))))
    }

    #[must_use]
    pub fn is_known(self) -> bool {
        !matches!(self, EventKind::Future(_))
    }
}

/// The section of an event: its name, which starts with a capital, in camelCase.
fn in_camel_case(name: &str) -> Option<String> {
    let first = name.chars().next().filter(char::is_ascii_uppercase)?;
    Some(format!("{}{}", first.to_ascii_lowercase(), name.get(1..)?))
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
    fn an_event_of_a_newer_client_has_a_name_and_a_section() {
        let event = EventKind::named_or_future("GoalReached").unwrap();
        assert_eq!((event.name(), event.row().section), ("GoalReached", "goalReached"));
        assert_eq!(EventKind::of_section_or_future("goalReached"), Some(event));
        assert!(!event.is_known());
        assert_eq!(EventKind::named_or_future("Stop"), Some(EventKind::Stop));
        for name in ["SubagentStpo", "subagentStop", "Goal Reached", "", "Ünit", &"A".repeat(41)] {
            assert_eq!(EventKind::named_or_future(name), None, "{name:?}");
        }
        for section in ["subagentStopp", "GoalReached", "x-anchors", ""] {
            assert_eq!(EventKind::of_section_or_future(section), None, "{section:?}");
        }
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
