//! The events of Gemini CLI.

use super::{CALLING, STOPPING};
use crate::dialect::{ClientEvent, effect};
use crate::event::{EventKind, Row};

pub(super) const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context().shown(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd).shown(),
    ClientEvent::same("BeforeAgent", EventKind::UserPromptSubmit).with_context().shown().blocked(effect::REJECTED),
    ClientEvent::same("AfterAgent", EventKind::Stop).shown().blocked(effect::GOES_ON),
    ClientEvent::same("BeforeTool", EventKind::PreToolUse).shown().blocked(effect::DENIED).noted("`ask` is a denial"),
    ClientEvent::same("AfterTool", EventKind::PostToolUse).with_context().shown().blocked(effect::READ_INSTEAD),
    ClientEvent::at_tool("BeforeTool", EventKind::SubagentStart, CALLING).shown().noted("with the call of the agent (`invoke_agent`)"),
    ClientEvent::at_tool("BeforeTool", EventKind::SubagentStop, STOPPING).shown().blocked(effect::GOES_ON).noted("when the agent reports (`complete_task`); with several agents at work, the rules of each name apply"),
    ClientEvent::same("Notification", EventKind::Notification).shown(),
    ClientEvent::own(&Row { name: "BeforeModel", section: "beforeModel", ..Row::OF_CLIENT }),
    ClientEvent::own(&Row { name: "AfterModel", section: "afterModel", ..Row::OF_CLIENT }),
    ClientEvent::own(&Row { name: "BeforeToolSelection", section: "beforeToolSelection", ..Row::OF_CLIENT }),
    // It fires before every request, whether anything is compressed or not.
    ClientEvent::own(&Row { name: "PreCompress", section: "preCompress", ..Row::OF_CLIENT }),
];

pub(super) const MISSING: &[(EventKind, &str)] = &[(
    EventKind::PreCompact,
    "PreCompress fires before every request, whether anything is compressed or not",
)];
