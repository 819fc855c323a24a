//! The table of hook events: one row says everything that conclaude needs to know about an event.

/// What an event's `block` looks like to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// Nothing that we answer holds the client up.
    Never,
    /// The answer `decision: block` sends the agent back to work.
    Stop,
    /// The answer `permissionDecision: deny` keeps the tool from being used.
    Tool,
}

/// The section of the config whose commands an event runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// The event runs no commands.
    None,
    /// `subagentStart`, with patterns over the subagent's name.
    SubagentStart,
    /// `subagentStop`, with patterns over the subagent's name.
    SubagentStop,
}

/// One row of the table.
#[derive(Debug)]
pub struct Row {
    /// The name in the payload and on the command line.
    pub name: &'static str,
    /// Whose commands run.
    pub commands: Commands,
    /// Whether and how the event can block.
    pub blocking: Blocking,
    /// Notifications about it obey `showSystemEvents`.
    pub system: bool,
    /// The client shows the event's `systemMessage` to the person, so an error can be told there.
    pub shown: bool,
}

macro_rules! flag {
    (system system) => {
        true
    };
    (shown shown) => {
        true
    };
    ($have:ident $want:ident) => {
        false
    };
}

macro_rules! events {
    ($($name:ident: $commands:ident $blocking:ident $($flag:ident)*;)*) => {
        /// A hook event of Claude Code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names are the client's own")]
        pub enum Event { $($name),* }

        /// All events, in the order of the table.
        pub const ALL: &[Event] = &[$(Event::$name),*];

        impl Event {
            /// The event's row of the table.
            #[must_use]
            pub fn row(self) -> &'static Row {
                match self {
                    $(Event::$name => const { &Row {
                        name: stringify!($name),
                        commands: Commands::$commands,
                        blocking: Blocking::$blocking,
                        system: false $(|| flag!($flag system))*,
                        shown: false $(|| flag!($flag shown))*,
                    } },)*
                }
            }

            /// The event with exactly this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Event> {
                match name {
                    $(stringify!($name) => Some(Event::$name),)*
                    _ => None,
                }
            }
        }
    };
}

events! {
    PreToolUse:          None          Tool  shown;
    PostToolUse:         None          Never shown;
    PostToolUseFailure:  None          Never;
    PostToolBatch:       None          Never;
    PermissionRequest:   None          Never;
    PermissionDenied:    None          Never;
    UserPromptSubmit:    None          Never system shown;
    UserPromptExpansion: None          Never;
    SessionStart:        None          Never system shown;
    SessionEnd:          None          Never system;
    Setup:               None          Never;
    SubagentStart:       SubagentStart Never system;
    SubagentStop:        SubagentStop  Stop  system;
    Stop:                None          Never shown;
    StopFailure:         None          Never;
    Notification:        None          Never system;
    PreCompact:          None          Never system;
    PostCompact:         None          Never;
    PreModelSwitch:      None          Never;
    PostModelSwitch:     None          Never;
    TaskCreated:         None          Never;
    TaskCompleted:       None          Never;
    TeammateIdle:        None          Never;
    Elicitation:         None          Never;
    ElicitationResult:   None          Never;
    ConfigChange:        None          Never;
    InstructionsLoaded:  None          Never;
    CwdChanged:          None          Never;
    FileChanged:         None          Never;
    DirectoryAdded:      None          Never;
    WorktreeCreate:      None          Never;
    WorktreeRemove:      None          Never;
    MessageDisplay:      None          Never;
}

/// To register a hook for these changes what Claude Code does, so they are never registered.
pub const NEVER_REGISTERED: [Event; 3] = [Event::WorktreeCreate, Event::WorktreeRemove, Event::FileChanged];

impl Event {
    /// The event's name, as the client spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

/// The names of all events.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|event| event.name())
}

/// The nearest of `candidates` to what was typed, if one is near enough to be meant.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // No name is that long, and comparing takes time and memory by length.
    if typed.len() > 100 {
        return None;
    }
    let folded = typed.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= candidate.len().max(folded.len()) / 3)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_33_events_are_known_by_name() {
        assert_eq!(ALL.len(), 33);
        for event in ALL {
            assert_eq!(Event::named(event.name()), Some(*event));
        }
    }

    #[test]
    fn names_are_compared_exactly() {
        assert_eq!(Event::named("subagentstop"), None);
        assert_eq!(Event::named("SubagentStop "), None);
        assert_eq!(Event::named(""), None);
    }

    #[test]
    fn the_nearest_name_ignores_case_and_small_slips() {
        assert_eq!(nearest("subagentstop", names()), Some("SubagentStop"));
        assert_eq!(nearest("SubagentStpo", names()), Some("SubagentStop"));
        assert_eq!(nearest("SubagentStrat", names()), Some("SubagentStart"));
        assert_eq!(nearest("frobnicate", names()), None);
        assert_eq!(nearest("", names()), None);
    }

    #[test]
    fn only_a_tool_and_a_subagents_stop_can_be_blocked() {
        let blocking: Vec<_> =
            ALL.iter().filter(|e| e.row().blocking != Blocking::Never).map(|e| e.name()).collect();
        assert_eq!(blocking, ["PreToolUse", "SubagentStop"]);
    }
}
