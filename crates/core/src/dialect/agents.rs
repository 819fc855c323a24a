//! How the agents of a client are identified.

/// The differences between clients in their agents.
pub struct AgentFacts {
    /// Whether a subagent has a session id of its own. Its parents then lead to the session.
    pub has_own_session: bool,
    /// Whether only the start of an agent reliably names it.
    pub is_named_at_start: bool,
    /// How an agent leads to the call that started it.
    pub call: AgentCallLink,
    pub at_stop: AgentsAtStop,
}

impl AgentFacts {
    /// Every event names its agent, and files contain everything else.
    pub const IN_FILES: AgentFacts = AgentFacts {
        has_own_session: false,
        is_named_at_start: false,
        call: AgentCallLink::Files,
        at_stop: AgentsAtStop::Listed,
    };
}

/// How an agent leads to the call that started it.
#[derive(Clone, Copy, Debug)]
pub enum AgentCallLink {
    /// By files next to its transcript. A client without such files has no link.
    Files,
    /// Its id contains the id of the call.
    Id(fn(&str) -> Option<&str>),
    /// Its task arrives as a prompt, which starts with the prompt of the call.
    Prompt,
    /// The first line of its transcript contains the name that the call gave to the task.
    TaskName(fn(&str) -> Option<String>),
}

/// The fate of agents that still run when the main thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentsAtStop {
    /// The payload lists them.
    Listed,
    /// They end without a stop event.
    Dropped,
    /// They may continue, and nothing says which of them do.
    Unknown,
}
