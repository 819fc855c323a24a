//! One hook of ours in a settings file.

use std::fmt;

use serde_json::{Value, json};

use conclaude_core::event::EventKind;

pub(super) const BOM: char = '\u{feff}';

/// A hook that is or should be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub event: EventKind,
    /// What Claude Code compares before it calls; none calls always.
    pub matcher: Option<String>,
    pub command: String,
    pub timeout: u64,
    /// What Claude Code shows while it runs.
    pub status: Option<String>,
    /// Something in the entry that keeps it from working, in words.
    pub flaw: Option<&'static str>,
}

impl Registration {
    /// The entry of the list of an event.
    pub(super) fn value(&self) -> Value {
        let mut hook = json!({ "type": "command", "command": self.command, "timeout": self.timeout });
        if let (Some(status), Some(hook)) = (&self.status, hook.as_object_mut()) {
            hook.insert("statusMessage".into(), status.as_str().into());
        }
        match &self.matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        }
    }
}

/// Why a settings file is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
