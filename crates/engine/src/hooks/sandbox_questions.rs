//! Questions of guards that the sandbox answers. If it holds for every command, guards leave unknown files to it.

use std::path::Path;

use super::context::Context;
use super::enforcement;
use crate::install::enforcement::EnforcedSettings;
use crate::install::registration;
use crate::sandbox::{self, WhyAsked};
use conclaude_checks::enforce::CompiledRules;
use conclaude_checks::guard::own_commands::NAME;
use conclaude_checks::guard::{Action, Effects, Finding, GuardRules, UnknownUse, doubtful_program};
use conclaude_core::agent::actor;
use conclaude_core::dialect::claude::sandbox::effective::SandboxGap;
use conclaude_core::dialect::claude::sandbox::{DENY_WRITE, SettingsEntry};
use conclaude_core::dialect::claude::tools::{SHELL, runs_unsandboxed};
use conclaude_core::file_pattern::Location;
use conclaude_core::types::PreToolUsePayload;
use conclaude_os::git;
use conclaude_store::root::session_worktree_of;

/// The guards' findings, and the questions that are left to the sandbox.
#[derive(Default)]
pub(super) struct SettledQuestions {
    pub(super) findings: Vec<Finding>,
    /// Questions that are not asked.
    pub(super) settled: Vec<Finding>,
    /// Why the other questions are asked, if the sandbox could have answered them.
    pub(super) why_asked: Option<WhyAsked>,
}

/// A call that guards have inspected.
pub(super) struct GuardedCall<'a> {
    pub(super) tool: &'a PreToolUsePayload,
    pub(super) rules: &'a GuardRules,
    pub(super) effects: &'a Effects,
}

/// Leaves questions to the sandbox that it decides. Without such a question nothing is read.
pub(super) fn settle(
    call: &GuardedCall<'_>,
    mut findings: Vec<Finding>,
    context: &Context<'_>,
) -> SettledQuestions {
    let is_open = |finding: &Finding| finding.action == Action::Ask && finding.unknown.is_some();
    let is_enforced = context.config.settings.enforcers().sandbox && call.tool.tool_name == SHELL;
    if is_enforced {
        findings.extend(replaceable_program(call, context));
    }
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
        let why_asked = match &finding.unknown {
            Some(unknown) if finding.action == Action::Ask => why_open(unknown, call.rules, agent, &compiled),
            _ => {
                sorted.findings.push(finding);
                continue;
            }
        };
        if why_asked.is_none() {
            sorted.settled.push(finding);
        } else {
            sorted.why_asked = why_asked;
            sorted.findings.push(finding);
        }
    }
    sorted
}

/// A question about `conclaude des`, which runs outside of the sandbox. It is asked where commands could have put another program
/// with our name first on the `PATH`, for example into the project's Python environment.
fn replaceable_program(call: &GuardedCall<'_>, context: &Context<'_>) -> Option<Finding> {
    let is_ours = |words: &[String]| words.windows(2).any(|pair| pair == [NAME, "des"]);
    if !call.effects.commands.iter().any(|command| is_ours(&command.words)) {
        return None;
    }
    let settings = EnforcedSettings::read(&context.project).ok()?;
    let program = registration::on_path(NAME)?;
    let folder = program.parent()?.canonicalize().ok()?;
    let real = folder.join(program.file_name()?);
    if program.is_absolute() && !real.starts_with(context.root.folder.canonicalize().ok()?) {
        return None;
    }
    let project = context.project.canonicalize().ok()?;
    let mut denied =
        settings.ours().iter().filter(|entry| entry.is_at(&DENY_WRITE)).filter_map(SettingsEntry::text);
    if settings.ours().is_empty()
        || denied.any(|entry| project.join(entry.strip_prefix("./").unwrap_or(entry)) == real)
    {
        return None;
    }
    Some(doubtful_program(&real.display().to_string()))
}

/// Why the sandbox does not answer a question. `None` if it does.
fn why_open(
    unknown: &UnknownUse,
    rules: &GuardRules,
    agent: &str,
    compiled: &CompiledRules,
) -> Option<WhyAsked> {
    if let Some(rule) = rules.unenforced(unknown.part, agent, &|rule| compiled.is_compiled(rule)) {
        return Some(WhyAsked::HookOnly(rule.to_string()));
    }
    // A file outside of the project, one in an ignored directory, or one that does not exist yet.
    let is_kept = |location: &Location, writes: bool| {
        compiled.covering(location, writes).is_some_and(|rule| compiled.denies(rule, location, writes))
    };
    let unkept = rules.first_unkept(&unknown.named, agent, &is_kept)?;
    Some(WhyAsked::Unkept(unkept.shown().to_owned()))
}

/// The compiled rules, if the sandbox holds for this call and has all of them.
fn confined(call: &GuardedCall<'_>, context: &Context<'_>) -> Result<CompiledRules, WhyAsked> {
    if !context.event.client.is_enforced() {
        return Err(WhyAsked::OtherClient(context.event.client.title));
    }
    if runs_unsandboxed(&call.tool.tool_input) {
        return Err(WhyAsked::Unsandboxed);
    }
    let (root, cwd) = (&context.root.folder, Path::new(&call.tool.base.cwd));
    if session_worktree_of(cwd).is_some() || git::root_in_worktree(root, cwd).is_some() {
        return Err(WhyAsked::Worktree);
    }
    // It is unknown how the session of a rehearsal will be started.
    if !context.is_rehearsal() {
        sandbox::ordinary_client(context.variables())?;
    }
    if let Some(program) = sandbox::missing_program() {
        return Err(WhyAsked::NoProgram(program));
    }
    let effective = sandbox::effective(&context.project)?;
    sandbox::includes(&effective, &call.effects.commands)?;
    let compiled = enforcement::config(context).compile(&context.budget);
    let compiled = compiled.map_err(|error| SandboxGap::NotCompiled(error.to_string()))?;
    sandbox::holds(&effective, &compiled)?;
    Ok(compiled)
}
