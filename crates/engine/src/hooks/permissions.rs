//! The rules of `permissionRequest`, at the event of that name.

use std::path::Path;
use std::sync::Arc;

use super::config::Config;
use super::context::Context;
use super::guards;
use conclaude_checks::guard::{Ground, Sources};
use conclaude_checks::paths::Links;
use conclaude_checks::permission::{
    self, Answer, PermissionExplanation, PermissionRequest, PermissionRules, RuleAnswer,
};
use conclaude_core::agent::actor;
use conclaude_core::config::{Layer, PermissionRequestConfig};
use conclaude_core::finding::{Code, Finding, GuardWords};
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::rule::Rule;
use conclaude_core::text::printable_untagged;
use conclaude_core::types::Event;
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_os::git;
use conclaude_os::log;
use shell_effects::glob::GlobError;

/// A permission request and its place.
pub(super) struct PermissionQuery<'a> {
    pub(super) event: &'a Event,
    /// Who asks, as rules name it.
    pub(super) agent: &'a str,
    pub(super) root: &'a Path,
    /// The names of the config's files, and their layers.
    pub(super) sources: &'a [(Arc<str>, Layer)],
    pub(super) links: &'a Links,
    /// The time limit for comparing.
    pub(super) budget: &'a Budget,
}

pub(super) fn run(config: &PermissionRequestConfig, context: &Context<'_>) -> Vec<Outcome> {
    let said = in_context(config, context, permission::answer);
    if let Some(Ok(Answer::Ask(why))) = &said {
        log::info(|| {
            let tool = context.event.fields.get("tool_name").and_then(serde_json::Value::as_str);
            format!(
                "permission for {}: the user is asked, {}",
                tool.unwrap_or_default(),
                printable_untagged(why)
            )
        });
    }
    outcomes(said)
}

pub(super) fn outcomes(said: Option<Result<Answer, GlobError>>) -> Vec<Outcome> {
    match said {
        Some(Ok(Answer::Allow(said))) => vec![outcome(Verdict::Grant, Code::PermissionAllowed, &said)],
        Some(Ok(Answer::Deny(said))) => {
            said.iter().map(|said| outcome(Verdict::Block, Code::PermissionDenied, said)).collect()
        }
        Some(Ok(Answer::Ask(_))) | None => Vec::new(),
        // The config was checked when it was read.
        Some(Err(error)) => {
            vec![Outcome::note(format!("the rules for permissions cannot be evaluated: {error}"))]
        }
    }
}

pub(super) fn inspect(
    config: &PermissionRequestConfig,
    context: &Context<'_>,
) -> Option<PermissionExplanation> {
    let mut permitted = in_context(config, context, permission::explained)?.ok()?;
    permitted.rules.extend(
        untrusted(context).into_iter().map(|rule| (rule, Some("is off: its file is not trusted".into()))),
    );
    Some(permitted)
}

/// The rules that would allow something if their files were trusted.
fn untrusted(context: &Context<'_>) -> Vec<Rule> {
    let Config { settings, origins, .. } = &context.config;
    let off = settings.permissions.trusted(|source| origins.untrusted_source(source).is_some());
    let sources = guards::sources(context);
    let rules = PermissionRules::of(&off, &Sources(&sources), files::home().as_deref());
    let rules = rules.map(|rules| rules.all()).unwrap_or_default().into_iter();
    rules.filter(|rule| rule.key.ends_with(".allow")).collect()
}

fn in_context<T>(
    config: &PermissionRequestConfig,
    context: &Context<'_>,
    compare: impl FnOnce(&PermissionRules, &PermissionRequest<'_>, Option<&str>) -> T,
) -> Option<Result<T, GlobError>> {
    let (links, sources) = (Links::default(), guards::sources(context));
    let root = &context.root.folder;
    let agent = actor(context.subagent());
    let budget = &context.budget;
    let asking =
        PermissionQuery { event: &context.event, agent, root, sources: &sources, links: &links, budget };
    with_request(config, &asking, compare)
}

/// The rules and the request that they are compared with. `None` if there is no tool.
pub(super) fn with_request<T>(
    config: &PermissionRequestConfig,
    asking: &PermissionQuery<'_>,
    compare: impl FnOnce(&PermissionRules, &PermissionRequest<'_>, Option<&str>) -> T,
) -> Option<Result<T, GlobError>> {
    let PermissionQuery { event, agent, root, sources, links, budget } = *asking;
    let tool = guards::tool_of(event)?;
    let home = files::home();
    let rules = match PermissionRules::of(config, &Sources(sources), home.as_deref()) {
        Ok(rules) => rules,
        Err(error) => return Some(Err(error)),
    };
    let cwd = Path::new(&tool.base.cwd);
    let other = git::root_in_worktree(root, cwd);
    let request = PermissionRequest {
        ground: Ground { root, cwd, links, home: home.as_deref(), worktree: other.as_deref(), budget },
        tool: &tool.tool_name,
        other_names: &event.tool.others,
        input: &tool.tool_input,
        agent,
    };
    Some(Ok(compare(&rules, &request, home.as_deref())))
}

fn outcome(verdict: Verdict, code: Code, said: &RuleAnswer) -> Outcome {
    let (what, fix) = (printable_untagged(&said.reason), printable_untagged(&said.advice));
    let finding = Finding::new(code, what, fix).by(Some(said.rule.clone()), said.subject.matched.clone());
    match verdict {
        // A permission needs no message.
        Verdict::Grant => {
            let evidence = Evidence::Finding(finding.warning());
            Outcome { verdict, message: String::new(), evidence }
        }
        _ => {
            let words = GuardWords { user_fix: None, about: said.about.clone() };
            Outcome::of_guard(verdict, finding.with_words(words))
        }
    }
}
