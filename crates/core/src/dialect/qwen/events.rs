//! The events of Qwen Code. It shows messages of a hook only at a stop.

use crate::dialect::{ClientEvent, effect};
use crate::event::{EventKind, Row};

pub(super) const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd).noted("with a terminal only"),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit)
        .with_context()
        .blocked(effect::REJECTED)
        .noted("an empty prompt is ignored: no rule applies"),
    ClientEvent::same("UserPromptExpansion", EventKind::UserPromptExpansion),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse)
        .blocked(effect::DENIED)
        .noted("a hook cannot change a tool's input: agents do not see their boundaries"),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse)
        .with_context()
        .blocked(effect::READ)
        .noted("a block is given as context"),
    ClientEvent::same("PostToolUseFailure", EventKind::PostToolUseFailure),
    ClientEvent::same("PostToolBatch", EventKind::PostToolBatch),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest)
        .blocked(effect::NOT_PERMITTED)
        .noted("with a terminal only"),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart).noted("context is not read"),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop).blocked(effect::GOES_ON),
    ClientEvent::same("Stop", EventKind::Stop)
        .shown()
        .blocked(effect::GOES_ON)
        .noted("after 7 blocks Qwen Code stops; agents in the background stop later"),
    ClientEvent::same("PreCompact", EventKind::PreCompact),
    ClientEvent::same("Notification", EventKind::Notification),
    ClientEvent::same("InstructionsLoaded", EventKind::InstructionsLoaded),
    ClientEvent::same("MessageDisplay", EventKind::MessageDisplay),
    ClientEvent::own(&Row { name: "TodoCreated", section: "todoCreated", ..Row::OF_CLIENT }),
    ClientEvent::own(&Row { name: "TodoCompleted", section: "todoCompleted", ..Row::OF_CLIENT }),
];

pub(super) const MISSING: &[(EventKind, &str)] = &[
    (EventKind::PostCompact, "it was never seen to fire"),
    (EventKind::StopFailure, "it was never seen to fire"),
    (EventKind::PermissionDenied, "it was never seen to fire"),
];
