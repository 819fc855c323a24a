//! Questions of guards that the sandbox answers: where it holds for every command, files that a guard cannot know are left to it.

use std::path::Path;

use super::context::Context;
use super::enforcement;
use crate::sandbox::{self, WhyAsked};
use conclaude_checks::enforce::Compiled;
use conclaude_checks::guard::{Action, Effects, Finding, GuardRules};
use conclaude_core::agent::actor;
use conclaude_core::dialect::claude::sandbox::effective::SandboxGap;
use conclaude_core::dialect::claude::tools::{SHELL, runs_unsandboxed};
use conclaude_core::types::PreToolUsePayload;
use conclaude_os::git;
use conclaude_store::root::session_worktree_of;

/// What guards found, and what of it is left to the sandbox.
#[derive(Default)]
pub(super) struct SettledQuestions {
    pub(super) findings: Vec<Finding>,
    /// Questions that are not asked.
    pub(super) settled: Vec<Finding>,
    /// Why the others are, where the sandbox could have answered them.
    pub(super) why_asked: Option<WhyAsked>,
}

/// A call that guards have looked at.
pub(super) struct GuardedCall<'a> {
    pub(super) tool: &'a PreToolUsePayload,
    pub(super) rules: &'a GuardRules,
    pub(super) effects: &'a Effects,
}

/// Leaves to the sandbox what it decides. Without a question of that kind nothing is looked at.
pub(super) fn settle(
    call: &GuardedCall<'_>,
    findings: Vec<Finding>,
    context: &Context<'_>,
) -> SettledQuestions {
    let is_open = |finding: &Finding| finding.action == Action::Ask && finding.unknown.is_some();
    let is_enforced = context.config.settings.enforcers().sandbox && call.tool.tool_name == SHELL;
    if !is_enforced || !findings.iter().any(is_open) {
        return SettledQuestions { findings, ..SettledQuestions::default() };
    }
    let compiled = match confined(call, context) {
        Ok(compiled) => compiled,
        Err(why) => {
            return SettledQuestions { findings, why_asked: Some(why), ..SettledQuestions::default() };
        }
    };
    let agent = actor(context.subagent());
    let mut sorted = SettledQuestions::default();
    for finding in findings {
        let Some(unknown) = finding.unknown else {
            sorted.findings.push(finding);
            continue;
        };
        if finding.action != Action::Ask {
            sorted.findings.push(finding);
            continue;
        }
        match call.rules.unenforced(unknown, agent, &|rule| compiled.is_compiled(rule)) {
            None => sorted.settled.push(finding),
            Some(rule) => {
                sorted.why_asked = Some(WhyAsked::HookOnly(rule.to_string()));
                sorted.findings.push(finding);
            }
        }
    }
    sorted
}

/// The compiled rules, if the sandbox holds for this call and has all of them.
fn confined(call: &GuardedCall<'_>, context: &Context<'_>) -> Result<Compiled, WhyAsked> {
    if !context.is_of_claude() {
        return Err(WhyAsked::OtherClient(context.event.client.title));
    }
    if runs_unsandboxed(&call.tool.tool_input) {
        return Err(WhyAsked::Unsandboxed);
    }
    let (root, cwd) = (&context.root.folder, Path::new(&call.tool.base.cwd));
    if session_worktree_of(cwd).is_some() || git::root_in_worktree(root, cwd).is_some() {
        return Err(WhyAsked::Worktree);
    }
    // Nobody knows how the session of a rehearsal will be started.
    if !context.is_rehearsal() {
        sandbox::ordinary_client()?;
    }
    let effective = sandbox::effective(&context.project)?;
    sandbox::includes(&effective, &call.effects.commands)?;
    let compiled = enforcement::config(context).compile(&context.budget);
    let compiled = compiled.map_err(|error| SandboxGap::NotCompiled(error.to_string()))?;
    sandbox::holds(&effective, &compiled)?;
    Ok(compiled)
}
