//! The section `messageDisplay`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::section::{CommandMap, EventConfig};
use crate::pattern::MatchMode;

/// Commands that run while Claude writes a message.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MessageDisplayConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    mode: Option<MatchMode>,
    /// The commands.
    commands: Option<CommandMap>,
    /// Run them for the last part of a message alone: a message comes in many parts. Default: true.
    pub only_final: Option<bool>,
}

impl MessageDisplayConfig {
    /// The part that every event has.
    pub(super) fn take_section(&mut self) -> EventConfig {
        EventConfig { mode: self.mode.take(), commands: self.commands.take() }
    }

    pub fn only_final(&self) -> bool {
        self.only_final.unwrap_or(true)
    }
}
