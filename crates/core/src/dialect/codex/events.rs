//! The events of Codex.

use crate::dialect::ClientEvent;
use crate::event::{EventKind, Row};

pub(super) const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context().shown(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd).shown(),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit).with_context().shown(),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse).with_context().shown(),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse).with_context().shown(),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest).shown(),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart).with_context().shown(),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop).shown(),
    ClientEvent::same("Stop", EventKind::Stop).shown(),
    ClientEvent::same("PreCompact", EventKind::PreCompact).shown(),
    ClientEvent::same("PostCompact", EventKind::PostCompact).shown(),
    ClientEvent::own(&Row { name: "PreModelRequest", section: "preModelRequest", ..Row::OWN }),
    ClientEvent::own(&Row { name: "Interrupt", section: "interrupt", ..Row::OWN }),
];
