//! The section `notifications`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Remark;
use super::shapes::List;
use super::values::InvalidValue;
use crate::event::{self, EventKind};

/// Desktop notifications about hook events.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NotificationsConfig {
    /// Enables notifications. Default: false.
    pub enabled: Option<bool>,
    /// The events to notify about; `*` means every event that is registered with Claude Code.
    pub hooks: Option<List<HookName, 0, 100>>,
    /// Notify about failures. Default: false.
    pub show_errors: Option<bool>,
    /// Notify about successes of events that are not system events. Default: false.
    pub show_success: Option<bool>,
    /// Notify about system events, such as a subagent's start and stop. Default: true.
    pub show_system_events: Option<bool>,
}

/// The name of a hook event, or `*` for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("enum" = names()))]
pub enum HookName {
    All,
    One(EventKind),
}

impl HookName {
    #[must_use]
    pub fn covers(self, event: EventKind) -> bool {
        match self {
            HookName::All => true,
            HookName::One(one) => one == event,
        }
    }
}

impl TryFrom<String> for HookName {
    type Error = InvalidValue;

    fn try_from(name: String) -> Result<Self, InvalidValue> {
        if name == "*" {
            return Ok(HookName::All);
        }
        EventKind::named(&name).map(HookName::One).ok_or(InvalidValue::Event(name))
    }
}

fn names() -> Vec<&'static str> {
    std::iter::once("*").chain(event::names()).collect()
}

impl NotificationsConfig {
    /// Events that `hooks` names one by one. `*` is left out, because it means only registered events: all 33 of them would start
    /// a process with every displayed word.
    pub fn named(&self) -> impl Iterator<Item = EventKind> {
        let hooks = if self.enabled == Some(true) { self.hooks.as_ref() } else { None };
        hooks.into_iter().flatten().filter_map(|hook| match hook {
            HookName::One(event) => Some(*event),
            HookName::All => None,
        })
    }

    pub(super) fn warnings(&self, found: &mut Vec<Remark>) {
        for event in
            self.named().filter(|event| event.row().registered == event::RegistrationRule::WithCommands)
        {
            let what = format!("notifications: `{event}` is registered only if it has commands");
            let why =
                "registering it only for notifications would change what Claude Code does, or slow it down";
            found.push(Remark::new(["notifications", "hooks"], what).because(why));
        }
        if self.enabled == Some(true) && self.hooks.as_ref().is_none_or(|hooks| hooks.is_empty()) {
            let what = "notifications: enabled, but `hooks` names no event: nothing is ever sent";
            found.push(Remark::new(["notifications", "enabled"], what).help("try `hooks: [\"*\"]`"));
        }
    }
}
