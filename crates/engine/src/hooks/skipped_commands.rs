//! The commands that the config has for an event and that do not run, each with its reason.

use serde_json::Value;

use super::context::Context;
use conclaude_core::agent::actor;
use conclaude_core::config::{CommandConfig, ContextRuleConfig, EventConfig};
use conclaude_core::event::EventKind;
use conclaude_core::messages::short;
use conclaude_core::plan::{Plan, SkipReason, Step, UnmatchedCommand};
use conclaude_core::rule::Rule;
use conclaude_store::audit::MAX_FILES;

/// A command of the config that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCommand {
    pub rule: Rule,
    pub script: String,
    pub reason: SkipReason,
    /// The reason in words.
    pub why: String,
}

impl SkippedCommand {
    /// The reason in words after the rule.
    pub fn after_rule(&self) -> String {
        match self.reason {
            SkipReason::Agent | SkipReason::Prompt | SkipReason::Files => {
                format!("matches, but {}", self.why)
            }
            SkipReason::Pattern | SkipReason::InBetween | SkipReason::Earlier => self.why.clone(),
        }
    }
}

pub(super) fn not_run(plan: &Plan, context: &Context<'_>) -> Vec<SkippedCommand> {
    of_section(plan, context, |_| true).chain(of_prompts(plan, context)).collect()
}

/// Commands of the event's section that do not run for such reasons.
pub(super) fn of_section<'a>(
    plan: &'a Plan,
    context: &'a Context<'_>,
    is_meant: fn(SkipReason) -> bool,
) -> impl Iterator<Item = SkippedCommand> {
    let section = context.config.settings.section(plan.event).into_iter();
    let unmatched = move || plan.unmatched.iter().filter(move |one| is_meant(one.why));
    section.flat_map(move |section| unmatched().flat_map(|one| of_unmatched(one, section, plan, context)))
}

/// The steps that a prompt does not start: rules for context and slash commands that the plan does not have.
fn of_prompts(plan: &Plan, context: &Context<'_>) -> Vec<SkippedCommand> {
    if plan.event != EventKind::UserPromptSubmit {
        return Vec::new();
    }
    let prompts = &context.config.settings.prompts;
    let mut found: Vec<SkippedCommand> = Vec::new();
    let reason = SkipReason::Pattern;
    let prompt = context.event.fields.get("prompt").and_then(Value::as_str).unwrap_or_default();
    for (number, rule) in prompts.context_rules.iter().flatten().enumerate() {
        let keys = ["userPromptSubmit", "contextRules", &number.to_string()];
        let pattern = rule.value.pattern.as_str();
        let script = format!("the context for {pattern:?}");
        let why = why_no_context(&rule.value, prompt);
        found.push(SkippedCommand { rule: located(context, &keys, 2, pattern), script, reason, why });
    }
    for (pattern, commands) in prompts.slash_commands.iter().flat_map(EventConfig::entries) {
        for (index, command) in commands.iter().enumerate() {
            let (pattern, index) = (pattern.as_str(), index.to_string());
            let keys = ["userPromptSubmit", "slashCommands", "commands", pattern, &index];
            let why = "does not match: it is for slash commands of that name".to_owned();
            let script = command.run.as_str().to_owned();
            found.push(SkippedCommand { rule: located(context, &keys, 3, pattern), script, reason, why });
        }
    }
    let is_planned = |rule: &Rule| {
        let untrusted = plan.untrusted.iter().flat_map(|untrusted| &untrusted.steps);
        let rule_of = |step: &Step| step.rule(&context.config.origins, &context.root.folder);
        plan.steps.iter().chain(untrusted).filter_map(rule_of).any(|one| one == *rule)
    };
    found.retain(|one| !is_planned(&one.rule));
    found
}

fn why_no_context(rule: &ContextRuleConfig, prompt: &str) -> String {
    if !rule.is_enabled() {
        return "is switched off by `enabled: false`".into();
    }
    let in_any_case = ContextRuleConfig { case_insensitive: Some(true), ..rule.clone() };
    let hint = match in_any_case.found_in(prompt) {
        Ok(Some(_)) => "; with `caseInsensitive: true` it would",
        _ => "",
    };
    format!("does not match the prompt {:?}{hint}", short(prompt))
}

/// The rule below these keys of the config. The first `named` keys are its name.
fn located(context: &Context<'_>, keys: &[&str], named: usize, pattern: &str) -> Rule {
    let rule = Rule::key(keys.get(..named).unwrap_or(keys).join(".")).pattern(pattern);
    rule.located(&context.config.origins, keys, &context.root.folder)
}

fn of_unmatched(
    unmatched: &UnmatchedCommand,
    section: &EventConfig,
    plan: &Plan,
    context: &Context<'_>,
) -> Vec<SkippedCommand> {
    let Some((pattern, commands)) = section.entries().get(unmatched.entry) else { return Vec::new() };
    let numbered = commands.iter().enumerate();
    let concerned = numbered.filter(|(index, _)| unmatched.command.is_none_or(|only| only == *index));
    concerned
        .map(|(index, command)| {
            let name = plan.event.row().section;
            let keys = [name, "commands", pattern.as_str(), &index.to_string()];
            let rule = located(context, &keys, 2, pattern.as_str());
            let why = why_not(unmatched.why, command, plan, context);
            SkippedCommand { rule, script: command.run.as_str().to_owned(), reason: unmatched.why, why }
        })
        .collect()
}

fn why_not(why: SkipReason, command: &CommandConfig, plan: &Plan, context: &Context<'_>) -> String {
    match why {
        SkipReason::Pattern => format!("does not match {}", plan.subject),
        SkipReason::InBetween => "waits for the last part of the message (`final: true`)".into(),
        SkipReason::Earlier => "comes too late: `match: first` takes one that matches before it".into(),
        SkipReason::Agent => {
            let agent = command.agent.as_ref().map(|agent| agent.as_str()).unwrap_or_default();
            format!("`agent: {agent}` does not match {}", actor(context.subagent()))
        }
        SkipReason::Prompt => {
            let pattern = command.pattern.as_ref().map(|pattern| pattern.as_str()).unwrap_or_default();
            format!("`pattern: {pattern}` is not found in the prompt")
        }
        SkipReason::Files => {
            let files: Vec<&str> = command.files.iter().flatten().map(|file| file.as_str()).collect();
            format!("`files: [{}]` covers no changed file ({})", files.join(", "), changed(context))
        }
    }
}

/// The first of the changed files, in words.
fn changed(context: &Context<'_>) -> String {
    let all = &context.changed().files;
    let named: Vec<&str> = all.iter().take(MAX_FILES).map(|file| file.shown()).collect();
    match all.len().saturating_sub(MAX_FILES) {
        0 if named.is_empty() => "none".into(),
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
