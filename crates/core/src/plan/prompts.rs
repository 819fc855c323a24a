//! The steps of a user's prompt: context that is added to it, and the commands of a slash command.

use super::commands::{self, CommandPlace, Commands};
use super::{Action, ContextRule, Facts, PlannedStep, Reason, Step};
use crate::dialect::claude::prompt::{is_notification, slash_command};
use crate::pattern::{self, Pattern, PatternError};
use crate::rule::Rule;
use crate::types::HookPayload;

/// A pattern may match the whole prompt. At most this many characters of the match are recorded.
const MAX_MATCHED: usize = 200;

/// The steps of a prompt, after those of the section's own commands.
pub(super) fn prompts<'a>(
    facts: &Facts<'a>,
    is_gated: bool,
    planned: &mut Commands<'a>,
) -> Result<(), PatternError> {
    let HookPayload::UserPromptSubmit(said) = &facts.event.payload else { return Ok(()) };
    // The report of a background agent is not a user's prompt.
    if is_notification(&said.prompt) {
        return Ok(());
    }
    let context = context(facts, &said.prompt, &mut planned.warnings);
    planned.steps.splice(0..0, context);
    if let Some((name, _)) = slash_command(&said.prompt) {
        slash(facts, is_gated, name, planned)?;
    }
    Ok(())
}

fn context<'a>(facts: &Facts<'a>, prompt: &str, warnings: &mut Vec<String>) -> Vec<PlannedStep<'a>> {
    let compared = commands::compared(prompt);
    let mut steps = Vec::new();
    for (number, rule) in facts.config.prompts.rules() {
        let index = number.to_string();
        let keys = ["userPromptSubmit", "contextRules", &index];
        let named = Rule::key("userPromptSubmit.contextRules").pattern(rule.value.pattern.as_str());
        let named = named.located(facts.origins, &keys, facts.root);
        match rule.value.found_in(compared) {
            Ok(None) => {}
            Ok(Some(matched)) => {
                let action = Action::Context(ContextRule {
                    rule: Box::new(named),
                    matched: matched.chars().take(MAX_MATCHED).collect(),
                    prompt: rule.value.prompt.as_str().to_owned(),
                });
                let untrusted = facts.origins.untrusted(&keys);
                steps.push((Step { reason: Reason::Pattern, action }, untrusted));
            }
            // The config was checked when it was read.
            Err(error) => warnings.push(format!("{named} cannot be compared: {error}")),
        }
    }
    if compared.len() < prompt.len() && facts.config.prompts.rules().next().is_some() {
        let kib = commands::MAX_COMPARED >> 10;
        warnings.push(format!("`contextRules` were compared with the first {kib} KiB of the prompt only"));
    }
    steps
}

fn slash<'a>(
    facts: &Facts<'a>,
    is_gated: bool,
    name: &str,
    planned: &mut Commands<'a>,
) -> Result<(), PatternError> {
    let Some(section) = &facts.config.prompts.slash_commands else { return Ok(()) };
    let matches = |pattern: &Pattern| match pattern.as_str().strip_prefix('/') {
        Some(bare) => Pattern::try_from(bare.to_owned())?.matches(name, None),
        None => pattern.matches(name, None),
    };
    let selected = pattern::select_by(section.entries(), section.mode.unwrap_or_default(), matches)?;
    let wanted = commands::wanted(facts, section, selected, &mut Vec::new());
    let keys = ["userPromptSubmit", "slashCommands", "commands"];
    let place = CommandPlace { keys: &keys, subject: name, is_gated };
    let (steps, warnings) = commands::planned(facts, wanted, &place);
    planned.steps.extend(steps);
    planned.warnings.extend(warnings);
    Ok(())
}
