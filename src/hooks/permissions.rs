//! The rules of `permissionRequest`, at the event of that name.

use std::path::Path;

use super::context::Context;
use super::guards;
use crate::config::PermissionRequestConfig;
use crate::des::paths::Links;
use crate::files;
use crate::finding::{Code, Finding};
use crate::guard::{Ground, Sources};
use crate::log;
use crate::outcome::{Evidence, Outcome, Verdict};
use crate::permission::{self, Answer, Request, Rules, Said};
use crate::text::clean;

pub(super) fn run(config: &PermissionRequestConfig, context: &Context<'_>) -> Vec<Outcome> {
    let Some(tool) = guards::tool_of(context) else { return Vec::new() };
    let home = files::home();
    let sources = guards::sources(context);
    let rules = match Rules::of(config, &Sources(&sources), home.as_deref()) {
        Ok(rules) => rules,
        // The config was checked when it was read.
        Err(error) => {
            return vec![Outcome::note(format!("the rules for permissions cannot be evaluated: {error}"))];
        }
    };
    let agent = guards::agent_of(&tool, context);
    let (cwd, links) = (Path::new(&tool.base.cwd), Links::default());
    let request = Request {
        ground: Ground { root: &context.root.folder, cwd, links: &links },
        tool: &tool.tool_name,
        input: &tool.tool_input,
        agent: &agent,
    };
    match permission::answer(&rules, &request, home.as_deref()) {
        Answer::Allow(said) => vec![outcome(Verdict::Grant, Code::PermissionAllowed, &said)],
        Answer::Deny(said) => {
            said.iter().map(|said| outcome(Verdict::Block, Code::PermissionDenied, said)).collect()
        }
        Answer::Ask(why) => {
            log::info(|| format!("permission for {}: the user is asked, {}", tool.tool_name, clean(&why)));
            Vec::new()
        }
    }
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
