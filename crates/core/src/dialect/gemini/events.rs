//! The events of Gemini CLI.

use crate::dialect::ClientEvent;
use crate::event::{EventKind, Row};

pub(super) const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context().shown(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd).shown(),
    ClientEvent::same("BeforeAgent", EventKind::UserPromptSubmit).with_context().shown(),
    ClientEvent::same("AfterAgent", EventKind::Stop).shown(),
    ClientEvent::same("BeforeTool", EventKind::PreToolUse).shown(),
    ClientEvent::same("AfterTool", EventKind::PostToolUse).with_context().shown(),
    ClientEvent::same("Notification", EventKind::Notification).shown(),
    ClientEvent::own(&Row { name: "BeforeModel", section: "beforeModel", ..Row::OWN }),
    ClientEvent::own(&Row { name: "AfterModel", section: "afterModel", ..Row::OWN }),
    ClientEvent::own(&Row { name: "BeforeToolSelection", section: "beforeToolSelection", ..Row::OWN }),
    // It fires before every request, whether anything is compressed or not.
    ClientEvent::own(&Row { name: "PreCompress", section: "preCompress", ..Row::OWN }),
];
