//! The events of Codex.

use crate::dialect::{ClientEvent, effect};
use crate::event::{EventKind, Row};

pub(super) const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context().shown(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd).shown().noted("a hook gets 3 seconds"),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit)
        .with_context()
        .shown()
        .blocked(effect::REJECTED),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse)
        .with_context()
        .shown()
        .blocked(effect::DENIED)
        .noted("`ask` is a denial; what is typed into a running program (`write_stdin`) fires no event"),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse)
        .with_context()
        .shown()
        .blocked(effect::READ_INSTEAD),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest)
        .shown()
        .blocked(effect::NOT_PERMITTED)
        .noted("with a terminal only"),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart).with_context().shown(),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop)
        .shown()
        .blocked(effect::GOES_ON)
        .noted("agents that still run when the main thread stops are dropped without it: Stop reports them"),
    ClientEvent::same("Stop", EventKind::Stop).shown().blocked(effect::GOES_ON),
    ClientEvent::same("PreCompact", EventKind::PreCompact).shown(),
    ClientEvent::same("PostCompact", EventKind::PostCompact).shown(),
    ClientEvent::own(&Row { name: "PreModelRequest", section: "preModelRequest", ..Row::OF_CLIENT }),
    ClientEvent::own(&Row { name: "Interrupt", section: "interrupt", ..Row::OF_CLIENT })
        .noted("a hook gets 3 seconds"),
];
