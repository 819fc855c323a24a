//! Limits of commands that Claude Code's limit for the whole event cuts short.

use super::needed::timeout;
use conclaude_core::config::{CommandConfig, ConclaudeConfig, EventConfig, Remark};
use conclaude_core::event::EventKind;
use conclaude_core::pattern::MatchMode;

/// One warning for each pattern whose commands may take longer together than Claude Code waits for the event.
pub fn over_limit(config: &ConclaudeConfig) -> Vec<Remark> {
    let of_event = |event: EventKind| vec![event.row().section, "commands"];
    let sections = config.sections.iter().map(|(event, section)| (*event, of_event(*event), section));
    let slash = config.prompts.slash_commands.iter().map(|section| {
        (EventKind::UserPromptSubmit, vec!["userPromptSubmit", "slashCommands", "commands"], section)
    });
    sections.chain(slash).flat_map(|(event, keys, section)| of_section(event, &keys, section)).collect()
}

fn of_section(event: EventKind, keys: &[&str], section: &EventConfig) -> Vec<Remark> {
    let limit = timeout(event);
    let name = keys.strip_suffix(&["commands"]).unwrap_or(keys).join(".");
    let is_all = section.mode != Some(MatchMode::First);
    let wildcards = section.entries().iter().filter(|(pattern, _)| pattern.is_wildcard());
    let for_all: u64 = wildcards.map(|(_, commands)| seconds(commands)).sum();
    let mut warnings = Vec::new();
    for (pattern, commands) in section.entries() {
        let own = seconds(commands);
        let also = if is_all && !pattern.is_wildcard() { for_all } else { 0 };
        // Where those of `*` are too long already, they alone are named.
        if own + also > limit && also <= limit {
            let with = if also > 0 { " and `*`" } else { "" };
            let what = format!("{name}: the timeouts of `{pattern}`{with} add up to {} s", own + also);
            let why = format!(
                "Claude Code stops {event} after {limit} s: what runs then is terminated, what comes after it does not run, and nothing is blocked"
            );
            let remark = Remark::new(keys.iter().copied().chain([pattern.as_str()]), what);
            warnings.push(remark.because(why).help("use shorter timeouts"));
        }
    }
    warnings
}

/// How long commands may take, as far as the config limits them.
fn seconds(commands: &[CommandConfig]) -> u64 {
    commands.iter().filter_map(|command| command.timeout).map(|timeout| u64::from(timeout.get())).sum()
}
