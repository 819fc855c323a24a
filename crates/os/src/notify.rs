//! Desktop notifications. They never fail and never delay noticeably.

use std::sync::mpsc;
use std::time::Duration;

use crate::budget::Budget;
use crate::{environment, log};
use conclaude_core::config::NotificationsConfig;
use conclaude_core::event::EventKind;
use conclaude_core::text::clean_line;

/// The timeout for the desktop. `CONCLAUDE_NOTIFY_WAIT_MS` changes it.
const WAIT: Duration = Duration::from_millis(100);

/// The result of an event, for the decision whether to notify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    /// A command, or the hook itself, failed.
    Failure,
}

/// Whether the config enables a notification about this event.
pub fn is_wanted(config: Option<&NotificationsConfig>, event: EventKind, outcome: Outcome) -> bool {
    let Some(config) = config.filter(|config| config.enabled == Some(true)) else { return false };
    if !config.hooks.iter().flatten().any(|hook| hook.covers(event)) {
        return false;
    }
    let system = event.row().system && config.show_system_events.unwrap_or(true);
    let errors = outcome == Outcome::Failure && config.show_errors.unwrap_or(false);
    let success = !event.row().system && outcome == Outcome::Success && config.show_success.unwrap_or(false);
    system || errors || success
}

/// Whether the config enables a notification about the start of a command at this event (`None`), or about its end.
pub fn is_wanted_of_command(
    config: Option<&NotificationsConfig>,
    event: EventKind,
    end: Option<Outcome>,
) -> bool {
    let Some(config) = config.filter(|config| config.enabled == Some(true)) else { return false };
    let (errors, success) = (config.show_errors.unwrap_or(false), config.show_success.unwrap_or(false));
    let is_wanted = match end {
        None => errors || success,
        Some(Outcome::Failure) => errors,
        Some(Outcome::Success) => success,
    };
    is_wanted && config.hooks.iter().flatten().any(|hook| hook.covers(event))
}

/// Shows a notification, waiting at most a tenth of a second for the desktop.
pub fn send(title: &str, body: &str, budget: &Budget) {
    if !has_desktop() {
        log::debug(|| "no notification: there is no session bus".into());
        return;
    }
    let wait = environment::text("CONCLAUDE_NOTIFY_WAIT_MS")
        .and_then(|text| text.parse().ok())
        .map_or(WAIT, |ms: u64| Duration::from_millis(ms.min(10_000)));
    let wait = budget.at_least(wait);
    let (sender, receiver) = mpsc::channel();
    let (title, body) = (title.to_owned(), body.to_owned());
    // An unresponsive desktop must not delay the hook: the thread ends with the process.
    std::thread::spawn(move || {
        let _ = sender.send(show(&title, &body).map_err(|error| error.to_string()));
    });
    match receiver.recv_timeout(wait) {
        Ok(Ok(())) => log::debug(|| "notification sent".into()),
        Ok(Err(error)) => log::debug(|| format!("no notification: {}", clean_line(&error))),
        Err(_) => log::debug(|| format!("no notification: no answer within {} ms", wait.as_millis())),
    }
}

fn show(title: &str, body: &str) -> notify_rust::error::Result<()> {
    // The bus closes the connection on a NUL inside of a text.
    let [title, body] = [title, body].map(|text| text.replace('\0', ""));
    notify_rust::Notification::new().appname("conclaude").summary(&title).body(&body).show().map(drop)
}

/// Whether there is a session bus.
#[cfg(all(unix, not(target_os = "macos")))]
fn has_desktop() -> bool {
    let variable = |name: &str| environment::os_value(name).filter(|value| !value.is_empty());
    let runtime_socket =
        || variable("XDG_RUNTIME_DIR").map(|folder| std::path::Path::new(&folder).join("bus"));
    variable("DBUS_SESSION_BUS_ADDRESS").is_some() || runtime_socket().is_some_and(|path| path.exists())
}

/// macOS and Windows always have a desktop.
#[cfg(not(all(unix, not(target_os = "macos"))))]
fn has_desktop() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(yaml: &str) -> NotificationsConfig {
        serde::Deserialize::deserialize(&conclaude_core::yaml::read(yaml).unwrap()).unwrap()
    }

    fn wanted(yaml: &str, event: EventKind, outcome: Outcome) -> bool {
        is_wanted(Some(&config(yaml)), event, outcome)
    }

    #[test]
    fn nothing_is_sent_unless_enabled_and_listed() {
        assert!(!is_wanted(None, EventKind::SubagentStop, Outcome::Success));
        assert!(!wanted("hooks: ['*']", EventKind::SubagentStop, Outcome::Success));
        assert!(!wanted("enabled: true", EventKind::SubagentStop, Outcome::Success));
        assert!(!wanted("{enabled: true, hooks: [Stop]}", EventKind::SubagentStop, Outcome::Success));
        assert!(wanted("{enabled: true, hooks: [SubagentStop]}", EventKind::SubagentStop, Outcome::Success));
        assert!(wanted("{enabled: true, hooks: ['*']}", EventKind::SubagentStop, Outcome::Success));
    }

    #[test]
    fn system_events_obey_their_flag_also_when_a_command_failed() {
        let on = "{enabled: true, hooks: ['*']}";
        let off = "{enabled: true, hooks: ['*'], showSystemEvents: false}";
        for outcome in [Outcome::Success, Outcome::Failure] {
            assert!(wanted(on, EventKind::SubagentStop, outcome));
            assert!(!wanted(off, EventKind::SubagentStop, outcome));
        }
    }

    #[test]
    fn failures_and_successes_obey_theirs() {
        let errors = "{enabled: true, hooks: ['*'], showSystemEvents: false, showErrors: true}";
        assert!(wanted(errors, EventKind::SubagentStop, Outcome::Failure));
        assert!(!wanted(errors, EventKind::SubagentStop, Outcome::Success));
        assert!(!wanted(errors, EventKind::Stop, Outcome::Success));
        let success = "{enabled: true, hooks: ['*'], showSuccess: true}";
        assert!(wanted(success, EventKind::Stop, Outcome::Success));
        assert!(!wanted(success, EventKind::Stop, Outcome::Failure));
        assert!(!wanted("{enabled: true, hooks: ['*']}", EventKind::Stop, Outcome::Success));
    }
}
