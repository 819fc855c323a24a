//! The section `stop`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::section::{CommandMap, EventConfig};
use super::{NonBlank, Remark};
use crate::pattern::MatchMode;

/// What happens when Claude itself stops: commands, and whether it is asked to continue.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StopConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    mode: Option<MatchMode>,
    /// The commands, whose `onFailure` is `block` by default. They do not run while background agents do: the stop comes
    /// again when those have stopped.
    commands: Option<CommandMap>,
    /// Makes Claude continue after every stop, as often as `maxBlocks` allows for one prompt. Default: false.
    pub infinite: Option<bool>,
    /// What Claude is then asked to do. Default: `continue`.
    pub infinite_message: Option<NonBlank>,
}

impl StopConfig {
    /// The part that every event has.
    pub(super) fn take_section(&mut self) -> EventConfig {
        EventConfig { mode: self.mode.take(), commands: self.commands.take() }
    }

    pub(super) fn warnings(&self, found: &mut Vec<Remark>) {
        if self.infinite_message.is_some() && self.infinite().is_none() {
            let remark = Remark::new(["stop", "infiniteMessage"], "stop: `infiniteMessage` has no effect");
            found.push(
                remark.because("`infinite` is not `true`").help("write `infinite: true`, or remove it"),
            );
        }
    }

    /// What Claude is asked to do instead of stopping.
    pub fn infinite(&self) -> Option<&str> {
        let message = self.infinite_message.as_ref().map_or("continue", NonBlank::as_str);
        (self.infinite == Some(true)).then_some(message)
    }
}
