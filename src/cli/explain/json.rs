//! The explanation as JSON.

use serde_json::{Value, json};

use super::{Explanation, words};
use crate::cli::rule_enforcement;
use conclaude_checks::permission::PermissionExplanation;
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::Command;
use conclaude_engine::hooks::rehearse::{GuardReport, Rehearsal};

pub(super) fn of(explained: &Explanation) -> Value {
    let asked = &explained.asked;
    let mut report = json!({
        "event": asked.event.name(),
        "payload": asked.payload,
        "notes": explained.notes,
        "handled": explained.rehearsal.is_some(),
    });
    let rehearsal = explained.rehearsal.as_ref().map(of_rehearsal);
    if let (Some(report), Some(Value::Object(more))) = (report.as_object_mut(), rehearsal) {
        report.extend(more);
        if !explained.enforced.is_empty() {
            report.insert("enforcement".into(), rule_enforcement::as_json(&explained.enforced));
        }
    }
    report
}

pub(in crate::cli) fn of_rehearsal(rehearsal: &Rehearsal) -> Value {
    let files = rehearsal.files.iter().map(
        |source| json!({"layer": source.layer.name(), "path": source.path, "untrusted": source.untrusted}),
    );
    let error = rehearsal.config_error.as_ref();
    let plan = &rehearsal.plan;
    let gates = plan.steps.iter().zip(&rehearsal.checks).filter(|(step, _)| step.action.is_gate());
    let gates = gates.map(|(step, checks)| {
        json!({
            "gate": step.action.to_string(), "why": step.reason.to_string(),
            "findings": checks.iter().filter_map(Outcome::as_finding).collect::<Vec<_>>(),
        })
    });
    let untrusted = plan.untrusted.iter().flat_map(|untrusted| {
        untrusted
            .commands()
            .map(|command| json!({"run": command.script, "rule": command.rule, "why": untrusted.why}))
    });
    let not_run = rehearsal
        .not_run
        .iter()
        .map(|one| json!({"run": one.script, "rule": one.rule, "why": one.after_rule()}));
    let answers = words::cases(rehearsal).into_iter().map(|case| {
        let answered = case.answered;
        json!({
            "when": case.when, "decision": words::decision(rehearsal, &answered),
            "exit": answered.answer.exit.code(), "stdout": words::stdout(&answered.answer), "stderr": answered.answer.stderr,
            "shown_later": answered.later,
        })
    });
    json!({
        "agent": rehearsal.agent,
        "config": {
            "files": files.collect::<Vec<_>>(),
            "error": error.map(|error| json!({"file": error.path(), "message": error.summary(), "problems": error.located()})),
        },
        "effects": rehearsal.guards.as_ref().map(effects),
        "guards": rehearsal.guards.as_ref().map(|guarded| guards(rehearsal, guarded)),
        "permissions": rehearsal.permissions.as_ref().map(permissions),
        "permits": words::permits(rehearsal),
        "gates": gates.collect::<Vec<_>>(),
        "no_gate": rehearsal.no_gate,
        "commands": plan.commands().map(command).collect::<Vec<_>>(),
        "not_run": untrusted.chain(not_run).collect::<Vec<_>>(),
        "other": plan.steps.iter().filter_map(|step| words::of_action(&step.action)).collect::<Vec<_>>(),
        "answers": answers.collect::<Vec<_>>(),
    })
}

fn effects(guarded: &GuardReport) -> Value {
    let effects = &guarded.effects;
    let touches = effects.touches.iter().map(|touch| {
        json!({
            "does": touch.access.does(), "path": touch.path, "command": touch.command, "exists": touch.exists,
            "with_contents": touch.with_contents,
            "names": touch.names.iter().map(|name| name.shown()).collect::<Vec<_>>(),
        })
    });
    json!({
        "commands": effects.commands.iter().map(|command| &command.text).collect::<Vec<_>>(),
        "touches": touches.collect::<Vec<_>>(),
        "unclear": effects.unclear.iter().map(words::of_unclear).collect::<Vec<_>>(),
    })
}

fn guards(rehearsal: &Rehearsal, guarded: &GuardReport) -> Value {
    let findings = rehearsal.checks.iter().flatten().filter(|outcome| !rehearsal.is_of_gate(outcome));
    let findings = findings.filter_map(Outcome::as_finding);
    let rules = guarded.rules.iter().map(|rule| {
        let compared = guarded
            .compared
            .iter()
            .filter(|one| one.rule == *rule)
            .map(|one| json!({"with": one.subject, "matches": one.is_match, "why": one.why}));
        json!({"rule": rule, "compared": compared.collect::<Vec<_>>()})
    });
    json!({
        "rules": rules.collect::<Vec<_>>(), "findings": findings.collect::<Vec<_>>(),
        "left_to_sandbox": guarded.settled.iter().map(|one| &one.reason).collect::<Vec<_>>(),
        "not_left_to_sandbox": guarded.why_asked.as_ref().map(ToString::to_string),
    })
}

fn permissions(permitted: &PermissionExplanation) -> Value {
    let rules = permitted.rules.iter();
    let rules = rules.map(|(rule, why)| json!({"rule": rule, "matches": why.is_none(), "why": why}));
    json!({"rules": rules.collect::<Vec<_>>(), "asked": permitted.asked})
}

fn command(command: &Command) -> Value {
    let env: serde_json::Map<String, Value> =
        command.env.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?.into()))).collect();
    json!({
        "run": command.script, "rule": command.rule, "matched": command.subject, "cwd": command.cwd, "shell": command.shell,
        "timeout": command.timeout.map(|timeout| timeout.as_secs()),
        "on_failure": command.on_failure, "on_timeout": command.on_timeout, "protocol": command.protocol,
        "parallel": command.is_parallel,
        "environment": env,
    })
}
