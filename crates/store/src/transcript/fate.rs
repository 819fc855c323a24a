//! The fate of an agent, by its newest sign of life. `report` and `watch` share this rule.

use std::time::Duration;

use crate::audit::words;
use conclaude_core::decide::Word;
use conclaude_core::dialect::claude::prompt;
use conclaude_core::dialect::claude::transcript::TranscriptEntry;
use conclaude_core::event::EventKind;

/// An agent without a sign of life for longer than this is not shown as working.
pub const STILL_RUNNING: Duration = Duration::from_mins(10);

pub const API_ERROR: &str = "its last message is an error of the API";
pub const CALL_FAILED: &str = "its call failed";
pub const INTERRUPTED: &str = "the user interrupted it";
pub const NOTHING_FOLLOWS: &str = "nothing follows its last message";
pub const STOP_WAS_BLOCKED: &str = "its last stop was blocked, and nothing follows";

/// The meaning of the newest sign of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// It was working. The text names the unfinished work, if known.
    Working(Option<&'static str>),
    Stopped,
    /// It answered. This version of the client does not record whether more follows.
    Answered,
    /// It ended unfinished, for this reason.
    Unfinished(String),
    /// It was still being written.
    HalfWritten,
    /// It could not be read.
    Unread,
    /// It is named somewhere. It is unknown whether it started and whether its stop would be seen.
    #[default]
    Named,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Running,
    Stopped,
    NeverStopped(String),
    /// It may still be working, but there was no sign of it for long.
    Silent(Option<&'static str>),
    Unknown,
}

impl Sign {
    /// The sign in a record of the audit trail about its thread.
    pub fn of_record(event: &str, decision: &str, reason: Option<&str>) -> Option<Sign> {
        if decision == words::UNFINISHED {
            return Some(Sign::Unfinished(reason.unwrap_or("the audit trail says so").to_owned()));
        }
        match EventKind::named(event)? {
            event if event.is_stop() => match decision {
                words::INTERRUPTED => None,
                blocked if blocked == Word::Blocked.as_str() => Some(Sign::Working(Some(STOP_WAS_BLOCKED))),
                _ => Some(Sign::Stopped),
            },
            EventKind::SubagentStart | EventKind::UserPromptSubmit => {
                Some(Sign::Working(Some("nothing follows its start")))
            }
            _ => None,
        }
    }

    /// The sign in an answer, by its `stop_reason`. Older versions do not write that, and write each text and each call on a
    /// separate line.
    pub fn of_answer(entry: &TranscriptEntry<'_>) -> Sign {
        let reason = entry.message.as_ref().and_then(|message| message.stop_reason.text());
        let says_nothing =
            || !entry.blocks().is_empty() && entry.blocks().iter().all(|block| block.text().is_none());
        match reason {
            Some("tool_use" | "pause_turn") => Sign::Working(Some(NOTHING_FOLLOWS)),
            None if says_nothing() => Sign::Working(Some(NOTHING_FOLLOWS)),
            None => Sign::Answered,
            _ => Sign::Stopped,
        }
    }

    pub fn fate(&self, session_has_ended: bool, is_recent: bool) -> Fate {
        match self {
            Sign::Answered if is_recent && !session_has_ended => Fate::Running,
            Sign::Stopped | Sign::Answered => Fate::Stopped,
            Sign::HalfWritten if session_has_ended => {
                Fate::NeverStopped("the session ended; its last line is half-written".into())
            }
            Sign::HalfWritten | Sign::Unread => Fate::Unknown,
            Sign::Named if is_recent && !session_has_ended => Fate::Running,
            Sign::Named => Fate::Unknown,
            Sign::Unfinished(why) => Fate::NeverStopped(why.clone()),
            Sign::Working(None) if session_has_ended => Fate::NeverStopped("the session ended".into()),
            Sign::Working(Some(undone)) if session_has_ended => {
                Fate::NeverStopped(format!("the session ended; {undone}"))
            }
            Sign::Working(_) if is_recent => Fate::Running,
            Sign::Working(undone) => Fate::Silent(*undone),
        }
    }
}

/// The newer sign counts.
pub fn take<T: PartialOrd>(newest: &mut (T, Sign), time: T, sign: Sign) {
    if time >= newest.0 {
        *newest = (time, sign);
    }
}

/// The agent and the sign in Claude Code's notification about a background agent, which is a prompt of the main thread.
pub fn notified(text: &str) -> Option<(&str, Sign)> {
    let sign = match prompt::task_status(text) {
        None | Some("completed") => Sign::Stopped,
        Some(status) => Sign::Unfinished(status.chars().take(MAX_STATUS).collect()),
    };
    Some((prompt::task_of(text)?, sign))
}

/// Claude Code's own words are short.
const MAX_STATUS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_by_an_error_or_with_its_session_never_stopped_however_recent_that_is() {
        let error = Sign::Unfinished(API_ERROR.into());
        let undone = Sign::Working(Some("x"));
        for (sign, has_ended, is_recent, fate) in [
            (&error, false, true, Fate::NeverStopped(API_ERROR.into())),
            (&undone, true, true, Fate::NeverStopped("the session ended; x".into())),
            (&Sign::Working(None), true, true, Fate::NeverStopped("the session ended".into())),
            (&Sign::Named, true, false, Fate::Unknown),
            (&Sign::Named, false, false, Fate::Unknown),
            (&Sign::Named, false, true, Fate::Running),
            (&undone, false, true, Fate::Running),
            (&undone, false, false, Fate::Silent(Some("x"))),
            (&Sign::Stopped, true, true, Fate::Stopped),
            (&Sign::Answered, false, true, Fate::Running),
            (&Sign::Answered, false, false, Fate::Stopped),
            (&Sign::Answered, true, true, Fate::Stopped),
            (&Sign::Unread, true, true, Fate::Unknown),
        ] {
            assert_eq!(sign.fate(has_ended, is_recent), fate, "{sign:?}");
        }
    }
}
