//! What Claude Code does with an answer, event by event: the result of trying each in Claude Code 2.1.325.

use crate::event::{Blocking, EventKind, Subject};

impl EventKind {
    /// How we may block the event.
    #[must_use]
    pub fn blocking(self) -> Blocking {
        match self {
            // `decision: block`. A task is also completed when a teammate stops while it works on it.
            EventKind::SubagentStop
            | EventKind::Stop
            | EventKind::TeammateIdle
            | EventKind::TaskCompleted => Blocking::Stop,
            // `permissionDecision: deny`.
            EventKind::PreToolUse => Blocking::Tool,
            // `decision.behavior: deny`, with exit 0.
            EventKind::PermissionRequest => Blocking::Permission,
            // Exit 2 and `decision: block`.
            EventKind::UserPromptSubmit
            | EventKind::UserPromptExpansion
            | EventKind::PreCompact
            | EventKind::PreModelSwitch
            | EventKind::TaskCreated
            | EventKind::ConfigChange
            | EventKind::Elicitation
            | EventKind::ElicitationResult => Blocking::Action,
            EventKind::PostToolUse | EventKind::PostToolUseFailure => Blocking::Feedback,
            // `additionalContext`.
            EventKind::PostToolBatch => Blocking::Context,
            // Exit 2 and stderr alone: stdout is the path of the worktree.
            EventKind::WorktreeCreate => Blocking::Worktree,
            _ => Blocking::Never,
        }
    }

    /// Whether Claude Code shows the event's `systemMessage` to the user, on the main thread.
    #[must_use]
    pub fn is_shown(self) -> bool {
        matches!(
            self,
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
    pub(crate) fn takes_context(self) -> bool {
        matches!(
            self,
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

    /// Where a payload that cannot be read is no error: it is not known whose it is, and other clients run our hooks too.
    #[must_use]
    pub(crate) fn is_quiet(self) -> bool {
        let may_deny = matches!(
            self,
            EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::UserPromptSubmit
        );
        self.row().subject != Subject::Agent && !may_deny
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ALL;

    #[test]
    fn these_events_can_be_blocked() {
        let can = ALL.iter().filter(|event| event.blocking() != Blocking::Never);
        let names: Vec<String> = can.map(|event| format!("{event}: {:?}", event.blocking())).collect();
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
