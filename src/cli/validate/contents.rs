//! What a config does, in a few lines.

use conclaude_core::config::{ConclaudeConfig, DesConfig, EventConfig};
use conclaude_core::event::EventKind;
use conclaude_core::text::count;

/// What is said of a config without any.
pub(super) const NO_RULES: &str = "no rules configured";

/// What the config does, in one line per section.
pub(in crate::cli) fn contents(config: &ConclaudeConfig) -> Vec<String> {
    let sections = config.sections.iter();
    let mut lines: Vec<String> =
        sections.map(|(event, section)| section_line(*event, section, config)).collect();
    if config.notifications.as_ref().is_some_and(|notifications| notifications.enabled == Some(true)) {
        lines.push("notifications: on".into());
    }
    if let Some(des) = &config.des {
        lines.push(des_line(des));
    }
    if lines.is_empty() {
        lines.push(NO_RULES.into());
    }
    lines
}

fn section_line(event: EventKind, section: &EventConfig, config: &ConclaudeConfig) -> String {
    let mut parts = Vec::new();
    let mut add = |number: usize, noun: &str| parts.push((number, count(number as u64, noun)));
    add(section.entries().len(), "pattern");
    add(section.commands().count(), "command");
    match event {
        EventKind::PreToolUse => add(config.guards.count(), "guard"),
        EventKind::PermissionRequest => add(config.permissions.count(), "rule"),
        EventKind::UserPromptSubmit => {
            add(config.prompts.rules().count(), "context rule");
            add(config.prompts.slash_commands().count(), "slash command");
        }
        _ => {}
    }
    // What there is none of is only worth a word where there is nothing at all.
    if parts.iter().any(|(number, _)| *number > 0) {
        parts.retain(|(number, _)| *number > 0);
    }
    let parts: Vec<String> = parts.into_iter().map(|(_, words)| words).collect();
    format!("{}: {}", event.row().section, parts.join(", "))
}

fn des_line(des: &DesConfig) -> String {
    if !des.is_enabled() {
        return "des: off".into();
    }
    let phases = count(des.phase_names().len() as u64, "phase");
    let findings = if des.blocks() { "block" } else { "warn" };
    let judge = if des.judge.is_some() { ", with a judge" } else { "" };
    format!("des: gates for prompts with markers, {phases}, findings {findings}{judge}")
}
