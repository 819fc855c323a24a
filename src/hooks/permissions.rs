//! The rules of `permissionRequest`, at the event of that name.

use std::path::Path;

use super::context::Context;
use super::guards;
use crate::config::PermissionRequestConfig;
use crate::des::paths::Links;
use crate::files;
use crate::finding::{Code, Finding};
use crate::glob::GlobError;
use crate::guard::{Ground, Sources};
use crate::log;
use crate::outcome::{Evidence, Outcome, Verdict};
use crate::permission::{self, Answer, Permitted, Request, Rules, Said};
use crate::text::clean;

pub(super) fn run(config: &PermissionRequestConfig, context: &Context<'_>) -> Vec<Outcome> {
    match with_request(config, context, permission::answer) {
        Some(Ok(Answer::Allow(said))) => vec![outcome(Verdict::Grant, Code::PermissionAllowed, &said)],
        Some(Ok(Answer::Deny(said))) => {
            said.iter().map(|said| outcome(Verdict::Block, Code::PermissionDenied, said)).collect()
        }
        Some(Ok(Answer::Ask(why))) => {
            log::info(|| {
                let tool = context.event.fields.get("tool_name").and_then(serde_json::Value::as_str);
                format!("permission for {}: the user is asked, {}", tool.unwrap_or_default(), clean(&why))
            });
            Vec::new()
        }
        // The config was checked when it was read.
        Some(Err(error)) => {
            vec![Outcome::note(format!("the rules for permissions cannot be evaluated: {error}"))]
        }
        None => Vec::new(),
    }
}

/// What each rule says to the request.
pub(super) fn inspect(config: &PermissionRequestConfig, context: &Context<'_>) -> Option<Permitted> {
    with_request(config, context, permission::explained)?.ok()
}

/// The rules and the request that they are compared with. None where there is no tool.
fn with_request<T>(
    config: &PermissionRequestConfig,
    context: &Context<'_>,
    compare: impl FnOnce(&Rules, &Request<'_>, Option<&str>) -> T,
) -> Option<Result<T, GlobError>> {
    let tool = guards::tool_of(context)?;
    let home = files::home();
    let sources = guards::sources(context);
    let rules = match Rules::of(config, &Sources(&sources), home.as_deref()) {
        Ok(rules) => rules,
        Err(error) => return Some(Err(error)),
    };
    let agent = guards::agent_of(&tool, context);
    let (cwd, links) = (Path::new(&tool.base.cwd), Links::default());
    let request = Request {
        ground: Ground { root: &context.root.folder, cwd, links: &links, home: home.as_deref() },
        tool: &tool.tool_name,
        input: &tool.tool_input,
        agent: &agent,
    };
    Some(Ok(compare(&rules, &request, home.as_deref())))
}

fn outcome(verdict: Verdict, code: Code, said: &Said) -> Outcome {
    let what = clean(&format!("{}: {}", said.what, said.shown));
    let finding =
        Finding::new(code, what, clean(&said.advice)).by(Some(said.rule.clone()), said.what.clone());
    // A permission needs no word.
    let (finding, message) = match verdict {
        Verdict::Grant => {
            (Finding { fix: "it is used without asking".into(), ..finding.warning() }, String::new())
        }
        _ => {
            let message = format!("{} {finding}", verdict.mark());
            (finding, message)
        }
    };
    Outcome { verdict, message, evidence: Evidence::Finding(finding) }
}
