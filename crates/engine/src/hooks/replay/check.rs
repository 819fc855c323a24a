//! What the checks of a plan find in an event of the past, with the rules behind it.

use std::cell::RefCell;
use std::path::Path;

use super::config::Replayer;
use super::past::{Because, Past, Stage, Would};
use super::rules;
use crate::hooks::permissions::Asking;
use crate::hooks::{guards, permissions};
use conclaude_checks::des::gates::{self, CallRequest};
use conclaude_checks::des::markers::Markers;
use conclaude_checks::des::protected::ProtectedPaths;
use conclaude_checks::guard::{Own, Watch};
use conclaude_checks::permission;
use conclaude_core::agent::actor;
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::tools;
use conclaude_core::event::EventKind;
use conclaude_core::finding::Finding;
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::plan::{Action, Gate};
use conclaude_core::rule::Rule;
use conclaude_core::types::{Event, HookPayload, PreToolUsePayload};

impl Replayer {
    /// What a check finds; the rules that it matches are noted.
    pub(super) fn check(&self, action: &Action, past: &Past<'_>, matched: &mut Vec<Rule>) -> Vec<Outcome> {
        let Past { event, stage, .. } = *past;
        match action {
            Action::Guards(_) => self.guard(past, matched),
            Action::Permissions(config) => {
                let Stage { root, links, .. } = stage;
                let asking = Asking { event, agent: actor(past.agent), root, sources: &self.sources, links };
                let said = permissions::with_request(config, &asking, |rules, request, home| {
                    matched.extend(permission::matching(rules, request, home));
                    permission::answer(rules, request, home)
                });
                permissions::outcomes(said)
            }
            Action::Gate(Gate::Call { .. }) => self.call(event),
            Action::Context(context) => {
                matched.push((*context.rule).clone());
                Vec::new()
            }
            Action::Continue(message) => {
                matched.push(rules::infinite(&self.loaded, &self.base));
                let (verdict, evidence) = (Verdict::Block, Evidence::Continue);
                vec![Outcome { verdict, message: message.clone(), evidence }]
            }
            Action::Gate(_)
            | Action::UnknownGate(_)
            | Action::Report(_)
            | Action::Command(_)
            | Action::Note(_)
            | Action::Remark(_)
            | Action::Wait(_)
            | Action::Judge(_)
            | Action::Remember(_)
            | Action::Worktree => Vec::new(),
        }
    }

    fn guard(&self, past: &Past<'_>, matched: &mut Vec<Rule>) -> Vec<Outcome> {
        let Past { event, stage, .. } = *past;
        let Some(tool) = guards::tool_of(event) else { return Vec::new() };
        let Stage { root, work, links, protected } = stage;
        let find = || ProtectedPaths::new(root, work, links).with(&self.loaded.extended, root, work);
        let own = Some(Own { found: protected, find: &find });
        let is_request = event.kind == EventKind::PermissionRequest;
        let lost = &self.loaded.lost;
        let scene = guards::Scene { root, work, links, own, lost, is_request };
        let seen = RefCell::new(Vec::new());
        let agent = actor(past.agent);
        let (_, findings) = guards::compare(&self.guards, &tool, agent, &scene, Watch::Matches(&seen));
        matched.extend(seen.into_inner());
        findings.into_iter().map(guards::wordless).collect()
    }

    /// Gate 1, as far as the prompt says. The step file is not the one of that time.
    fn call(&self, event: &Event) -> Vec<Outcome> {
        let HookPayload::PreToolUse(tool) = &event.payload else { return Vec::new() };
        let prompt = called(tool).unwrap_or_default();
        let findings = gates::of_prompt(&CallRequest {
            markers: &Markers::of(prompt),
            prompt,
            subagent_type: agents::called(&tool.tool_input),
            root: Path::new(""),
            des: &self.des,
            caller: None,
        });
        findings.into_iter().map(|finding| Outcome::finding(finding, self.des.blocks())).collect()
    }

    /// Why an outcome counts.
    pub(super) fn because(&self, outcome: &Outcome, event: &Would, all: &[Outcome]) -> Option<Because> {
        let would = match outcome.verdict {
            Verdict::Block if *event == Would::Blocked => Would::Blocked,
            Verdict::Block if *event == Would::Denied => Would::Denied,
            // Where nobody can be asked, it is denied.
            Verdict::Ask
                if *event == Would::Denied && all.iter().all(|one| one.verdict != Verdict::Block) =>
            {
                Would::Denied
            }
            Verdict::Ask => Would::Asked,
            Verdict::Grant if *event == Would::Permitted => Would::Permitted,
            _ => return None,
        };
        let (rule, matched) = match outcome.as_finding() {
            Some(finding) => (self.rule_of(finding), finding.matched.clone().unwrap_or_default()),
            None => (rules::infinite(&self.loaded, &self.base), String::new()),
        };
        Some(Because { rule, matched, would })
    }

    fn rule_of(&self, finding: &Finding) -> Rule {
        match finding.rule.as_deref() {
            Some(rule) => rule.clone(),
            None => finding.code.written().rule(&self.loaded.origins, &self.base),
        }
    }
}

/// The prompt of an agent that is about to be called.
pub(super) fn called(tool: &PreToolUsePayload) -> Option<&str> {
    tools::starts_agent(&tool.tool_name).then(|| agents::prompt(&tool.tool_input)).flatten()
}
