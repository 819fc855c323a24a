//! `match: first`: patterns that can never run, because an earlier one matches first, and a `match: first` without an effect.

use super::coverage::{alternatives, covers};
use conclaude_core::config::{ConclaudeConfig, Remark};
use conclaude_core::event::EventKind;
use conclaude_core::pattern::MatchMode;
use conclaude_core::yaml::{self, Node};
use conclaude_store::load::LoadedConfig;

pub(super) fn by_first(config: &ConclaudeConfig, found: &mut Vec<Remark>) {
    let first = config.sections.iter().filter(|(_, section)| section.mode == Some(MatchMode::First));
    for (event, section) in first {
        let patterns: Vec<&str> = section.entries().iter().map(|(pattern, _)| pattern.as_str()).collect();
        for (index, pattern) in patterns.iter().enumerate() {
            let earlier = patterns.get(..index).unwrap_or_default();
            let Some(cover) = covering(earlier, pattern) else { continue };
            let name = event.row().section;
            found.push(
                Remark::new([name, "commands", pattern], format!("{name}: `{pattern}` can never run"))
                    .because(format!("`match: first` stops at `{cover}`, which comes before it"))
                    .help(format!("move it before `{cover}`, or remove `match: first`")),
            );
        }
    }
}

/// A `*` after other patterns of `subagentStop` looks like a fallback, which it is only with `match: first`.
pub(super) fn no_fallback(config: &ConclaudeConfig) -> Option<Remark> {
    let section = config.section(EventKind::SubagentStop).filter(|section| section.mode.is_none())?;
    let at = section.entries().iter().position(|(pattern, _)| pattern.is_wildcard())?;
    if at == 0 {
        return None;
    }
    let name = EventKind::SubagentStop.row().section;
    let remark = Remark::new([name, "commands", "*"], format!("{name}: `*` is not a fallback here"));
    let why = "its commands run first, and for every agent, also where another pattern matches";
    let help = "write `match: first` for one pattern per agent, or `match: all` if that is intended";
    Some(remark.because(why).help(help))
}

/// `match: first` in an inner layer has no effect if an outer layer has commands: all of them run.
pub(super) fn ignored_first(loaded: &LoadedConfig, found: &mut Vec<Remark>) {
    for (index, source) in loaded.origins.sources().iter().enumerate() {
        let Ok(tree) = yaml::read_source(&source.text, index) else { continue };
        let Node::Map(sections) = &tree.value else { continue };
        for (name, section) in sections.iter() {
            let Node::Map(entries) = &section.value else { continue };
            let first = entries.iter().find(|(key, value)| {
                key.value == "match" && matches!(&value.value, Node::Text(word) if word == "first")
            });
            let used = EventKind::of_section(&name.value).and_then(|event| loaded.config.section(event));
            let is_ignored = used.is_some_and(|section| section.mode != Some(MatchMode::First));
            let is_overridden = loaded.origins.of(&[&name.value, "match"]).is_some();
            if is_ignored
                && !is_overridden
                && let Some((_, value)) = first
            {
                let what = format!("{}: `match: first` has no effect", name.value);
                let why = "an outer file has commands there, and all of them run";
                found.push(Remark::at(value.span, what).because(why).help("remove it"));
            }
        }
    }
}

/// The earlier pattern that covers everything, or the last of several that do together.
fn covering<'a>(earlier: &[&'a str], pattern: &str) -> Option<&'a str> {
    let by = |one: &str| earlier.iter().find(|cover| covers(cover, one)).copied();
    by(pattern).or_else(|| {
        alternatives(pattern).iter().map(|one| by(one)).collect::<Option<Vec<_>>>()?.last().copied()
    })
}
