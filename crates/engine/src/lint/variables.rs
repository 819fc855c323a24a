//! Variables in scripts that no event sets, or that this event does not set.

use super::{CommandEntry, command_keys, commands};
use conclaude_core::config::{ConclaudeConfig, Remark};
use conclaude_core::event::{ALL, EventKind};
use conclaude_core::plan::environment::{self, FILES, PREFIX};
use conclaude_core::text::nearest;
use conclaude_core::variables::OWN;

pub(super) fn check(config: &ConclaudeConfig, found: &mut Vec<Remark>) {
    for CommandEntry { event, pattern, index, command } in commands(config) {
        if !event.is_known() {
            continue;
        }
        let run = command.run.as_str();
        if !run.contains(PREFIX) {
            continue;
        }
        let given = variables_of(event);
        let mut names: Vec<&str> = used(run).filter(|name| !given.iter().any(|one| one == name)).collect();
        names.dedup();
        found.extend(names.into_iter().map(|name| {
            let keys = command_keys(event.row().section, pattern, "", "run");
            let index = index.to_string();
            let keys = keys.map(|key| if key.is_empty() { index.as_str() } else { key });
            let remark = Remark::new(keys, format!("{}: `${name}` is not set", event.row().section));
            let (why, help) = unset(name, event, &given);
            remark.because(why).help(help)
        }));
    }
}

fn variables_of(event: EventKind) -> Vec<String> {
    let own = OWN.iter().map(|(name, _)| *name).chain([FILES]).map(str::to_owned);
    environment::of_event(event).into_iter().chain(environment::of_all()).chain(own).collect()
}

/// Why it is not set, and what to write.
fn unset(name: &str, event: EventKind, given: &[String]) -> (String, String) {
    let others: Vec<&str> = ALL
        .iter()
        .filter(|other| environment::of_event(**other).iter().any(|one| one == name))
        .map(|other| other.name())
        .collect();
    if let Some(first) = others.first() {
        let more = if others.len() > 1 { " and others have" } else { " has" };
        let help = format!("`conclaude events {event}` lists what {event} has");
        return (format!("{first}{more} it, {event} does not"), help);
    }
    let near = nearest(name, given.iter().map(String::as_str));
    let help = near.map_or_else(
        || format!("`conclaude events {event}` lists what {event} has"),
        |near| format!("did you mean `${near}`?"),
    );
    ("no event has it".into(), help)
}

/// The names after `$` and `${` that are ours.
fn used(script: &str) -> impl Iterator<Item = &str> {
    script.match_indices(PREFIX).filter_map(|(at, _)| {
        let (before, from) = script.split_at_checked(at)?;
        let end = from.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(from.len());
        if before.ends_with('$') || before.ends_with("${") { from.get(..end) } else { None }
    })
}
