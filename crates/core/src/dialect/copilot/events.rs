//! The events of Copilot. It shows no message of a hook to the user.

use crate::dialect::{ClientEvent, effect};
use crate::event::{EventKind, Row};

pub(super) const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit)
        .with_context()
        .blocked(effect::REJECTED)
        .noted("the task of a subagent is not a prompt: no rule applies"),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse).with_context().blocked(effect::DENIED),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse).with_context().blocked(effect::READ_INSTEAD),
    ClientEvent::same("PostToolUseFailure", EventKind::PostToolUseFailure),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest).blocked(effect::NOT_PERMITTED),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart).with_context(),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop).blocked(effect::GOES_ON),
    ClientEvent::same("Stop", EventKind::Stop)
        .blocked(effect::GOES_ON)
        .noted("inside a subagent it is ignored, since SubagentStop follows; after 8 blocks Copilot stops"),
    ClientEvent::same("PreCompact", EventKind::PreCompact),
    ClientEvent::same("Notification", EventKind::Notification),
    ClientEvent::own(&Row { name: "ErrorOccurred", section: "errorOccurred", ..Row::OF_CLIENT }),
];
