//! The list of scenarios.

mod commands;
mod gates;
mod setup;
mod steps;

use crate::client::Client;

/// A session, or some, and what must come of it.
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub play: fn(&Client),
}

/// All of them, in the order in which they are played.
pub const ALL: &[Scenario] = &[Scenario {
    name: "commands-foreground",
    about: "commands by a subagent's name; what they print comes with the agent's result",
    play: commands::foreground,
}];
