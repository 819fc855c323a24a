//! The rules of `permissionRequest`: a request is allowed, denied or left to the user. `deny` comes before `allow`. A request that
//! cannot be evaluated is never allowed.

use serde_json::{Map, Value};

use crate::guard::{CommandPattern, Effects, Ground, Uncertainty};
use command::Refusal;
use conclaude_core::config::PermissionDefault;
use conclaude_core::dialect::claude::notation::ToolPattern;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::messages::short;
use conclaude_core::rule as record;
use conclaude_core::text::clean_line;
use conclaude_os::budget::Budget;
use rules::PermissionRule;
use shell_effects::{Access, Script};

mod command;
mod rules;

pub use rules::PermissionRules;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Allow(RuleAnswer),
    /// All rules that deny it.
    Deny(Vec<RuleAnswer>),
    /// The user is asked, for this reason.
    Ask(String),
}

pub fn answer(rules: &PermissionRules, request: &PermissionRequest<'_>, home: Option<&str>) -> Answer {
    let examined = ExaminedRequest::new(request, home);
    let denied: Vec<RuleAnswer> =
        rules.deny.iter().filter_map(|rule| denial(rule, rules, &examined)).collect();
    if !denied.is_empty() {
        return Answer::Deny(denied);
    }
    if let Some(why) = undecidable(rules, &examined) {
        return Answer::Ask(why);
    }
    match allowing(rules, &examined) {
        Ok(rule) => Answer::Allow(rule.allowed(rule.subject(&examined))),
        // `default` does not answer questions to the user, such as whether to accept a plan.
        Err(_) if tools::asks_user(request.tool) => {
            Answer::Ask(format!("{} asks the user, and `default` does not answer that", request.tool))
        }
        Err(why) => match rules.default {
            PermissionDefault::Ask => Answer::Ask(why.to_string()),
            PermissionDefault::Allow => Answer::Allow(rules.by_default(examined.subject())),
            PermissionDefault::Deny => Answer::Deny(vec![rules.by_default(examined.subject())]),
        },
    }
}

/// A request as the rules saw it, for explanations.
pub struct PermissionExplanation {
    /// Every rule, with the reason if it does not match.
    pub rules: Vec<(record::Rule, Option<String>)>,
    /// Why the user is asked. `None` if the rules answer.
    pub asked: Option<String>,
}

/// Compares a request with every rule, for explanations.
pub fn explained(
    rules: &PermissionRules,
    request: &PermissionRequest<'_>,
    home: Option<&str>,
) -> PermissionExplanation {
    let examined = ExaminedRequest::new(request, home);
    let why_not = |rule: &PermissionRule, is_match: bool| {
        if is_match { None } else { Some(rule.why_not(&examined)) }
    };
    let deny = rules.deny.iter().map(|rule| (rule.named(), why_not(rule, rule.denies(&examined).is_some())));
    let counts = |rule: &PermissionRule| rules.allowing().any(|one| std::ptr::eq(one, rule));
    let why_not_allowed = |rule: &PermissionRule| {
        let is_match = rule.allows(&examined);
        if is_match && !counts(rule) {
            return Some("cannot relax `default: deny` of an outer layer".to_owned());
        }
        why_not(rule, is_match)
    };
    let allow = rules.allow.iter().map(|rule| (rule.named(), why_not_allowed(rule)));
    let asked = match answer(rules, request, home) {
        Answer::Ask(why) => Some(why),
        Answer::Allow(_) | Answer::Deny(_) => None,
    };
    PermissionExplanation { rules: deny.chain(allow).collect(), asked }
}

pub fn matching(
    rules: &PermissionRules,
    request: &PermissionRequest<'_>,
    home: Option<&str>,
) -> Vec<record::Rule> {
    let examined = ExaminedRequest::new(request, home);
    let deny = rules.deny.iter().filter(|rule| rule.denies(&examined).is_some());
    let allow = rules.allowing().filter(|rule| rule.allows(&examined));
    deny.chain(allow).map(PermissionRule::named).collect()
}

/// The answer of a `deny` rule, unless it is overridable and an inner layer allows the request.
fn denial(
    rule: &PermissionRule,
    rules: &PermissionRules,
    examined: &ExaminedRequest<'_>,
) -> Option<RuleAnswer> {
    let subject = rule.denies(examined)?;
    let frees = |other: &&PermissionRule| other.origin.layer > rule.origin.layer && other.allows(examined);
    if rule.overridable && (rules.allow.iter().any(|other| frees(&other))) {
        return None;
    }
    Some(rule.denied(subject, examined))
}

/// Why the user must be asked, whatever `allow` says.
fn undecidable(rules: &PermissionRules, examined: &ExaminedRequest<'_>) -> Option<String> {
    if examined.request.ground.budget.is_over() {
        return Some(format!("the rules could not be compared: {}", Budget::exceeded()));
    }
    if let Some(field) = rules.deny.iter().find_map(|rule| rule.lacks(examined)) {
        return Some(format!("its `{field}` is missing or cannot be read, so its effect is unknown"));
    }
    if let Some((script, _)) = &examined.script {
        if let Some(why) = command::unreadable(script) {
            return Some(why);
        }
        let denies_commands = rules.deny.iter().any(|rule| rule.compares_commands(examined.request));
        if denies_commands && let Some(why) = command::unknown(script) {
            return Some(why);
        }
        if let Some(why) = rules.deny.iter().find_map(|rule| rule.could_deny(examined)) {
            return Some(why);
        }
    }
    let denies_files = rules.deny.iter().any(|rule| rule.compares_files(examined.request));
    let is_unclear = |unclear: &&Uncertainty| {
        matches!(
            unclear,
            Uncertainty::Path { .. }
                | Uncertainty::Somewhere { .. }
                | Uncertainty::Names { .. }
                | Uncertainty::WorkTree { .. }
        )
    };
    if denies_files
        && (examined.effects.unclear.iter().any(|unclear| is_unclear(&unclear))
            || examined.effects.touches.iter().any(|touch| touch.with_contents))
    {
        return Some("the files that it touches are unknown before it runs".into());
    }
    let denies_hosts = rules.deny.iter().any(|rule| rule.compares_hosts(examined.request));
    if denies_hosts && tools::host_of(examined.request.input).is_none() {
        return Some("the host of its URL is not known".into());
    }
    None
}

/// The rule that allows the request, or why none does.
fn allowing<'r>(
    rules: &'r PermissionRules,
    examined: &ExaminedRequest<'_>,
) -> Result<&'r PermissionRule, Refusal> {
    if let Some(rule) = rules.allowing().find(|rule| rule.allows(examined)) {
        return Ok(rule);
    }
    let Some((script, _)) = &examined.script else { return Err(Refusal::NoMatch) };
    let of_request = |rule: &'r PermissionRule| Some((rule, rule.command_pattern(examined.request)?));
    let (commands, patterns): (Vec<&PermissionRule>, Vec<&CommandPattern>) =
        rules.allowing().filter_map(of_request).unzip();
    let index = command::allowed(&patterns, script, examined.request.ground.budget)?;
    commands.get(index).copied().ok_or(Refusal::NoMatch)
}

pub struct PermissionRequest<'a> {
    pub ground: Ground<'a>,
    pub tool: &'a str,
    /// Other names of the tool that rules may use: those of another client.
    pub other_names: &'a [String],
    pub input: &'a Map<String, Value>,
    /// The subagent's name; `main` for the main thread.
    pub agent: &'a str,
}

impl PermissionRequest<'_> {
    /// Whether a pattern names the tool, under any of its names.
    fn is_named_by(&self, pattern: &ToolPattern) -> bool {
        pattern.names(self.tool) || self.other_names.iter().any(|name| pattern.names(name))
    }
}

/// A request and its effects.
pub struct ExaminedRequest<'a> {
    pub request: &'a PermissionRequest<'a>,
    pub effects: Effects,
    /// The syntax of a shell command, and its text.
    pub script: Option<(Script, &'a str)>,
}

impl<'a> ExaminedRequest<'a> {
    fn new(request: &'a PermissionRequest<'a>, home: Option<&str>) -> ExaminedRequest<'a> {
        let (mut effects, script) = match tools::what(request.tool, request.input) {
            ToolUse::File { access, path } => {
                (Effects { touches: vec![request.ground.touch(access, path)], ..Effects::default() }, None)
            }
            ToolUse::Patch(patch) => (request.ground.of_patch(patch), None),
            ToolUse::Shell(command) => {
                let script = shell_effects::read(command, home);
                (request.ground.on_files(&script), Some((script, command)))
            }
            ToolUse::PowerShell(command) => {
                let script = shell_effects::read_powershell(command);
                (request.ground.on_files(&script), Some((script, command)))
            }
            ToolUse::Other => (Effects::default(), None),
        };
        let searched = tools::searched(request.tool, request.input);
        effects.touches.extend(searched.iter().map(|file| request.ground.touch(Access::Read, file)));
        ExaminedRequest { request, effects, script }
    }

    fn subject(&self) -> Subject {
        match (&self.script, self.effects.touches.first()) {
            (Some((_, text)), _) => Subject::command(text),
            (None, Some(touch)) => Subject {
                what: format!("{} of {}", self.request.tool, clean_line(touch.shown())),
                matched: touch.shown().to_owned(),
            },
            (None, None) => Subject {
                what: format!("using {}", clean_line(self.request.tool)),
                matched: self.request.tool.to_owned(),
            },
        }
    }
}

/// The subject of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub what: String,
    pub matched: String,
}

impl Subject {
    fn command(text: &str) -> Subject {
        Subject { what: format!("running `{}`", short(text)), matched: text.trim().to_owned() }
    }
}

/// The answer of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleAnswer {
    pub subject: Subject,
    /// Why: the message of the rule, or a sentence that names the request and the rule.
    pub reason: String,
    /// Empty if the message of the rule contains the advice.
    pub advice: String,
    /// The part of the request that the rule concerns, if the reason does not name it.
    pub about: Option<String>,
    pub rule: record::Rule,
}

#[cfg(test)]
mod tests;
