//! What Claude Code does with an answer, event by event, as it was observed.

use crate::event::EventKind;

/// What an event's block looks like to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// Nothing that we answer holds the client up.
    Never,
    /// `decision: block` makes the agent continue.
    Stop,
    /// `permissionDecision: deny` keeps the tool from being used.
    Tool,
}

/// How we may block the event.
#[must_use]
pub fn blocking(event: EventKind) -> Blocking {
    match event {
        EventKind::PreToolUse => Blocking::Tool,
        EventKind::SubagentStop => Blocking::Stop,
        _ => Blocking::Never,
    }
}

/// Whether the client shows the event's `systemMessage` to the user.
#[must_use]
pub fn is_shown(event: EventKind) -> bool {
    matches!(
        event,
        EventKind::PreToolUse
            | EventKind::PostToolUse
            | EventKind::UserPromptSubmit
            | EventKind::SessionStart
            | EventKind::Stop
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ALL;

    #[test]
    fn only_a_tool_and_the_stop_of_a_subagent_can_be_blocked() {
        let can = ALL.iter().filter(|event| blocking(**event) != Blocking::Never);
        assert_eq!(can.map(|event| event.name()).collect::<Vec<_>>(), ["PreToolUse", "SubagentStop"]);
    }
}
