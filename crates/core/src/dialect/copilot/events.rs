//! The events of Copilot. It shows no message of a hook to the user.

use crate::dialect::ClientEvent;
use crate::event::{EventKind, Row};

pub(super) const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit).with_context(),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse).with_context(),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse).with_context(),
    ClientEvent::same("PostToolUseFailure", EventKind::PostToolUseFailure),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart).with_context(),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop),
    ClientEvent::same("Stop", EventKind::Stop),
    ClientEvent::same("PreCompact", EventKind::PreCompact),
    ClientEvent::same("Notification", EventKind::Notification),
    ClientEvent::own(&Row { name: "ErrorOccurred", section: "errorOccurred", ..Row::OWN }),
];
