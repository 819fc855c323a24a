//! Events that only a newer client has: their commands run, and nothing else is known of them.

use super::{ALL, EventKind};
use crate::dialect::own_event;
use crate::event::Row;
use crate::text::nearest;

/// What conclaude 0.2 has before an event on its command line.
const NO_EVENT: &str = "Hooks";

/// The longest name of an event.
const MAX_NAME: usize = 40;

impl EventKind {
    /// The event with this name, which may be unknown to this version. A misspelling of a known name does not count.
    #[must_use]
    pub fn named_or_future(name: &str) -> Option<EventKind> {
        EventKind::named(name).or_else(|| {
            let section = in_camel_case(name)?;
            own_event(|row| row.name == name).or_else(|| EventKind::future(name, &section))
        })
    }

    /// The event of this section, which may be unknown to this version. A misspelling of a known section does not count.
    #[must_use]
    pub fn of_section_or_future(section: &str) -> Option<EventKind> {
        EventKind::of_section(section).or_else(|| {
            let first = section.chars().next().filter(char::is_ascii_lowercase)?;
            let name = format!("{}{}", first.to_ascii_uppercase(), section.get(1..)?);
            own_event(|row| row.section == section).or_else(|| EventKind::future(&name, section))
        })
    }

    fn future(name: &str, section: &str) -> Option<EventKind> {
        let is_name = name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let sections = ALL.iter().map(|event| event.row().section);
        if !is_name || name == NO_EVENT || nearest(section, sections).is_some() {
            return None;
        }
        // A process handles one event, and a config names few.
        Some(EventKind::Future(Box::leak(Box::new(Row {
            name: name.to_owned().leak(),
            section: section.to_owned().leak(),
            ..Row::OWN
        }))))
    }

    #[must_use]
    pub fn is_known(self) -> bool {
        !matches!(self, EventKind::Future(_))
    }
}

/// The section of an event: its name, which starts with a capital, in camelCase.
fn in_camel_case(name: &str) -> Option<String> {
    let first = name.chars().next().filter(char::is_ascii_uppercase)?;
    Some(format!("{}{}", first.to_ascii_lowercase(), name.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_of_a_newer_client_has_a_name_and_a_section() {
        let event = EventKind::named_or_future("GoalReached").unwrap();
        assert_eq!((event.name(), event.row().section), ("GoalReached", "goalReached"));
        assert_eq!(EventKind::of_section_or_future("goalReached"), Some(event));
        assert!(!event.is_known());
        assert_eq!(EventKind::named_or_future("Stop"), Some(EventKind::Stop));
        // Another client has it: it is not a misspelling of TaskCompleted.
        assert_eq!(EventKind::named_or_future("TodoCompleted").unwrap().row().section, "todoCompleted");
        for name in ["SubagentStpo", "subagentStop", "Goal Reached", "", "Ünit", "Hooks", &"A".repeat(41)] {
            assert_eq!(EventKind::named_or_future(name), None, "{name:?}");
        }
        for section in ["subagentStopp", "GoalReached", "x-anchors", ""] {
            assert_eq!(EventKind::of_section_or_future(section), None, "{section:?}");
        }
    }
}
