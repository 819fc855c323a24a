//! What a config of conclaude 0.2 means here, where that is something else.

use std::path::Path;

use super::cover::{covers, is_literal};
use crate::config::original::{Renamed, instead_of, translate};
use crate::config::{ConclaudeConfig, Remark};
use crate::event::EventKind;
use crate::load::Loaded;
use crate::yaml;

/// The schema that configs of 0.2 name.
const SCHEMA: &str = "conclaude-schema.json";

/// Where exit code 2 of a command blocked, and here `onFailure` decides.
const BLOCKED: [EventKind; 3] = [EventKind::TaskCompleted, EventKind::TeammateIdle, EventKind::ConfigChange];

/// The keys that are read as others, and what means something else in such a file.
pub(super) fn remarks(loaded: &Loaded) -> Vec<Remark> {
    let mut found = Vec::new();
    let mut is_original = false;
    for (index, source) in loaded.origins.sources().iter().enumerate() {
        let renamed = renamed(&source.text, index);
        is_original |= !renamed.is_empty() || source.text.contains(SCHEMA);
        found.extend(renamed.iter().map(read_as));
    }
    if is_original {
        found.extend(differences(&loaded.config));
    }
    found
}

/// The same for the text of a config that is taken over, and what it became.
pub(crate) fn of_text(text: &str, config: &ConclaudeConfig) -> Vec<Remark> {
    let is_broken = ConclaudeConfig::parse(text, Path::new("")).is_err();
    let renamed = renamed(text, 0);
    let is_original = is_broken || !renamed.is_empty() || text.contains(SCHEMA);
    let differences = if is_original { differences(config) } else { Vec::new() };
    renamed.iter().map(read_as).chain(differences).collect()
}

fn renamed(text: &str, source: usize) -> Vec<Renamed> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    yaml::read_source(text, source).map(|mut tree| translate(&mut tree)).unwrap_or_default()
}

fn read_as(renamed: &Renamed) -> Remark {
    let remark = Remark::at(renamed.span, format!("`{}` is a key of conclaude 0.2", renamed.key));
    remark.because("read as what it is here").help(instead_of(renamed))
}

/// What this config, taken as one of conclaude 0.2, did there and does not do here.
fn differences(config: &ConclaudeConfig) -> Vec<Remark> {
    let mut found = Vec::new();
    for (event, section) in &config.sections {
        let name = event.row().section;
        let patterns: Vec<&str> = section.entries().iter().map(|(pattern, _)| pattern.as_str()).collect();
        if section.mode.is_none() && overlap(&patterns) {
            let remark = Remark::new(
                [name, "commands"],
                format!("{name}: every pattern that matches runs its commands"),
            );
            let help = "write `match: first` for that, or `match: all` if it is meant so";
            found.push(remark.because("conclaude 0.2 ran those of the first one alone").help(help));
        }
        if BLOCKED.contains(event) && section.commands().any(|command| command.on_failure.is_none()) {
            let remark = Remark::new([name, "commands"], format!("{name}: a command that fails only warns"));
            let why = "in conclaude 0.2 exit code 2 blocked";
            found.push(remark.because(why).help("write `onFailure: block` for that, or `onFailure: warn`"));
        }
    }
    if config.guards.prevent_root_additions.is_none() {
        let remark = Remark::new(["preToolUse"], "preToolUse: new files in the project's root are allowed");
        let help = "write `preventRootAdditions: true` for that, or `false`";
        found.push(remark.because("conclaude 0.2 prevented them by default").help(help));
    }
    if config.stop.infinite().is_some() {
        let remark = Remark::new(
            ["stop", "infinite"],
            "stop: `infinite` ends after `maxBlocks` rounds for one prompt",
        );
        found.push(remark.because("conclaude 0.2 had no limit").help("`maxBlocks: 7` is the most"));
    }
    found
}

/// Whether one name can match two of the patterns.
fn overlap(patterns: &[&str]) -> bool {
    let pairs = patterns
        .iter()
        .enumerate()
        .flat_map(|(at, one)| patterns.iter().skip(at + 1).map(move |other| (one, other)));
    pairs.into_iter().any(|(one, other)| {
        covers(one, other) || covers(other, one) || (!is_literal(one) && !is_literal(other))
    })
}
