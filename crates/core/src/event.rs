//! The columns of the table of events. Its rows are in the dialect of the client whose events they are.

pub use crate::dialect::claude::events::{ALL, EventKind, names};

/// A row of the table: everything that differs from event to event.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The name in the payload and on the command line.
    pub name: &'static str,
    /// The key of its section in the config: the name in camelCase.
    pub section: &'static str,
    /// What the patterns of its section are compared with.
    pub subject: Subject,
    /// What the compared field may be.
    pub values: Values,
    pub payload: Shape,
    /// What its payload holds beside the common fields.
    pub fields: &'static [Field],
    /// Whether it may come from inside a subagent.
    pub in_agents: bool,
    /// What a block of it does.
    pub blocking: Blocking,
    /// Whether the client shows its `systemMessage` to the user, on the main thread.
    pub is_shown: bool,
    /// Whether `additionalContext` reaches the model. At a stop it would make the agent go on.
    pub takes_context: bool,
    /// Whether the client gives the model what a hook prints that is not JSON. Where it takes no `additionalContext`, it takes all of
    /// stdout for that, JSON too.
    pub prints_context: bool,
    /// Whether the client compares the matcher of a hook with anything.
    pub has_matcher: bool,
    /// Whether another client that runs our hooks reads a failure of it as a denial.
    pub failure_denies: bool,
    /// Which files it is about, for `files` of its commands.
    pub changes: Changes,
    pub registered: RegistrationRule,
    /// The seconds that the client gives a hook without `timeout`.
    pub default_timeout: u64,
    /// The most seconds that it gives one.
    pub max_timeout: u64,
    /// Notifications about it obey `showSystemEvents`.
    pub system: bool,
}

impl Row {
    /// An event about which nothing is known. Commands may run at it. Rows take their defaults from here.
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

    /// What the patterns of its section are compared with.
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

    /// What a failure that blocks does.
    #[must_use]
    pub fn block_effect(&self) -> Option<&'static str> {
        Some(match self.blocking {
            Blocking::Never => return None,
            Blocking::Stop(BlockCounter::Task(_)) => "the task stays open, up to maxBlocks",
            Blocking::Stop(_) => "the agent goes on, up to maxBlocks",
            Blocking::Tool => "the tool is denied",
            Blocking::Permission => "the permission is denied",
            Blocking::Action { effect, .. } => effect,
            Blocking::Feedback | Blocking::Context => "Claude reads why",
            Blocking::Worktree => "the worktree is not created",
        })
    }

    /// An event of another client, which Claude Code has not. It may come from inside a subagent.
    pub const OWN: Row = Row { in_agents: true, ..Row::UNKNOWN };

    /// The same, and the client fires it for every request: it is registered only for commands.
    pub const OF_CLIENT: Row = Row { registered: RegistrationRule::WithCommands, ..Row::OWN };
}

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

/// The values of the field that patterns are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    Any,
    /// These, and others.
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

/// What a block of an event does in the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// A block has no effect.
    Never,
    /// It makes an agent continue, so it is counted: nothing else would end it.
    Stop(BlockCounter),
    /// It keeps the tool from being used.
    Tool,
    /// It refuses the permission.
    Permission,
    /// It prevents what the event announces. `says` is the message, `effect` what happens then.
    Action { says: &'static str, effect: &'static str },
    /// It shows the reason to the model beside the tool's result.
    Feedback,
    /// It shows the reason to the model and nothing more: a block would end the agent's turn here, without the checks of its stop.
    Context,
    /// It keeps a worktree from being made, whose path is the answer otherwise.
    Worktree,
}

/// Whose blocks are counted. At most `maxBlocks` of them prevent a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCounter {
    /// The subagent.
    Agent,
    /// The main thread.
    Main,
    /// The subagent from inside which the event comes, else the one that this field names.
    Teammate(&'static str),
    /// The task whose id is in this field, which is not completed.
    Task(&'static str),
}

/// Which files an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// The one that the payload names as `file_path`, if it does.
    Named,
    /// What its tool writes.
    Tool,
    /// What the tools in this list write.
    Tools(&'static str),
    /// What the agent wrote until its stop.
    Agent,
    /// What the main thread wrote since the last prompt.
    SincePrompt,
}

/// When an event is registered with the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationRule {
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
