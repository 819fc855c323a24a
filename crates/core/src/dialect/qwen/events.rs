//! The events of Qwen Code. It shows messages of a hook at a stop alone.

use crate::dialect::ClientEvent;
use crate::event::{EventKind, Row};

pub(super) const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit).with_context(),
    ClientEvent::same("UserPromptExpansion", EventKind::UserPromptExpansion),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse).with_context(),
    ClientEvent::same("PostToolUseFailure", EventKind::PostToolUseFailure),
    ClientEvent::same("PostToolBatch", EventKind::PostToolBatch),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop),
    ClientEvent::same("Stop", EventKind::Stop).shown(),
    ClientEvent::same("PreCompact", EventKind::PreCompact),
    ClientEvent::same("Notification", EventKind::Notification),
    ClientEvent::same("InstructionsLoaded", EventKind::InstructionsLoaded),
    ClientEvent::same("MessageDisplay", EventKind::MessageDisplay),
    ClientEvent::own(&Row { name: "TodoCreated", section: "todoCreated", ..Row::OWN }),
    ClientEvent::own(&Row { name: "TodoCompleted", section: "todoCompleted", ..Row::OWN }),
];
