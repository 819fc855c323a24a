//! How the agents of a client are known.

/// What differs between clients about their agents.
pub struct AgentFacts {
    /// Whether the id of a session inside a subagent is that of the subagent, so that its parents lead to the session.
    pub has_own_session: bool,
    /// Whether only the start of an agent says its name for certain.
    pub is_named_at_start: bool,
    /// How an agent leads to the call that started it.
    pub call: AgentCallLink,
    pub at_stop: AgentsAtStop,
}

impl AgentFacts {
    /// Every event says which agent it is of, and the rest is in files.
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
    /// By files beside its transcript, or not at all.
    Files,
    /// Its id has the id of the call in it.
    Id(fn(&str) -> Option<&str>),
    /// Its task comes as a prompt, which starts with that of the call.
    Prompt,
    /// The first line of its transcript has the name that the call gave to the task.
    TaskName(fn(&str) -> Option<String>),
}

/// What becomes of agents that still run when the main thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentsAtStop {
    /// The payload lists them.
    Listed,
    /// They end without a stop of their own.
    Dropped,
    /// They may go on, and nothing says which do.
    Unknown,
}
