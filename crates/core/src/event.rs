//! The columns of the table of events, and what follows from them for an event. The rows are in each client's dialect.

use std::fmt;

pub use crate::dialect::claude::events::{ALL, EventKind};

/// A row of the table: everything that differs between events.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The name in the payload and on the command line.
    pub name: &'static str,
    /// The key of its section in the config: the name in camelCase.
    pub section: &'static str,
    /// The value that the patterns of its section are compared with.
    pub subject: Subject,
    /// The possible values of the compared field.
    pub values: Values,
    pub payload: Shape,
    /// The fields of its payload, besides the common ones.
    pub fields: &'static [Field],
    /// Whether it may come from inside a subagent.
    pub in_agents: bool,
    /// The effect of a block.
    pub blocking: Blocking,
    /// Whether the client shows its `systemMessage` to the user, on the main thread.
    pub is_shown: bool,
    /// Whether `additionalContext` reaches the model. At a stop it would make the agent continue.
    pub takes_context: bool,
    /// Whether the model reads a hook's output that is not JSON. If the client has no `additionalContext`, the model reads all of
    /// stdout, even JSON.
    pub prints_context: bool,
    /// Whether the client uses the matcher of a hook.
    pub has_matcher: bool,
    /// Whether another client that runs our hooks reads a failure of it as a denial.
    pub failure_denies: bool,
    /// The files that it concerns, for `files` of its commands.
    pub changes: Changes,
    pub registered: RegistrationRule,
    /// The client's timeout for a hook without `timeout`, in seconds.
    pub default_timeout: u64,
    /// The longest timeout of the client.
    pub max_timeout: u64,
    /// Whether `showSystemEvents` applies to notifications about it.
    pub system: bool,
}

impl Row {
    /// An unknown event. Commands may run at it. Rows take their defaults from here.
    pub const UNKNOWN: Row = Row {
        name: "",
        section: "",
        subject: Subject::Nothing,
        values: Values::Any,
        payload: Shape::Other,
        fields: &[],
        in_agents: false,
        blocking: Blocking::Never,
        is_shown: false,
        takes_context: false,
        prints_context: false,
        has_matcher: true,
        failure_denies: false,
        changes: Changes::Named,
        registered: RegistrationRule::WhenUsed,
        default_timeout: 600,
        max_timeout: 3_600,
        system: false,
    };

    /// The value that the patterns of its section are compared with.
    #[must_use]
    pub fn compares(&self) -> Option<&'static str> {
        match self.subject {
            Subject::Agent => Some("the agent's name"),
            Subject::Field(field) => Some(field),
            Subject::File("file_path") => Some("file_path, by gitignore's rules"),
            Subject::File(field) => Some(field),
            Subject::Nothing => None,
        }
    }

    /// The effect of a failure that blocks.
    #[must_use]
    pub fn block_effect(&self) -> Option<&'static str> {
        Some(match self.blocking {
            Blocking::Never => return None,
            Blocking::Stop(BlockCounter::Task(_)) => "the task stays open, up to maxBlocks",
            Blocking::Stop(_) => "the agent continues, up to maxBlocks",
            Blocking::Tool => "the tool is denied",
            Blocking::Permission => "the permission is denied",
            Blocking::Action { effect, .. } => effect,
            Blocking::Feedback | Blocking::Context => "Claude reads why",
            Blocking::Worktree => "the worktree is not created",
        })
    }

    /// An event that another client has and Claude Code does not. It may come from a subagent.
    pub const OWN: Row = Row { in_agents: true, ..Row::UNKNOWN };

    /// Like `OWN`, but the client fires it for every request: it is registered only for commands.
    pub const OF_CLIENT: Row = Row { registered: RegistrationRule::WithCommands, ..Row::OWN };
}

impl EventKind {
    /// The event's name, as the client spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The event with exactly this section in the config.
    #[must_use]
    pub fn of_section(section: &str) -> Option<EventKind> {
        ALL.iter().copied().find(|event| event.row().section == section)
    }

    /// Whether it is the start or the stop of a subagent: its patterns are compared with the agent's name.
    #[must_use]
    pub fn is_of_agent(self) -> bool {
        self.row().subject == Subject::Agent
    }

    /// Whether the main thread or a subagent stops.
    #[must_use]
    pub fn is_stop(self) -> bool {
        matches!(self, EventKind::Stop | EventKind::SubagentStop)
    }

    /// How we may block the event.
    #[must_use]
    pub fn blocking(self) -> Blocking {
        self.row().blocking
    }

    /// Whether Claude Code shows the event's `systemMessage` to the user, on the main thread.
    #[must_use]
    pub fn is_shown(self) -> bool {
        self.row().is_shown
    }

    /// Whether `additionalContext` reaches the model at the event.
    #[must_use]
    pub fn takes_context(self) -> bool {
        self.row().takes_context
    }

    /// Whether an unreadable payload is not an error here. It may be that of another client that runs our hooks.
    #[must_use]
    pub fn is_quiet(self) -> bool {
        !self.is_of_agent() && !self.row().failure_denies
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

/// The value that the patterns of an event's section are compared with.
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

/// The values of the field that patterns are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    Any,
    /// These and others.
    Known(&'static [&'static str]),
    /// These and no others.
    Only(&'static [&'static str]),
}

/// A field of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    /// An example, if the client always sends the field.
    pub example: Option<Example>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    Text(&'static str),
    Number(u32),
    Flag(bool),
    List,
    Map,
    /// The session's current directory.
    Cwd,
}

/// A field that the client always sends, with an example.
pub const fn always(name: &'static str, example: Example) -> Field {
    Field { name, example: Some(example) }
}

/// A field that is not always there.
pub const fn maybe(name: &'static str) -> Field {
    Field { name, example: None }
}

/// The effect of a block in the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// A block has no effect.
    Never,
    /// It makes an agent continue, so it is counted: nothing else would end the loop.
    Stop(BlockCounter),
    /// It denies the tool.
    Tool,
    /// It denies the permission.
    Permission,
    /// It prevents the announced action. `says` is the message, `effect` what happens then.
    Action { says: &'static str, effect: &'static str },
    /// It shows the reason to the model in addition to the tool's result.
    Feedback,
    /// It shows the reason to the model and nothing more: a block would end the agent's turn here, without the checks of its
    /// stop.
    Context,
    /// It prevents a worktree. Otherwise its path is the answer.
    Worktree,
}

/// The owner of a block count. At most `maxBlocks` of them prevent a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCounter {
    /// The subagent.
    Agent,
    /// The main thread.
    Main,
    /// The subagent that the event comes from, else the one that this field names.
    Teammate(&'static str),
    /// The task with its id in this field. It is not completed.
    Task(&'static str),
}

/// The files that an event concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// The payload's `file_path`, if there is one.
    Named,
    /// The files that its tool writes.
    Tool,
    /// The files that the tools in this list write.
    Tools(&'static str),
    /// The files that the agent wrote until its stop.
    Agent,
    /// The files that the main thread wrote since the last prompt.
    SincePrompt,
}

/// When an event is registered with the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationRule {
    /// Always: conclaude needs it whatever the config says.
    Always,
    /// If gates are on, or the config has commands: it delivers messages of events that show none.
    ToDeliver,
    /// If the gates are on, or the config uses it.
    WithGates,
    /// If the config uses it.
    WhenUsed,
    /// If the config has commands for it. Registering it changes what the client does, or starts a process for every word, so a
    /// notification is not enough.
    WithCommands,
}

/// The fields of a payload in addition to the common ones.
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
