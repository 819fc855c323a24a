//! Configs of conclaude 0.2: keys with another meaning here, `match: first`, and scripts that need bash.

use std::path::Path;

use super::coverage::{covers, is_literal};
use super::{CommandEntry, command_keys, commands};
use conclaude_core::config::original::{OldKey, translate};
use conclaude_core::config::{ConclaudeConfig, EventConfig, Remark};
use conclaude_core::event::EventKind;
use conclaude_core::pattern::MatchMode;
use conclaude_core::text::count;
use conclaude_core::yaml::{self, Node, Spanned};
use conclaude_store::load::LoadedConfig;
use shell_effects::placeholder::needs_bash;

/// The schema that configs of 0.2 name.
const SCHEMA: &str = "conclaude-schema.json";

/// Events at which exit code 2 of a command blocked in 0.2. Here `onFailure` decides.
const BLOCKED: [EventKind; 3] = [EventKind::TaskCompleted, EventKind::TeammateIdle, EventKind::ConfigChange];

/// The converted keys, and everything that has another meaning in such a file.
pub(super) fn remarks(loaded: &LoadedConfig) -> Vec<Remark> {
    let mut found = Vec::new();
    let mut is_original = false;
    for (index, source) in loaded.origins.sources().iter().enumerate() {
        let renamed = renamed(&source.text, index);
        is_original |= !renamed.is_empty() || source.text.contains(SCHEMA);
        found.extend(renamed.iter().map(read_as));
    }
    if is_original {
        let sources = loaded.origins.sources().iter();
        let flat: Vec<EventKind> = sources.flat_map(|source| flat(&source.text)).collect();
        found.extend(differences(&loaded.config, &flat));
    }
    found
}

/// Like `remarks`, for the text of an imported config, with its converted form.
pub fn of_text(text: &str, config: &ConclaudeConfig) -> Vec<Remark> {
    let differences = if is_original(text) { differences(config, &flat(text)) } else { Vec::new() };
    renamed(text, 0).iter().map(read_as).chain(differences).collect()
}

/// Whether an imported text was written for conclaude 0.2.
fn is_original(text: &str) -> bool {
    let is_broken = ConclaudeConfig::parse(text, Path::new("")).is_err();
    is_broken || !renamed(text, 0).is_empty() || text.contains(SCHEMA)
}

fn renamed(text: &str, source: usize) -> Vec<OldKey> {
    yaml::read_source(text, source).map(|mut tree| translate(&mut tree)).unwrap_or_default()
}

fn read_as(renamed: &OldKey) -> Remark {
    let remark = Remark::at(renamed.span, format!("`{}` is a key of conclaude 0.2", renamed.key));
    remark.because("read as what it is here").help(renamed.advice())
}

/// The events with a list of commands: in 0.2 each command whose tool matches ran.
fn flat(text: &str) -> Vec<EventKind> {
    let Ok(tree) = yaml::read(text) else { return Vec::new() };
    let Node::Map(sections) = &tree.value else { return Vec::new() };
    let is_list = |section: &Node| match section {
        Node::Map(entries) => {
            entries.iter().any(|(key, value)| key.value == "commands" && matches!(value.value, Node::List(_)))
        }
        _ => false,
    };
    let lists = sections.iter().filter(|(_, section)| is_list(&section.value));
    lists.filter_map(|(name, _)| EventKind::of_section(&name.value)).collect()
}

/// Differences between the behaviour of this config here and in conclaude 0.2.
fn differences(config: &ConclaudeConfig, flat: &[EventKind]) -> Vec<Remark> {
    let mut found = bash_remarks(config);
    for (event, section) in &config.sections {
        let name = event.row().section;
        if ran_first_alone(section) && !flat.contains(event) {
            let remark = Remark::new(
                [name, "commands"],
                format!("{name}: every pattern that matches runs its commands"),
            );
            let help = "write `match: first` for that, or `match: all` if that is intended";
            found.push(remark.because("conclaude 0.2 ran only those of the first one").help(help));
        }
        if BLOCKED.contains(event) && section.commands().any(|command| command.on_failure.is_none()) {
            let remark = Remark::new([name, "commands"], format!("{name}: a command that fails only warns"));
            let why = "in conclaude 0.2 exit code 2 blocked";
            found.push(remark.because(why).help("write `onFailure: block` for that, or `onFailure: warn`"));
        }
    }
    let mut slash = config.prompts.slash_commands();
    if slash.any(|command| command.on_failure.is_none()) {
        let keys = ["userPromptSubmit", "slashCommands"];
        let remark = Remark::new(keys, "userPromptSubmit.slashCommands: a command that fails only warns");
        let why = "in conclaude 0.2 exit code 2 blocked";
        found.push(remark.because(why).help("write `onFailure: block` for that, or `onFailure: warn`"));
    }
    if config.guards.prevent_root_additions.is_none() {
        let remark = Remark::new(["preToolUse"], "preToolUse: new files in the project's root are allowed");
        let help = "write `preventRootAdditions: true` for that, or `false`";
        found.push(remark.because("conclaude 0.2 prevented them by default").help(help));
    }
    if config.stop.infinite().is_some() {
        let remark = Remark::new(
            ["stop", "infinite"],
            "stop: `infinite` stops after `maxBlocks` rounds for one prompt",
        );
        found.push(remark.because("conclaude 0.2 had no limit").help("`maxBlocks: 7` is the most"));
    }
    found
}

/// Whether conclaude 0.2 ran only the commands of the first pattern, while several run here.
fn ran_first_alone(section: &EventConfig) -> bool {
    let patterns: Vec<&str> = section.entries().iter().map(|(pattern, _)| pattern.as_str()).collect();
    section.mode.is_none() && overlap(&patterns)
}

/// A config imported from conclaude 0.2, with `match: first` where only the first pattern ran there, and `shell: bash` where a
/// script needs it. Also returns what was added.
pub fn taken_over(original: &str, text: &str) -> (String, Vec<String>) {
    let (mut text, mut added) = (text.to_owned(), Vec::new());
    let Ok(config) = ConclaudeConfig::parse(&text, Path::new("")) else { return (text, added) };
    if !is_original(original) {
        return (text, added);
    }
    let flat = flat(original);
    let first =
        config.sections.iter().filter(|(event, section)| ran_first_alone(section) && !flat.contains(event));
    for (event, _) in first {
        if let Some(changed) = with_match(&text, *event) {
            text = changed;
            added.push(format!("added `match: first` to `{}`: conclaude 0.2 ran only the commands of the first pattern that matches", event.row().section));
        }
    }
    let (text, shell) = with_shell(&text);
    added.extend(shell);
    (text, added)
}

/// Adds `match: first` before the first key of a section, in its layout. `None` if the result would differ.
fn with_match(text: &str, event: EventKind) -> Option<String> {
    let tree = yaml::read(text).ok()?;
    let Node::Map(sections) = &tree.value else { return None };
    // Also under its name in conclaude 0.2.
    let is_section = |name: &str| {
        let mut alone =
            ConclaudeConfig::parse(&format!("{name}: {{commands: []}}"), Path::new("")).into_iter();
        alone.any(|config| config.section(event).is_some())
    };
    let (_, section) = sections.iter().find(|(name, _)| is_section(&name.value))?;
    let Node::Map(entries) = &section.value else { return None };
    let start = entries.first()?.0.span.first_line(text).start;
    let (before, after) = text.split_at_checked(start)?;
    let indent = before.rsplit('\n').next().unwrap_or_default();
    let (block, flow) =
        (format!("{before}match: first\n{indent}{after}"), format!("{before}match: first, {after}"));
    let is_right = |made: &String| {
        let config = ConclaudeConfig::parse(made, Path::new("")).ok();
        config.is_some_and(|config| {
            config.section(event).is_some_and(|section| section.mode == Some(MatchMode::First))
        })
    };
    if indent.trim().is_empty() && is_right(&block) {
        return Some(block);
    }
    Some(flow).filter(is_right)
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

/// Scripts that only bash understands.
pub(super) fn bash_remarks(config: &ConclaudeConfig) -> Vec<Remark> {
    let remark = |entry: CommandEntry<'_>| {
        let what = needs_bash(entry.command.run.as_str())?;
        let (section, index) = (entry.event.row().section, entry.index.to_string());
        let keys = command_keys(section, entry.pattern, &index, "run");
        let remark = Remark::new(keys, format!("{section}: `/bin/sh` may not know `{what}`"));
        Some(remark.because("conclaude 0.2 ran commands by bash").help("add `shell: bash`"))
    };
    commands(config).filter(|entry| entry.command.shell.is_none()).filter_map(remark).collect()
}

/// The text with `shell: bash` at each command that needs it, and a description of the change.
pub(super) fn with_shell(text: &str) -> (String, Option<String>) {
    let Ok(tree) = yaml::read(text) else { return (text.to_owned(), None) };
    let mut starts = Vec::new();
    find(&tree, text, &mut starts);
    let mut changed = text.to_owned();
    // From the last one on, so that the positions of the others stay valid.
    for start in starts.iter().rev() {
        let before = changed.get(..*start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_block = line.chars().all(|c| matches!(c, ' ' | '-'));
        let indent = " ".repeat(line.chars().count());
        let added = if is_block { format!("shell: bash\n{indent}") } else { "shell: bash, ".to_owned() };
        changed.insert_str(*start, &added);
    }
    let has_them = |text: &str| {
        ConclaudeConfig::parse(text, Path::new("")).is_ok_and(|config| bash_remarks(&config).is_empty())
    };
    if starts.is_empty() || !has_them(&changed) {
        return (text.to_owned(), None);
    }
    let commands = count(starts.len() as u64, "command");
    (
        changed,
        Some(format!(
            "added `shell: bash` to {commands}: conclaude 0.2 ran commands by bash, and here `/bin/sh` does"
        )),
    )
}

/// The positions of commands without a shell that need bash.
fn find(node: &Spanned<Node>, text: &str, starts: &mut Vec<usize>) {
    match &node.value {
        Node::List(items) => items.iter().for_each(|item| find(item, text, starts)),
        Node::Map(entries) => {
            let value =
                |name: &str| entries.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
            let script = value("run").and_then(|value| match &value.value {
                Node::Text(script) => needs_bash(script.as_ref()),
                _ => None,
            });
            if let (Some(_), None, Some((key, _))) = (script, value("shell"), entries.first()) {
                starts.push(key.span.first_line(text).start);
            }
            entries.iter().for_each(|(_, value)| find(value, text, starts));
        }
        _ => {}
    }
}
