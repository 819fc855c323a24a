//! Gate 3, when an agent stops: does its step file prove the work, and did it stay within its scope?

use std::path::Path;

use serde_json::Value;

use super::call::GatedCall;
use super::check::check_by;
use super::context::PromptOrigin;
use super::gates::{OpenStep, mismatch, moved, open_step};
use super::markers::{Markers, Validation};
use super::step::Step;
use super::step_folders::StepFolders;
use conclaude_core::config::{DesConfig, GateConfig};
use conclaude_core::finding::{Code, Finding};
use conclaude_os::git::WorkTree;

pub use proofs::{WORKTREE, worktree_of};
pub use scope::{changed_files, note_own_files};

mod proofs;
mod scope;

/// The finding for an agent without a transcript, while a call for this step has no other agent.
#[must_use]
pub fn lost(step_file: &str) -> Finding {
    let what = format!(
        "an agent was called for {step_file}, and this may be that agent: its transcript and the file next to it are gone, so its step cannot be checked"
    );
    let fix = "say in your report what became of them and what you did; the user must look at the step";
    Finding::new(Code::NotJudged, what, fix)
}

/// All findings at once, and the step if it could be read. If it is unclear whether validation is required, they are warnings:
/// Gate 1 denies such a call, and an agent cannot change its prompt.
#[must_use]
pub fn inspect(stopping: &StopRequest<'_>) -> (Vec<Finding>, Option<OpenStep>) {
    let (found, opened) = findings(stopping);
    if stopping.markers.validation == Validation::Unclear {
        return (found.into_iter().map(Finding::warning).collect(), opened);
    }
    (found, opened)
}

fn findings(stopping: &StopRequest<'_>) -> (Vec<Finding>, Option<OpenStep>) {
    let mut found = stopping.markers.findings();
    if let Some(agent) = stopping.markers.agent.as_deref().filter(|agent| *agent != stopping.agent) {
        found.push(mismatch(agent, stopping.agent, "only that agent can finish this step"));
    }
    if let Some(moved) = stopping.call().and_then(|call| moved(call, stopping.root)) {
        found.push(moved);
        return (found, None);
    }
    found.extend(changed_config(stopping));
    let Some(step_file) = stopping.markers.step_file.as_deref() else { return (found, None) };
    let folders = StepFolders { root: &stopping.tree.path, cwd: stopping.cwd };
    let opened = match open_step(&folders, step_file) {
        Ok(opened) => opened,
        Err(finding) => {
            found.push(finding);
            return (found, None);
        }
    };
    found.extend(changed_rules(stopping, &opened));
    // The agent may have changed the rules in the step. Those at the call count.
    let rules = stopping.call().and_then(|call| Step::of_rules(&call.rules));
    found.extend(check_by(rules.as_ref().unwrap_or(&opened.step), &opened.step, &stopping.des.phase_names()));
    found.extend(proofs::missing(stopping, &opened));
    found.extend(proofs::stale(stopping, &opened));
    found.extend(scope::violations(stopping, &opened));
    (found, Some(opened))
}

/// The config has changed since the call. That changes nothing for this agent, but the user should know.
fn changed_config(stopping: &StopRequest<'_>) -> Option<Finding> {
    let differing = stopping.call()?.config.differing(stopping.config_now?);
    if differing.is_empty() {
        return None;
    }
    let what = format!("the config has changed since the agent was called: {}", differing.join(", "));
    let fix =
        "the agent need not do anything: the config at the call counts; the user should know who changed it";
    Some(Finding::new(Code::RulesChanged, what, fix).warning())
}

fn changed_rules(stopping: &StopRequest<'_>, opened: &OpenStep) -> Option<Finding> {
    let call = stopping.call()?;
    if opened.name != call.step_file {
        let what = format!("{} leads to {} now", call.step_file, opened.name);
        return Some(Finding::new(
            Code::RulesChanged,
            what,
            "restore it: a step file stays where it was at the call",
        ));
    }
    let (rules, now) = (&call.rules, opened.step.rules());
    if rules.is_null() || *rules == now {
        return None;
    }
    let what = format!("{} has changed since the agent was called: {}", opened.name, difference(rules, &now));
    let fix = "restore it; if the user wants the change, the agent must be called again";
    let finding = Finding::new(Code::RulesChanged, what, fix);
    // A worktree has the committed step, which may differ from the one that Gate 1 saw. The latter counts.
    Some(if stopping.is_in_worktree() { finding.warning() } else { finding })
}

/// The names of the rules that differ.
fn difference(before: &Value, now: &Value) -> String {
    let rules = before.as_object().into_iter().flatten();
    let differing = rules.filter(|(name, value)| now.get(name.as_str()) != Some(value));
    differing.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// What Gate 3 checks.
#[derive(Debug)]
pub struct StopRequest<'a> {
    pub markers: &'a Markers,
    pub origin: &'a PromptOrigin,
    pub agent: &'a str,
    pub session: &'a str,
    pub root: &'a Path,
    /// Where the agent worked: the root, or its worktree.
    pub tree: &'a WorkTree,
    /// The folder that the session works in.
    pub cwd: &'a Path,
    pub main: &'a Path,
    pub own: Option<&'a Path>,
    /// The config at the call, if Gate 1 saw it: the agent is judged by it.
    pub des: &'a DesConfig,
    /// The current config, if it can be read.
    pub config_now: Option<&'a GateConfig>,
}

impl StopRequest<'_> {
    fn call(&self) -> Option<&GatedCall> {
        self.origin.call.as_ref()
    }

    /// Whether the baseline was deleted: an agent must not bypass a gate by deleting its baseline.
    fn lost_baseline(&self) -> bool {
        self.tree.baseline.is_none() && self.origin.call.as_ref().is_some_and(|call| call.has_tree)
    }

    fn is_in_worktree(&self) -> bool {
        self.tree.path != self.root
    }
}
