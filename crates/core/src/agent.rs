//! A subagent as the rules see it.

/// The main thread, as rules name it.
pub const MAIN: &str = "main";

/// The name of an agent if neither payload nor transcript names it.
pub const UNKNOWN: &str = "unknown";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The text that patterns compare: the type, else the id, else `unknown`.
    pub name: String,
    /// The type, if the payload or a transcript has it.
    pub kind: Option<String>,
    /// The id, if the payload has one.
    pub id: Option<String>,
    /// The short description of its task, from its call.
    pub description: Option<String>,
    /// The path of its transcript: from the payload, or built as Claude Code builds it.
    pub transcript: Option<String>,
}

/// The agent that causes an event, as `agent` of a rule names it.
#[must_use]
pub fn actor(subagent: Option<&Agent>) -> &str {
    subagent.map_or(MAIN, |agent| &agent.name)
}

impl Agent {
    /// An agent with only a name: the main thread, a task.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Agent {
        Agent { name: name.into(), kind: None, id: None, description: None, transcript: None }
    }

    /// Identifies this agent within its session.
    #[must_use]
    pub fn key(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }
}
