//! What Claude Code does with an answer, event by event: the result of trying each in Claude Code 2.1.325.

use crate::event::EventKind;

/// What a block of an event does in the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// Nothing that we answer holds the client up.
    Never,
    /// `decision: block` makes an agent continue, so it is counted: nothing else would end it.
    Stop,
    /// `permissionDecision: deny` keeps the tool from being used.
    Tool,
    /// `decision.behavior: deny` refuses the permission, with exit 0.
    Permission,
    /// Exit 2 and `decision: block` keep from happening what the event announces.
    Action,
    /// `decision: block` shows the reason to the model beside the tool's result.
    Feedback,
    /// `additionalContext` shows the reason to the model. `decision: block` would end the agent's turn here, without the
    /// checks of its stop.
    Context,
    /// Stdout is the path of the worktree: exit 2 and stderr alone keep it from being made.
    Worktree,
}

/// How we may block the event.
#[must_use]
pub fn blocking(event: EventKind) -> Blocking {
    match event {
        // A task is also completed when a teammate stops while it works on it.
        EventKind::SubagentStop | EventKind::Stop | EventKind::TeammateIdle | EventKind::TaskCompleted => {
            Blocking::Stop
        }
        EventKind::PreToolUse => Blocking::Tool,
        EventKind::PermissionRequest => Blocking::Permission,
        EventKind::UserPromptSubmit
        | EventKind::UserPromptExpansion
        | EventKind::PreCompact
        | EventKind::PreModelSwitch
        | EventKind::TaskCreated
        | EventKind::ConfigChange
        | EventKind::Elicitation
        | EventKind::ElicitationResult => Blocking::Action,
        EventKind::PostToolUse | EventKind::PostToolUseFailure => Blocking::Feedback,
        EventKind::PostToolBatch => Blocking::Context,
        EventKind::WorktreeCreate => Blocking::Worktree,
        _ => Blocking::Never,
    }
}

/// Whether the client shows the event's `systemMessage` to the user, on the main thread.
#[must_use]
pub fn is_shown(event: EventKind) -> bool {
    matches!(
        event,
        EventKind::PreToolUse
            | EventKind::PostToolUse
            | EventKind::PostToolUseFailure
            | EventKind::PostToolBatch
            | EventKind::UserPromptSubmit
            | EventKind::UserPromptExpansion
            | EventKind::SessionStart
            | EventKind::Stop
    )
}

/// Whether `additionalContext` reaches the model at the event. At a stop it would make the agent go on.
#[must_use]
pub fn takes_context(event: EventKind) -> bool {
    matches!(
        event,
        EventKind::SessionStart
            | EventKind::UserPromptSubmit
            | EventKind::UserPromptExpansion
            | EventKind::SubagentStart
            | EventKind::PreToolUse
            | EventKind::PostToolUse
            | EventKind::PostToolUseFailure
            | EventKind::PostToolBatch
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ALL;

    #[test]
    fn these_events_can_be_blocked() {
        let can = ALL.iter().filter(|event| blocking(**event) != Blocking::Never);
        let names: Vec<String> = can.map(|event| format!("{event}: {:?}", blocking(*event))).collect();
        insta::assert_snapshot!(names.join("\n"), @"
        PreToolUse: Tool
        PostToolUse: Feedback
        UserPromptSubmit: Action
        SubagentStop: Stop
        Stop: Stop
        PostToolUseFailure: Feedback
        PostToolBatch: Context
        PermissionRequest: Permission
        UserPromptExpansion: Action
        PreCompact: Action
        PreModelSwitch: Action
        TaskCreated: Action
        TaskCompleted: Stop
        TeammateIdle: Stop
        Elicitation: Action
        ElicitationResult: Action
        ConfigChange: Action
        WorktreeCreate: Worktree
        ");
    }
}
