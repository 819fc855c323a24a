//! `CONCLAUDE=0` in Claude Code's environment switches every event off, for one session.

use serde_json::Value;

use super::stdio;
use crate::install::settings::SWITCH;
use conclaude_core::decide::HookResult;
use conclaude_core::dialect::claude::session;
use conclaude_core::event::EventKind;
use conclaude_os::environment::Variables;

/// The value that switches us off, as written.
pub fn off(variables: &Variables) -> Option<&str> {
    variables.get(SWITCH).filter(|value| is_off(value)).map(str::trim)
}

/// Whether a value of the variable switches us off.
pub fn is_off(value: &str) -> bool {
    ["0", "off", "false"].iter().any(|word| value.trim().eq_ignore_ascii_case(word))
}

/// The answer while we are off: nothing, except one message per session.
pub(super) fn answer(event: EventKind, value: &str) -> HookResult {
    if event != EventKind::SessionStart || is_said_already() {
        return HookResult::success();
    }
    let message = format!(
        "conclaude: switched off for this session by {SWITCH}={value}: no command runs, and nothing is gated or recorded"
    );
    HookResult { message: Some(message), ..HookResult::success() }
}

/// A compacted or cleared session has shown the message at its start.
fn is_said_already() -> bool {
    let payload = stdio::payload(EventKind::SessionStart).unwrap_or_default();
    let payload: Value = serde_json::from_slice(&payload).unwrap_or_default();
    payload.get("source").and_then(Value::as_str).is_some_and(session::goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_words_switch_it_off() {
        for (value, is) in [
            ("0", true),
            ("off", true),
            ("FALSE", true),
            (" 0 ", true),
            ("", false),
            ("1", false),
            ("on", false),
            ("00", false),
        ] {
            assert_eq!(is_off(value), is, "{value:?}");
        }
    }
}
