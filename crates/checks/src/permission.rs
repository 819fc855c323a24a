//! The rules of `permissionRequest`: what is allowed, denied or left to the user. Denials come before permissions, and what
//! cannot be evaluated is never allowed.

mod command;
mod request;
mod rules;

use crate::guard::{CommandPattern, Unclear};
use conclaude_core::config::PermissionDefault;
use conclaude_core::dialect::claude::{host, tools};
use conclaude_core::rule as record;
use conclaude_os::budget::Budget;

pub use request::{Examined, Request, Said};
use rules::Rule;
pub use rules::Rules;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Allow(Said),
    /// By each of these rules.
    Deny(Vec<Said>),
    /// The user is asked, for this reason.
    Ask(String),
}

pub fn answer(rules: &Rules, request: &Request<'_>, home: Option<&str>) -> Answer {
    let examined = Examined::new(request, home);
    let denied: Vec<Said> = rules.deny.iter().filter_map(|rule| denial(rule, rules, &examined)).collect();
    if !denied.is_empty() {
        return Answer::Deny(denied);
    }
    if let Some(why) = undecidable(rules, &examined) {
        return Answer::Ask(why);
    }
    match allowing(rules, &examined) {
        Ok(rule) => Answer::Allow(rule.said(rule.subject(&examined))),
        // Nobody means the questions of Claude Code with it, and the plan that the user should accept.
        Err(_) if tools::asks_user(request.tool) => {
            Answer::Ask(format!("{} asks the user, and `default` does not answer that", request.tool))
        }
        Err(why) => match rules.default {
            PermissionDefault::Ask => Answer::Ask(why),
            PermissionDefault::Allow => Answer::Allow(rules.by_default(examined.subject())),
            PermissionDefault::Deny => Answer::Deny(vec![rules.by_default(examined.subject())]),
        },
    }
}

/// A request as the rules saw it, for whoever explains an answer.
pub struct Permitted {
    /// Every rule, and why it does not match, where it does not.
    pub rules: Vec<(record::Rule, Option<String>)>,
    /// Why the user is asked, where that is so.
    pub asked: Option<String>,
}

/// What each rule says to a request.
pub fn explained(rules: &Rules, request: &Request<'_>, home: Option<&str>) -> Permitted {
    let examined = Examined::new(request, home);
    let why_not = |rule: &Rule, is_match: bool| (!is_match).then(|| rule.why_not(&examined));
    let deny = rules.deny.iter().map(|rule| (rule.named(), why_not(rule, rule.denies(&examined).is_some())));
    let counts = |rule: &Rule| rules.allowing().any(|one| std::ptr::eq(one, rule));
    let why_not_allowed = |rule: &Rule| match rule.allows(&examined) {
        true if !counts(rule) => Some("cannot relax `default: deny` of an outer layer".to_owned()),
        is_match => why_not(rule, is_match),
    };
    let allow = rules.allow.iter().map(|rule| (rule.named(), why_not_allowed(rule)));
    let asked = match answer(rules, request, home) {
        Answer::Ask(why) => Some(why),
        Answer::Allow(_) | Answer::Deny(_) => None,
    };
    Permitted { rules: deny.chain(allow).collect(), asked }
}

pub fn matching(rules: &Rules, request: &Request<'_>, home: Option<&str>) -> Vec<record::Rule> {
    let examined = Examined::new(request, home);
    let deny = rules.deny.iter().filter(|rule| rule.denies(&examined).is_some());
    let allow = rules.allowing().filter(|rule| rule.allows(&examined));
    deny.chain(allow).map(Rule::named).collect()
}

/// What a rule of `deny` says, unless an inner layer may and does allow it.
fn denial(rule: &Rule, rules: &Rules, examined: &Examined<'_>) -> Option<Said> {
    let subject = rule.denies(examined)?;
    let frees = |other: &&Rule| other.origin.layer > rule.origin.layer && other.allows(examined);
    if rule.overridable && (rules.allow.iter().any(|other| frees(&other))) {
        return None;
    }
    Some(rule.said(subject))
}

/// Why nothing may be allowed without the user.
fn undecidable(rules: &Rules, examined: &Examined<'_>) -> Option<String> {
    if examined.request.ground.budget.is_over() {
        return Some(format!("the rules could not be compared: {}", Budget::exceeded()));
    }
    if let Some(field) = rules.deny.iter().find_map(|rule| rule.lacks(examined)) {
        return Some(format!("its `{field}` is missing or cannot be read, so what it does is not known"));
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
    let is_unclear = |unclear: &&Unclear| matches!(unclear, Unclear::Path { .. } | Unclear::WorkTree { .. });
    if denies_files
        && (examined.effects.unclear.iter().any(|unclear| is_unclear(&unclear))
            || examined.effects.touches.iter().any(|touch| touch.with_contents))
    {
        return Some("which files it touches is not known before it runs".into());
    }
    let denies_hosts = rules.deny.iter().any(|rule| rule.compares_hosts(examined.request));
    (denies_hosts && host::of(examined.request.input).is_none())
        .then(|| "the host of its URL is not known".into())
}

/// The rule that allows the request, or why none does.
fn allowing<'r>(rules: &'r Rules, examined: &Examined<'_>) -> Result<&'r Rule, String> {
    if let Some(rule) = rules.allowing().find(|rule| rule.allows(examined)) {
        return Ok(rule);
    }
    let Some((script, _)) = &examined.script else { return Err("no rule matches".into()) };
    let of_request = |rule: &'r Rule| Some((rule, rule.command_pattern(examined.request)?));
    let (commands, patterns): (Vec<&Rule>, Vec<&CommandPattern>) =
        rules.allowing().filter_map(of_request).unzip();
    let index = command::allowed(&patterns, script, examined.request.ground.budget)?;
    commands.get(index).copied().ok_or_else(|| "no rule matches".into())
}

#[cfg(test)]
mod tests;
