//! Gate 3: an agent wants to stop. Does its step file prove the work, and did it stay within its scope?

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::check::check;
use super::context::{Call, Origin};
use super::gates::{Opened, mismatch, open_step};
use super::markers::Markers;
use crate::config::DesConfig;
use crate::finding::{Code, Finding};
use crate::git::WorkTree;

mod evidence;
mod scope;

pub use scope::{changed_files, note_own_files};

/// What Gate 3 looks at.
#[derive(Debug)]
pub struct Stopping<'a> {
    pub markers: &'a Markers,
    pub origin: &'a Origin,
    /// The agent's name.
    pub agent: &'a str,
    pub session: &'a str,
    /// The project's root.
    pub root: &'a Path,
    /// Where the agent worked: the root, or its worktree.
    pub tree: &'a WorkTree,
    /// The main transcript.
    pub main: &'a Path,
    /// The agent's transcript.
    pub own: Option<&'a Path>,
    pub des: &'a DesConfig,
}

impl Stopping<'_> {
    /// What counted at the call counts now: what the config says later may be the agent's own doing. A call that an old
    /// version remembered has no phases.
    fn remembered(&self) -> Option<&Call> {
        self.origin.call.as_ref().filter(|call| !call.phases.is_empty())
    }

    /// The phases that count.
    fn phases(&self) -> Vec<String> {
        self.remembered().map_or_else(|| self.des.phase_names(), |call| call.phases.clone())
    }

    /// The phases that need the record of a real run, each with the only command that counts, if the config names one.
    fn evidence(&self) -> BTreeMap<String, Option<String>> {
        match self.remembered() {
            Some(call) => {
                let of_call = |phase: &String| (phase.clone(), call.commands.get(phase).cloned());
                call.evidence.iter().map(of_call).collect()
            }
            None => {
                let of_config =
                    |phase: &str| (phase.to_owned(), self.des.evidence_command(phase).map(str::to_owned));
                self.des.evidence().into_iter().map(of_config).collect()
            }
        }
    }

    /// Who deletes what a gate compares with must not get around it.
    fn lost_baseline(&self) -> bool {
        self.tree.baseline.is_none() && self.origin.call.as_ref().is_some_and(|call| call.has_tree)
    }

    fn is_in_worktree(&self) -> bool {
        self.tree.path != self.root
    }
}

/// All findings at once, and the step if it could be read.
#[must_use]
pub fn inspect(stopping: &Stopping<'_>) -> (Vec<Finding>, Option<Opened>) {
    let mut found = stopping.markers.findings();
    if let Some(agent) = stopping.markers.agent.as_deref().filter(|agent| *agent != stopping.agent) {
        found.push(mismatch(agent, stopping.agent, "only that agent can finish this step"));
    }
    let Some(step_file) = stopping.markers.step_file.as_deref() else { return (found, None) };
    let opened = match open_step(&stopping.tree.path, step_file) {
        Ok(opened) => opened,
        Err(finding) => {
            found.push(finding);
            return (found, None);
        }
    };
    found.extend(changed_rules(stopping, &opened));
    found.extend(check(&opened.step, &stopping.phases()));
    found.extend(evidence::missing(stopping, &opened));
    found.extend(scope::violations(stopping, &opened));
    (found, Some(opened))
}

fn changed_rules(stopping: &Stopping<'_>, opened: &Opened) -> Option<Finding> {
    let rules = &stopping.origin.call.as_ref()?.rules;
    let now = opened.step.rules();
    if rules.is_null() || *rules == now {
        return None;
    }
    let what = format!(
        "{} differs from what it said when the agent was called: {}",
        opened.name,
        difference(rules, &now)
    );
    let fix = "restore it; if the user wants the change, the agent must be called again";
    let finding = Finding::new(Code::RulesChanged, what, fix);
    // A worktree has the step as it was committed, which may differ from the one that Gate 1 saw.
    Some(if stopping.is_in_worktree() { finding.warning() } else { finding })
}

/// The names of the rules that differ.
fn difference(before: &Value, now: &Value) -> String {
    let rules = before.as_object().into_iter().flatten();
    let differing = rules.filter(|(name, value)| now.get(name.as_str()) != Some(value));
    differing.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}
