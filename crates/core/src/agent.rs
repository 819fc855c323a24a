//! A subagent as the rules see it.

/// The main thread, as rules name it.
pub const MAIN: &str = "main";

/// The name of an agent that neither payload nor transcript names.
pub const UNKNOWN: &str = "unknown";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// What patterns are compared with: the type, else the id, else `unknown`.
    pub name: String,
    /// The type, where the payload or a transcript has it.
    pub kind: Option<String>,
    /// The id, where the payload has one.
    pub id: Option<String>,
    /// What its call says that it is to do, in a few words.
    pub description: Option<String>,
    /// The path of its transcript, as given or as Claude Code forms it.
    pub transcript: Option<String>,
}

/// Who causes an event, as `agent` of a rule names it.
#[must_use]
pub fn actor(subagent: Option<&Agent>) -> &str {
    subagent.map_or(MAIN, |agent| &agent.name)
}

impl Agent {
    /// An agent with nothing but a name: the main thread, a task.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Agent {
        Agent { name: name.into(), kind: None, id: None, description: None, transcript: None }
    }

    /// What identifies this agent within its session.
    #[must_use]
    pub fn key(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }
}
