//! The sections of events with further keys besides their commands: `stop`, `messageDisplay` and `userPromptSubmit`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::commands::{CommandConfig, CommandMap, EventConfig};
use super::regex::{RegexError, RegexText};
use super::shapes::List;
use super::{NonBlank, Remark};
use crate::pattern::MatchMode;
use crate::yaml::Located;

/// What happens when Claude itself stops: commands, and whether it must continue.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StopConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    mode: Option<MatchMode>,
    /// The commands. Their `onFailure` is `block` by default. They do not run while background agents do: the stop comes again
    /// when those have stopped.
    commands: Option<CommandMap>,
    /// Makes Claude continue after every stop, as often as `maxBlocks` allows for one prompt. Default: false.
    pub infinite: Option<bool>,
    /// The request to Claude then. Default: `continue`.
    pub infinite_message: Option<NonBlank>,
}

impl StopConfig {
    /// The keys that every event has.
    pub(super) fn take_section(&mut self) -> EventConfig {
        EventConfig { mode: self.mode.take(), commands: self.commands.take() }
    }

    pub(super) fn warnings(&self, found: &mut Vec<Remark>) {
        if self.infinite_message.is_some() && self.infinite().is_none() {
            let remark = Remark::new(["stop", "infiniteMessage"], "stop: `infiniteMessage` has no effect");
            found.push(
                remark.because("`infinite` is not `true`").help("write `infinite: true`, or remove it"),
            );
        }
    }

    /// The request to Claude instead of stopping.
    pub fn infinite(&self) -> Option<&str> {
        if self.infinite != Some(true) {
            return None;
        }
        Some(self.infinite_message.as_ref().map_or("continue", NonBlank::as_str))
    }
}

/// Commands that run while Claude writes a message.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MessageDisplayConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    mode: Option<MatchMode>,
    /// The commands.
    commands: Option<CommandMap>,
    /// Run them only for the last part of a message: a message comes in many parts. Default: true.
    pub only_final: Option<bool>,
}

impl MessageDisplayConfig {
    /// The keys that every event has.
    pub(super) fn take_section(&mut self) -> EventConfig {
        EventConfig { mode: self.mode.take(), commands: self.commands.take() }
    }

    pub fn only_final(&self) -> bool {
        self.only_final.unwrap_or(true)
    }
}

/// What happens with a prompt before Claude reads it: commands, and context that is added to it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UserPromptSubmitConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    mode: Option<MatchMode>,
    /// The commands. Claude reads the output of one with `context: true`.
    commands: Option<CommandMap>,
    /// Text that Claude reads with matching prompts.
    pub context_rules: Option<List<Located<ContextRuleConfig>, 0, 200>>,
    /// Commands that run if the prompt is a slash command: the patterns are compared with its name, without the `/`.
    pub slash_commands: Option<EventConfig>,
}

/// Text that Claude reads with matching prompts.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextRuleConfig {
    /// A regular expression, found anywhere in the prompt.
    pub pattern: RegexText,
    /// The text. `@path` in it is replaced by that file of the project.
    pub prompt: NonBlank,
    /// Whether the rule applies. Default: `true`.
    pub enabled: Option<bool>,
    /// Whether the case of ASCII letters is ignored. Default: `false`.
    pub case_insensitive: Option<bool>,
}

impl ContextRuleConfig {
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    /// The first part of the prompt that matches.
    ///
    /// # Errors
    /// If the expression cannot be evaluated.
    pub fn found_in<'a>(&self, prompt: &'a str) -> Result<Option<&'a str>, RegexError> {
        self.pattern.found_in(prompt, self.case_insensitive.unwrap_or(false))
    }
}

impl UserPromptSubmitConfig {
    /// The keys that every event has.
    pub(super) fn take_section(&mut self) -> EventConfig {
        EventConfig { mode: self.mode.take(), commands: self.commands.take() }
    }

    /// Whether all patterns can be evaluated.
    pub(super) fn is_valid(&self) -> bool {
        let mut rules = self.context_rules.iter().flatten();
        rules.all(|rule| RegexText::check(rule.value.pattern.as_str()).is_ok())
            && self.slash_commands.as_ref().is_none_or(|section| {
                section.check_patterns().is_ok() && section.are_prompts_valid() && section.are_scripts_valid()
            })
    }

    /// The rules that apply to some prompts only, with their numbers.
    pub fn rules(&self) -> impl Iterator<Item = (usize, &Located<ContextRuleConfig>)> {
        let all = self.context_rules.iter().flatten().enumerate();
        all.filter(|(_, rule)| rule.value.is_enabled())
    }

    pub fn slash_commands(&self) -> impl Iterator<Item = &CommandConfig> {
        self.slash_commands.iter().flat_map(EventConfig::commands)
    }

    pub(super) fn warnings(&self, found: &mut Vec<Remark>) {
        for (number, rule) in self.rules() {
            // `^$` matches no other text.
            let is_everywhere = |text| rule.value.found_in(text) == Ok(Some(""));
            if is_everywhere("") && is_everywhere("\u{2020}") {
                let keys = ["userPromptSubmit", "contextRules", &number.to_string(), "pattern"];
                let what = "userPromptSubmit: this pattern of `contextRules` matches every prompt";
                found.push(Remark::new(keys, what));
            }
        }
        let slash = self.slash_commands.iter().flat_map(EventConfig::entries);
        for (pattern, _) in slash.filter(|(_, commands)| commands.is_empty()) {
            let keys = ["userPromptSubmit", "slashCommands", "commands", pattern.as_str()];
            let what = format!("userPromptSubmit: `{pattern}` in `slashCommands` has no commands");
            found.push(Remark::new(keys, what));
        }
    }
}
