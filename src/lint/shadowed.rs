//! `match: first`: patterns that an earlier one comes before.

use super::cover::{alternatives, covers};
use crate::config::{ConclaudeConfig, Remark};
use crate::pattern::MatchMode;

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

/// The earlier pattern that takes all, or the last of several that do.
fn covering<'a>(earlier: &[&'a str], pattern: &str) -> Option<&'a str> {
    let by = |one: &str| earlier.iter().find(|cover| covers(cover, one)).copied();
    by(pattern).or_else(|| {
        alternatives(pattern).iter().map(|one| by(one)).collect::<Option<Vec<_>>>()?.last().copied()
    })
}
